"""Profiles of character n-grams: the cosine distance between a document and a head.

A head's profile counts all its texts together. Counts are damped (1 + ln c) and weighted by how few of the different
texts have the n-gram (TF-IDF). Unlike the language models, profiles ignore order and weigh rare n-grams most.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from byline.engines.matrix import (
    PARTS,
    Flags,
    Floats64,
    Ints32,
    Ints64,
    Matrix,
    flag_cohort,
    flag_excluded,
    part_ends,
    sample_heads,
)
from byline.engines.ngram.counts import Index
from byline.engines.ngram.kernels import index_texts
from byline.engines.profiles.kernels import Rows, count_sets, multiply_chosen
from byline.engines.protocol import EngineResult, Feature, Runtime
from byline.engines.questions import Questions
from byline.settings.settings import Settings
from byline.text.encoder import Symbols

UNIT = "cosine distance"
SHORTER = 2
"""N-grams that are up to this many characters shorter than the order count too."""
FEATURES = 12
"""N-grams that are named in favor of a head, and as many against it."""
ROUNDING = 1e-12
"""Parts of a cosine; smaller ones count as none."""
BLOCK = 256
"""Documents that are multiplied with the heads at a time: bounds the memory."""


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    index: Index | None = None,
) -> EngineResult:
    """Compute 1 - cosine between the profiles of each document and its heads.

    `index` is that of all texts with these settings' order, if the caller has it already.
    """
    chosen = sample_heads(questions, settings.compared, rng)
    runtime.proceed()
    if index is None:
        index = index_texts(questions.texts, settings.order)
    weigh = _Weights(index, rarity_texts(questions))
    runtime.proceed()
    heads = weigh.profiles(questions.heads)
    values = np.zeros(chosen.shape)
    without = np.zeros((PARTS, *chosen.shape))

    def fill(numbers: Sequence[int], parts: Sequence[int], heads: Rows, columns: Flags, places: Ints32) -> None:
        sets = [questions.documents[number] for number in numbers]
        whole = weigh.profiles(sets)
        left = [weigh.profiles(sets, part) for part in parts] or [whole] * PARTS
        found = 1 - multiply_chosen(whole, tuple(left), heads, places, index.size)
        for number, value, rest in zip(numbers, found[0], found[1:].swapaxes(0, 1), strict=True):
            values[number, columns], without[:, number, columns] = value, rest

    every = np.ones(chosen.shape[1], np.bool_)
    asked = {question.document for question in questions.questions}  # parts matter for these only
    for parts in (range(0), range(PARTS)):
        numbers = [number for number in range(len(chosen)) if (number in asked) == bool(parts)]
        for start in range(0, len(numbers), BLOCK):
            runtime.proceed()
            block = numbers[start : start + BLOCK]
            fill(block, parts, heads, every, chosen[block])
    for number, head in _find_learned(questions) if questions.leave_one_out else ():
        runtime.proceed()
        rest = tuple(text for text in questions.heads[head] if text not in questions.documents[number])
        parts = range(PARTS if number in asked else 0)
        fill([number], parts, weigh.profiles([rest]), chosen[number] == head, np.zeros((1, 1), np.int32))
    features: tuple[tuple[Feature, ...], ...] = ()
    if runtime.evidence:
        features = name_features(questions, index, _weigh_grams(questions, chosen, weigh, heads, index.size))
    return EngineResult(Matrix(values, flag_excluded(questions, chosen), chosen, UNIT, without), features=features)


class _Weights:
    """Makes profiles of length 1 of sets of texts: damped counts, weighted by how few texts have the n-gram."""

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
        """Return (sets, n-grams), without one of the parts of each text, or of whole texts."""
        rows = _count(self._index, sets, self._ends, left_out)
        weights = (1 + np.log(rows.values)) * self._rarity[rows.grams]
        sizes = np.diff(rows.starts)
        lengths = np.zeros(len(sizes))
        lengths[sizes > 0] = np.add.reduceat(weights**2, rows.starts[:-1][sizes > 0]) if len(weights) else 0
        return rows._replace(values=weights / np.repeat(np.sqrt(lengths), sizes))


def name_features(
    questions: Questions, index: Index, weighed: Iterable[tuple[Ints32 | Ints64, Floats64]], least: float = ROUNDING
) -> tuple[tuple[Feature, ...], ...]:
    """Name, for each question, the n-grams with the highest and the lowest weights, if they exceed `least`."""
    found: list[list[tuple[int, float]]] = []
    for grams, weights in weighed:
        order = np.argsort(weights, kind="stable")
        strongest = dict.fromkeys([*order[::-1][:FEATURES].tolist(), *order[:FEATURES].tolist()])
        found.append([(int(grams[place]), float(weights[place])) for place in strongest if abs(weights[place]) > least])
    names = spell_grams(
        questions.texts, questions.alphabet.decode, index, {gram for features in found for gram, _ in features}
    )
    return tuple(tuple(Feature(names[gram], weight) for gram, weight in features) for features in found)


def _weigh_grams(
    questions: Questions, chosen: Ints32, weigh: _Weights, heads: Rows, size: int
) -> Iterator[tuple[Ints32, Floats64]]:
    """Yield, for each question, the n-grams of its document and how much each speaks for the head.

    The cosine is a sum over n-grams: each has the product of its two weights, less the mean of it over the cohort.
    The heads that are in most cohorts are added up once; a question then adds the others that it has, and subtracts
    those that it lacks.
    """
    cohort = flag_cohort(questions, chosen)
    usual = np.bincount(chosen[cohort], minlength=len(questions.heads)) * 2 > len(chosen)  # (heads,)
    here = np.repeat(usual, np.diff(heads.starts))
    together = np.bincount(heads.grams[here], heads.values[here], size)  # (n-grams,)
    here = np.zeros(size, np.bool_)  # whether the document has an n-gram
    slots = np.zeros(size, np.int32)  # and where in its profile

    def add(rows: Ints64, grams_here: int) -> Floats64:
        """Add up the weights of some heads for the n-grams of the document."""
        spans = [slice(heads.starts[row], heads.starts[row + 1]) for row in rows]
        grams = np.concatenate([heads.grams[:0], *(heads.grams[span] for span in spans)])
        weights = np.concatenate([heads.values[:0], *(heads.values[span] for span in spans)])
        found = np.flatnonzero(here[grams])
        total: Floats64 = np.bincount(slots[grams[found]], weights[found], grams_here).astype(np.float64)
        return total

    for start in range(0, len(questions.questions), BLOCK):
        block = questions.questions[start : start + BLOCK]
        documents = weigh.profiles([questions.documents[question.document] for question in block])
        for row, question in enumerate(block):
            own = np.zeros(len(usual), np.bool_)
            own[chosen[question.document][cohort[question.document]]] = True
            if not own.any():  # nobody to compare with
                yield np.zeros(0, np.int32), np.zeros(0)
                continue
            span = slice(documents.starts[row], documents.starts[row + 1])
            grams = documents.grams[span]
            here[grams], slots[grams] = True, np.arange(len(grams))
            beside, lacking = (add(np.flatnonzero(flags), len(grams)) for flags in (own & ~usual, usual & ~own))
            mean = (together[grams] + beside - lacking) / own.sum()
            yield grams, documents.values[span] * (add(np.array([question.head]), len(grams)) - mean)
            here[grams] = False


def spell_grams(
    texts: Sequence[Symbols], spell: Callable[[Symbols], str], index: Index, grams: Collection[int]
) -> dict[int, str]:
    """Return the names of some n-grams of the texts that the index numbers."""
    wanted = np.zeros(index.size + 1, np.bool_)  # the last is for NONE
    wanted[list(grams)] = True
    joined = np.concatenate([np.zeros(0, np.int32), *texts])
    names: dict[int, str] = {}
    for length, row in enumerate(index.grams[:, : len(joined)], start=1):
        places = np.flatnonzero(wanted[row])
        found, first = np.unique(row[places], return_index=True)
        for gram, place in zip(found.tolist(), places[first].tolist(), strict=True):
            names[gram] = spell(joined[place - length + 1 : place + 1])
    return names


def count_grams(index: Index) -> Any:
    """Return (texts, n-grams): how often each text has each n-gram that counts."""
    rows = _count(index, [(text,) for text in range(len(index.starts) - 1)], np.zeros((0, PARTS), np.int32))
    return _to_matrix(rows, index)


def profile_texts(index: Index, weighed: Sequence[int] | None = None) -> Any:
    """Return (texts, n-grams): the profile of each text; the texts `weighed`, or all, say which n-grams are rare."""
    texts = range(len(index.starts) - 1)
    rows = _Weights(index, texts if weighed is None else weighed).profiles([(text,) for text in texts])
    return _to_matrix(rows, index)


def _to_matrix(rows: Rows, index: Index) -> Any:
    return csr_array((rows.values, rows.grams, rows.starts), shape=(len(rows.starts) - 1, index.size))


def rarity_texts(questions: Questions) -> list[int]:
    """Return the texts that say which n-grams are rare."""
    return sorted(questions.background_texts) if questions.independent else list(range(len(questions.texts)))


def _find_learned(questions: Questions) -> list[tuple[int, int]]:
    """Return the documents, and the heads that are trained on all of the document and on other texts."""
    sets, learners = [set(head) for head in questions.heads], questions.learners
    return [
        (number, head)
        for number, document in enumerate(questions.documents)
        for head in learners[document[0]]
        if set(document) < sets[head]
    ]


def _count(index: Index, sets: Sequence[tuple[int, ...]], ends: Ints32, left_out: int = -1) -> Rows:
    """Count each n-gram in each set of texts."""
    texts = np.array([text for each in sets for text in each], np.int32)
    borders = np.cumsum([0, *map(len, sets)]).astype(np.int32)
    found: Rows = count_sets(index, max(0, len(index.grams) - 1 - SHORTER), texts, borders, ends, left_out)
    return found
