"""How far two texts are apart, relative to how far each is from itself: n-gram frequencies and their variance.

The other engines' values mean nothing on their own and are compared with those of other texts. Beside texts of another
kind that goes wrong: whatever two texts of one kind share stands out, whoever wrote them. This engine compares a text
with its own parts. With p the frequency of an n-gram in a text, p_c that in the c-th of its C chunks, and w weights:

    v     = sum_c (p_c - p)^2 / (C (C - 1))           the sampling variance of p
    apart = sum w (p_i - p_j)^2                       mean over texts i of the document and j of the head
    noise = sum w (v_i + v_j)                         the value of `apart` expected by chance alone
    own   = apart - noise                             the same among an author's own texts, where there are several
    value = log(apart / (noise + own))

Frequent n-grams vary more, so each is weighted by 1 over its frequency in both texts together. The kind that document
and head share cancels out in p_i - p_j. The matrix's `trust` says how informative texts of their size are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from byline.engines.matrix import PARTS, Flags, Floats32, Floats64, Ints32, Matrix, flag_excluded, sample_heads
from byline.engines.ngram.counts import NONE, Index
from byline.engines.ngram.kernels import index_texts
from byline.engines.profiles.engine import SHORTER
from byline.engines.protocol import EngineResult, Runtime, run_in_threads
from byline.engines.questions import Questions
from byline.settings.settings import Settings

UNIT = "log of distance over own spread"
FEATURES = 4_000
"""N-grams that count: those that most of the background texts have."""
CHUNKS = 4 * PARTS
RARE = 0.1
"""The part of its usual frequency that is added to an n-gram's own; otherwise rare n-grams would dominate."""
USUAL_OWN, USUAL_COUNTS = 0.12, 2
"""The usual value of `own`, and the number of texts that it counts as where an author has several."""
USUAL_OTHERS = 0.3
"""The usual value of `own` for two different authors."""
DOUBT = 8
"""The weight of `own` relative to `noise` in the trust: it differs from text to text."""
LEAST = 0.25
"""The least ratio: texts can't be nearer than by chance, and those that are much nearer are partial copies."""


class _TextProfile(NamedTuple):
    """A text, or what is left of it: (FEATURES,) each."""

    frequencies: Floats32
    variances: Floats32
    length: int


class _Sets(NamedTuple):
    """Sets of texts: means over each set's texts (sets, FEATURES), and its sizes (sets,)."""

    means: Floats32
    squares: Floats32
    variances: Floats32
    joined: Floats32  # frequencies in all texts together, times their length
    lengths: Floats32
    texts: Floats32

    def at(self, places: Ints32) -> _Sets:
        return _Sets(*(array[places] for array in self))


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> EngineResult:
    """Compute the logarithm of each document's distance from its heads over the distance expected from own spread."""
    chosen = sample_heads(questions, settings.compared, rng)
    runtime.proceed()
    counter = _ProfileCounter(index_texts(questions.texts, settings.order), questions)
    whole = np.ones(CHUNKS, np.bool_)
    texts = [counter.profile(text, whole) for text in range(len(questions.texts))]
    heads = _summarize([[texts[text] for text in head] for head in questions.heads])
    asked = {question.document for question in questions.questions}
    values, trust = np.zeros(chosen.shape), np.zeros(chosen.shape)
    without = np.zeros((PARTS, *chosen.shape))

    def fill_rows(numbers: Sequence[int]) -> None:
        for number in numbers:
            runtime.proceed()
            beside = heads.at(chosen[number])
            document = questions.documents[number]
            whole = _summarize([[texts[text] for text in document]])
            values[number], trust[number] = _compare(whole, beside, counter.usual)
            without[:, number] = values[number]
            for part in range(PARTS if number in asked else 0):  # parts matter for documents of questions only
                kept = np.arange(CHUNKS) * PARTS // CHUNKS != part
                left = _summarize([[counter.profile(text, kept) for text in document]])
                without[part, number] = _compare(left, beside, counter.usual)[0]

    run_in_threads(fill_rows, len(chosen), runtime.threads)
    return EngineResult(Matrix(values, flag_excluded(questions, chosen), chosen, UNIT, without, trust))


class _ProfileCounter:
    """Counts the n-grams that most of the background texts have."""

    def __init__(self, index: Index, questions: Questions) -> None:
        self.index = index
        order = len(index.grams)
        self.first = max(0, order - 1 - SHORTER)
        found = np.zeros(index.size, np.int64)  # in how many texts
        for text in questions.background_texts:
            grams = self._grams(text)
            found[np.unique(grams[grams != NONE])] += 1
        ranked = np.argsort(-found, kind="stable")[:FEATURES]  # ties in the order of the n-grams
        kept = ranked[found[ranked] > 0]
        self.column = np.full(index.size + 1, NONE, np.int64)  # the last is for NONE itself
        self.column[kept] = np.arange(len(kept))
        self.size = len(kept)
        self.order_of = np.zeros(len(kept), np.int64)
        for row in range(self.first, order):
            columns = self.column[index.grams[row]]
            self.order_of[columns[columns != NONE]] = row - self.first
        profiles = [self.profile(text, np.ones(CHUNKS, np.bool_)) for text in questions.background_texts]
        lengths = np.array([profile.length for profile in profiles])
        joined = np.sum([profile.frequencies * profile.length for profile in profiles], axis=0)
        self.usual: Floats32 = (joined / max(lengths.sum(), 1)).astype(np.float32)
        """(FEATURES,): the frequency of each in all background texts together."""

    def _grams(self, text: int) -> Ints32:
        """Return (orders, characters): the n-grams that end at each character; NONE where none does."""
        begin, end = self.index.starts[text], self.index.starts[text + 1]
        return self.index.grams[self.first :, begin:end]

    def profile(self, text: int, kept: Flags) -> _TextProfile:
        """Return frequencies and their sampling variances in the chunks of a text that are kept."""
        grams = self._grams(text)
        orders, length = grams.shape
        chunk_of = np.broadcast_to(np.arange(length) * CHUNKS // max(length, 1), grams.shape)
        there = grams != NONE
        totals = np.array(
            [np.bincount(chunk_of[row][there[row]], minlength=CHUNKS) for row in range(orders)]
        )  # (orders, CHUNKS)
        columns = self.column[grams]
        counted = columns != NONE
        places = chunk_of[counted] * self.size + columns[counted]
        counts = np.bincount(places, minlength=CHUNKS * self.size).reshape(CHUNKS, self.size)[kept]
        sizes = totals[self.order_of][:, kept].T  # (kept chunks, FEATURES)
        overall = counts.sum(axis=0) / np.maximum(sizes.sum(axis=0), 1)
        filled = sizes > 0  # in a very short text, some chunks have no n-gram
        chunks = filled.sum(axis=0)
        apart = np.where(filled, counts / np.maximum(sizes, 1) - overall, 0)
        off = (apart**2).sum(axis=0) / np.maximum(chunks * (chunks - 1), 1)
        return _TextProfile(overall.astype(np.float32), off.astype(np.float32), int(totals[0][kept].sum()))


def _summarize(sets: Sequence[Sequence[_TextProfile]]) -> _Sets:
    def stack(arrays: list[Floats32]) -> Floats32:
        return np.array(arrays, np.float32)

    frequencies = [np.array([text.frequencies for text in texts]) for texts in sets]
    lengths = [np.array([[text.length] for text in texts], np.float32) for texts in sets]
    return _Sets(
        stack([each.mean(axis=0) for each in frequencies]),
        stack([(each**2).mean(axis=0) for each in frequencies]),
        stack([np.mean([text.variances for text in texts], axis=0) for texts in sets]),
        stack([(each * sizes).sum(axis=0) for each, sizes in zip(frequencies, lengths, strict=True)]),
        stack([each.sum(axis=0)[0] for each in lengths]),
        np.array([len(texts) for texts in sets], np.float32),
    )


def _compare(document: _Sets, heads: _Sets, usual: Floats32) -> tuple[Floats64, Floats64]:
    """Return (heads,): the values of one document, and the trust in them."""
    together = (document.joined + heads.joined) / np.maximum(document.lengths + heads.lengths, 1)[:, None]
    weights = 1 / (together + RARE * usual + 1e-6)  # (heads, FEATURES)

    def add(table: Floats32) -> Floats64:
        sums: Floats64 = np.einsum("hf,hf->h", weights, np.broadcast_to(table, weights.shape)).astype(np.float64)
        return sums

    apart = add(document.squares + heads.squares - 2 * document.means * heads.means)
    noise_of = add(document.variances), add(heads.variances)
    noise = noise_of[0] + noise_of[1]
    own, counted = np.full(len(noise), USUAL_COUNTS * USUAL_OWN), np.full(len(noise), float(USUAL_COUNTS))
    for sets, chance in zip((document, heads), noise_of, strict=True):
        further = (sets.texts - 1).astype(np.float64)
        # the mean over pairs of different texts, from the mean over all pairs
        between = 2 * (further + 1) * add(sets.squares - sets.means**2) - 2 * further * chance
        own = own + between
        counted = counted + further
    own = np.maximum(own / counted, 0)
    expected = noise + own + 1e-9
    values = np.log(np.maximum(apart / expected, LEAST))
    return values, USUAL_OTHERS / (USUAL_OTHERS + noise + DOUBT * own)
