"""A finished run -> all that its report shows, in plain values."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from byline.answers import Answer
from byline.calibration import Calibration
from byline.combination import read_record
from byline.documents import Document
from byline.dossiers.parts import DIGITS, LIMITS, SHORT, Markings, finite, rounded, short_names
from byline.errors import RunError, SettingsError
from byline.evidence import Gains, find_passages, weigh_words
from byline.figures.curves import reliability_bins, roc_curve, tippett_curves, truth_of
from byline.figures.sources import Run, read_run
from byline.figures.tables import ScoreTable, score_table
from byline.keepsakes import Kept, read_evidence, read_kept_problems
from byline.likelihood import DIFFERENT, SAME, verbal
from byline.metrics import measure
from byline.problems import Problem
from byline.relative import REACHES
from byline.runs import FOLDER, MEMBER, PLAN, POOL, Record, RunFolder
from byline.storage import read_checked_json, sha256
from byline.truth import read_truth


def verification_dossier(
    path: Path, truth: Path | None = None, made: str = "", title: str | None = None
) -> dict[str, Any]:
    """What a report of a run shows; `truth` is a file of it, `made` when the report was, `title` what is answered."""
    run = read_run(path)
    plan = run.plan
    problems = read_kept_problems(run.folder, plan)
    known_truth = read_truth(truth) if truth is not None else {}
    if truth is not None:
        truth_of(run.answers, known_truth, str(truth))  # which refuses the truth of other problems
    answer_of = {answer.id: answer for answer in run.answers}
    records = list(run.records())
    tables = [_table(run, group.language) for group in plan.groups]
    evidence = _evidence_by_problem(run, records)
    rows = []
    for number, group in enumerate(plan.groups):
        own = [record for record in records if record.group == number]
        readings = [read_record(record, plan) for record in own]
        reach = REACHES.index(run.reaches[number]) if plan.manner.interpretation != "rank" else 0
        for place, name in enumerate(group.ids):
            answer = answer_of[name]
            scores = [float(each.scores[min(reach, len(each.scores) - 1)][place]) for each in readings]
            rows.append(
                {
                    **_problem_values(answer, problems[name], known_truth.get(name), plan.manner.calibration),
                    "members": [
                        {"member": plan.places[record.member] + 1, "name": _name(record), "score": finite(score)}
                        for record, score in zip(own, scores, strict=True)
                    ],
                    "cohort": _cohort(tables[number], name),
                    "blob": _blob(problems[name], evidence.get((number, place), [])),
                }
            )
    calibrated = any(answer.llr is not None for answer in run.answers)
    return {
        "kind": "verification",
        "title": title or path.resolve().name,
        "source": title or str(path),
        "byline": str(read_checked_json(run.folder / PLAN)["byline"]),
        "made": made,
        "conclusion": _conclusion(rows),
        "limits": [*LIMITS, *_limits(run, calibrated)],
        "warnings": [*_unfinished(run, records, evidence), *(_skipped(*each) for each in plan.skipped)],
        "interpretation": plan.manner.interpretation,
        "calibrated": calibrated,
        "prior": plan.manner.prior,
        "languages": [
            {
                "language": group.language,
                "problems": len(group.ids),
                "centre": finite(run.centres[number]),
                "strength": finite(run.strengths[number]),
            }
            for number, group in enumerate(plan.groups)
        ],
        "problems": rows,
        "decision": _decision(run, rows, calibrated),
        **_truth_values(run.answers, known_truth),
        "heatmap": _heatmap(tables),
        "learning": [
            {
                "language": plan.groups[record.group].language,
                "name": f"{plan.places[record.member] + 1} {_name(record)}"
                + (f", way {way}" if len(record.curves) > 1 else ""),
                "bits": rounded(curve),
            }
            for record in records
            for way, curve in enumerate(record.curves, start=1)
            if curve
        ],
        "members": [_member_values(run, record) for record in records],
        "provenance": _provenance(run, path),
    }


def _problem_values(
    answer: Answer, problem: Problem, truth: bool | None, calibration: Calibration | None
) -> dict[str, Any]:
    low, high = answer.interval or (None, None)
    verdict = "undecided" if answer.undecided else "same" if answer.value > 0.5 else "another"
    names = short_names([document.name for document in (problem.unknown, *problem.known)])
    known = sum(len(document.text) for document in problem.known)
    unknown = len(problem.unknown.text)
    short = [f"{what} ({count:,} characters): it carries little evidence"
             for what, count in (("The unknown text is short", unknown), ("The known texts are short", known))
             if count < SHORT]  # fmt: skip
    return {
        "id": answer.id,
        "language": problem.language,
        "answer": answer.rounded,
        "score": finite(answer.score),
        "llr": finite(answer.llr),
        "low": finite(low),
        "high": finite(high),
        "probability": finite(answer.probability),
        "verdict": verdict,
        "truth": truth,
        "statement": _statement(answer, verdict, calibration.cap if calibration else None),
        "known": names[1:],
        "unknown": names[0],
        "known_characters": known,
        "unknown_characters": unknown,
        "warnings": short,
    }


def _statement(answer: Answer, verdict: str, cap: float | None) -> str:
    if answer.llr is None:
        leaning = {"same": "the same author", "another": "another author"}.get(verdict)
        said = f"Compared with the other problems it leans towards {leaning}." if leaning else "It is left undecided."
        return f"{said} Nothing is calibrated for these members: the answer is an order, not a probability."
    ratio = 10 ** abs(answer.llr)
    one, other = (SAME, DIFFERENT) if answer.llr >= 0 else (DIFFERENT, SAME)
    times = f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"
    capped = cap is not None and abs(answer.llr) >= cap - ROUNDING
    said = (
        f"The evidence is {verbal(answer.llr)}: what was found is {times} times"
        f"{' or more' if capped else ''} as probable if {one} as if {other}."
    )
    if capped:
        said += " That is the most that this calibration can show."
    if answer.interval:
        low, high = answer.interval
        said += (
            f" The weight of evidence is {answer.llr:+.2f} bans; how far members agree and how far it hangs on parts of"
            f" the texts would let it lie between {low:+.2f} and {high:+.2f}. What another calibration, or other texts"
            " to compare with, would change is not in that."
        )
    return said + (" It is left undecided, which is written as 0.500." if verdict == "undecided" else "")


def _conclusion(rows: Sequence[Mapping[str, Any]]) -> str:
    counts = {kind: sum(row["verdict"] == kind for row in rows) for kind in ("same", "another", "undecided")}
    problems = "1 problem" if len(rows) == 1 else f"{len(rows):,} problems"
    return (
        f"{problems}: {counts['same']} more likely by the same author, {counts['another']} by another,"
        f" {counts['undecided']} undecided."
    )


def _limits(run: Run, calibrated: bool) -> list[str]:
    manner = run.plan.manner
    found = []
    if manner.interpretation == "cohort":
        found.append(
            "Each problem was compared with a reference population. One of another kind of text misleads. Whether this"
            " one suits the question is not kept with a run; byline reference check says it."
        )
    else:
        found.append("Half of the problems are taken to be by the same author; where that is wrong, answers shift.")
    if calibrated and manner.calibration is not None:
        corpora = ", ".join(manner.calibration.corpora)
        found.append(f"Likelihood ratios were calibrated on {corpora}; texts of another kind may need their own.")
        found.append(f"Probabilities hold at a prior of {manner.prior:g}, which is not the program's to know.")
    else:
        found.append("Nothing is calibrated: answers are an order, not probabilities.")
    return found


def _decision(run: Run, rows: Sequence[Mapping[str, Any]], calibrated: bool) -> dict[str, Any] | None:
    """The score that speaks for neither side, where there is one for all problems."""
    if len(run.plan.groups) > 1 or run.plan.manner.interpretation == "cohort":
        return None
    centre: float | None = run.centres[0]
    if calibrated:  # a line through the scores and their likelihood ratios
        pairs = sorted((row["llr"], row["score"]) for row in rows if row["llr"] is not None)
        signs = {llr > 0 for llr, _ in pairs}
        ratios, scores = zip(*pairs, strict=True)
        centre = float(np.interp(0, np.array(ratios), np.array(scores))) if len(signs) == 2 else None
    return None if centre is None else {"centre": round(centre, DIGITS), "label": "score that speaks for neither side"}


def _table(run: Run, language: str) -> ScoreTable | None:
    """All pairs of a language; none beside a reference, where problems are never compared with each other."""
    if run.plan.manner.interpretation == "cohort":
        return None
    try:
        return score_table(run, language)
    except SettingsError:  # too many for one table
        return None


def _cohort(table: ScoreTable | None, name: str) -> dict[str, Any] | None:
    """The scores of the problem's text under other heads and of other texts under its head, and its own."""
    if table is None or name not in table.rows or name not in table.columns:
        return None
    row, column = table.rows.index(name), table.columns.index(name)
    own = table.values[row, column]
    asked = set(table.asked)
    others = [table.values[row, other] for other in range(len(table.columns)) if (row, other) not in asked]
    others += [table.values[other, column] for other in range(len(table.rows)) if (other, column) not in asked]
    there = [float(value) for value in others if not np.isnan(value)]
    return None if np.isnan(own) or not there else {"others": rounded(sorted(there)), "own": round(float(own), DIGITS)}


def _heatmap(tables: Sequence[ScoreTable | None]) -> dict[str, Any] | None:
    """The table of the first language that has one."""
    table = next((each for each in tables if each is not None and len(each.rows) >= FEWEST_ROWS), None)
    if table is None:
        return None
    return {
        "rows": list(table.rows),
        "columns": list(table.columns),
        "row_title": table.row_title,
        "column_title": table.column_title,
        "values": [[finite(value, 2) for value in row] for row in table.values.tolist()],
        "asked": [list(pair) for pair in table.asked],
    }


def _truth_values(answers: Sequence[Answer], truth: Mapping[str, bool]) -> dict[str, Any]:
    """Measures and curves, where the truth of both kinds is known."""
    judged = [answer for answer in answers if answer.id in truth and answer.score is not None]
    known = [truth[answer.id] for answer in judged]
    if len(set(known)) < 2:
        return dict.fromkeys(("measures", "roc", "tippett", "calibration"))
    curve = roc_curve(known, [answer.rounded for answer in judged])
    found: dict[str, Any] = {
        "measures": {
            **_measures(known, judged),
            "auc": rounded([curve.auc, *asdict(curve.auc_interval).values()]),
        },
        "roc": {"x": rounded(curve.false_alarms), "y": rounded(curve.hits)},
        "tippett": None,
        "calibration": None,
    }
    if all(answer.llr is not None and answer.probability is not None for answer in judged):
        steps = tippett_curves(known, [answer.llr or 0.0 for answer in judged])
        found["tippett"] = {
            "llr": rounded(steps.bans), "same": rounded(steps.same), "another": rounded(steps.different)
        }  # fmt: skip
        found["measures"]["cllr"] = round(steps.cllr, DIGITS)
        found["calibration"] = [
            {
                "predicted": round(each.probability, DIGITS),
                "observed": round(each.same, DIGITS),
                "low": round(each.interval.low, DIGITS),
                "high": round(each.interval.high, DIGITS),
                "count": each.problems,
            }
            for each in reliability_bins(known, [answer.probability or 0.0 for answer in judged])
        ]
    return found


def _measures(truth: Sequence[bool], answers: Sequence[Answer]) -> dict[str, Any]:
    measures = measure(list(truth), [answer.rounded for answer in answers])
    return {
        "c@1": [round(measures.c_at_1, DIGITS)],
        "product": [round(measures.auc * measures.c_at_1, DIGITS)],
        "cllr": None,
    }


FEWEST_ROWS = 3
"""Texts of which a heat map shows anything."""
ROUNDING = 1e-6

Found = tuple[str, str, Kept]
"""A member's name, its unit, and what it kept."""


def _evidence_by_problem(run: Run, records: Sequence[Record]) -> dict[tuple[int, int], list[Found]]:
    """By language and problem, what members kept."""
    found: dict[tuple[int, int], list[Found]] = {}
    folder = RunFolder(run.folder, run.plan)
    for record in records:
        name, unit = _name(record), record.sides[0].matrix.unit
        for kept in read_evidence(folder.path(record.member, record.group)):
            found.setdefault((record.group, kept.problem), []).append((name, unit, kept))
    return found


def gains_of(document: int, length: int, evidence: Sequence[Found]) -> Gains | None:
    """(members, characters): what those that add up say of one of a problem's documents, 0 being the unknown one."""
    rows = [kept.gains[document] for _, _, kept in evidence if document in kept.gains]
    rows = [row for row in rows if len(row) == length]
    return np.array(rows) if rows else None


def _blob(problem: Problem, evidence: Sequence[Found]) -> str:
    """The texts of a problem with what speaks for and against in them."""
    markings = Markings()
    documents = (problem.unknown, *problem.known)
    names = short_names([document.name for document in documents])
    for number, (document, name) in enumerate(zip(documents, names, strict=True)):
        gains = gains_of(number, len(document.text), evidence)
        others = (problem.unknown,) if number else problem.known
        markings.add("known" if number else "unknown", replace(document, name=name), gains, others)
    return markings.blob(
        [
            {
                "member": f"{name}, way {kept.way} of asking",
                "unit": unit.removesuffix(" distance"),
                "for": [[each.name, finite(each.weight, 6)] for each in kept.features if each.weight > 0],
                "against": [[each.name, finite(each.weight, 6)] for each in kept.features if each.weight < 0],
            }
            for name, unit, kept in evidence
            if kept.features
        ]
    )


def _name(record: Record) -> str:
    return record.member.settings.engine_name


def _member_values(run: Run, record: Record) -> dict[str, Any]:
    return {
        "member": run.plan.places[record.member] + 1,
        "name": _name(record),
        "seed": record.member.seed,
        "seconds": round(record.seconds, 1),
        "bits": finite(record.bits),
        "additive": record.member.settings.engine in ("rnn", "ngram"),
        "made_by": dict(record.made_by),
    }


def _skipped(name: str, reason: str) -> str:
    return f"{name}: not answered. {' '.join(reason.split())}"


def _unfinished(run: Run, records: Sequence[Record], evidence: Mapping[tuple[int, int], Sequence[Found]]) -> list[str]:
    """What the run lacks."""
    planned = len(run.plan.members) * len(run.plan.groups)
    found = []
    if len(records) < planned:
        found.append(
            f"Only {len(records)} of {planned} members are finished or undamaged; the answers here are theirs alone,"
            " and may differ from the file of answers."
        )
    most = max((len({name for name, *_ in kept}) for kept in evidence.values()), default=0)
    if not most:
        found.append("No member's evidence was kept: texts are shown without it.")
    return found


def _provenance(run: Run, path: Path) -> dict[str, Any]:
    """What it takes to make the answers again, and hashes to see that nothing was changed."""
    plan, request = run.plan, run.plan.request
    words = ["byline", "verify", "PROBLEMS", "-o", "OUT"]
    if "combined" in request:
        words = ["byline", "combine", *map(str, request["combined"]), "-o", "OUT"]
    else:
        settled = str(path / FOLDER / POOL) if run.folder != path else str(path / POOL)
        words += ["--preset", settled, "--members", str(len(plan.members)), "--seed", str(plan.members[0].seed)]
        languages = {group.language for group in plan.groups}
        words += ["--language", *languages] if len(languages) == 1 else []
        words += ["--skip-bad"] if plan.skipped else []
        words += ["--interpret", plan.manner.interpretation]
        words += ["--prior", f"{plan.manner.prior:g}"] if plan.manner.prior != 0.5 else []
        words += [word for key in ("control", "reference") if request.get(key) for word in (f"--{key}", key.upper())]
    files = {PLAN: sha256((run.folder / PLAN).read_bytes())}
    folder = RunFolder(run.folder, plan)
    for record in run.records():
        home = folder.path(record.member, record.group)
        hashes = read_checked_json(home / MEMBER)["files"]
        files |= {f"{home.relative_to(run.folder).as_posix()}/{name}": digest for name, digest in hashes.items()}
    return {
        "command": shlex.join(words),
        "settings": {str(number): asdict(member.settings) for number, member in enumerate(plan.members, start=1)},
        "seed": plan.members[0].seed,
        "preset": plan.preset,
        "inputs": plan.inputs,
        "files": files,
    }


class PassageShown(NamedTuple):
    """A passage of one of a problem's texts."""

    document: str
    begin: int
    end: int
    bits: float
    agreement: float
    words: tuple[tuple[str, float], ...]
    """Each with its bits."""


class FeaturesShown(NamedTuple):
    """What a member that does not add up over characters names for and against."""

    member: str
    supporting: tuple[str, ...]
    opposing: tuple[str, ...]


class Explanation(NamedTuple):
    """One answer, and what it rests on."""

    id: str
    verdict: str
    statement: str
    warnings: tuple[str, ...]
    passages: tuple[PassageShown, ...]
    features: tuple[FeaturesShown, ...]


def explain_problem(path: Path, name: str | None, most: int) -> Explanation:
    """The answer to one problem of a run; it need not be named where there is only one."""
    run = read_run(path)
    ids = [each for group in run.plan.groups for each in group.ids]
    if name is None and len(ids) == 1:
        name = ids[0]
    if name not in ids:
        few = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
        said = "which problem?" if name is None else f"no problem {name} there;"
        raise RunError(f"{path}: {said} Name one of {few}")
    problem = read_kept_problems(run.folder, run.plan)[name]
    number, place = next(
        (number, group.ids.index(name)) for number, group in enumerate(run.plan.groups) if name in group.ids
    )
    records = list(run.records(number))
    evidence = _evidence_by_problem(run, records).get((number, place), [])
    (answer,) = [each for each in run.answers if each.id == name]
    values = _problem_values(answer, problem, None, run.plan.manner.calibration)
    passages: list[PassageShown] = []
    for document_number, document in enumerate((problem.unknown, *problem.known)):
        gains = gains_of(document_number, len(document.text), evidence)
        if gains is not None:
            passages += _shown(document, gains, most)
    passages.sort(key=lambda each: -each.bits)
    chosen = [
        *[each for each in passages if each.bits > 0][:most],
        *[each for each in passages if each.bits < 0][-most:],
    ]
    verdicts = {"same": "the same author", "another": "another author", "undecided": "undecided"}
    return Explanation(
        name,
        verdicts[values["verdict"]],
        values["statement"],
        tuple(values["warnings"]),
        tuple(chosen),
        tuple(
            FeaturesShown(
                member,
                tuple(each.name for each in kept.features if each.weight > 0)[:8],
                tuple(each.name for each in kept.features if each.weight < 0)[:8],
            )
            for member, _, kept in evidence
            if kept.features and kept.way == 1
        ),
    )


def _shown(document: Document, gains: Gains, most: int) -> list[PassageShown]:
    words = weigh_words(document.text, gains)
    return [
        PassageShown(
            document.name,
            each.begin,
            each.end,
            each.bits,
            each.agreement,
            tuple(
                (document.text[word.begin : word.end], word.bits)
                for word in words
                if each.begin <= word.begin and word.end <= each.end
            ),
        )
        for each in find_passages(document.text, gains, most)
    ]
