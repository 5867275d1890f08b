"""Character n-grams: the numbers of all that occur in some texts, counts, and an interpolated model. The definition.

A text's chance under a model of order K, character by character (Witten and Bell's interpolation): with c the count of
the k-gram, n that of its context and d the number of different characters seen after that context,

    p_k = (c + d p_{k-1}) / (n + d)     for k = 1 .. K, as long as the context was seen at all

p_0 is given for each character: what a background model says, or the same chance for every symbol. `ngram_kernels.py`
is the fast twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from byline.alphabet import Symbols
from byline.errors import CorpusError

Numbers = NDArray[np.int32]
Chances = NDArray[np.float64]

NONE = -1
"""The number of a k-gram that would begin before its text."""
MOST = 2**31 - 2
"""Characters, and different k-grams, that can be numbered."""
FINENESS = 2.0**30
"""What characters cost is told in this part of a bit: sums over 100,000 heads are exact, whatever their order."""


class Index(NamedTuple):
    """All texts, joined, and the numbers of their k-grams."""

    grams: Numbers  # (K, characters): the number of the k-gram that ends there; each k goes on from the one before
    starts: Numbers  # (texts + 1,): where each text begins, and the end of the last
    size: int
    """How many different k-grams there are."""


class Counts(NamedTuple):
    """How often k-grams occur in some of the texts. A context is one more than the number of its k-gram, 0 if empty."""

    grams: Numbers  # (size,)
    totals: Numbers  # (size + 1,): occurrences of each context with a character after it
    kinds: Numbers  # (size + 1,): different characters after each context


class NgramArithmetic(Protocol):
    """Who counts and predicts: this module, or its fast twin."""

    def count_text(self, index: Index, counts: Counts, text: int, times: int) -> None: ...  # noqa: D102
    def predict_text(self, index: Index, counts: Counts, text: int, given: Chances) -> Chances: ...  # noqa: D102
    def surprise(  # noqa: D102
        self, index: Index, counts: Counts, text: int, given: Chances, skip: int, ends: Numbers, each: Chances
    ) -> Chances: ...


class Numbering(NamedTuple):
    """The index of some texts, and what it takes to go on numbering: the same k-grams have the same numbers."""

    done: Index
    symbols: int
    """How many a code has room for."""
    codes: tuple[NDArray[np.int64], ...]
    """By k, in order: the number of what stands before a k-gram's last character, times symbols, plus the character."""


def number_texts(texts: Sequence[Symbols], order: int, symbols: int = 0) -> Numbering:
    """Number all k-grams up to an order, the same for the same characters wherever they occur.

    It can be gone on with: `symbols` are those of the alphabet, which further texts may have more of.
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


def index_further(numbering: Numbering, texts: Sequence[Symbols]) -> Index:
    """The index of the texts that were numbered and of further ones; what only these have comes after all else."""
    old = numbering.done
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
    """Refuse more characters or n-grams than have numbers."""
    if count > MOST:
        raise CorpusError(f"{count:,} characters or n-grams, more than {MOST:,}; split the problems")


def join_texts(texts: Sequence[Symbols]) -> tuple[NDArray[np.int64], Numbers, NDArray[np.bool_]]:
    """All characters, where each text begins and the last ends, and (characters,) whether a text begins there."""
    joined = np.concatenate([np.zeros(0, np.int32), *texts]).astype(np.int64)
    require_numbers(len(joined))
    starts = np.concatenate([[0], np.cumsum([len(text) for text in texts])]).astype(np.int32)
    begins = np.zeros(len(joined), np.bool_)
    begins[starts[:-1][np.diff(starts) > 0]] = True
    return joined, starts, begins


def _longer(
    grams: Numbers, there: NDArray[np.bool_], begins: NDArray[np.bool_], joined: NDArray[np.int64], symbols: int
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(characters,): codes of the next longer k-grams, this one at the character before, then the character."""
    before = np.concatenate([[False], there[:-1]]) & ~begins
    return np.where(before, np.concatenate([[0], grams[:-1]]).astype(np.int64) * symbols + joined, 0), before


def no_counts(index: Index) -> Counts:
    """Counts of no text."""
    return Counts(*(np.zeros(length, np.int32) for length in (index.size, index.size + 1, index.size + 1)))


def count_text(index: Index, counts: Counts, text: int, times: int) -> None:
    """Add a text to the counts (`times` is 1), or take it out again (-1)."""
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


def predict_text(index: Index, counts: Counts, text: int, given: Chances) -> Chances:
    """(characters of the text,): the chance of each character under the counts, interpolated with `given` ones."""
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


def surprise(
    index: Index, counts: Counts, text: int, given: Chances, skip: int, ends: Numbers, each: Chances
) -> Chances:
    """(parts,): the bits that each part of a text costs, its first characters left out; `ends` are those of parts.

    Those of each character, rounded, are put into `each` (T,), if it has any, but for the first ones.
    """
    bits = -np.log2(predict_text(index, counts, text, given))
    if len(each):
        each[skip:] = np.floor(0.5 + FINENESS * bits[skip:]) / FINENESS
    borders = np.maximum(np.concatenate([[skip], ends]), skip)
    return np.array([bits[begin:end].sum() for begin, end in pairwise(borders)])
