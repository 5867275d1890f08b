"""The report of a finished run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_curve

from byline.corpora.answers import Answer, read_truth
from byline.corpora.problems import Problem
from byline.figures.curves import truth_of
from byline.figures.score_tables import ScoreTable
from byline.judgment.checks.cautions import Caution
from byline.judgment.interpretation import has_unit_scores
from byline.judgment.likelihood_ratio import NO_SUPPORT
from byline.judgment.metrics import Reliability, auc, c_at_1, cllr, reliability, tippett
from byline.judgment.resampling import interval, measure_draws, weigh_texts
from byline.report.comparison import (
    corpus_table,
    decision_lines,
    heat_maps,
    member_scores,
    positions_among_problems,
    positions_in_reference,
)
from byline.report.page import (
    DIGITS,
    LIMITS,
    MarkedTexts,
    feature_values,
    finite,
    require_report_path,
    rounded,
    short_names,
    write_report,
)
from byline.report.provenance import run_provenance
from byline.report.wording import (
    NONE_KEPT,
    count_verdicts,
    describe_learned,
    is_leaning,
    problem_values,
    verdict_of,
    verdict_words,
)
from byline.runs.folder import FOLDER
from byline.runs.run import MemberEvidence, Run, stack_gains
from byline.settings.settings import ADDITIVE


def report_run(
    run: Run | Path | str,
    path: Path | str,
    truth: Path | str | None = None,
    made: str = "",
    overwrite: bool = False,
) -> None:
    """Write the report of a run, opened or in a folder, as one HTML file.

    Parameters
    ----------
    truth
        File or folder of the truth, for measures and curves.
    made
        The time that the report shows.
    """
    require_report_path(Path(path), overwrite)
    write_report(Path(path), verification_report(run, truth, made))


def verification_report(
    run: Run | Path | str,
    truth: Path | str | None = None,
    made: str = "",
    title: str | None = None,
    command: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return what the report of a run shows, as plain values.

    `title` and `command` replace the run's folder and command if readers know it by other names.
    """
    path = run.folder if isinstance(run, Run) else Path(run)
    if isinstance(run, Run) and path.name == FOLDER:
        path = path.parent  # a run is known by the folder of its answers
    run = run if isinstance(run, Run) else Run.open(run)
    plan = run.plan
    known_truth = read_truth(Path(truth)) if truth is not None else {}
    if truth is not None:
        truth_of(run.answers, known_truth, truth)  # raises if it is of other problems
    tables = [corpus_table(run, group.language) for group in plan.groups]
    rows = [
        row for number in range(len(plan.groups)) for row in _problem_rows(run, number, tables[number], known_truth)
    ]
    calibrated = any(answer.llr is not None for answer in run.answers)
    lines = decision_lines(run, rows, calibrated)
    center_of = {line["language"]: line["center"] for line in lines}
    warnings = [
        *_missing_parts(run),
        *([caution.text for caution in run.cautions.summarize()] if run.cautions else [NONE_KEPT]),
        *(f"{name}: not answered. {' '.join(reason.split())}" for name, reason in plan.skipped),
    ]
    single = rows[0]["unknown"] if len(rows) == 1 else None
    answer_of = {answer.id: answer for answer in run.answers}
    return {
        "kind": "verification",
        "title": title or single or path.resolve().name,
        "source": title or str(path),
        "byline": run.version,
        "made": made,
        "conclusion": _conclusion([answer_of[row["id"]] for row in rows], len(warnings)),
        "limits": [*LIMITS, *_limits(run, calibrated)],
        "warnings": warnings,
        "interpretation": plan.judgment.interpretation,
        "calibrated": calibrated,
        "prior": plan.judgment.prior,
        "languages": [
            {
                "language": group.language,
                "problems": len(group.ids),
                "center": center_of.get(group.language),
                "strength": None if plan.judgment.interpretation == "cohort" else finite(verdicts.strength),
            }
            for group, verdicts in zip(plan.groups, run.verdicts, strict=True)
        ],
        "problems": rows,
        "decisions": lines,
        **accuracy_values(run.answers, known_truth, run.problems),
        "heatmaps": heat_maps(run, tables),
        "learning": [
            {
                "language": plan.groups[record.group].language,
                "name": f"{plan.places[record.member] + 1} {record.member.settings.engine_name}"
                + (f", way {way}" if len(record.curves) > 1 else ""),
                "bits": rounded(curve),
            }
            for record in run.records
            for way, curve in enumerate(record.curves, start=1)
            if curve
        ],
        "members": [
            {
                "member": plan.places[record.member] + 1,
                "name": record.member.settings.engine_name,
                "seed": record.member.seed,
                "seconds": round(record.seconds, 1),
                "bits": finite(record.bits),
                "additive": record.member.settings.engine in ADDITIVE,
                "made_by": dict(record.made_by),
            }
            for record in run.records
        ],
        "provenance": run_provenance(run, command),
    }


def _problem_rows(
    run: Run, group: int, table: ScoreTable | None, truth: Mapping[str, bool]
) -> Iterator[dict[str, Any]]:
    """Yield what is shown of each problem of a language."""
    plan = run.plan
    answer_of = {answer.id: answer for answer in run.answers}
    answers = [answer_of[name] for name in plan.groups[group].ids]
    members = [
        (plan.places[record.member] + 1, record.member.settings.engine_name) for record in run.group_records(group)
    ]
    scores = member_scores(run, group, answers)
    among = positions_among_problems(table, answers, has_unit_scores(plan.judgment.interpretation))
    in_reference = positions_in_reference(run, group)
    learned = run.verdicts[group].learned
    for place, answer in enumerate(answers):
        problem, cautions = run.problems[answer.id], run.cautions.of(answer.id) if run.cautions else ()
        yield {
            **problem_values(answer, problem, truth.get(answer.id), plan.judgment, cautions),
            "members": [
                {"member": number, "name": name, "score": finite(score)}
                for (number, name), score in zip(members, scores[:, place].tolist(), strict=True)
            ],
            "cohort": among[place],
            "reference": in_reference[place],
            "validation": describe_learned(found) if learned and (found := learned[place]) else None,
            "packed": _pack_texts(problem, run.evidence.get((group, place), []), cautions),
        }


ONE = {
    "same": "More likely by the same author than by another.",
    "another": "More likely by another author than by the same.",
    "undecided": "Undecided: neither the same author nor another is much more likely.",
}


def _conclusion(answers: Sequence[Answer], warnings: int) -> str:
    """Summarize the answers in a line; for one problem, with the number of warnings."""
    if len(answers) != 1:
        return f"{len(answers):,} problems: {count_verdicts(answers)}."
    (answer,) = answers
    said = ONE[verdict_of(answer)]
    if is_leaning(answer):
        said = f"{verdict_words(answer).capitalize()}: {NO_SUPPORT}."
    if warnings:
        said += f" {warnings:,} warning{'s' * (warnings != 1)}."
    return said


def _limits(run: Run, calibrated: bool) -> list[str]:
    judgment = run.plan.judgment
    found = []
    if judgment.interpretation == "cohort":
        suits = "Whether this one suits the question was not kept; byline reference check tells."
        if run.cautions and run.cautions.reference:
            check = run.cautions.reference
            suits = f"This one has {check.texts} texts by {check.authors} people. {check.verdict}"
        found.append(
            f"Each problem was compared with a reference population. One of another kind of text misleads. {suits}"
        )
    else:
        found.append(
            "About half of the problems are assumed to be by the same author. If that is wrong, answers shift."
        )
    if calibrated and judgment.calibration is not None:
        corpora = ", ".join(judgment.calibration.corpora)
        found.append(f"Likelihood ratios were calibrated on {corpora}; texts of another kind may need their own.")
        found.append(f"Probabilities hold at a prior of {judgment.prior:g}, which Byline can't know.")
    else:
        found.append("Nothing is calibrated: answers are an order, not probabilities.")
    return found


def _pack_texts(problem: Problem, evidence: Sequence[MemberEvidence], cautions: Sequence[Caution]) -> str:
    """Return the texts of a problem with the evidence in them and the passages that both sides share, packed."""
    marked = MarkedTexts()
    documents = (problem.unknown, *problem.known)
    names = short_names([document.name for document in documents])
    for number, (document, name) in enumerate(zip(documents, names, strict=True)):
        gains = stack_gains(evidence, number, len(document.text))
        others = (problem.unknown,) if number else problem.known
        marked.add("known" if number else "unknown", replace(document, name=name), gains, others)
    return marked.pack(
        [
            feature_values(f"{name}, way {kept.way} of asking", unit, kept.features)
            for name, unit, kept in evidence
            if kept.features
        ],
        [passage._asdict() for caution in cautions for passage in caution.passages],
    )


def _missing_parts(run: Run) -> list[str]:
    """Return warnings of members and evidence that the run lacks."""
    planned, done = len(run.plan.members) * len(run.plan.groups), len(run.records)
    warnings = []
    if done < planned:
        warnings.append(
            f"Only {done} of {planned} members are finished or undamaged; the answers here are theirs alone,"
            " and may differ from the file of answers."
        )
    if not run.evidence:
        warnings.append("No member's evidence was kept: texts are shown without it.")
    return warnings


def accuracy_values(
    answers: Sequence[Answer], truth: Mapping[str, bool], problems: Mapping[str, Problem], seed: int = 0
) -> dict[str, Any]:
    """Return measures and curves of the answered problems, if the truth has both kinds.

    Intervals resample the texts, as byline evaluate does.
    """
    judged = [answer for answer in answers if answer.id in truth and answer.score is not None]
    known = [truth[answer.id] for answer in judged]
    if len(set(known)) < 2:
        return dict.fromkeys(("measures", "measured", "roc", "tippett", "calibration"))
    values = [answer.rounded for answer in judged]
    calibrated = all(answer.llr is not None and answer.probability is not None for answer in judged)
    bans = [answer.llr or 0.0 for answer in judged]
    ratios, chances = np.array(bans) * np.log(10), [answer.probability or 0.0 for answer in judged]
    weights = weigh_texts([problems[answer.id] for answer in judged], np.random.default_rng(seed))
    drawn = measure_draws(known, values, weights, ratios if calibrated else None)

    def with_interval(name: str, value: float) -> list[float]:
        reach = interval(drawn[name])
        return rounded([value, reach.low, reach.high])

    area, right = auc(known, values), c_at_1(known, values)
    false_alarms, hits, _ = roc_curve(known, values, drop_intermediate=False)
    curves = tippett(known, bans)
    return {
        "measures": {
            "auc": with_interval("auc", area),
            "c@1": with_interval("c_at_1", right),
            "product": with_interval("product", area * right),
            "cllr": with_interval("cllr", cllr(known, ratios)) if calibrated else None,
        },
        "measured": {"problems": len(judged), "left_out": len(answers) - len(judged)},
        "roc": {"x": rounded(false_alarms), "y": rounded(hits)},
        "tippett": {"llr": rounded(curves.bans), "same": rounded(curves.same), "another": rounded(curves.different)}
        if calibrated
        else None,
        "calibration": [_bin_values(each) for each in reliability(known, chances)] if calibrated else None,
    }


def _bin_values(found: Reliability) -> dict[str, Any]:
    low, high = found.interval
    return {
        "predicted": round(found.answer, DIGITS),
        "observed": round(found.same, DIGITS),
        "low": round(low, DIGITS),
        "high": round(high, DIGITS),
        "count": found.problems,
    }
