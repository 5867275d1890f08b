"""How far measures would be other ones with other texts: a bootstrap over texts, not over problems.

Texts recur: ten problems that share an unknown text are not ten independent trials. Each different known set and each
different unknown text gets a random weight, and a problem weighs what both of its own multiply to (the Bayesian form of
the bootstrap that resamples the rows and the columns of a table; it errs on the side of intervals that are too wide). A
problem that shares no text with another has one weight, its own. What is measured is measured of weighted problems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from byline.metrics import log_ratios
from byline.problems import Problem

Draws = NDArray[np.float64]

DRAWS = 2_000
"""How often is drawn: an interval's ends then move by a few thousandths from seed to seed."""
CONFIDENCE = 0.95
ROUNDING = 1e-12
"""Smaller differences are none."""


@dataclass(frozen=True)
class Interval:
    """Where a measure lies in 95 of 100 draws."""

    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """One system's measure less another's, on the same problems."""

    difference: float
    interval: Interval
    higher: float
    """The share of draws in which the first is higher, equal ones counting half."""


def weigh_texts(problems: Sequence[Problem], rng: np.random.Generator, draws: int = DRAWS) -> Draws:
    """(draws, problems): weights from the texts that problems share."""
    known = [frozenset(document.text for document in problem.known) for problem in problems]
    return weigh(known, [problem.unknown.text for problem in problems], rng, draws)


def weigh_problems(count: int, rng: np.random.Generator, draws: int = DRAWS) -> Draws:
    """(draws, problems): weights where the texts are not at hand, as if no two problems shared any."""
    return rng.exponential(size=(draws, count))


def weigh(known: Sequence[Hashable], unknown: Sequence[Hashable], rng: np.random.Generator, draws: int) -> Draws:
    """(draws, problems): weights, the same for whatever is equal."""
    uses = [Counter(known), Counter(unknown)]
    alone = [uses[0][one] == uses[1][other] == 1 for one, other in zip(known, unknown, strict=True)]
    weights = _one_each(unknown, rng, draws)
    weights[:, alone] = 1
    return weights * _one_each(known, rng, draws)


def _one_each(names: Sequence[Hashable], rng: np.random.Generator, draws: int) -> Draws:
    number_of = {name: number for number, name in enumerate(dict.fromkeys(names))}
    weights = rng.exponential(size=(draws, len(number_of)))
    return weights[:, [number_of[name] for name in names]]


def measure_draws(
    truth: Sequence[bool], answers: Sequence[float], weights: Draws, ratios: Sequence[float] | Draws | None = None
) -> Mapping[str, Draws]:
    """(draws,) of each measure that intervals are given for.

    `ratios` are the natural logarithms of likelihood ratios that Cllr is of; without them, what answers amount to.
    """
    yes = np.asarray(truth, np.bool_)
    values = np.asarray(answers, np.float64)
    auc, c_at_1 = _auc(yes, values, weights), _c_at_1(yes, values, weights)
    costs = _cllr(yes, log_ratios(answers) if ratios is None else np.asarray(ratios, np.float64), weights)
    return {"auc": auc, "c_at_1": c_at_1, "product": auc * c_at_1, "cllr": costs}


def interval(values: Draws) -> Interval:
    """The middle of what was drawn."""
    low, high = np.quantile(values, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))


def compare_draws(first: Draws, second: Draws, difference: float) -> Comparison:
    """How much higher the first is: `difference` in all problems, and what both came to in the same draws."""
    differences = first - second
    differences = np.where(np.abs(differences) < ROUNDING, 0.0, differences)  # what is equal but for rounding is equal
    higher = float((differences > 0).mean() + 0.5 * (differences == 0).mean())
    return Comparison(difference, interval(differences), higher)


def _auc(yes: NDArray[np.bool_], values: Draws, weights: Draws) -> Draws:
    """The chance that a yes is answered higher than a no, both drawn by weight; equal answers count half."""
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
