"""What all reports share: numbers as JSON, names, and texts with the evidence in them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.corpora.documents import Document
from byline.judgment.passage_evidence import (
    Gains,
    Guesser,
    WeighedSpan,
    choose_strongest,
    color_scale,
    find_passages,
    smooth_curve,
    strongest_characters,
    weigh_words,
)
from byline.report.page import pack

if TYPE_CHECKING:
    from byline.author_models.evidence import MemberFeatures

DIGITS = 4
MAX_BARS = 40
"""Of a histogram."""
LIMITS = (
    "A result is evidence, never proof. It says how texts compare in the way they are written, not who held the pen.",
    "Texts of another kind, time or topic than each other can differ more than two authors do.",
    "The colors show where the numbers come from. They are not marks of authorship that a reader could find alone.",
)


class _Marked(NamedTuple):
    """A passage, and the number of its document."""

    document: int
    begin: int
    end: int
    bits: float
    agreement: float


class MarkedTexts:
    """Documents of one entry of a report, with the evidence in them.

    Guesses of how an author would go on are slow to prepare; entries may share them by passing the same `guessers`.
    """

    def __init__(self, guessers: dict[tuple[str, ...], Guesser] | None = None) -> None:
        self.documents: list[dict[str, Any]] = []
        self._passages: list[_Marked] = []
        self._words: list[WeighedSpan] = []
        self._guessers = {} if guessers is None else guessers

    def add(self, role: str, document: Document, gains: Gains | None, others: Iterable[Document]) -> None:
        """Add a document. `others` are by the author in question, and tell how that author would go on."""
        values: dict[str, Any] = {
            "role": role, "name": document.name, "text": document.text, "words": None, "curve": None, "bits": None
        }  # fmt: skip
        if gains is not None:
            guesser = self._guesser(tuple(other.text for other in others))
            words = weigh_words(document.text, gains)
            self._words += words
            rows: list[list[Any]] = []
            least = color_scale(words) / 4
            for word, place in zip(words, strongest_characters(gains, words), strict=True):
                expected = None
                if abs(word.bits) >= least:  # weak words need no explanation
                    guess = guesser.guess(document.text[max(0, place - guesser.order) : place])
                    expected = [place, [[letter, round(chance, 2)] for letter, chance in guess]] if guess else None
                rows.append([word.begin, word.end, round(word.bits, 2), round(word.agreement, 2), expected])
            values["words"] = rows
            values["bits"] = finite(sum(word.bits for word in words))
            values["curve"] = [[place, round(value, 4)] for place, value in smooth_curve(gains)]
            found = find_passages(document.text, gains, words=words)
            self._passages += [_Marked(len(self.documents), *each) for each in found]
        self.documents.append(values)

    def add_known(self, document: Document, gains: Gains | None) -> None:
        """Add a document that is not in question, with a scale of its own and without guesses or passages."""
        passages, words = list(self._passages), list(self._words)
        self.add("known", document, gains, ())
        own = self._words[len(words) :]
        self._passages, self._words = passages, words
        if own:
            self.documents[-1]["scale"] = round(color_scale(own), 2)

    def drop_weak_words(self, share: float) -> None:
        """Leave out words whose bits are less than a share of those of full color."""
        least = share * color_scale(self._words)
        for document in self.documents:
            document["words"] = [row for row in document["words"] or () if abs(row[2]) >= least]

    def _guesser(self, texts: tuple[str, ...]) -> Guesser:
        if texts not in self._guessers:
            self._guessers[texts] = Guesser(texts)
        return self._guessers[texts]

    def pack(self, features: Sequence[dict[str, Any]] = (), shared: Sequence[dict[str, Any]] = ()) -> str:
        """Return the texts, packed. `shared` are passages that several of the documents have."""
        return pack(
            {
                "documents": self.documents,
                "passages": [
                    {**each._asdict(), "bits": round(each.bits, 2), "agreement": round(each.agreement, 2)}
                    for each in choose_strongest(self._passages)
                ],
                "features": list(features),
                "shared": list(shared),
                "scale": round(color_scale(self._words), 2),
            }
        )


def finite(value: float | None, digits: int = DIGITS) -> float | None:
    """Round a number; return None for one that JSON can't hold."""
    return None if value is None or not np.isfinite(value) else round(float(value), digits)


def rounded(values: Sequence[float]) -> list[float]:
    """Round numbers."""
    return [round(float(value), DIGITS) for value in values]


def position_among(values: Sequence[float] | NDArray[np.float64], own: float) -> dict[str, Any]:
    """Return the position of a value among others: how many are lower, their quartiles, and a histogram."""
    others = np.asarray(values, np.float64)
    bars = int(np.clip(np.ceil(2 * np.sqrt(len(others))), 8, MAX_BARS))
    counts = np.histogram(others, bars)[0] if len(others) else np.zeros(0, np.int64)
    return {
        "own": round(float(own), DIGITS),
        "count": len(others),
        "below": int((others < own).sum()),
        "quartiles": rounded(np.quantile(others, [0, 0.25, 0.5, 0.75, 1]).tolist()) if len(others) else [],
        "bars": counts.tolist(),
    }


def short_names(names: Sequence[str]) -> list[str]:
    """Return names of files without the folders that they have in common."""
    paths = [PurePath(name) for name in names]
    if len(set(names)) < len(names) or not all(path.is_absolute() for path in paths):
        return list(names)
    folders = [path.parent.parts for path in paths]
    shared = next((place for place, parts in enumerate(zip(*folders, strict=False)) if len(set(parts)) > 1), None)
    depth = min(map(len, folders)) if shared is None else shared
    return [str(PurePath(*path.parts[depth:])) for path in paths]


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names, with a number after repeated ones."""
    found: dict[str, None] = {}
    for name in names:
        number, own = 1, name
        while own in found:
            number += 1
            own = f"{name} ({number})"
        found[own] = None
    return list(found)


def feature_values(title: str, named: MemberFeatures) -> dict[str, Any]:
    """Return the features that a member names."""
    return {
        "member": title,
        "unit": named.unit.split(",")[0].removesuffix(" distance"),
        "for": [[name, finite(weight, 6)] for name, weight in named.features if weight > 0],
        "against": [[name, finite(weight, 6)] for name, weight in named.features if weight < 0],
    }
