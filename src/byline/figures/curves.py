"""What answers are worth, as curves: ROC, Tippett, reliability; and how networks learnt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from byline.answers import Answer
from byline.errors import AnswersError
from byline.metrics import auc, c_at_1, cllr, reliability
from byline.resampling import Draws, Interval, interval, measure_draws, weigh_problems
from byline.runs import Record

WILSON = 1.959964
"""Standard errors either way of an interval: 95 of 100."""
BINS = 10


@dataclass(frozen=True)
class Roc:
    """How many yes problems are found at the price of how many false alarms, at every threshold from high to low."""

    false_alarms: tuple[float, ...]
    """The share of no problems that are answered as high as each threshold; the first is 0."""
    hits: tuple[float, ...]
    """And that of the yes problems."""
    auc: float
    auc_interval: Interval
    """In 95 of 100 draws."""
    c_at_1: float
    c_at_1_interval: Interval
    decided: tuple[float, float]
    """False alarms and hits where yes is whatever is answered above 0.5."""
    problems: int


def roc_curve(truth: Sequence[bool], answers: Sequence[float], weights: Draws | None = None) -> Roc:
    """The curve, the area under it and C@1, with intervals by the weights of the problems in each draw.

    Those of texts are byline evaluate's; without any, problems are resampled as if no two shared a text.
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
    """The curves of likelihood ratios themselves, not rounded as answers are."""
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
    """Probabilities that lie near each other, and how many of their problems were by the same author."""

    problems: int
    probability: float
    """Their mean."""
    same: float
    """The share that was the same author."""
    interval: Interval
    """Where that share lies, by Wilson's formula, in 95 of 100 cases."""


def reliability_bins(
    truth: Sequence[bool], probabilities: Sequence[float], bins: int = BINS
) -> tuple[ReliabilityBin, ...]:
    """Probabilities in equal bins from 0 to 1, those that hold any."""
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
    """Bits a character by sub-epoch, of the networks that learnt the problems of one language."""

    language: str
    members: tuple[tuple[float, ...], ...]
    """Each network's, both ways of asking averaged."""
    mean: tuple[float, ...]
    """As far as all of them go."""


def learning_curves(records: Iterable[Record], languages: Sequence[str]) -> tuple[LearningCurves, ...]:
    """The curves by language, where any member learns step by step."""
    found: dict[int, list[tuple[float, ...]]] = {}
    for record in records:
        if all(record.curves):
            found.setdefault(record.group, []).append(_mean_curve(record.curves))
    return tuple(
        LearningCurves(languages[group], tuple(curves), _mean_curve(curves)) for group, curves in sorted(found.items())
    )


def _mean_curve(curves: Sequence[Sequence[float]]) -> tuple[float, ...]:
    shortest = min(map(len, curves))
    return tuple(np.mean([curve[:shortest] for curve in curves], axis=0).tolist())


def mean_curve(language: str, curves: Sequence[Sequence[float]]) -> LearningCurves:
    """The curves of the networks of one model."""
    return LearningCurves(language, tuple(tuple(curve) for curve in curves), _mean_curve(curves))


def truth_of(answers: Sequence[Answer], truth: dict[str, bool], where: str) -> list[bool]:
    """The truth of each answer; an id that the truth does not know is refused."""
    unknown = [answer.id for answer in answers if answer.id not in truth]
    if unknown:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise AnswersError(f"{where}: does not know {unknown[0]}{more}; name the truth of the problems of this run")
    return [truth[answer.id] for answer in answers]


def ratios_of(answers: Sequence[Answer], where: str) -> list[float]:
    """The log-likelihood ratio of each answer, in bans, 0 where nothing could be said; refused if not calibrated."""
    if all(answer.llr is None for answer in answers):
        raise AnswersError(
            f"{where}: its answers are not calibrated, they have no likelihood ratios;"
            " give byline verify a --calibration (byline calibrate makes one), or use a preset that has one"
        )
    return [0.0 if answer.llr is None else answer.llr for answer in answers]


def probabilities_of(answers: Sequence[Answer], where: str) -> list[float]:
    """The probability of each answer, undecided or not; refused if not calibrated."""
    ratios_of(answers, where)
    return [answer.value if answer.probability is None else answer.probability for answer in answers]


def _both_kinds(truth: Sequence[bool], name: str) -> NDArray[np.bool_]:
    yes = np.asarray(truth, np.bool_)
    if not yes.any() or yes.all():
        raise AnswersError(f"{name} needs both yes and no in the truth; it has only one of them")
    return yes
