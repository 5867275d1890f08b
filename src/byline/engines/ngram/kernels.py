"""The fast twin of counts.py, in numba: the same functions with the same results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from byline.engines.compiling import compiler
from byline.engines.matrix import Flags, Floats64, Ints32, Ints64
from byline.engines.ngram import counts
from byline.engines.ngram.counts import BIT_FRACTIONS, NONE, Counts, Index, Numbering, join_texts, require_numbers
from byline.text.encoder import Symbols

_compile = compiler(Path(__file__), Path(counts.__file__))

_MIXER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: spreads codes that are close to each other


def index_texts(texts: Sequence[Symbols], order: int) -> Index:
    """Number all k-grams up to an order, the same for the same characters wherever they occur."""
    return number_texts(texts, order).indexed


def number_texts(texts: Sequence[Symbols], order: int, symbols: int = 0) -> Numbering:
    """Number all k-grams up to an order, so that further texts can follow; see counts.number_texts."""
    joined, starts, begins = join_texts(texts)
    symbols = max(symbols, int(joined.max(initial=0)) + 1)
    grams = np.full((order, len(joined)), NONE, np.int32)
    size, found = 0, []
    for k in range(order):
        before = grams[k - 1] if k else np.zeros(0, np.int32)
        found.append(_number_codes(before, joined, begins, symbols, size, grams[k]))
        size += len(found[-1])
        require_numbers(size)
    return Numbering(Index(grams, starts, size), symbols, tuple(found))


@_compile
def _number_codes(
    before: Ints32,
    joined: Ints64,
    begins: Flags,
    symbols: int,
    first: int,
    numbers: Ints32,
) -> Ints64:
    """Return the different codes, sorted; their numbers, from `first` on, are put into `numbers` (characters,).

    `before` are the numbers of the k-grams that are one character shorter, if any. Codes are looked up in a hash table
    with linear probing.
    """
    room, shift = 1 << 10, np.uint64(64 - 10)
    table = np.full(room, -1, np.int32)  # which of the codes is there
    found = np.empty(room // 2, np.int64)
    count = 0
    for place in range(len(joined)):
        code = joined[place]
        if len(before):
            if begins[place] or before[place - 1] == NONE:
                continue
            code += before[place - 1] * np.int64(symbols)
        slot = np.int64((np.uint64(code) * _MIXER) >> shift)
        while table[slot] >= 0 and found[table[slot]] != code:
            slot = (slot + 1) & (room - 1)
        if table[slot] < 0:
            if count == len(found):  # half of the table is taken: double it
                more = np.empty(2 * count, np.int64)
                for number in range(count):  # not as slices, whose error messages take longer to compile than all else
                    more[number] = found[number]
                found = more
                room, shift = room * 2, shift - np.uint64(1)
                table = np.full(room, -1, np.int32)
                for number in range(count):
                    slot = np.int64((np.uint64(found[number]) * _MIXER) >> shift)
                    while table[slot] >= 0:
                        slot = (slot + 1) & (room - 1)
                    table[slot] = number
                slot = np.int64((np.uint64(code) * _MIXER) >> shift)
                while table[slot] >= 0:
                    slot = (slot + 1) & (room - 1)
            table[slot] = count
            found[count] = code
            count += 1
        numbers[place] = table[slot]
    order = np.argsort(found[:count])
    ranks = np.empty(count, np.int32)
    for rank in range(count):
        ranks[order[rank]] = first + rank
    for place in range(len(numbers)):
        if numbers[place] != NONE:
            numbers[place] = ranks[numbers[place]]
    return found[:count][order]


@_compile
def count_text(index: Index, counts: Counts, text: int, times: int) -> None:
    """Add a text to the counts (`times` is 1), or remove it (-1)."""
    for place in range(index.starts[text], index.starts[text + 1]):
        context = 0
        for k in range(len(index.grams)):
            gram = index.grams[k, place]
            if gram < 0:
                break
            if k:
                context = index.grams[k - 1, place - 1] + 1
            before = counts.grams[gram]
            counts.grams[gram] = before + times
            counts.totals[context] += times
            if before == 0 and times > 0:
                counts.kinds[context] += 1
            elif before + times == 0 and times < 0:
                counts.kinds[context] -= 1


@_compile
def predict_text(index: Index, counts: Counts, text: int, given: Floats64) -> Floats64:
    """Return the probability of each character of a text under the counts, interpolated with `given` ones."""
    begin = index.starts[text]
    chances = np.empty(index.starts[text + 1] - begin)
    for place in range(begin, index.starts[text + 1]):
        chance = given[place - begin]
        context = 0
        for k in range(len(index.grams)):
            gram = index.grams[k, place]
            if gram < 0:
                break
            if k:
                context = index.grams[k - 1, place - 1] + 1
            total = counts.totals[context]
            if total == 0:
                break
            kinds = counts.kinds[context]
            chance = (counts.grams[gram] + kinds * chance) / (total + kinds)
        chances[place - begin] = chance
    return chances


@_compile
def surprisal(
    index: Index, counts: Counts, text: int, given: Floats64, skip: int, ends: Ints32, each: Floats64
) -> Floats64:
    """Return (parts,): the bits of each part of a text; see counts.surprisal."""
    chances = predict_text(index, counts, text, given)
    bits = np.zeros(len(ends))
    begin = skip
    for part in range(len(ends)):
        logarithms = np.log2(chances[begin : ends[part]])
        bits[part] = -logarithms.sum()
        if len(each):
            for place in range(begin, ends[part]):
                each[place] = np.floor(0.5 - BIT_FRACTIONS * logarithms[place - begin]) / BIT_FRACTIONS
        begin = max(begin, ends[part])
    return bits
