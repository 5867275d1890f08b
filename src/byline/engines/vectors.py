"""Vectors of character n-grams: how far a document's profile is from a head's, by the cosine.

A head's profile counts all its texts together. Counts are damped (1 + ln c) and weighted by how few of the different
texts have the n-gram (TF-IDF). Unlike the language models it does not look at what follows what, but at all that a text
is made of, with rare n-grams weighing most.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byline.engines import Feature, Filled, Watch
from byline.gains import cohort_of
from byline.ngrams import NONE, Index, index_texts
from byline.questions import Questions
from byline.scoring import PARTS, Flags, Matrix, Places, Table, choose_heads, part_ends, seen_flags
from byline.settings import Settings

UNIT = "cosine distance"
SHORTER = 2
"""N-grams of up to so many characters less than the order count too."""
FEATURES = 12
"""N-grams that are named for a head, and as many against it."""
ROUNDING = 1e-12
"""Of a cosine: what weighs less speaks neither for nor against."""
BLOCK = 256
"""Documents that are multiplied with the heads at once: bounds the memory."""


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch = Watch(),  # noqa: B008 - frozen
    index: Index | None = None,
) -> Filled:
    """1 less the cosine of the angle between each document's profile and its heads'.

    `index` is that of all texts with these settings' order, where it is at hand already.
    """
    chosen = choose_heads(questions, settings.compared, rng)
    watch.proceed()
    if index is None:
        index = index_texts(questions.texts, settings.order)
    parts = _parts(index)
    counts = _count(index, parts >= 0)
    watch.proceed()
    weigh = weigh_grams(questions, counts)
    profiles = _together(questions.heads, counts)
    heads = weigh.transform(profiles)
    totals = _together(questions.documents, counts)
    documents = weigh.transform(totals)
    values = _distances(documents, heads, chosen, watch)
    if questions.aside:
        for number, head in _learnt(questions):
            watch.proceed()
            rest = weigh.transform(profiles[[head]] - totals[[number]])
            values[number, chosen[number] == head] = 1 - float((documents[[number]] @ rest.T).sum())
    without = np.tile(values, (PARTS, 1, 1))
    asked = sorted({question.document for question in questions.questions})  # nothing hangs on the others' parts
    for part in range(PARTS if asked else 0):
        left = _together(
            [questions.documents[number] for number in asked], _count(index, (parts >= 0) & (parts != part))
        )
        without[part, asked] = _distances(weigh.transform(left), heads, chosen[asked], watch)
    found = _features(questions, chosen, index, documents, heads) if watch.evidence else ()
    return Filled(Matrix(values, seen_flags(questions, chosen), chosen, UNIT, without), features=found)


def _features(
    questions: Questions, chosen: Places, index: Index, documents: Any, heads: Any
) -> tuple[tuple[Feature, ...], ...]:
    """For each question the n-grams of its document that speak most for the head and most against it.

    The cosine is a sum over n-grams: each has the product of its two weights, less the mean of it over the cohort.
    """
    found: list[list[tuple[int, float]]] = []
    for grams, weights in _shares(questions, chosen, documents, heads):
        order = np.argsort(weights, kind="stable")
        strongest = dict.fromkeys([*order[::-1][:FEATURES].tolist(), *order[:FEATURES].tolist()])
        found.append(
            [(int(grams[place]), float(weights[place])) for place in strongest if abs(weights[place]) > ROUNDING]
        )
    names = _spell(questions, index, {gram for features in found for gram, _ in features})
    return tuple(tuple(Feature(names[gram], weight) for gram, weight in features) for features in found)


def _shares(questions: Questions, chosen: Places, documents: Any, heads: Any) -> Iterator[tuple[Places, Table]]:
    """For each question the n-grams of its document, and what each speaks for the head.

    The heads that are in most cohorts are added up once; a question then adds those that it has beside them, and takes
    off those that it lacks.
    """
    cohort = cohort_of(questions, chosen)
    usual = np.bincount(chosen[cohort], minlength=len(questions.heads)) * 2 > len(chosen)  # (heads,)
    together = usual @ heads  # (n-grams,)
    here = np.zeros(heads.shape[1], np.bool_)  # whether the document has an n-gram; looked up for all of many heads
    slots = np.zeros(heads.shape[1], np.int32)  # and where in its profile

    def add(rows: NDArray[np.int64], size: int) -> Table:
        """(n-grams of the document,): the weights of some heads, added up."""
        spans = [slice(heads.indptr[row], heads.indptr[row + 1]) for row in rows]
        grams = np.concatenate([heads.indices[:0], *(heads.indices[span] for span in spans)])
        weights = np.concatenate([heads.data[:0], *(heads.data[span] for span in spans)])
        found = np.flatnonzero(here[grams])
        total: Table = np.bincount(slots[grams[found]], weights[found], size).astype(np.float64)
        return total

    for question in questions.questions:
        own = np.zeros(len(usual), np.bool_)
        own[chosen[question.document][cohort[question.document]]] = True
        if not own.any():  # with nobody to compare with nothing speaks
            yield np.zeros(0, np.int32), np.zeros(0)
            continue
        span = slice(*documents.indptr[question.document : question.document + 2])
        grams = documents.indices[span]
        here[grams], slots[grams] = True, np.arange(len(grams))
        beside, lacking = (add(np.flatnonzero(flags), len(grams)) for flags in (own & ~usual, usual & ~own))
        mean = (together[grams] + beside - lacking) / own.sum()
        yield grams, documents.data[span] * (add(np.array([question.head]), len(grams)) - mean)
        here[grams] = False


def _spell(questions: Questions, index: Index, grams: Collection[int]) -> dict[int, str]:
    """The characters of some n-grams, from where they occur."""
    wanted = np.zeros(index.size + 1, np.bool_)  # the last is for NONE
    wanted[list(grams)] = True
    joined = np.concatenate([np.zeros(0, np.int32), *questions.texts])
    names: dict[int, str] = {}
    for length, row in enumerate(index.grams[:, : len(joined)], start=1):
        places = np.flatnonzero(wanted[row])
        found, first = np.unique(row[places], return_index=True)
        for gram, place in zip(found.tolist(), places[first].tolist(), strict=True):
            names[gram] = questions.alphabet.decode(joined[place - length + 1 : place + 1])
    return names


def count_grams(index: Index) -> Any:
    """(texts, n-grams): how often each text has each n-gram that counts."""
    return _count(index, _parts(index) >= 0)


def weigh_grams(questions: Questions, counts: Any) -> Any:
    """What damps counts and weighs them by how few texts have the n-gram.

    Where answers must not depend on what else is asked, by the texts that heads share.
    """
    from sklearn.feature_extraction.text import TfidfTransformer

    alike = questions.reference or questions.aside
    weighed = sorted(questions.shared) if alike else range(len(questions.texts))
    return TfidfTransformer(sublinear_tf=True).fit(counts[weighed])


def _learnt(questions: Questions) -> list[tuple[int, int]]:
    """Documents, and heads that are trained on all of them and on other texts."""
    sets, learners = [set(head) for head in questions.heads], questions.learners
    return [
        (number, head)
        for number, document in enumerate(questions.documents)
        for head in learners[document[0]]
        if set(document) < sets[head]
    ]


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
