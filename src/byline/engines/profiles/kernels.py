"""Profiles of n-grams in numba: counted by sets of texts, and multiplied with the heads asked about.

scipy's sparse matrices give the same, but would hold all n-grams of all texts and multiply each document with all
heads: memory and time would grow with the square of the problems.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from byline.engines.compiling import compiler
from byline.engines.matrix import Floats64, Ints32, Ints64
from byline.engines.ngram import counts
from byline.engines.ngram.counts import NONE, Index

_compile = compiler(Path(__file__), Path(counts.__file__))


class Rows(NamedTuple):
    """A sparse matrix (rows, n-grams): row r is at starts[r] .. starts[r + 1]."""

    starts: Ints64
    grams: Ints32
    values: Floats64


@_compile
def count_sets(index: Index, first: int, texts: Ints32, borders: Ints32, ends: Ints32, left_out: int) -> Rows:
    """Count the n-grams from the order `first` on in sets of texts, each texts[borders[s] : borders[s + 1]].

    `ends` (texts, parts) are those of each text's parts; one part is left out, or none (-1).
    """
    sets = len(borders) - 1
    slots = np.full(index.size, NONE, np.int32)  # where in the set's profile an n-gram is
    starts = np.zeros(sets + 1, np.int64)
    room = 1024
    grams, counts = np.empty(room, np.int32), np.empty(room, np.float64)
    filled = 0
    for number in range(sets):
        begin = filled
        for member in range(borders[number], borders[number + 1]):
            text = texts[member]
            start = index.starts[text]
            gone_from, gone_to = 0, 0
            if left_out >= 0:
                gone_from, gone_to = ends[text, left_out - 1] if left_out else 0, ends[text, left_out]
            for place in range(start, index.starts[text + 1]):
                if gone_from <= place - start < gone_to:
                    continue
                for k in range(first, len(index.grams)):
                    gram = index.grams[k, place]
                    if gram == NONE:
                        break
                    if slots[gram] == NONE:
                        if filled == room:
                            room *= 2
                            more, larger = np.empty(room, np.int32), np.empty(room, np.float64)
                            for slot in range(filled):  # not as slices, whose error messages take long to compile
                                more[slot], larger[slot] = grams[slot], counts[slot]
                            grams, counts = more, larger
                        slots[gram] = filled - begin
                        grams[filled] = gram
                        counts[filled] = 0
                        filled += 1
                    counts[begin + slots[gram]] += 1
        grams[begin:filled].sort()
        ordered = np.empty(filled - begin)
        for place in range(begin, filled):
            ordered[place - begin] = counts[begin + slots[grams[place]]]
        for place in range(begin, filled):
            counts[place] = ordered[place - begin]
            slots[grams[place]] = NONE
        starts[number + 1] = filled
    return Rows(starts, grams[:filled].copy(), counts[:filled].copy())


@_compile
def multiply_chosen(whole: Rows, left: tuple[Rows, ...], heads: Rows, chosen: Ints32, size: int) -> Floats64:
    """Return (1 + left, documents, K): products of documents, and of what is left of them, with their chosen heads.

    Each row of `left` has only n-grams of that row of `whole`; `size` is the number of n-grams.
    """
    documents, width = chosen.shape
    kinds = 1 + len(left)
    products = np.zeros((kinds, documents, width))
    slots = np.full(size, NONE, np.int32)
    longest = 0
    for number in range(documents):
        longest = max(longest, whole.starts[number + 1] - whole.starts[number])
    table = np.zeros((longest, kinds))
    sums = np.zeros(kinds)
    for number in range(documents):
        begin, end = whole.starts[number], whole.starts[number + 1]
        table[: end - begin] = 0
        for place in range(begin, end):
            slots[whole.grams[place]] = place - begin
            table[place - begin, 0] = whole.values[place]
        for kind in range(len(left)):
            rows = left[kind]
            for place in range(rows.starts[number], rows.starts[number + 1]):
                table[slots[rows.grams[place]], kind + 1] = rows.values[place]
        for column in range(width):
            head = chosen[number, column]
            sums[:] = 0
            for place in range(heads.starts[head], heads.starts[head + 1]):
                slot = slots[heads.grams[place]]
                if slot != NONE:
                    for kind in range(kinds):
                        sums[kind] += heads.values[place] * table[slot, kind]
            for kind in range(kinds):
                products[kind, number, column] = sums[kind]
        for place in range(begin, end):
            slots[whole.grams[place]] = NONE
    return products
