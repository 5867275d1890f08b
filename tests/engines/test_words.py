"""Cosine Delta over words: by hand, by its definition, and beside other texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from byline.engines import words
from byline.engines.matrix import PARTS, Matrix
from byline.engines.protocol import Runtime
from byline.engines.questions import Questions
from byline.settings.settings import Settings
from byline.text.tokens import split_tokens
from token_questions import ask_words, made_up

WORDS = Settings(engine="words")


def fill(questions: Questions, settings: Settings = WORDS) -> Matrix:
    return words.fill_matrix(questions, settings, np.random.default_rng(0)).matrix


def grams(tokens: Sequence[str], order: int) -> Counter[str]:
    return Counter(" ".join(tokens[at : at + k]) for k in range(1, order + 1) for at in range(len(tokens) - k + 1))


class Definition:
    """Burrows's z-scores and their cosine, set by set, in plain Python."""

    def __init__(self, texts: Sequence[str], background: Sequence[int], sets: Sequence[tuple[int, ...]], order: int):
        self.tokens, self.order = [split_tokens(text) for text in texts], order
        counts = [grams(self.tokens[text], order) for text in background]
        having = Counter(gram for each in counts for gram in each)
        often = sum(counts, Counter[str]())
        self.features = sorted(having, key=lambda gram: (-having[gram], -often[gram], gram))[: words.FEATURES[order]]
        rows = np.array([self.frequencies(each) for each in sets])
        chance = np.mean([1 / sum(len(self.tokens[text]) for text in each) for each in sets])
        self.mean = rows.mean(axis=0)
        self.deviation = np.maximum(rows.std(axis=0), words.LEAST_DEVIATION * np.sqrt(self.mean * chance))

    def frequencies(self, texts: tuple[int, ...]) -> list[float]:
        counts = sum((grams(self.tokens[text], self.order) for text in texts), Counter[str]())
        return [counts[gram] / sum(len(self.tokens[text]) for text in texts) for gram in self.features]

    def value(self, document: tuple[int, ...], head: tuple[int, ...]) -> float:
        one, two = ((np.array(self.frequencies(each)) - self.mean) / self.deviation for each in (document, head))
        return float(1 - one @ two / math.sqrt((one @ one) * (two @ two)))


def test_a_matrix_by_hand() -> None:
    """The heads have a in 3/4 and 1/4 of their words, b the other way round: mean 1/2, deviation 1/4 for both.

    So z is (1, -1) and (-1, 1). Of the document, all a, it is (2, -2): like the first, opposite to the second.
    """
    matrix = fill(ask_words(["a a a b", "b a b b", "a a"], [(0,), (1,)], [(2,)]))
    np.testing.assert_allclose(matrix.values, [[0, 2]], atol=1e-12)
    assert matrix.unit == words.UNIT


@pytest.mark.parametrize("document", ["a a", "a a a b", "a a a a a b b b"])
def test_only_the_profile_of_deviations_counts_and_not_their_extent(document: str) -> None:
    """The property by which Evert and others (2017) explain why Cosine Delta does better than Burrows's Delta."""
    matrix = fill(ask_words(["a a a b", "b a b b", document], [(0,), (1,)], [(2,)]))
    np.testing.assert_allclose(matrix.values, [[0, 2]], atol=1e-12)


def test_a_feature_without_deviation_has_half_of_that_of_chance() -> None:
    """Half of both heads' two words are a, whose deviation by chance is sqrt(1/2 / 2) = 1/2. Those of b and c are 1/4.

    So z of the heads is (0, 1, -1) and (0, -1, 1), and that of the document (1, 0, -1).
    """
    matrix = fill(ask_words(["a b", "a c", "a a a b"], [(0,), (1,)], [(2,)]))
    np.testing.assert_allclose(matrix.values, [[1 - 1 / 2, 1 + 1 / 2]])


def test_a_head_that_is_like_the_mean_says_nothing() -> None:
    matrix = fill(ask_words(["a b c", "c b a", "a a b"], [(0,), (1,)], [(2,)]))
    np.testing.assert_array_equal(matrix.values, [[1, 1]])


@pytest.mark.parametrize("order", [1, 2, 3])
def test_values_are_those_of_the_definition(order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(words.FEATURES, order, 25)
    texts, heads, documents = made_up(9), [(0,), (1, 2), (3,), (4, 5)], [(6,), (7, 8), (1,)]
    definition = Definition(texts, range(6), [*heads, (1,)], order)
    matrix = fill(ask_words(texts, heads, documents), WORDS.change({"word_order": order}))
    wanted = [[definition.value(document, head) for head in heads] for document in documents]
    np.testing.assert_allclose(matrix.values, wanted, rtol=1e-9)
    np.testing.assert_array_equal(matrix.excluded, [[False] * 4, [False] * 4, [False, True, False, False]])


def test_only_the_reference_says_which_features_count_and_how_they_deviate() -> None:
    texts = made_up(8)
    heads, documents = [(0,), (3,), (4,), (5, 6)], [(1, 2), (3,), (4,), (7,)]
    definition = Definition(texts, [3, 4, 5, 6, 7], [(3,), (4,), (5, 6), (7,)], 1)
    matrix = fill(ask_words(texts, heads, documents, reference=3))
    assert matrix.values[0] == pytest.approx([definition.value((1, 2), head) for head in heads])


def test_beside_a_reference_a_value_does_not_depend_on_what_else_is_asked() -> None:
    texts, reference = made_up(12), [(n,) for n in range(6)]
    alone = fill(ask_words(texts[:8], [(6,), *reference], [(7,), *reference], reference=6))
    heads, documents = [(10, 11), (6,), (1, 2), *reference], [(3,), (7,), (8, 9), *reference]
    beside = fill(ask_words(texts, heads, documents, reference=6))
    np.testing.assert_array_equal(beside.values[1, [1, *range(3, 9)]], alone.values[0])
    assert beside.parts is not None
    assert alone.parts is not None
    np.testing.assert_array_equal(beside.parts[:, 1, [1, *range(3, 9)]], alone.parts[:, 0])


def test_order_of_texts_changes_nothing() -> None:
    texts = made_up(8)
    order = [5, 2, 7, 0, 4, 1, 6, 3]
    place = {text: number for number, text in enumerate(order)}
    sets = [(0,), (1, 2), (3,)], [(4,), (5, 6), (7,)]
    moved = ([tuple(sorted(place[text] for text in each)) for each in row] for row in sets)
    one, two = fill(ask_words(texts, *sets)), fill(ask_words([texts[n] for n in order], *moved))
    np.testing.assert_allclose(two.values, one.values, rtol=1e-12)


def test_parts_are_the_values_without_a_fifth_of_the_document() -> None:
    texts = made_up(4)
    matrix = fill(ask_words(texts, [(0,), (1,), (2,)], [(3,)]))
    assert matrix.parts is not None
    for part in range(PARTS):
        tokens = split_tokens(texts[3])
        ends = [n * len(tokens) // PARTS for n in range(PARTS + 1)]
        left = " ".join([*tokens[: ends[part]], *tokens[ends[part + 1] :]])
        wanted = fill(ask_words([*texts[:3], left], [(0,), (1,), (2,)], [(3,)])).values
        np.testing.assert_allclose(matrix.parts[part], wanted, rtol=1e-6)


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("odd", ["a", "of", "aaa", "寒山道", "...", "777", " ", "", "\u00b9"])
def test_odd_texts_have_values_too(odd: str, order: int) -> None:
    settings = WORDS.change({"word_order": order})
    for texts in ([odd, *made_up(4)], [odd] * 5):
        for heads, documents in (([(0,), (1,)], [(2,), (3,)]), ([(1,), (2,)], [(0,), (3, 4)])):
            matrix = fill(ask_words(texts, heads, documents), settings)
            assert matrix.parts is not None
            for values in (matrix.values, matrix.parts):
                assert ((values >= -1e-9) & (values <= 2 + 1e-9)).all()


def test_features_of_the_document_that_speak_for_the_head_are_named() -> None:
    texts = ["of of of the", "the the a a", "a of the a", "of of the it"]
    questions = ask_words(texts, [(0,), (1,), (2,)], [(3,)])
    filled = words.fill_matrix(questions, WORDS, np.random.default_rng(0), Runtime(evidence=True))
    named = dict(filled.features[0])
    assert named.keys() == {"of", "the"}  # no head has it, and the document no a
    assert named["of"] > 0
    assert max(filled.features[0], key=lambda feature: feature.weight).name == "of"
    everybody_excluded = replace(questions, excluded_pairs=frozenset((0, head) for head in range(3)))
    found = words.fill_matrix(everybody_excluded, WORDS, np.random.default_rng(0), Runtime(evidence=True))
    assert found.features == ((),)
