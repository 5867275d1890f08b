"""What each symbol of a document that is asked about speaks for its head: the relative entropy, taken apart.

A symbol's gain is how many bits fewer it costs the head than the heads that it is compared with, on the average:

    gain(t) = mean over the cohort of -log2 p_head(t)  -  (-log2 p_own(t))

The cohort are the heads that have not learnt the document, the own one among them (section 2.6 takes the mean so);
beside a reference population they are the heads of that. Divided by the counted symbols, the gains add up to the
document's relative entropy under the head, but for the sign.
"""

from __future__ import annotations

from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.questions import Question, Questions
from byline.scoring import Flags, Matrix, Places, Table, seen_flags

Gains = NDArray[np.float32]
AT_ONCE = 20_000_000
"""Values of symbols and heads that are held at once: bounds the memory that long texts take."""


def cohort_of(questions: Questions, chosen: Places) -> Flags:
    """(documents, K): whether a chosen head is one that its document's others are compared with."""
    able = ~seen_flags(questions, chosen)
    if questions.reference:
        able &= chosen >= len(questions.heads) - questions.reference
    return able


class GainKeeper:
    """Adds up, head by head and from several threads, what symbols cost, for the documents that are asked about."""

    def __init__(self, questions: Questions, chosen: Places) -> None:
        self._questions = questions.questions
        self._documents = questions.documents
        self._lengths = [len(text) for text in questions.texts]
        self._lock = Lock()
        cohort = cohort_of(questions, chosen)
        asked = sorted({question.document for question in questions.questions})
        self._cohorts = {number: chosen[number][cohort[number]] for number in asked}
        self._documents_of: dict[int, list[int]] = {}
        for number in asked:
            for text in questions.documents[number]:
                self._documents_of.setdefault(text, []).append(number)
        self._heads_of: dict[int, set[int]] = {}
        for question in questions.questions:
            self._heads_of.setdefault(question.document, set()).add(question.head)
        self._totals: dict[tuple[int, int], Table] = {}  # by document and text
        self._own: dict[tuple[int, int, int], Table] = {}  # by document, head and text

    def wants(self, text: int) -> bool:
        """Whether a text is part of a document that is asked about."""
        return text in self._documents_of

    def blocks(self, text: int, heads: Places) -> list[Places]:
        """The heads in parts small enough to hold what all symbols cost each of them."""
        width = max(1, AT_ONCE // max(self._lengths[text], 1))
        return [heads[begin : begin + width] for begin in range(0, len(heads), width)]

    def add(self, text: int, heads: Places, bits: Table | Gains) -> None:
        """What each symbol of a text, in its order, costs some heads: (symbols, heads), 0 where it does not count."""
        for document in self._documents_of[text]:
            among = np.isin(heads, self._cohorts[document])
            total = bits[:, among].sum(axis=1, dtype=np.float64)
            with self._lock:
                key = document, text
                self._totals[key] = self._totals.get(key, 0) + total
                for place, head in enumerate(heads.tolist()):
                    if head in self._heads_of[document]:
                        self._own[document, head, text] = bits[:, place].astype(np.float64)

    def gains(self) -> tuple[Gains, ...]:
        """For each question the gains of its document's symbols, its texts one after another."""
        return tuple(self._gains(question) for question in self._questions)

    def _gains(self, question: Question) -> Gains:
        document, head = question.document, question.head
        count = len(self._cohorts[document])
        parts = [
            self._totals[document, text] / count - self._own[document, head, text]
            if count
            else np.zeros(self._lengths[text])
            for text in self._documents[document]
        ]
        return np.concatenate(parts).astype(np.float32)


def mean_gains(questions: Questions, matrix: Matrix) -> Table:
    """(documents, K): how much less each document costs a head than its cohort on the average: symbols' mean gain."""
    cohort = cohort_of(questions, matrix.heads)
    usual: Table = np.where(cohort, matrix.values, 0).sum(axis=1) / np.maximum(cohort.sum(axis=1), 1)
    return usual[:, None] - matrix.values


class Standing(NamedTuple):
    """How a question's head stands to its cohort, in the matrix's unit; higher speaks for the head."""

    relative: float
    """How much less its document costs the head than the cohort on the average: the relative entropy, turned round."""
    level: float
    """What that usually is for this head, with documents that it is not asked about."""


def standings(questions: Questions, matrix: Matrix) -> list[Standing]:
    """How each question's head stands. Some heads find everything easier than others do: what a document says of its
    author is what it gains beyond that.
    """
    gained = mean_gains(questions, matrix)
    others = ~matrix.seen
    if questions.reference:
        others[: len(questions.documents) - questions.reference] = False
    places = [matrix.place(question.document, question.head) for question in questions.questions]
    for place in places:
        others[place] = False
    heads = matrix.heads[others]
    counts = np.bincount(heads, minlength=len(questions.heads))
    levels = np.bincount(heads, weights=gained[others], minlength=len(questions.heads)) / np.maximum(counts, 1)
    return [
        Standing(float(gained[place]), float(levels[question.head]))
        for place, question in zip(places, questions.questions, strict=True)
    ]
