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
from byline.ngram_kernels import index_texts
from byline.ngrams import Index
from byline.profile_kernels import Rows, count_sets, multiply_chosen
from byline.questions import Questions
from byline.scoring import PARTS, Matrix, Places, Table, choose_heads, part_ends, seen_flags
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
    weigh = _Weights(index, weighed_texts(questions))
    watch.proceed()
    heads = weigh.profiles(questions.heads)
    values = np.zeros(chosen.shape)
    without = np.zeros((PARTS, *chosen.shape))

    def fill(
        numbers: Sequence[int], parts: Sequence[int], heads: Rows, columns: NDArray[np.bool_], places: Places
    ) -> None:
        sets = [questions.documents[number] for number in numbers]
        whole = weigh.profiles(sets)
        left = [weigh.profiles(sets, part) for part in parts] or [whole] * PARTS
        found = 1 - multiply_chosen(whole, tuple(left), heads, places, index.size)
        for number, value, rest in zip(numbers, found[0], found[1:].swapaxes(0, 1), strict=True):
            values[number, columns], without[:, number, columns] = value, rest

    every = np.ones(chosen.shape[1], np.bool_)
    asked = {question.document for question in questions.questions}  # nothing hangs on the others' parts
    for parts in (range(0), range(PARTS)):
        numbers = [number for number in range(len(chosen)) if (number in asked) == bool(parts)]
        for start in range(0, len(numbers), BLOCK):
            watch.proceed()
            block = numbers[start : start + BLOCK]
            fill(block, parts, heads, every, chosen[block])
    for number, head in _learnt(questions) if questions.aside else ():
        watch.proceed()
        rest = tuple(text for text in questions.heads[head] if text not in questions.documents[number])
        parts = range(PARTS if number in asked else 0)
        fill([number], parts, weigh.profiles([rest]), chosen[number] == head, np.zeros((1, 1), np.int32))
    found = _features(questions, chosen, index, weigh, heads) if watch.evidence else ()
    return Filled(Matrix(values, seen_flags(questions, chosen), chosen, UNIT, without), features=found)


class _Weights:
    """Profiles of sets of texts: counts damped, weighed by how few of some texts have the n-gram, of length 1."""

    def __init__(self, index: Index, weighed: Sequence[int]) -> None:
        self._index = index
        lengths = np.diff(index.starts)
        self._ends = np.array([part_ends(int(length)) for length in lengths], np.int32).reshape(len(lengths), PARTS)
        having = np.zeros(index.size)
        for start in range(0, len(weighed), BLOCK):
            rows = _count(index, [(text,) for text in weighed[start : start + BLOCK]], self._ends)
            np.add.at(having, rows.grams, 1)
        self._rarity = np.log((1 + len(weighed)) / (1 + having)) + 1  # as if one more text had all of them

    def profiles(self, sets: Sequence[tuple[int, ...]], left_out: int = -1) -> Rows:
        """(sets, n-grams), without one of the parts of each text, or as a whole."""
        rows = _count(self._index, sets, self._ends, left_out)
        weights = (1 + np.log(rows.values)) * self._rarity[rows.grams]
        sizes = np.diff(rows.starts)
        lengths = np.zeros(len(sizes))
        lengths[sizes > 0] = np.add.reduceat(weights**2, rows.starts[:-1][sizes > 0]) if len(weights) else 0
        return rows._replace(values=weights / np.repeat(np.sqrt(lengths), sizes))


def _features(
    questions: Questions, chosen: Places, index: Index, weigh: _Weights, heads: Rows
) -> tuple[tuple[Feature, ...], ...]:
    """For each question the n-grams of its document that speak most for the head and most against it.

    The cosine is a sum over n-grams: each has the product of its two weights, less the mean of it over the cohort.
    """
    found: list[list[tuple[int, float]]] = []
    for grams, weights in _shares(questions, chosen, weigh, heads, index.size):
        order = np.argsort(weights, kind="stable")
        strongest = dict.fromkeys([*order[::-1][:FEATURES].tolist(), *order[:FEATURES].tolist()])
        found.append(
            [(int(grams[place]), float(weights[place])) for place in strongest if abs(weights[place]) > ROUNDING]
        )
    names = _spell(questions, index, {gram for features in found for gram, _ in features})
    return tuple(tuple(Feature(names[gram], weight) for gram, weight in features) for features in found)


def _shares(
    questions: Questions, chosen: Places, weigh: _Weights, heads: Rows, size: int
) -> Iterator[tuple[Places, Table]]:
    """For each question the n-grams of its document, and what each speaks for the head.

    The heads that are in most cohorts are added up once; a question then adds those that it has beside them, and takes
    off those that it lacks.
    """
    cohort = cohort_of(questions, chosen)
    usual = np.bincount(chosen[cohort], minlength=len(questions.heads)) * 2 > len(chosen)  # (heads,)
    here = np.repeat(usual, np.diff(heads.starts))
    together = np.bincount(heads.grams[here], heads.values[here], size)  # (n-grams,)
    here = np.zeros(size, np.bool_)  # whether the document has an n-gram; looked up for all of many heads
    slots = np.zeros(size, np.int32)  # and where in its profile

    def add(rows: NDArray[np.int64], grams_here: int) -> Table:
        """(n-grams of the document,): the weights of some heads, added up."""
        spans = [slice(heads.starts[row], heads.starts[row + 1]) for row in rows]
        grams = np.concatenate([heads.grams[:0], *(heads.grams[span] for span in spans)])
        weights = np.concatenate([heads.values[:0], *(heads.values[span] for span in spans)])
        found = np.flatnonzero(here[grams])
        total: Table = np.bincount(slots[grams[found]], weights[found], grams_here).astype(np.float64)
        return total

    for start in range(0, len(questions.questions), BLOCK):
        block = questions.questions[start : start + BLOCK]
        documents = weigh.profiles([questions.documents[question.document] for question in block])
        for row, question in enumerate(block):
            own = np.zeros(len(usual), np.bool_)
            own[chosen[question.document][cohort[question.document]]] = True
            if not own.any():  # with nobody to compare with nothing speaks
                yield np.zeros(0, np.int32), np.zeros(0)
                continue
            span = slice(documents.starts[row], documents.starts[row + 1])
            grams = documents.grams[span]
            here[grams], slots[grams] = True, np.arange(len(grams))
            beside, lacking = (add(np.flatnonzero(flags), len(grams)) for flags in (own & ~usual, usual & ~own))
            mean = (together[grams] + beside - lacking) / own.sum()
            yield grams, documents.values[span] * (add(np.array([question.head]), len(grams)) - mean)
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
    rows = _count(index, [(text,) for text in range(len(index.starts) - 1)], np.zeros((0, PARTS), np.int32))
    return _to_matrix(rows, index)


def _to_matrix(rows: Rows, index: Index) -> Any:
    from scipy.sparse import csr_array

    return csr_array((rows.values, rows.grams, rows.starts), shape=(len(rows.starts) - 1, index.size))


def weigh_texts(index: Index, weighed: Sequence[int] | None = None) -> Any:
    """(texts, n-grams): the profiles of texts; which n-grams are rare, `weighed` ones say, or all."""
    texts = range(len(index.starts) - 1)
    rows = _Weights(index, texts if weighed is None else weighed).profiles([(text,) for text in texts])
    return _to_matrix(rows, index)


def weighed_texts(questions: Questions) -> list[int]:
    """The texts that say which n-grams are rare: where answers must not depend on what else is asked, shared ones."""
    alike = questions.reference or questions.aside
    return sorted(questions.shared) if alike else list(range(len(questions.texts)))


def _learnt(questions: Questions) -> list[tuple[int, int]]:
    """Documents, and heads that are trained on all of them and on other texts."""
    sets, learners = [set(head) for head in questions.heads], questions.learners
    return [
        (number, head)
        for number, document in enumerate(questions.documents)
        for head in learners[document[0]]
        if set(document) < sets[head]
    ]


def _count(index: Index, sets: Sequence[tuple[int, ...]], ends: Places, left_out: int = -1) -> Rows:
    """How often each n-gram that counts occurs in each set of texts."""
    texts = np.array([text for each in sets for text in each], np.int32)
    borders = np.cumsum([0, *map(len, sets)]).astype(np.int32)
    found: Rows = count_sets(index, max(0, len(index.grams) - 1 - SHORTER), texts, borders, ends, left_out)
    return found
