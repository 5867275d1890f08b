"""What all reports share: numbers that JSON can hold, packed texts, and documents with what speaks in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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

DIGITS = 4
BARS = 40
"""Of a histogram, at the most."""
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
        self._guessers: dict[tuple[str, ...], Guesser] = {}

    def add(self, role: str, document: Document, gains: Gains | None, others: Iterable[Document]) -> None:
        """A document; `others` are those that the author in question wrote, who is asked what he would go on with."""
        values: dict[str, Any] = {
            "role": role, "name": document.name, "text": document.text, "words": None, "curve": None, "bits": None
        }  # fmt: skip
        if gains is not None:
            guesser = self._guesser(tuple(other.text for other in others))
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
            values["bits"] = finite(sum(word.bits for word in words))
            values["curve"] = [[place, round(value, 4)] for place, value in smooth_curve(gains)]
            found = find_passages(document.text, gains, words=words)
            self._passages += [_Marked(len(self.documents), *each) for each in found]
        self.documents.append(values)

    def _guesser(self, texts: tuple[str, ...]) -> Guesser:
        """What some texts would go on with; documents that have the same ones on the other side share it."""
        if texts not in self._guessers:
            self._guessers[texts] = Guesser(texts)
        return self._guessers[texts]

    def blob(self, features: Sequence[dict[str, Any]] = (), shared: Sequence[dict[str, Any]] = ()) -> str:
        """All of it, packed; `shared` are passages that several of the documents have."""
        return pack(
            {
                "documents": self.documents,
                "passages": [
                    {**each._asdict(), "bits": round(each.bits, 2), "agreement": round(each.agreement, 2)}
                    for each in choose_strongest(self._passages)
                ],
                "features": list(features),
                "shared": list(shared),
                "scale": round(scale_of(self._words), 2),
            }
        )


def finite(value: float | None, digits: int = DIGITS) -> float | None:
    """A number as JSON can hold it."""
    return None if value is None or not np.isfinite(value) else round(float(value), digits)


def rounded(values: Sequence[float]) -> list[float]:
    """Numbers short enough to be sent."""
    return [round(float(value), DIGITS) for value in values]


def company(values: Sequence[float] | NDArray[np.float64], own: float) -> dict[str, Any]:
    """A value among others: how many of them there are and how many are lower, their quartiles, and a histogram."""
    others = np.asarray(values, np.float64)
    bars = int(np.clip(np.ceil(2 * np.sqrt(len(others))), 8, BARS))
    counts = np.histogram(others, bars)[0] if len(others) else np.zeros(0, np.int64)
    return {
        "own": round(float(own), DIGITS),
        "count": len(others),
        "below": int((others < own).sum()),
        "quartiles": rounded(np.quantile(others, [0, 0.25, 0.5, 0.75, 1]).tolist()) if len(others) else [],
        "bars": counts.tolist(),
    }


def short_names(names: Sequence[str]) -> list[str]:
    """Names of files without the folders that all of them lie in: a reader has no use for where they were."""
    paths = [PurePath(name) for name in names]
    if len(set(names)) < len(names) or not all(path.is_absolute() for path in paths):
        return list(names)
    folders = [path.parent.parts for path in paths]
    shared = next((place for place, parts in enumerate(zip(*folders, strict=False)) if len(set(parts)) > 1), None)
    depth = min(map(len, folders)) if shared is None else shared
    return [str(PurePath(*path.parts[depth:])) for path in paths]
