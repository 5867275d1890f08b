"""Read documents that are XML packed in a ZIP file: Word (.docx), OpenDocument (.odt) and EPUB.

Of Word and OpenDocument, the body is read as it would be printed, without notes, comments and deletions. Packages are
unpacked into memory, within limits.
"""

from __future__ import annotations

import io
import posixpath
import struct
import unicodedata
import zipfile
import zlib
from dataclasses import dataclass
from itertools import islice
from typing import Any
from urllib.parse import unquote, urlsplit

from byline.corpora.formats.encodings import decode
from byline.corpora.formats.extraction import (
    LARGEST_TEXT,
    SPLIT,
    SYMBOLS,
    TOO_LARGE,
    ExtractedText,
    Paragraphs,
    Unreadable,
    is_listing,
    left_out,
)
from byline.corpora.formats.webpage import page_notes, read_page
from byline.corpora.formats.xml import (
    attribute,
    declared_encoding,
    local_name,
    note_left_out,
    parse_optional,
    parse_xml,
    walk,
)

MAX_SIZE = 100_000_000  # bytes of a member, unpacked
MAX_NOTE_SIZE = 2_000_000  # bytes of a member that is only needed for notes, unpacked
MAX_RATIO = 200  # of unpacked to packed size for a large member; that of prose is five
SMALL = 1_000_000  # bytes of a member that may have any ratio
MAX_MEMBERS = 20_000
DAMAGED = ("damaged, or not what its name says", "Open it where it was written and save it again")
LOCKED = ("protected by a password", "Save a copy without one")
_OLE = b"\xd0\xcf\x11\xe0"
_ENTRY = b"PK\1\2"  # begins each entry in the list of members
_FAILURES = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, NotImplementedError, OSError, OverflowError,
    RuntimeError, ValueError,
)  # fmt: skip


class Package:
    """The members of a ZIP file by name."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):  # which Office wraps around files with a password
            locked = "EncryptedPackage".encode("utf-16-le") in data
            raise Unreadable(*LOCKED if locked else ("in an old format", "Save it as .docx or .odt"))
        if data.count(_ENTRY) > MAX_MEMBERS:  # zipfile would read them all
            raise Unreadable(f"more than {MAX_MEMBERS:,} files are packed in it", "Save its text alone")
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _FAILURES:
            raise Unreadable(*DAMAGED) from None
        self._members = {member.filename: member for member in self._zip.infolist()}

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read_optional(self, name: str) -> bytes:
        """Return a member that is only needed for notes; nothing if it is missing, large or damaged."""
        try:
            return self.read(name, MAX_NOTE_SIZE)
        except Unreadable:
            return b""

    def read(self, name: str, limit: int = MAX_SIZE) -> bytes:
        """Return a member, unpacked."""
        member = self._members.get(name)
        if member is None:
            raise Unreadable(*DAMAGED)
        if member.flag_bits & 1:
            raise Unreadable(*LOCKED)
        if member.file_size > limit:
            raise Unreadable(f"unpacked it is larger than {limit // 1_000_000} MB", SPLIT)
        if member.file_size > max(SMALL, MAX_RATIO * member.compress_size):
            raise Unreadable(f"unpacked it is more than {MAX_RATIO} times as large", "Save its text alone")
        try:
            with self._zip.open(member) as part:
                return part.read(limit)  # zipfile reads no more than the stated size, and checks it
        except _FAILURES:
            raise Unreadable(*DAMAGED) from None


RELATIONS = "_rels/.rels"
MAIN_PART = "word/document.xml"
# Elements that are left out, with the name that a note gives them, if it names them.
WORD_SKIPPED = {
    "Fallback": "", "del": "deleted text", "delInstrText": "", "delText": "", "moveFrom": "deleted text",
    "oMath": "formulas", "oMathPara": "formulas", "pPr": "", "rPr": "", "rt": "", "sdtPr": "", "sectPr": "",
    "tblGrid": "", "tblPr": "", "tcPr": "", "trPr": "",
}  # fmt: skip
REFERENCES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments"}
WORD_MARGINS = {"header": "page headers", "footer": "page footers"}
MAX_RELATIONS = 100
UNENDED = "a field in it never ends, so what follows is read as text; check whether it is"

# Characters of the font Symbol from 0x20 and 0xA0 on; a space where there is none, or only a part of a sign.
_SYMBOL_LOW = " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_SYMBOL_HIGH = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…  ↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑           ⟩∫"
# Characters of Wingdings that word processors insert for :) and -->, for lists and for ticks.
_WINGDINGS = {0x4A: "☺", 0x4B: "😐", 0x4C: "☹", 0xA7: "▪", 0xDF: "←", 0xE0: "→", 0xFC: "✓"}
_SYMBOL_FONTS = {
    "symbol": {
        begin + place: sign
        for begin, signs in ((0x20, _SYMBOL_LOW), (0xA0, _SYMBOL_HIGH))
        for place, sign in enumerate(signs)
        if sign != " "
    },
    "wingdings": _WINGDINGS,
}
_PRIVATE = range(0xF000, 0xF100)  # where such fonts are in Unicode


def read_word(data: bytes, encoding: str | None = None) -> ExtractedText:
    """Read a .docx file with its changes accepted, without hidden text and tables of contents."""
    package = Package(data)
    name = _find_main_part(package)
    if name not in package:
        raise Unreadable(*DAMAGED)
    root = parse_xml(package.read(name))
    body = _Body()
    text = body.read(root)
    unended = any(field.hides for field in body.fields)
    if unended:
        body = _Body(frozenset(field.mark for field in body.fields))
        text = body.read(root)
    return ExtractedText(
        text, left_out([*_find_word_margins(package, name), *body.left]), (UNENDED,) if unended else ()
    )


def _find_word_margins(package: Package, name: str) -> list[str]:
    """Return which of page headers and footers the document has."""
    folder, _, own = name.rpartition("/")
    found: dict[str, None] = {}
    relations = parse_optional(package.read_optional(f"{folder}/_rels/{own}.rels".lstrip("/")))
    for relation in islice(() if relations is None else relations, MAX_RELATIONS):
        kind = WORD_MARGINS.get(attribute(relation, "Type").rpartition("/")[2], "")
        target = attribute(relation, "Target")
        part = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        if kind and kind not in found and _has_words(package.read_optional(part)):
            found[kind] = None
    return list(found)


def _has_words(part: bytes) -> bool:
    root = parse_optional(part)
    return root is not None and any((element.text or "").strip() for element in root.iter("{*}t"))


def _find_main_part(package: Package) -> str:
    """Return the name of the member that holds the document."""
    if RELATIONS not in package:
        return MAIN_PART
    for relation in parse_xml(package.read(RELATIONS)):
        if attribute(relation, "Type").endswith("/officeDocument"):
            return posixpath.normpath(attribute(relation, "Target").lstrip("/"))
    return MAIN_PART


class _Body:
    """Collects the paragraphs of a document, ignoring the marks of fields that begin and never end."""

    def __init__(self, unended: frozenset[Any] = frozenset()) -> None:
        self.found = Paragraphs(collapse=False)
        self.unended = unended
        self.fields: list[_Field] = []
        self.hiding = 0
        self.left: dict[str, None] = {}

    def read(self, root: Any) -> str:
        for step in walk(root, _skipped_kind, self.left):
            if step.kind == "begin":
                self._begin(step.name, step.element)
            elif step.kind == "end":
                self._end(step.name, step.element)
        return self.found.to_text()

    def _begin(self, name: str, element: Any) -> None:
        if name in REFERENCES:
            self.left[REFERENCES[name]] = None
        elif name == "txbxContent":
            self.found.begin_box()
        elif name == "fldChar":
            if element not in self.unended:
                self._mark_field(attribute(element, "fldCharType"), element)
        elif name == "instrText":
            if self.fields:
                self.fields[-1].instruction += element.text or ""
        elif not self.hiding:
            self._add(name, element)

    def _add(self, name: str, element: Any) -> None:
        if name == "t":
            text = element.text or ""
            kept = attribute(element, "space") == "preserve"
            self.found.add(text.replace("\n", " ") if kept else text.strip().replace("\n", " "))
        elif name in ("tab", "ptab"):
            self.found.add("\t")
        elif name in ("br", "cr"):
            self.found.break_line()
        elif name == "noBreakHyphen":
            self.found.add("\u2011")
        elif name == "sym":
            symbol = _find_symbol(attribute(element, "font"), attribute(element, "char"))
            self.found.add(symbol)
            if not symbol:
                self.left[SYMBOLS] = None

    def _end(self, name: str, element: Any) -> None:
        if name == "txbxContent":
            self.found.end_box()
        elif name == "tc" or (name == "p" and not _has(element, "pPr", "rPr", "del")):
            self.found.end()

    def _mark_field(self, kind: str, mark: Any) -> None:
        if kind == "begin":
            self.fields.append(_Field(mark))
            self.hiding += 1
        elif self.fields and kind == "separate":
            listing = is_listing(self.fields[-1].instruction)
            if listing:
                self.left["lists of contents"] = None
            self._set_hiding(listing)
        elif self.fields and kind == "end":
            self._set_hiding(False)
            self.fields.pop()

    def _set_hiding(self, hides: bool) -> None:
        self.hiding += hides - self.fields[-1].hides
        self.fields[-1].hides = hides


@dataclass
class _Field:
    """A field that has begun: its instruction, which is hidden, comes before its content."""

    mark: Any
    instruction: str = ""
    hides: bool = True


def _skipped_kind(name: str, element: Any) -> str | None:
    """Return the name that a note gives an element that is left out, or None if it is read."""
    if name in WORD_SKIPPED:
        return WORD_SKIPPED[name]
    if name == "r" and _has(element, "rPr", "vanish"):
        return "hidden text"
    if name == "fldSimple" and is_listing(attribute(element, "instr")):
        return "lists of contents"
    if name == "sdt" and _has(element, "sdtPr", "showingPlcHdr"):
        return "placeholders of empty fields"
    deleted = (name == "tr" and _has(element, "trPr", "del")) or (name == "tc" and _has(element, "tcPr", "cellDel"))
    return "deleted text" if deleted else None


def _has(element: Any, *path: str) -> bool:
    """Return whether an element has a property that is not switched off."""
    for name in path:
        element = next((child for child in element if str(child.tag).endswith("}" + name)), None)
        if element is None:
            return False
    return attribute(element, "val").lower() not in ("0", "false", "off")


def _find_symbol(font: str, code: str) -> str:
    """Return the character of a symbol font at a hexadecimal code, or an empty string if it is unknown."""
    try:
        place = int(code[:8], 16)
    except ValueError:
        return ""
    table = _SYMBOL_FONTS.get(font.strip().casefold())
    if table is not None or place in _PRIVATE:
        return (table or {}).get(place - _PRIVATE.start if place in _PRIVATE else place, "")
    if "dings" in font.casefold() or not 0x20 < place <= 0x10FFFF:
        return ""
    return "" if unicodedata.category(chr(place)) in ("Cc", "Cn", "Co", "Cs") else chr(place)


CONTENT, STYLES, MANIFEST = "content.xml", "styles.xml", "META-INF/manifest.xml"
# Elements that are left out, with the name that a note gives them, if it names them.
ODT_SKIPPED = {
    "alphabetical-index": "indexes", "annotation": "comments", "automatic-styles": "", "desc": "",
    "bibliography": "the bibliography", "font-face-decls": "", "forms": "", "hidden-paragraph": "hidden text",
    "hidden-text": "hidden text", "illustration-index": "indexes", "note": "footnotes and endnotes",
    "object-index": "indexes", "page-count": "", "page-number": "", "ruby-text": "", "scripts": "",
    "sequence-decls": "", "table-index": "indexes", "table-of-content": "lists of contents", "title": "",
    "tracked-changes": "deleted text", "user-index": "indexes",
}  # fmt: skip
ODT_MARGINS = {
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
    left = _find_odt_margins(package)

    def skipped_kind(name: str, element: Any) -> str | None:
        hidden = name == "section" and attribute(element, "display") == "none"
        return "hidden text" if hidden else ODT_SKIPPED.get(name)

    for step in walk(root, skipped_kind, left):
        if step.kind == "text":
            found.add(step.name)
        elif step.kind == "begin":
            _begin(found, step.name, step.element)
        elif step.name == "text-box":
            found.end_box()
        elif step.name in PARAGRAPHS:
            found.end()
    return ExtractedText(found.to_text(), left_out(left))


def _find_odt_margins(package: Package) -> dict[str, None]:
    """Return which of page headers and footers the document has."""
    root = parse_optional(package.read_optional(STYLES))
    found: dict[str, None] = {}
    for part in () if root is None else root.iterfind(".//{*}master-page/*"):
        note_left_out(found, ODT_MARGINS.get(local_name(part), ""), part)
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
