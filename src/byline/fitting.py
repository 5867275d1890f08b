"""Scores of problems whose truth is known -> a Calibration, and how good it is on texts that it has not seen.

The line is a logistic regression in which all yes problems together weigh what all no problems do: what it gives is a
likelihood ratio, free of how often yes was right in the corpus. Its slope is held back a little, so that scores which
part yes and no wholly, as few problems easily do, don't make it infinite, and it is never negative: scores that say
the contrary say nothing.

A cap is the lesser of two bounds. By number: a likelihood ratio of k misleads in one of k comparisons at the most,
and a rate below 1 in n + 1 can't be told from none by n comparisons. So a ratio above n + 1 would claim more than the
data can show. Comparisons that share a text are not two: n is how many problems can be picked of which no two share
one, and the smaller number, that of the yes or that of the no problems, holds both ways. By what was borne out: ratios
of k or more must be k times as frequent among the problems of which they are right as among the others (`borne_out`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from byline.calibration import Calibration, Caps, bend, line_bans
from byline.errors import TooLittleText
from byline.folds import Trials, deal_folds, fold_groups
from byline.likelihood import Values, best_radius, probability
from byline.metrics import Flags, cllr, cllr_min

FEWEST = 5
"""Yes problems, and no problems, that share no text: with fewer there is nothing to fit on and to hold out."""
PENALTY = 1.0
"""Half the slope's square (of scores with deviation 1) costs this much, beside the sum of the problems' own costs."""
LEAST_SPREAD = 1e-12
"""Scores that differ less than this, against the greatest or against 1, are taken to be equal."""


class Line(NamedTuple):
    """Natural log-likelihood ratio = offset + slope * score."""

    slope: float
    offset: float


def fit_calibration(
    scores: Sequence[float] | Values,
    truth: Sequence[bool],
    known: Sequence[Collection[Hashable]],
    unknown: Sequence[Hashable],
    weights: Sequence[float] | Values | None = None,
    *,
    interpretation: str,
    engines: Sequence[str],
    preset: str,
    corpora: Sequence[str],
) -> Calibration:
    """The calibration of scores, with its cross-validated cost and the threshold of the highest cross-validated C@1.

    `known` and `unknown` are the texts, or whatever is equal for equal texts. A problem without a score (NaN) takes no
    part. `weights` are for the line alone (see `weigh_corpora`); in cost and threshold every problem weighs the same.
    """
    trials = _trials(scores, truth, known, unknown, weights)
    groups, folds_by = fold_groups(trials)
    held_out = np.zeros(len(trials.scores))
    for training, left_out in deal_folds(groups, trials.same):
        held_out[left_out] = line_bans(trials.scores[left_out], *_fit(trials.at(training)))
    most, borne = cap_bans(trials), borne_out(trials.same, held_out)
    caps = Caps(min(most, borne.same), min(most, borne.different))
    held_out = bend(held_out, caps)
    chances = probability(held_out)
    same = trials.same.tolist()
    line = _fit(trials)
    return Calibration(
        slope=line.slope,
        offset=line.offset,
        cap=caps.same,
        cap_different=caps.different,
        threshold=best_radius(chances, ((chances > 0.5) == trials.same).astype(np.float64)),
        interpretation=interpretation,
        engines=tuple(engines),
        preset=preset,
        problems=len(same),
        texts=len(frozenset().union(*trials.texts)),
        corpora=tuple(corpora),
        cllr=cllr(same, held_out * np.log(10)),
        cllr_min=cllr_min(same, held_out),
        folds_by=folds_by,
    )


def require_trials(truth: Sequence[bool], known: Sequence[Collection[Hashable]], unknown: Sequence[Hashable]) -> None:
    """Refuse problems that are too few to fit anything on, before they are answered."""
    _trials([0.0] * len(truth), truth, known, unknown, None)


def weigh_corpora(corpora: Sequence[str], truth: Sequence[bool]) -> Values:
    """(problems,): weights by which corpora count the same, whatever their sizes and their shares of yes."""
    kinds = list(zip(corpora, truth, strict=True))
    counts = Counter(kinds)
    return np.array([1 / counts[kind] for kind in kinds], np.float64)


def fit_line(scores: Values, same: Flags, weights: Values, penalty: float = PENALTY) -> Line:
    """The logistic regression, yes and no problems weighing the same, with a slope of 0 or more."""
    weights = np.where(same, weights / weights[same].sum(), weights / weights[~same].sum()) / 2
    mean = float(weights @ scores)
    spread = float(np.sqrt(weights @ (scores - mean) ** 2))
    if spread <= LEAST_SPREAD * max(1.0, float(np.abs(scores).max())):
        return Line(0.0, 0.0)
    standard = (scores - mean) / spread
    signs = np.where(same, -1.0, 1.0)
    pull = penalty * float(weights @ weights)  # over the number of problems, or of as many as uneven weights leave

    def cost(line: Values) -> tuple[float, Values]:
        """What the line costs, and how that changes with offset and slope."""
        against = signs * (line[0] + line[1] * standard)
        changes = weights * signs * expit(against)
        gradient = np.array([changes.sum(), changes @ standard + pull * line[1]])
        return float(weights @ np.logaddexp(0, against) + pull / 2 * line[1] ** 2), gradient

    if cost(np.zeros(2))[1][1] >= 0:  # yes problems score no higher in the mean: from 0, the slope could only fall
        return Line(0.0, 0.0)
    offset, slope = map(float, minimize(cost, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-9}).x)
    return Line(slope / spread, offset - slope * mean / spread)


def cap_bans(trials: Trials) -> float:
    """The logarithm of one more than the independent problems of the rarer kind."""
    return float(np.log10(min(trials.independent()) + 1))


def borne_out(same: Flags, bans: Values) -> Caps:
    """The greatest ratios, in bans, up to which those of problems whose truth is known are borne out on each side.

    Ratios of k or more must be k times as frequent where they are right as where they mislead, for each k up to that.
    One more problem that misleads without bound is counted on each side, for what was not seen may yet come. These are
    the empirical lower and upper bounds of Vergeer and others (Science & Justice 56, 2016): where they are passed,
    deciding by the ratio would cost more than deciding by the prior alone.
    """
    return Caps(_highest(bans[same], bans[~same]), _highest(-bans[~same], -bans[same]))


def _highest(right: Values, wrong: Values) -> float:
    """The greatest k up to which each k or more is given k times as often rightly as wrongly; k in bans."""
    given = np.unique(np.concatenate([right, wrong]))
    steps = given[(given > 0) & (given <= right.max())]
    rightly = _count(right, steps) / len(right)
    wrongly = (_count(wrong, steps) + 1) / (len(wrong) + 1)
    ratios = np.log10(rightly / wrongly)  # at each step, and down to the one below
    failing = np.flatnonzero(ratios < steps)
    if not len(failing):
        return float(steps.max(initial=0.0))
    first = int(failing[0])
    return max(float(steps[first - 1]) if first else 0.0, float(ratios[first]))


def _count(values: Values, steps: Values) -> Values:
    """(steps,): how many reach each."""
    counts: Values = (len(values) - np.searchsorted(np.sort(values), steps)).astype(np.float64)
    return counts


def _fit(trials: Trials) -> Line:
    return fit_line(trials.scores, trials.same, trials.weights)


def _trials(
    scores: Sequence[float] | Values,
    truth: Sequence[bool],
    known: Sequence[Collection[Hashable]],
    unknown: Sequence[Hashable],
    weights: Sequence[float] | Values | None,
) -> Trials:
    """The problems that have a score, if they are enough."""
    texts = tuple(frozenset([*ones, other]) for ones, other in zip(known, unknown, strict=True))
    values, same = np.asarray(scores, np.float64), np.asarray(truth, np.bool_)
    weighed = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
    assert len(values) == len(same) == len(weighed) == len(texts)
    trials = Trials(values, same, weighed, texts, tuple(unknown)).at(np.flatnonzero(~np.isnan(values)))
    yes, no = trials.independent()
    if min(yes, no) < FEWEST:
        raise TooLittleText(
            f"a calibration needs {FEWEST} yes and {FEWEST} no problems of which no two share a text;"
            f" there are {yes} and {no}: give more problems, of other texts"
        )
    return trials
