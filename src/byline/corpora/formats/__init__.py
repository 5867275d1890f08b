"""Readers of document formats, chosen by the ending of a file's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from byline.corpora.formats.encodings import decode
from byline.corpora.formats.extraction import (
    LARGEST_TEXT,
    SPLIT,
    TOO_LARGE,
    ExtractedText,
    Unreadable,
    find_foreign,
    find_media,
)
from byline.corpora.formats.pdf import read_pdf
from byline.corpora.formats.rtf import read_rtf
from byline.corpora.formats.webpage import read_html, read_markdown
from byline.corpora.formats.xml import read_tei
from byline.corpora.formats.zipped_documents import read_epub, read_opendocument, read_word
from byline.errors import CorpusError


class Format(NamedTuple):
    """A format: its name, the function that reads its bytes in a given encoding, and what that function needs."""

    name: str
    read: Callable[[bytes, str | None], ExtractedText]
    libraries: tuple[str, ...] = ()
    """Libraries of the extra `documents` that it needs."""
    own_encoding: bool = False
    """Whether its files state their encoding, so that the user can't."""


def read_plain(data: bytes, encoding: str | None = None) -> ExtractedText:
    """Read a text file."""
    if foreign := find_foreign(data):
        raise Unreadable(f"{foreign.kind}, not plain text", f"{foreign.remedy}, or save it as plain text in UTF-8")
    text, guesses = decode(data, None, encoding)
    return ExtractedText(text, guesses=guesses)


_XML = ("lxml",)
FORMATS = {
    ".txt": Format("plain text", read_plain),
    ".docx": Format("Word", read_word, _XML, own_encoding=True),
    ".odt": Format("OpenDocument", read_opendocument, _XML, own_encoding=True),
    ".pdf": Format("PDF with text in it", read_pdf, ("pypdf",), own_encoding=True),
    ".rtf": Format("rich text", read_rtf, own_encoding=True),
    ".epub": Format("e-book", read_epub, _XML, own_encoding=True),
    ".html": Format("web page", read_html, _XML),
    ".htm": Format("web page", read_html, _XML),
    ".md": Format("Markdown", read_markdown, ("markdown_it", "mdit_py_plugins", "lxml")),
    ".tei": Format("TEI", read_tei, _XML),
    ".xml": Format("TEI", read_tei, _XML),
}


def read_text(data: bytes, suffix: str, name: str, encoding: str | None = None) -> ExtractedText:
    """Read the text of a file by its suffix; one with an unknown suffix is read as plain text.

    Raises CorpusError about `name` if it can't be read, is empty or is too large.
    """
    try:
        if media := find_media(data):
            raise Unreadable(f"{media.kind}, no text", media.remedy)
        form = FORMATS.get(suffix.lower(), FORMATS[".txt"])
        if encoding and form.own_encoding:
            raise Unreadable(f"a {suffix.lower()} file states its own encoding", "Leave out {encoding} for it")
        found = form.read(data, encoding)
        if not found.text.strip():
            raise Unreadable("empty", "Remove it or put text in it")
        if len(found.text) > LARGEST_TEXT:
            raise Unreadable(TOO_LARGE, SPLIT)
    except Unreadable as reason:
        raise CorpusError(reason.what, where=name, remedy=reason.remedy) from None
    return found
