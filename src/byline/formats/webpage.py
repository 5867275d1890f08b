"""HTML -> text: what a reader reads of a page, without what serves to get about in it."""

from __future__ import annotations

import re
from typing import Any

from byline.formats.encodings import decode
from byline.formats.reading import Paragraphs, Reading, Unreadable
from byline.formats.trees import attribute, declared_encoding, parse_html, parse_xml, walk

BLOCKS = frozenset((
    "address", "article", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup",
    "hr", "html", "legend", "li", "main", "menu", "ol", "p", "pre", "section", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
PASSED = frozenset((
    "applet", "area", "aside", "audio", "base", "button", "canvas", "datalist", "embed", "frame", "frameset",
    "head", "iframe", "input", "link", "map", "math", "meta", "meter", "nav", "noframes", "noscript", "object",
    "optgroup", "option", "output", "progress", "rp", "rt", "script", "select", "source", "style", "svg",
    "template", "textarea", "title", "track", "video",
))  # fmt: skip
ROLES = frozenset((
    "banner", "complementary", "contentinfo", "doc-backlink", "doc-cover", "doc-endnote", "doc-endnotes",
    "doc-footnote", "doc-index", "doc-noteref", "doc-pagebreak", "doc-pagelist", "doc-toc", "menu", "menubar",
    "navigation", "search",
))  # fmt: skip
KINDS = frozenset((
    "backlink", "colophon", "copyright-page", "cover", "endnote", "endnotes", "footnote", "footnotes",
    "halftitlepage", "imprint", "index", "landmarks", "noteref", "page-list", "pagebreak", "rearnote", "rearnotes",
    "titlepage", "toc",
))  # fmt: skip
"""What books say of their parts, in epub:type."""
CLASSES = frozenset(
    ("footnotes", "footnote-ref", "footnote-back", "footnote-backref", "footnotes-sep", "footnote-item")
)
_CHARSET = re.compile(rb"""<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_REPORT = re.compile(r"<title>[^<]{0,500}, Byline report</title>")


def read_html(data: bytes, encoding: str | None = None) -> Reading:
    """The text of a page: of its main part, where it says which that is."""
    found = _CHARSET.search(data[:4096])
    text, guesses = decode(data, declared_encoding(data) or (found[1].decode() if found else None), encoding)
    if _REPORT.search(text[:10_000]):
        raise Unreadable("a report that Byline wrote, no text; move it away")
    return read_markup(text, guesses)


def read_markup(text: str, guesses: tuple[str, ...] = ()) -> Reading:
    """The text of a page that is decoded."""
    root = _parse(text)
    if root is None:
        return Reading("")
    main = [each for each in root.iter("{*}main") if isinstance(each.tag, str)]
    notes = ("only its main part is read",) if len(main) == 1 else ()
    return Reading(gather(main[0] if len(main) == 1 else root), notes, guesses)


def _parse(text: str) -> Any:
    """The tree of a page; of one that is XML, as XML, in which an element may end where it begins."""
    if "http://www.w3.org/1999/xhtml" in text[:2000]:
        try:
            return parse_xml(text)
        except Unreadable:
            pass
    return parse_html(text)


def gather(root: Any) -> str:
    """The paragraphs below an element."""
    found = Paragraphs()
    set_as_is = 0
    for step in walk(root, _passes_over):
        if step.kind == "text":
            for number, line in enumerate(step.name.split("\n") if set_as_is else (step.name,)):
                if number:
                    found.break_line()
                found.add(line)
        elif step.name == "br" and step.kind == "begin":
            found.break_line()
        elif step.name in BLOCKS:
            found.end()
            if step.name == "pre":
                set_as_is += 1 if step.kind == "begin" else -1
    return found.to_text()


def _passes_over(name: str, element: Any) -> bool:
    name = name.lower()
    if name in PASSED:
        return True
    if name in ("header", "footer"):  # of the page, not of a part of it
        parts = ("{*}article", "{*}section", "{*}main", "article", "section", "main")
        if next(element.iterancestors(*parts), None) is None:
            return True
    if not element.attrib:
        return False
    return (
        element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or _HIDDEN.search(element.get("style") or "") is not None
        or not ROLES.isdisjoint((element.get("role") or "").split())
        or not CLASSES.isdisjoint((element.get("class") or "").split())
        or (name != "body" and not KINDS.isdisjoint(_kind(element).split()))
    )


def _kind(element: Any) -> str:
    return attribute(element, "type") if any(key.endswith(("}type", ":type")) for key in element.keys()) else ""  # noqa: SIM118
