"""Cosine Delta over words (Smith and Aldridge 2011; Evert and others 2017): standardized frequencies, and their cosine.

The features are the n-grams of words, numbers and marks that occur in most of the background texts. With f the relative
frequency of a feature in a set of texts, and its mean and deviation over the sets of the background:

    z     = (f - mean) / deviation
    value = 1 - cosine(z of the document, z of the head)

Smith, P. W. H., Aldridge, W. (2011): Improving Authorship Attribution: Optimizing Burrows' Delta Method. Journal of
Quantitative Linguistics 18, 63-88. Evert, S., Proisl, T., Jannidis, F., Reger, I., Pielström, S., Schöch, C., Vitt, T.
(2017): Understanding and explaining Delta measures for authorship attribution. Digital Scholarship in the Humanities
32, ii4-ii16.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from byline.engines.matrix import (
    PARTS,
    Floats64,
    Ints32,
    Ints64,
    Matrix,
    flag_cohort,
    flag_excluded,
    part_ends,
    sample_heads,
)
from byline.engines.ngram.counts import NONE, Index
from byline.engines.ngram.kernels import index_texts
from byline.engines.profiles.engine import spell_grams
from byline.engines.protocol import EngineResult, Feature, Runtime, run_in_threads, strongest_features
from byline.engines.questions import Questions
from byline.settings.settings import Settings
from byline.text.encoder import Symbols
from byline.text.tokens import split_tokens

UNIT = "cosine distance of standardized frequencies"
FEATURES = {1: 600, 2: 600, 3: 1_200}
"""The number of features, by order. None of 200 to 4,000 was better on the mean of four PAN training corpora."""
LEAST_DEVIATION = 0.5
"""The least deviation of a feature, as a part of what chance alone gives a text of the usual length."""
ROUNDING = 1e-9
"""Shorter vectors count as none."""
TextSet = tuple[int, ...]


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> EngineResult:
    """Compute 1 - cosine between the standardized frequencies of each document and its heads."""
    chosen = sample_heads(questions, settings.compared, rng)
    runtime.proceed()
    frequencies = _Frequencies(questions, settings.word_order)
    runtime.proceed()
    heads = frequencies.standardize(questions.heads)
    asked = {question.document for question in questions.questions}  # parts matter for these only
    values = np.zeros(chosen.shape)
    without = np.zeros((PARTS, *chosen.shape))

    def fill_rows(numbers: Sequence[int]) -> None:
        for number in numbers:
            runtime.proceed()
            compared = heads if len(heads) == chosen.shape[1] else heads[chosen[number]]
            parts = range(-1, PARTS if number in asked else 0)
            rows = np.concatenate([frequencies.standardize([questions.documents[number]], part) for part in parts])
            # not a matrix product, whose last digits depend on how many heads there are
            found = 1 - np.einsum("rf,hf->rh", rows, compared)
            values[number], without[:, number] = found[0], found[1:] if number in asked else found[0]

    run_in_threads(fill_rows, len(chosen), runtime.threads)
    features = _name_features(questions, chosen, frequencies, heads) if runtime.evidence else ()
    return EngineResult(Matrix(values, flag_excluded(questions, chosen), chosen, UNIT, without), features=features)


class _Frequencies:
    """The relative frequencies of the features in sets of texts."""

    def __init__(self, questions: Questions, order: int) -> None:
        numbers: dict[str, int] = {}
        texts = [
            np.array(
                [numbers.setdefault(token, len(numbers)) for token in split_tokens(questions.alphabet.decode(text))],
                np.int32,
            )
            for text in questions.texts
        ]
        index = index_texts(texts, order)
        self.names, kept = _choose_features(index, texts, list(numbers), questions.background_texts)
        ends = [part_ends(len(text)) for text in texts]
        self._sizes = np.array([np.diff(each, prepend=0) for each in ends], np.float64).reshape(-1)  # (texts x PARTS,)
        self._counts = self._count(index, kept, ends)
        self._learn_scale(questions)

    def _count(self, index: Index, kept: Ints64, ends: Sequence[Ints32]) -> Any:
        """Return (texts x PARTS, features): counts of n-grams, each in the part where it ends."""
        column = np.full(index.size + 1, NONE, np.int64)  # the last is for NONE itself
        column[kept] = np.arange(len(kept))
        columns = column[index.grams]
        part_of = np.concatenate(
            [np.zeros(0, np.int64)]
            + [text * PARTS + np.repeat(np.arange(PARTS), np.diff(each, prepend=0)) for text, each in enumerate(ends)]
        )
        counted = columns != NONE
        rows = np.broadcast_to(part_of, columns.shape)[counted]
        shape = (len(self._sizes), len(kept))
        return csr_array((np.ones(len(rows)), (rows, columns[counted])), shape=shape)

    def _learn_scale(self, questions: Questions) -> None:
        """Learn means and deviations from the heads and documents that consist of background texts."""
        known = set(questions.background_texts)
        sets = {
            *questions.heads[questions.first_compared_head :],
            *questions.documents[questions.first_compared_document :],
        }
        background = sorted(each for each in sets if known.issuperset(each))
        found, sizes = self.count(background)
        self._mean = found.mean(axis=0) if len(found) else np.zeros(len(self.names))
        chance = np.sqrt(self._mean * np.mean(1 / np.maximum(sizes, 1))) if len(found) else self._mean
        deviation = found.std(axis=0) if len(found) else self._mean
        self._deviation = np.maximum(deviation, LEAST_DEVIATION * chance)

    def count(self, sets: Sequence[TextSet], left_out: int = -1) -> tuple[Floats64, Floats64]:
        """Return (sets, features), (sets,): relative frequencies and tokens, without one of the parts of each text.

        Nothing is left out of a set if nothing would be left.
        """
        texts = np.array([text for each in sets for text in each], np.int64)
        rows = np.repeat(np.arange(len(sets)), [len(each) for each in sets])
        parts = [part for part in range(PARTS) if part != left_out]
        columns = (texts[:, None] * PARTS + parts).ravel()
        shape = (len(sets), len(self._sizes))
        members = csr_array((np.ones(len(columns)), (np.repeat(rows, len(parts)), columns)), shape=shape)
        sizes = members @ self._sizes
        found = (members @ self._counts).toarray() / np.maximum(sizes, 1)[:, None]
        if left_out >= 0 and not sizes.all():
            whole = self.count(sets)
            return np.where(sizes[:, None] > 0, found, whole[0]), np.where(sizes > 0, sizes, whole[1])
        return found, sizes

    def standardize(self, sets: Sequence[TextSet], left_out: int = -1) -> Floats64:
        """Return (sets, features): standardized frequencies, as vectors of length 1, or 0 if there is no difference."""
        found = (self.count(sets, left_out)[0] - self._mean) / self._deviation
        lengths = np.sqrt(np.einsum("sf,sf->s", found, found))[:, None]
        return np.where(lengths > ROUNDING, found / np.maximum(lengths, ROUNDING), 0)

    def having(self, texts: TextSet) -> Ints64:
        """Return the features that occur in a set of texts."""
        return np.flatnonzero(self.count([texts])[0][0])


def _choose_features(
    index: Index, texts: Sequence[Symbols], tokens: Sequence[str], background: Sequence[int]
) -> tuple[list[str], Ints64]:
    """Return the names and numbers of the n-grams that most background texts have, then those that occur most often.

    Ties are in the order of the names.
    """
    having, often = np.zeros(index.size, np.int64), np.zeros(index.size, np.int64)
    for text in background:
        grams = index.grams[:, index.starts[text] : index.starts[text + 1]]
        different, counts = np.unique(grams[grams != NONE], return_counts=True)
        having[different] += 1
        often[different] += counts
    (found,) = np.nonzero(having)
    ranked = found[np.lexsort((-often[found], -having[found]))]
    most = FEATURES[len(index.grams)]
    if len(ranked) > most:  # with all that are as good as the last
        last = ranked[most - 1]
        as_good = (having[ranked] > having[last]) | ((having[ranked] == having[last]) & (often[ranked] >= often[last]))
        ranked = ranked[as_good]
    names = spell_grams(texts, lambda gram: " ".join(tokens[token] for token in gram), index, ranked.tolist())
    ordered = sorted(ranked.tolist(), key=lambda gram: (-having[gram], -often[gram], names[gram]))[:most]
    return [names[gram] for gram in ordered], np.array(ordered, np.int64)


def _name_features(
    questions: Questions, chosen: Ints32, frequencies: _Frequencies, heads: Floats64
) -> tuple[tuple[Feature, ...], ...]:
    """Name, for each question, the features of its document that speak most for and against the head.

    The cosine is a sum over features. Each has the product of its two numbers, less the mean of that over the cohort.
    """
    cohort = flag_cohort(questions, chosen)
    found: list[tuple[Feature, ...]] = []
    for question in questions.questions:
        among = chosen[question.document][cohort[question.document]]
        if not len(among):  # nobody to compare with
            found.append(())
            continue
        document = questions.documents[question.document]
        weights = frequencies.standardize([document])[0] * (heads[question.head] - heads[among].mean(axis=0))
        there = frequencies.having(document)
        found.append(strongest_features({frequencies.names[place]: float(weights[place]) for place in there}))
    return tuple(found)
