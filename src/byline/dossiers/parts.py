"""What all reports share: numbers that JSON can hold, packed texts, and documents with what speaks in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np

from byline.documents import Document
from byline.evidence import (
    Gains,
    Guesser,
    Word,
    choose_strongest,
    find_passages,
    scale_of,
    smooth_curve,
    turning_points,
    weigh_words,
)
from byline.reports.page import pack

SHORT = 1_000
"""Characters below which a text is called short."""
DIGITS = 4
LIMITS = (
    "A result is evidence, never proof. It says how texts compare in the way they are written, not who held the pen.",
    "Texts of another kind, time or topic than each other can differ more than two authors do.",
    "The colours show where the numbers come from. They are not marks of authorship that a reader could find alone.",
)


class _Marked(NamedTuple):
    """A passage, and the number of its document."""

    document: int
    begin: int
    end: int
    bits: float
    agreement: float


class Markings:
    """Documents of one report entry, with what speaks for and against in them."""

    def __init__(self) -> None:
        self.documents: list[dict[str, Any]] = []
        self._passages: list[_Marked] = []
        self._words: list[Word] = []

    def add(self, role: str, document: Document, gains: Gains | None, others: Iterable[Document]) -> None:
        """A document; `others` are those that the author in question wrote, who is asked what he would go on with."""
        values: dict[str, Any] = {
            "role": role, "name": document.name, "text": document.text, "words": None, "curve": None
        }  # fmt: skip
        if gains is not None:
            guesser = Guesser(other.text for other in others)
            words = weigh_words(document.text, gains)
            self._words += words
            rows: list[list[Any]] = []
            least = scale_of(words) / 4
            for word, place in zip(words, turning_points(gains, words), strict=True):
                told = None
                if abs(word.bits) >= least:  # of what says nothing there is nothing to make sense of
                    guess = guesser.guess(document.text[max(0, place - guesser.order) : place])
                    told = [place, [[character, round(chance, 2)] for character, chance in guess]] if guess else None
                rows.append([word.begin, word.end, round(word.bits, 2), round(word.agreement, 2), told])
            values["words"] = rows
            values["curve"] = [[place, round(value, 4)] for place, value in smooth_curve(gains)]
            found = find_passages(document.text, gains, words=words)
            self._passages += [_Marked(len(self.documents), *each) for each in found]
        self.documents.append(values)

    def blob(self, features: Sequence[dict[str, Any]] = ()) -> str:
        """All of it, packed."""
        return pack(
            {
                "documents": self.documents,
                "passages": [
                    {**each._asdict(), "bits": round(each.bits, 2), "agreement": round(each.agreement, 2)}
                    for each in choose_strongest(self._passages)
                ],
                "features": list(features),
                "scale": round(scale_of(self._words), 2),
            }
        )


def finite(value: float | None, digits: int = DIGITS) -> float | None:
    """A number as JSON can hold it."""
    return None if value is None or not np.isfinite(value) else round(float(value), digits)


def rounded(values: Sequence[float]) -> list[float]:
    """Numbers short enough to be sent."""
    return [round(float(value), DIGITS) for value in values]


def short_names(names: Sequence[str]) -> list[str]:
    """Names of files without the folders that all of them lie in: a reader has no use for where they were."""
    paths = [PurePath(name) for name in names]
    if len(set(names)) < len(names) or not all(path.is_absolute() for path in paths):
        return list(names)
    folders = [path.parent.parts for path in paths]
    shared = next((place for place, parts in enumerate(zip(*folders, strict=False)) if len(set(parts)) > 1), None)
    depth = min(map(len, folders)) if shared is None else shared
    return [str(PurePath(*path.parts[depth:])) for path in paths]
