"""A corpus whose truth is known -> a calibration: its problems are answered, and a line is fitted to their scores."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from byline.answers import match_truth
from byline.calibration import Calibration
from byline.combination import reading_of
from byline.errors import RunError, TooLittleText
from byline.execution import Keep, Report
from byline.fitting import fit_calibration, require_trials
from byline.interpret import is_plain, standing_values
from byline.plans import Plan
from byline.pools import Pool
from byline.problems import Offence, Problem, ProblemSet
from byline.reference import Reference
from byline.runs import look_for_run, read_members, read_plan
from byline.settings import Interpretation, kinds_of
from byline.verification import verify

log = logging.getLogger(__name__)

MOST_SHOWN = 10
"""Problems that are named before the rest is counted."""


def calibrate(
    problems: ProblemSet,
    truth: Mapping[str, bool],
    pool: Pool,
    folder: Path,
    name: str,
    *,
    members: int | None = None,
    budget: float | None = None,
    seed: int = 0,
    interpret: Interpretation | None = None,
    reference: Reference | None = None,
    overwrite: bool = False,
    workers: int | None = None,
    report: Report | None = None,
) -> Calibration:
    """Answer the problems with a pool's members, and fit what turns their scores into likelihood ratios.

    Members are kept in `folder`, a run folder; one that was stopped goes on, unless it is to be replaced. Problems
    that can't be used take no part. `name` is what the calibration calls the corpus.
    """
    interpretation = interpret or ("cohort" if reference is not None else pool.interpret)
    if is_plain(interpretation):
        raise RunError(f"{interpretation}s are not calibrated; give --interpret relative, or cohort with a --reference")
    match_truth(dict.fromkeys((problem.id for problem in problems.problems), 0.5), truth, name)  # before any work
    sound = [problem for problem in problems.problems if problem.id in truth]
    there = {problem.id for problem in sound} | {offence.id for offence in problems.offences}
    if lacking := sorted(truth.keys() - there):
        log.warning("%s: no problem is there for %s, which the truth names", name, _some(lacking))
    with _saying_what_was_left_out(problems.offences):
        require_trials(*_trials(sound, truth))
    begun = look_for_run(folder) and not overwrite
    result = verify(
        problems, pool, members=members, budget=budget, seed=seed, interpret=interpretation, reference=reference,
        skip_bad=True, cautions=False, workers=workers, report=report,
        keep=Keep(folder, resume=begun, overwrite=overwrite, models=False, evidence=False),
    )  # fmt: skip
    plan = read_plan(folder)
    values = values_of(folder, plan)
    asked = [problem for problem in sound if problem.id in values]
    with _saying_what_was_left_out(result.skipped):
        fitted = fit_calibration(
            np.array([values[problem.id] for problem in asked]),
            *_trials(asked, truth),
            interpretation=interpretation,
            engines=kinds_of(member.settings for member in plan.members),
            preset=pool.name,
            corpora=(name,),
        )
    if result.skipped:
        log.warning("%s: %s", name, _left_out(result.skipped))
    return fitted


@contextmanager
def _saying_what_was_left_out(offences: Sequence[Offence]) -> Iterator[None]:
    """Where there is too little, what can't be used may be why."""
    try:
        yield
    except TooLittleText as error:
        if not offences:
            raise
        raise TooLittleText(f"{error}\n  {_left_out(offences)}") from None


def _left_out(offences: Sequence[Offence]) -> str:
    """Which problems, and why, one a line."""
    count = len(offences)
    lines = [f"{count} problem{'s are' if count > 1 else ' is'} left out:"]
    lines += [offence.message for offence in offences[:MOST_SHOWN]]
    return "\n  ".join([*lines, *([f"and {count - MOST_SHOWN} more"] if count > MOST_SHOWN else [])])


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


def _trials(
    problems: Sequence[Problem], truth: Mapping[str, bool]
) -> tuple[list[bool], list[frozenset[str]], list[str]]:
    """The truth, the known texts and the unknown one of each problem."""
    known = [frozenset(document.text for document in problem.known) for problem in problems]
    return [truth[problem.id] for problem in problems], known, [problem.unknown.text for problem in problems]


def values_of(folder: Path, plan: Plan) -> dict[str, float]:
    """What a run's members say of each problem, as a calibration takes it."""
    values: dict[str, float] = {}
    records = list(read_members(folder, plan))
    for number, group in enumerate(plan.groups):
        readings = [reading_of(record, plan) for record in records if record.group == number]
        found = standing_values(readings, plan.manner.interpretation)
        values |= dict(zip(group.ids, found.tolist(), strict=True))
    return values
