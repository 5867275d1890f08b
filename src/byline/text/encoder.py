"""Encoding: the alphabet that a model knows, texts as sequences of its symbols, and where these are in the original.

Alignment repeats the steps of normalizing, masking and encoding on arrays of characters with their positions. A test
checks that both give the same symbols.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    Mask,
    TextRules,
    character_table,
    cut_runs,
    frequent_words,
    is_kept,
    mask_topic,
    normalize,
    single_spaces,
)

Symbols = NDArray[np.int32]
Places = NDArray[np.int64]
Codes = NDArray[np.uint32]
ACCENTS = range(0x300, 0x370)
"""Combining marks that are dropped with a masked letter."""

RARE = {"paper": 1 / 10_000, "scripts": 1 / 100_000}
"""Characters less frequent than this are left out of the alphabet."""


@dataclass(frozen=True)
class Alphabet:
    """Characters in the order of their code points; a character's index is its integer."""

    symbols: str
    rules: TextRules = "paper"

    @cached_property
    def _index(self) -> dict[str, int]:
        return {symbol: index for index, symbol in enumerate(self.symbols)}

    @cached_property
    def _codes(self) -> NDArray[np.uint32]:
        return np.frombuffer(self.symbols.encode("utf-32-le"), dtype=np.uint32)

    def __len__(self) -> int:
        return len(self.symbols)

    def filter(self, text: str) -> str:
        """Drop characters outside the alphabet from normalized text, then cut long runs."""
        known = self._index
        kept = text if known.keys() >= set(text) else "".join([c for c in text if c in known])
        return cut_runs(single_spaces(kept, self.rules), self.rules)

    def encode(self, text: str) -> Symbols:
        """Filter normalized text and return it as integers, (T,)."""
        codes = np.frombuffer(self.filter(text).encode("utf-32-le"), dtype=np.uint32)
        return np.searchsorted(self._codes, codes).astype(np.int32)

    def decode(self, symbols: Symbols) -> str:
        """Return the normalized text that integers stand for."""
        return self._codes[symbols].tobytes().decode("utf-32-le")


def count_characters(texts: Iterable[str]) -> Counter[str]:
    """Count the characters of normalized texts."""
    return sum(map(Counter, texts), Counter())


def make_alphabet(counts: Mapping[str, int], rules: TextRules = "paper") -> Alphabet:
    """Make an alphabet of the characters that are not rare; by the scripts' rules, no letter is."""
    least = RARE[rules] * sum(counts.values())
    kept = (
        c for c, count in counts.items() if count >= least or (rules == "scripts" and (c.isalpha() or c == CAPITAL))
    )
    return Alphabet("".join(sorted(kept)), rules)


SHORTEST = 12
"""Least characters of a text after normalizing: ten are skipped, and one is not a measurement."""


@dataclass(frozen=True)
class TextEncoder:
    """The encoding that members with the same text rules and mask share."""

    language: str
    rules: TextRules
    mask: Mask
    alphabet: Alphabet
    frequent: frozenset[str] = frozenset()
    """Words that are not masked if the topic is."""

    def normal(self, text: str) -> str:
        """Normalize a text and mask its topic if wanted."""
        normal = normalize(text, self.language, self.rules)
        return mask_topic(normal, self.frequent) if self.mask == "topic" else normal

    def encode(self, text: str) -> Symbols:
        """Return the text as integers, without characters outside the alphabet."""
        return self.alphabet.encode(self.normal(text))


def fit_encoder(texts: Sequence[str], language: str, rules: TextRules, mask: Mask) -> TextEncoder:
    """Learn the frequent words and the alphabet from texts; identical texts count once."""
    normal = {normalize(text, language, rules) for text in texts}
    frequent = frequent_words(normal) if mask == "topic" else frozenset[str]()
    if mask == "topic":
        normal = {mask_topic(text, frequent) for text in normal}
    alphabet = make_alphabet(count_characters(normal), rules)
    if mask == "topic":  # these texts may have too few words to mask any, and later ones not
        alphabet = Alphabet("".join(sorted({*alphabet.symbols, MASK})), rules)
    return TextEncoder(language, rules, mask, alphabet, frequent)


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
