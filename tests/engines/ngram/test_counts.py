"""The n-gram model: by hand, as a distribution, and its fast twin beside it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from byline.engines.ngram import counts as ngrams
from byline.engines.ngram import kernels as ngram_kernels
from byline.engines.ngram.counts import NONE, Counts, Index, extend_index, no_counts, number_texts
from byline.errors import CorpusError
from byline.text.encoder import Symbols


def symbols(text: str) -> Symbols:
    return np.array([ord(letter) - ord("a") for letter in text], np.int32)


def counted(index: Index, *texts: int) -> Counts:
    counts = no_counts(index)
    for text in texts:
        ngrams.count_text(index, counts, text, 1)
    return counts


def test_the_same_characters_have_the_same_number_wherever_they_are() -> None:
    index = number_texts([symbols("abab"), symbols("bab")], 3).indexed
    names: dict[int, str] = {}
    for k in range(3):
        for text, content in enumerate(["abab", "bab"]):
            for place in range(len(content)):
                gram = int(index.grams[k, index.starts[text] + place])
                if place < k:
                    assert gram == NONE
                else:
                    name = content[place - k : place + 1]
                    assert names.setdefault(gram, name) == name
    assert sorted(names.values()) == sorted({"a", "b", "ab", "ba", "aba", "bab"})
    assert index.size == len(names)


def test_chances_by_hand() -> None:
    index = number_texts([symbols("aab"), symbols("aba")], 2).indexed
    counts = counted(index, 0)
    chances = ngrams.predict_text(index, counts, 1, np.full(3, 1 / 2))
    # one character: a twice, b once, two kinds: a (2 + 2/2) / 5, b (1 + 2/2) / 5
    # after a: a once, b once, two kinds: b (1 + 2 x 2/5) / 4; after b: nothing was seen
    assert chances == pytest.approx([3 / 5, (1 + 2 * 2 / 5) / 4, 3 / 5])
    ends = np.array([2, 3], np.int32)
    assert ngrams.surprisal(index, counts, 1, np.full(3, 1 / 2), 1, ends, np.zeros(0)) == pytest.approx(
        -np.log2([0.45, 0.6])
    )


def test_chances_of_all_characters_add_up_to_one() -> None:
    rng = np.random.default_rng(0)
    learned = rng.integers(0, 4, 200).astype(np.int32)
    beginning = rng.integers(0, 4, 9).astype(np.int32)
    ends = [np.append(beginning, np.int32(symbol)) for symbol in range(4)]
    index = number_texts([learned, *ends], 4).indexed
    counts = counted(index, 0)
    last = [ngrams.predict_text(index, counts, text, np.full(10, 0.25))[-1] for text in (1, 2, 3, 4)]
    assert sum(last) == pytest.approx(1)


def test_a_text_taken_out_again_leaves_no_trace() -> None:
    index = number_texts([symbols("abcab"), symbols("bbcab")], 3).indexed
    counts = counted(index, 0, 1)
    ngrams.count_text(index, counts, 1, -1)
    for left, alone in zip(counts, counted(index, 0), strict=True):
        np.testing.assert_array_equal(left, alone)


TEXTS = st.lists(st.text("abc", min_size=1, max_size=30), min_size=2, max_size=4)


@settings(deadline=None)  # the first case compiles
@given(TEXTS, st.integers(1, 6))
def test_the_fast_twin_is_equal(texts: list[str], order: int) -> None:
    index = number_texts([symbols(text) for text in texts], order).indexed
    plain, fast = counted(index, *range(len(texts))), no_counts(index)
    for text in range(len(texts)):
        ngram_kernels.count_text(index, fast, text, 1)
    ngrams.count_text(index, plain, 0, -1)
    ngram_kernels.count_text(index, fast, 0, -1)
    for one, two in zip(plain, fast, strict=True):
        np.testing.assert_array_equal(one, two)
    for text, content in enumerate(texts):
        base = np.full(len(content), 1 / 3)
        wanted = ngrams.predict_text(index, plain, text, base)
        np.testing.assert_allclose(ngram_kernels.predict_text(index, fast, text, base), wanted, rtol=1e-12)
        ends = np.array([1, len(base) // 2, len(base)], np.int32)
        each, own = np.zeros(len(base)), np.zeros(len(base))
        bits = ngrams.surprisal(index, plain, text, base, 1, ends, each)
        assert ngram_kernels.surprisal(index, fast, text, base, 1, ends, own) == pytest.approx(bits, abs=1e-9)
        assert own == pytest.approx(each, abs=1e-9)


@given(
    st.lists(st.text("abc", max_size=12), max_size=4),
    st.lists(st.text("abcd", max_size=12), max_size=4),
    st.integers(1, 4),
)
def test_texts_that_come_later_are_numbered_like_those_before(old: list[str], new: list[str], order: int) -> None:
    """As in an index of all of them, but for the numbers themselves; what was numbered before keeps its number."""
    before = number_texts([symbols(text) for text in old], order, symbols=4)
    later = extend_index(before, [symbols(text) for text in new])
    whole = number_texts([symbols(text) for text in (*old, *new)], order).indexed
    np.testing.assert_array_equal(later.starts, whole.starts)
    np.testing.assert_array_equal(later.grams[:, : before.indexed.starts[-1]], before.indexed.grams)
    assert later.size == whole.size
    pairs = set(zip(later.grams.ravel().tolist(), whole.grams.ravel().tolist(), strict=True))
    assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})
    assert pairs <= {(NONE, NONE)} | {(one, other) for one in range(whole.size) for other in range(whole.size)}


def check_numbering(texts: list[Symbols], order: int, more: int) -> None:
    wanted, found = number_texts(texts, order, more), ngram_kernels.number_texts(texts, order, more)
    assert found.symbols == wanted.symbols
    assert found.indexed.size == wanted.indexed.size
    for one, two in zip((*found.indexed[:2], *found.codes), (*wanted.indexed[:2], *wanted.codes), strict=True):
        np.testing.assert_array_equal(one, two)
        assert one.dtype == two.dtype


@settings(deadline=None)
@given(st.lists(st.text("abcd", max_size=30), max_size=4), st.integers(1, 6), st.integers(0, 9))
def test_the_fast_twin_numbers_alike(texts: list[str], order: int, more: int) -> None:
    check_numbering([symbols(text) for text in texts], order, more)


def test_it_does_so_where_its_table_has_to_grow() -> None:
    draw = np.random.default_rng(0)
    check_numbering([draw.integers(0, 3000, 5_000).astype(np.int32) for _ in range(3)], 4, 0)


def test_what_has_no_numbers_left_is_refused() -> None:
    ngrams.require_numbers(2**31 - 2)
    with pytest.raises(CorpusError) as caught:
        ngrams.require_numbers(2**31 - 1)
    assert caught.value.remedy
