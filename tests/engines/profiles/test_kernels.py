"""Profiles of n-grams: counted and multiplied as sparse matrices are."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from byline.engines.matrix import PARTS, part_ends
from byline.engines.ngram.counts import NONE, Index, number_texts
from byline.engines.profiles.kernels import Rows, count_sets, multiply_chosen

TEXTS = st.lists(st.lists(st.integers(0, 3), max_size=40), min_size=1, max_size=5)


def count_plainly(index: Index, first: int, sets: list[list[int]], left_out: int) -> csr_array:
    """By the definition: each n-gram that ends at a place that is not left out."""
    table = np.zeros((len(sets), index.size))
    for row, texts in enumerate(sets):
        for text in texts:
            begin, end = index.starts[text], index.starts[text + 1]
            parts = np.searchsorted(part_ends(end - begin), np.arange(end - begin), side="right")
            grams = index.grams[first:, begin:end][:, parts != left_out]
            np.add.at(table[row], grams[grams != NONE], 1)
    return csr_array(table)


def count(index: Index, first: int, sets: list[list[int]], left_out: int) -> Rows:
    ends = np.array([part_ends(int(length)) for length in np.diff(index.starts)], np.int32)
    texts = np.array([text for each in sets for text in each], np.int32)
    borders = np.cumsum([0, *map(len, sets)]).astype(np.int32)
    return count_sets(index, first, texts, borders, ends, left_out)


def dense(rows: Rows, index: Index) -> np.ndarray:
    return csr_array((rows.values, rows.grams, rows.starts), shape=(len(rows.starts) - 1, index.size)).toarray()


@settings(deadline=None)  # the first case compiles
@given(TEXTS, st.integers(1, 5), st.integers(0, 2), st.integers(-1, PARTS - 1), st.data())
def test_counts_are_those_of_the_definition(
    texts: list[list[int]], order: int, first: int, left_out: int, data: st.DataObject
) -> None:
    index = number_texts([np.array(text, np.int32) for text in texts], order).indexed
    sets = data.draw(st.lists(st.lists(st.integers(0, len(texts) - 1), unique=True, max_size=3), max_size=4))
    found = count(index, first, sets, left_out)
    np.testing.assert_array_equal(dense(found, index), count_plainly(index, first, sets, left_out).toarray())
    for begin, end in zip(found.starts[:-1], found.starts[1:], strict=True):
        assert (np.diff(found.grams[begin:end]) > 0).all()


def test_many_n_grams_find_room() -> None:
    draw = np.random.default_rng(1)
    index = number_texts([draw.integers(0, 60, 4_000).astype(np.int32) for _ in range(3)], 3).indexed
    sets = [[0, 1], [2], [1]]
    np.testing.assert_array_equal(dense(count(index, 0, sets, -1), index), count_plainly(index, 0, sets, -1).toarray())


@settings(deadline=None)
@given(TEXTS, st.integers(1, 3), st.integers(0, 2**32))
def test_products_are_those_of_matrices(texts: list[list[int]], width: int, seed: int) -> None:
    index = number_texts([np.array(text, np.int32) for text in texts], 3).indexed
    draw = np.random.default_rng(seed)
    sets = [[number] for number in range(len(texts))]
    whole, heads = count(index, 0, sets, -1), count(index, 0, sets[::-1], -1)
    left = tuple(count(index, 0, sets, part) for part in range(PARTS))
    chosen = draw.integers(0, len(texts), (len(texts), width)).astype(np.int32)
    found = multiply_chosen(whole, left, heads, chosen, index.size)
    for one, rows in zip(found, (whole, *left), strict=True):
        products = dense(rows, index) @ dense(heads, index).T
        np.testing.assert_allclose(one, np.take_along_axis(products, chosen.astype(np.int64), axis=1))
