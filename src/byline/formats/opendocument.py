"""OpenDocument's .odt -> text: what stands in the body, without notes, comments and deletions."""

from __future__ import annotations

from typing import Any

from byline.formats.packages import LOCKED, Package
from byline.formats.reading import Paragraphs, Reading, Unreadable, left_out
from byline.formats.trees import attribute, has_text, parse_lightly, parse_xml, walk

CONTENT, STYLES, MANIFEST = "content.xml", "styles.xml", "META-INF/manifest.xml"
PASSED = frozenset((
    "alphabetical-index", "annotation", "automatic-styles", "bibliography", "desc", "font-face-decls", "forms",
    "hidden-paragraph", "hidden-text", "illustration-index", "note", "object-index", "page-count", "page-number",
    "ruby-text", "scripts", "sequence-decls", "table-index", "table-of-content", "title", "tracked-changes",
    "user-index",
))  # fmt: skip
LEFT = {
    "annotation": "comments", "hidden-paragraph": "hidden text", "hidden-text": "hidden text", "section": "hidden text",
    "note": "footnotes and endnotes", "tracked-changes": "deleted text", "alphabetical-index": "indexes",
    "bibliography": "the bibliography", "illustration-index": "indexes", "object-index": "indexes",
    "table-index": "indexes", "user-index": "indexes", "table-of-content": "lists of contents",
}  # fmt: skip
"""What a note calls that which is left out."""
MARGINS = {
    "header": "page headers", "header-left": "page headers", "header-first": "page headers",
    "footer": "page footers", "footer-left": "page footers", "footer-first": "page footers",
}  # fmt: skip
ENDING = ("p", "h", "table-cell", "list-item")
MOST_SPACES = 1_000


def read_opendocument(data: bytes, encoding: str | None = None) -> Reading:
    """The text of an .odt file."""
    package = Package(data)
    if MANIFEST in package and b"encryption-data" in package.read(MANIFEST):
        raise Unreadable(LOCKED)
    root = parse_xml(package.read(CONTENT))
    found = Paragraphs()
    left = _margins(package)

    def passes_over(name: str, element: Any) -> bool:
        if name not in PASSED and not (name == "section" and attribute(element, "display") == "none"):
            return False
        if name in LEFT and LEFT[name] not in left and has_text(element):
            left.append(LEFT[name])
        return True

    for step in walk(root, passes_over):
        if step.kind == "text":
            found.add(step.name)
        elif step.kind == "begin":
            _begin(found, step.name, step.element)
        elif step.name == "text-box":
            found.unpark()
        elif step.name in ENDING:
            found.end()
    return Reading(found.to_text(), left_out(left))


def _margins(package: Package) -> list[str]:
    """What the document has above and below its pages."""
    root = parse_lightly(package.look_into(STYLES))
    pages = [] if root is None else root.iter("{*}master-page")
    parts = [(str(part.tag).rpartition("}")[2], part) for page in pages for part in page]
    return [MARGINS[name] for name, part in parts if name in MARGINS and has_text(part)]


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
