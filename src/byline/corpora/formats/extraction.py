"""Shared by all readers of formats: what a reader returns, its limits and errors, and files that hold no text."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from logging.handlers import MemoryHandler
from typing import Any, NamedTuple

LARGEST_FILE = 200_000_000  # bytes, including pictures
LARGEST_TEXT = 50_000_000  # characters
TOO_LARGE = f"more than {LARGEST_TEXT // 1_000_000} million characters"
SPLIT = "Split it"
LISTINGS = ("TOC", "INDEX", "TOA")  # fields of word processors that list headings or terms
SYMBOLS = "signs of symbol fonts"  # as notes name those without a known character


class Unreadable(Exception):  # noqa: N818 - it says what is wrong with the file, not with the program
    """Bytes that can't be read as text: what is wrong and what to do. `read_text` adds the name of the file."""

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy


@dataclass(frozen=True)
class ExtractedText:
    """A text and remarks on how it was read."""

    text: str
    notes: tuple[str, ...] = ()
    """What was left out or corrected by rule."""
    guesses: tuple[str, ...] = ()
    """What is uncertain and should be checked."""


def left_out(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return the note on the parts of a file that are not in its text, if there are any."""
    named = ", ".join(dict.fromkeys(kind for kind in kinds if kind))
    return (f"left out: {named}",) if named else ()


def is_listing(instruction: str) -> bool:
    """Return whether a field of a word processor is a table of contents or an index."""
    return instruction.strip().partition(" ")[0].upper() in LISTINGS


class Paragraphs:
    """Collects the pieces of a text into paragraphs, one per line."""

    def __init__(self, collapse: bool = True) -> None:
        self._collapse = collapse
        self._pieces: list[str] = []
        self._interrupted: list[list[str]] = []
        self._done: list[str] = []
        self._length = 0

    def add(self, piece: str) -> None:
        """Append to the current paragraph."""
        self._length += len(piece)
        if self._length > LARGEST_TEXT:
            raise Unreadable(TOO_LARGE, SPLIT)
        self._pieces.append(_SPACES.sub(" ", piece) if self._collapse else piece)

    def add_spaces(self, spaces: str) -> None:
        """Append spaces and tabs that are not collapsed."""
        self.add(spaces.translate(_PROTECTED))

    def break_line(self) -> None:
        """Begin a new line in the same paragraph."""
        self._pieces.append("\n")

    def join_word(self) -> None:
        """Continue the last word with what follows: remove spaces and a hyphen at its end."""
        while self._pieces and not self._pieces[-1].strip():
            self._pieces.pop()
        if self._pieces:
            last = self._pieces[-1].rstrip()
            self._pieces[-1] = last[:-1] if last.endswith(_HYPHENS) else last
        self._pieces.append(_GLUE)

    def end(self) -> None:
        """End the current paragraph; an empty one is dropped."""
        if not self._pieces:
            return
        whole = _GLUED.sub("", "".join(self._pieces)).replace("\u00ad", "")
        self._pieces.clear()
        lines = whole.split("\n")
        if self._collapse:
            lines = [_BLANKS.sub(" ", line).strip(" \t").translate(_UNPROTECTED) for line in lines]
        if kept := "\n".join(line.rstrip() for line in lines).strip("\n"):
            self._done.append(kept)

    def begin_box(self) -> None:
        """Interrupt the paragraph for a text box, whose paragraphs come before it."""
        self._interrupted.append(self._pieces)
        self._pieces = []

    def end_box(self) -> None:
        """Continue the paragraph that the text box interrupted."""
        self.end()
        self._pieces = self._interrupted.pop()

    def to_text(self) -> str:
        """Return all paragraphs, each on its own line."""
        self.end()
        return "".join(paragraph + "\n" for paragraph in self._done)


# Single spaces are left alone: replacing each by itself would be slow.
_SPACES = re.compile(r" ?[\t\n\r\f][ \t\n\r\f]*| {2,}[ \t\n\r\f]*")
_BLANKS = re.compile(r" ?\t[ \t]*| {2,}[ \t]*")
# Noncharacters, which no text has, mark what must not change until a paragraph ends.
_GLUE = "\ufdd0"
_PROTECTED = str.maketrans({" ": "\ufdd1", "\t": "\ufdd2"})
_UNPROTECTED = str.maketrans({"\ufdd1": " ", "\ufdd2": "\t"})
_GLUED = re.compile(rf"{_GLUE}\s*")
_HYPHENS = ("-", "\u2010", "\u00ad", "\u00ac")


@contextmanager
def silenced(library: str) -> Iterator[list[logging.LogRecord]]:
    """Keep a library's warnings from being shown; yield the list that its log records are added to."""
    logger, handler = logging.getLogger(library), MemoryHandler(capacity=1)  # which keeps all, as it has no target
    handler.setLevel(logging.WARNING)
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield handler.buffer
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated


def require_library(name: str) -> Any:
    """Import a library of the extra `documents`."""
    try:
        return import_module(name)
    except ImportError:
        remedy = "pip install 'byline[documents]'"
        raise Unreadable("a library that reads such files is not installed", remedy) from None


class FileKind(NamedTuple):
    """A kind of files that is not plain text, recognized by its first bytes."""

    kind: str
    remedy: str


_PICTURE = FileKind("a picture", "Have its text recognized first (OCR), or give the text itself")
_FILM = FileKind("a film", "Give what is said in it as text")
_RECORDING = FileKind("a recording", "Give what is said in it as text")
_FONT = FileKind("a font", "Leave it out")
# Documents that people rename to .txt.
_DOCUMENTS = {
    b"PK\x03\x04": FileKind("a Word, OpenDocument or other packed file", "Give it its own ending, such as .docx"),
    b"\xd0\xcf\x11\xe0": FileKind("an old Word file", "Save it as .docx"),
    b"%PDF": FileKind("a PDF file", "Give it the ending .pdf"),
    b"{\\rtf": FileKind("an RTF file", "Give it the ending .rtf"),
}
# All have zero bytes soon, which a text that begins alike has not.
_MEDIA = {
    _PICTURE: (
        b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"II*\0", b"MM\0*", b"\0\0\1\0", b"GIF87a", b"GIF89a", b"BM", b"8BPS",
        b"AT&TFORM",
    ),
    _FILM: (b"\x1aE\xdf\xa3", b"\0\0\1\xba", b"FLV\1"),
    _RECORDING: (b"ID3", b"OggS", b"fLaC", b"\xff\xfb", b"\xff\xf3"),
    _FONT: (b"\0\1\0\0\0", b"OTTO", b"wOFF", b"wOF2"),
}  # fmt: skip
_RIFF_KINDS = {b"WEBP": _PICTURE, b"WAVE": _RECORDING, b"AVI ": _FILM}
_PICTURE_BRANDS = (b"heic", b"heix", b"mif1", b"msf1", b"avif", b"crx ")  # of files that are otherwise films
_SOUND_BRANDS = (b"M4A ", b"M4B ")


def find_foreign(data: bytes) -> FileKind | None:
    """Return what a file is if its first bytes show that it is not plain text."""
    return next((kind for mark, kind in _DOCUMENTS.items() if data.startswith(mark)), None) or find_media(data)


def find_media(data: bytes) -> FileKind | None:
    """Return what a file is if its first bytes show that it is a picture, film, recording or font."""
    head = data[:64]
    if b"\0" not in head:
        return None
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        return _PICTURE if brand in _PICTURE_BRANDS else _RECORDING if brand in _SOUND_BRANDS else _FILM
    if head.startswith(b"RIFF"):
        return _RIFF_KINDS.get(head[8:12])
    return next((kind for kind, marks in _MEDIA.items() if head.startswith(marks)), None)
