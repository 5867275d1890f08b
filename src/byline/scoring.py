"""The matrix documents x heads, the only thing that interpretations look at; relative entropies.

With more heads than `compared` (a setting) a document is scored under its own heads and a sample of the others, and
each head is asked about equally many documents: time and memory then grow with the number of problems, not its square.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.questions import Question, Questions, lonely_questions

Table = NDArray[np.float64]
Places = NDArray[np.int32]
Flags = NDArray[np.bool_]

ROUNDING = 1e-9
"""Bits per character: smaller differences are none."""
PARTS = 5
"""Parts of a text that are left out in turn, to see how far an answer hangs on any of them."""


@dataclass(frozen=True)
class Matrix:
    """How badly each head predicts each document, in `unit`: lower is better. K heads are asked about a document."""

    values: Table  # (documents, K)
    seen: Flags  # (documents, K): the head was trained on the document; not to be compared
    heads: Places = field(default_factory=lambda: np.zeros(0, np.int32))  # (documents, K): whose value it is
    unit: str = "bits per character"
    parts: Table | None = None  # (PARTS, documents, K): the values without each part of the documents
    trust: Table | None = None  # (documents, K): see below
    """Of an engine whose values say something by themselves: how far texts of this size can be relied on, 0 to 1."""

    def __post_init__(self) -> None:
        """Where `heads` is left out, every head is asked about every document, in order."""
        if self.heads.size and self.heads.shape != self.values.shape:
            raise ValueError(f"{self.heads.shape} heads don't fit {self.values.shape} values")
        if self.parts is not None and self.parts.shape[1:] != self.values.shape:
            raise ValueError(f"{self.parts.shape} parts don't fit {self.values.shape} values")
        if self.trust is not None and self.trust.shape != self.values.shape:
            raise ValueError(f"{self.trust.shape} trust doesn't fit {self.values.shape} values")
        if self.parts is not None:  # as exact as they are kept
            object.__setattr__(self, "parts", self.parts.astype(np.float32).astype(np.float64))
        if not self.heads.size:
            every = np.arange(self.values.shape[1], dtype=np.int32)
            object.__setattr__(self, "heads", np.broadcast_to(every, self.values.shape))

    @property
    def full(self) -> bool:
        """Whether every head is asked about every document, in order."""
        return bool((self.heads == np.arange(self.values.shape[1])).all())

    @property
    def comparable(self) -> Table:
        """The values, NaN where a head was trained on the document."""
        return np.where(self.seen, np.nan, self.values)

    def place(self, document: int, head: int) -> tuple[int, int]:
        """Where in the arrays the value of a head for a document is."""
        (found,) = np.nonzero(self.heads[document] == head)
        return document, int(found[0])

    def columns(self, values: Table) -> list[Table]:
        """`values` (documents, K) by head: for each the values, in the order of documents."""
        order = np.argsort(self.heads, axis=None, kind="stable")
        return np.split(values.ravel()[order], np.bincount(self.heads.ravel()).cumsum()[:-1])


class Cohort(NamedTuple):
    """Which of a full matrix's heads and documents are a reference population's; how long all of them are."""

    heads: Flags  # (heads,)
    documents: Flags  # (documents,)
    head_lengths: Table  # (heads,): natural logarithms of characters
    document_lengths: Table  # (documents,)


@dataclass(frozen=True)
class Side:
    """A matrix and what is asked of it: one way of asking."""

    matrix: Matrix
    questions: tuple[Question, ...]
    lonely: frozenset[Question]
    """Those that hardly anything can be compared with."""
    reference: Cohort | None = None
    """Where each problem is compared with a reference population only."""

    @classmethod
    def of(cls, matrix: Matrix, questions: Questions) -> Side:
        """The matrix that was filled for some questions."""
        cohort = _cohort(questions) if questions.reference else None
        return cls(matrix, questions.questions, frozenset(lonely_questions(questions)), cohort)


def _cohort(questions: Questions) -> Cohort:
    """The last heads and documents are the reference's."""
    lengths = [len(text) for text in questions.texts]
    flags, sizes = [], []
    for sets in (questions.heads, questions.documents):
        flags.append(np.arange(len(sets)) >= len(sets) - questions.reference)
        sizes.append(np.log([sum(lengths[text] for text in texts) for texts in sets]))
    return Cohort(flags[0], flags[1], sizes[0], sizes[1])


def choose_heads(questions: Questions, compared: int, rng: np.random.Generator) -> Places:
    """(documents, K): the heads that are asked about each document: all, or its own and an even sample of others.

    Documents and heads are put in random circles side by side, and each document takes the heads at the same few
    distances from it. A head is then asked about `compared` documents or more, too, if there are as many.
    """
    count, documents = len(questions.heads), len(questions.documents)
    own: list[set[int]] = [set() for _ in range(documents)]
    for question in questions.questions:
        own[question.document].add(question.head)
    most = max((len(heads) for heads in own), default=0)
    if questions.reference or questions.aside:  # an answer must not depend on which others are asked beside it
        return np.tile(np.arange(count, dtype=np.int32), (documents, 1))
    width = min(count, max(compared, most, -(-compared * count // max(documents, 1))))
    if width == count:
        return np.tile(np.arange(count, dtype=np.int32), (documents, 1))
    circle = rng.permutation(count)
    distances = rng.permutation(count)[: width + most]
    chosen = np.zeros((documents, width), np.int32)
    for place, document in enumerate(rng.permutation(documents)):
        beside = circle[(place * count // documents + distances) % count]
        others = beside[~np.isin(beside, list(own[document]))]
        chosen[document] = np.sort([*own[document], *others[: width - len(own[document])]])
    return chosen


def heads_by_text(questions: Questions, chosen: Places) -> dict[int, Places]:
    """For each text of a document, in order, the heads that are asked about some document that it belongs to."""
    asked: dict[int, list[Places]] = {}
    for number, document in enumerate(questions.documents):
        for text in document:
            asked.setdefault(text, []).append(chosen[number])
    return {text: np.unique(np.concatenate(rows)) for text, rows in sorted(asked.items())}


def gather(
    questions: Questions, chosen: Places, asked: dict[int, Places], bits: dict[int, Table], lengths: Sequence[int]
) -> Matrix:
    """The matrix from each text's bits (PARTS, heads) under the heads `asked` about it, and its counted characters."""
    values = np.zeros(chosen.shape)
    without = np.zeros((PARTS, *chosen.shape))
    for number, texts in enumerate(questions.documents):
        total = np.sum([bits[text][:, np.searchsorted(asked[text], chosen[number])] for text in texts], axis=0)
        sizes = np.sum([np.diff(part_ends(lengths[text]), prepend=0) for text in texts], axis=0)
        values[number] = total.sum(axis=0) / sizes.sum()
        without[:, number] = (total.sum(axis=0) - total) / (sizes.sum() - sizes)[:, None]
    return Matrix(values, seen_flags(questions, chosen), chosen, parts=without)


def part_ends(length: int, backward: bool = False) -> Places:
    """(PARTS,): where each part of a text ends; of a very short one the first may be empty.

    Read backward the last part comes first: what is found there is to be turned round.
    """
    ends = np.arange(1, PARTS + 1) * length // PARTS
    if backward:
        ends = length - np.concatenate([[0], ends[:-1]])[::-1]
    return ends.astype(np.int32)


def seen_flags(questions: Questions, chosen: Places) -> Flags:
    """(documents, K): whether a chosen head is trained on a text of the document."""
    seen = np.zeros(chosen.shape, np.bool_)
    for number, learners in enumerate(questions.seen_by):
        seen[number] = np.isin(chosen[number], list(learners))
    return seen


def relative_entropies(matrix: Matrix) -> Table:
    """Section 2.6: each document's mean subtracted, then each head's values scaled to a similar range.

    Heads trained on a document neither count in its mean nor get a value (NaN).
    """
    values = matrix.comparable
    counts = (~matrix.seen).sum(axis=1, keepdims=True)
    means = np.nansum(values, axis=1, keepdims=True) / np.maximum(counts, 1)
    centred = values - means
    centred[np.abs(centred) < ROUNDING] = 0  # heads that agree must not be told apart by how a mean is rounded
    spread = np.array([_spread(column) for column in matrix.columns(centred)])
    relative: Table = centred / np.where(spread > 0, spread, 1)[matrix.heads]
    return relative


def _spread(column: Table) -> float:
    """The root mean square about the mean, of what is not NaN."""
    there = column[~np.isnan(column)]
    return float(there.std()) if len(there) else 0.0
