"""Turn the members' values of texts under candidate authors into probabilities, including that of none of them.

Each member's values are normalized: the level of the text and the level of the head are subtracted, and the rest is
divided by its usual size. The levels are estimated from the authors' own texts, each scored as if it were not known. An
author's own head is better there by a constant amount, which is estimated along with them:

    value(text, head) = level(text) + level(head) + own (if the head's author wrote it) + rest

The weighted sum over members becomes probabilities by a softmax. The weights maximize the likelihood of the authors'
own texts, with a penalty that keeps them near default weights if texts are few.

None of them: the same texts show how high the best author's sum is with the true author among the candidates, and with
the true author left out. A logistic line between the two gives the probability.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, softmax

from byline.engines.matrix import Flags, Table
from byline.judgment.score_normalization import masked_mean
from byline.settings.settings import Settings

Numbers = NDArray[np.int64]

DEFAULT_WEIGHT = 1.8
"""The default weight of all members together."""
DEFAULT_COUNT = 5.0
"""The defaults count as much as this many texts."""
EQUALITY_COUNT = 200.0
"""Equal weights of the members count as much as this many: a few texts hardly show which members are better."""
DEFAULT_NONE = (3.0, 0.9)
"""The default line: the best sum at which none of them is as probable as one of them, and the slope."""
NO_LINE = (DEFAULT_NONE[0], 0.0)
"""The line if no author can be left out: the default one would mislead more than it helps."""
MAX_LEFT_OUT = 60
"""The greatest number of authors that are left out in turn."""
SCALE_COUNT = 5
"""In the size of a text's rest, the usual size counts as much as this many heads."""
MIN_TOTAL = 1e-9
ROUNDS = 20
"""Iterations, because the levels of texts and heads and the own amount depend on each other a little."""


class Tables(NamedTuple):
    """The members' values of the authors' own texts, then of others."""

    values: Table  # (members, texts, authors): lower is better
    seen: Flags  # (members, texts, authors): the head cannot score the text as if it did not know it
    owners: Numbers  # (texts,): the author; -1 if that is the question

    @property
    def asked(self) -> Flags:
        """Return (texts,): whether the author is the question."""
        return self.owners < 0

    def without(self, author: int) -> Tables:
        """Return the tables without a candidate, whose texts are then by nobody (-2)."""
        kept = np.arange(self.values.shape[2]) != author
        owners = np.where(self.owners == author, -2, self.owners - (self.owners > author))
        return Tables(self.values[:, :, kept], self.seen[:, :, kept], owners)


@dataclass(frozen=True)
class CandidateCalibration:
    """Fitted weights of the members, and the line that gives the probability of none of the candidates."""

    weights: tuple[float, ...]
    """One for each member."""
    middle: float
    """The best author's sum at which none of them is as probable as one of them, at even odds."""
    slope: float
    """The natural log odds of one of them for each step of 1 above `middle`."""
    held_out: int = 0
    """The number of texts it was fitted to."""

    @classmethod
    def default(cls, members: Sequence[Settings]) -> CandidateCalibration:
        """Return the weights and line to use if there are no texts to fit."""
        return cls((DEFAULT_WEIGHT / len(members),) * len(members), *NO_LINE)


def fuse_scores(tables: Tables, weights: Sequence[float], scores: Table | None = None) -> Table:
    """Return (texts, authors): the weighted sum over members; `scores` are the normalized ones, if at hand."""
    return np.tensordot(np.array(weights), normalize_values(tables) if scores is None else scores, axes=1)


def normalize_values(tables: Tables) -> Table:
    """Return (members, texts, authors): the rest of each value, in usual deviations; higher is better.

    The score of a head that knows the text is 0, like the average of the others.
    """
    return np.array([_normalize(*member, tables.owners) for member in zip(tables.values, tables.seen, strict=True)])


def _normalize(values: Table, seen: Flags, owners: Numbers) -> Table:
    known = owners >= 0
    heads = np.zeros(values.shape[1])
    size = 0.0
    if known.any():
        there = ~seen[known]
        own = np.arange(values.shape[1]) == owners[known][:, None]
        heads, amount = _levels(values[known], there, own)
        rest = values[known] - heads - amount * own
        rest = rest - masked_mean(rest, there, 1)
        size = float(np.sqrt((rest[there] ** 2).mean())) if there.any() else 0.0
    left = values - heads
    left = left - masked_mean(left, ~seen, 1)
    count = values.shape[1]
    squares = (np.where(seen, 0, left) ** 2).sum(axis=1, keepdims=True)
    scale = np.sqrt((squares + SCALE_COUNT * size**2) / (count + SCALE_COUNT * (size > 0)))
    return np.where(seen, 0, -left / np.where(scale > 0, scale, 1))


def _levels(values: Table, there: Flags, own: Flags) -> tuple[Table, float]:
    """Return (heads,): the level of each head on texts that are not its own; and the amount for its own texts."""
    heads, amount = np.zeros(values.shape[1]), 0.0
    counted = there & own
    for _ in range(ROUNDS):
        texts = masked_mean(values - heads - amount * own, there, 1)
        heads = masked_mean(values - texts - amount * own, there, 0)[0]
        heads = heads - heads.mean()
        rest = values - texts - heads
        amount = float(rest[counted].mean()) if counted.any() else 0.0
    return heads, amount


def calibrate_candidates(
    tables: Tables, members: Sequence[Settings], proceed: Callable[[], None] = lambda: None
) -> CandidateCalibration:
    """Fit the weights and the line between one and none of the authors to the authors' own texts.

    `proceed` is called now and then, and may raise to stop the fit.
    """
    default = CandidateCalibration.default(members)
    rows = np.arange(len(tables.owners))
    own_seen = tables.seen[:, rows, tables.owners]  # (members, texts)
    able = ~own_seen.all(axis=1)  # members that can score a text as if they did not know it
    if not able.any():
        return default
    usable = np.asarray(~own_seen[able].any(axis=0), np.bool_)
    if not usable.any() or tables.values.shape[2] < 2:
        return default
    scores = normalize_values(tables)[able][:, usable]
    owners = tables.owners[usable]
    start = np.array(default.weights)[able]
    fair = 1 / np.bincount(owners)[owners]  # each author counts the same
    fair = fair / fair.mean()

    def cost(weights: Table) -> tuple[float, Table]:
        logs = log_softmax(np.tensordot(weights, scores, axes=1), axis=1)
        chances = np.exp(logs)
        texts = np.arange(len(owners))
        picked = scores[:, texts, owners]  # (members, texts)
        expected = (scores * chances).sum(axis=2)
        shift, apart = weights.mean() - start.mean(), weights - weights.mean()
        gradient = ((expected - picked) * fair).sum(axis=1) + DEFAULT_COUNT * shift + EQUALITY_COUNT * apart
        penalty = DEFAULT_COUNT / 2 * len(weights) * shift**2 + EQUALITY_COUNT / 2 * (apart**2).sum()
        return float(-(fair * logs[texts, owners]).sum() + penalty), gradient

    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start)).x
    weights = np.array(default.weights)
    weights[able] = found
    # the scores of the other members for texts that they know would be too good
    total = weights.sum() / max(weights[able].sum(), MIN_TOTAL)
    middle, slope = _fit_none(tables, np.where(able, weights * total, 0), usable, proceed)
    return CandidateCalibration(tuple(float(weight) for weight in weights), middle, slope, int(usable.sum()))


def _fit_none(tables: Tables, weights: Table, usable: Flags, proceed: Callable[[], None]) -> tuple[float, float]:
    """Fit the line between the best sums with and without the author.

    Only the author's column is left out. What heads share, the background and the weights of n-grams, still includes
    the author's texts.
    """
    if tables.values.shape[2] < 3:
        return NO_LINE
    everyone = np.unique(tables.owners[usable])
    chosen = everyone[np.linspace(0, len(everyone) - 1, min(len(everyone), MAX_LEFT_OUT)).round().astype(np.int64)]
    usable = usable & np.isin(tables.owners, chosen)
    within = fuse_scores(tables, weights.tolist())[usable].max(axis=1)
    left_out = []
    for author in chosen:
        proceed()
        rows = usable & (tables.owners == author)
        left_out.append(fuse_scores(tables.without(int(author)), weights.tolist())[rows].max(axis=1))
    without = np.concatenate(left_out)
    best = np.concatenate([within, without])
    signs = np.concatenate([-np.ones(len(within)), np.ones(len(without))])

    def cost(line: Table) -> float:
        against = signs * line[1] * (best - line[0])
        shift = (line - np.array(DEFAULT_NONE)) ** 2
        return float(np.logaddexp(0, against).sum() + DEFAULT_COUNT / 2 * shift.sum())

    middle, slope = minimize(cost, np.array(DEFAULT_NONE), method="L-BFGS-B", bounds=[(None, None), (0, None)]).x
    return float(middle), float(slope)


def probabilities(
    calibration: CandidateCalibration, tables: Tables, none: float, scores: Table | None = None
) -> tuple[Table, Table]:
    """Return (asked texts, authors) and (asked texts,): the probabilities of each author, and of none of them.

    `none` is the prior probability of none of them; at 0 it is certainly one of them.
    """
    total = fuse_scores(tables, calibration.weights, scores)[tables.asked]
    nobody = np.zeros(len(total))
    if none > 0:
        nobody = expit(logit(none) - calibration.slope * (total.max(axis=1) - calibration.middle))
    chances: Table = softmax(total, axis=1) * (1 - nobody)[:, None]
    return chances, nobody
