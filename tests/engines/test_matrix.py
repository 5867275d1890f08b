from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from byline.engines.matrix import (
    PARTS,
    Matrix,
    heads_by_text,
    matrix_from_bits,
    part_ends,
    relative_entropies,
    sample_heads,
)
from byline.engines.questions import ControlTexts, Question, Questions
from byline.engines.rnn import engine as rnn
from byline.engines.rnn.network import start_weights
from byline.engines.rnn.training import Model
from byline.judgment.score_normalization import rank_among_heads, rank_among_texts
from byline.settings.settings import Settings
from byline.text.encoder import Alphabet


def lay_out() -> Questions:
    rng = np.random.default_rng(0)
    texts = tuple(rng.integers(0, 3, length).astype(np.int32) for length in (30, 40, 50))
    return Questions(Alphabet("abc"), texts, ((0,), (1,)), ((1,), (0, 2)), (), control=ControlTexts((texts[0],)))


def every_head(questions: Questions) -> np.ndarray:
    return sample_heads(questions, len(questions.heads), np.random.default_rng(0))


TOTALS = ((0, 10.0, 20.0), (1, 30.0, 40.0), (2, 50.0, 60.0))
"""Bits of each text under both heads."""


def test_a_documents_bits_are_those_of_its_texts_over_their_characters() -> None:
    questions = lay_out()
    chosen = every_head(questions)
    bits = {text: np.tile([first / PARTS, second / PARTS], (PARTS, 1)) for text, first, second in TOTALS}
    bits[1][0] += 6  # the second text's first fifth is harder for both heads
    matrix = matrix_from_bits(questions, chosen, heads_by_text(questions, chosen), bits, [20, 30, 40])
    np.testing.assert_allclose(matrix.values, [[36 / 30, 46 / 30], [60 / 60, 80 / 60]])
    np.testing.assert_array_equal(matrix.excluded, [[False, True], [True, False]])
    assert matrix.parts is not None
    np.testing.assert_allclose(matrix.parts[0], [[24 / 24, 32 / 24], [48 / 48, 64 / 48]], rtol=1e-6)
    np.testing.assert_allclose(matrix.parts[1:, 0], np.tile([30 / 24, 38 / 24], (PARTS - 1, 1)), rtol=1e-6)


def test_the_parts_of_a_text_are_fifths_and_the_last_ends_with_it() -> None:
    np.testing.assert_array_equal(part_ends(30), [6, 12, 18, 24, 30])
    np.testing.assert_array_equal(part_ends(7), [1, 2, 4, 5, 7])
    np.testing.assert_array_equal(part_ends(2), [0, 0, 1, 1, 2])


def test_a_models_matrix_is_in_bits_per_character_from_the_eleventh_on() -> None:
    questions = lay_out()
    weights = start_weights(3, 3, 0, "zero", np.random.default_rng(0))
    matrix = rnn.score(Model(weights, Settings(hidden=0), ()), questions, every_head(questions))
    np.testing.assert_allclose(matrix.values, np.log2(3), rtol=1e-6)  # all symbols equally likely


def test_backward_scores_the_reversed_text() -> None:
    questions = lay_out()
    weights = start_weights(3, 3, 8, "gaussian", np.random.default_rng(0))
    weights.heads[:] = np.random.default_rng(1).normal(0, 1, weights.heads.shape)
    backward = rnn.score(Model(weights, Settings(hidden=8, direction="backward"), ()), questions, every_head(questions))
    turned = dataclasses.replace(questions, texts=tuple(text[::-1].copy() for text in questions.texts))
    forward = rnn.score(Model(weights, Settings(hidden=8), ()), turned, every_head(turned))
    np.testing.assert_allclose(backward.values, forward.values)
    plain = rnn.score(Model(weights, Settings(hidden=8), ()), questions, every_head(questions))
    assert not np.allclose(backward.values, plain.values)


def test_heads_trained_on_a_document_count_for_nothing_in_its_row() -> None:
    values = np.array([[1.0, 2, 3], [2, 3, 1], [3, 1, 2]])
    seen = np.eye(3, dtype=np.bool_)
    changed = np.where(seen, -1000.0, values)
    one, two = relative_entropies(Matrix(values, seen)), relative_entropies(Matrix(changed, seen))
    np.testing.assert_array_equal(one, two)
    assert np.isnan(one[seen]).all()


def test_heads_that_agree_exactly_are_not_told_apart_by_rounding() -> None:
    """The mean of equal numbers is off by the last bit for some counts; that must not be scaled up."""
    values = np.array([[0.1 * row] * 7 for row in range(1, 9)])
    relative = relative_entropies(Matrix(values, np.zeros(values.shape, np.bool_)))
    np.testing.assert_array_equal(relative, 0)


def test_a_document_that_all_heads_were_trained_on_has_no_values_and_gives_no_warning() -> None:
    seen = np.zeros((3, 4), np.bool_)
    seen[1] = True
    relative = relative_entropies(Matrix(np.arange(12.0).reshape(3, 4) ** 2, seen))
    assert np.isnan(relative[1]).all()
    assert np.isfinite(relative[[0, 2]]).all()


def test_relative_entropies_are_centered_by_document_and_scaled_by_head() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(3, 1, (6, 5))
    seen = rng.random((6, 5)) < 0.2
    centered = np.where(seen, np.nan, values)
    centered = centered - np.nanmean(centered, axis=1, keepdims=True)
    np.testing.assert_allclose(relative_entropies(Matrix(values, seen)), centered / np.nanstd(centered, axis=0))


def many(documents: int, heads: int) -> Questions:
    """As many texts as documents and heads, each document asked about under the head of the same place."""
    texts = tuple(np.random.default_rng(n).integers(0, 3, 30).astype(np.int32) for n in range(documents + heads))
    return Questions(
        Alphabet("abc"),
        texts,
        tuple((n,) for n in range(heads)),
        tuple((heads + n,) for n in range(documents)),
        tuple(Question(n, n % heads, n) for n in range(documents)),
    )


@pytest.mark.parametrize(("documents", "heads"), [(40, 40), (25, 40), (60, 40), (7, 40)])
def test_a_sample_holds_the_own_head_no_head_twice_and_asks_all_heads_equally(documents: int, heads: int) -> None:
    questions = many(documents, heads)
    chosen = sample_heads(questions, 10, np.random.default_rng(0))
    assert all(len(set(row)) == len(row) >= 10 for row in chosen)
    for question in questions.questions:
        assert question.head in chosen[question.document]
    asked = np.bincount(chosen.ravel(), minlength=heads)
    assert asked.min() >= min(10, documents) - 3
    assert asked.max() - asked.min() <= 5 + documents // heads
    assert chosen.shape[1] * documents <= 10 * max(documents, heads) + documents


def test_a_sample_is_the_seeds_and_differs_between_seeds() -> None:
    questions = many(40, 40)
    first, again, other = (sample_heads(questions, 12, np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_a_document_asked_under_more_heads_than_are_compared_keeps_them_all() -> None:
    questions = many(30, 30)
    every = dataclasses.replace(questions, questions=tuple(Question(n, n, 0) for n in range(30) if n % 2))
    assert sample_heads(every, 10, np.random.default_rng(0)).shape == (30, 15)


def test_sampled_values_are_those_of_the_full_matrix() -> None:
    questions = many(40, 40)
    weights = start_weights(41, 3, 6, "gaussian", np.random.default_rng(0))
    weights.heads[:] = np.random.default_rng(1).normal(0, 1, weights.heads.shape)
    model = Model(weights, Settings(hidden=6), ())
    chosen = sample_heads(questions, 12, np.random.default_rng(0))
    full, sampled = (rnn.score(model, questions, heads) for heads in (every_head(questions), chosen))
    np.testing.assert_allclose(sampled.values, np.take_along_axis(full.values, chosen, axis=1), rtol=1e-6)


@pytest.mark.parametrize("rank", [rank_among_texts, rank_among_heads])
def test_heads_in_any_order_give_the_same_ranks(rank) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    values, seen = rng.normal(3, 1, (9, 7)), rng.random((9, 7)) < 0.1
    questions = [Question(n, n % 7, n) for n in range(9) if not seen[n, n % 7]]
    order = np.array([rng.permutation(7) for _ in range(9)], np.int32)
    shuffled = Matrix(np.take_along_axis(values, order, 1), np.take_along_axis(seen, order, 1), order)
    np.testing.assert_allclose(rank(shuffled, questions), rank(Matrix(values, seen), questions))


def test_parts_that_do_not_fit_the_values_are_refused() -> None:
    values, seen = np.zeros((2, 3)), np.zeros((2, 3), np.bool_)
    with pytest.raises(ValueError, match=r"\(5, 3, 2\) parts don't fit \(2, 3\) values"):
        Matrix(values, seen, parts=np.zeros((5, 3, 2)))
