"""Do the two sides of a problem look like different kinds of text? Told by how they are laid out and punctuated.

No list of words and no model: a dozen marks that mean about the same in all languages that part words by spaces. Each
is compared with how far two texts of one corpus, of one kind that is, usually differ in it; the figures are measured by
benchmarks/cautions.py. What differs by content alone, a review from an essay, say, is not seen.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

FEWEST_WORDS = 50
"""With fewer words on a side nothing is compared."""
LIMIT = 3.0
"""Sides whose marks differ more than this, on the mean of the squares, look like different kinds of text."""
MOST = 4.0
"""So many times the usual difference is the most that one mark counts: no mark is enough by itself."""
TOLD = 3
"""Marks that are named at the most."""


class Mark(NamedTuple):
    """One thing that texts are compared in: how far two texts of one kind usually differ in it."""

    between: float
    """The mean square of the difference between long texts."""
    chance: float
    """What chance adds to it for a word, divided by the number of words."""
    said: str
    """The values of both sides in words, which stand for {} and {}."""


MARKS = {
    "word": Mark(0.0049, 0.33, "words of {:.1f} and of {:.1f} letters"),
    "sentence": Mark(0.15, 0, "sentences of {:.0f} and of {:.0f} words"),
    "line": Mark(0.35, 5.7, "lines of {:.0f} and of {:.0f} words"),
    "long": Mark(0.0031, 0.31, "{:.0f} and {:.0f} long words in a hundred"),
    "short": Mark(0.00068, 0.1, "{:.0f} and {:.0f} short words in a hundred"),
    "comma": Mark(0.0022, 0.4, "{:.1f} and {:.1f} commas in a hundred words"),
    "question": Mark(0.0022, 0.14, "{:.1f} and {:.1f} question marks in a hundred words"),
    "exclamation": Mark(0.0015, 0.27, "{:.1f} and {:.1f} exclamation marks in a hundred words"),
    "quote": Mark(0.0061, 0.13, "{:.1f} and {:.1f} quotation marks in a hundred words"),
    "dash": Mark(0.0028, 0, "{:.1f} and {:.1f} dashes in a hundred words"),
    "bracket": Mark(0.0048, 0.0016, "{:.1f} and {:.1f} brackets in a hundred words"),
    "digit": Mark(0.01, 0.075, "{:.1f} and {:.1f} digits in a hundred words"),
    "capital": Mark(0.0054, 0.052, "{:.0f} and {:.0f} words in a hundred with a capital"),
}
LOGARITHMS = ("word", "sentence", "line")
"""Marks that are means; the others are rates, whose square roots are compared, for so their chance part is even."""
SHORT_WORD, LONG_WORD = 3, 9

_WORD = re.compile(r"[^\W\d_]+")
_DIGIT = re.compile(r"\d")
_ENDS = re.compile(r"[.!?…]+(?=[\s\"”»'’)]|$)")
_ENDS_GREEK = re.compile(r"[.!?;…]+(?=[\s\"”»'’)]|$)")  # where a question ends with ;


class Manner(NamedTuple):
    """How one side is laid out."""

    words: int
    marks: dict[str, float]


class Difference(NamedTuple):
    """How far two sides differ in kind."""

    score: float
    """The mean square of the marks' differences, 1 being usual for texts of one kind."""
    said: tuple[str, ...]
    """What differs most, in words."""


def read_manner(texts: Sequence[str], language: str) -> Manner | None:
    """The marks of some texts together; None where there are too few words."""
    text = "\n".join(texts)
    words = _WORD.findall(text)
    count = len(words)
    if count < FEWEST_WORDS:
        return None
    lengths = [len(word) for word in words]
    greek = language == "greek"
    sentences = len((_ENDS_GREEK if greek else _ENDS).findall(text))
    lines = sum(not line.isspace() and line != "" for line in text.split("\n"))
    return Manner(
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


def compare_manners(one: Manner, other: Manner) -> Difference:
    """How far two sides differ, in units of what is usual."""
    apart = {name: square_difference(name, one, other) / _usual(name, one, other) for name in MARKS}
    score = sum(min(square, MOST**2) for square in apart.values()) / len(apart)
    strongest = [name for name in sorted(apart, key=lambda name: -apart[name])[:TOLD] if apart[name] > 1]
    return Difference(
        score,
        tuple(MARKS[name].said.format(*(_shown(name, each) for each in (one, other))) for name in strongest),
    )


def square_difference(name: str, one: Manner, other: Manner) -> float:
    """How far two sides are apart in one mark, squared."""
    return (_level(name, one) - _level(name, other)) ** 2


def chance_share(one: Manner, other: Manner) -> float:
    """What a mark's chance part is multiplied with: it is the larger the fewer words there are."""
    return 1 / one.words + 1 / other.words


def _usual(name: str, one: Manner, other: Manner) -> float:
    return MARKS[name].between + MARKS[name].chance * chance_share(one, other)


def _level(name: str, manner: Manner) -> float:
    value = manner.marks[name]
    return math.log(value) if name in LOGARITHMS else math.sqrt(value)


def _shown(name: str, manner: Manner) -> float:
    value = manner.marks[name]
    return value if name in LOGARITHMS else 100 * value


def _count(text: str, signs: str) -> int:
    return sum(map(text.count, signs))
