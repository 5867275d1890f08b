"""HTML -> text: what a reader reads of a page, without what serves to get about in it."""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

from byline.formats.encodings import decode
from byline.formats.reading import Paragraphs, Reading, Unreadable, left_out
from byline.formats.trees import DEEPEST, attribute, declared_encoding, has_text, parse_html, parse_xml, walk

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
LEFT = {"nav": "navigation", "aside": "what stands aside", "header": "page header", "footer": "page footer"}
"""What a note calls that which is left out; what is hidden, and what serves programs, is not spoken of."""
ASIDE = {
    "banner": "page header", "complementary": "what stands aside", "contentinfo": "page footer", "cover": "cover",
    "doc-cover": "cover", "doc-index": "indexes", "doc-toc": "list of contents", "colophon": "imprint",
    "copyright-page": "imprint", "halftitlepage": "title page", "imprint": "imprint", "index": "indexes",
    "menu": "navigation", "menubar": "navigation", "navigation": "navigation", "titlepage": "title page",
    "toc": "list of contents",
} | dict.fromkeys(
    ("doc-endnote", "doc-endnotes", "doc-footnote", "endnote", "endnotes", "footnote", "footnotes", "footnote-item",
     "rearnote", "rearnotes"),
    "notes",
)  # fmt: skip
"""The same, by roles, kinds and classes."""
CLASSES = frozenset(
    ("footnotes", "footnote-ref", "footnote-back", "footnote-backref", "footnotes-sep", "footnote-item")
)
MAIN = "only its main part is read"
MOST_MAIN = 20
"""Main parts that are looked at: of a page that has more, none is."""
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


def read_markup(text: str, guesses: tuple[str, ...] = (), whole: bool = False) -> Reading:
    """The text of a page that is decoded: of its main part, or of the `whole`."""
    left: dict[str, None] = {}
    found = read_page(text, left, whole)
    return Reading(found, page_notes(left), guesses)


def page_notes(left: dict[str, None]) -> tuple[str, ...]:
    """The notes of what was left out of pages."""
    return (*((MAIN,) if MAIN in left else ()), *left_out(kind for kind in left if kind != MAIN))


def read_page(text: str, left: dict[str, None], whole: bool = False) -> str:
    """The text of a page; what is left out of it goes into `left`, as notes call it."""
    root = _parse(text)
    if root is None:
        return ""
    main = None if whole else _find_main(root)
    if main is not None:
        left[MAIN] = None
    return gather(root if main is None else main, left)


def _find_main(root: Any) -> Any:
    """The one main part that is shown and has text, or None."""
    all_main = list(islice(root.iter("{*}main"), MOST_MAIN + 1))
    if len(all_main) > MOST_MAIN:
        return None
    shown = [each for each in all_main if has_text(each) and not _is_within_passed(each)]
    return shown[0] if len(shown) == 1 else None


def _is_within_passed(element: Any) -> bool:
    around = [element, *islice(element.iterancestors(), DEEPEST)]
    return len(around) > DEEPEST or any(_passes_over(each.tag.rpartition("}")[2], each) for each in around)


def _parse(text: str) -> Any:
    """The tree of a page; of one that is XML, as XML, in which an element may end where it begins."""
    if "http://www.w3.org/1999/xhtml" in text[:2000]:
        try:
            return parse_xml(text)
        except Unreadable:
            pass
    return parse_html(text)


def gather(root: Any, left: dict[str, None]) -> str:
    """The paragraphs below an element; what was passed over goes into `left`, as notes call it."""
    found = Paragraphs()
    set_as_is = 0

    def passes_over(name: str, element: Any) -> bool:
        passed = _passes_over(name, element)
        if passed and (kind := _kind_left(name, element)) and kind not in left and has_text(element):
            left[kind] = None
        return passed

    for step in walk(root, passes_over):
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


def _kind_left(name: str, element: Any) -> str:
    """What a note calls an element that is left out, or nothing."""
    said = (element.get("role") or "", _kind(element), element.get("class") or "") if element.attrib else ()
    return next((ASIDE[each] for each in " ".join(said).split() if each in ASIDE), LEFT.get(name.lower(), ""))


def _kind(element: Any) -> str:
    return attribute(element, "type") if any(key.endswith(("}type", ":type")) for key in element.keys()) else ""  # noqa: SIM118
