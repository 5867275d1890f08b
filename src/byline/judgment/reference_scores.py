"""Normalize scores of problems and cases by a reference population, and average them over engines.

The score of a problem in the matrix of an engine is normalized by the centered norm (see cohort_norms.py). The cohort
is the reference. Two other kinds of trials are normalized in the same way, and show what a score means:

- *Cases* are made of the reference's texts, cut to the lengths of the problem, and their truth is known. They compare
  texts of an author with other texts by the same author, or by one of a few others. The authors of a case are not in
  its cohort.
- *Own pairs* compare texts of one side of a problem with each other. If the reference lacks texts of their kind, all
  texts of that kind score too high beside it, and so do own pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.engines.matrix import PARTS, Flags, Side, Table
from byline.engines.questions import ReferenceLayout
from byline.judgment.cohort_norms import CohortScores, centered_norm

Indices = NDArray[np.int64]

DIFFERENT_CASES = 8
"""The most cases by two authors for each member of the cases."""


class CaseGroup(NamedTuple):
    """Problems that are compared with the same cuts of the reference's texts, and the cases made of these."""

    problems: Indices  # (problems,): their numbers
    scores: Table  # (cases,)
    known: Indices  # (cases,): the number of the author of the known texts
    unknown: Indices  # (cases,): the number of the author of the unknown text
    halves: Flags  # (cases,): whether both sides are halves of one text
    trials: Indices  # (cases,): the number of the case, the same in all members of an ensemble
    related: Flags  # (problems, authors): whether an author may have written a text of the problem
    lengths: tuple[int, int]
    """Characters to which the known and the unknown texts of cases are cut."""

    @property
    def same(self) -> Flags:
        """Which cases are by one author."""
        flags: Flags = self.known == self.unknown
        return flags

    @property
    def authors(self) -> int:
        """The number of authors with cases."""
        return len(np.unique(self.known))

    def select(self, kept: Flags) -> CaseGroup:
        """Return the group with some of its cases."""
        return self._replace(
            scores=self.scores[kept],
            known=self.known[kept],
            unknown=self.unknown[kept],
            halves=self.halves[kept],
            trials=self.trials[kept],
        )


@dataclass(frozen=True)
class ReferenceScores:
    """The normalized scores of problems and of cases of the reference, by one member of an ensemble."""

    scores: Table  # (problems,): NaN if the member cannot assess a problem
    own: Table  # (problems,): the mean of own pairs; NaN without own pairs
    groups: tuple[CaseGroup, ...]
    parts: Table | None = None  # (PARTS, problems): without each part of the texts


def score_beside_reference(sides: Sequence[Side], problems: int) -> ReferenceScores:
    """Return the normalized scores of one member: the means over the ways of asking."""
    grouped: dict[tuple[int, ...], list[Side]] = {}
    for side in sides:
        grouped.setdefault(tuple(question.problem for question in side.questions), []).append(side)
    scores, own = np.full((2, problems), np.nan)
    parts = np.full((PARTS, problems), np.nan)
    divided = all(side.matrix.parts is not None for side in sides)
    groups = []
    for asked, ways in grouped.items():
        numbers = np.array(asked, np.int64)
        found = [_score_side(side) for side in ways]
        scores[numbers] = np.mean([each.scores for each in found], axis=0)
        own[numbers] = np.mean([each.own for each in found], axis=0)
        if divided:
            parts[:, numbers] = np.mean([each.parts for each in found], axis=0)
        cases = np.mean([each.cases.scores for each in found], axis=0)
        groups.append(found[0].cases._replace(scores=cases))
    return ReferenceScores(scores, own, tuple(groups), parts if divided else None)


class _ScoredSide(NamedTuple):
    scores: Table  # (questions,): NaN if the question cannot be compared, as in own and parts
    own: Table  # (questions,)
    parts: Table  # (PARTS, questions); without rows if the matrix has no parts
    cases: CaseGroup


def _score_side(side: Side) -> _ScoredSide:
    """Score the problems of one side, their own pairs, and the cases of its reference."""
    assert side.layout is not None, "a side with a reference has a layout"
    layout = side.layout
    asked = slice(0, len(side.questions))
    pairs = slice(asked.stop, asked.stop + len(layout.own_pairs))
    made = slice(pairs.stop, pairs.stop + len(layout.cases))
    members = slice(made.stop, None)
    values, excluded = -side.matrix.values, side.matrix.excluded  # (documents, heads)
    one_person = excluded | excluded.T
    cohort = CohortScores(values[members, members], ~one_person[members, members])
    related = one_person[asked, members]
    owners = np.array(layout.own_pairs, np.int64)

    def normalize(table: Table, places: slice, counted: Flags) -> Table:
        """Return (trials,): the centered norms of documents in a table, with the heads of the same numbers."""
        rows = values[members, places].T  # the texts of the reference are whole
        return centered_norm(table.diagonal()[places], rows, table[places, members], cohort, counted)

    scores = normalize(values, asked, ~related)
    own = _mean_by_owner(normalize(values, pairs, ~related[owners]), owners, len(scores))
    without = side.matrix.parts if side.matrix.parts is not None else ()
    parts = np.array([normalize(-part, asked, ~related) for part in without]).reshape(-1, len(scores))
    incomparable = [question in side.incomparable for question in side.questions]
    scores[incomparable] = own[incomparable] = parts[:, incomparable] = np.nan
    return _ScoredSide(scores, own, parts, _score_cases(side, layout, made, members, cohort, related))


def _score_cases(
    side: Side, layout: ReferenceLayout, made: slice, members: slice, cohort: CohortScores, related: Flags
) -> CaseGroup:
    values, excluded = -side.matrix.values, side.matrix.excluded
    authors = np.array(layout.cases, np.int64)
    one, other = _pair_cases(authors, excluded[made, made] | excluded[made, made].T)
    heads, documents = (other, one) if side.way == 1 else (one, other)
    scores = centered_norm(
        values[made, made][documents, heads],
        values[members, made].T[heads],
        values[made, members][documents],
        cohort,
        ~excluded[members, made].T[heads] & ~excluded[made, members][documents],
    )
    related_authors = np.zeros((len(related), max((*layout.cases, *layout.cohort)) + 1), np.bool_)
    for place, author in enumerate(layout.cohort):
        related_authors[:, author] |= related[:, place]
    return CaseGroup(
        problems=np.array([question.problem for question in side.questions], np.int64),
        scores=scores,
        known=authors[one],
        unknown=authors[other],
        halves=(one == other) & np.array(layout.halved, np.bool_)[one],
        trials=one * len(authors) + other,
        related=related_authors,
        lengths=layout.lengths,
    )


def _mean_by_owner(values: Table, owners: Indices, count: int) -> Table:
    """Return (problems,): the mean of each problem's own pairs; NaN without own pairs."""
    sums, counts = np.bincount(owners, values, count), np.bincount(owners, minlength=count)
    found: Table = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return found


def _pair_cases(authors: Indices, one_person: Flags) -> tuple[Indices, Indices]:
    """Return the members of the known and of the unknown side of each case: all with themselves, then with others.

    Pairs that `one_person` flags are left out: two authors who may be one, or two sides with equal texts.
    """
    count = len(authors)
    members = np.arange(count)
    alone = members[~one_person.diagonal()]
    known, unknown = [alone], [alone]
    left = DIFFERENT_CASES * count
    for step in range(1, count):
        others = (members + step) % count
        different = ~one_person[others, members] & (authors[others] != authors)
        known.append(members[different][:left])
        unknown.append(others[different][:left])
        left -= len(known[-1])
        if left <= 0:
            break
    return np.concatenate(known), np.concatenate(unknown)


class EngineMeans(NamedTuple):
    """The normalized scores of a group of problems and of its cases: means over engines."""

    group: CaseGroup
    """With the cases that all members have."""
    scores: Table  # (problems,)
    own: Table  # (problems,)
    parts: Table | None  # (PARTS, problems); None unless all members scored parts


def average_reference_scores(
    members: Sequence[tuple[str, ReferenceScores]], number: int, left_out: Flags | None = None
) -> EngineMeans:
    """Return the means over engines for the group of the given number, without the cases of authors left out.

    Parameters
    ----------
    members
        The scores of each member, with the name of its engine. An engine's score is the mean of its members.
    left_out
        (authors,): whose cases are left out.
    """
    names = [name for name, _ in members]
    groups = _align_groups([scores.groups[number] for _, scores in members], left_out)
    problems = groups[0].problems
    parts = [scores.parts[:, problems] for _, scores in members if scores.parts is not None]
    return EngineMeans(
        groups[0]._replace(scores=_mean_by_engine(names, [group.scores for group in groups])),
        _mean_by_engine(names, [scores.scores[problems] for _, scores in members]),
        _mean_by_engine(names, [scores.own[problems] for _, scores in members]),
        _mean_by_engine(names, parts) if len(parts) == len(members) else None,
    )


def _align_groups(groups: Sequence[CaseGroup], left_out: Flags | None) -> list[CaseGroup]:
    """Keep the cases that all members have, without those of authors who are left out.

    Members may have different cases: if words are masked, different texts may become equal.
    """
    common = set(groups[0].trials.tolist()).intersection(*(group.trials.tolist() for group in groups[1:]))
    found = []
    for group in groups:
        kept = np.isin(group.trials, list(common))
        if left_out is not None:
            kept &= ~(left_out[group.known] | left_out[group.unknown])
        found.append(group.select(kept))
    return found


def _mean_by_engine(names: Sequence[str], tables: Sequence[Table]) -> Table:
    """Return the mean over engines, each the mean of its members; NaN where no member has a score."""
    by_engine: dict[str, list[Table]] = {}
    for name, table in zip(names, tables, strict=True):
        by_engine.setdefault(name, []).append(table)
    return _mean_there([_mean_there(found) for found in by_engine.values()])


def _mean_there(tables: Sequence[Table]) -> Table:
    """Return the mean of the tables where they have a value."""
    stacked = np.array(tables)
    there = ~np.isnan(stacked)
    sums, counts = np.where(there, stacked, 0).sum(axis=0), there.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
