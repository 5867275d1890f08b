"""The symbols that the model knows, and the way between them and integers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from byline.normalise import CAPITAL, cut_runs, single_spaces
from byline.settings import TextRules

Symbols = NDArray[np.int32]

RARE = {"paper": 1 / 10_000, "scripts": 1 / 100_000}


@dataclass(frozen=True)
class Alphabet:
    """The symbols in the order of their code points; a symbol's index is its integer."""

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
        """Normalised text as the model sees it: characters outside the alphabet ignored, then long runs cut."""
        known = self._index
        kept = text if known.keys() >= set(text) else "".join([c for c in text if c in known])
        return cut_runs(single_spaces(kept, self.rules), self.rules)

    def encode(self, text: str) -> Symbols:
        """Normalised text as integers, (T,), by way of `filter`."""
        codes = np.frombuffer(self.filter(text).encode("utf-32-le"), dtype=np.uint32)
        return np.searchsorted(self._codes, codes).astype(np.int32)

    def decode(self, symbols: Symbols) -> str:
        """Integers as normalised text."""
        return self._codes[symbols].tobytes().decode("utf-32-le")


def count_characters(texts: Iterable[str]) -> Counter[str]:
    """How often each character occurs in normalised texts."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text)
    return counts


def make_alphabet(counts: Mapping[str, int], rules: TextRules = "paper") -> Alphabet:
    """The characters that are at least 1 in 10,000; by the scripts' rules all letters, and others 1 in 100,000."""
    least = RARE[rules] * sum(counts.values())
    kept = (
        c for c, count in counts.items() if count >= least or (rules == "scripts" and (c.isalpha() or c == CAPITAL))
    )
    return Alphabet("".join(sorted(kept)), rules)
