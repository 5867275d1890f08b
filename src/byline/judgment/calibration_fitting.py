"""Fit a calibration to scores of problems whose truth is known, and cross-validate it.

The line is a logistic regression in which all yes problems together weigh as much as all no problems. It gives a
likelihood ratio that does not depend on the share of yes in the corpus (Brümmer and du Preez, Computer Speech and
Language 20, 2006). A small penalty on the slope keeps it finite if scores separate yes and no completely. The slope is
never negative: scores that point the wrong way carry no information.

A cap is the lesser of two bounds. By number: a likelihood ratio of k misleads in at most one of k comparisons, and n
comparisons cannot distinguish a rate below 1 in n + 1 from 0. A ratio above n + 1 would claim more than the data can
show. Comparisons that share a text are not independent: n counts problems of which no two share one, and the smaller
count, of the yes or of the no problems, bounds both sides. By evidence: see `empirical_bounds`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import DisjointSet
from scipy.optimize import minimize
from scipy.special import expit

from byline.errors import TooLittleText
from byline.judgment.calibration import Calibration, Caps, FoldsBy, apply_caps, line_bans
from byline.judgment.likelihood_ratio import Values, best_radius, probability
from byline.judgment.metrics import Flags, cllr, cllr_min

Indices = NDArray[np.int64]

FOLDS = 10
MORE_PROBLEMS = "Give more problems, of other texts"


@dataclass(frozen=True)
class Trials:
    """Problems with their scores, truth, weights and texts."""

    scores: Values
    same: Flags
    weights: Values
    texts: tuple[frozenset[Hashable], ...]
    """The known and unknown texts of each problem, or any values that are equal for equal texts."""
    unknown: tuple[Hashable, ...]

    def at(self, chosen: Indices) -> Trials:
        """Return some of the problems."""
        texts, unknown = (self.texts[number] for number in chosen), (self.unknown[number] for number in chosen)
        return Trials(self.scores[chosen], self.same[chosen], self.weights[chosen], tuple(texts), tuple(unknown))

    def independent(self) -> tuple[int, int]:
        """Return how many yes problems, and how many no problems, there are of which no two share a text."""
        yes, no = (self.at(np.flatnonzero(kind)).texts for kind in (self.same, ~self.same))
        return count_independent(yes), count_independent(no)


def text_groups(keys: Sequence[Collection[Hashable]]) -> list[int]:
    """Return each problem's group, from 0: problems that share a text, directly or through others, are together."""
    joined = DisjointSet(range(len(keys)))
    first: dict[Hashable, int] = {}
    for number, held in enumerate(keys):
        for key in held:
            joined.merge(number, first.setdefault(key, number))
    numbers: dict[int, int] = {}
    return [numbers.setdefault(joined[number], len(numbers)) for number in range(len(keys))]


def count_independent(texts: Sequence[Collection[Hashable]]) -> int:
    """Return how many problems can be picked, those with the rarest texts first, of which no two share a text."""
    uses = Counter(key for held in texts for key in held)
    taken: set[Hashable] = set()
    count = 0
    for held in sorted(texts, key=lambda held: sum(uses[key] for key in held)):
        if taken.isdisjoint(held):
            taken.update(held)
            count += 1
    return count


def fold_groups(trials: Trials) -> tuple[list[int], FoldsBy]:
    """Group the problems that share any text; if that is over half of the yes or no, those of each unknown text."""
    groups = text_groups(trials.texts)
    numbers = np.array(groups)
    if all(np.bincount(numbers[kind]).max() <= kind.sum() / 2 for kind in (trials.same, ~trials.same)):
        return groups, "texts"
    return text_groups([{key} for key in trials.unknown]), "unknown"


def assign_folds(groups: Sequence[int], same: Flags) -> Iterator[tuple[Indices, Indices]]:
    """Yield for each fold the problems to fit on and those to hold out; groups stay whole, large ones come first."""
    sizes = np.array([np.bincount(groups, weights=kind) for kind in (same, ~same)]).T  # (groups, 2)
    folds = np.zeros((min(FOLDS, len(sizes)), 2))
    fold_of = np.zeros(len(sizes), np.int64)
    for group in np.argsort(-sizes.sum(axis=1), kind="stable"):
        fold_of[group] = np.argmin(folds @ sizes[group])  # the fold with the fewest problems of its kind
        folds[fold_of[group]] += sizes[group]
    if (folds.sum(axis=0) - folds).min() == 0:
        raise TooLittleText(
            "too many problems share texts: if some are held out, only yes or only no is left", remedy=MORE_PROBLEMS
        )
    of_problem = fold_of[np.asarray(groups)]
    for fold in range(len(folds)):
        yield np.flatnonzero(of_problem != fold), np.flatnonzero(of_problem == fold)


MIN_PROBLEMS = 5
"""The number of yes problems, and of no problems, without a shared text that a fit needs."""
PENALTY = 1.0
"""The weight of half the squared slope (of scores with deviation 1) beside the sum of the problems' losses."""
UNSUPPORTED = 0.05
"""The share of a bootstrap's draws that need not support a bound."""
FEWEST_ABOVE = 10
"""High values without which the variance of their share is not estimated."""
MIN_SPREAD = 1e-12
"""Scores that differ less than this, relative to the greatest or to 1, count as equal."""


class CalibrationLine(NamedTuple):
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
    """Fit a calibration, with its cross-validated Cllr and the threshold of the highest cross-validated C@1.

    Parameters
    ----------
    scores
        One per problem; problems without a score (NaN) are ignored.
    known, unknown
        The texts of each problem, or any values that are equal for equal texts.
    weights
        The problems' weights in the line (see `weigh_corpora`). Cllr and threshold do not depend on them.
    """
    trials = _make_trials(scores, truth, known, unknown, weights)
    groups, folds_by = fold_groups(trials)
    held_out = np.zeros(len(trials.scores))
    for training, left_out in assign_folds(groups, trials.same):
        held_out[left_out] = line_bans(trials.scores[left_out], *_fit(trials.at(training)))
    bound, bounds = count_bound(trials), empirical_bounds(trials.same, held_out)
    caps = Caps(min(bound, bounds.same), min(bound, bounds.different))
    held_out = apply_caps(held_out, *caps)
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
    """Raise TooLittleText if problems are too few to fit on, before they are answered."""
    _make_trials([0.0] * len(truth), truth, known, unknown, None)


def weigh_corpora(corpora: Sequence[str], truth: Sequence[bool]) -> Values:
    """Return (problems,): weights that make corpora count equally, whatever their sizes and shares of yes."""
    kinds = list(zip(corpora, truth, strict=True))
    counts = Counter(kinds)
    return np.array([1 / counts[kind] for kind in kinds], np.float64)


def fit_line(scores: Values, same: Flags, weights: Values, penalty: float = PENALTY) -> CalibrationLine:
    """Fit a logistic regression in which yes and no problems weigh the same, with a slope of 0 or more."""
    weights = np.where(same, weights / weights[same].sum(), weights / weights[~same].sum()) / 2
    mean = float(weights @ scores)
    spread = float(np.sqrt(weights @ (scores - mean) ** 2))
    if spread <= MIN_SPREAD * max(1.0, float(np.abs(scores).max())):
        return CalibrationLine(0.0, 0.0)
    standard = (scores - mean) / spread
    signs = np.where(same, -1.0, 1.0)
    pull = penalty * float(weights @ weights)  # over the number of problems, or of as many as uneven weights leave

    def cost(line: Values) -> tuple[float, Values]:
        """Return the loss and its gradient with respect to offset and slope."""
        against = signs * (line[0] + line[1] * standard)
        changes = weights * signs * expit(against)
        gradient = np.array([changes.sum(), changes @ standard + pull * line[1]])
        return float(weights @ np.logaddexp(0, against) + pull / 2 * line[1] ** 2), gradient

    if cost(np.zeros(2))[1][1] >= 0:  # yes problems score no higher on average: the slope would be negative
        return CalibrationLine(0.0, 0.0)
    offset, slope = map(float, minimize(cost, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-9}).x)
    return CalibrationLine(slope / spread, offset - slope * mean / spread)


def count_bound(trials: Trials) -> float:
    """Return in bans one more than the number of independent problems of the rarer kind."""
    return float(np.log10(min(trials.independent()) + 1))


def empirical_bounds(same: Flags, bans: Values) -> Caps:
    """Return the greatest ratios, in bans, that problems whose truth is known support on each side.

    A bound is the greatest k such that ratios of k or more are k times as frequent where they are right as where they
    mislead, with one infinitely misleading problem added on each side. These are like the empirical lower and upper
    bounds of Vergeer et al. (Science & Justice 56, 2016), beyond which a decision by the ratio would cost more than one
    by the prior alone.
    """
    return supported_bounds(same, bans, np.ones((1, len(bans))))


def supported_bounds(same: Flags, bans: Values, weights: NDArray[np.float64]) -> Caps:
    """Return the empirical bounds of problems that may share authors.

    Dependent problems support less than as many independent ones, so two things differ from `empirical_bounds`. The
    misleading problem that is added weighs as much as one of n problems, where n is the number of problems divided by
    their design effect (Kish 1965): how much more the share of high ratios varies in a bootstrap over authors than
    among independent problems. And each draw of the bootstrap has its own bound, of which a low quantile is taken: only
    1 draw in 20 supports less.

    Parameters
    ----------
    weights
        (draws, problems): the weights of a bootstrap over authors or texts (see resampling.py).
    """
    kinds = weights[:, same], weights[:, ~same]
    return Caps(
        _upper_bound(bans[same], bans[~same], *kinds),
        _upper_bound(-bans[~same], -bans[same], *kinds[::-1]),
    )


def _upper_bound(
    right: Values, wrong: Values, right_weights: NDArray[np.float64], wrong_weights: NDArray[np.float64]
) -> float:
    given = np.unique(np.concatenate([right, wrong]))
    steps = given[(given > 0) & (given <= right.max())]
    if not len(steps):
        return 0.0
    count = _count_effective(wrong, wrong_weights)
    rightly, wrongly = _shares_from(right, right_weights, steps), _shares_from(wrong, wrong_weights, steps)
    with np.errstate(divide="ignore"):  # a draw may give all high ratios a weight of 0
        ratios = np.log10(rightly) - np.log10((wrongly * count + 1) / (count + 1))
    below = np.concatenate([[0.0], steps[:-1]])  # frequencies are the same from here up to the step
    found = np.where(ratios > below, np.minimum(ratios, steps), 0).max(axis=1)
    return float(np.quantile(found, UNSUPPORTED))


def _shares_from(values: Values, weights: NDArray[np.float64], steps: Values) -> NDArray[np.float64]:
    """Return (draws, steps): the weight of the values that are as great as each step, as a share of all."""
    order = np.argsort(-values)
    totals = np.concatenate([np.zeros((len(weights), 1)), weights[:, order].cumsum(axis=1)], axis=1)
    counts = len(values) - np.searchsorted(np.sort(values), steps)
    shares: NDArray[np.float64] = totals[:, counts] / totals[:, -1:]
    return shares


def _count_effective(values: Values, weights: NDArray[np.float64]) -> float:
    """Return how many independent problems say as much as these about the share of high values.

    This is the least number at any of several levels: the highest half, quarter and so on of the values, while at least
    `FEWEST_ABOVE` are left.
    """
    counts = [float(len(values))]
    above = len(values) // 2
    while above >= FEWEST_ABOVE:
        level = np.sort(values)[-above]
        share = float((values >= level).mean())
        if share < 1:  # otherwise, values are equal down to the lowest, and the share never varies
            variance = float(_shares_from(values, weights, np.array([level])).var())
            counts.append(share * (1 - share) / max(variance, np.finfo(float).tiny))
        above //= 2
    return min(counts)


def _fit(trials: Trials) -> CalibrationLine:
    return fit_line(trials.scores, trials.same, trials.weights)


def _make_trials(
    scores: Sequence[float] | Values,
    truth: Sequence[bool],
    known: Sequence[Collection[Hashable]],
    unknown: Sequence[Hashable],
    weights: Sequence[float] | Values | None,
) -> Trials:
    """Return the problems that have a score; raise TooLittleText if they are too few."""
    texts = tuple(frozenset([*ones, other]) for ones, other in zip(known, unknown, strict=True))
    values, same = np.asarray(scores, np.float64), np.asarray(truth, np.bool_)
    weighed = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
    assert len(values) == len(same) == len(weighed) == len(texts)
    trials = Trials(values, same, weighed, texts, tuple(unknown)).at(np.flatnonzero(~np.isnan(values)))
    yes, no = trials.independent()
    if min(yes, no) < MIN_PROBLEMS:
        raise TooLittleText(
            f"a calibration needs {MIN_PROBLEMS} yes and {MIN_PROBLEMS} no problems of which no two share a text;"
            f" there are {yes} and {no}",
            remedy=MORE_PROBLEMS,
        )
    return trials
