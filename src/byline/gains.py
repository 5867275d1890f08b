"""What each symbol of a document that is asked about speaks for its head: the relative entropy, taken apart.

A symbol's gain is how many bits fewer it costs the head than the heads that it is compared with, on the average:

    gain(t) = mean over the cohort of -log2 p_head(t)  -  (-log2 p_own(t))

The cohort are the heads that have not learnt the document, the own one among them (section 2.6 takes the mean so);
beside a reference population they are the heads of that. Divided by the counted symbols, the gains add up to the
document's relative entropy under the head, but for the sign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.questions import Question, Questions
from byline.scoring import Flags, Matrix, Places, Table, heads_by_text, seen_flags

Gains = NDArray[np.float32]
AT_ONCE = 20_000_000
"""Values of symbols and heads that are held at once: bounds the memory that long texts take."""


def cohort_of(questions: Questions, chosen: Places) -> Flags:
    """(documents, K): whether a chosen head is one that its document's others are compared with."""
    able = ~seen_flags(questions, chosen)
    if questions.reference:
        able &= chosen >= len(questions.heads) - questions.reference
    return able


class _Tally:
    """What the symbols of one text cost, added up over the cohorts of the documents that it is part of."""

    def __init__(self, length: int, asked: Places, cohorts: Sequence[Places], own: Iterable[int]) -> None:
        among = np.array([np.isin(asked, cohort) for cohort in cohorts])  # (documents, heads asked)
        self.cohorts, rows = np.unique(among, axis=0, return_inverse=True)
        self.rows: list[int] = rows.ravel().tolist()
        """For each of the documents, which of the different cohorts is its own."""
        self.totals = np.zeros((len(self.cohorts), length))
        self.own: dict[int, Gains] = {
            int(place): np.zeros(length, np.float32) for place in np.searchsorted(asked, sorted(own))
        }
        """By the place of the head among those asked."""
        self.lock = Lock()


class GainKeeper:
    """Adds up, from several threads, what symbols cost the heads asked, for the documents that are asked about."""

    def __init__(self, questions: Questions, chosen: Places) -> None:
        self._questions = questions
        self._asked = heads_by_text(questions, chosen)
        cohort = cohort_of(questions, chosen)
        own: dict[int, set[int]] = {}  # by document
        for question in questions.questions:
            own.setdefault(question.document, set()).add(question.head)
        self._cohorts = {number: chosen[number][cohort[number]] for number in sorted(own)}
        self._documents_of: dict[int, list[int]] = {}
        for number in self._cohorts:
            for text in questions.documents[number]:
                self._documents_of.setdefault(text, []).append(number)
        self._tallies = {
            text: _Tally(
                len(questions.texts[text]),
                self._asked[text],
                [self._cohorts[number] for number in numbers],
                set().union(*(own[number] for number in numbers)),
            )
            for text, numbers in self._documents_of.items()
        }

    def wants(self, text: int) -> bool:
        """Whether a text is part of a document that is asked about."""
        return text in self._tallies

    def blocks(self, text: int) -> list[slice]:
        """The heads asked about a text in parts small enough to hold what all symbols cost each of them."""
        width = max(1, AT_ONCE // max(len(self._questions.texts[text]), 1))
        return [slice(begin, begin + width) for begin in range(0, len(self._asked[text]), width)]

    def add(self, text: int, block: slice, bits: Gains) -> None:
        """What each symbol of a text, in its order, costs a block of its heads: (symbols, heads), 0 if not counted."""
        tally = self._tallies[text]
        for total, among in zip(tally.totals, tally.cohorts, strict=True):
            part = bits @ among[block].astype(np.float32)
            with tally.lock:
                total += part
        for place, own in tally.own.items():
            if block.start <= place < block.stop:
                own[:] = bits[:, place - block.start]

    def add_head(self, text: int, place: int, bits: Table) -> None:
        """The same of one head, by its place among those asked."""
        tally = self._tallies[text]
        with tally.lock:
            for total, among in zip(tally.totals, tally.cohorts, strict=True):
                if among[place]:
                    total += bits
        if place in tally.own:
            tally.own[place][:] = bits

    def take(self) -> tuple[Gains, ...]:
        """For each question the gains of its document's symbols, its texts one after another; can be called once."""
        questions = self._questions
        left = Counter(text for question in questions.questions for text in questions.documents[question.document])
        found = []
        for question in questions.questions:
            texts = questions.documents[question.document]
            found.append(np.concatenate([self._gains(question, text) for text in texts]))
            for text in texts:
                left[text] -= 1
                if not left[text]:
                    del self._tallies[text]  # what it held makes room for the gains of others
        return tuple(found)

    def _gains(self, question: Question, text: int) -> Gains:
        tally, count = self._tallies[text], len(self._cohorts[question.document])
        if not count:
            return np.zeros(tally.totals.shape[1], np.float32)
        total = tally.totals[tally.rows[self._documents_of[text].index(question.document)]]
        own = tally.own[int(np.searchsorted(self._asked[text], question.head))]
        gains: Gains = (total / count - own).astype(np.float32)
        return gains


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
