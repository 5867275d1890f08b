"""The data of figures with lines: ROC, Tippett, reliability and learning curves, and probabilities along a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from byline.corpora.answers import Answer
from byline.engines.matrix import Table
from byline.errors import AnswersError
from byline.judgment.metrics import auc, c_at_1, cllr, reliability
from byline.judgment.resampling import Draws, Interval, interval, measure_draws, weigh_problems
from byline.tasks.rolling import Rolling

WILSON = 1.959964
"""Standard errors on either side of a 95 % interval."""
BINS = 10
MOST_LINES = 6
"""Authors with a line of their own; more are hard to tell apart."""
LEAST = 0.1
"""The probability that an author without a stretch must reach to have a line."""


@dataclass(frozen=True)
class Roc:
    """Hits and false alarms at every threshold from high to low."""

    false_alarms: tuple[float, ...]
    """The share of no problems that are answered as high as each threshold; the first is 0."""
    hits: tuple[float, ...]
    """The same share of the yes problems."""
    auc: float
    auc_interval: Interval
    """Of 95 % of the draws."""
    c_at_1: float
    c_at_1_interval: Interval
    decided: tuple[float, float]
    """False alarms and hits of answers above 0.5."""
    problems: int


def roc_curve(truth: Sequence[bool], answers: Sequence[float], weights: Draws | None = None) -> Roc:
    """Compute the curve, the area under it and C@1, with bootstrap intervals.

    `weights` are those of the problems in each draw; by default problems are resampled as if no two shared a text.
    """
    yes, values = _both_kinds(truth, "a ROC curve"), np.asarray(answers, np.float64)
    thresholds = np.concatenate([[np.inf], np.unique(values)[::-1]])

    def shares(chosen: NDArray[np.float64]) -> tuple[float, ...]:
        ordered = np.sort(chosen)
        return tuple((1 - np.searchsorted(ordered, thresholds) / len(ordered)).tolist())

    if weights is None:
        weights = weigh_problems(len(values), np.random.default_rng(0))
    drawn = measure_draws(truth, answers, weights)
    return Roc(
        shares(values[~yes]),
        shares(values[yes]),
        auc(truth, answers),
        interval(drawn["auc"]),
        c_at_1(truth, answers),
        interval(drawn["c_at_1"]),
        (float((values[~yes] > 0.5).mean()), float((values[yes] > 0.5).mean())),
        len(values),
    )


@dataclass(frozen=True)
class TippettCurves:
    """At each log-likelihood ratio that occurs, in bans, the share of problems with as much or more."""

    bans: tuple[float, ...]
    same: tuple[float, ...]
    """Of the yes problems."""
    different: tuple[float, ...]
    """Of the no problems."""
    misleading_same: float
    """The share of yes problems whose ratio speaks for another author."""
    misleading_different: float
    """The share of no problems whose ratio speaks for the same author."""
    cllr: float
    problems: int


def tippett_curves(truth: Sequence[bool], bans: Sequence[float]) -> TippettCurves:
    """Compute the curves of log-likelihood ratios, which are not rounded as answers are."""
    yes, values = _both_kinds(truth, "a Tippett plot"), np.asarray(bans, np.float64)
    steps = np.unique(values)

    def shares(chosen: NDArray[np.float64]) -> tuple[float, ...]:
        return tuple((1 - np.searchsorted(np.sort(chosen), steps) / len(chosen)).tolist())

    return TippettCurves(
        tuple(steps.tolist()),
        shares(values[yes]),
        shares(values[~yes]),
        float((values[yes] < 0).mean()),
        float((values[~yes] > 0).mean()),
        cllr(truth, values * np.log(10)),
        len(values),
    )


@dataclass(frozen=True)
class ReliabilityBin:
    """Answers of similar probability, and how many of their problems were by the same author."""

    problems: int
    probability: float
    """Their mean."""
    same: float
    """The share that was the same author."""
    interval: Interval
    """Wilson's 95 % interval of that share."""


def reliability_bins(
    truth: Sequence[bool], probabilities: Sequence[float], bins: int = BINS
) -> tuple[ReliabilityBin, ...]:
    """Sort probabilities into equal bins from 0 to 1, without empty ones."""
    return tuple(
        ReliabilityBin(each.problems, each.answer, each.same, _wilson(each.same, each.problems))
        for each in reliability(truth, probabilities, bins)
    )


def _wilson(share: float, count: int) -> Interval:
    square = WILSON**2 / count
    middle = (share + square / 2) / (1 + square)
    margin = WILSON / (1 + square) * np.sqrt(share * (1 - share) / count + square / (4 * count))
    return Interval(float(max(0.0, middle - margin)), float(min(1.0, middle + margin)))


@dataclass(frozen=True)
class LearningCurves:
    """Bits a character by sub-epoch, of the networks that learned the problems of one language."""

    language: str
    members: tuple[tuple[float, ...], ...]
    """Of each network, averaged over both ways of asking."""
    mean: tuple[float, ...]
    """As far as all curves reach."""


def learning_curves(networks: Iterable[tuple[str, Sequence[Sequence[float]]]]) -> tuple[LearningCurves, ...]:
    """Group the curves of networks, each with its language and a curve for each way of asking, by language."""
    found: dict[str, list[tuple[float, ...]]] = {}
    for language, curves in networks:
        if curves and all(curves):
            found.setdefault(language, []).append(_mean_curve(curves))
    return tuple(LearningCurves(language, tuple(own), _mean_curve(own)) for language, own in found.items())


def _mean_curve(curves: Sequence[Sequence[float]]) -> tuple[float, ...]:
    shortest = min(map(len, curves))
    return tuple(np.mean([curve[:shortest] for curve in curves], axis=0).tolist())


def truth_of(answers: Sequence[Answer], truth: Mapping[str, bool], where: object) -> list[bool]:
    """Return the truth of each answer. Raise AnswersError if one is missing."""
    if unknown := [answer.id for answer in answers if answer.id not in truth]:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise AnswersError(f"lacks {unknown[0]}{more}", where=where, remedy="Name the truth of this run's problems")
    return [truth[answer.id] for answer in answers]


def ratios_of(answers: Sequence[Answer], where: object) -> list[float]:
    """Return the log-likelihood ratios in bans, 0 for skipped problems. Raise AnswersError if not calibrated."""
    if all(answer.llr is None for answer in answers):
        raise AnswersError(
            "its answers are not calibrated and have no likelihood ratios",
            where=where,
            remedy="Answer the problems with a {calibration}, or with a preset that has one",
        )
    return [0.0 if answer.llr is None else answer.llr for answer in answers]


def probabilities_of(answers: Sequence[Answer], where: object) -> list[float]:
    """Return the probability of each answer, undecided or not. Raise AnswersError if not calibrated."""
    ratios_of(answers, where)
    return [answer.value if answer.probability is None else answer.probability for answer in answers]


def _both_kinds(truth: Sequence[bool], name: str) -> NDArray[np.bool_]:
    yes = np.asarray(truth, np.bool_)
    if not yes.any() or yes.all():
        raise AnswersError(f"{name} needs both yes and no in the truth, which has only one of them")
    return yes


@dataclass(frozen=True)
class AuthorLines:
    """The probability of each author along a text."""

    middles: Table  # (windows,): the middle of each, in characters
    authors: tuple[str, ...]
    """Those with a line of their own: the authors of stretches first, then the most probable ones."""
    chances: Table  # (authors, windows)
    others: Table  # (windows,): of all other authors together
    further: int
    """How many these are."""


def probability_lines(rolling: Rolling, most: int = MOST_LINES) -> AuthorLines:
    """Return the lines of a rolled text."""
    names = sorted(each.author for each in rolling.passages[0].attribution.ranking)
    found = [{each.author: each.probability for each in passage.attribution.ranking} for passage in rolling.passages]
    chances = np.array([[passage[name] for passage in found] for name in names])  # (all authors, windows)
    spans: dict[str, int] = {}
    for stretch in rolling.stretches:
        spans[stretch.author] = spans.get(stretch.author, 0) + stretch.end - stretch.begin
    means = chances.mean(axis=1)
    order = sorted(range(len(names)), key=lambda number: (-spans.get(names[number], 0), -means[number], names[number]))
    able = [number for number in order if names[number] in spans or chances[number].max() >= LEAST]
    own = able[:most]
    rest = [number for number in order if number not in own]
    middles = np.array([(passage.begin + passage.end) / 2 for passage in rolling.passages])
    others = chances[rest].sum(axis=0) if rest else np.zeros(len(middles))
    return AuthorLines(middles, tuple(names[number] for number in own), chances[own], others, len(rest))
