"""A finished run -> all that its report shows, in plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from byline.answers import Answer
from byline.cautions import Caution, Cautions
from byline.cautions.file import read_cautions
from byline.dossiers.findings import NONE_KEPT, Found, evidence_by_problem, gains_of, problem_values
from byline.dossiers.members import member_scores, reference_standings
from byline.dossiers.parts import LIMITS, Markings, finite, rounded, short_names
from byline.dossiers.provenance import Command, provenance_values, verify_command
from byline.dossiers.standing import corpus_standings, corpus_table, decision_lines, heat_maps
from byline.dossiers.words import count_verdicts, is_leaning, verdict_of, verdict_words
from byline.dossiers.worth import worth_values
from byline.figures.curves import truth_of
from byline.figures.sources import Run, read_run
from byline.interpret import is_plain
from byline.keepsakes import read_kept_problems
from byline.likelihood import NO_SUPPORT
from byline.problems import Problem
from byline.runs import PLAN, Record
from byline.settings import ADDITIVE
from byline.storage import read_checked_json
from byline.truth import read_truth


def verification_dossier(
    path: Path,
    truth: Path | None = None,
    made: str = "",
    title: str | None = None,
    command: Sequence[str] | None = None,
) -> dict[str, Any]:
    """What a report of a run shows; `truth` is a file of it or its folder, `made` when the report was.

    `title` and `command` say what is answered and how, where the run's folder is not what a reader knows it by.
    """
    run = read_run(path)
    plan = run.plan
    problems = read_kept_problems(run.folder, plan)
    cautions = read_cautions(run.folder, plan)
    known_truth = read_truth(truth) if truth is not None else {}
    if truth is not None:
        truth_of(run.answers, known_truth, str(truth))  # which refuses the truth of other problems
    answer_of = {answer.id: answer for answer in run.answers}
    records = list(run.records())
    tables = [corpus_table(run, group.language) for group in plan.groups]
    evidence = evidence_by_problem(run, records)
    rows = []
    for number, group in enumerate(plan.groups):
        own = [record for record in records if record.group == number]
        readings = [run.readings[record.member, number] for record in own]
        answers = [answer_of[name] for name in group.ids]
        scores = member_scores(run, number, readings, answers)
        among = corpus_standings(tables[number], answers, is_plain(plan.manner.interpretation))
        beside = reference_standings(run, number, own, readings)
        for place, answer in enumerate(answers):
            problem, own_cautions = problems[answer.id], cautions.of(answer.id) if cautions else ()
            rows.append(
                {
                    **problem_values(answer, problem, known_truth.get(answer.id), plan.manner, own_cautions),
                    "members": [
                        {"member": plan.places[record.member] + 1, "name": _name(record), "score": finite(score)}
                        for record, score in zip(own, scores[:, place].tolist(), strict=True)
                    ],
                    "cohort": among[place],
                    "reference": beside[place],
                    "blob": _blob(problem, evidence.get((number, place), []), own_cautions),
                }
            )
    calibrated = any(answer.llr is not None for answer in run.answers)
    lines = decision_lines(run, rows, calibrated)
    centre_of = {line["language"]: line["centre"] for line in lines}
    warnings = [
        *_unfinished(run, records, evidence),
        *([caution.text for caution in cautions.summarise()] if cautions else [NONE_KEPT]),
        *(_skipped(*each) for each in plan.skipped),
    ]
    single = rows[0]["unknown"] if len(rows) == 1 else None
    return {
        "kind": "verification",
        "title": title or single or path.resolve().name,
        "source": title or str(path),
        "byline": str(read_checked_json(run.folder / PLAN).get("byline", "unknown")),
        "made": made,
        "conclusion": _conclusion([answer_of[row["id"]] for row in rows], len(warnings)),
        "limits": [*LIMITS, *_limits(run, calibrated, cautions)],
        "warnings": warnings,
        "interpretation": plan.manner.interpretation,
        "calibrated": calibrated,
        "prior": plan.manner.prior,
        "languages": [
            {
                "language": group.language,
                "problems": len(group.ids),
                "centre": centre_of.get(group.language),
                "strength": None if plan.manner.interpretation == "cohort" else finite(run.strengths[number]),
            }
            for number, group in enumerate(plan.groups)
        ],
        "problems": rows,
        "decisions": lines,
        **worth_values(run.answers, known_truth, problems),
        "heatmaps": heat_maps(run, tables),
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
        "provenance": provenance_values(
            run, records, problems, Command(command) if command else verify_command(run, path)
        ),
    }


ONE = {
    "same": "More likely by the same author than by another.",
    "another": "More likely by another author than by the same.",
    "undecided": "Undecided: neither the same author nor another is much more likely.",
}


def _conclusion(answers: Sequence[Answer], warnings: int) -> str:
    """What was found, in a line; of one problem with how many warnings there are."""
    if len(answers) != 1:
        return f"{len(answers):,} problems: {count_verdicts(answers)}."
    (answer,) = answers
    said = ONE[verdict_of(answer)]
    if is_leaning(answer):
        said = f"{verdict_words(answer).capitalize()}: {NO_SUPPORT}."
    if warnings:
        said += f" {warnings:,} warning{'s' * (warnings != 1)}."
    return said


def _limits(run: Run, calibrated: bool, cautions: Cautions | None) -> list[str]:
    manner = run.plan.manner
    found = []
    if manner.interpretation == "cohort":
        suits = "Whether this one suits the question was not kept; byline reference check says it."
        if cautions and cautions.reference:
            check = cautions.reference
            suits = f"This one has {check.texts} texts by {check.authors} people. {check.verdict}"
        found.append(
            f"Each problem was compared with a reference population. One of another kind of text misleads. {suits}"
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


def _blob(problem: Problem, evidence: Sequence[Found], cautions: Sequence[Caution]) -> str:
    """The texts of a problem with what speaks for and against in them, and where passages are that both sides share."""
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
        ],
        [passage._asdict() for caution in cautions for passage in caution.passages],
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
