"""Read EPUB books: their pages in reading order."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote, urlsplit

from byline.corpora.formats.encodings import decode
from byline.corpora.formats.extraction import LARGEST_TEXT, SPLIT, TOO_LARGE, ExtractedText, Unreadable
from byline.corpora.formats.webpage import page_notes, read_page
from byline.corpora.formats.xml_trees import attribute, declared_encoding, parse_xml
from byline.corpora.formats.zip_packages import DAMAGED, Package

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read_epub(data: bytes, encoding: str | None = None) -> ExtractedText:
    """Read a book without contents, notes, title and copyright pages, if these are marked."""
    package = Package(data)
    locked = _find_locked(package)
    texts: list[str] = []
    guesses: list[str] = []
    left: dict[str, None] = {}
    for name in _list_pages(package, left):
        if name in locked:
            raise Unreadable("protected against copying", "Give its text in another form")
        content = package.read(name)
        text, guessed = decode(content, declared_encoding(content))
        texts.append(read_page(text, left))
        guesses += guessed
        if sum(map(len, texts)) > LARGEST_TEXT:
            raise Unreadable(TOO_LARGE, SPLIT)
    return ExtractedText("".join(texts), page_notes(left), tuple(dict.fromkeys(guesses)))


def _find_locked(package: Package) -> frozenset[str]:
    """Return the members that are encrypted."""
    if ENCRYPTION not in package:
        return frozenset()
    root = parse_xml(package.read(ENCRYPTION))
    return frozenset(unquote(attribute(each, "URI")) for each in root.iter("{*}CipherReference"))


def _list_pages(package: Package, left: dict[str, None]) -> list[str]:
    """Return the names of the pages in reading order; the kinds of those left out are added to `left`."""
    book = next(parse_xml(package.read(CONTAINER)).iter("{*}rootfile"), None)
    if book is None:
        raise Unreadable(*DAMAGED)
    place = attribute(book, "full-path")
    root = parse_xml(package.read(place))
    items = {attribute(item, "id"): item for item in root.iter("{*}item")}
    found = []
    for row in root.iter("{*}itemref"):
        item = items.get(attribute(row, "idref"))
        if item is None:
            continue
        if "nav" in attribute(item, "properties").split():
            left["list of contents"] = None
            continue
        if attribute(row, "linear") == "no":
            left["pages outside the reading order"] = None
            continue
        if attribute(item, "media-type") in PAGES:
            path = unquote(urlsplit(attribute(item, "href")).path)
            found.append(posixpath.normpath(posixpath.join(posixpath.dirname(place), path)))
    return found
