"""The fast twin of ngrams.py, in numba: the same functions, the same results."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from byline import ngrams
from byline.compiling import compiler
from byline.ngrams import FINENESS, Chances, Counts, Index, Numbers

_compile = compiler(Path(__file__), Path(ngrams.__file__))


@_compile
def count_text(index: Index, counts: Counts, text: int, times: int) -> None:
    """Add a text to the counts (`times` is 1), or take it out again (-1)."""
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
def predict_text(index: Index, counts: Counts, text: int, given: Chances) -> Chances:
    """(characters of the text,): the chance of each character under the counts, interpolated with `given` ones."""
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
def surprise(
    index: Index, counts: Counts, text: int, given: Chances, skip: int, ends: Numbers, each: Chances
) -> Chances:
    """(parts,): the bits that each part of a text costs, its first characters left out; see ngrams.surprise."""
    chances = predict_text(index, counts, text, given)
    bits = np.zeros(len(ends))
    begin = skip
    for part in range(len(ends)):
        logarithms = np.log2(chances[begin : ends[part]])
        bits[part] = -logarithms.sum()
        if len(each):
            each[begin : ends[part]] = np.floor(0.5 - FINENESS * logarithms) / FINENESS
        begin = max(begin, ends[part])
    return bits
