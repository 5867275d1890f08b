"""Word's .docx -> text: what stands in the body as it would be printed, without notes, comments and deletions."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from itertools import islice
from typing import Any

from byline.formats.packages import DAMAGED, Package
from byline.formats.reading import SIGNS, Paragraphs, Reading, Unreadable, is_listing, left_out
from byline.formats.symbols import find_sign
from byline.formats.trees import attribute, has_text, parse_lightly, parse_xml, walk

RELATIONS = "_rels/.rels"
USUAL = "word/document.xml"
PASSED = frozenset((
    "Fallback", "del", "delInstrText", "delText", "moveFrom", "oMath", "oMathPara", "pPr", "rPr", "rt", "sdtPr",
    "sectPr", "tblGrid", "tblPr", "tcPr", "trPr",
))  # fmt: skip
LEFT = {
    "del": "deleted text", "moveFrom": "deleted text", "oMath": "formulas", "oMathPara": "formulas",
    "footnoteReference": "footnotes", "endnoteReference": "endnotes", "commentReference": "comments",
}  # fmt: skip
"""What a note calls that which is left out."""
MARGINS = {"header": "page headers", "footer": "page footers"}
MOST_RELATIONS = 100
ENDLESS = "a field in it never ends, and what follows is read as text; look whether it is"


def read_word(data: bytes, encoding: str | None = None) -> Reading:
    """The text of a .docx file; hidden text, tables of contents and an inserted change's forerunner are left out."""
    package = Package(data)
    name = _main_part(package)
    if name not in package:
        raise Unreadable(DAMAGED)
    root = parse_xml(package.read(name))
    body = _Body()
    text = body.gather(root)
    endless = any(field.hides for field in body.fields)
    if endless:
        body = _Body(frozenset(field.mark for field in body.fields))
        text = body.gather(root)
    return Reading(text, left_out([*_margins(package, name), *body.left]), (ENDLESS,) if endless else ())


def _margins(package: Package, name: str) -> list[str]:
    """What the document has above and below its pages."""
    folder, _, own = name.rpartition("/")
    found: dict[str, None] = {}
    relations = parse_lightly(package.look_into(f"{folder}/_rels/{own}.rels".lstrip("/")))
    for relation in islice(() if relations is None else relations, MOST_RELATIONS):
        kind = MARGINS.get(attribute(relation, "Type").rpartition("/")[2], "")
        target = attribute(relation, "Target")
        part = target.lstrip("/") if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        if kind and kind not in found and _has_words(package.look_into(part)):
            found[kind] = None
    return list(found)


def _has_words(part: bytes) -> bool:
    root = parse_lightly(part)
    return root is not None and any((element.text or "").strip() for element in root.iter("{*}t"))


def _main_part(package: Package) -> str:
    """Where the document is in the package."""
    if RELATIONS not in package:
        return USUAL
    for relation in parse_xml(package.read(RELATIONS)):
        if attribute(relation, "Type").endswith("/officeDocument"):
            return posixpath.normpath(attribute(relation, "Target").lstrip("/"))
    return USUAL


class _Body:
    """Gathers the paragraphs of a document."""

    def __init__(self, endless: frozenset[Any] = frozenset()) -> None:
        self.found = Paragraphs(collapse=False)
        self.endless = endless
        """Marks of fields that begin and never end: they are none."""
        self.fields: list[_Field] = []
        self.hiding = 0
        self.left: dict[str, None] = {}
        """What was passed over, as notes call it."""

    def gather(self, root: Any) -> str:
        for step in walk(root, self._passes_over):
            if step.kind == "begin":
                self._begin(step.name, step.element)
            elif step.kind == "end":
                self._end(step.name, step.element)
        return self.found.to_text()

    def _passes_over(self, name: str, element: Any) -> bool:
        if name in PASSED:
            if name in LEFT and LEFT[name] not in self.left and has_text(element):
                self.left[LEFT[name]] = None
            return True
        if name == "r" and _has(element, "rPr", "vanish"):
            self.left["hidden text"] = None
            return True
        if name == "fldSimple" and is_listing(attribute(element, "instr")):
            self.left["lists of contents"] = None
            return True
        if kind := _kind_passed(name, element):
            if kind not in self.left and has_text(element):
                self.left[kind] = None
            return True
        return False

    def _begin(self, name: str, element: Any) -> None:
        if name in LEFT:
            self.left[LEFT[name]] = None
        elif name == "txbxContent":
            self.found.park()
        elif name == "fldChar":
            if element not in self.endless:
                self._turn_field(attribute(element, "fldCharType"), element)
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
            sign = find_sign(attribute(element, "font"), attribute(element, "char"))
            self.found.add(sign)
            if not sign:
                self.left[SIGNS] = None

    def _end(self, name: str, element: Any) -> None:
        if name == "txbxContent":
            self.found.unpark()
        elif name == "tc" or (name == "p" and not _has(element, "pPr", "rPr", "del")):
            self.found.end()

    def _turn_field(self, kind: str, mark: Any) -> None:
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
    """A field that has begun: first what it shall show, hidden, then what it shows."""

    mark: Any
    """Where it begins."""
    instruction: str = ""
    hides: bool = True


def _kind_passed(name: str, element: Any) -> str:
    """What a note calls an element that is passed over for what it says of itself, or nothing."""
    if name == "sdt" and _has(element, "sdtPr", "showingPlcHdr"):
        return "placeholders of empty fields"
    deleted = (name == "tr" and _has(element, "trPr", "del")) or (name == "tc" and _has(element, "tcPr", "cellDel"))
    return "deleted text" if deleted else ""


def _has(element: Any, *path: str) -> bool:
    """Whether an element has a property that is not switched off."""
    for name in path:
        element = next((child for child in element if str(child.tag).endswith("}" + name)), None)
        if element is None:
            return False
    return attribute(element, "val").lower() not in ("0", "false", "off")
