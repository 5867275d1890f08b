"""Fuse the scores of members: by problem, over the members of an engine, then over the engines.

Every engine has the same weight, however many members it has. All members are read at the same reach (see
score_normalization.py), the one at which asked pairs stand out most. That is their *strength*, the mean over the
standard deviation. About half of the asked pairs are by one author and hardly any others are, so the better the authors
are separated, the higher the asked pairs score on average; no truth is used. Matching has a cost if authors have many
texts in a corpus, because these become each other's cohort. So cohorts are matched only if the strength gains more than
its own standard error, about 1 over the root of the number of problems.

*Single problems* are compared with a reference population only, and two terms are added up. Relative scores are
compressed by the inverse hyperbolic sine: if the reference is of another kind, they are high whoever wrote the texts.
Scores on an engine's own scale (see engines/spread.py) know nothing of the reference, and separate authors even then.
The sum is trusted as far as texts of this size and variety can tell, and less the more known and unknown differ in
kind: texts of two kinds by one author relate to the reference like those of two authors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from byline.engines.matrix import PARTS, ROUNDING, Flags, Table
from byline.engines.questions import Question
from byline.judgment.score_normalization import REACHES, SINGLE_PROBLEM_REACH

OWN_SCALE_WEIGHT = 5.0
"""The factor of scores on an engine's own scale in the sum."""
NEUTRAL_SUM, NEUTRAL_RELATIVE, NEUTRAL_OWN_SCALE = 1.0, 1.4, -0.9
"""Scores of single problems that favor neither side: of the sum, and of each term alone."""
FULL_AGREEMENT, MIN_TRUST = 0.2, 0.2
"""The agreement with which both sides count as of one kind, and the trust in sides of two kinds."""

_SINGLE = REACHES.index(SINGLE_PROBLEM_REACH)


@dataclass(frozen=True)
class MemberScores:
    """The scores of one member for the problems of a language; NaN if it cannot assess a problem."""

    engine: str
    scores: Table  # (reaches, problems)
    parts: Table | None = None  # (PARTS, reaches, problems): the scores without each part of the texts
    agreement: Table | None = None
    """(problems,): with a reference, how alike known and unknown relate to it, from -1 to 1."""
    trust: Table | None = None
    """(problems,): of an engine with its own scale, how far texts of their size can be relied on, from 0 to 1."""

    @property
    def own_scale(self) -> bool:
        """Return whether the scores are on the engine's own scale instead of relative to other texts."""
        return self.trust is not None


@dataclass(frozen=True)
class Fused:
    """The scores of all members together."""

    scores: Table
    """(problems,): NaN if no member can assess a problem."""
    errors: Table
    """(problems,): standard errors, over members and parts of the texts; NaN if there is one member without parts."""
    reach: float = float("inf")
    neutral: float | None = None
    """The score that favors neither side, if it does not depend on the corpus."""
    trust: Table | None = None
    """(problems,): how far scores of single problems can be relied on, from 0 to 1: a quality measure."""


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
    """Return the mean of the engines at the reach at which asked pairs stand out most."""
    reaches = range(min(len(member.scores) for member in members))
    engines = [member.engine for member in members]
    tables = [np.array([member.scores[reach] for member in members]) for reach in reaches]
    gains = [
        _mean_strength(table, engines) - (reach > 0) / np.sqrt(table.shape[1]) for reach, table in enumerate(tables)
    ]
    chosen = int(np.argmax(np.round(gains, 9)))  # among equals the least matched
    mean = average_engines(members, lambda scores: scores[chosen])
    return Fused(mean.scores, mean.total_errors(), REACHES[chosen])


def fuse_single_problems(members: Sequence[MemberScores]) -> Fused:
    """Return the score of each problem by itself, its error, and how far to trust it."""
    relative, own_scale = ([member for member in members if member.own_scale == kind] for kind in (False, True))
    terms = [average_term(kind) for kind in (relative, own_scale) if kind]
    mean = terms[0] if len(terms) == 1 else _add(*terms)
    neutral = NEUTRAL_SUM if len(terms) == 2 else NEUTRAL_RELATIVE if relative else NEUTRAL_OWN_SCALE
    return Fused(mean.scores, mean.total_errors(), SINGLE_PROBLEM_REACH, neutral, _trust(relative, own_scale))


def average_term(members: Sequence[MemberScores]) -> Mean:
    """Return what members of one kind, relative or on an own scale, add to the score of each single problem."""
    own_scale = members[0].own_scale
    return average_engines(members, lambda scores: scale_scores(scores[_SINGLE], own_scale))


def member_terms(member: MemberScores) -> Table:
    """Return (problems,): the scores of one member as its term averages them."""
    return scale_scores(member.scores[_SINGLE], member.own_scale)


def scale_scores(scores: Table, own_scale: bool) -> Table:
    """Bring scores of single problems to the scale on which they are added up."""
    return OWN_SCALE_WEIGHT * scores if own_scale else np.arcsinh(scores)


def average_engines(members: Sequence[MemberScores], choose: Callable[[Table], Table]) -> Mean:
    """Return the mean of the engines, each the mean of its members, of what is chosen from (reaches, problems)."""
    table = np.array([choose(member.scores) for member in members])
    weights = _member_weights(~np.isnan(table), [member.engine for member in members])
    scores = _weighted_mean(table, weights).round(9)
    errors = _standard_errors(table, weights, scores)
    parts = [member.parts for member in members if member.parts is not None]
    if len(parts) < len(members):
        return Mean(scores, errors, None)
    without = [_weighted_mean(np.array([choose(each[part]) for each in parts]), weights) for part in range(PARTS)]
    return Mean(scores, errors, np.array(without))


def strength(scores: Table) -> float:
    """Return how far asked pairs stand out: their mean over their standard deviation; 0 if there is none."""
    there = scores[~np.isnan(scores)]
    spread = float(there.std()) if len(there) > 1 else 0.0
    return float(there.mean()) / spread if spread > ROUNDING else 0.0


def _mean_strength(table: Table, engines: Sequence[str]) -> float:
    means = [
        _weighted_mean(table[[each == engine for each in engines]], np.ones((engines.count(engine), 1)))
        for engine in dict.fromkeys(engines)
    ]
    return float(np.mean([strength(scores) for scores in means]))


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


def _add(one: Mean, other: Mean) -> Mean:
    unknown = np.isnan(one.errors) & np.isnan(other.errors)
    errors = np.where(unknown, np.nan, np.hypot(np.nan_to_num(one.errors), np.nan_to_num(other.errors)))
    parts = None if one.parts is None or other.parts is None else one.parts + other.parts
    return Mean(one.scores + other.scores, errors, parts)


def _trust(relative: Sequence[MemberScores], own_scale: Sequence[MemberScores]) -> Table:
    """Return (problems,): from 0 to 1. Problems that no member can assess keep full weight."""
    trust: Table = np.ones(len((*relative, *own_scale)[0].scores[0]))
    agreements = [member.agreement for member in relative if member.agreement is not None]
    if agreements:
        trust = np.clip(1 - FULL_AGREEMENT + average_members(agreements), MIN_TRUST, 1)
    if own_scale:
        trust = trust * average_members([member.trust for member in own_scale if member.trust is not None])
    return trust
