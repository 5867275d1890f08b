"""Vectors of character n-grams: how far a document's profile is from a head's, by the cosine.

A head's profile counts all its texts together. Counts are damped (1 + ln c) and weighted by how few of the different
texts have the n-gram (TF-IDF). Unlike the language models it does not look at what follows what, but at all that a text
is made of, with rare n-grams weighing most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from byline.engines import Filled, Watch
from byline.ngrams import NONE, Index, index_texts
from byline.questions import Questions
from byline.scoring import PARTS, Flags, Matrix, Places, Table, choose_heads, part_ends, seen_flags
from byline.settings import Settings

UNIT = "cosine distance"
SHORTER = 2
"""N-grams of up to so many characters less than the order count too."""
BLOCK = 256
"""Documents that are multiplied with the heads at once: bounds the memory."""


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> Filled:
    """1 less the cosine of the angle between each document's profile and its heads'."""
    from sklearn.feature_extraction.text import TfidfTransformer

    chosen = choose_heads(questions, settings.compared, rng)
    watch.proceed()
    index = index_texts(questions.texts, settings.order)
    parts = _parts(index)
    counts = _count(index, parts >= 0)
    watch.proceed()
    weighed = sorted(questions.shared) if questions.reference else range(len(questions.texts))
    weigh = TfidfTransformer(sublinear_tf=True).fit(counts[weighed])
    heads = weigh.transform(_together(questions.heads, counts))
    totals = _together(questions.documents, counts)
    values = _distances(weigh.transform(totals), heads, chosen, watch)
    without = np.zeros((PARTS, *chosen.shape))
    for part in range(PARTS):
        left = _together(questions.documents, _count(index, (parts >= 0) & (parts != part)))
        without[part] = _distances(weigh.transform(left), heads, chosen, watch)
    return Filled(Matrix(values, seen_flags(questions, chosen), chosen, UNIT, without))


def _parts(index: Index) -> Places:
    """(K, characters): the part of its text that an n-gram lies in, by where it ends; -1 for those that don't count."""
    order, length = index.grams.shape
    places = np.zeros(length, np.int32)
    for begin, end in zip(index.starts[:-1], index.starts[1:], strict=True):
        places[begin:end] = np.searchsorted(part_ends(int(end - begin)), np.arange(end - begin), side="right")
    counted = np.tile(places, (order, 1))
    counted[: max(0, order - 1 - SHORTER)] = -1
    counted[index.grams == NONE] = -1
    return counted


def _count(index: Index, counted: Flags) -> Any:
    """(texts, n-grams): how often each text has each n-gram, of those that count."""
    from scipy.sparse import csr_array

    owners = np.repeat(np.arange(len(index.starts) - 1), np.diff(index.starts))
    columns = index.grams[counted]
    rows = np.broadcast_to(owners, index.grams.shape)[counted]
    counts = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(index.starts) - 1, index.size))
    counts.sum_duplicates()
    return counts


def _distances(documents: Any, heads: Any, chosen: Places, watch: Watch) -> Table:
    """(documents, K): 1 less the cosines, of the heads that are asked about each document."""
    values = np.zeros(chosen.shape)
    for start in range(0, len(values), BLOCK):
        watch.proceed()
        rows = slice(start, start + BLOCK)
        cosines = (documents[rows] @ heads.T).toarray()
        values[rows] = 1 - np.take_along_axis(cosines, chosen[rows].astype(np.int64), axis=1)
    return values


def _together(sets: Sequence[tuple[int, ...]], counts: Any) -> Any:
    """(sets, n-grams): the counts of each set's texts, added up."""
    from scipy.sparse import csr_array

    members = [text for texts in sets for text in texts]
    owners = [number for number, texts in enumerate(sets) for _ in texts]
    chooser = csr_array((np.ones(len(members)), (owners, members)), shape=(len(sets), counts.shape[0]))
    return chooser @ counts
