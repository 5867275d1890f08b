"""What every reader of a format gives, its limits, and why bytes can't be read."""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

LARGEST_FILE = 200_000_000
"""Bytes of a file, pictures and all."""
LARGEST_TEXT = 50_000_000
"""Characters of its text."""
TOO_LARGE = f"more than {LARGEST_TEXT // 1_000_000} million characters; split it"
LISTINGS = ("TOC", "INDEX", "TOA")
SIGNS = "signs of symbol fonts"
EMPTY = "empty; remove it or put text in it"


class Unreadable(Exception):  # noqa: N818 - it says what is wrong with the file, not with the program
    """Why bytes can't be read as text and what to do; the file's name goes before it."""


@dataclass(frozen=True)
class Reading:
    """A text and what there is to say of how it was read."""

    text: str
    notes: tuple[str, ...] = ()
    """What was left out or put right by rule."""
    guesses: tuple[str, ...] = ()
    """What is not sure and should be looked at."""


def left_out(kinds: Iterable[str]) -> tuple[str, ...]:
    """The note of what a file has that is left out of its text, if anything."""
    named = ", ".join(dict.fromkeys(kind for kind in kinds if kind))
    return (f"left out: {named}",) if named else ()


def is_listing(instruction: str) -> bool:
    """Whether a field of a word processor lists what is where: that serves to get about."""
    return instruction.strip().partition(" ")[0].upper() in LISTINGS


class Paragraphs:
    """A text as it is gathered: pieces join into a paragraph until it ends."""

    def __init__(self, collapse: bool = True) -> None:
        self._collapse = collapse
        self._pieces: list[str] = []
        self._parked: list[list[str]] = []
        self._done: list[str] = []
        self._length = 0

    def add(self, piece: str) -> None:
        """Go on with the paragraph."""
        self._length += len(piece)
        if self._length > LARGEST_TEXT:
            raise Unreadable(TOO_LARGE)
        self._pieces.append(_SPACES.sub(" ", piece) if self._collapse else piece)

    def keep(self, spaces: str) -> None:
        """Spaces and tabs that are not to be taken for one."""
        self.add(spaces.translate(_KEPT))

    def break_line(self) -> None:
        """A new line in the same paragraph."""
        self._pieces.append("\n")

    def join_word(self) -> None:
        """What follows goes on with the last word: spaces and a hyphen at its end go."""
        while self._pieces and not self._pieces[-1].strip():
            self._pieces.pop()
        if self._pieces:
            last = self._pieces[-1].rstrip()
            self._pieces[-1] = last[:-1] if last.endswith(_HYPHENS) else last
        self._pieces.append(_GLUE)

    def end(self) -> None:
        """The paragraph is whole; one without text is none."""
        if not self._pieces:
            return
        whole = _GLUED.sub("", "".join(self._pieces)).replace("\u00ad", "")
        self._pieces.clear()
        lines = whole.split("\n")
        if self._collapse:
            lines = [_BLANKS.sub(" ", line).strip(" \t").translate(_GIVEN_BACK) for line in lines]
        if kept := "\n".join(line.rstrip() for line in lines).strip("\n"):
            self._done.append(kept)

    def park(self) -> None:
        """Leave the paragraph for others that stand in the midst of it, such as a box's."""
        self._parked.append(self._pieces)
        self._pieces = []

    def unpark(self) -> None:
        """Go on with it: it stands after them."""
        self.end()
        self._pieces = self._parked.pop()

    def to_text(self) -> str:
        """All paragraphs, each on a line of its own."""
        self.end()
        return "".join(paragraph + "\n" for paragraph in self._done)


# Single spaces are left alone: to put each in its own place would take long.
_SPACES = re.compile(r" ?[\t\n\r\f][ \t\n\r\f]*| {2,}[ \t\n\r\f]*")
_BLANKS = re.compile(r" ?\t[ \t]*| {2,}[ \t]*")
# Noncharacters, which no text has, stand for what must not be touched until a paragraph ends.
_GLUE = "\ufdd0"
_KEPT = str.maketrans({" ": "\ufdd1", "\t": "\ufdd2"})
_GIVEN_BACK = str.maketrans({"\ufdd1": " ", "\ufdd2": "\t"})
_GLUED = re.compile(rf"{_GLUE}\s*")
_HYPHENS = ("-", "\u2010", "\u00ad", "\u00ac")


@contextmanager
def hushed(library: str) -> Iterator[list[str]]:
    """Keep what a library says of a file to oneself; gives the list that its warnings are put into."""
    said: list[str] = []
    logger, ear = logging.getLogger(library), _Ear(said)
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(ear)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield said
    finally:
        logger.removeHandler(ear)
        logger.propagate = propagated


class _Ear(logging.Handler):
    """Hears warnings."""

    def __init__(self, said: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._said = said

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self._said.append(record.getMessage())


def require_library(name: str) -> Any:
    """A library of the extra `documents`."""
    try:
        return import_module(name)
    except ImportError:
        raise Unreadable("a library that reads such files is not installed; pip install 'byline[documents]'") from None
