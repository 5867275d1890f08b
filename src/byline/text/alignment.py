"""Alignment: the position in the original text of each symbol that a model reads.

This repeats the steps of normalize.py, masking.py and alphabet.py on arrays of characters with their positions. A test
checks that both give the same symbols.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.text.encoder import Symbols, TextEncoder
from byline.text.languages import FOREIGN
from byline.text.normalize import (
    BEFORE_NFKD,
    CAPITAL,
    LATIN_ACCENTS,
    LONGEST_RUN,
    MASK,
    MOST_MARKS,
    RUNS,
    TOO_MANY_MARKS,
    WORD,
    TextRules,
    character_table,
    is_kept,
)

Places = NDArray[np.int64]
Codes = NDArray[np.uint32]
ACCENTS = range(0x300, 0x370)
"""Combining marks that are dropped with a masked letter."""


class Alignment(NamedTuple):
    """The symbols of a text and the positions of the characters that they come from."""

    symbols: Symbols
    places: Places

    def to_characters(self, values: NDArray[np.floating], length: int) -> NDArray[np.float64]:
        """Sum values of symbols by character of the original, (length,). Characters without a symbol have 0."""
        if len(self.places) != len(values):
            raise ValueError(f"{len(values)} values for {len(self.places)} symbols")
        found: NDArray[np.float64] = np.bincount(self.places, weights=values, minlength=length).astype(np.float64)
        return found


def align_text(encoder: TextEncoder, text: str) -> Alignment:
    """Encode a text and return its symbols with their positions in the original."""
    translated = text.translate(BEFORE_NFKD)
    characters = _Characters(_codes(translated), np.arange(len(translated)))
    characters = _cut_matches(characters, TOO_MANY_MARKS, kept=MOST_MARKS)
    characters = _decompose(characters)
    if encoder.language in FOREIGN:
        characters = _cut_matches(characters, LATIN_ACCENTS)
    table = character_table(encoder.language, encoder.rules)
    characters = _single_spaces(_replace(characters, lambda character: table[ord(character)]), encoder.rules)
    if encoder.mask == "topic":
        characters = _mask(characters, encoder.frequent)
    known = _codes(encoder.alphabet.symbols)
    characters = _single_spaces(characters.select(np.isin(characters.codes, known)), encoder.rules)
    characters = _cut_matches(characters, RUNS[encoder.rules], kept=LONGEST_RUN)
    return Alignment(np.searchsorted(known, characters.codes).astype(np.int32), characters.places)


def values_by_character(encoder: TextEncoder, text: str, values: NDArray[np.floating]) -> NDArray[np.float64]:
    """Sum values of a text's symbols by character of the original, (len(text),)."""
    return align_text(encoder, text).to_characters(values, len(text))


class _Characters(NamedTuple):
    """Characters as code points, and their positions in the original."""

    codes: Codes
    places: Places

    @property
    def text(self) -> str:
        return self.codes.tobytes().decode("utf-32-le", "surrogatepass")

    def select(self, chosen: NDArray[np.bool_] | NDArray[np.int64] | slice) -> _Characters:
        return _Characters(self.codes[chosen], self.places[chosen])


def _codes(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _cut_matches(characters: _Characters, pattern: re.Pattern[str], kept: int = 0) -> _Characters:
    """Cut each match of a pattern to its first few characters."""
    chosen = np.ones(len(characters.codes), np.bool_)
    for match in pattern.finditer(characters.text):
        chosen[match.start() + kept : match.end()] = False
    return characters.select(chosen)


def _replace(characters: _Characters, replacement: Callable[[str], str]) -> _Characters:
    """Replace each character by one, several or none."""
    distinct, indices = _distinct(characters.codes)
    replacements = [replacement(chr(code)) for code in distinct]
    widths = np.array([len(each) for each in replacements], np.int64)
    codes = _codes("".join(replacements))
    if (widths == 1).all():
        return _Characters(codes[indices], characters.places)
    own = widths[indices]
    sources = (np.cumsum(widths) - widths)[indices]  # where each character's replacement begins in `codes`
    targets = np.cumsum(own) - own  # and in the result
    total = int(own.sum())
    return _Characters(codes[np.arange(total) + np.repeat(sources - targets, own)], np.repeat(characters.places, own))


def _distinct(codes: Codes) -> tuple[list[int], Places]:
    """Return the distinct code points and each character's index among them; this is faster than np.unique."""
    found = np.flatnonzero(np.bincount(codes))
    indices = np.zeros(int(codes.max(initial=0)) + 1, np.int64)
    indices[found] = np.arange(len(found))
    return found.tolist(), indices[codes]


def _decompose(characters: _Characters) -> _Characters:
    """Apply NFKD: decompose each character, then sort the marks on one letter."""
    if characters.codes.max(initial=0) < 0x80:
        return characters
    characters = _replace(characters, lambda character: unicodedata.normalize("NFKD", character))
    distinct, indices = _distinct(characters.codes)
    classes = np.array([unicodedata.combining(chr(code)) for code in distinct], np.int64)[indices]
    return characters.select(np.lexsort((classes, np.cumsum(classes == 0)))) if classes.any() else characters


def _single_spaces(characters: _Characters, rules: TextRules) -> _Characters:
    """Strip white space at the ends and, by the paper's rules, keep only the first of several spaces."""
    spaces = (characters.codes == ord(" ")) | (characters.codes == ord("\n"))  # no others are left
    chosen = ~spaces
    words = np.flatnonzero(chosen)
    if not len(words):
        return characters.select(words)
    inner = slice(int(words[0]), int(words[-1]) + 1)
    if rules == "paper":
        chosen[1:] |= ~spaces[:-1]
        return characters.select(inner).select(chosen[inner])
    return characters.select(inner)


def _mask(characters: _Characters, frequent: frozenset[str]) -> _Characters:
    """Replace words that are not frequent by asterisks, each at the position of its letter."""
    masked = np.zeros(len(characters.codes), np.bool_)
    for word in WORD.finditer(characters.text):
        if not is_kept(word[0], frequent):
            masked[word.start() : word.end()] = True
    accents = (characters.codes >= ACCENTS.start) & (characters.codes < ACCENTS.stop)
    codes = np.where(masked & (characters.codes != ord(CAPITAL)), np.uint32(ord(MASK)), characters.codes)
    return _Characters(codes, characters.places).select(~(masked & accents))
