"""Are the two sides of most problems of different kinds? Told by which other texts of the run each side resembles.

Texts of one kind resemble the same other texts, whoever wrote them. Where the known sides resemble those that the
unknown ones don't, in most problems, the run compares kinds (or subjects) rather than authors. In a single problem the
same may be by chance, or by what it is about; so nothing is said of any where it is not so of most. The words count,
by how many texts have them; measured by benchmarks/cautions.py.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from byline.problems import Problem

FEWEST_PROBLEMS, FEWEST_TEXTS = 40, 20
"""With fewer problems, or with fewer other texts to resemble, nothing can be said."""
MOST_COMPANY = 150
"""Problems whose texts all sides are compared with at the most, so that time grows with the number of problems only."""
APART = -0.2
"""A run whose median is below this compares texts of different kinds."""
NAMED = -0.15
"""In such a run, the problems below this are those that do."""
TOGETHER = 1_000
"""Problems that are looked at in one go."""
EXTENT = 10_000
"""Characters of a side's beginning that are looked at."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Company:
    """How far the two sides of each problem resemble the same other texts."""

    correlations: tuple[float, ...]
    """By problem, from 1, the same ones, to -1, different ones; 0 where that is unclear, or was not looked at."""
    middle: float
    """The median over the problems that all are compared with."""

    @property
    def apart(self) -> bool:
        """Whether the sides of most problems are of different kinds."""
        return self.middle < APART


def look_at_company(problems: Sequence[Problem]) -> Company | None:
    """For problems of one language how far their sides resemble the same texts; None where they are too few.

    Where most don't differ, only those are looked at that tell.
    """
    if len(problems) < FEWEST_PROBLEMS:
        return None
    chosen = sorted(range(len(problems)), key=lambda number: _key(problems[number]))[:MOST_COMPANY]
    company = _Circle([problems[number] for number in chosen])
    found = company.correlate([problems[number] for number in chosen])
    middle = float(np.median(found))
    if len(chosen) == len(problems) or middle >= APART:
        own = dict(zip(chosen, found.tolist(), strict=True))
        return Company(tuple(own.get(number, 0.0) for number in range(len(problems))), middle)
    parts = [company.correlate(problems[begin : begin + TOGETHER]) for begin in range(0, len(problems), TOGETHER)]
    return Company(tuple(np.concatenate(parts).tolist()), middle)


class _Circle:
    """The texts of some problems, which others are compared with."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = [text for problem in problems for text in _sides(problem)]
        self.vectorizer = TfidfVectorizer(token_pattern=r"[^\W_]+|[^\w\s]", sublinear_tf=True, dtype=np.float32)
        self.vectors = self.vectorizer.fit_transform(texts)
        self.places: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            self.places.setdefault(text, []).append(place)
        self.usual = self._rows(problems).mean(axis=0)

    def correlate(self, problems: Sequence[Problem]) -> Floats:
        """(problems,): how far the two sides of each resemble the same texts, beyond how far all do; 0, if unclear."""
        rows = self._rows(problems) - self.usual
        known, unknown = rows[0::2], rows[1::2]
        both = ~(np.ma.getmaskarray(known) | np.ma.getmaskarray(unknown))
        known, unknown = (np.ma.array(each, mask=~both) for each in (known, unknown))
        known, unknown = (each - each.mean(axis=1, keepdims=True) for each in (known, unknown))
        spread = np.ma.sqrt((known**2).sum(axis=1) * (unknown**2).sum(axis=1))
        found = np.ma.filled((known * unknown).sum(axis=1) / spread, 0.0)
        return np.where(both.sum(axis=1) > FEWEST_TEXTS, found, 0.0)

    def _rows(self, problems: Sequence[Problem]) -> Any:
        """(sides, texts): the likeness to each text, the row's mean taken off; the problem's own texts are masked."""
        sides = [text for problem in problems for text in _sides(problem)]
        rows = (self.vectorizer.transform(sides) @ self.vectors.T).toarray().astype(np.float64)
        own = np.zeros(rows.shape, np.bool_)
        for number in range(0, len(sides), 2):
            own[number : number + 2, [at for side in sides[number : number + 2] for at in self._beside(side)]] = True
        masked = np.ma.array(rows, mask=own)
        return masked - masked.mean(axis=1, keepdims=True)

    def _beside(self, side: str) -> list[int]:
        """The places of a text and of what stands beside it in a problem."""
        return [each for place in self.places.get(side, ()) for each in (place, place ^ 1)]


def _sides(problem: Problem) -> tuple[str, str]:
    known = "\n".join(document.text[:EXTENT] for document in problem.known)
    return known[:EXTENT], problem.unknown.text[:EXTENT]


def _key(problem: Problem) -> bytes:
    """What problems are chosen by: an order that depends on the texts only, by chance."""
    return hashlib.sha256("\0".join(_sides(problem)).encode("utf-8", "surrogatepass")).digest()
