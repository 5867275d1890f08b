"""Confidence intervals of measures, by a bootstrap over texts instead of problems.

Ten problems that share an unknown text are not ten independent trials. Each different known set and each different
unknown text gets a random weight, and the weight of a problem is their product. This is the Bayesian form (Rubin 1981)
of the pigeonhole bootstrap, which resamples the rows and columns of a table (Owen 2007); its intervals are rather too
wide than too narrow. A problem that shares no text with another has one weight.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from byline.corpora.problems import Problem
from byline.judgment.metrics import log_ratios

Draws = NDArray[np.float64]

DRAWS = 2_000
"""With so many, the ends of an interval vary by a few thousandths between seeds."""
CONFIDENCE = 0.95
ROUNDING = 1e-12
"""Smaller differences count as 0."""


@dataclass(frozen=True)
class Interval:
    """A 95% interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """The difference between two systems' measures on the same problems."""

    difference: float
    interval: Interval
    higher: float
    """The share of draws in which the first is higher; ties count half."""


def weigh_texts(problems: Sequence[Problem], rng: np.random.Generator, draws: int = DRAWS) -> Draws:
    """Draw weights (draws, problems) of problems that may share texts."""
    known = [frozenset(document.text for document in problem.known) for problem in problems]
    return weigh(known, [problem.unknown.text for problem in problems], rng, draws)


def weigh_problems(count: int, rng: np.random.Generator, draws: int = DRAWS) -> Draws:
    """Draw weights (draws, problems) as if no two problems shared a text, if the texts are not available."""
    return rng.exponential(size=(draws, count))


def weigh(known: Sequence[Hashable], unknown: Sequence[Hashable], rng: np.random.Generator, draws: int) -> Draws:
    """Draw weights (draws, problems) from anything that is equal for equal texts."""
    uses = [Counter(known), Counter(unknown)]
    alone = [uses[0][one] == uses[1][other] == 1 for one, other in zip(known, unknown, strict=True)]
    weights = _draw_by_name(unknown, rng, draws)
    weights[:, alone] = 1
    return weights * _draw_by_name(known, rng, draws)


def _draw_by_name(names: Sequence[Hashable], rng: np.random.Generator, draws: int) -> Draws:
    number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
    weights = rng.exponential(size=(draws, len(number_of)))
    return weights[:, [number_of[name] for name in names]]


def measure_draws(
    truth: Sequence[bool], answers: Sequence[float], weights: Draws, ratios: Sequence[float] | Draws | None = None
) -> Mapping[str, Draws]:
    """Return (draws,) of each measure that has intervals.

    Cllr is that of `ratios`, natural log-likelihood ratios; by default those of the answers.
    """
    yes = np.asarray(truth, np.bool_)
    values = np.asarray(answers, np.float64)
    auc, c_at_1 = _auc(yes, values, weights), _c_at_1(yes, values, weights)
    costs = _cllr(yes, log_ratios(answers) if ratios is None else np.asarray(ratios, np.float64), weights)
    return {"auc": auc, "c_at_1": c_at_1, "product": auc * c_at_1, "cllr": costs}


def interval(values: Draws) -> Interval:
    """Return the central interval of draws."""
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))


def compare_draws(first: Draws, second: Draws, difference: float) -> Comparison:
    """Compare two systems by the same draws; `difference` is that of all problems."""
    differences = first - second
    differences = np.where(np.abs(differences) < ROUNDING, 0.0, differences)
    higher = float((differences > 0).mean() + 0.5 * (differences == 0).mean())
    return Comparison(difference, interval(differences), higher)


def _auc(yes: NDArray[np.bool_], values: Draws, weights: Draws) -> Draws:
    """Return (draws,): the weighted AUC."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf))  # where each different answer begins
    ordered = weights[:, order]
    positive = np.add.reduceat(np.where(yes[order], ordered, 0), starts, axis=1)
    negative = np.add.reduceat(np.where(yes[order], 0, ordered), starts, axis=1)
    below = negative.cumsum(axis=1) - 0.5 * negative
    share: Draws = (positive * below).sum(axis=1) / (positive.sum(axis=1) * negative.sum(axis=1))
    return share


def _c_at_1(yes: NDArray[np.bool_], values: Draws, weights: Draws) -> Draws:
    total = weights.sum(axis=1)
    correct = weights @ ((values != 0.5) & ((values > 0.5) == yes)) / total
    undecided = weights @ (values == 0.5) / total
    shares: Draws = correct * (1 + undecided)
    return shares


def _cllr(yes: NDArray[np.bool_], ratios: Draws, weights: Draws) -> Draws:
    costs = np.logaddexp(0, np.where(yes, -ratios, ratios)) / np.log(2)
    positive, negative = weights[:, yes], weights[:, ~yes]
    same: Draws = positive @ costs[yes] / positive.sum(axis=1)
    different: Draws = negative @ costs[~yes] / negative.sum(axis=1)
    return (same + different) / 2
