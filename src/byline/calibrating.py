"""A corpus whose truth is known -> a calibration: its problems are answered, and a line is fitted to their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from byline.answers import match_truth
from byline.calibration import Calibration
from byline.combination import read_record
from byline.errors import RunError
from byline.execution import Keep, Report
from byline.fitting import fit_calibration, require_trials
from byline.interpret import standing_values
from byline.plans import Plan
from byline.pools import Pool
from byline.problems import Problem, ProblemSet
from byline.reference import Reference
from byline.runs import is_run, read_members, read_plan
from byline.settings import Interpretation, kinds_of
from byline.verification import verify


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
    if interpretation == "rank":
        raise RunError("ranks are not calibrated; give --interpret relative, or cohort with a --reference")
    match_truth(dict.fromkeys((problem.id for problem in problems.problems), 0.5), truth, name)  # before any work
    sound = [problem for problem in problems.problems if problem.id in truth]
    require_trials(*_trials(sound, truth))
    verify(
        problems, pool, members=members, budget=budget, seed=seed, interpret=interpretation, reference=reference,
        skip_bad=True, workers=workers, report=report,
        keep=Keep(folder, resume=is_run(folder) and not overwrite, overwrite=overwrite, models=False),
    )  # fmt: skip
    plan = read_plan(folder)
    values = values_of(folder, plan)
    asked = [problem for problem in sound if problem.id in values]
    return fit_calibration(
        np.array([values[problem.id] for problem in asked]),
        *_trials(asked, truth),
        interpretation=interpretation,
        engines=kinds_of(member.settings for member in plan.members),
        preset=pool.name,
        corpora=(name,),
    )


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
        readings = [read_record(record, plan) for record in records if record.group == number]
        found = standing_values(readings, plan.manner.interpretation)
        values |= dict(zip(group.ids, found.tolist(), strict=True))
    return values
