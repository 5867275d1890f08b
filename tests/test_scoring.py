from __future__ import annotations

import numpy as np

from byline.alphabet import Alphabet
from byline.engines import rnn
from byline.network import start_weights
from byline.questions import Questions
from byline.scoring import Matrix, gather, relative_entropies
from byline.settings import Settings
from byline.training import Model


def lay_out() -> Questions:
    rng = np.random.default_rng(0)
    texts = tuple(rng.integers(0, 3, length).astype(np.int32) for length in (30, 40, 50))
    return Questions(Alphabet("abc"), texts, ((0,), (1,)), ((1,), (0, 2)), (), control=(texts[0],))


def test_a_documents_bits_are_those_of_its_texts_over_their_characters() -> None:
    bits = np.array([[10.0, 20, 99], [30, 40, 99], [50, 60, 99]])
    matrix = gather(lay_out(), bits, np.array([20, 30, 40]))
    np.testing.assert_allclose(matrix.values, [[30 / 30, 40 / 30], [60 / 60, 80 / 60]])  # control is left out
    np.testing.assert_array_equal(matrix.seen, [[False, True], [True, False]])


def test_a_models_matrix_is_in_bits_per_character_from_the_eleventh_on() -> None:
    questions = lay_out()
    weights = start_weights(3, 3, 0, "zero", np.random.default_rng(0))
    matrix = rnn.score(Model(weights, Settings(hidden=0), ()), questions)
    np.testing.assert_allclose(matrix.values, np.log2(3), rtol=1e-6)  # all symbols equally likely


def test_backward_scores_the_reversed_text() -> None:
    questions = lay_out()
    weights = start_weights(3, 3, 8, "gaussian", np.random.default_rng(0))
    weights.heads[:] = np.random.default_rng(1).normal(0, 1, weights.heads.shape)
    backward = rnn.score(Model(weights, Settings(hidden=8, direction="backward"), ()), questions)
    turned = Questions(
        questions.alphabet,
        tuple(text[::-1].copy() for text in questions.texts),
        questions.heads,
        questions.documents,
        (),
        questions.control,
    )
    forward = rnn.score(Model(weights, Settings(hidden=8), ()), turned)
    np.testing.assert_array_equal(backward.values, forward.values)
    plain = rnn.score(Model(weights, Settings(hidden=8), ()), questions)
    assert not np.allclose(backward.values, plain.values)


def test_relative_entropies_have_mean_zero_by_document_and_unit_spread_by_head() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(2, 0.3, (8, 6)) * np.arange(1, 7)
    matrix = Matrix(values, np.zeros((8, 6), np.bool_))
    relative = relative_entropies(matrix)
    np.testing.assert_allclose(relative.std(axis=0), 1)
    centred = relative * (values - values.mean(axis=1, keepdims=True)).std(axis=0)
    np.testing.assert_allclose(centred.mean(axis=1), 0, atol=1e-12)


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


def test_relative_entropies_are_centred_by_document_and_scaled_by_head() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(3, 1, (6, 5))
    seen = rng.random((6, 5)) < 0.2
    centred = np.where(seen, np.nan, values)
    centred = centred - np.nanmean(centred, axis=1, keepdims=True)
    np.testing.assert_allclose(relative_entropies(Matrix(values, seen)), centred / np.nanstd(centred, axis=0))
