"""A report as one HTML file that holds its own style, script and data, the texts packed, and needs no network.

Texts and file names are data: they are escaped here, and the page only ever shows them as text. The page's security
policy allows this style and this script, by their hashes, and no other.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np

from byline import __version__
from byline.corpora.documents import Document
from byline.engines.protocol import Feature
from byline.errors import OVERWRITE, AnswersError, RunError
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
from byline.storage.files import write_files

DIGITS = 4
LIMITS = (
    "A result is evidence, never proof. It says how texts compare in the way they are written, not who held the pen.",
    "Texts of another kind, time or topic than each other can differ more than two authors do.",
    "The colors show where the numbers come from. They are not marks of authorship that a reader could find alone.",
)

SCRIPTS = tuple(
    f"{name}.js"
    for name in (
        "elements", "tables", "plots", "graphs", "heatmap", "tips", "texts", "provenance", "views", "verification",
        "attribution", "clustering", "rolling", "start",
    )
)  # fmt: skip
"""In the order of the page: a script uses only those above it."""
STYLES = ("base.css", "report.css")
KINDS = {
    "verification": "author verification",
    "attribution": "authorship attribution",
    "clustering": "clustering by author",
    "rolling": "authorship along a text",
}

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_MARKUP = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}
_CONTROLS: dict[int, int | str] = {
    **{code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **{code: f"[U+{code:04X}]" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))},
}
"""Visible replacements of invisible characters and of those that change the direction of text."""


def timestamp() -> str:
    """Return the current time as reports show it."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def describe_report(
    source: str, command: Sequence[str], title: str | None = None, /, **provenance: object
) -> dict[str, Any]:
    """Return what a report says of itself: what it is about, when and how it was made."""
    return {
        "title": title or Path(source).resolve().name or source,
        "source": source,
        "byline": __version__,
        "made": timestamp(),
        "provenance": {"command": shlex.join(command), **provenance},
    }


def require_report_path(path: Path, overwrite: bool) -> None:
    """Raise an error, before any work, if a report can't be written to a path."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise RunError("a report is an HTML file", where=path, remedy="Choose a name that ends with .html")
    if path.is_dir():
        raise RunError("is a folder", where=path, remedy=f"Name a file in it, such as {path / 'report.html'}")
    if path.exists() and not overwrite:
        raise AnswersError("exists already", where=path, remedy=OVERWRITE)


def write_report(path: Path, report_data: Mapping[str, Any]) -> None:
    """Write the page of a report, whole or not at all."""
    write_files(path.parent, {path.name: render(report_data).encode("utf-8", "replace")})


def finite(value: float | None, digits: int = DIGITS) -> float | None:
    """Round a number; return None for one that JSON can't hold."""
    return None if value is None or not np.isfinite(value) else round(float(value), digits)


def rounded(values: Sequence[float]) -> list[float]:
    """Round numbers."""
    return [round(float(value), DIGITS) for value in values]


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


def feature_values(title: str, unit: str, features: Sequence[Feature]) -> dict[str, Any]:
    """Return the features that a member names, for and against."""
    return {
        "member": title,
        "unit": unit.split(",")[0].removesuffix(" distance"),
        "for": [[name, finite(weight, 6)] for name, weight in features if weight > 0],
        "against": [[name, finite(weight, 6)] for name, weight in features if weight < 0],
    }


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
        words = self._add(role, document, gains, tuple(other.text for other in others))
        self._words += words
        if gains is not None:
            found = find_passages(document.text, gains, words=words)
            self._passages += [_Marked(len(self.documents) - 1, *each) for each in found]

    def add_known(self, document: Document, gains: Gains | None) -> None:
        """Add a document that is not in question, with a scale of its own and without guesses or passages."""
        if words := self._add("known", document, gains, ()):
            self.documents[-1]["scale"] = round(color_scale(words), 2)

    def _add(
        self, role: str, document: Document, gains: Gains | None, others: tuple[str, ...]
    ) -> Sequence[WeighedSpan]:
        """Add a document and return its words with their bits."""
        values: dict[str, Any] = {
            "role": role, "name": document.name, "text": document.text, "words": None, "curve": None, "bits": None
        }  # fmt: skip
        self.documents.append(values)
        if gains is None:
            return ()
        if others not in self._guessers:
            self._guessers[others] = Guesser(others)
        guesser, words = self._guessers[others], weigh_words(document.text, gains)
        least = color_scale(words) / 4
        values["words"] = rows = []
        for word, place in zip(words, strongest_characters(gains, words), strict=True):
            expected = None
            if abs(word.bits) >= least:  # weak words need no explanation
                guess = guesser.guess(document.text[max(0, place - guesser.order) : place])
                expected = [place, [[letter, round(chance, 2)] for letter, chance in guess]] if guess else None
            rows.append([word.begin, word.end, round(word.bits, 2), round(word.agreement, 2), expected])
        values["bits"] = finite(sum(word.bits for word in words))
        values["curve"] = [[place, round(value, 4)] for place, value in smooth_curve(gains)]
        return words

    def drop_weak_words(self, share: float) -> None:
        """Leave out words whose bits are less than a share of those of full color."""
        least = share * color_scale(self._words)
        for document in self.documents:
            document["words"] = [row for row in document["words"] or () if abs(row[2]) >= least]

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


def pack(value: object) -> str:
    """Return a value as base64 of gzipped JSON, as the page unpacks it; the same value gives the same text."""
    return base64.b64encode(gzip.compress(_to_json(value).encode(), 9, mtime=0)).decode()


def render(report_data: Mapping[str, Any]) -> str:
    """Return the whole page. Numbers must be finite."""
    assets = files("byline.report") / "assets"
    style = "".join((assets / name).read_text(encoding="utf-8") for name in STYLES)
    script = "\n".join(['"use strict";', *((assets / name).read_text(encoding="utf-8") for name in SCRIPTS)])
    policy = (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    title, conclusion = _shown(report_data["title"]), _shown(report_data["conclusion"])
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}: {report_data["kind"]}, Byline report</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#s-main">Skip to the contents</a>
<header class="masthead">
<p class="kind">Byline <span>report of {KINDS[report_data["kind"]]}</span></p>
<h1><bdi>{title}</bdi></h1>
<p class="conclusion">{conclusion}</p>
</header>
<main id="s-main" tabindex="-1">
<noscript><p class="note">The tables, charts and texts of this report are drawn by a script that is part of this file.
Allow scripts for it to see them; it loads nothing from elsewhere.</p></noscript>
</main>
<script type="application/json" id="report-data">{_to_json(report_data).translate(_MARKUP)}</script>
<script>{script}</script>
</body>
</html>
"""


def _to_json(value: object) -> str:
    """Return compact JSON. A lone surrogate, which UTF-8 can't hold, becomes U+FFFD, so that offsets stay."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _LONE_SURROGATE.sub("\ufffd", text)


def _shown(text: str) -> str:
    return html.escape(_LONE_SURROGATE.sub("\ufffd", text.translate(_CONTROLS)))


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
