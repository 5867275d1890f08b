from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from byline.fusion import average_by_problem
from byline.interpret import centre, stretch
from byline.questions import Question
from byline.ranks import rank_among_heads, rank_among_texts
from byline.scoring import Matrix

UNSEEN = np.zeros((3, 3), np.bool_)

# Document 2 is hard for all heads, head 0 is bad at everything: both must cancel out.
VALUES = np.array([[2.5, 2.0, 2.1], [2.3, 2.4, 2.2], [3.5, 3.1, 2.6]])


def test_the_papers_rank_is_among_the_texts_under_the_own_head() -> None:
    """Row means are 2.2, 2.3, 3.0667, so head 0's column becomes .3, .0, .433: document 1 ranks first, 0 second."""
    questions = [Question(0, 0, 0), Question(1, 0, 1), Question(2, 0, 2)]
    np.testing.assert_allclose(rank_among_texts(Matrix(VALUES, UNSEEN), questions), [0.5, 1.0, 0.0])


def test_the_softwares_rank_is_among_the_heads_for_the_own_text() -> None:
    """Column medians are 2.5, 2.4, 2.2, so document 0's row becomes .0, -.4, -.1: head 1 ranks first, 2 second."""
    questions = [Question(0, 0, 0), Question(1, 1, 0), Question(2, 2, 0)]
    np.testing.assert_allclose(rank_among_heads(Matrix(VALUES, UNSEEN), questions), [0.0, 1.0, 0.5])


@pytest.mark.parametrize("rank", [rank_among_texts, rank_among_heads])
def test_what_a_head_was_trained_on_is_never_compared(rank) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    values, seen = rng.normal(2, 0.3, (6, 6)), np.eye(6, dtype=np.bool_)
    questions = [Question(n, n, (n + 1) % 6) for n in range(6)]
    low, high = (rank(Matrix(np.where(seen, value, values), seen), questions) for value in (0.0, 99.0))
    np.testing.assert_array_equal(low, high)


def test_equal_entropies_share_their_rank() -> None:
    matrix = Matrix(np.ones((4, 4)), np.zeros((4, 4), np.bool_))
    assert rank_among_texts(matrix, [Question(0, 0, 0)]) == [0.5]
    assert rank_among_heads(matrix, [Question(0, 0, 0)]) == [0.5]


def test_a_pairs_two_directions_are_averaged() -> None:
    questions = [Question(0, 0, 1), Question(0, 1, 0), Question(1, 2, 3)]
    np.testing.assert_allclose(average_by_problem(np.array([0.2, 0.6, 0.9]), questions, 2), [0.4, 0.9])


def test_the_median_becomes_a_half_and_both_sides_are_stretched() -> None:
    scores = np.array([0.0, 0.2, 0.4, 0.7, 1.0])
    assert centre(scores) == 0.4
    np.testing.assert_allclose(stretch(scores, 0.4, 0.0), [0.0, 0.25, 0.5, 0.75, 1.0])


def test_answers_within_the_radius_are_exactly_undecided() -> None:
    scores = np.array([0.1, 0.48, 0.5, 0.52, 0.9])
    np.testing.assert_array_equal(stretch(scores, 0.5, 0.03) == 0.5, [False, True, True, True, False])
    np.testing.assert_array_equal(stretch(scores, 0.5, 0.0) == 0.5, [False, False, True, False, False])


def test_for_a_few_problems_the_middle_rank_is_the_centre() -> None:
    assert centre(np.array([0.9])) == 0.5
    assert centre(np.array([0.9, 0.8, 0.95, 0.99])) == 0.5


@given(hnp.arrays(np.float64, st.integers(5, 40), elements=st.floats(0, 1)), st.floats(0, 0.5))
@example(np.array([1.0, 5e-324, 5e-324, 5e-324, 5e-324]), 0.0)
def test_answers_keep_the_order_and_never_more_than_half_lie_on_one_side(scores: np.ndarray, radius: float) -> None:
    answers = stretch(scores, centre(scores), radius)
    assert ((answers >= 0) & (answers <= 1)).all()
    assert (answers > 0.5).sum() <= len(scores) / 2
    assert (answers < 0.5).sum() <= len(scores) / 2
    order = np.argsort(scores, kind="stable")
    assert (np.diff(answers[order]) >= -1e-12).all()
