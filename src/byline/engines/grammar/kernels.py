"""The fast twin of model.py, in numba: the same probabilities, of tokens that are numbers.

All texts are numbered once (`ngram.counts.Index`), sentence by sentence, so that no n-gram crosses a begin mark. The
begin mark is the lowest token and hence n-gram number 0. Counts are those of one head at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from byline.engines.compiling import compiler
from byline.engines.grammar import model
from byline.engines.grammar.model import DISCOUNT
from byline.engines.matrix import Floats64, Ints32
from byline.engines.ngram import counts
from byline.engines.ngram import kernels as ngram_kernels
from byline.engines.ngram.counts import BIT_FRACTIONS, Counts, Index
from byline.text.encoder import Symbols

_compile = compiler(Path(__file__), Path(model.__file__), Path(counts.__file__))

BEGIN, END, UNKNOWN, FIRST = 0, 1, 2, 3
"""Numbers of the marks, of tokens that are not in the vocabulary, and of the first that is."""


def index_sentences(texts: Sequence[Sequence[Symbols]], order: int) -> Index:
    """Number the n-grams of texts, each a sequence of sentences that have their marks."""
    sentences = [sentence for text in texts for sentence in text]
    indexed = ngram_kernels.index_texts(sentences, order)
    borders = np.cumsum([0, *(len(text) for text in texts)])
    return indexed._replace(starts=indexed.starts[borders])


@_compile
def count_head_text(index: Index, counts: Counts, text: int) -> None:
    """Add a text to the Kneser-Ney counts of a head.

    From the longest n-gram on: one that was seen before has been counted for the shorter ones.
    """
    for place in range(index.starts[text], index.starts[text + 1]):
        if index.grams[0, place] == BEGIN:
            continue
        for k in range(len(index.grams) - 1, -1, -1):
            gram = index.grams[k, place]
            if gram < 0:
                continue
            context = index.grams[k - 1, place - 1] + 1 if k else 0
            counts.grams[gram] += 1
            counts.totals[context] += 1
            if counts.grams[gram] > 1:
                break
            counts.kinds[context] += 1


@_compile
def clear_text(index: Index, counts: Counts, text: int) -> None:
    """Set the counts of all n-grams of a text to zero."""
    counts.totals[0] = counts.kinds[0] = 0
    for place in range(index.starts[text], index.starts[text + 1]):
        for k in range(len(index.grams)):
            gram = index.grams[k, place]
            if gram < 0:
                break
            counts.grams[gram] = 0
            counts.totals[gram + 1] = 0
            counts.kinds[gram + 1] = 0


@_compile
def count_background_text(index: Index, counts: Counts, text: int, times: int) -> None:
    """Add a text to the counts of the background (`times` is 1), or remove it (-1)."""
    for place in range(index.starts[text], index.starts[text + 1]):
        if index.grams[0, place] == BEGIN:
            continue
        for k in range(len(index.grams)):
            gram = index.grams[k, place]
            if gram < 0:
                break
            context = index.grams[k - 1, place - 1] + 1 if k else 0
            before = counts.grams[gram]
            counts.grams[gram] = before + times
            counts.totals[context] += times
            if before == 0 and times > 0:
                counts.kinds[context] += 1
            elif before + times == 0 and times < 0:
                counts.kinds[context] -= 1


@_compile
def predict_background(index: Index, counts: Counts, text: int, vocabulary: int) -> Floats64:
    """Return the probability of each token and end mark under the background model."""
    begin, end = index.starts[text], index.starts[text + 1]
    chances = np.empty(end - begin)
    filled = 0
    for place in range(begin, end):
        if index.grams[0, place] == BEGIN:
            continue
        chance = 1 / vocabulary
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
        chances[filled] = chance
        filled += 1
    return chances[:filled].copy()


@_compile
def surprisal(index: Index, counts: Counts, text: int, given: Floats64, ends: Ints32, each: Floats64) -> Floats64:
    """Return (parts,): the bits of each part of a text under a head's counts; parts end before the tokens `ends`.

    `given` are the tokens' background probabilities. The bits of each token, rounded, are put into `each`, unless that
    is empty.
    """
    bits = np.zeros(len(ends))
    number, part = 0, 0
    for place in range(index.starts[text], index.starts[text + 1]):
        if index.grams[0, place] == BEGIN:
            continue
        while number == ends[part]:
            part += 1
        chance = given[number]
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
            seen = max(counts.grams[gram] - DISCOUNT, 0.0)
            chance = (seen + DISCOUNT * counts.kinds[context] * chance) / total
        cost = -np.log2(chance)
        bits[part] += cost
        if len(each):
            each[number] = np.floor(0.5 + BIT_FRACTIONS * cost) / BIT_FRACTIONS
        number += 1
    return bits
