"""The engine of LambdaG's models: by hand, by its definition, and beside other texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from byline.engines.grammar import engine as grammar
from byline.engines.grammar.model import KneserNey, WittenBell, surprisal
from byline.engines.matrix import PARTS, Matrix, part_ends
from byline.engines.protocol import Runtime
from byline.engines.questions import Questions
from byline.settings.settings import Settings
from byline.text.tokens import split_sentences
from token_questions import ask_words, made_up

GRAMMAR = Settings(engine="grammar")


def fill(questions: Questions, settings: Settings = GRAMMAR, runtime: Runtime = Runtime()) -> Matrix:  # noqa: B008
    return grammar.fill_matrix(questions, settings, np.random.default_rng(0), runtime).matrix


def define(
    texts: Sequence[str], background: Sequence[int], head: tuple[int, ...], document: tuple[int, ...], order: int
) -> tuple[float, list[float]]:
    """Return the mean bits of a document's tokens under a head, and those without each part."""
    known = {token for text in background for sentence in split_sentences(texts[text]) for token in sentence}
    parsed = [
        [[token if token in known else "<unknown>" for token in sentence] for sentence in split_sentences(text) or [[]]]
        for text in texts
    ]
    model = KneserNey([sentence for text in head for sentence in parsed[text]], order)
    costs, parts = [], []
    for text in document:
        others = [sentence for other in background if other != text for sentence in parsed[other]]
        costs.append(surprisal(model, WittenBell(others, len(known) + 2), parsed[text]))
        parts.append(np.split(costs[-1], part_ends(len(costs[-1]))[:-1]))
    whole = np.concatenate(costs).mean()
    left = [
        np.concatenate([each for text in parts for n, each in enumerate(text) if n != part]) for part in range(PARTS)
    ]
    return float(whole), [float(each.mean()) if len(each) else float(whole) for each in left]


def test_a_matrix_by_hand() -> None:
    """The background is that of the head, "a b": each of a, b and the end mark once; the vocabulary is 4 with unknown.

    In it a has (1 + 3/4) / 6 = 7/24, the same for b and the end; after the begin mark, one kind, a has
    (1 + 7/24) / 2 = 31/48. With pairs of tokens at the most, the head then gives a, of the document "a":
    first among single tokens (1/4 + 9/4 x 31/48) / 3, and after the begin mark 1/4 + 3/4 of that.
    The end never followed a, nor a at the beginning: its background is half of half of 7/24. Among single tokens it has
    (1/4 + 9/4 x 7/96) / 3, of which 3/4 are left, since b followed a once.
    """
    matrix = fill(ask_words(["a b", "a"], [(0,)], [(1,)]), GRAMMAR.change({"grammar_order": 2}))
    first = 1 / 4 + 3 / 4 * (1 / 4 + 9 / 4 * 31 / 48) / 3
    end = 3 / 4 * (1 / 4 + 9 / 4 * 7 / 96) / 3
    np.testing.assert_allclose(matrix.values, [[-np.log2(first * end) / 2]])
    assert matrix.unit == "bits per token"


@pytest.mark.parametrize("order", [1, 2, 8])
def test_values_and_parts_are_those_of_the_definition(order: int) -> None:
    texts, heads, documents = made_up(8), [(0,), (1, 2), (3,)], [(4,), (5, 6), (1,), (7,)]
    matrix = fill(ask_words(texts, heads, documents), GRAMMAR.change({"grammar_order": order}))
    wanted = [[define(texts, range(4), head, document, order) for head in heads] for document in documents]
    assert matrix.parts is not None
    np.testing.assert_allclose(matrix.values, [[value for value, _ in row] for row in wanted], rtol=1e-9)
    np.testing.assert_allclose(
        matrix.parts.transpose(1, 2, 0), [[left for _, left in row] for row in wanted], rtol=1e-6
    )
    np.testing.assert_array_equal(matrix.excluded, [[False] * 3, [False] * 3, [False, True, False], [False] * 3])


def test_beside_a_reference_a_value_does_not_depend_on_what_else_is_asked() -> None:
    texts, reference = made_up(12), [(n,) for n in range(6)]
    texts[10] += " other words, other words."
    alone = fill(ask_words(texts[:8], [(6,), *reference], [(7,), *reference], reference=6))
    heads, documents = [(10, 11), (6,), (1, 2), *reference], [(3,), (7,), (8, 9), *reference]
    beside = fill(ask_words(texts, heads, documents, reference=6))
    np.testing.assert_array_equal(beside.values[1, [1, *range(3, 9)]], alone.values[0])
    assert beside.parts is not None
    assert alone.parts is not None
    np.testing.assert_array_equal(beside.parts[:, 1, [1, *range(3, 9)]], alone.parts[:, 0])


def test_a_text_that_some_head_learns_is_no_easier_for_the_others() -> None:
    texts = made_up(6)
    alone = fill(ask_words(texts, [(0,), (1,), (2,)], [(3,)]))
    beside = fill(ask_words(texts, [(0,), (1,), (2,), (3,), (3, 4)], [(3,)]))
    learned = fill(ask_words(texts, [(0,), (1,), (2,), (4,)], [(3,)]))
    np.testing.assert_allclose(beside.values[0, :3], learned.values[0, :3], rtol=0.01)  # its words are no unknown ones
    assert beside.values[0, 3] < alone.values.min() - 1
    np.testing.assert_array_equal(beside.excluded[0], [False, False, False, True, True])


def test_order_of_texts_changes_nothing() -> None:
    texts = made_up(8)
    order = [5, 2, 7, 0, 4, 1, 6, 3]
    place = {text: number for number, text in enumerate(order)}
    sets = [(0,), (1, 2), (3,)], [(4,), (5, 6), (7,)]
    moved = ([tuple(sorted(place[text] for text in each)) for each in row] for row in sets)
    one, two = fill(ask_words(texts, *sets)), fill(ask_words([texts[n] for n in order], *moved))
    np.testing.assert_allclose(two.values, one.values, rtol=1e-12)


def test_masked_words_are_alike_whatever_their_length() -> None:
    texts = made_up(5)
    longer = [text.replace("***", "*****") for text in texts]
    sets = [(0,), (1,)], [(2,), (3, 4)]
    np.testing.assert_array_equal(fill(ask_words(longer, *sets)).values, fill(ask_words(texts, *sets)).values)


@pytest.mark.parametrize("odd", ["a", "of", "aaa", "寒山道", "...", "777", " ", "", "\u00b9", "no end of it"])
def test_odd_texts_have_values_too(odd: str) -> None:
    for texts in ([odd, *made_up(4)], [odd] * 5):
        for heads, documents in (([(0,), (1,)], [(2,), (3,)]), ([(1,), (2,)], [(0,), (3, 4)])):
            matrix = fill(ask_words(texts, heads, documents))
            assert matrix.parts is not None
            for values in (matrix.values, matrix.parts):
                assert (np.isfinite(values) & (values > 0)).all()


def test_what_speaks_for_the_head_adds_up_to_its_advantage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("byline.engines.protocol.MOST_FEATURES", 10_000)
    questions = ask_words(made_up(7), [(0,), (1,), (2,)], [(3,), (4, 5), (6,)])
    filled = grammar.fill_matrix(questions, GRAMMAR, np.random.default_rng(0), Runtime(evidence=True, threads=2))
    values = filled.matrix.values
    for number, named in enumerate(filled.features):
        gained = values[number].mean() - values[number, number]
        assert sum(feature.weight for feature in named) == pytest.approx(gained, abs=1e-5)
        assert {len(feature.name.split()) for feature in named} == {1, 2, 3}
    everybody_excluded = replace(questions, excluded_pairs=frozenset((0, head) for head in range(3)))
    found = grammar.fill_matrix(everybody_excluded, GRAMMAR, np.random.default_rng(0), Runtime(evidence=True))
    assert found.features[0] == ()
