"""Matrix -> scores -> answers: the rank and the median of section 2.6."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byline.questions import FEWEST_HEADS, Question
from byline.scoring import Matrix, Table, relative_entropies
from byline.settings import Ranking


def rank_scores(matrix: Matrix, questions: Sequence[Question], ranking: Ranking) -> Table:
    """(questions,) scores from 0 (ranks last) to 1 (ranks first)."""
    rank = rank_among_texts if ranking == "texts" else rank_among_heads
    return rank(matrix, questions)


def rank_among_texts(matrix: Matrix, questions: Sequence[Question]) -> Table:
    """The paper's words: under its own head, the share of the other documents that the unknown is more like than."""
    values = relative_entropies(matrix)
    return np.array([_share_above(values[:, q.head], q.document) for q in questions])


def rank_among_heads(matrix: Matrix, questions: Sequence[Question]) -> Table:
    """The paper's software: for its own document, the share of the other heads that the known author's head beats.

    Each head's median is subtracted first, and each document's values are divided by their absolute sum.
    """
    values = matrix.comparable
    values = values - np.nanmedian(values, axis=0, keepdims=True)
    total = np.nansum(np.abs(values), axis=1, keepdims=True)
    values = values / np.where(total > 0, total, 1)
    return np.array([_share_above(values[q.document], q.head) for q in questions])


def _share_above(values: Table, own: int) -> float:
    """The share of the others that are higher (worse) than `own`; equals count half, NaN doesn't count."""
    others = np.delete(values, own)
    others = others[~np.isnan(others)]
    if not len(others):
        return 0.5
    return float(((others > values[own]).sum() + 0.5 * (others == values[own]).sum()) / len(others))


def average_by_problem(scores: Table, questions: Sequence[Question], problems: int) -> Table:
    """(problems,): the mean over each problem's questions, of which a pair has two."""
    owners = [question.problem for question in questions]
    return np.bincount(owners, weights=scores, minlength=problems) / np.bincount(owners, minlength=problems)


def centre(scores: Table) -> float:
    """The score that becomes 0.5: the median, for half of the answers are yes; for a few problems, the middle rank."""
    return float(np.median(scores)) if len(scores) >= FEWEST_HEADS else 0.5


def stretch(scores: Table, middle: float, radius: float) -> Table:
    """Answers: `middle` becomes 0.5, both sides reach linearly to 0 and 1; nearer to 0.5 than `radius` is undecided."""
    below = 0.5 * (np.minimum(scores, middle) / middle) if middle > 0 else np.full_like(scores, 0.5)
    above = 0.5 + 0.5 * (scores - middle) / (1 - middle) if middle < 1 else np.full_like(scores, 0.5)
    answers = np.where(scores < middle, below, above)
    return np.where((np.abs(answers - 0.5) < radius) | (scores == middle), 0.5, answers)
