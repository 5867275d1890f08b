"""Read web pages without navigation and the like, and Markdown by way of the page that it is rendered to."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import Any

from byline.corpora.formats.encodings import decode
from byline.corpora.formats.extraction import ExtractedText, Paragraphs, Unreadable, left_out, require_library, silenced
from byline.corpora.formats.xml import (
    MAX_DEPTH,
    attribute,
    declared_encoding,
    has_text,
    local_name,
    parse_html,
    parse_xml,
    walk,
)

BLOCKS = frozenset((
    "address", "article", "blockquote", "body", "caption", "center", "dd", "details", "dialog", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hgroup",
    "hr", "html", "legend", "li", "main", "menu", "ol", "p", "pre", "section", "summary", "table", "tbody", "td",
    "tfoot", "th", "thead", "tr", "ul",
))  # fmt: skip
SKIPPED = frozenset((
    "applet", "area", "aside", "audio", "base", "button", "canvas", "datalist", "embed", "frame", "frameset",
    "head", "iframe", "input", "link", "map", "math", "meta", "meter", "nav", "noframes", "noscript", "object",
    "optgroup", "option", "output", "progress", "rp", "rt", "script", "select", "source", "style", "svg",
    "template", "textarea", "title", "track", "video",
))  # fmt: skip
# Parts of a page that are left out: by their roles, by epub:type in books, and by their classes.
ROLES = frozenset((
    "banner", "complementary", "contentinfo", "doc-backlink", "doc-cover", "doc-endnote", "doc-endnotes",
    "doc-footnote", "doc-index", "doc-noteref", "doc-pagebreak", "doc-pagelist", "doc-toc", "menu", "menubar",
    "navigation", "search",
))  # fmt: skip
EPUB_TYPES = frozenset((
    "backlink", "colophon", "copyright-page", "cover", "endnote", "endnotes", "footnote", "footnotes",
    "halftitlepage", "imprint", "index", "landmarks", "noteref", "page-list", "pagebreak", "rearnote", "rearnotes",
    "titlepage", "toc",
))  # fmt: skip
CLASSES = frozenset(
    ("footnotes", "footnote-ref", "footnote-back", "footnote-backref", "footnotes-sep", "footnote-item")
)
# The names that a note gives to elements that are left out; those that are hidden or for programs are not named.
ELEMENT_NOTES = {"nav": "navigation", "aside": "asides", "header": "page header", "footer": "page footer"}
PART_NOTES = {
    "banner": "page header", "complementary": "asides", "contentinfo": "page footer", "cover": "cover",
    "doc-cover": "cover", "doc-index": "indexes", "doc-toc": "list of contents", "colophon": "imprint",
    "copyright-page": "imprint", "halftitlepage": "title page", "imprint": "imprint", "index": "indexes",
    "menu": "navigation", "menubar": "navigation", "navigation": "navigation", "titlepage": "title page",
    "toc": "list of contents",
} | dict.fromkeys(
    ("doc-endnote", "doc-endnotes", "doc-footnote", "endnote", "endnotes", "footnote", "footnotes", "footnote-item",
     "rearnote", "rearnotes"),
    "notes",
)  # fmt: skip
MAIN_ONLY = "only its main part is read"
MAX_MAIN_PARTS = 20  # of a page with more, none is taken for the main part
MAX_MARKDOWN = 5_000_000  # characters: parsing some files of this size takes minutes
_CHARSET = re.compile(rb"""<meta\s[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{1,40})""", re.IGNORECASE)
_HIDDEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_REPORT = re.compile(r"<title>[^<]{0,500}, Byline report</title>")
_YAML_BEGIN = re.compile(r"""["']?[\w.-]{1,40}["']?\s?:(?:\s|$)""")
_YAML = re.compile(r"""["']?[\w.-]{1,40}(?: [\w.-]{1,40}){0,3}["']?\s?:(?:\s|$)|[ \t]|- |-$|#|[\]}],?\s*$""")


def read_html(data: bytes, encoding: str | None = None) -> ExtractedText:
    """Read a web page, or its main part if that is marked."""
    found = _CHARSET.search(data[:4096])
    text, guesses = decode(data, declared_encoding(data) or (found[1].decode() if found else None), encoding)
    if _REPORT.search(text[:10_000]):
        raise Unreadable("a report that Byline wrote, no text", "Move it away")
    return _read_markup(text, guesses)


def _read_markup(text: str, guesses: tuple[str, ...], whole: bool = False) -> ExtractedText:
    left: dict[str, None] = {}
    found = read_page(text, left, whole)
    return ExtractedText(found, page_notes(left), guesses)


def page_notes(left: dict[str, None]) -> tuple[str, ...]:
    """Return the notes on what was left out of pages."""
    return (*((MAIN_ONLY,) if MAIN_ONLY in left else ()), *left_out(kind for kind in left if kind != MAIN_ONLY))


def read_page(text: str, left: dict[str, None], whole: bool = False) -> str:
    """Return the text of a page, or of its main part; the kinds of parts left out are added to `left`."""
    root = _parse(text)
    if root is None:
        return ""
    main = None if whole else _find_main(root)
    if main is not None:
        left[MAIN_ONLY] = None
    return _collect(root if main is None else main, left)


def _find_main(root: Any) -> Any:
    """Return the only main part that is shown and has text, or None."""
    all_main = list(islice(root.iter("{*}main"), MAX_MAIN_PARTS + 1))
    if len(all_main) > MAX_MAIN_PARTS:
        return None
    shown = [each for each in all_main if has_text(each) and not _is_within_skipped(each)]
    return shown[0] if len(shown) == 1 else None


def _is_within_skipped(element: Any) -> bool:
    around = [element, *islice(element.iterancestors(), MAX_DEPTH)]
    return len(around) > MAX_DEPTH or any(_skips(local_name(each), each) for each in around)


def _parse(text: str) -> Any:
    """Return the root of a page; XHTML is parsed as XML, in which `<a/>` is a whole element."""
    if "http://www.w3.org/1999/xhtml" in text[:2000]:
        try:
            return parse_xml(text)
        except Unreadable:
            pass
    return parse_html(text)


def _collect(root: Any, left: dict[str, None]) -> str:
    found = Paragraphs()
    preformatted = 0

    for step in walk(root, _skipped_kind, left):
        if step.kind == "text":
            for number, line in enumerate(step.name.split("\n") if preformatted else (step.name,)):
                if number:
                    found.break_line()
                found.add(line)
        elif step.name == "br" and step.kind == "begin":
            found.break_line()
        elif step.name in BLOCKS:
            found.end()
            if step.name == "pre":
                preformatted += 1 if step.kind == "begin" else -1
    return found.to_text()


def _skips(name: str, element: Any) -> bool:
    name = name.lower()
    if name in SKIPPED:
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
        or (name != "body" and not EPUB_TYPES.isdisjoint(_epub_type(element).split()))
    )


def _skipped_kind(name: str, element: Any) -> str | None:
    """Return the name that a note gives an element that is left out, or an empty string; None if it is read."""
    if not _skips(name, element):
        return None
    said = (element.get("role") or "", _epub_type(element), element.get("class") or "") if element.attrib else ()
    parts = (PART_NOTES[each] for each in " ".join(said).split() if each in PART_NOTES)
    return next(parts, ELEMENT_NOTES.get(name.lower(), ""))


def _epub_type(element: Any) -> str:
    return attribute(element, "type") if any(key.endswith(("}type", ":type")) for key in element.keys()) else ""  # noqa: SIM118


def read_markdown(data: bytes, encoding: str | None = None) -> ExtractedText:
    """Read a Markdown file without front matter and footnotes."""
    text, guesses = decode(data, None, encoding)
    if len(text) > MAX_MARKDOWN:
        raise Unreadable(f"more than {MAX_MARKDOWN // 1_000_000} million characters of Markdown", "Split it")
    rest = _remove_front_matter(text)
    parser = require_library("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(require_library("mdit_py_plugins.footnote").footnote_plugin)
    try:
        with silenced("markdown_it"):
            page = parser.render(rest)
    except RecursionError:
        raise Unreadable("nested too deep", "Simplify it") from None
    found = _read_markup(page, guesses, whole=True)
    return replace(found, notes=(*left_out(["front matter"] if rest != text else []), *found.notes))


def _remove_front_matter(text: str) -> str:
    """Return the text after its front matter, which is YAML between two rules; prose between rules stays."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return text
    end = next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "...")), 0)
    if end < 2 or not _YAML_BEGIN.match(lines[1]):
        return text
    if all(_YAML.match(line) or not line.strip() for line in lines[1:end]):
        return "\n".join(lines[end + 1 :])
    return text
