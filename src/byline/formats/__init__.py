"""Documents as they come: a reader for each format, by the ending of a file's name."""

from __future__ import annotations

from collections.abc import Callable

from byline.errors import CorpusError
from byline.formats.epub import read_epub
from byline.formats.markdown import read_markdown
from byline.formats.opendocument import read_opendocument
from byline.formats.pdf import read_pdf
from byline.formats.plain import find_media, read_plain
from byline.formats.reading import EMPTY, LARGEST_TEXT, TOO_LARGE, Reading, Unreadable
from byline.formats.rtf import read_rtf
from byline.formats.tei import read_tei
from byline.formats.webpage import read_html
from byline.formats.word import read_word

READERS: dict[str, Callable[[bytes, str | None], Reading]] = {
    ".txt": read_plain,
    ".md": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".docx": read_word,
    ".odt": read_opendocument,
    ".pdf": read_pdf,
    ".epub": read_epub,
    ".rtf": read_rtf,
    ".xml": read_tei,
    ".tei": read_tei,
}
"""By the ending of a file's name; each takes the bytes and what the user says of their encoding."""

SELF_SAID = (".docx", ".odt", ".epub", ".rtf", ".pdf")
"""Formats in which nothing that a user could say of the encoding counts."""


def read_text(data: bytes, suffix: str, name: str, encoding: str | None = None) -> Reading:
    """The text of a file by its ending, in any case of letters; one that is unknown is taken for plain text.

    `encoding` is what the user says that it is in. What can't be read raises CorpusError, with `name` before it.
    """
    try:
        if media := find_media(data):
            raise Unreadable(f"{media.kind}, no text; {media.remedy}")
        if encoding and suffix.lower() in SELF_SAID:
            raise Unreadable(f"a {suffix.lower()} file says itself what it is encoded in; leave --encoding out for it")
        found = READERS.get(suffix.lower(), read_plain)(data, encoding)
        if not found.text.strip():
            raise Unreadable(EMPTY)
        if len(found.text) > LARGEST_TEXT:
            raise Unreadable(TOO_LARGE)
    except Unreadable as reason:
        raise CorpusError(f"{name}: {reason}") from None
    return found
