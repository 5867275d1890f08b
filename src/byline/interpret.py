"""Matrix -> scores -> answers: the rank and the median of section 2.6."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byline.answers import Answer
from byline.questions import FEWEST_HEADS, Question
from byline.scoring import Matrix, Side, Table, relative_entropies
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


def problem_scores(sides: Sequence[Side], problems: int, ranking: Ranking) -> Table:
    """(problems,): one member's mean over a problem's questions, both ways of asking; NaN where none can be judged."""
    questions: list[Question] = []
    scores: list[float] = []
    for side in sides:
        for question, score in zip(side.questions, rank_scores(side.matrix, side.questions, ranking), strict=True):
            if question not in side.lonely:
                questions.append(question)
                scores.append(float(score))
    return average_by_problem(scores, questions, problems)


def average_by_problem(scores: Sequence[float], questions: Sequence[Question], problems: int) -> Table:
    """(problems,): the mean over each problem's questions; NaN where it has none."""
    owners = np.array([question.problem for question in questions], np.int64)
    counts = np.bincount(owners, minlength=problems)
    sums = np.bincount(owners, weights=np.array(scores, np.float64), minlength=problems)
    means: Table = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means


def average_members(scores: Sequence[Table]) -> Table:
    """(problems,): the mean over members of those that could judge a problem (section 2.5); NaN where none could."""
    table = np.array(scores)
    counts = (~np.isnan(table)).sum(axis=0)
    means: Table = np.where(counts > 0, np.nansum(table, axis=0) / np.maximum(counts, 1), np.nan)
    return means.round(9)  # equal scores stay equal however they were added up


def centre(scores: Table) -> float:
    """The score that becomes 0.5: the median, for half of the answers are yes; for a few problems, the middle rank."""
    there = scores[~np.isnan(scores)]
    return float(np.median(there)) if len(there) >= FEWEST_HEADS else 0.5


def stretch(scores: Table, middle: float, radius: float) -> Table:
    """Answers: `middle` becomes 0.5, both sides reach linearly to 0 and 1; nearer to 0.5 than `radius` is undecided.

    A problem without a score (NaN) is undecided.
    """
    scores = np.where(np.isnan(scores), middle, scores)
    below = 0.5 * (np.minimum(scores, middle) / middle) if middle > 0 else np.full_like(scores, 0.5)
    above = 0.5 + 0.5 * (scores - middle) / (1 - middle) if middle < 1 else np.full_like(scores, 0.5)
    answers = np.where(scores < middle, below, above)
    return np.where((np.abs(answers - 0.5) < radius) | (scores == middle), 0.5, answers)


def answer_problems(ids: Sequence[str], members: Sequence[Table], radius: float) -> tuple[list[Answer], float]:
    """The answers to the problems of one language from its members' scores, and the score that became 0.5."""
    scores = average_members(members)
    middle = centre(scores)
    values = stretch(scores, middle, radius)
    answers = [
        Answer(name, 0.5) if np.isnan(score) else Answer(name, float(value), float(score))
        for name, value, score in zip(ids, values, scores, strict=True)
    ]
    return answers, middle
