"""A finished run -> all that its report shows, in plain values."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from byline.answers import Answer
from byline.combination import read_record
from byline.dossiers.findings import Found, evidence_by_problem, gains_of, problem_values
from byline.dossiers.parts import DIGITS, LIMITS, Markings, finite, rounded, short_names
from byline.errors import SettingsError
from byline.figures.curves import reliability_bins, roc_curve, tippett_curves, truth_of
from byline.figures.sources import Run, read_run
from byline.figures.tables import ScoreTable, score_table
from byline.keepsakes import read_kept_problems
from byline.likelihood import EVEN
from byline.metrics import measure
from byline.problems import Problem
from byline.relative import REACHES
from byline.runs import FOLDER, MEMBER, PLAN, POOL, Record, RunFolder
from byline.settings import ADDITIVE
from byline.storage import read_checked_json, sha256
from byline.truth import read_truth

FEWEST_ROWS = 3
"""Texts of which a heat map shows anything."""


def verification_dossier(
    path: Path,
    truth: Path | None = None,
    made: str = "",
    title: str | None = None,
    command: Sequence[str] | None = None,
) -> dict[str, Any]:
    """What a report of a run shows; `truth` is a file of it, `made` when the report was.

    `title` and `command` say what is answered and how, where the run's folder is not what a reader knows it by.
    """
    run = read_run(path)
    plan = run.plan
    problems = read_kept_problems(run.folder, plan)
    known_truth = read_truth(truth) if truth is not None else {}
    if truth is not None:
        truth_of(run.answers, known_truth, str(truth))  # which refuses the truth of other problems
    answer_of = {answer.id: answer for answer in run.answers}
    records = list(run.records())
    tables = [_table(run, group.language) for group in plan.groups]
    evidence = evidence_by_problem(run, records)
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
                    **problem_values(answer, problems[name], known_truth.get(name), plan.manner.calibration),
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
        "provenance": _provenance(run, records, command or _command(run, path)),
    }


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
        "additive": record.member.settings.engine in ADDITIVE,
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
    if not evidence:
        found.append("No member's evidence was kept: texts are shown without it.")
    return found


def _command(run: Run, path: Path) -> list[str]:
    """What makes the answers again."""
    plan, request = run.plan, run.plan.request
    if "combined" in request:
        return ["byline", "combine", *map(str, request["combined"]), "-o", "OUT"]
    settled = path / POOL if run.folder == path else path / FOLDER / POOL
    words = ["byline", "verify", "PROBLEMS", "-o", "OUT", "--preset", str(settled)]
    words += ["--members", str(len(plan.members)), "--seed", str(plan.members[0].seed)]
    languages = {group.language for group in plan.groups}
    words += ["--language", *languages] if len(languages) == 1 else []
    words += ["--skip-bad"] if plan.skipped else []
    words += ["--interpret", plan.manner.interpretation]
    words += ["--prior", f"{plan.manner.prior:g}"] if plan.manner.prior != EVEN else []
    return words + [word for key in ("control", "reference") if request.get(key) for word in (f"--{key}", key.upper())]


def _provenance(run: Run, records: Sequence[Record], command: Sequence[str]) -> dict[str, Any]:
    """What it takes to make the answers again, and hashes to see that nothing was changed."""
    plan = run.plan
    files = {PLAN: sha256((run.folder / PLAN).read_bytes())}
    folder = RunFolder(run.folder, plan)
    for record in records:
        home = folder.path(record.member, record.group)
        hashes = read_checked_json(home / MEMBER)["files"]
        files |= {f"{home.relative_to(run.folder).as_posix()}/{name}": digest for name, digest in hashes.items()}
    return {
        "command": shlex.join(command),
        "settings": {str(number): asdict(member.settings) for number, member in enumerate(plan.members, start=1)},
        "seed": plan.members[0].seed,
        "preset": plan.preset,
        "inputs": plan.inputs,
        "files": files,
    }
