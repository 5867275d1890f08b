"""What varies within authors is discounted: by hand, by the formula, and fairly for the authors it was learned from."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.corpora.reference import Reference, ReferenceText
from byline.engines import within_author
from byline.engines.frequencies import fill_matrix
from byline.engines.matrix import Side
from byline.engines.reference_questions import prepare_reference
from byline.engines.within_author import WithinAuthorNorm, cosines
from byline.judgment.reference_scores import ReferenceScores, score_beside_reference
from byline.settings.settings import Settings

ALL = np.array([0])
NOBODY = frozenset[int]()


def test_the_first_direction_loses_its_share_by_hand() -> None:
    """Passages differ by a variance of 4 along the first axis and of 1 along the second, which is kept.

    So products lose 4 / (4 + 1) of what they have along the first axis: that of (1, 1) and (1, -1) is -4/5 instead of
    0, and the square of both lengths 6/5.
    """
    norm = WithinAuthorNorm(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([0, 1]), [NOBODY])
    one, other = norm.measure(np.array([[1.0, 1.0]])), norm.measure(np.array([[1.0, -1.0]]))
    np.testing.assert_allclose(cosines(one, other, ALL), [[-4 / 6]])
    np.testing.assert_allclose(one.lengths[:, 0], np.sqrt([6 / 5]))


def test_nothing_is_learned_from_authors_who_are_left_out() -> None:
    """Without the first author's passages, the second author's differ along the second and the third axis."""
    distances = np.array([[3.0, 0, 0], [0, 2, 0], [0, 0, 1]])
    norm = WithinAuthorNorm(distances, np.array([7, 1, 1]), [NOBODY, frozenset({7, 8})])
    rows, columns = norm.measure(np.ones((1, 3))), norm.measure(np.array([[1.0, 1, 0]]))
    lost = 4 / (4 + 1)  # along the second axis
    expected = (2 - lost) / np.sqrt((3 - lost) * (2 - lost))
    np.testing.assert_allclose(cosines(rows, columns, np.array([1])), [[expected]])


def test_products_are_those_of_the_formula(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(within_author, "MOST_DIRECTIONS", 3)
    rng = np.random.default_rng(0)
    distances, vectors = rng.normal(size=(12, 30)), rng.normal(size=(5, 30))
    norm = WithinAuthorNorm(distances, np.zeros(12, np.int64), [NOBODY])
    _, sizes, axes = np.linalg.svd(distances)
    shares = sizes[:3] ** 2 / (sizes[:3] ** 2 + sizes[3] ** 2)
    matrix = np.eye(30) - (axes[:3].T * shares) @ axes[:3]
    products = vectors @ matrix @ vectors.T
    lengths = np.sqrt(products.diagonal())
    found = norm.measure(vectors)
    np.testing.assert_allclose(cosines(found, found, np.zeros(5, np.int64)), products / np.outer(lengths, lengths))
    np.testing.assert_allclose(norm.discount(vectors[0]) @ vectors[1], products[0, 1])


def test_without_passages_vectors_have_their_plain_cosine() -> None:
    norm = WithinAuthorNorm(np.zeros((0, 2)), np.zeros(0, np.int64), [NOBODY])
    one, other = norm.measure(np.array([[1.0, 1.0]])), norm.measure(np.array([[1.0, 0.0], [0.0, 0.0]]))
    np.testing.assert_allclose(cosines(one, other, np.zeros(2, np.int64)), [[np.sqrt(1 / 2), 0]])


@pytest.mark.parametrize("count", [1, 7, 100])
def test_a_vector_is_measured_alike_to_the_last_digit_among_any_others(count: int) -> None:
    rng = np.random.default_rng(1)
    norm = WithinAuthorNorm(rng.normal(size=(90, 700)), np.arange(90), [NOBODY, frozenset({3, 5})])
    vectors = rng.normal(size=(count, 700))
    together, alone = norm.measure(vectors), norm.measure(vectors[-1:])
    np.testing.assert_array_equal(together.along[-1], alone.along[0])
    np.testing.assert_array_equal(together.lengths[-1], alone.lengths[0])


def chance_text(rng: random.Random, words: int = 400) -> Document:
    """A text of words by chance: no text is more like another than any other is."""
    usual = [f"{one}{two}{three}" for one in "bdfgkl" for two in "aeiou" for three in "nrst"]
    content = " ".join(rng.choice(usual) for _ in range(words))
    return Document(content[:20], content)


def score(problem: Problem, texts: Sequence[ReferenceText]) -> ReferenceScores:
    """The scores of a problem by the engine `characters`, beside a reference."""
    settings = Settings(engine="characters")
    prepared = prepare_reference([problem], settings, Reference("english", tuple(texts)))
    sides = [Side.of(fill_matrix(side, settings, np.random.default_rng(0)).matrix, side) for side in prepared.sides]
    return score_beside_reference(sides, 1)


def test_the_cases_of_a_reference_do_not_gain_from_what_its_own_passages_taught() -> None:
    """The halves of a text are no more alike than other texts are."""
    rng = random.Random(0)
    problem = Problem("EN001", (chance_text(rng),), chance_text(rng), "english")
    (cases,) = score(problem, [ReferenceText(chance_text(rng), f"person {number}") for number in range(40)]).groups
    assert cases.same.sum() == 40
    assert abs(cases.scores[cases.same].mean()) < 0.5


@pytest.mark.parametrize("names", [("writer", "writer"), ("writer", "another")])
def test_a_problem_does_not_gain_from_its_own_texts_in_the_reference(names: tuple[str, str]) -> None:
    """Filed under one name, they would teach that whatever they differ in does not matter."""
    rng = random.Random(1)
    known, unknown = chance_text(rng), chance_text(rng)
    others = [ReferenceText(chance_text(rng), f"person {number}") for number in range(40)]
    own = [ReferenceText(text, name) for text, name in zip((known, unknown), names, strict=True)]
    problem = Problem("EN001", (known,), unknown, "english")
    without, with_own = (score(problem, texts).scores.item() for texts in (others, [*others, *own]))
    assert abs(with_own - without) < 1
