"""Encoding: the alphabet that a model knows, and texts as sequences of its symbols."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from byline.text.normalize import (
    CAPITAL,
    MASK,
    Mask,
    TextRules,
    cut_runs,
    frequent_words,
    mask_topic,
    normalize,
    single_spaces,
)

Symbols = NDArray[np.int32]

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
