"""Fuse the scores of members: by problem, over the members of an engine, over the engines, then over the norms.

Every engine has the same weight, however many members it has; with masked topic it counts as another engine.
whole_corpora.py weighs the norms (see score_normalization.py) and turns the mean into a likelihood ratio.

Problems that are answered by themselves are fused by single_questions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from byline.engines.matrix import PARTS, Flags, Table
from byline.engines.questions import Question
from byline.judgment.reference_scores import ReferenceScores
from byline.judgment.single_questions import LearnedFromCases, fuse_reference_scores
from byline.judgment.whole_corpora import weigh_norms


@dataclass(frozen=True)
class MemberScores:
    """The scores of one member for the problems of a language; NaN if it cannot assess a problem."""

    engine: str
    scores: Table  # (norms, problems)
    parts: Table | None = None  # (PARTS, norms, problems): the scores without each part of the texts
    beside_reference: ReferenceScores | None = None
    """Set if every problem is answered by itself: `scores`, with those of own pairs and of the reference's cases."""


@dataclass(frozen=True)
class Fused:
    """The scores of all members together."""

    scores: Table
    """(problems,): NaN if no member can assess a problem."""
    errors: Table
    """(problems,): standard errors, over members and parts of the texts; NaN if there is one member without parts.
    Those of single problems are over parts of the texts, and follow from those of the coefficients."""
    weights: tuple[float, ...] = (1.0,)
    """Of the norms, if scores are relative."""
    single: bool = False
    """Whether scores are log-likelihood ratios of single problems, which do not depend on a corpus."""
    bounds: tuple[Table, Table] | None = None
    """If problems are single, the greatest ratios that are supported, in bans: (problems,) for the same author, and
    (problems,) for different authors."""
    slopes: Table | None = None
    """(problems,): what a deviation of the score beside a reference adds to the ratio, if problems are single."""
    learned: tuple[LearnedFromCases | None, ...] = ()
    """If problems are single, what the cases of the reference say, for each problem."""


class Mean(NamedTuple):
    """The mean of engines."""

    scores: Table
    """(problems,): NaN if no member can assess a problem."""
    errors: Table
    """(problems,): the standard error over members; NaN for fewer than two."""
    parts: Table | None
    """(PARTS, problems): the mean without each part of the texts; None unless all members scored parts."""

    def total_errors(self) -> Table:
        """Return (problems,): the standard error over members and, by jackknife, over parts of the texts."""
        if self.parts is None:
            return self.errors
        jackknife = np.sqrt((len(self.parts) - 1) * self.parts.var(axis=0))
        errors: Table = np.hypot(np.nan_to_num(self.errors), jackknife)
        return errors


def average_by_problem(scores: Sequence[float], questions: Sequence[Question], problems: int) -> Table:
    """Return (problems,): the mean over each problem's questions; NaN if it has none."""
    owners = np.array([question.problem for question in questions], np.int64)
    counts = np.bincount(owners, minlength=problems)
    sums = np.bincount(owners, weights=np.array(scores, np.float64), minlength=problems)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def average_members(scores: Sequence[Table]) -> Table:
    """Return (problems,): the mean over the members that can assess a problem (section 2.5); NaN if none can."""
    means = _weighted_mean(np.array(scores), np.ones((len(scores), 1)))
    return means.round(9)  # equal scores stay equal however they were added up


def fuse_members(members: Sequence[MemberScores]) -> Fused:
    """Return the plain mean of all members."""
    table = np.array([member.scores[0] for member in members])
    scores = average_members(list(table))
    return Fused(scores, _standard_errors(table, np.ones((len(table), 1)), scores))


def fuse_engines(members: Sequence[MemberScores]) -> Fused:
    """Return the mean of the engines, whose norms are weighed by how far asked pairs stand out."""
    weights = weigh_norms(average_norms(members))
    mean = average_engines(members, lambda scores: mix_norms(scores, weights))
    return Fused(mean.scores, mean.total_errors(), tuple(weights.tolist()))


def average_norms(members: Sequence[MemberScores]) -> Table:
    """Return (norms, problems): the means over engines of the norms that all members have."""
    count = min(len(member.scores) for member in members)
    return np.array([average_engines(members, itemgetter(norm)).scores for norm in range(count)])


def mix_norms(scores: Table, weights: Sequence[float] | Table) -> Table:
    """Return the weighted mean of the first norms of (norms, ...)."""
    mixed: Table = np.tensordot(np.asarray(weights), scores[: len(weights)], axes=1)
    return mixed


def fuse_single_problems(members: Sequence[MemberScores]) -> Fused:
    """Return the natural log-likelihood ratio of each problem by itself, and its error."""
    scores = [(member.engine, member.beside_reference) for member in members if member.beside_reference is not None]
    found = fuse_reference_scores(scores)
    bounds = found.bounds[:, 0], found.bounds[:, 1]
    return Fused(found.ratios, found.errors, single=True, bounds=bounds, slopes=found.slopes, learned=found.learned)


def average_engines(members: Sequence[MemberScores], choose: Callable[[Table], Table]) -> Mean:
    """Return the mean of the engines, each the mean of its members, of what is chosen from (norms, problems)."""
    table = np.array([choose(member.scores) for member in members])
    weights = _member_weights(~np.isnan(table), [member.engine for member in members])
    scores = _weighted_mean(table, weights).round(9)
    errors = _standard_errors(table, weights, scores)
    parts = [member.parts for member in members if member.parts is not None]
    if len(parts) < len(members):
        return Mean(scores, errors, None)
    without = [_weighted_mean(np.array([choose(each[part]) for each in parts]), weights) for part in range(PARTS)]
    return Mean(scores, errors, np.array(without))


def _member_weights(there: Flags, engines: Sequence[str]) -> Table:
    """Return (members, problems): for each engine 1, shared equally by its members that can assess a problem."""
    names = np.array(engines)
    weights: Table = np.zeros(there.shape)
    for engine in dict.fromkeys(engines):
        own = names == engine
        weights[own] = there[own] / np.maximum(there[own].sum(axis=0), 1)
    return weights


def _weighted_mean(table: Table, weights: Table) -> Table:
    """Return (problems,): the weighted mean over the members that can assess a problem; NaN if none can."""
    there = ~np.isnan(table)
    total = (there * weights).sum(axis=0)
    sums = (np.where(there, table, 0) * weights).sum(axis=0)
    return np.where(total > 0, sums / np.where(total > 0, total, 1), np.nan)


def _standard_errors(table: Table, weights: Table, means: Table) -> Table:
    """Return (problems,): the standard errors of weighted means over members."""
    there = ~np.isnan(table)
    counts = there.sum(axis=0)
    total = np.where(counts > 0, (there * weights).sum(axis=0), 1)
    squares = (np.where(there, (table - means) * weights, 0) ** 2).sum(axis=0) / total**2
    return np.where(counts > 1, np.sqrt(squares * counts / np.maximum(counts - 1, 1)), np.nan)
