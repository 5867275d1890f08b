"""Scores made relative: how far a pair of head and document stands out from pairs like it.

From a value the mean of its document over the heads is subtracted, then the mean of its head over the documents, and
what is left is divided by how far such remainders usually are from 0, for the document and for the head. Pairs that are
asked about, and heads that learnt the document, count in no mean: an asked pair may be by one author, and must not be
compared with itself.

*Matched*, a mean gives more weight to what is of the same kind: heads that find the same documents easy as the head in
question, documents that find the same heads easy. So a difference of genre or topic, which moves whole groups of texts,
is not taken for one of author. How closely to match is the `reach`; how that is chosen, see fusion.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.scoring import ROUNDING, Flags, Matrix, Side, Table

Positions = NDArray[np.int64]

REACHES = (float("inf"), 0.4, 0.2)
"""Weights are exp(correlation / reach): infinite, everything counts alike; small, only what is alike counts."""

ALONE = 0.2
"""The reach where every problem is answered by itself."""
MOST_MATCHED = 1_000
"""Documents or heads; with more the weights of all pairs would take too much room, and cohorts are not matched."""
LENGTH_REACH = 0.7
"""The reference's sets half or twice as long count 6 tenths in a cohort, those four times as long 1 in 7."""


def relative_scores(side: Side) -> Table:
    """(reaches, questions): how much more alike each asked pair is than expected, in usual deviations.

    A sampled matrix, in which not every head is asked about every document, or a very large one is not matched: it has
    the first reach only.
    """
    matrix, places = side.matrix, asked_places(side)
    if not matrix.full or max(matrix.values.shape) > MOST_MATCHED:
        return -_standardise_evenly(matrix, _comparable(side).heads)[places][None]
    return np.array([-table[places] for table in _matched_tables(side)])


def reference_scores(side: Side) -> Table:
    """(documents, heads): every pair beside a reference, scored as the asked ones are where problems stand alone.

    Nothing counts for itself at that reach, so a reference's texts under a question's head, and the reference's heads
    for its document, are compared as the question is.
    """
    return -_matched_tables(side)[REACHES.index(ALONE)]


def _matched_tables(side: Side) -> list[Table]:
    """For each reach the full matrix (documents, heads) in usual deviations; lower is more alike."""
    cohort = _comparable(side)
    documents = heads = np.ones((1, 1))
    if side.reference is not None:
        documents = _near_in_length(side.reference.document_lengths)
        heads = _near_in_length(side.reference.head_lengths)
    left = _centre(side.matrix.values, cohort)
    return [
        _standardise(left, cohort, documents * by_document, heads * by_head)
        for by_document, by_head in _weigh(left, cohort)
    ]


def link_scores(matrix: Matrix, reach: float) -> Table:
    """(documents, heads): how much more alike every pair is than expected, in usual deviations; nothing is asked.

    The matrix is full. Pairs of a document and a head that learnt it score 0.
    """
    counted = ~matrix.seen
    cohort = _Counted(counted, counted)
    left = _centre(matrix.values, cohort)
    by_document = _correlations(np.where(counted, left, 0))
    by_head = _correlations(np.where(counted, left, 0).T)
    scores = -_standardise(left, cohort, _others(by_document, reach), _others(by_head, reach))
    return np.where(matrix.seen, 0, scores)


def asked_places(side: Side) -> tuple[Positions, ...]:
    """Where in the matrix each question's value is: (questions,) rows, and columns."""
    places = [side.matrix.place(question.document, question.head) for question in side.questions]
    return tuple(np.array(places, np.int64).reshape(-1, 2).T)


def count_compared(side: Side) -> Positions:
    """(questions,): how many pairs a question's is compared with, of its document or of its head, whichever are fewer.

    Beside a reference, its heads and documents only.
    """
    cohort, owners = _comparable(side), side.matrix.heads
    by_head = np.bincount(owners.ravel(), weights=cohort.documents.ravel()).astype(np.int64)
    by_document = cohort.heads.sum(axis=1)
    return np.array(
        [min(by_document[question.document], by_head[question.head]) for question in side.questions], np.int64
    )


def agreement_of_kind(side: Side) -> Table:
    """(questions,): how alike document and head stand to the reference, from -1, the contrary, to 1.

    The document's values under the reference's heads are correlated with those of the reference's documents under the
    question's head. Where they disagree the two are of different kinds, and what parts them need not be the author.
    """
    assert side.reference is not None
    cohort = _comparable(side)
    left = _centre(side.matrix.values, cohort)
    heads, documents = np.flatnonzero(side.reference.heads), np.flatnonzero(side.reference.documents)
    found = np.zeros(len(side.questions))
    for number, question in enumerate(side.questions):
        both = cohort.heads[question.document, heads] & cohort.documents[documents, question.head]
        ours, theirs = left[question.document, heads][both], left[documents, question.head][both]
        ours, theirs = (each - each.mean() if len(each) else each for each in (ours, theirs))
        size = float(np.sqrt((ours @ ours) * (theirs @ theirs)))
        found[number] = ours @ theirs / size if size > ROUNDING else 0
    return found


def own_scores(side: Side) -> Table:
    """(reaches, questions): of values that say something by themselves, the asked ones; the reach changes nothing."""
    return np.tile(-side.matrix.values[asked_places(side)], (len(REACHES), 1))


def part_scores(side: Side, read: Callable[[Side], Table] = relative_scores) -> Table | None:
    """(PARTS, reaches, questions): what is read without each part of the documents; None where parts are not scored."""
    if side.matrix.parts is None:
        return None
    return np.array([read(_without(side, values)) for values in side.matrix.parts])


def _without(side: Side, values: Table) -> Side:
    return replace(side, matrix=replace(side.matrix, values=values, parts=None))


class _Counted(NamedTuple):
    """Which pairs count in a document's mean over heads, and which in a head's mean over documents."""

    heads: Flags
    documents: Flags


def _comparable(side: Side) -> _Counted:
    """Neither asked pairs nor heads that learnt the document; beside a reference nothing but the reference."""
    counted = ~side.matrix.seen
    counted[asked_places(side)] = False
    if side.reference is None:
        return _Counted(counted, counted)
    return _Counted(counted & side.reference.heads, counted & side.reference.documents[:, None])


def _centre(values: Table, cohort: _Counted) -> Table:
    """(documents, heads): without each document's and each head's level, as far as pairs that count show it."""
    left = values
    for _ in range(10):  # pairs that don't count make the two depend on each other a little
        left = left - _mean(left, cohort.heads, 1)
        left = left - _mean(left, cohort.documents, 0)
    return np.where(np.abs(left) < ROUNDING, 0, left)


def _weigh(left: Table, cohort: _Counted) -> list[tuple[Table, Table]]:
    """For each reach the weights (documents, documents) and (heads, heads) that others have in a mean.

    Where likeness counts nothing counts for itself: asked pairs don't, and others must not be better off.
    """
    by_document = _correlations(np.where(cohort.heads, left, 0))
    by_head = _correlations(np.where(cohort.documents, left, 0).T)
    return [(_others(by_document, reach), _others(by_head, reach)) for reach in REACHES]


def _others(alike: Table, reach: float) -> Table:
    weights: Table = np.exp(alike / reach)
    if np.isfinite(reach):
        np.fill_diagonal(weights, 0)
    return weights


def _near_in_length(lengths: Table) -> Table:
    """(sets, sets): weights by how near two sets are in length, given by its logarithm; never quite 0."""
    apart = (lengths[:, None] - lengths) / LENGTH_REACH
    weights: Table = np.exp(-0.5 * apart**2) + ROUNDING
    return weights


def _mean(values: Table, counted: Flags, axis: int) -> Table:
    sums = np.where(counted, values, 0).sum(axis=axis, keepdims=True)
    means: Table = sums / np.maximum(counted.sum(axis=axis, keepdims=True), 1)
    return means


def _correlations(profiles: Table) -> Table:
    """(rows, rows): how alike two rows are, from -1 to 1; 0 for a row of zeros."""
    norms = np.sqrt((profiles**2).sum(axis=1, keepdims=True))
    directions = profiles / np.where(norms > 0, norms, 1)
    alike: Table = directions @ directions.T
    return alike


def _standardise(values: Table, cohort: _Counted, documents: Table, heads: Table) -> Table:
    """(documents, heads): what is left of each value, in usual deviations; the weights say who counts how much."""
    by_heads = np.maximum(cohort.heads @ heads.T, ROUNDING)  # the weights that count for (document, head)
    by_documents = np.maximum(documents @ cohort.documents, ROUNDING)

    def over_heads(table: Table) -> Table:
        means: Table = np.where(cohort.heads, table, 0) @ heads.T / by_heads
        return means

    def over_documents(table: Table) -> Table:
        means: Table = documents @ np.where(cohort.documents, table, 0) / by_documents
        return means

    left = values - over_heads(values)
    left = left - over_documents(left)
    sizes = np.abs(left)
    return _divide(left, over_heads(sizes), over_documents(sizes), _usual(sizes, cohort.heads & cohort.documents))


def _standardise_evenly(matrix: Matrix, counted: Flags) -> Table:
    """The same for a sampled matrix (documents, K), everything counting alike."""
    owners, present = matrix.heads, counted.astype(np.float64)
    counts = np.maximum(np.bincount(owners.ravel(), weights=present.ravel()), 1)

    def over_documents(table: Table) -> Table:
        sums = np.bincount(owners.ravel(), weights=(table * present).ravel())
        means: Table = (sums / counts)[owners]
        return means

    left = matrix.values
    for _ in range(10):
        left = left - _mean(left, counted, 1)
        left = left - over_documents(left)
    left = np.where(np.abs(left) < ROUNDING, 0, left)
    sizes = np.abs(left)
    return _divide(left, _mean(sizes, counted, 1), over_documents(sizes), _usual(sizes, counted))


def _usual(sizes: Table, counted: Flags) -> float:
    """The mean size of what counts."""
    return float(sizes[counted].mean()) if counted.any() else 0.0


def _divide(left: Table, by_document: Table, by_head: Table, usual: float) -> Table:
    scale = by_document * by_head
    known = scale > ROUNDING**2
    relative: Table = np.where(known, left * usual / np.where(known, scale, 1), 0)
    return relative
