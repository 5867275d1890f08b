"""Messages for the page: refused requests, library errors in the page's words, and names made safe to show."""

from __future__ import annotations

import unicodedata

from byline.corpora.formats.encodings import SAVE_AS_UTF8
from byline.corpora.reference import REBUILD
from byline.errors import OVERWRITE, RESUME, BylineError, Reader

MAX_SHOWN = 80
"""Longest name that a message shows in full."""
DIRECTION_MARKS = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"}
"""Characters that change the direction of what follows, so that one name can look like another."""
CONTROLS = {
    "language": "\u201cLanguage of the texts\u201d",
    "mask_shared": "\u201cLeave out passages that both sides share\u201d",
    "none": "\u201cThat none of these authors wrote it\u201d",
    "budget": "\u201cTime it may take\u201d",
    "reference": "texts by other people",
    "control": "texts by other people",
    "encoding": "a copy saved as UTF-8",
    "overwrite": "a new one",
    "resume": "a new run",
    "author_column": "a column named author",
    "text_column": "a column named text",
}
"""What the page has in place of a library option."""
PAGE_READER = Reader(
    lambda name: CONTROLS.get(name, name.replace("_", " ")),
    {
        OVERWRITE: "Delete it and ask again",
        RESUME: "Ask again",
        REBUILD: "Delete it, and give its texts again",
        SAVE_AS_UTF8: "Save it as UTF-8 and drop it again",
    },
)


class RefusedError(Exception):
    """A request that is not carried out, with an HTTP status and one line for the person who asked."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def page_message(error: BylineError) -> str:
    """Return an error's message in the words of the page."""
    return error.phrase(PAGE_READER)


def strip_invisible(text: str) -> str:
    """Remove control characters, lone surrogates and direction marks."""
    return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cs") and c not in DIRECTION_MARKS)


def show_name(name: str) -> str:
    """Return a name as a message can show it: printable and not long."""
    plain = "".join(c if c.isprintable() else "\ufffd" for c in name)
    return plain if len(plain) <= MAX_SHOWN else f"{plain[: MAX_SHOWN - 3]}..."


def plain_words(text: str) -> str:
    """Return a text without invisible characters, with one space between words."""
    return " ".join(filter(None, map(strip_invisible, text.split())))


def one_line(message: str, max_length: int = 600) -> str:
    """Join a message's lines into one, without invisible characters, and shorten it."""
    lines = [line for line in map(plain_words, message.splitlines()) if line]
    heading = lines.pop(0) if len(lines) > 1 and lines[0].endswith(":") else ""
    whole = f"{heading} {'; '.join(lines)}".strip()
    return whole if len(whole) <= max_length else f"{whole[: max_length - 4]} ..."
