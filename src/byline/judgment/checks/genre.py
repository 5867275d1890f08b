"""Do the two sides of a problem look like different genres? Judged by layout and punctuation, and by the other texts
of the run that each side resembles.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from byline.corpora.problems import Problem

FEWEST_WORDS = 50
"""With fewer words on a side, nothing is compared."""
LIMIT = 3.0
"""Sides with a greater mean squared difference look like different kinds of text."""
MAX_RATIO = 4.0
"""No feature counts more than this many times the usual difference, so that none is enough by itself."""
MAX_NAMED = 3
"""The number of features that are described."""


class StyleFeature(NamedTuple):
    """One feature of texts, and how far two texts of one kind usually differ in it."""

    between: float
    """The mean squared difference between long texts."""
    chance: float
    """What sampling adds to it, times the number of words."""
    wording: str
    """A description with the values of both sides."""


FEATURES = {
    "word": StyleFeature(0.0049, 0.33, "words of {:.1f} and of {:.1f} letters"),
    "sentence": StyleFeature(0.15, 0, "sentences of {:.0f} and of {:.0f} words"),
    "line": StyleFeature(0.35, 5.7, "lines of {:.0f} and of {:.0f} words"),
    "long": StyleFeature(0.0031, 0.31, "{:.0f} and {:.0f} long words in a hundred"),
    "short": StyleFeature(0.00068, 0.1, "{:.0f} and {:.0f} short words in a hundred"),
    "comma": StyleFeature(0.0022, 0.4, "{:.1f} and {:.1f} commas in a hundred words"),
    "question": StyleFeature(0.0022, 0.14, "{:.1f} and {:.1f} question marks in a hundred words"),
    "exclamation": StyleFeature(0.0015, 0.27, "{:.1f} and {:.1f} exclamation marks in a hundred words"),
    "quote": StyleFeature(0.0061, 0.13, "{:.1f} and {:.1f} quotation marks in a hundred words"),
    "dash": StyleFeature(0.0028, 0, "{:.1f} and {:.1f} dashes in a hundred words"),
    "bracket": StyleFeature(0.0048, 0.0016, "{:.1f} and {:.1f} brackets in a hundred words"),
    "digit": StyleFeature(0.01, 0.075, "{:.1f} and {:.1f} digits in a hundred words"),
    "capital": StyleFeature(0.0054, 0.052, "{:.0f} and {:.0f} words in a hundred with a capital"),
}
LOGARITHMS = ("word", "sentence", "line")
"""Features that are means. The others are rates, whose square roots are compared: their variance is constant."""
SHORT_WORD, LONG_WORD = 3, 9

_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_ENDS = re.compile(r"[.!?…]+(?=[\s\"”»'’)]|$)")
_ENDS_GREEK = re.compile(r"[.!?;…]+(?=[\s\"”»'’)]|$)")  # ; is the question mark


class TextStyle(NamedTuple):
    """The features of one side."""

    words: int
    features: dict[str, float]


class Difference(NamedTuple):
    """How far two sides differ in kind."""

    score: float
    """The mean squared difference of the features; 1 is usual for texts of one kind."""
    strongest: tuple[str, ...]
    """Descriptions of the features that differ most."""


def measure_style(texts: Sequence[str], language: str) -> TextStyle | None:
    """Measure the features of some texts together; None if there are too few words."""
    text = "\n".join(texts)
    words = _WORD.findall(text)
    count = len(words)
    if count < FEWEST_WORDS:
        return None
    lengths = [len(word) for word in words]
    greek = language == "greek"
    sentences = len((_ENDS_GREEK if greek else _ENDS).findall(text))
    lines = sum(not line.isspace() and line != "" for line in text.split("\n"))
    return TextStyle(
        count,
        {
            "word": sum(lengths) / count,
            "sentence": count / max(1, sentences),
            "line": count / max(1, lines),
            "long": sum(length >= LONG_WORD for length in lengths) / count,
            "short": sum(length <= SHORT_WORD for length in lengths) / count,
            "comma": _count(text, ",،、") / count,
            "question": _count(text, "?;" if greek else "?") / count,
            "exclamation": text.count("!") / count,
            "quote": _count(text, '"“”„«»') / count,
            "dash": (_count(text, "–—―") + text.count("--") + text.count(" - ")) / count,
            "bracket": _count(text, "()[]") / count,
            "digit": len(_DIGIT.findall(text)) / count,
            "capital": sum(word[0].isupper() for word in words) / count,
        },
    )


def compare_styles(one: TextStyle, other: TextStyle) -> Difference:
    """Compare two sides, in units of the usual difference."""
    apart = {
        name: square_difference(name, one, other) / (feature.between + feature.chance * chance_share(one, other))
        for name, feature in FEATURES.items()
    }
    score = sum(min(square, MAX_RATIO**2) for square in apart.values()) / len(apart)
    strongest = [name for name in sorted(apart, key=lambda name: -apart[name])[:MAX_NAMED] if apart[name] > 1]
    return Difference(score, tuple(_describe(name, one, other) for name in strongest))


def square_difference(name: str, one: TextStyle, other: TextStyle) -> float:
    """Return the squared difference of two sides in one feature."""
    transform = math.log if name in LOGARITHMS else math.sqrt
    return (transform(one.features[name]) - transform(other.features[name])) ** 2


def chance_share(one: TextStyle, other: TextStyle) -> float:
    """Return the factor of a feature's chance part, which is greater for shorter texts."""
    return 1 / one.words + 1 / other.words


def _describe(name: str, *sides: TextStyle) -> str:
    factor = 1 if name in LOGARITHMS else 100
    return FEATURES[name].wording.format(*(factor * side.features[name] for side in sides))


def _count(text: str, signs: str) -> int:
    return sum(map(text.count, signs))


FEWEST_PROBLEMS, FEWEST_TEXTS = 40, 20
"""With fewer problems, or fewer other texts, nothing is compared."""
MAX_NEIGHBORS = 150
"""The number of problems whose texts all sides are compared with, so that time grows linearly."""
MAX_MEDIAN = -0.2
"""A run with a lower median correlation compares texts of different kinds."""
MAX_CORRELATION = -0.15
"""In such a run, problems with a lower correlation are reported."""
BATCH = 1_000
"""The number of problems that are compared at a time."""
MAX_CHARACTERS = 10_000
"""Only the beginning of each side is compared."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class KindComparison:
    """How far the two sides of each problem resemble the same other texts."""

    correlations: tuple[float, ...]
    """By problem, from 1 (the same texts) to -1 (different ones); 0 if that is unclear, or was not measured."""
    median: float
    """The median over the problems that all are compared with."""

    @property
    def mismatched(self) -> bool:
        """Return whether the sides of most problems are of different kinds."""
        return self.median < MAX_MEDIAN


def compare_kinds(problems: Sequence[Problem]) -> KindComparison | None:
    """Compare the sides of problems in one language; None if there are too few problems.

    Problems outside the sample of neighbors are compared only if the sides of the sample mostly differ.
    """
    if len(problems) < FEWEST_PROBLEMS:
        return None
    chosen = sorted(range(len(problems)), key=lambda number: _sort_key(problems[number]))[:MAX_NEIGHBORS]
    neighbors = _Neighbors([problems[number] for number in chosen])
    found = neighbors.correlate([problems[number] for number in chosen])
    median = float(np.median(found))
    if len(chosen) == len(problems) or median >= MAX_MEDIAN:
        by_number = dict(zip(chosen, found.tolist(), strict=True))
        return KindComparison(tuple(by_number.get(number, 0.0) for number in range(len(problems))), median)
    parts = [neighbors.correlate(problems[begin : begin + BATCH]) for begin in range(0, len(problems), BATCH)]
    return KindComparison(tuple(np.concatenate(parts).tolist()), median)


class _Neighbors:
    """The texts of some problems, which others are compared with."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer  # slow to import

        texts = [text for problem in problems for text in _sides(problem)]
        self.vectorizer = TfidfVectorizer(token_pattern=r"[^\W_]+|[^\w\s]", sublinear_tf=True, dtype=np.float32)
        self.vectors = self.vectorizer.fit_transform(texts)
        self.columns: dict[str, list[int]] = {}
        for column, text in enumerate(texts):
            self.columns.setdefault(text, []).append(column)
        self.mean = self._similarities(problems).mean(axis=0)

    def correlate(self, problems: Sequence[Problem]) -> Floats:
        """Return (problems,): the correlation of the two sides' similarities beyond the mean; 0 if unclear."""
        rows = self._similarities(problems) - self.mean
        known, unknown = rows[0::2], rows[1::2]
        both = ~(np.ma.getmaskarray(known) | np.ma.getmaskarray(unknown))
        known, unknown = (np.ma.array(each, mask=~both) for each in (known, unknown))
        known, unknown = (each - each.mean(axis=1, keepdims=True) for each in (known, unknown))
        spread = np.ma.sqrt((known**2).sum(axis=1) * (unknown**2).sum(axis=1))
        found = np.ma.filled((known * unknown).sum(axis=1) / spread, 0.0)
        return np.where(both.sum(axis=1) > FEWEST_TEXTS, found, 0.0)

    def _similarities(self, problems: Sequence[Problem]) -> Any:
        """Return (sides, texts) without the mean of each row; the problem's own texts are masked."""
        sides = [text for problem in problems for text in _sides(problem)]
        rows = (self.vectorizer.transform(sides) @ self.vectors.T).toarray().astype(np.float64)
        own = np.zeros(rows.shape, np.bool_)
        for number in range(0, len(sides), 2):
            pair = sides[number : number + 2]
            own[number : number + 2, [column for side in pair for column in self._own_columns(side)]] = True
        masked = np.ma.array(rows, mask=own)
        return masked - masked.mean(axis=1, keepdims=True)

    def _own_columns(self, side: str) -> list[int]:
        """Return the columns of a text and of the other side of its problems."""
        return [each for column in self.columns.get(side, ()) for each in (column, column ^ 1)]


def _sides(problem: Problem) -> tuple[str, str]:
    known = "\n".join(document.text[:MAX_CHARACTERS] for document in problem.known)
    return known[:MAX_CHARACTERS], problem.unknown.text[:MAX_CHARACTERS]


def _sort_key(problem: Problem) -> bytes:
    """Return a key that sorts problems in a random order, which depends on their texts only."""
    return hashlib.sha256("\0".join(_sides(problem)).encode("utf-8", "surrogatepass")).digest()
