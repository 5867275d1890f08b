"""Plain text, and how what is none begins: documents of other formats, pictures, films, recordings, fonts."""

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
PICTURE = Foreign("a picture", "have its text recognised first (OCR), or give the text itself")
FILM = Foreign("a film", "give what is said in it as text")
RECORDING = Foreign("a recording", "give what is said in it as text")
FONT = Foreign("a font", "leave it out")
SURE = {
    b"\xff\xd8\xff": PICTURE, b"\x89PNG\r\n\x1a\n": PICTURE, b"II*\0": PICTURE, b"MM\0*": PICTURE,
    b"\0\0\1\0": PICTURE, b"\x1aE\xdf\xa3": FILM, b"\0\0\1\xba": FILM, b"\0\1\0\0\0": FONT,
}  # fmt: skip
"""No text begins like this."""
WORDED = {
    b"GIF87a": PICTURE, b"GIF89a": PICTURE, b"BM": PICTURE, b"8BPS": PICTURE, b"AT&TFORM": PICTURE, b"FLV\1": FILM,
    b"ID3": RECORDING, b"OggS": RECORDING, b"fLaC": RECORDING, b"\xff\xfb": RECORDING, b"\xff\xf3": RECORDING,
    b"OTTO": FONT, b"wOFF": FONT, b"wOF2": FONT,
}  # fmt: skip
"""A text could, but has no zero bytes then."""
WITHIN = {b"WEBP": PICTURE, b"WAVE": RECORDING, b"AVI ": FILM}
"""What stands behind RIFF and a length."""
STILLS = (b"heic", b"heix", b"mif1", b"msf1", b"avif", b"crx ")
SOUNDS = (b"M4A ", b"M4B ")


def read_plain(data: bytes, encoding: str | None = None) -> Reading:
    """The text of a text file, as it is."""
    if foreign := find_foreign(data):
        raise Unreadable(f"{foreign.kind}, not plain text; {foreign.remedy}, or save it as plain text in UTF-8")
    text, guesses = decode(data, None, encoding)
    return Reading(text, guesses=guesses)


def find_foreign(data: bytes) -> Foreign | None:
    """What bytes are, if it shows that they are no plain text."""
    return next((foreign for mark, foreign in MARKS.items() if data.startswith(mark)), None) or find_media(data)


def find_media(data: bytes) -> Foreign | None:
    """What bytes are that are no text at all."""
    for mark, found in SURE.items():
        if data.startswith(mark):
            return found
    head = data[:64]
    if b"\0" not in head:
        return None
    if head[4:8] == b"ftyp":
        return PICTURE if head[8:12] in STILLS else RECORDING if head[8:12] in SOUNDS else FILM
    if head.startswith(b"RIFF"):
        return WITHIN.get(head[8:12])
    return next((found for mark, found in WORDED.items() if head.startswith(mark)), None)
