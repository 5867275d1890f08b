"""Turn a matrix into scores: ranks (section 2.6 of the paper), or values normalized by document and by head.

A normalized score tells how far a pair of document and head stands out from comparable pairs. The matrix is double
centered: each document's mean over the heads is subtracted, then each head's mean over the documents. Then the s-norm
is taken (Kenny, Odyssey 2010): the mean of how many standard deviations the pair lies above the other pairs of its
head, and above those of its document. Asked pairs count in no mean, and neither do heads and documents that share a
text.

Two norms differ in the pairs that they compare with:

unmatched   all other pairs
matched     pairs with the documents that are nearest to the document, and with the heads that are nearest to the head.
            This selects cohorts as adaptive s-norm does (Matějka et al., Interspeech 2017), but by the correlation of
            centered values. A difference of genre or topic, which moves whole groups of texts, is then not taken for
            one of author.

fusion.py weighs the norms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from byline.engines.matrix import ROUNDING, Flags, Matrix, Side, Table, relative_entropies
from byline.engines.questions import Question
from byline.judgment.cohort_norms import MOST_DEVIATIONS, nearest_in_order, one_sided_norm, order_members
from byline.settings.settings import Ranking

Positions = NDArray[np.int64]
Average = Callable[[Table], Table]

NORMS = ("unmatched", "matched")
MAX_MATCHED = 1_000
"""Larger matrices are not matched: the correlations of all pairs would take too much memory."""
CENTERING_ROUNDS = 10
"""Pairs that do not count make the means of documents and of heads depend on each other a little."""
FEWEST_SPREAD = 2
"""Fewer pairs have no standard deviation: the side of a pair with fewer does not count in its score."""


def relative_scores(side: Side) -> Table:
    """Return (norms, questions): how much more alike each asked pair is than expected, in standard deviations.

    A very large matrix, or a sampled one in which not every head scores every document, has the first norm only.
    """
    matrix, asked = side.matrix, asked_positions(side)
    if not is_matched(matrix):
        return _normalize_sampled(matrix, _comparable(side))[asked][None]
    return _Normalizer(side).score(*asked)


def relative_tables(side: Side, chosen: Positions | None = None) -> Table:
    """Return (norms, documents, K): every pair of the matrix made relative as asked pairs are.

    If documents are chosen, those of others may be NaN, which saves time.
    """
    documents, heads = side.matrix.values.shape
    if not is_matched(side.matrix):
        return _normalize_sampled(side.matrix, _comparable(side))[None]
    normalizer = _Normalizer(side)
    found = np.full((len(NORMS), documents, heads), np.nan)
    for number in range(documents) if chosen is None else np.unique(chosen):
        found[:, number] = normalizer.score(np.full(heads, number), np.arange(heads))
    return found


def is_matched(matrix: Matrix) -> bool:
    """Return whether a matrix has all norms."""
    return matrix.full and max(matrix.values.shape) <= MAX_MATCHED


def part_scores(side: Side) -> Table | None:
    """Return (PARTS, norms, questions): scores without each part of the documents; None if parts are not scored."""
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


class _Normalizer:
    """A full matrix, centered, with the order of its documents and heads by likeness to each."""

    def __init__(self, side: Side) -> None:
        self._counted = _comparable(side)
        self._values = -_center(side.matrix.values, self._counted)
        there = np.where(self._counted, self._values, 0)
        self._documents, self._heads = order_members(_correlations(there)), order_members(_correlations(there.T))

    def score(self, documents: Positions, heads: Positions) -> Table:
        """Return (norms, pairs): the scores of pairs of a document and a head."""
        scores = self._values[documents, heads]
        rows, columns = self._values[:, heads].T, self._values[documents]
        compared = self._counted[:, heads].T, self._counted[documents]
        nearest = (
            nearest_in_order(self._documents[documents], compared[0]),
            nearest_in_order(self._heads[heads], compared[1]),
        )
        return np.array([_s_norm(scores, rows, columns, *counted) for counted in (compared, nearest)])


def _s_norm(scores: Table, rows: Table, columns: Table, documents: Flags, heads: Flags) -> Table:
    """Return (pairs,): the mean of the norms over (pairs, documents) and (pairs, heads), or of one if the other fails.

    This is the s-norm of cohort_norms.py with different cohorts of documents and of heads.
    """
    able = np.array([documents.sum(axis=1) >= FEWEST_SPREAD, heads.sum(axis=1) >= FEWEST_SPREAD])
    norms = np.array([one_sided_norm(scores, rows, documents), one_sided_norm(scores, columns, heads)])
    found: Table = masked_mean(norms, able, 0)[0]
    return found


def _normalize_sampled(matrix: Matrix, counted: Flags) -> Table:
    """Return (documents, K): the unmatched norm of a matrix of which not every head scores every document."""
    owners, present = matrix.heads, counted.astype(np.float64)
    counts = np.bincount(owners.ravel(), weights=present.ravel())

    def over_heads(table: Table) -> Table:
        return masked_mean(table, counted, 1)

    def over_documents(table: Table) -> Table:
        sums = np.bincount(owners.ravel(), weights=(table * present).ravel())
        return (sums / np.maximum(counts, 1))[owners]

    centered = -_zero_rounding(_double_center(matrix.values, over_heads, over_documents))
    norms, able = [], []
    for over, others in ((over_documents, counts[owners]), (over_heads, counted.sum(axis=1, keepdims=True))):
        means = over(centered)
        deviations = np.sqrt(np.maximum(over(centered**2) - means**2, 0))
        above = (centered - means) / np.maximum(deviations, ROUNDING)
        norms.append(np.clip(above, -MOST_DEVIATIONS, MOST_DEVIATIONS))
        able.append(np.broadcast_to(others >= FEWEST_SPREAD, centered.shape))
    found: Table = masked_mean(np.array(norms), np.array(able), 0)[0]
    return found


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


def _correlations(rows: Table) -> Table:
    """Return (rows, rows): correlations from -1 to 1; 0 for a row of zeros."""
    norms = np.sqrt((rows**2).sum(axis=1, keepdims=True))
    directions = rows / np.where(norms > 0, norms, 1)
    return directions @ directions.T


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
