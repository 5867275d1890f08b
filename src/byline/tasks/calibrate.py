"""Calibration: problems whose truth is known are answered, and a line is fitted to their scores."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from byline.corpora.answers import match_truth
from byline.corpora.formats.extraction import LARGEST_TEXT
from byline.corpora.labeled_corpus import LabeledCorpus
from byline.corpora.problems import BadProblem, Problem, ProblemSet
from byline.corpora.reference import Reference
from byline.corpora.reference_building import build_reference
from byline.errors import SettingsError, TooLittleText, list_some
from byline.judgment.calibration import Calibration
from byline.judgment.calibration_fitting import fit_calibration, require_trials
from byline.judgment.interpretation import calibration_scores, has_unit_scores
from byline.judgment.simulated_cases import CaseOptions, draw_cases
from byline.runs.executor import Execution
from byline.runs.folder import RunOutput, has_run
from byline.runs.request import JudgmentRequest
from byline.runs.run import Run
from byline.settings.settings import Interpretation, Pool, kinds_of
from byline.tasks.verify import verify

log = logging.getLogger(__name__)

MIN_AUTHORS = 10
"""Authors with two texts or more: with fewer, too few problems share no text."""
WHOLE_TEXTS = CaseOptions(
    shortest=1, known_length=LARGEST_TEXT, unknown_length=LARGEST_TEXT, unmatched=1, matched=0, reference_authors=0
)
"""How solved cases are drawn: each author is asked about once for either truth, so that few cases share texts."""
MOST_SHOWN = 10
"""The number of problems that a message names."""


def make_solved_cases(path: Path, language: str | None = None, seed: int = 0) -> tuple[ProblemSet, dict[str, bool]]:
    """Make problems from texts whose authors are known; return them and their truth by id.

    One text of each author with two or more is the unknown of two problems: with other texts of the same author, and
    with those of another author. Texts are not cut.
    """
    corpus = LabeledCorpus.from_reference(build_reference([path], language), path.name)
    able = [author for author, works in corpus.works.items() if len(works) > 1]
    if len(able) < MIN_AUTHORS:
        raise TooLittleText(
            f"has {len(able)} authors with two texts or more, {MIN_AUTHORS} are needed",
            where=path,
            remedy="Put each author's texts in a folder of their own, or give a corpus with its truth",
        )
    found = draw_cases(corpus, np.random.default_rng(seed), WHOLE_TEXTS)
    return found.problems, found.truth


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
    execution: Execution = Execution(),  # noqa: B008 - frozen
) -> Calibration:
    """Answer problems with a pool's members, and fit a calibration that turns scores into likelihood ratios.

    Problems that can't be used are left out.

    Parameters
    ----------
    folder
        The run folder for the members. A run in it that was stopped is resumed, unless `overwrite` is set.
    name
        The name of the corpus in the calibration.
    """
    interpretation = interpret or ("cohort" if reference is not None else pool.interpret)
    if has_unit_scores(interpretation):
        raise SettingsError(
            f"{interpretation} scores can't be calibrated",
            where="interpret",
            remedy="Give relative with {interpret}, or a {reference}",
        )
    match_truth(dict.fromkeys((problem.id for problem in problems.problems), 0.5), truth, name)  # before any work
    sound = [problem for problem in problems.problems if problem.id in truth]
    there = {problem.id for problem in sound} | {offence.id for offence in problems.bad_problems}
    if lacking := sorted(truth.keys() - there):
        log.warning("%s: the truth names problems that are missing: %s", name, list_some(lacking, MOST_SHOWN))
    try:
        require_trials(*_trials(sound, truth))
    except TooLittleText as error:
        raise _with_skipped(error, problems.bad_problems) from None
    result = verify(
        problems,
        pool,
        members=members,
        budget=budget,
        seed=seed,
        reference=reference,
        judgment=JudgmentRequest(interpretation),
        skip_bad=True,
        output=RunOutput(folder, resume=has_run(folder) and not overwrite, overwrite=overwrite, evidence=False),
        execution=replace(execution, cautions=False),
    )
    values = values_of(Run(folder, result.plan))
    asked = [problem for problem in sound if problem.id in values]
    try:
        fitted = fit_calibration(
            np.array([values[problem.id] for problem in asked]),
            *_trials(asked, truth),
            interpretation=interpretation,
            engines=kinds_of(member.settings for member in result.plan.members),
            preset=pool.name,
            corpora=(name,),
        )
    except TooLittleText as error:
        raise _with_skipped(error, result.skipped) from None
    if result.skipped:
        log.warning("%s: %s", name, _list_skipped(result.skipped))
    return fitted


def _with_skipped(error: TooLittleText, offences: Sequence[BadProblem]) -> TooLittleText:
    """Return the error with the problems that were left out, which may be its cause."""
    what = f"{error.what}\n  {_list_skipped(offences)}" if offences else error.what
    return TooLittleText(what, where=error.where, remedy=error.remedy)


def _list_skipped(offences: Sequence[BadProblem]) -> str:
    """Return a message that lists problems and reasons, one per line."""
    count = len(offences)
    more = [f"and {count - MOST_SHOWN} more"] if count > MOST_SHOWN else []
    lines = [f"{count} problem{'s are' if count > 1 else ' is'} left out:"]
    return "\n  ".join([*lines, *(offence.message for offence in offences[:MOST_SHOWN]), *more])


def _trials(
    problems: Sequence[Problem], truth: Mapping[str, bool]
) -> tuple[list[bool], list[frozenset[str]], list[str]]:
    """Return the truth, the known texts and the unknown text of each problem."""
    known = [frozenset(document.text for document in problem.known) for problem in problems]
    return [truth[problem.id] for problem in problems], known, [problem.unknown.text for problem in problems]


def values_of(run: Run) -> dict[str, float]:
    """Return the scores that a calibration is fitted to, by problem."""
    values: dict[str, float] = {}
    for number, group in enumerate(run.plan.groups):
        found = calibration_scores(run.group_scores(number), run.plan.judgment.interpretation)
        values |= dict(zip(group.ids, found.tolist(), strict=True))
    return values
