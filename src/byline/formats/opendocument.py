"""OpenDocument's .odt -> text: what stands in the body, without notes, comments and deletions."""

from __future__ import annotations

from typing import Any

from byline.formats.packages import LOCKED, Package
from byline.formats.reading import Paragraphs, Reading, Unreadable
from byline.formats.trees import attribute, parse_xml, walk

CONTENT, MANIFEST = "content.xml", "META-INF/manifest.xml"
PASSED = frozenset((
    "alphabetical-index", "annotation", "automatic-styles", "bibliography", "desc", "font-face-decls", "forms",
    "hidden-paragraph", "hidden-text", "illustration-index", "note", "object-index", "page-count", "page-number",
    "ruby-text", "scripts", "sequence-decls", "table-index", "table-of-content", "title", "tracked-changes",
    "user-index",
))  # fmt: skip
ENDING = ("p", "h", "table-cell", "list-item")
MOST_SPACES = 1_000


def read_opendocument(data: bytes, encoding: str | None = None) -> Reading:
    """The text of an .odt file."""
    package = Package(data)
    if MANIFEST in package and b"encryption-data" in package.read(MANIFEST):
        raise Unreadable(LOCKED)
    root = parse_xml(package.read(CONTENT))
    found = Paragraphs()
    for step in walk(root, _passes_over):
        if step.kind == "text":
            found.add(step.name)
        elif step.kind == "begin":
            _begin(found, step.name, step.element)
        elif step.name == "text-box":
            found.unpark()
        elif step.name in ENDING:
            found.end()
    return Reading(found.to_text())


def _passes_over(name: str, element: Any) -> bool:
    return name in PASSED or (name == "section" and attribute(element, "display") == "none")


def _begin(found: Paragraphs, name: str, element: Any) -> None:
    if name == "text-box":
        found.park()
    elif name == "s":
        count = attribute(element, "c")
        found.keep(" " * (min(int(count[:4]), MOST_SPACES) if count.isdecimal() else 1))
    elif name == "tab":
        found.keep("\t")
    elif name == "line-break":
        found.break_line()
