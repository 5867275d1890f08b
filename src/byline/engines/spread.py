"""How far two texts are apart, against how far each is from itself: frequencies of n-grams and their own variance.

The other engines' values say nothing by themselves and are compared with those of other texts. Beside texts of another
kind that goes wrong: whatever two texts of one kind share stands out, whoever wrote them. This one compares a text with
its own parts. With p the frequency of an n-gram in a text, p_c that in the c-th of its C chunks, and w weights:

    v     = sum_c (p_c - p)^2 / (C (C - 1))           how far p is off by chance
    apart = sum w (p_i - p_j)^2                       mean over texts i of the document and j of the head
    noise = sum w (v_i + v_j)                         what chance alone would make of it
    own   = apart - noise                             the same among an author's own texts, where there are several
    value = log(apart / (noise + own))

Frequent n-grams vary more, so each weighs 1 over its frequency in both texts together. A kind that document and head
share takes no part: it cancels out in p_i - p_j. How much texts of their size can tell at all is the matrix's `trust`.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.engines import Filled, Watch
from byline.ngram_kernels import index_texts
from byline.ngrams import NONE, Index
from byline.questions import Questions
from byline.scoring import PARTS, Flags, Matrix, Places, Table, choose_heads, seen_flags
from byline.settings import Settings

UNIT = "log of distance over own spread"
SHORTER = 2
"""N-grams of up to so many characters less than the order count too."""
FEATURES = 4_000
"""N-grams that count: those that most of the shared texts have."""
CHUNKS = 4 * PARTS
RARE = 0.1
"""So much of its usual frequency is added to an n-gram's own, or one that both texts hardly have would decide."""
USUAL_OWN, USUAL_COUNTS = 0.12, 2
"""What usually parts an author's own texts, and how many texts that counts like where there are several."""
USUAL_OTHERS = 0.3
"""What usually parts two authors."""
DOUBT = 8
"""What parts an author's own texts is doubted so much more than chance: it differs from text to text."""
LEAST = 0.25
"""Texts can't be nearer than chance makes them; what is much nearer is a copy in part, and counts no more than this."""

Profile = NDArray[np.float32]


class _Text(NamedTuple):
    """A text, or what is left of it: (FEATURES,) each."""

    frequencies: Profile
    variances: Profile
    length: int


class _Sets(NamedTuple):
    """Sets of texts: (sets, FEATURES) of the means over a set's texts, and (sets,) of its sizes."""

    means: Profile
    squares: Profile
    variances: Profile
    joined: Profile
    """Frequencies in all texts together, times their length."""
    lengths: Profile
    texts: Profile

    def at(self, places: Places) -> _Sets:
        return _Sets(*(array[places] for array in self))


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> Filled:
    """The logarithm of each document's distance from its heads over what the texts' own spread leads one to expect."""
    chosen = choose_heads(questions, settings.compared, rng)
    watch.proceed()
    counter = _Counter(index_texts(questions.texts, settings.order), questions)
    whole = np.ones(CHUNKS, np.bool_)
    texts = [counter.profile(text, whole) for text in range(len(questions.texts))]
    heads = _gather([[texts[text] for text in head] for head in questions.heads])
    asked = {question.document for question in questions.questions}
    values, trust = np.zeros(chosen.shape), np.zeros(chosen.shape)
    without = np.zeros((PARTS, *chosen.shape))

    def fill_row(number: int) -> None:
        watch.proceed()
        beside = heads.at(chosen[number])
        document = questions.documents[number]
        values[number], trust[number] = _compare(_gather([[texts[text] for text in document]]), beside, counter.usual)
        without[:, number] = values[number]
        for part in range(PARTS if number in asked else 0):  # where nothing is asked of it, nothing hangs on its parts
            kept = np.arange(CHUNKS) * PARTS // CHUNKS != part
            left = _gather([[counter.profile(text, kept) for text in document]])
            without[part, number] = _compare(left, beside, counter.usual)[0]

    def fill_rows(numbers: Sequence[int]) -> None:  # one share a thread: it ends as soon as `watch` stops it
        for number in numbers:
            fill_row(number)

    with ThreadPoolExecutor(watch.threads) as pool:
        everyone = range(len(chosen))
        list(pool.map(fill_rows, [everyone[part :: watch.threads] for part in range(watch.threads)]))
    return Filled(Matrix(values, seen_flags(questions, chosen), chosen, UNIT, without, trust))


class _Counter:
    """Counts in texts the n-grams that most of the shared texts have."""

    def __init__(self, index: Index, questions: Questions) -> None:
        self.index = index
        order = len(index.grams)
        self.first = max(0, order - 1 - SHORTER)
        found = np.zeros(index.size, np.int64)  # in how many texts
        for text in questions.shared:
            grams = self._grams(text)
            found[np.unique(grams[grams != NONE])] += 1
        ranked = np.argsort(-found, kind="stable")[:FEATURES]  # numbers are in the order of what n-grams are made of
        kept = ranked[found[ranked] > 0]
        self.column = np.full(index.size + 1, NONE, np.int64)  # the last is for NONE itself
        self.column[kept] = np.arange(len(kept))
        self.size = len(kept)
        self.order_of = np.zeros(len(kept), np.int64)
        for row in range(self.first, order):
            columns = self.column[index.grams[row]]
            self.order_of[columns[columns != NONE]] = row - self.first
        profiles = [self.profile(text, np.ones(CHUNKS, np.bool_)) for text in questions.shared]
        lengths = np.array([profile.length for profile in profiles])
        joined = np.sum([profile.frequencies * profile.length for profile in profiles], axis=0)
        self.usual: Profile = (joined / max(lengths.sum(), 1)).astype(np.float32)
        """(FEATURES,): how frequent each is in all shared texts together."""

    def _grams(self, text: int) -> Places:
        """(orders, characters): the n-grams that end at each character; NONE where none does."""
        begin, end = self.index.starts[text], self.index.starts[text + 1]
        return self.index.grams[self.first :, begin:end]

    def profile(self, text: int, kept: Flags) -> _Text:
        """Frequencies, and how far off they are by chance, in the chunks of a text that are kept."""
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
        filled = sizes > 0  # in a very short text not every chunk has an n-gram
        chunks = filled.sum(axis=0)
        apart = np.where(filled, counts / np.maximum(sizes, 1) - overall, 0)
        off = (apart**2).sum(axis=0) / np.maximum(chunks * (chunks - 1), 1)
        return _Text(overall.astype(np.float32), off.astype(np.float32), int(totals[0][kept].sum()))


def _gather(sets: Sequence[Sequence[_Text]]) -> _Sets:
    def stack(arrays: list[Profile]) -> Profile:
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


def _compare(document: _Sets, heads: _Sets, usual: Profile) -> tuple[Table, Table]:
    """(heads,): the values of one document, and how much texts of their size can tell, from 0 to 1."""
    together = (document.joined + heads.joined) / np.maximum(document.lengths + heads.lengths, 1)[:, None]
    weights = 1 / (together + RARE * usual + 1e-6)  # (heads, FEATURES)

    def add(table: Profile) -> Table:
        sums: Table = np.einsum("hf,hf->h", weights, np.broadcast_to(table, weights.shape)).astype(np.float64)
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
