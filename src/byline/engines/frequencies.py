"""Cosine Delta (Smith and Aldridge 2011; Evert and others 2017): the cosine of standardized frequencies.

The features of the engine `words` are n-grams of words, numbers and punctuation marks, those of `characters` n-grams
of two characters or more. Those of `punctuation` are n-grams of marks and spaces with what they separate: a word, a
capitalized word or a number. The features that occur in most of the background texts are used. With f the relative
frequency of a feature in a set of texts, and its mean and deviation over the sets of the background:

    z     = (f - mean) / deviation, limited to +-LIMIT
    value = 1 - cosine(T z of the document, T z of the head)

Evert and others limit z as well, and report that outliers carry topic rather than style.

T discounts the directions in which texts by one author differ (see within_author.py). It is learned from the authors of
a reference; without one, it changes nothing.

Smith, P. W. H., Aldridge, W. (2011): Improving Authorship Attribution: Optimizing Burrows' Delta Method. Journal of
Quantitative Linguistics 18, 63-88. Evert, S., Proisl, T., Jannidis, F., Reger, I., Pielström, S., Schöch, C., Vitt, T.
(2017): Understanding and explaining Delta measures for authorship attribution. Digital Scholarship in the Humanities
32, ii4-ii16.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np

from byline.engines.matrix import (
    PARTS,
    Floats32,
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
from byline.engines.protocol import EngineResult, Feature, Runtime, run_in_threads, strongest_features
from byline.engines.questions import Questions
from byline.engines.within_author import ROUNDING, Vectors, WithinAuthorNorm, cosines
from byline.settings.settings import Settings
from byline.text.encoder import Symbols
from byline.text.tokens import split_punctuation, split_tokens

UNIT = "cosine distance of standardized frequencies"
FEATURES = {1: 800, 2: 1_500, 3: 2_400}
"""The number of features of words, by order."""
CHARACTER_FEATURES = 6_000
PUNCTUATION_FEATURES = 800
SHORTEST = 2
"""The shortest n-gram of characters that is a feature."""
LIMIT = 2.0
"""The greatest standardized frequency, in deviations."""
LEAST_DEVIATION = 0.5
"""The least deviation of a feature, as a part of what chance alone gives a text of the usual length."""
MOST_PASSAGES, FEWEST_TOKENS = 400, 20
"""The passages in which the variation within authors is seen, and the tokens that each of them has at least."""
FOLDS = 5
"""The authors are divided into this many folds. What is said of a text is learned without the fold of its author."""
TOGETHER = 10
"""Documents that are compared at once."""
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
    frequencies = _Frequencies(questions, settings)
    runtime.proceed()
    heads = frequencies.measure(questions.heads)
    sets = frequencies.sets
    asked = {question.document for question in questions.questions}  # parts matter for these only
    values = np.zeros(chosen.shape)
    without = np.zeros((PARTS, *chosen.shape))

    def fill_rows(numbers: Sequence[int]) -> None:
        for first in range(0, len(numbers), TOGETHER):
            runtime.proceed()
            part = numbers[first : first + TOGETHER]
            rows = [(number, left_out) for number in part for left_out in range(-1, PARTS if number in asked else 0)]
            places = np.array([number for number, _ in rows])
            documents = frequencies.measure(
                [questions.documents[number] for number in places], [out for _, out in rows]
            )
            for number in part:
                found = 1 - compare(documents.select(np.flatnonzero(places == number)), number)
                values[number], without[:, number] = found[0], found[1:] if number in asked else found[0]

    def compare(rows: Vectors, number: int) -> Floats64:
        """Return (rows, K): cosines of a document, and perhaps of its parts, with its heads."""
        own = sets[chosen[number]]
        if questions.reference and sets[number]:  # with a reference, document and head of a number belong together
            own = np.full(len(own), sets[number])
        return cosines(rows, heads.select(chosen[number]) if sampled else heads, own)

    sampled = chosen.shape[1] < len(questions.heads)
    run_in_threads(fill_rows, len(chosen), runtime.threads)
    matrix = Matrix(values, flag_excluded(questions, chosen), chosen, UNIT, without)
    if not runtime.evidence:
        return EngineResult(matrix)
    if settings.engine == "characters":
        return EngineResult(matrix, gains=_place_gains(questions, matrix, frequencies, heads))
    return EngineResult(matrix, features=_name_features(questions, chosen, frequencies, heads))


def _choose_left_out(questions: Questions) -> tuple[list[frozenset[int]], Ints64]:
    """Return sets of authors to leave out, the first of them empty, and (heads,): the set for each head and document.

    If the authors from whom nothing may be learned are in one fold, the whole fold is left out.
    """
    folds = [frozenset(each for each in questions.background_authors if each % FOLDS == fold) for fold in range(FOLDS)]
    numbers: dict[frozenset[int], int] = {frozenset(): 0}
    chosen = []
    for unseen in questions.unseen_authors:
        around = next((fold for fold in folds if unseen <= fold), unseen) if unseen else unseen
        chosen.append(numbers.setdefault(around, len(numbers)))
    return list(numbers), np.array(chosen, np.int64)


class _Frequencies:
    """The relative frequencies of the features in sets of texts."""

    def __init__(self, questions: Questions, settings: Settings) -> None:
        if settings.engine == "words":
            shortest, order, most = 1, settings.word_order, FEATURES[settings.word_order]
            texts, spell = _number_tokens(questions, split_tokens, " ")
        elif settings.engine == "punctuation":
            shortest, order, most = 1, settings.order, PUNCTUATION_FEATURES
            texts, spell = _number_tokens(questions, split_punctuation, "")
        else:
            shortest, order, most = SHORTEST, settings.order, CHARACTER_FEATURES
            texts, spell = questions.texts, questions.alphabet.decode
        index = index_texts(texts, order)
        self.names, chosen = _choose_features(index, texts, spell, questions.background_texts, shortest, most)
        feature = np.full(index.size + 1, len(chosen), np.int32)  # of each n-gram; the last is for NONE
        feature[chosen] = np.arange(len(chosen))
        self._features = feature[index.grams[shortest - 1 :]]  # (orders, tokens): the feature that ends there, if any
        self._starts = index.starts
        self._learn_scale(questions)
        left_out, self.sets = _choose_left_out(questions)
        self._within_author = WithinAuthorNorm(*self._vary_within_authors(questions), left_out)

    def _learn_scale(self, questions: Questions) -> None:
        """Learn means and deviations from the heads and documents that consist of background texts."""
        known = set(questions.background_texts)
        sets = {
            *questions.heads[questions.first_compared_head :],
            *questions.documents[questions.first_compared_document :],
        }
        background = sorted(each for each in sets if known.issuperset(each))
        if questions.reference is None and known == {text for each in background if len(each) == 1 for text in each}:
            background = [each for each in background if len(each) == 1]  # a text that recurs counts once
        found, sizes = self.count(background)
        self._mean = found.mean(axis=0) if len(found) else np.zeros(len(self.names))
        chance = np.sqrt(self._mean * np.mean(1 / np.maximum(sizes, 1))) if len(found) else self._mean
        deviation = found.std(axis=0) if len(found) else self._mean
        self._deviation = np.maximum(deviation, LEAST_DEVIATION * chance)

    def _vary_within_authors(self, questions: Questions) -> tuple[Floats64, Ints64]:
        """Return (passages, features), (passages,): the distances of passages from their author's mean, and authors."""
        authors = questions.background_authors
        most = max(2, MOST_PASSAGES // max(len(authors), 1))
        found, numbers = [np.zeros((0, len(self.names)))], []
        for author, texts in authors.items():
            passages = [passage for text in texts for passage in self._cut(questions, text, alone=len(texts) == 1)]
            places = np.unique(np.linspace(0, len(passages) - 1, min(len(passages), most)).round().astype(int))
            if len(places) > 1:
                rows = self._deviate(np.array([self._share(passages[place]) for place in places]))
                rows /= np.maximum(np.sqrt(np.einsum("pf,pf->p", rows, rows)), ROUNDING)[:, None]
                found.append((rows - rows.mean(axis=0)) / np.sqrt(len(rows) - 1))
                numbers += [author] * len(rows)
        return np.concatenate(found), np.array(numbers, np.int64)

    def _cut(self, questions: Questions, text: int, alone: bool) -> list[Ints32]:
        """Divide the features of a text into passages of about the shorter side's length, an only text into two."""
        layout = questions.reference.layout if questions.reference else None
        assert layout is not None, "only a reference has background authors"
        features = self.features_of((text,))
        count = round(len(questions.texts[text]) / min(layout.lengths))
        count = min(max(count, 2 if alone else 1), features.shape[1] // FEWEST_TOKENS)
        return np.array_split(features, count, axis=1) if count else []

    def count(self, sets: Sequence[TextSet], left_out: int = -1) -> tuple[Floats64, Ints64]:
        """Return (sets, features), (sets,): relative frequencies and tokens, without one of the parts of each text.

        An n-gram is in the part where it ends. Nothing is left out of a set if nothing would be left.
        """
        found, sizes = np.zeros((len(sets), len(self.names))), np.zeros(len(sets), np.int64)
        for row, texts in enumerate(sets):
            features = self.features_of(texts, left_out)
            if not features.shape[1]:
                features = self.features_of(texts)
            sizes[row] = features.shape[1]
            found[row] = self._share(features)
        return found, sizes

    def _share(self, features: Ints32) -> Floats64:
        """Return (features,): the relative frequencies of features at (orders, tokens)."""
        counts = np.bincount(features.ravel(), minlength=len(self.names) + 1)[: len(self.names)]
        shares: Floats64 = counts / max(features.shape[1], 1)
        return shares

    def _deviate(self, shares: Floats64) -> Floats64:
        """Return relative frequencies in deviations, limited."""
        return np.clip((shares - self._mean) / self._deviation, -LIMIT, LIMIT)

    def features_of(self, texts: TextSet, left_out: int = -1) -> Ints32:
        """Return (orders, tokens): the features of a set of texts, without one of the parts of each."""
        found = []
        for text in texts:
            features = self._features[:, self._starts[text] : self._starts[text + 1]]
            if left_out >= 0:
                begin, end = (0, *part_ends(features.shape[1]))[left_out : left_out + 2]
                features = np.delete(features, slice(begin, end), axis=1)
            found.append(features)
        return np.concatenate(found, axis=1)

    def measure(self, sets: Sequence[TextSet], left_out: Sequence[int] = ()) -> Vectors:
        """Return standardized frequencies, without one of the parts of each set; -1 leaves out none."""
        parts = left_out or [-1] * len(sets)
        shares = [self.count([texts], part)[0][0] for texts, part in zip(sets, parts, strict=True)]
        return self._within_author.measure(self._deviate(np.array(shares).reshape(len(shares), len(self.names))))

    def discount(self, vector: Floats64) -> Floats64:
        """Return (features,): weights of features, whose plain product with a vector is what is compared."""
        return self._within_author.discount(vector)

    def having(self, texts: TextSet) -> Ints64:
        """Return the features that occur in a set of texts."""
        return np.flatnonzero(self.count([texts])[0][0])


def _place_gains(
    questions: Questions, matrix: Matrix, frequencies: _Frequencies, heads: Vectors
) -> tuple[Floats32, ...]:
    """Return, for each question, what each symbol of its document adds to the double-centered score, in deviations.

    The cosine is a sum over features, and so is the cosine less the means over the cohort's documents and heads: the
    product of both sides' distances from these means. The weight of a feature is divided equally among the
    places where it ends. Features that the document lacks have no place, so the gains do not add up to the whole score.
    """
    first = questions.first_compared_document
    cohort = ~matrix.excluded & (matrix.heads >= questions.first_compared_head)
    documents = frequencies.measure(questions.documents[first:]).unit()
    learned = heads.unit()
    found: list[Floats32] = []
    for question in questions.questions:
        document = questions.documents[question.document]
        features = frequencies.features_of(document)
        among = cohort[question.document]
        beside = (matrix.heads[first:] == question.head) & ~matrix.excluded[first:]  # (documents, heads)
        compared = beside.any(axis=1)
        if not among.any() or not compared.any():  # nobody to compare with
            found.append(np.zeros(features.shape[1], np.float32))
            continue
        row, others = frequencies.measure([document]).unit()[0], matrix.heads[question.document][among]
        head = frequencies.discount(learned[question.head] - learned[others].mean(axis=0))
        weights = (row - documents[compared].mean(axis=0)) * head
        spread = np.sqrt(np.std(matrix.values[first:][beside]) * np.std(matrix.values[question.document][among]))
        counts = np.bincount(features.ravel(), minlength=len(weights) + 1)[: len(weights)]
        each = np.append(weights / np.maximum(counts, 1) / max(spread, ROUNDING), 0)  # the last is for no feature
        found.append(each[features].sum(axis=0).astype(np.float32))
    return tuple(found)


def _number_tokens(
    questions: Questions, split: Callable[[str], list[str]], separator: str
) -> tuple[Sequence[Symbols], Callable[[Symbols], str]]:
    """Return the texts as numbers of tokens, and a function that joins the tokens of some numbers."""
    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
    texts = [
        np.array([numbers[token] for token in split(questions.alphabet.decode(text))], np.int32)
        for text in questions.texts
    ]
    tokens = list(numbers)
    return texts, lambda gram: separator.join([tokens[number] for number in gram])


def _choose_features(
    index: Index,
    texts: Sequence[Symbols],
    spell: Callable[[Symbols], str],
    background: Sequence[int],
    shortest: int,
    most: int,
) -> tuple[list[str], Ints64]:
    """Return the names and numbers of the n-grams that most background texts have, then those that occur most often.

    Ties are in the order of the names.
    """
    having, often = np.zeros(index.size, np.int64), np.zeros(index.size, np.int64)
    for text in background:
        grams = index.grams[shortest - 1 :, index.starts[text] : index.starts[text + 1]]
        different, counts = np.unique(grams[grams != NONE], return_counts=True)
        having[different] += 1
        often[different] += counts
    (found,) = np.nonzero(having)
    ranked = found[np.lexsort((-often[found], -having[found]))]
    if len(ranked) > most:  # with all that are as good as the last
        last = ranked[most - 1]
        as_good = (having[ranked] > having[last]) | ((having[ranked] == having[last]) & (often[ranked] >= often[last]))
        ranked = ranked[as_good]
    names = _spell_grams(index, texts, spell, ranked)
    ordered = sorted(ranked.tolist(), key=lambda gram: (-having[gram], -often[gram], names[gram]))[:most]
    return [names[gram] for gram in ordered], np.array(ordered, np.int64)


def _spell_grams(
    index: Index, texts: Sequence[Symbols], spell: Callable[[Symbols], str], grams: Ints64
) -> dict[int, str]:
    """Return the names of some n-grams of the texts."""
    joined = np.concatenate([np.zeros(0, np.int32), *texts])
    ends, lengths = np.zeros(index.size + 1, np.int64), np.zeros(index.size + 1, np.int64)  # the last is for NONE
    for length, row in enumerate(index.grams, start=1):
        ends[row], lengths[row] = np.arange(1, len(row) + 1), length  # any of the places where an n-gram is
    places = zip(grams.tolist(), (ends - lengths)[grams].tolist(), ends[grams].tolist(), strict=True)
    return {gram: spell(joined[begin:end]) for gram, begin, end in places}


def _name_features(
    questions: Questions, chosen: Ints32, frequencies: _Frequencies, heads: Vectors
) -> tuple[tuple[Feature, ...], ...]:
    """Name, for each question, the features of its document that speak most for and against the head.

    The cosine is a sum over features. Each has the product of its two numbers, less the mean of that over the cohort.
    """
    cohort = flag_cohort(questions, chosen)
    learned = heads.unit()
    found: list[tuple[Feature, ...]] = []
    for question in questions.questions:
        among = chosen[question.document][cohort[question.document]]
        if not len(among):  # nobody to compare with
            found.append(())
            continue
        document = questions.documents[question.document]
        head = frequencies.discount(learned[question.head] - learned[among].mean(axis=0))
        weights = frequencies.measure([document]).unit()[0] * head
        there = frequencies.having(document)
        found.append(strongest_features({frequencies.names[place]: float(weights[place]) for place in there}))
    return tuple(found)
