"""What varies within authors is discounted: by hand, by the formula, and fairly for the authors it was learned from."""

from __future__ import annotations

import random

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.corpora.reference import Reference, ReferenceText
from byline.engines import within_author
from byline.engines.frequencies import fill_matrix
from byline.engines.matrix import Side
from byline.engines.reference_questions import prepare_reference
from byline.engines.within_author import FOLDS, WITHOUT_NONE, WithinAuthorNorm, cosines, fold_of
from byline.judgment.reference_scores import score_beside_reference
from byline.settings.settings import Settings

ALL = np.array([WITHOUT_NONE])


def test_the_first_direction_loses_its_share_by_hand() -> None:
    """Passages differ by a variance of 4 along the first axis and of 1 along the second, which is kept.

    So products lose 4 / (4 + 1) of what they have along the first axis: that of (1, 1) and (1, -1) is -4/5 instead of
    0, and the square of both lengths 6/5.
    """
    norm = WithinAuthorNorm(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([0, 1]))
    one, other = norm.measure(np.array([[1.0, 1.0]])), norm.measure(np.array([[1.0, -1.0]]))
    np.testing.assert_allclose(cosines(one, other, ALL), [[-4 / 6]])
    np.testing.assert_allclose(one.lengths[:, WITHOUT_NONE], np.sqrt([6 / 5]))


def test_what_a_fold_teaches_is_not_used_without_it() -> None:
    """Without the first author's passages, the second author's differ along the second and the third axis."""
    distances = np.array([[3.0, 0, 0], [0, 2, 0], [0, 0, 1]])
    norm = WithinAuthorNorm(distances, np.array([fold_of(FOLDS), 1, 1]))
    rows, columns = norm.measure(np.ones((1, 3))), norm.measure(np.array([[1.0, 1, 0]]))
    lost = 4 / (4 + 1)  # along the second axis
    expected = (2 - lost) / np.sqrt((3 - lost) * (2 - lost))
    np.testing.assert_allclose(cosines(rows, columns, np.array([fold_of(0)])), [[expected]])


def test_products_are_those_of_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(within_author, "MOST_DIRECTIONS", 3)
    rng = np.random.default_rng(0)
    distances, vectors = rng.normal(size=(12, 30)), rng.normal(size=(5, 30))
    norm = WithinAuthorNorm(distances, np.zeros(12, np.int64))
    _, sizes, axes = np.linalg.svd(distances)
    shares = sizes[:3] ** 2 / (sizes[:3] ** 2 + sizes[3] ** 2)
    matrix = np.eye(30) - (axes[:3].T * shares) @ axes[:3]
    products = vectors @ matrix @ vectors.T
    lengths = np.sqrt(products.diagonal())
    found = norm.measure(vectors)
    np.testing.assert_allclose(cosines(found, found, np.full(5, WITHOUT_NONE)), products / np.outer(lengths, lengths))
    np.testing.assert_allclose(norm.discount(vectors[0]) @ vectors[1], products[0, 1])


def test_without_passages_vectors_have_their_plain_cosine() -> None:
    norm = WithinAuthorNorm(np.zeros((0, 2)), np.zeros(0, np.int64))
    one, other = norm.measure(np.array([[1.0, 1.0]])), norm.measure(np.array([[1.0, 0.0], [0.0, 0.0]]))
    np.testing.assert_allclose(cosines(one, other, np.full(2, WITHOUT_NONE)), [[np.sqrt(1 / 2), 0]])


@pytest.mark.parametrize("count", [1, 7, 100])
def test_a_vector_is_measured_alike_to_the_last_digit_among_any_others(count: int) -> None:
    rng = np.random.default_rng(1)
    norm = WithinAuthorNorm(rng.normal(size=(90, 700)), np.arange(90) % FOLDS)
    vectors = rng.normal(size=(count, 700))
    together, alone = norm.measure(vectors), norm.measure(vectors[-1:])
    np.testing.assert_array_equal(together.along[-1], alone.along[0])
    np.testing.assert_array_equal(together.lengths[-1], alone.lengths[0])


def test_the_cases_of_a_reference_do_not_gain_from_what_its_own_passages_taught() -> None:
    """All texts are of words by chance, so the halves of a text are no more alike than other texts are."""
    rng = random.Random(0)
    words = [f"{one}{two}{three}" for one in "bdfgkl" for two in "aeiou" for three in "nrst"]

    def text() -> Document:
        content = " ".join(rng.choice(words) for _ in range(400))
        return Document(content[:20], content)

    reference = Reference("english", tuple(ReferenceText(text(), f"person {number}") for number in range(40)))
    prepared = prepare_reference(
        [Problem("EN001", (text(),), text(), "english")], Settings(engine="characters"), reference
    )
    sides = [
        Side.of(fill_matrix(side, Settings(engine="characters"), np.random.default_rng(0)).matrix, side)
        for side in prepared.sides
    ]
    (cases,) = score_beside_reference(sides, 1).groups
    assert cases.same.sum() == 40
    assert abs(cases.scores[cases.same].mean()) < 0.5
