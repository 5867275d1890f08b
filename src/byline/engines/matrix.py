"""The matrix documents x heads, the interface between engines and judgment.

With more heads than the setting `compared`, a document is scored under its own heads and a sample of the others, and
each head scores equally many documents: time and memory then grow with the number of problems, not its square.

*Gains* are the relative entropy, taken apart: a symbol's gain is how many bits fewer it costs the head than the heads
that it is compared with, on average,

    gain(t) = mean over the cohort of -log2 p_head(t)  -  (-log2 p_own(t))

The cohort are the heads that are not excluded on the document, the own one among them (section 2.6 takes the mean so);
with a reference population they are its heads. Divided by the number of counted symbols, the gains add up to the
document's relative entropy under the head, with the opposite sign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from byline.engines.questions import Question, Questions, ReferenceLayout, find_incomparable

Floats64 = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints64 = NDArray[np.int64]
Ints32 = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Flags = NDArray[np.bool_]
Table = Floats64  # the name that other packages import

ROUNDING = 1e-9
"""Bits per character; smaller differences count as none."""
PARTS = 5
"""Parts of a text that are left out in turn, to see how much an answer depends on each."""
MOST_VALUES = 20_000_000
"""Values of symbols x heads held at a time: bounds the memory that long texts take."""


BITS = "bits per character"
"""The unit of engines that predict characters."""


@dataclass(frozen=True)
class Matrix:
    """How badly K heads predict each document, in `unit`: lower is better."""

    values: Floats64  # (documents, K)
    excluded: Flags  # (documents, K): the pair must not be compared, mostly since the head is trained on the document
    heads: Ints32 = field(default_factory=lambda: np.zeros(0, np.int32))  # (documents, K): default: all, in order
    unit: str = BITS
    parts: Floats64 | None = None  # (PARTS, documents, K): the values without each part of the documents

    def __post_init__(self) -> None:
        """Check the shapes."""
        shape = self.values.shape
        if self.heads.size and self.heads.shape != shape:
            raise ValueError(f"{self.heads.shape} heads don't fit {shape} values")
        if self.parts is not None and self.parts.shape[1:] != shape:
            raise ValueError(f"{self.parts.shape} parts don't fit {shape} values")
        if self.parts is not None:  # as exact as they are stored
            object.__setattr__(self, "parts", self.parts.astype(np.float32).astype(np.float64))
        if not self.heads.size:
            object.__setattr__(self, "heads", np.broadcast_to(np.arange(shape[1], dtype=np.int32), shape))

    @property
    def full(self) -> bool:
        """Whether every head scores every document, in order."""
        return bool((self.heads == np.arange(self.values.shape[1])).all())

    @property
    def comparable(self) -> Floats64:
        """The values, NaN where they must not be compared."""
        return np.where(self.excluded, np.nan, self.values)

    def place(self, document: int, head: int) -> tuple[int, int]:
        """Return the index of a document's value under a head."""
        (found,) = np.nonzero(self.heads[document] == head)
        return document, int(found[0])

    def columns(self, values: Floats64) -> list[Floats64]:
        """Group values (documents, K) by head, in the order of documents."""
        order = np.argsort(self.heads, axis=None, kind="stable")
        return np.split(values.ravel()[order], np.bincount(self.heads.ravel()).cumsum()[:-1])


@dataclass(frozen=True)
class Side:
    """A matrix and the questions that it answers, for one way of asking."""

    matrix: Matrix
    questions: tuple[Question, ...]
    incomparable: frozenset[Question]
    """Those with too few comparable heads or documents."""
    way: int = 0
    """1 if known and unknown texts change roles: heads learned the unknown ones."""
    layout: ReferenceLayout | None = None
    """The members of the reference population, if there is one."""

    @classmethod
    def of(cls, matrix: Matrix, questions: Questions) -> Side:
        """Combine questions and the matrix that was filled for them."""
        layout = questions.reference.layout if questions.reference else None
        return cls(matrix, questions.questions, frozenset(find_incomparable(questions)), questions.way, layout)


def sample_heads(questions: Questions, compared: int, rng: np.random.Generator) -> Ints32:
    """Return (documents, K): the heads that score each document, all or its own and an even sample of others.

    Documents and heads are put in random circles side by side, and each document takes the heads at the same few
    distances from it. So a head scores `compared` documents or more, too, if there are as many.
    """
    count, documents = len(questions.heads), len(questions.documents)
    own: list[set[int]] = [set() for _ in range(documents)]
    for question in questions.questions:
        own[question.document].add(question.head)
    most = max((len(heads) for heads in own), default=0)
    width = min(count, max(compared, most, -(-compared * count // max(documents, 1))))
    if width == count or questions.independent:
        return np.tile(np.arange(count, dtype=np.int32), (documents, 1))
    circle = rng.permutation(count)
    distances = rng.permutation(count)[: width + most]
    chosen = np.zeros((documents, width), np.int32)
    for place, document in enumerate(rng.permutation(documents)):
        beside = circle[(place * count // documents + distances) % count]
        others = beside[~np.isin(beside, list(own[document]))]
        chosen[document] = np.sort([*own[document], *others[: width - len(own[document])]])
    return chosen


def heads_by_text(questions: Questions, chosen: Ints32) -> dict[int, Ints32]:
    """Return, for each text of a document, in order, the heads that score some document that it belongs to."""
    asked: dict[int, list[Ints32]] = {}
    for number, document in enumerate(questions.documents):
        for text in document:
            asked.setdefault(text, []).append(chosen[number])
    return {text: np.unique(np.concatenate(rows)) for text, rows in sorted(asked.items())}


def matrix_from_bits(
    questions: Questions,
    chosen: Ints32,
    asked: dict[int, Ints32],
    bits: dict[int, Floats64],
    lengths: Sequence[int],
) -> Matrix:
    """Add up the bits (PARTS, heads) of each text under the heads `asked` about it, over its counted characters."""
    values = np.zeros(chosen.shape)
    without = np.zeros((PARTS, *chosen.shape))
    for number, texts in enumerate(questions.documents):
        total = np.sum([bits[text][:, np.searchsorted(asked[text], chosen[number])] for text in texts], axis=0)
        sizes = np.sum([np.diff(part_ends(lengths[text]), prepend=0) for text in texts], axis=0)
        values[number] = total.sum(axis=0) / sizes.sum()
        left = (sizes.sum() - sizes)[:, None]  # nothing is left of a text of one token
        without[:, number] = np.where(left > 0, (total.sum(axis=0) - total) / np.maximum(left, 1), values[number])
    return Matrix(values, flag_excluded(questions, chosen), chosen, parts=without)


def part_ends(length: int, backward: bool = False) -> Ints32:
    """Return (PARTS,): where each part of a text ends; of a very short text, the first may be empty.

    Read backward, the last part comes first.
    """
    ends = np.arange(1, PARTS + 1) * length // PARTS
    if backward:
        ends = length - np.concatenate([[0], ends[:-1]])[::-1]
    return ends.astype(np.int32)


def flag_excluded(questions: Questions, chosen: Ints32) -> Flags:
    """Return (documents, K): whether a document must not be compared under a chosen head."""
    return np.array(
        [np.isin(row, list(heads)) for row, heads in zip(chosen, questions.excluded_heads, strict=True)], np.bool_
    ).reshape(chosen.shape)


def relative_entropies(matrix: Matrix) -> Floats64:
    """Subtract each document's mean, then scale each head's values to a similar range (section 2.6).

    Excluded pairs neither count in the mean nor get a value (NaN).
    """
    values = matrix.comparable
    counts = (~matrix.excluded).sum(axis=1, keepdims=True)
    means = np.nansum(values, axis=1, keepdims=True) / np.maximum(counts, 1)
    centered = values - means
    centered[np.abs(centered) < ROUNDING] = 0  # heads that agree must not be told apart by how a mean is rounded
    spread = np.array([_spread(column) for column in matrix.columns(centered)])
    relative: Floats64 = centered / np.where(spread > 0, spread, 1)[matrix.heads]
    return relative


def _spread(column: Floats64) -> float:
    """Return the standard deviation of the values that are not NaN."""
    there = column[~np.isnan(column)]
    return float(there.std()) if len(there) else 0.0


def flag_cohort(questions: Questions, chosen: Ints32) -> Flags:
    """Return (documents, K): whether a chosen head belongs to the document's cohort."""
    cohort: Flags = ~flag_excluded(questions, chosen) & (chosen >= questions.first_compared_head)
    return cohort


class _TextCosts:
    """The costs of one text's symbols, added up over the cohorts of the documents that it is part of."""

    def __init__(self, length: int, asked: Ints32, cohorts: Sequence[Ints32], own: Iterable[int]) -> None:
        among = np.array([np.isin(asked, cohort) for cohort in cohorts])  # (documents, heads asked)
        self.cohorts, rows = np.unique(among, axis=0, return_inverse=True)
        self.rows: list[int] = rows.ravel().tolist()
        """For each of the documents, the row of its cohort."""
        self.totals = np.zeros((len(self.cohorts), length))
        self.own: dict[int, Floats32] = {
            int(place): np.zeros(length, np.float32) for place in np.searchsorted(asked, sorted(own))
        }
        """The costs under the heads of questions, by the place of the head among those asked."""
        self.lock = Lock()


class GainCollector:
    """Adds up, from several threads, what the symbols of questions' documents cost each head."""

    def __init__(self, questions: Questions, chosen: Ints32) -> None:
        self._questions = questions
        self._asked = heads_by_text(questions, chosen)
        cohort = flag_cohort(questions, chosen)
        own: dict[int, set[int]] = {}  # by document
        for question in questions.questions:
            own.setdefault(question.document, set()).add(question.head)
        self._cohorts = {number: chosen[number][cohort[number]] for number in sorted(own)}
        self._documents_of: dict[int, list[int]] = {}
        for number in self._cohorts:
            for text in questions.documents[number]:
                self._documents_of.setdefault(text, []).append(number)
        self._costs = {
            text: _TextCosts(
                len(questions.texts[text]),
                self._asked[text],
                [self._cohorts[number] for number in numbers],
                set().union(*(own[number] for number in numbers)),
            )
            for text, numbers in self._documents_of.items()
        }

    def wants(self, text: int) -> bool:
        """Return whether a text is part of some question's document."""
        return text in self._costs

    def blocks(self, text: int) -> list[slice]:
        """Split the heads asked about a text, so that the costs of all symbols under a block fit the memory."""
        width = max(1, MOST_VALUES // max(len(self._questions.texts[text]), 1))
        return [slice(begin, begin + width) for begin in range(0, len(self._asked[text]), width)]

    def add(self, text: int, block: slice, bits: Floats32) -> None:
        """Add (symbols, heads): what each symbol of a text costs a block of its heads, 0 if not counted."""
        costs = self._costs[text]
        for total, among in zip(costs.totals, costs.cohorts, strict=True):
            part = bits @ among[block].astype(np.float32)
            with costs.lock:
                total += part
        for place, own in costs.own.items():
            if block.start <= place < block.stop:
                own[:] = bits[:, place - block.start]

    def add_head(self, text: int, place: int, bits: Floats64) -> None:
        """Add (symbols,): what each symbol costs one head, by its place among those asked."""
        costs = self._costs[text]
        with costs.lock:
            for total, among in zip(costs.totals, costs.cohorts, strict=True):
                if among[place]:
                    total += bits
        if place in costs.own:
            costs.own[place][:] = bits

    def finish(self) -> tuple[Floats32, ...]:
        """Return, for each question, the gains of its document's symbols, text after text; can be called once."""
        questions = self._questions
        left = Counter(text for question in questions.questions for text in questions.documents[question.document])
        found = []
        for question in questions.questions:
            texts = questions.documents[question.document]
            found.append(np.concatenate([self._gains(question, text) for text in texts]))
            for text in texts:
                left[text] -= 1
                if not left[text]:
                    del self._costs[text]  # makes room for the gains of others
        return tuple(found)

    def _gains(self, question: Question, text: int) -> Floats32:
        costs, count = self._costs[text], len(self._cohorts[question.document])
        if not count:
            return np.zeros(costs.totals.shape[1], np.float32)
        total = costs.totals[costs.rows[self._documents_of[text].index(question.document)]]
        own = costs.own[int(np.searchsorted(self._asked[text], question.head))]
        gains: Floats32 = (total / count - own).astype(np.float32)
        return gains


def mean_gains(questions: Questions, matrix: Matrix) -> Floats64:
    """Return (documents, K): how much less each document costs a head than its cohort, on average."""
    cohort = flag_cohort(questions, matrix.heads)
    usual: Floats64 = np.where(cohort, matrix.values, 0).sum(axis=1) / np.maximum(cohort.sum(axis=1), 1)
    return usual[:, None] - matrix.values


def find_head_levels(questions: Questions, matrix: Matrix) -> list[float]:
    """Return, for each question, the mean gain of its head over documents that the head is not asked about.

    Some heads find every text easier than others do. What a document says of its author is its gain beyond that.
    """
    gained = mean_gains(questions, matrix)
    others = ~matrix.excluded
    others[: questions.first_compared_document] = False
    for question in questions.questions:
        others[matrix.place(question.document, question.head)] = False
    heads = matrix.heads[others]
    counts = np.bincount(heads, minlength=len(questions.heads))
    levels = np.bincount(heads, weights=gained[others], minlength=len(questions.heads)) / np.maximum(counts, 1)
    return [float(levels[question.head]) for question in questions.questions]
