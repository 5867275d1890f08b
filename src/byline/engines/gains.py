"""Gains: how much each symbol of a document speaks for a head. They are the relative entropy, taken apart.

A symbol's gain is how many bits fewer it costs the head than the heads that it is compared with, on average:

    gain(t) = mean over the cohort of -log2 p_head(t)  -  (-log2 p_own(t))

The cohort are the heads that are not excluded on the document, the own one among them (section 2.6 takes the mean so);
beside a reference population they are the heads of that. Divided by the number of counted symbols, the gains add up
to the document's relative entropy under the head, with the opposite sign.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from threading import Lock

import numpy as np

from byline.engines.matrix import Flags, Floats32, Floats64, Ints32, Matrix, flag_excluded, heads_by_text
from byline.engines.questions import Question, Questions

MOST_VALUES = 20_000_000
"""Values of symbols x heads held at a time: bounds the memory that long texts take."""


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
