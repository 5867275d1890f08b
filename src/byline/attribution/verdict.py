"""What members say of texts and authors -> probabilities, and whether it is none of them.

Each member's values are made relative: without how hard a text is for all heads, how easy a head finds all texts, and
over how far such remainders usually are from 0. Both levels are found from the authors' own texts, each judged as if it
were not known; there the author's own head is better by an amount of its own, which is found with them:

    value(text, head) = level(text) + level(head) + own (if the head's author wrote it) + rest

What is left is added up over members, each with a weight, and a softmax makes it probabilities. The weights are those
with which the authors' own texts are most probable, held near usual ones where texts are few.

None of these: how high the best author's sum is where the true one is among them, and where he is left out, is known
from the same texts; a logistic line between the two is what tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, logit, softmax

from byline.scoring import Flags, Table
from byline.settings import Settings

Numbers = NDArray[np.int64]

USUAL_WEIGHT = 1.8
"""Of all members together."""
USUAL_COUNTS = 5.0
"""What is usual counts like so many texts."""
ALIKE_COUNTS = 200.0
"""That members weigh alike counts like so many: an author without one of two texts says little of which are good."""
USUAL_NONE = (3.0, 0.9)
"""The best sum at which it is as probable that it is none of them, and how much a step of 1 tells."""
SILENT = (USUAL_NONE[0], 0.0)
"""Where nobody could be left out, nothing is said of none of them: there the usual line misleads more than it tells."""
MOST_LEFT_OUT = 60
"""Authors that are left out in turn, at the most."""
SCALE_COUNTS = 5
"""How far a text's remainders are from 0: the usual size counts like so many heads."""
TINY = 1e-9
ROUNDS = 20
"""In which levels are found: texts, heads and the own amount depend on each other a little."""


class Tables(NamedTuple):
    """What members say: first of authors' own texts, then of others."""

    values: Table  # (members, texts, authors): lower is better
    seen: Flags  # (members, texts, authors): the head can't judge it as if it did not know it
    owners: Numbers  # (texts,): who wrote it; -1 where that is the question

    @property
    def asked(self) -> Flags:
        """(texts,): whose author is the question."""
        return self.owners < 0

    def without(self, author: int) -> Tables:
        """The tables as if there were no such author; his texts are by nobody."""
        kept = np.arange(self.values.shape[2]) != author
        owners = np.where(self.owners == author, -2, self.owners - (self.owners > author))
        return Tables(self.values[:, :, kept], self.seen[:, :, kept], owners)


@dataclass(frozen=True)
class Judge:
    """What was learnt of how to weigh members, and how sure to be."""

    weights: tuple[float, ...]
    """Of each member."""
    middle: float
    """The best author's sum at which none of these is as probable as one of them, at even odds."""
    slope: float
    """How much a step of 1 above it speaks for one of them, in natural logarithms of odds."""
    held_out: int = 0
    """Texts that it was learnt from."""

    @classmethod
    def usual(cls, members: Sequence[Settings]) -> Judge:
        """Without any texts to learn from."""
        return cls((USUAL_WEIGHT / len(members),) * len(members), *SILENT)


def sums(tables: Tables, weights: Sequence[float], scores: Table | None = None) -> Table:
    """(texts, authors): what all members say together; higher is better. `scores` are relative ones, if at hand."""
    total: Table = np.tensordot(np.array(weights), relative(tables) if scores is None else scores, axes=1)
    return total


def relative(tables: Tables) -> Table:
    """(members, texts, authors): what is left of each value, in usual deviations; higher is better.

    A head that knows the text says nothing of it: 0, like the average of the others.
    """
    return np.array([_relative(*member, tables.owners) for member in zip(tables.values, tables.seen, strict=True)])


def _relative(values: Table, seen: Flags, owners: Numbers) -> Table:
    known = owners >= 0
    heads = np.zeros(values.shape[1])
    size = 0.0
    if known.any():
        there = ~seen[known]
        own = np.arange(values.shape[1]) == owners[known][:, None]
        heads, amount = _levels(values[known], there, own)
        rest = values[known] - heads - amount * own
        rest = rest - _mean(rest, there, 1)
        size = float(np.sqrt((rest[there] ** 2).mean())) if there.any() else 0.0
    left = values - heads
    left = left - _mean(left, ~seen, 1)
    count = values.shape[1]
    squares = (np.where(seen, 0, left) ** 2).sum(axis=1, keepdims=True)
    scale = np.sqrt((squares + SCALE_COUNTS * size**2) / (count + SCALE_COUNTS * (size > 0)))
    scores: Table = np.where(seen, 0, -left / np.where(scale > 0, scale, 1))
    return scores


def _levels(values: Table, there: Flags, own: Flags) -> tuple[Table, float]:
    """(heads,) how easy each finds texts that are not its own, and what its own texts are better by."""
    heads, amount = np.zeros(values.shape[1]), 0.0
    counted = there & own
    for _ in range(ROUNDS):
        texts = _mean(values - heads - amount * own, there, 1)
        heads = _mean(values - texts - amount * own, there, 0)[0]
        heads = heads - heads.mean()
        rest = values - texts - heads
        amount = float(rest[counted].mean()) if counted.any() else 0.0
    return heads, amount


def _mean(values: Table, there: Flags, axis: int) -> Table:
    total = np.where(there, values, 0).sum(axis=axis, keepdims=True)
    means: Table = total / np.maximum(there.sum(axis=axis, keepdims=True), 1)
    return means


def fit_judge(tables: Tables, members: Sequence[Settings], proceed: Callable[[], None] = lambda: None) -> Judge:
    """Weights and the line between one and none of the authors, from texts of the authors."""
    usual = Judge.usual(members)
    rows = np.arange(len(tables.owners))
    own_seen = tables.seen[:, rows, tables.owners]  # (members, texts)
    able = ~own_seen.all(axis=1)  # members that can judge a text as if they did not know it
    if not able.any():
        return usual
    usable = np.asarray(~own_seen[able].any(axis=0), np.bool_)
    if not usable.any() or tables.values.shape[2] < 2:
        return usual
    scores = relative(tables)[able][:, usable]
    owners = tables.owners[usable]
    start = np.array(usual.weights)[able]
    fair = 1 / np.bincount(owners)[owners]  # each author counts the same
    fair = fair / fair.mean()

    def cost(weights: Table) -> tuple[float, Table]:
        logs = log_softmax(np.tensordot(weights, scores, axes=1), axis=1)
        chances = np.exp(logs)
        places = np.arange(len(owners))
        picked = scores[:, places, owners]  # (members, texts)
        expected = (scores * chances).sum(axis=2)
        away, apart = weights.mean() - start.mean(), weights - weights.mean()
        gradient = ((expected - picked) * fair).sum(axis=1) + USUAL_COUNTS * away + ALIKE_COUNTS * apart
        penalty = USUAL_COUNTS / 2 * len(weights) * away**2 + ALIKE_COUNTS / 2 * (apart**2).sum()
        return float(-(fair * logs[places, owners]).sum() + penalty), gradient

    found = minimize(cost, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * len(start)).x
    weights = np.array(usual.weights)
    weights[able] = found
    # what other members say of texts that they know would be too good
    total = weights.sum() / max(weights[able].sum(), TINY)
    middle, slope = _fit_none(tables, np.where(able, weights * total, 0), usable, proceed)
    return Judge(tuple(float(weight) for weight in weights), middle, slope, int(usable.sum()))


def _fit_none(tables: Tables, weights: Table, usable: Flags, proceed: Callable[[], None]) -> tuple[float, float]:
    """The line between the best sums with and without the author.

    The author's column is left out; what members share, the background and how n-grams are weighed, still knows him.
    """
    if tables.values.shape[2] < 3:
        return SILENT
    everyone = np.unique(tables.owners[usable])
    chosen = everyone[np.linspace(0, len(everyone) - 1, min(len(everyone), MOST_LEFT_OUT)).round().astype(np.int64)]
    usable = usable & np.isin(tables.owners, chosen)
    within = sums(tables, weights.tolist())[usable].max(axis=1)
    left_out = []
    for author in chosen:
        proceed()
        rows = usable & (tables.owners == author)
        left_out.append(sums(tables.without(int(author)), weights.tolist())[rows].max(axis=1))
    without = np.concatenate(left_out)
    best = np.concatenate([within, without])
    signs = np.concatenate([-np.ones(len(within)), np.ones(len(without))])

    def cost(line: Table) -> float:
        against = signs * line[1] * (best - line[0])
        away = (line - np.array(USUAL_NONE)) ** 2
        return float(np.logaddexp(0, against).sum() + USUAL_COUNTS / 2 * away.sum())

    middle, slope = minimize(cost, np.array(USUAL_NONE), method="L-BFGS-B", bounds=[(None, None), (0, None)]).x
    return float(middle), float(slope)


def probabilities(judge: Judge, tables: Tables, none: float, scores: Table | None = None) -> tuple[Table, Table]:
    """(asked texts, authors) and (asked texts,): how probable each author is, and that it is none of them.

    `none` is how probable that is before anything is measured; at 0 it is one of them for certain.
    """
    total = sums(tables, judge.weights, scores)[tables.asked]
    nobody = np.zeros(len(total))
    if none > 0:
        nobody = expit(logit(none) - judge.slope * (total.max(axis=1) - judge.middle))
    chances: Table = softmax(total, axis=1) * (1 - nobody)[:, None]
    return chances, nobody
