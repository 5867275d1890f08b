"""EPUB -> text: the pages of a book in the order in which they are read."""

from __future__ import annotations

import posixpath
from typing import Any
from urllib.parse import unquote, urlsplit

from byline.formats.encodings import decode
from byline.formats.packages import DAMAGED, Package
from byline.formats.reading import LARGEST_TEXT, TOO_LARGE, Reading, Unreadable
from byline.formats.trees import attribute, declared_encoding, parse_xml
from byline.formats.webpage import page_notes, read_page

CONTAINER, ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
PAGES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read_epub(data: bytes, encoding: str | None = None) -> Reading:
    """The text of a book without contents, notes, title and copyright pages, where it says which those are."""
    package = Package(data)
    locked = _locked(package)
    texts: list[str] = []
    guesses: list[str] = []
    left: dict[str, None] = {}
    for name in _pages(package, left):
        if name in locked:
            raise Unreadable("protected against copying; give its text in another form")
        content = package.read(name)
        text, guessed = decode(content, declared_encoding(content))
        texts.append(read_page(text, left))
        guesses += guessed
        if sum(map(len, texts)) > LARGEST_TEXT:
            raise Unreadable(TOO_LARGE)
    return Reading("".join(texts), page_notes(left), tuple(dict.fromkeys(guesses)))


def _locked(package: Package) -> frozenset[str]:
    """The members that only a reader with a key can read."""
    if ENCRYPTION not in package:
        return frozenset()
    root = parse_xml(package.read(ENCRYPTION))
    return frozenset(unquote(attribute(each, "URI")) for each in root.iter("{*}CipherReference"))


def _pages(package: Package, left: dict[str, None]) -> list[str]:
    """The names of the pages, in order; what is not among them goes into `left`."""
    book = _find(parse_xml(package.read(CONTAINER)), "rootfile")
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
            left["pages that are read aside"] = None
            continue
        if attribute(item, "media-type") in PAGES:
            path = unquote(urlsplit(attribute(item, "href")).path)
            found.append(posixpath.normpath(posixpath.join(posixpath.dirname(place), path)))
    return found


def _find(root: Any, name: str) -> Any:
    found = next(root.iter("{*}" + name), None)
    if found is None:
        raise Unreadable(DAMAGED)
    return found
