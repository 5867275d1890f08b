"""Plain text."""

from __future__ import annotations

from typing import NamedTuple

from byline.formats.encodings import decode
from byline.formats.reading import Reading, Unreadable


class Foreign(NamedTuple):
    """What a file is that is no plain text."""

    kind: str
    remedy: str


# What people rename to .txt.
MARKS = {
    b"PK\x03\x04": Foreign("a Word, OpenDocument or other packed file", "give it its own ending, such as .docx"),
    b"\xd0\xcf\x11\xe0": Foreign("an old Word file", "save it as .docx"),
    b"%PDF": Foreign("a PDF file", "give it the ending .pdf"),
    b"{\\rtf": Foreign("an RTF file", "give it the ending .rtf"),
}


def read_plain(data: bytes, encoding: str | None = None) -> Reading:
    """The text of a text file, as it is."""
    if foreign := find_foreign(data):
        raise Unreadable(f"{foreign.kind}, not plain text; {foreign.remedy}, or save it as plain text in UTF-8")
    text, guesses = decode(data, None, encoding)
    return Reading(text, guesses=guesses)


def find_foreign(data: bytes) -> Foreign | None:
    """What bytes are, if it shows that they are no plain text."""
    return next((foreign for mark, foreign in MARKS.items() if data.startswith(mark)), None)
