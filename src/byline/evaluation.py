"""Answers, truth and texts -> measures with intervals; two systems compared on the same problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from byline.answers import match_truth, read_answers
from byline.errors import AnswersError, CorpusError
from byline.metrics import Measures, measure
from byline.problems import Problem, read_problems
from byline.resampling import (
    Comparison,
    Draws,
    Interval,
    compare_draws,
    interval,
    measure_draws,
    weigh_problems,
    weigh_texts,
)
from byline.truth import read_truth

COMPARED = ("auc", "c_at_1", "product", "cllr")
"""The measures that have intervals."""
LESS_IS_BETTER = ("cllr",)


@dataclass(frozen=True)
class Evaluation:
    """What answers are worth."""

    answers: Path
    truth: tuple[bool, ...]
    values: tuple[float, ...]
    """By id, like the truth."""
    measures: Measures
    missing: int
    """Problems without an answer, which counted as undecided."""
    by_text: bool
    """Whether the texts were at hand, so that they and not problems were resampled."""
    intervals: Mapping[str, Interval]


def evaluate_answers(answers: Path, truth: Path, seed: int = 0) -> Evaluation:
    """Measure an answers file, or the one in a folder, against the truth.

    Intervals resample the texts, which are looked for in the folder of the truth; where they are not there, problems.
    """
    given, known = read_answers(answers), read_truth(truth)
    try:
        same, values = match_truth(given, known, str(answers))
        measures = measure(same, values)
    except AnswersError as error:
        raise AnswersError(f"{truth}: {error}") from None
    weights, by_text = _weights(truth, sorted(known), seed)
    drawn = measure_draws(same, values, weights)
    intervals = {name: interval(drawn[name]) for name in COMPARED}
    missing = len(known.keys() - given.keys())
    return Evaluation(answers, tuple(same), tuple(values), measures, missing, by_text, intervals)


@dataclass(frozen=True)
class Contest:
    """Two systems' answers to the same problems."""

    first: Evaluation
    second: Evaluation
    differences: Mapping[str, Comparison]
    """By measure: the first less the second."""

    def better(self, name: str) -> float:
        """In what share of draws the first is better by a measure, equal ones counting half."""
        higher = self.differences[name].higher
        return 1 - higher if name in LESS_IS_BETTER else higher


def compare_answers(first: Path, second: Path, truth: Path, seed: int = 0) -> Contest:
    """Is the first better, and how sure is that? Both are measured in the same draws of texts."""
    sides = [evaluate_answers(answers, truth, seed) for answers in (first, second)]
    weights, _ = _weights(truth, sorted(read_truth(truth)), seed)
    drawn = [measure_draws(side.truth, side.values, weights) for side in sides]
    differences = {}
    for name in COMPARED:
        difference = getattr(sides[0].measures, name) - getattr(sides[1].measures, name)
        differences[name] = compare_draws(drawn[0][name], drawn[1][name], difference)
    return Contest(sides[0], sides[1], differences)


def _weights(truth: Path, ids: Sequence[str], seed: int) -> tuple[Draws, bool]:
    """Weights for the problems in the order of `ids`, and whether they come from texts."""
    rng = np.random.default_rng(seed)
    by_id = _problems_beside(truth)
    if by_id and all(name in by_id for name in ids):
        return weigh_texts([by_id[name] for name in ids], rng), True
    return weigh_problems(len(ids), rng), False


def _problems_beside(truth: Path) -> Mapping[str, Problem]:
    """The problems in the folder that holds the truth, as far as they can be read."""
    try:
        found = read_problems(truth if truth.is_dir() else truth.parent)
    except CorpusError:
        return {}
    return {problem.id: problem for problem in found.problems}
