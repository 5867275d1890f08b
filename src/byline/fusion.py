"""Members' scores made one: by problem, then over members, and for relative scores engine by engine.

Relative scores of one engine's members are averaged, then those of the engines: an engine counts as much as another,
however many members it has. All members are read with the same reach, the one at which the asked pairs stand out most:
*strength*, their mean over their standard deviation. About half of the asked pairs are by one author and hardly any of
the others, so the asked ones must be higher on average, and the better they are told apart the more so; no truth is
looked at for it. Matching has a price where authors have many texts in a corpus, for those become each other's cohort;
so cohorts are matched only if the strength gains more than its own standard error, about 1 over the root of the number
of problems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from byline.questions import Question
from byline.relative import REACHES
from byline.scoring import PARTS, ROUNDING, Flags, Table


@dataclass(frozen=True)
class Reading:
    """What one member says of the problems of a language, at one or more reaches; NaN where it can't judge."""

    engine: str
    scores: Table  # (reaches, problems)
    parts: Table | None = None  # (PARTS, reaches, problems): the same without each part of the texts
    agreement: Table | None = None
    """(problems,): beside a reference, how alike known and unknown texts stand to it, from -1 to 1."""
    trust: Table | None = None
    """(problems,): of scores that say something by themselves, how far they can be relied on, from 0 to 1."""

    @property
    def own(self) -> bool:
        """Whether the scores are of the engine's own scale, made relative to nothing."""
        return self.trust is not None


@dataclass(frozen=True)
class Fused:
    """What all members say together."""

    scores: Table
    """(problems,): NaN where nobody could judge."""
    errors: Table
    """(problems,): the standard error of the score: how far members agree, and how far it hangs on parts of the texts.

    NaN for fewer than two members whose texts' parts were not scored either.
    """
    reach: float = float("inf")
    """How closely cohorts were matched."""
    even: float | None = None
    """The score that speaks for neither side, where it does not hang on the corpus."""
    trust: Table | None = None
    """(problems,): how far scores of problems by themselves can be relied on, from 0 to 1."""


def average_by_problem(scores: Sequence[float], questions: Sequence[Question], problems: int) -> Table:
    """(problems,): the mean over each problem's questions; NaN where it has none."""
    owners = np.array([question.problem for question in questions], np.int64)
    counts = np.bincount(owners, minlength=problems)
    sums = np.bincount(owners, weights=np.array(scores, np.float64), minlength=problems)
    means: Table = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means


def average_members(scores: Sequence[Table]) -> Table:
    """(problems,): the mean over members of those that could judge a problem (section 2.5); NaN where none could."""
    means = _mean(np.array(scores), np.ones((len(scores), 1)))
    return means.round(9)  # equal scores stay equal however they were added up


def fuse_members(readings: Sequence[Reading]) -> Fused:
    """The mean of all members, each counting alike."""
    table = np.array([reading.scores[0] for reading in readings])
    scores = average_members([reading.scores[0] for reading in readings])
    return Fused(scores, _errors(table, np.ones((len(table), 1)), scores))


def fuse_engines(readings: Sequence[Reading]) -> Fused:
    """The mean of the engines, each the mean of its members, with the reach at which asked pairs stand out most."""
    reaches = range(min(len(reading.scores) for reading in readings))
    engines = [reading.engine for reading in readings]
    tables = [np.array([reading.scores[reach] for reading in readings]) for reach in reaches]
    gains = [
        _standing_out(table, engines) - (reach > 0) / np.sqrt(table.shape[1]) for reach, table in enumerate(tables)
    ]
    chosen = int(np.argmax(np.round(gains, 9)))  # among equals the least matched
    mean = average_engines(readings, lambda scores: scores[chosen])
    return Fused(mean.scores, mean.total_errors(), REACHES[chosen])


class Mean(NamedTuple):
    """The mean of engines."""

    scores: Table
    """(problems,): NaN where nobody could judge."""
    errors: Table
    """(problems,): the standard error, from how far members are apart; NaN for fewer than two."""
    parts: Table | None
    """(PARTS, problems): the same mean without each part of the texts; None where not all members scored parts."""

    def total_errors(self) -> Table:
        """(problems,): how far members are apart, and how far the mean hangs on parts of the texts."""
        if self.parts is None:
            return self.errors
        jackknife = np.sqrt((len(self.parts) - 1) * self.parts.var(axis=0))
        errors: Table = np.hypot(np.nan_to_num(self.errors), jackknife)
        return errors


def average_engines(readings: Sequence[Reading], choose: Callable[[Table], Table]) -> Mean:
    """The mean of the engines, each the mean of its members, of what is chosen from (reaches, problems)."""
    table = np.array([choose(reading.scores) for reading in readings])
    weights = _weights(~np.isnan(table), [reading.engine for reading in readings])
    scores = _mean(table, weights).round(9)
    parts = [reading.parts for reading in readings if reading.parts is not None]
    if len(parts) < len(readings):
        return Mean(scores, _errors(table, weights, scores), None)
    left = [_mean(np.array([choose(each[part]) for each in parts]), weights) for part in range(PARTS)]
    return Mean(scores, _errors(table, weights, scores), np.array(left))


def strength(scores: Table) -> float:
    """How far the asked pairs stand out: their mean over their standard deviation; 0 where there is none."""
    there = scores[~np.isnan(scores)]
    spread = float(there.std()) if len(there) > 1 else 0.0
    return float(there.mean()) / spread if spread > ROUNDING else 0.0


def _standing_out(table: Table, engines: Sequence[str]) -> float:
    """The engines' mean strength."""
    own = [
        _mean(table[[each == engine for each in engines]], np.ones((engines.count(engine), 1)))
        for engine in dict.fromkeys(engines)
    ]
    return float(np.mean([strength(scores) for scores in own]))


def _weights(there: Flags, engines: Sequence[str]) -> Table:
    """(members, problems): an engine counts 1, its members that could judge a problem alike."""
    names = np.array(engines)
    shares: Table = np.zeros(there.shape)
    for engine in dict.fromkeys(engines):
        own = names == engine
        shares[own] = there[own] / np.maximum(there[own].sum(axis=0), 1)
    return shares


def _mean(table: Table, weights: Table) -> Table:
    """(problems,): the weighted mean over members of those that could judge; NaN where none could."""
    there = ~np.isnan(table)
    total = (there * weights).sum(axis=0)
    sums = (np.where(there, table, 0) * weights).sum(axis=0)
    means: Table = np.where(total > 0, sums / np.where(total > 0, total, 1), np.nan)
    return means


def _errors(table: Table, weights: Table, means: Table) -> Table:
    """(problems,): the standard error of a weighted mean, from how far the members are apart."""
    there = ~np.isnan(table)
    counts = there.sum(axis=0)
    total = np.where(counts > 0, (there * weights).sum(axis=0), 1)
    squares = (np.where(there, (table - means) * weights, 0) ** 2).sum(axis=0) / total**2
    errors: Table = np.where(counts > 1, np.sqrt(squares * counts / np.maximum(counts - 1, 1)), np.nan)
    return errors
