"""Normalized scores: by hand, what they must not depend on, and what matching is for."""

from __future__ import annotations

import numpy as np
import pytest

from byline.engines.matrix import PARTS, Matrix, Side, Table
from byline.engines.questions import Question
from byline.judgment.metrics import auc
from byline.judgment.score_normalization import (
    NORMS,
    asked_positions,
    part_scores,
    relative_scores,
    relative_tables,
)


def own(problems: int) -> tuple[Question, ...]:
    """Each head is asked about the document of the same place."""
    return tuple(Question(n, n, n) for n in range(problems))


def side(values: Table, seen: np.ndarray | None = None, questions: tuple[Question, ...] | None = None) -> Side:
    flags = np.zeros(values.shape, np.bool_) if seen is None else seen
    return Side(Matrix(values, flags), own(len(values)) if questions is None else questions, frozenset())


def noise(documents: int = 8, heads: int = 8, seed: int = 0) -> Table:
    return np.random.default_rng(seed).normal(2, 0.3, (documents, heads))


def test_a_small_matrix_by_hand() -> None:
    """The first head is asked about the first document; every other pair counts.

    Rows have the means 3, 2, 2 without the asked pair, so they become -3 -1 1, -1 0 1, 1 0 -1; columns of these have
    the means 0, -1/3, 1/3, so what is left is -3 -2/3 2/3, -1 1/3 2/3, 1 1/3 -4/3. The other pairs of the head, -1 and
    1, have a standard deviation of 1, those of the document, -2/3 and 2/3, one of 2/3: the pair is 3 and 9/2 standard
    deviations lower. With so few pairs all are among the nearest.
    """
    values = np.array([[0.0, 2, 4], [1, 2, 3], [3, 2, 1]])
    scores = relative_scores(side(values, questions=own(1)))
    assert scores == pytest.approx(np.full((len(NORMS), 1), (3 + 9 / 2) / 2))


def test_a_side_with_a_single_pair_to_compare_with_does_not_count() -> None:
    """Without the second document, the head has one other pair, which has no standard deviation."""
    values = np.array([[0.0, 2, 4], [3, 2, 1]])
    (score,), _ = relative_scores(side(values, questions=own(1)))
    rest = np.array([values[0, 1] - values[1, 1], values[0, 2] - values[1, 2]])  # what the documents do not share
    assert score == pytest.approx((np.mean(rest) - (values[0, 0] - values[1, 0])) / (rest.std() / 2))


def test_a_lower_value_is_a_higher_score() -> None:
    values = noise()
    better = values.copy()
    better[3, 3] -= 0.2
    assert (relative_scores(side(better)) > relative_scores(side(values)))[:, 3].all()


@pytest.mark.parametrize("change", ["hard document", "bad head", 0.01, 7.0, 1000.0])
def test_neither_hard_documents_nor_bad_heads_nor_units_matter(change: str | float) -> None:
    changed = noise() * (change if isinstance(change, float) else 1)
    if not isinstance(change, float):
        changed[np.s_[2] if change == "hard document" else np.s_[:, 2]] += 3
    np.testing.assert_allclose(relative_scores(side(changed)), relative_scores(side(noise())), rtol=1e-6)


def test_what_a_head_learned_never_matters() -> None:
    values = noise()
    seen = np.random.default_rng(1).random(values.shape) < 0.2
    np.fill_diagonal(seen, False)
    plain = relative_scores(side(values, seen))
    for value in (0.0, 99.0):
        np.testing.assert_array_equal(relative_scores(side(np.where(seen, value, values), seen)), plain)


def test_the_value_of_another_asked_pair_never_matters() -> None:
    values = noise()
    changed = values.copy()
    changed[range(1, 8), range(1, 8)] = np.linspace(-5, 5, 7)
    one, two = relative_scores(side(values)), relative_scores(side(changed))
    np.testing.assert_array_equal(one[:, 0], two[:, 0])
    assert (one[:, 1:] != two[:, 1:]).all()


def test_a_document_asked_under_several_heads_is_compared_with_the_others_only() -> None:
    values = noise()
    questions = (*own(8), Question(8, 5, 0), Question(9, 0, 5))
    changed = values.copy()
    changed[0, 5] = changed[5, 0] = 99
    one, two = (relative_scores(side(each, questions=questions)) for each in (values, changed))
    np.testing.assert_array_equal(one[:, :8], two[:, :8])


def test_heads_in_another_order_have_the_same_scores_and_are_not_matched() -> None:
    values = noise(9, 7)
    seen = np.random.default_rng(1).random(values.shape) < 0.1
    questions = tuple(Question(n, n % 7, n) for n in range(9) if not seen[n, n % 7])
    order = np.array([np.random.default_rng(n).permutation(7) for n in range(9)], np.int32)
    shuffled = Matrix(np.take_along_axis(values, order, 1), np.take_along_axis(seen, order, 1), order)
    scores = relative_scores(Side(shuffled, questions, frozenset()))
    assert scores.shape == (1, len(questions))
    np.testing.assert_allclose(scores[0], relative_scores(side(values, seen, questions))[0])


def test_a_sampled_matrix_does_not_count_what_it_has_no_value_of() -> None:
    """Scores of a sample are those of a full matrix whose other pairs are seen."""
    full, rng = noise(12, 12), np.random.default_rng(1)
    chosen = np.array(
        [np.sort([(n + step) % 12 for step in (0, *rng.permutation(np.arange(1, 12))[:6])]) for n in range(12)]
    )
    left_out = np.ones(full.shape, np.bool_)
    np.put_along_axis(left_out, chosen, False, axis=1)
    values = np.take_along_axis(full, chosen, 1)
    sampled = Matrix(values, np.zeros(values.shape, np.bool_), chosen.astype(np.int32))
    (scores,) = relative_scores(Side(sampled, own(12), frozenset()))
    np.testing.assert_allclose(scores, relative_scores(side(full, left_out))[0], rtol=1e-5)


def two_genres(problems: int, seed: int) -> tuple[Table, np.ndarray]:
    """A corpus in which one author's texts are of different genres and different authors' of the same; and the truth.

    Texts of one genre are easier for each other by much more than those of one author.
    """
    rng = np.random.default_rng(seed)
    same = np.arange(problems) % 2 == 0
    heads = rng.integers(0, 2, problems)
    documents = np.where(same, 1 - heads, heads)
    values = (
        rng.normal(0, 0.1, (problems, problems)) - 0.5 * (documents[:, None] == heads) + rng.normal(3, 1, (problems, 1))
    )
    values[range(problems), range(problems)] -= 0.2 * same
    return values, same


def test_matched_a_difference_of_genre_is_not_taken_for_one_of_author() -> None:
    areas = []
    for seed in range(5):
        values, same = two_genres(40, seed)
        areas.append([auc(same.tolist(), way.tolist()) for way in relative_scores(side(values))])
    plain, *matched = np.mean(areas, axis=0)
    assert plain < 0.1  # genre decides, and is against the truth
    assert min(matched) > 0.8


def test_without_genres_matching_costs_little() -> None:
    areas = []
    for seed in range(5):
        values, same = np.random.default_rng(seed).normal(0, 0.1, (40, 40)), np.arange(40) % 2 == 0
        values[range(40), range(40)] -= 0.2 * same
        areas.append([auc(same.tolist(), way.tolist()) for way in relative_scores(side(values))])
    plain, *matched = np.mean(areas, axis=0)
    assert min(matched) > plain - 0.03


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("value", [0.0, 0.1, 2.3, 1e5])
def test_a_constant_matrix_prefers_nothing(value: float, seen: bool) -> None:
    learned = np.roll(np.eye(7, dtype=np.bool_), 1, axis=1) & seen
    np.testing.assert_array_equal(relative_scores(side(np.full((7, 7), value), learned)), 0)
    order = np.array([np.random.default_rng(n).permutation(7) for n in range(7)], np.int32)
    sampled = Matrix(np.full((7, 7), value), np.take_along_axis(learned, order, 1), order)
    np.testing.assert_array_equal(relative_scores(Side(sampled, own(7), frozenset())), 0)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2)])
def test_where_nothing_is_left_to_compare_with_scores_are_still_numbers(shape: tuple[int, int]) -> None:
    for seen in (np.zeros(shape, np.bool_), np.ones(shape, np.bool_)):
        assert np.isfinite(relative_scores(side(noise(*shape), seen, own(min(shape))))).all()


def test_without_questions_there_are_no_scores() -> None:
    assert relative_scores(side(noise(), questions=())).shape == (len(NORMS), 0)


def test_in_a_sampled_matrix_asked_values_are_found_where_their_heads_are() -> None:
    heads = np.array([[0, 5, 7], [1, 2, 6], [0, 2, 9], [3, 4, 8]], np.int32)
    questions = (Question(0, 5, 0), Question(1, 9, 2), Question(2, 3, 3))
    sampled = Side(Matrix(noise(4, 3), np.zeros((4, 3), np.bool_), heads), questions, frozenset())
    np.testing.assert_array_equal(asked_positions(sampled), [[0, 2, 3], [1, 2, 0]])


def test_tables_hold_the_scores_of_asked_pairs() -> None:
    full, order = noise(), np.tile(np.arange(8, dtype=np.int32)[::-1], (8, 1))
    turned = Matrix(full[:, ::-1], np.zeros((8, 8), np.bool_), order)
    for one in (side(full), Side(turned, own(8), frozenset())):
        tables = relative_tables(one)
        np.testing.assert_allclose([table[asked_positions(one)] for table in tables], relative_scores(one))


class TestPartScores:
    def test_they_are_the_scores_without_each_part(self) -> None:
        values, parts = noise(), np.array([noise(seed=part) for part in range(1, PARTS + 1)])
        whole = Side(Matrix(values, np.zeros(values.shape, np.bool_), parts=parts), own(8), frozenset())
        kept = parts.astype(np.float32).astype(np.float64)
        np.testing.assert_array_equal(part_scores(whole), [relative_scores(side(each)) for each in kept])

    def test_there_are_none_where_parts_are_not_scored(self) -> None:
        assert part_scores(side(noise())) is None
