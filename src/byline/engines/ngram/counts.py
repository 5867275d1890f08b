"""Character n-grams, in plain Python: numbered, counted, and interpolated (Witten and Bell 1991). The definition.

The probability of a character under a model of order K: with c the count of the k-gram, n that of its context and d
the number of different characters after that context,

    p_k = (c + d p_{k-1}) / (n + d)     for k = 1 .. K, as long as the context occurs at all

p_0 is given for each character: that of a background model, or the same for every symbol. kernels.py is the fast twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from byline.engines.matrix import Flags, Floats64, Ints32, Ints64
from byline.errors import CorpusError
from byline.text.encoder import Symbols

NONE = -1
"""The number of a k-gram that would begin before its text."""
MOST = 2**31 - 2
"""Characters, and different k-grams, that can be numbered."""
BIT_FRACTIONS = 2.0**30
"""Costs of characters are rounded to this part of a bit: sums over 100,000 heads are then exact in any order."""


class Index(NamedTuple):
    """All texts, joined, and the numbers of their k-grams."""

    grams: Ints32  # (K, characters): the number of the k-gram that ends there; each k goes on from the one before
    starts: Ints32  # (texts + 1,): where each text begins, and the end of the last
    size: int  # the number of different k-grams


class Counts(NamedTuple):
    """Counts of k-grams in some of the texts. A context has the number of its k-gram plus 1, or 0 if it is empty."""

    grams: Ints32  # (size,)
    totals: Ints32  # (size + 1,): occurrences of each context with a character after it
    kinds: Ints32  # (size + 1,): different characters after each context


class NgramArithmetic(Protocol):
    """The functions that this module defines and its fast twin computes fast."""

    def count_text(self, index: Index, counts: Counts, text: int, times: int) -> None: ...  # noqa: D102
    def predict_text(self, index: Index, counts: Counts, text: int, given: Floats64) -> Floats64: ...  # noqa: D102
    def surprisal(  # noqa: D102
        self, index: Index, counts: Counts, text: int, given: Floats64, skip: int, ends: Ints32, each: Floats64
    ) -> Floats64: ...


class Numbering(NamedTuple):
    """The index of some texts, and the codes by which further texts get the same numbers for the same k-grams."""

    indexed: Index
    symbols: int  # the base of the codes
    codes: tuple[Ints64, ...]
    """By k, sorted: the number of the k-gram without its last character, times symbols, plus the character."""


def number_texts(texts: Sequence[Symbols], order: int, symbols: int = 0) -> Numbering:
    """Number all k-grams up to an order, the same for the same characters wherever they occur.

    `symbols` is the size of the alphabet, if further texts may have symbols that these don't.
    """
    joined, starts, begins = join_texts(texts)
    symbols = max(symbols, int(joined.max(initial=0)) + 1)
    grams = np.full((order, len(joined)), NONE, np.int32)
    size, there, codes = 0, np.ones(len(joined), np.bool_), joined
    found = []
    for k in range(order):
        different, numbers = np.unique(codes[there], return_inverse=True)
        grams[k, there] = size + numbers
        size += len(different)
        require_numbers(size)
        found.append(different)
        codes, there = _longer(grams[k], there, begins, joined, symbols)
    return Numbering(Index(grams, starts, size), symbols, tuple(found))


def extend_index(numbering: Numbering, texts: Sequence[Symbols]) -> Index:
    """Return the index of the numbered texts and of further ones, whose new k-grams get the highest numbers."""
    old = numbering.indexed
    joined, starts, begins = join_texts(texts)
    grams = np.full((len(old.grams), len(joined)), NONE, np.int32)
    there, codes = np.ones(len(joined), np.bool_), joined
    first, size = 0, old.size
    for k, known in enumerate(numbering.codes):
        different, places = np.unique(codes[there], return_inverse=True)
        at = np.searchsorted(known, different)
        same = at < len(known)
        same[same] = known[at[same]] == different[same]
        numbers = np.where(same, first + at, size + np.cumsum(~same) - 1)
        grams[k, there] = numbers[places]
        first, size = first + len(known), size + int((~same).sum())
        codes, there = _longer(grams[k], there, begins, joined, numbering.symbols)
    return Index(
        np.concatenate([old.grams, grams], axis=1), np.concatenate([old.starts, old.starts[-1] + starts[1:]]), size
    )


def require_numbers(count: int) -> None:
    """Raise CorpusError for more characters or n-grams than can be numbered."""
    if count > MOST:
        raise CorpusError(f"{count:,} characters or n-grams, more than {MOST:,}", remedy="Split the problems")


def join_texts(texts: Sequence[Symbols]) -> tuple[Ints64, Ints32, Flags]:
    """Return all characters, where each text begins and the last ends, and for each character whether it begins one."""
    joined = np.concatenate([np.zeros(0, np.int32), *texts]).astype(np.int64)
    require_numbers(len(joined))
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int32)
    begins = np.zeros(len(joined), np.bool_)
    begins[starts[:-1][np.diff(starts) > 0]] = True
    return joined, starts, begins


def _longer(grams: Ints32, there: Flags, begins: Flags, joined: Ints64, symbols: int) -> tuple[Ints64, Flags]:
    """Return (characters,): the codes of the k-grams that are one character longer, and whether there is one."""
    before = np.concatenate([[False], there[:-1]]) & ~begins
    return np.where(before, np.concatenate([[0], grams[:-1]]).astype(np.int64) * symbols + joined, 0), before


def no_counts(index: Index) -> Counts:
    """Return counts of zero."""
    return Counts(*(np.zeros(length, np.int32) for length in (index.size, index.size + 1, index.size + 1)))


def count_text(index: Index, counts: Counts, text: int, times: int) -> None:
    """Add a text to the counts (`times` is 1), or remove it (-1)."""
    for place in range(index.starts[text], index.starts[text + 1]):
        for k in range(len(index.grams)):
            gram = index.grams[k, place]
            if gram == NONE:
                break
            context = index.grams[k - 1, place - 1] + 1 if k else 0
            before = counts.grams[gram]
            counts.grams[gram] += times
            counts.totals[context] += times
            counts.kinds[context] += int(counts.grams[gram] > 0) - int(before > 0)


def predict_text(index: Index, counts: Counts, text: int, given: Floats64) -> Floats64:
    """Return the probability of each character of a text under the counts, interpolated with `given` ones."""
    begin, end = index.starts[text], index.starts[text + 1]
    chances = np.empty(end - begin)
    for place in range(begin, end):
        chance = given[place - begin]
        for k in range(len(index.grams)):
            gram = index.grams[k, place]
            context = index.grams[k - 1, place - 1] + 1 if k and gram != NONE else 0
            if gram == NONE or not counts.totals[context]:
                break
            kinds = counts.kinds[context]
            chance = (counts.grams[gram] + kinds * chance) / (counts.totals[context] + kinds)
        chances[place - begin] = chance
    return chances


def surprisal(
    index: Index, counts: Counts, text: int, given: Floats64, skip: int, ends: Ints32, each: Floats64
) -> Floats64:
    """Return (parts,): the bits of each part of a text without its first `skip` characters; parts end at `ends`.

    The bits of each counted character, rounded, are put into `each` (T,), unless that is empty.
    """
    bits = -np.log2(predict_text(index, counts, text, given))
    if len(each):
        each[skip:] = np.floor(0.5 + BIT_FRACTIONS * bits[skip:]) / BIT_FRACTIONS
    borders = np.maximum(np.concatenate([[skip], ends]), skip)
    return np.array([bits[begin:end].sum() for begin, end in pairwise(borders)])
