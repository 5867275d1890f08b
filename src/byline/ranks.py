"""The paper's interpretation (section 2.6): where the unknown stands among the texts, or its head among the heads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byline.questions import Question
from byline.scoring import Matrix, Table, relative_entropies
from byline.settings import Ranking


def rank_scores(matrix: Matrix, questions: Sequence[Question], ranking: Ranking) -> Table:
    """(questions,) scores from 0 (ranks last) to 1 (ranks first)."""
    rank = rank_among_texts if ranking == "texts" else rank_among_heads
    return rank(matrix, questions)


def rank_among_texts(matrix: Matrix, questions: Sequence[Question]) -> Table:
    """The paper's words: under its own head, the share of the other documents that the unknown is more like than."""
    values = relative_entropies(matrix)
    columns = matrix.columns(values)
    return np.array([_share_above(columns[q.head], values[matrix.place(q.document, q.head)]) for q in questions])


def rank_among_heads(matrix: Matrix, questions: Sequence[Question]) -> Table:
    """The paper's software: for its own document, the share of the other heads that the known author's head beats.

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
    """The share of the others that are higher (worse) than `own`, one of them; equals count half, NaN doesn't count."""
    there = values[~np.isnan(values)]
    if len(there) < 2 or np.isnan(own):
        return 0.5
    return float(((there > own).sum() + 0.5 * ((there == own).sum() - 1)) / (len(there) - 1))
