"""Where in the original each symbol stands that the model reads: the way back through normalising.

The steps of normalise.py, masking.py and alphabet.py once more, all characters at once and each with the place that it
comes from. That both give the same symbols is tested.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.alphabet import Symbols
from byline.languages import FOREIGN
from byline.masking import MASK, WORD, stays
from byline.normalise import (
    BEFORE_NFKD,
    CAPITAL,
    LATIN_ACCENTS,
    LONGEST_RUN,
    MOST_MARKS,
    RUNS,
    TOO_MANY_MARKS,
    images,
)
from byline.settings import TextRules
from byline.views import View

Places = NDArray[np.int64]
Codes = NDArray[np.uint32]
ACCENTS = range(0x300, 0x370)
"""The marks that go with a masked letter."""


class Letters(NamedTuple):
    """Characters as code points, and the places in the original that they come from."""

    codes: Codes
    places: Places

    @property
    def text(self) -> str:
        """The characters."""
        return self.codes.tobytes().decode("utf-32-le", "surrogatepass")

    def at(self, chosen: NDArray[np.bool_] | NDArray[np.int64] | slice) -> Letters:
        """Some of them."""
        return Letters(self.codes[chosen], self.places[chosen])


class Trail(NamedTuple):
    """A text as the model reads it, and the way back."""

    symbols: Symbols
    places: Places
    """For each symbol, the place of the character that it comes from."""

    def spread(self, values: NDArray[np.floating], length: int) -> NDArray[np.float64]:
        """(characters of the original,): values of symbols where these come from; what is not read has 0."""
        if len(self.places) != len(values):
            raise ValueError(f"{len(values)} values for {len(self.places)} symbols")
        found: NDArray[np.float64] = np.bincount(self.places, weights=values, minlength=length).astype(np.float64)
        return found


def trace(view: View, text: str) -> Trail:
    """The text's symbols, each with its place in the original."""
    plain = text.translate(BEFORE_NFKD)
    letters = Letters(_codes(plain), np.arange(len(plain)))
    letters = _without(letters, TOO_MANY_MARKS, kept=MOST_MARKS)
    letters = _decompose(letters)
    if view.language in FOREIGN:
        letters = _without(letters, LATIN_ACCENTS)
    table = images(view.language, view.rules)
    letters = _single_spaces(_replace(letters, lambda character: table[ord(character)]), view.rules)
    if view.mask == "topic":
        letters = _mask(letters, view.frequent)
    known = _codes(view.alphabet.symbols)
    letters = _single_spaces(letters.at(np.isin(letters.codes, known)), view.rules)
    letters = _without(letters, RUNS[view.rules], kept=LONGEST_RUN)
    return Trail(np.searchsorted(known, letters.codes).astype(np.int32), letters.places)


def spread_back(view: View, text: str, values: NDArray[np.floating]) -> NDArray[np.float64]:
    """(characters of the original,): values of symbols where these come from; what the model does not see has 0."""
    return trace(view, text).spread(values, len(text))


def _codes(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _without(letters: Letters, pattern: re.Pattern[str], kept: int = 0) -> Letters:
    """What matches a pattern cut to its first few characters."""
    spans = [match.span() for match in pattern.finditer(letters.text)]
    if not spans:
        return letters
    left = np.ones(len(letters.codes), np.bool_)
    for begin, end in spans:
        left[begin + kept : end] = False
    return letters.at(left)


def _replace(letters: Letters, image: Callable[[str], str]) -> Letters:
    """Each character as what it becomes: one, several or none."""
    found, numbers = _distinct(letters.codes)
    becomes = [image(chr(code)) for code in found]
    widths = np.array([len(each) for each in becomes], np.int64)
    codes = _codes("".join(becomes))
    if (widths == 1).all():
        return Letters(codes[numbers], letters.places)
    own = widths[numbers]
    starts = (np.cumsum(widths) - widths)[numbers]  # where in `codes` each character's are
    begins = np.cumsum(own) - own  # and where in the result
    total = int(own.sum())
    return Letters(codes[np.arange(total) + np.repeat(starts - begins, own)], np.repeat(letters.places, own))


def _distinct(codes: Codes) -> tuple[list[int], Places]:
    """The different code points, and for each character the number of its own: quicker than sorting them."""
    found = np.flatnonzero(np.bincount(codes))
    numbers = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
    numbers[found] = np.arange(len(found))
    return found.tolist(), numbers[codes]


def _decompose(letters: Letters) -> Letters:
    """NFKD: each character taken apart, then marks on one letter put in their order."""
    if letters.codes.max(initial=0) < 0x80:
        return letters
    letters = _replace(letters, lambda character: unicodedata.normalize("NFKD", character))
    found, numbers = _distinct(letters.codes)
    ranks = np.array([unicodedata.combining(chr(code)) for code in found], np.int64)[numbers]
    return letters.at(np.lexsort((ranks, np.cumsum(ranks == 0)))) if ranks.any() else letters


def _single_spaces(letters: Letters, rules: TextRules) -> Letters:
    """White space at the ends gone and, by the paper's rules, runs of it cut to one space, the first."""
    spaces = (letters.codes == ord(" ")) | (letters.codes == ord("\n"))  # no other is left
    left = ~spaces
    words = np.flatnonzero(left)
    if not len(words):
        return letters.at(words)
    inner = slice(int(words[0]), int(words[-1]) + 1)
    if rules == "paper":
        left[1:] |= ~spaces[:-1]
        return letters.at(inner).at(left[inner])
    return letters.at(inner)


def _mask(letters: Letters, frequent: frozenset[str]) -> Letters:
    """Words that don't stay become asterisks, each at the place of the letter that it hides."""
    steps = np.zeros(len(letters.codes) + 1, np.int64)
    hidden = [word.span() for word in WORD.finditer(letters.text) if not stays(word[0], frequent)]
    begins, ends = np.array(hidden, np.int64).reshape(-1, 2).T
    steps[begins] += 1
    steps[ends] -= 1
    masked = np.cumsum(steps)[:-1] > 0
    accents = (letters.codes >= ACCENTS.start) & (letters.codes < ACCENTS.stop)
    codes = np.where(masked & (letters.codes != ord(CAPITAL)), np.uint32(ord(MASK)), letters.codes)
    return Letters(codes, letters.places).at(~(masked & accents))
