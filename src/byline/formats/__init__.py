"""Documents as they come: a reader for each format, by the ending of a file's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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

Reader = Callable[[bytes, str | None], Reading]
"""Takes the bytes and what the user says of their encoding."""


class Format(NamedTuple):
    """A kind of files, how it is read, and what people call it."""

    name: str
    read: Reader
    libraries: tuple[str, ...] = ()
    """What it takes beside the program, all of the extra `documents`."""
    self_said: bool = False
    """Whether nothing counts that a user could say of the encoding."""


_TREES = ("lxml",)
FORMATS = {
    ".txt": Format("plain text", read_plain),
    ".docx": Format("Word", read_word, _TREES, self_said=True),
    ".odt": Format("OpenDocument", read_opendocument, _TREES, self_said=True),
    ".pdf": Format("PDF with text in it", read_pdf, ("pypdf",), self_said=True),
    ".rtf": Format("rich text", read_rtf, self_said=True),
    ".epub": Format("e-book", read_epub, _TREES, self_said=True),
    ".html": Format("web page", read_html, _TREES),
    ".htm": Format("web page", read_html, _TREES),
    ".md": Format("Markdown", read_markdown, ("markdown_it", "mdit_py_plugins", "lxml")),
    ".tei": Format("TEI", read_tei, _TREES),
    ".xml": Format("TEI", read_tei, _TREES),
}
"""By the ending of a file's name."""
READERS: dict[str, Reader] = {ending: form.read for ending, form in FORMATS.items()}


def read_text(data: bytes, suffix: str, name: str, encoding: str | None = None) -> Reading:
    """The text of a file by its ending, in any case of letters; one that is unknown is taken for plain text.

    `encoding` is what the user says that it is in. What can't be read raises CorpusError, with `name` before it.
    """
    try:
        if media := find_media(data):
            raise Unreadable(f"{media.kind}, no text; {media.remedy}")
        form = FORMATS.get(suffix.lower(), FORMATS[".txt"])
        if encoding and form.self_said:
            raise Unreadable(f"a {suffix.lower()} file says itself what it is encoded in; leave --encoding out for it")
        found = form.read(data, encoding)
        if not found.text.strip():
            raise Unreadable(EMPTY)
        if len(found.text) > LARGEST_TEXT:
            raise Unreadable(TOO_LARGE)
    except Unreadable as reason:
        raise CorpusError(f"{name}: {reason}") from None
    return found
