"""Read Word documents (.docx): the body as it would be printed, without notes, comments and deletions."""

from __future__ import annotations

import posixpath
import unicodedata
from dataclasses import dataclass
from itertools import islice
from typing import Any

from byline.corpora.formats.extraction import SYMBOLS, ExtractedText, Paragraphs, Unreadable, is_listing, left_out
from byline.corpora.formats.xml_trees import attribute, note_left_out, parse_optional, parse_xml, walk
from byline.corpora.formats.zip_packages import DAMAGED, Package

RELATIONS = "_rels/.rels"
MAIN_PART = "word/document.xml"
# Elements that are left out, with the name that a note gives them, if it names them.
SKIPPED = {
    "Fallback": "", "del": "deleted text", "delInstrText": "", "delText": "", "moveFrom": "deleted text",
    "oMath": "formulas", "oMathPara": "formulas", "pPr": "", "rPr": "", "rt": "", "sdtPr": "", "sectPr": "",
    "tblGrid": "", "tblPr": "", "tcPr": "", "trPr": "",
}  # fmt: skip
REFERENCES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments"}
MARGINS = {"header": "page headers", "footer": "page footers"}
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
    return ExtractedText(text, left_out([*_find_margins(package, name), *body.left]), (UNENDED,) if unended else ())


def _find_margins(package: Package, name: str) -> list[str]:
    """Return which of page headers and footers the document has."""
    folder, _, own = name.rpartition("/")
    found: dict[str, None] = {}
    relations = parse_optional(package.read_optional(f"{folder}/_rels/{own}.rels".lstrip("/")))
    for relation in islice(() if relations is None else relations, MAX_RELATIONS):
        kind = MARGINS.get(attribute(relation, "Type").rpartition("/")[2], "")
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
        for step in walk(root, self._skips):
            if step.kind == "begin":
                self._begin(step.name, step.element)
            elif step.kind == "end":
                self._end(step.name, step.element)
        return self.found.to_text()

    def _skips(self, name: str, element: Any) -> bool:
        if name == "r" and _has(element, "rPr", "vanish"):
            self.left["hidden text"] = None
            return True
        if name == "fldSimple" and is_listing(attribute(element, "instr")):
            self.left["lists of contents"] = None
            return True
        kind = _skipped_kind(name, element)
        if kind is not None:
            note_left_out(self.left, kind, element)
        return kind is not None

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
    if name in SKIPPED:
        return SKIPPED[name]
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
