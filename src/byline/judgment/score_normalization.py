"""Turn a matrix into scores: ranks (section 2.6 of the paper), or values normalized by document and by head.

A normalized score tells how far a pair of document and head stands out from comparable pairs. The mean of its document
over the heads is subtracted, then the mean of its head over the documents, and the rest is divided by the mean absolute
rest of the document and of the head. That is a symmetric normalization, like s-norm in speaker recognition (Kenny,
Odyssey 2010). Asked pairs and heads that were trained on the document count in no mean.

*Matched*, a mean gives more weight to similar heads and documents, as adaptive s-norm selects its cohort (Cumani et
al., Interspeech 2011; Matějka et al., Interspeech 2017). A difference of genre or topic, which moves whole groups of
texts, is then not taken for one of author. The `reach` is the temperature of the weights; fusion.py chooses it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from byline.engines.matrix import ROUNDING, Flags, Matrix, Side, Table, relative_entropies
from byline.engines.questions import Question
from byline.settings.settings import Ranking

Positions = NDArray[np.int64]
Average = Callable[[Table], Table]

REACHES = (float("inf"), 0.4, 0.2)
"""Weights in a cohort are exp(correlation / reach): at infinity all count equally, at 0.2 only similar ones."""
MAX_MATCHED = 1_000
"""Larger matrices are not matched: the weights of all pairs would take too much memory."""
CENTERING_ROUNDS = 10
"""Pairs that do not count make the means of documents and of heads depend on each other a little."""


def relative_scores(side: Side) -> Table:
    """Return (reaches, questions): how much more alike each asked pair is than expected, in mean deviations.

    A very large matrix, or a sampled one in which not every head scores every document, has the first reach only.
    """
    matrix, asked = side.matrix, asked_positions(side)
    if not matrix.full or max(matrix.values.shape) > MAX_MATCHED:
        return -_normalize_sampled(matrix, _comparable(side))[asked][None]
    return np.array([-table[asked] for table in _normalize_matched(side)])


def link_scores(matrix: Matrix, reach: float) -> Table:
    """Return (documents, heads): how much more alike every pair of a full matrix is than expected; no pair is asked.

    Pairs of a document and a head that was trained on it score 0.
    """
    counted = ~matrix.excluded
    centered = _center(matrix.values, counted)
    weights = (_cohort_weights(table, reach) for table in _similarities(centered, counted))
    return np.where(matrix.excluded, 0, -_normalize(centered, counted, *weights))


def part_scores(side: Side) -> Table | None:
    """Return (PARTS, reaches, questions): scores without each part of the documents; None if parts are not scored."""
    if side.matrix.parts is None:
        return None
    matrices = (replace(side.matrix, values=values, parts=None) for values in side.matrix.parts)
    return np.array([relative_scores(replace(side, matrix=matrix)) for matrix in matrices])


def asked_positions(side: Side) -> tuple[Positions, ...]:
    """Return where in the matrix the questions' values are: (questions,) rows and columns."""
    found = [side.matrix.place(question.document, question.head) for question in side.questions]
    return tuple(np.array(found, np.int64).reshape(-1, 2).T)


def count_compared(side: Side) -> Positions:
    """Return (questions,): with how many pairs of its document, or of its head if fewer, a question is compared."""
    counted, owners = _comparable(side), side.matrix.heads
    by_head = np.bincount(owners.ravel(), weights=counted.ravel()).astype(np.int64)
    by_document = counted.sum(axis=1)
    return np.array(
        [min(by_document[question.document], by_head[question.head]) for question in side.questions], np.int64
    )


def masked_mean(values: Table, counted: Flags, axis: int) -> Table:
    """Return the mean along an axis, kept, of the values that count; 0 if none does."""
    sums = np.where(counted, values, 0).sum(axis=axis, keepdims=True)
    means: Table = sums / np.maximum(counted.sum(axis=axis, keepdims=True), 1)
    return means


def _comparable(side: Side) -> Flags:
    """Return which pairs count in means: all but asked pairs and heads trained on the document."""
    counted: Flags = ~side.matrix.excluded
    counted[asked_positions(side)] = False
    return counted


def _normalize_matched(side: Side) -> list[Table]:
    """Return for each reach the normalized full matrix (documents, heads); lower is more alike."""
    counted = _comparable(side)
    centered = _center(side.matrix.values, counted)
    by_document, by_head = _similarities(centered, counted)
    return [
        _normalize(centered, counted, _cohort_weights(by_document, reach), _cohort_weights(by_head, reach))
        for reach in REACHES
    ]


def _normalize(values: Table, counted: Flags, documents: Table, heads: Table) -> Table:
    """Normalize (documents, heads) by weighted means; the weights tell how much others count for each."""
    by_heads = np.maximum(counted @ heads.T, ROUNDING)  # the sum of the weights for (document, head)
    by_documents = np.maximum(documents @ counted, ROUNDING)

    def over_heads(table: Table) -> Table:
        return np.where(counted, table, 0) @ heads.T / by_heads

    def over_documents(table: Table) -> Table:
        return documents @ np.where(counted, table, 0) / by_documents

    centered = _double_center(values, over_heads, over_documents, rounds=1)
    return _divide_by_size(centered, over_heads, over_documents, counted)


def _normalize_sampled(matrix: Matrix, counted: Flags) -> Table:
    """Normalize a sampled matrix (documents, K), in which all pairs weigh the same."""
    owners, present = matrix.heads, counted.astype(np.float64)
    counts = np.maximum(np.bincount(owners.ravel(), weights=present.ravel()), 1)

    def over_heads(table: Table) -> Table:
        return masked_mean(table, counted, 1)

    def over_documents(table: Table) -> Table:
        sums = np.bincount(owners.ravel(), weights=(table * present).ravel())
        return (sums / counts)[owners]

    centered = _zero_rounding(_double_center(matrix.values, over_heads, over_documents))
    return _divide_by_size(centered, over_heads, over_documents, counted)


def _center(values: Table, counted: Flags) -> Table:
    """Subtract each document's and each head's mean from (documents, heads)."""
    return _zero_rounding(
        _double_center(
            values, lambda table: masked_mean(table, counted, 1), lambda table: masked_mean(table, counted, 0)
        )
    )


def _double_center(
    values: Table, over_heads: Average, over_documents: Average, rounds: int = CENTERING_ROUNDS
) -> Table:
    for _ in range(rounds):
        values = values - over_heads(values)
        values = values - over_documents(values)
    return values


def _zero_rounding(values: Table) -> Table:
    return np.where(np.abs(values) < ROUNDING, 0, values)


def _divide_by_size(centered: Table, over_heads: Average, over_documents: Average, counted: Flags) -> Table:
    """Divide each value by the mean size of its document's and its head's values, relative to that of all."""
    sizes = np.abs(centered)
    overall = float(sizes[counted].mean()) if counted.any() else 0.0
    scale = over_heads(sizes) * over_documents(sizes)
    known = scale > ROUNDING**2
    return np.where(known, centered * overall / np.where(known, scale, 1), 0)


def _similarities(centered: Table, counted: Flags) -> tuple[Table, Table]:
    """Return (documents, documents) and (heads, heads): the correlations of their values that count."""
    there = np.where(counted, centered, 0)
    return _correlations(there), _correlations(there.T)


def _correlations(rows: Table) -> Table:
    """Return (rows, rows): correlations from -1 to 1; 0 for a row of zeros."""
    norms = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    directions = rows / np.where(norms > 0, norms, 1)
    return directions @ directions.T


def _cohort_weights(similarities: Table, reach: float) -> Table:
    """Turn similarities into weights. If they matter, nothing counts for itself: asked pairs do not either."""
    weights: Table = np.exp(similarities / reach)
    if np.isfinite(reach):
        np.fill_diagonal(weights, 0)
    return weights


def rank_scores(matrix: Matrix, questions: Sequence[Question], ranking: Ranking) -> Table:
    """Return (questions,): scores from 0 (ranks last) to 1 (ranks first)."""
    rank = rank_among_texts if ranking == "texts" else rank_among_heads
    return rank(matrix, questions)


def rank_among_texts(matrix: Matrix, questions: Sequence[Question]) -> Table:
    """Rank the unknown among the other documents under the question's head, as the paper describes it."""
    values = relative_entropies(matrix)
    columns = matrix.columns(values)
    return np.array([_share_above(columns[q.head], values[matrix.place(q.document, q.head)]) for q in questions])


def rank_among_heads(matrix: Matrix, questions: Sequence[Question]) -> Table:
    """Rank the question's head among the other heads for its document, as the paper's software does.

    Each head's median is subtracted first, and each document's values are divided by their absolute sum.
    """
    values = matrix.comparable
    medians = np.array([_median(column) for column in matrix.columns(values)])
    values = values - medians[matrix.heads]
    total = np.nansum(np.abs(values), axis=1, keepdims=True)
    values = values / np.where(total > 0, total, 1)
    return np.array([_share_above(values[q.document], values[matrix.place(q.document, q.head)]) for q in questions])


def _median(values: Table) -> float:
    there = values[~np.isnan(values)]
    return float(np.median(there)) if len(there) else 0.0


def _share_above(values: Table, own: float) -> float:
    """Return the share of the others that are higher (worse) than `own`; ties count half, NaN does not count."""
    there = values[~np.isnan(values)]
    if len(there) < 2 or np.isnan(own):
        return 0.5
    return float(((there > own).sum() + 0.5 * ((there == own).sum() - 1)) / (len(there) - 1))
