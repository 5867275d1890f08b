"""Read OpenDocument texts (.odt): the body without notes, comments and deletions."""

from __future__ import annotations

from typing import Any

from byline.corpora.formats.extraction import ExtractedText, Paragraphs, Unreadable, left_out
from byline.corpora.formats.xml_trees import attribute, local_name, note_left_out, parse_optional, parse_xml, walk
from byline.corpora.formats.zip_packages import LOCKED, Package

CONTENT, STYLES, MANIFEST = "content.xml", "styles.xml", "META-INF/manifest.xml"
# Elements that are left out, with the name that a note gives them, if it names them.
SKIPPED = {
    "alphabetical-index": "indexes", "annotation": "comments", "automatic-styles": "", "desc": "",
    "bibliography": "the bibliography", "font-face-decls": "", "forms": "", "hidden-paragraph": "hidden text",
    "hidden-text": "hidden text", "illustration-index": "indexes", "note": "footnotes and endnotes",
    "object-index": "indexes", "page-count": "", "page-number": "", "ruby-text": "", "scripts": "",
    "sequence-decls": "", "table-index": "indexes", "table-of-content": "lists of contents", "title": "",
    "tracked-changes": "deleted text", "user-index": "indexes",
}  # fmt: skip
MARGINS = {
    "header": "page headers", "header-left": "page headers", "header-first": "page headers",
    "footer": "page footers", "footer-left": "page footers", "footer-first": "page footers",
}  # fmt: skip
PARAGRAPHS = ("p", "h", "table-cell", "list-item")
MAX_SPACES = 1_000


def read_opendocument(data: bytes, encoding: str | None = None) -> ExtractedText:
    """Read an .odt file."""
    package = Package(data)
    if MANIFEST in package and b"encryption-data" in package.read(MANIFEST):
        raise Unreadable(*LOCKED)
    root = parse_xml(package.read(CONTENT))
    found = Paragraphs()
    left = _find_margins(package)

    def skips(name: str, element: Any) -> bool:
        hidden = name == "section" and attribute(element, "display") == "none"
        if name not in SKIPPED and not hidden:
            return False
        note_left_out(left, SKIPPED.get(name, "hidden text"), element)
        return True

    for step in walk(root, skips):
        if step.kind == "text":
            found.add(step.name)
        elif step.kind == "begin":
            _begin(found, step.name, step.element)
        elif step.name == "text-box":
            found.end_box()
        elif step.name in PARAGRAPHS:
            found.end()
    return ExtractedText(found.to_text(), left_out(left))


def _find_margins(package: Package) -> dict[str, None]:
    """Return which of page headers and footers the document has."""
    root = parse_optional(package.read_optional(STYLES))
    found: dict[str, None] = {}
    for part in () if root is None else root.iterfind(".//{*}master-page/*"):
        note_left_out(found, MARGINS.get(local_name(part), ""), part)
    return found


def _begin(found: Paragraphs, name: str, element: Any) -> None:
    if name == "text-box":
        found.begin_box()
    elif name == "s":
        count = attribute(element, "c")
        found.add_spaces(" " * (min(int(count[:4]), MAX_SPACES) if count.isdecimal() else 1))
    elif name == "tab":
        found.add_spaces("\t")
    elif name == "line-break":
        found.break_line()
