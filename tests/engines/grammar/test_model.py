"""LambdaG's language models: by hand, as distributions, and the fast twin beside the definition."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byline.engines.grammar import kernels
from byline.engines.grammar.kernels import FIRST
from byline.engines.grammar.model import BEGIN, END, KneserNey, WittenBell, surprisal
from byline.engines.matrix import PARTS, part_ends
from byline.engines.ngram.counts import no_counts
from byline.text.encoder import Symbols

Text = list[list[str]]


def sentences(*texts: str) -> Text:
    return [text.split() for text in texts]


def test_kneser_ney_by_hand() -> None:
    """Of "a b" and "b b", with pairs: after a only b; after b the end mark twice and b once; first a and b.

    Single tokens count what they follow: a the begin mark; b the begin mark, a and b; the end mark b. That is 1, 3 and
    1, five in all, of three kinds. With a background of 1/4:
        a      (1/4 + 3/4 x 3 x 1/4) / 5 = 0.1625
        b      (9/4 + 9/16) / 5          = 0.5625
        after a, b    (1/4 + 3/4 x 0.5625) / 1 = 0.671875
        after b, b    (1/4 + 3/4 x 2 x 0.5625) / 3 = 0.36458...
    """
    head = KneserNey(sentences("a b", "b b"), 2)
    for token in "ab":
        assert head.predict(token, ("x",), 0.25) == pytest.approx({"a": 0.1625, "b": 0.5625}[token])
    assert head.predict("b", (BEGIN, "a"), 0.25) == pytest.approx(0.671875)
    assert head.predict("b", (BEGIN, "b"), 0.25) == pytest.approx((0.25 + 1.5 * 0.5625) / 3)
    assert head.predict("a", (BEGIN,), 0.25) == pytest.approx((0.25 + 1.5 * 0.1625) / 2)


def test_witten_bell_by_hand() -> None:
    """Of "a b" and "b b": a once, b three times, the end twice, of three kinds; after a only b; the vocabulary is 4."""
    background = WittenBell(sentences("a b", "b b"), 4)
    assert background.predict("b", ("x",)) == pytest.approx((3 + 3 / 4) / 9)
    assert background.predict("b", ("x", "a")) == pytest.approx((1 + (3 + 3 / 4) / 9) / 2)


def test_a_context_that_never_occurred_is_dropped_without_penalty() -> None:
    head = KneserNey(sentences("a b", "b b"), 3)
    assert head.predict("b", ("c", "a"), 0.25) == head.predict("b", ("a",), 0.25)


TEXTS = st.lists(st.lists(st.lists(st.sampled_from("abc"), max_size=6), min_size=1, max_size=4), min_size=2, max_size=4)


@given(TEXTS, st.integers(1, 5), st.lists(st.sampled_from("abc"), max_size=5))
def test_probabilities_add_up_to_one_over_the_vocabulary(texts: list[Text], order: int, before: list[str]) -> None:
    head, background = KneserNey(texts[0], order), WittenBell(texts[1], 5)
    beginning = (BEGIN, *before)
    given = {token: background.predict(token, beginning) for token in ("a", "b", "c", END, "unknown")}
    assert sum(given.values()) == pytest.approx(1)
    assert sum(head.predict(token, beginning, chance) for token, chance in given.items()) == pytest.approx(1)
    assert min(given.values()) > 0


def numbered(text: Text) -> list[Symbols]:
    return [
        np.array([kernels.BEGIN, *(FIRST + "abc".index(token) for token in each), kernels.END], np.int32)
        for each in text
    ]


def costs(texts: Sequence[Text], learned: Sequence[int], judged: int, order: int) -> tuple[list[float], list[float]]:
    """Return the bits of the tokens of a text and of its parts, by the fast twin; all texts are the background."""
    index = kernels.index_sentences([numbered(text) for text in texts], max(order, 3))
    short = index._replace(grams=index.grams[:3])
    counts = no_counts(index)
    for text in range(len(texts)):
        kernels.count_background_text(short, counts, text, 1)
    kernels.count_background_text(short, counts, judged, -1)
    given = kernels.predict_background(short, counts, judged, 5)
    index, counts = index._replace(grams=index.grams[:order]), no_counts(index)
    for text in learned:
        kernels.count_head_text(index, counts, text)
    each = np.zeros(len(given))
    parts = kernels.surprisal(index, counts, judged, given, part_ends(len(given)), each)
    for text in learned:
        kernels.clear_text(index, counts, text)
    assert not any(table.any() for table in counts)
    return each.tolist(), parts.tolist()


@settings(deadline=None)  # the first case compiles
@given(TEXTS, st.integers(1, 6), st.booleans())
def test_the_fast_twin_agrees(texts: list[Text], order: int, two: bool) -> None:
    judged = len(texts) - 1
    learned = [0, 1] if two and judged > 1 else [0]
    head = KneserNey([sentence for text in learned for sentence in texts[text]], order)
    background = WittenBell([sentence for text in texts[:judged] for sentence in text], 5)
    wanted = surprisal(head, background, texts[judged])
    each, parts = costs(texts, learned, judged, order)
    assert each == pytest.approx(wanted, abs=1e-8)
    borders = [0, *part_ends(len(wanted)).tolist()]
    assert parts == pytest.approx([sum(wanted[borders[n] : borders[n + 1]]) for n in range(PARTS)], abs=1e-8)


def test_no_n_gram_crosses_a_begin_mark() -> None:
    judged = sentences("b c")
    whole, parted = sentences("a b c a b"), sentences("a b", "c a b")
    assert costs([whole, judged], [0], 1, 3)[0][1] < costs([parted, judged], [0], 1, 3)[0][1]
    assert ("b", "c") in KneserNey(whole, 3).counts
    assert ("b", "c") not in KneserNey(parted, 3).counts
