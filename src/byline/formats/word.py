"""Word's .docx -> text: what stands in the body as it would be printed, without notes, comments and deletions."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import Any

from byline.formats.packages import DAMAGED, Package
from byline.formats.reading import Paragraphs, Reading, Unreadable
from byline.formats.trees import attribute, parse_xml, walk

RELATIONS = "_rels/.rels"
USUAL = "word/document.xml"
PASSED = frozenset((
    "Fallback", "del", "delInstrText", "delText", "moveFrom", "oMath", "oMathPara", "pPr", "rPr", "rt", "sdtPr",
    "sectPr", "tblGrid", "tblPr", "tcPr", "trPr",
))  # fmt: skip
LISTS = ("TOC", "INDEX", "TOA")
"""Fields that list what is where: they serve to get about."""


def read_word(data: bytes, encoding: str | None = None) -> Reading:
    """The text of a .docx file; hidden text, tables of contents and an inserted change's forerunner are left out."""
    package = Package(data)
    name = _main_part(package)
    if name not in package:
        raise Unreadable(DAMAGED)
    return Reading(_Body().gather(parse_xml(package.read(name))))


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

    def __init__(self) -> None:
        self.found = Paragraphs(collapse=False)
        self.fields: list[_Field] = []
        self.hiding = 0

    def gather(self, root: Any) -> str:
        for step in walk(root, self._passes_over):
            if step.kind == "begin":
                self._begin(step.name, step.element)
            elif step.kind == "end":
                self._end(step.name, step.element)
        return self.found.to_text()

    def _passes_over(self, name: str, element: Any) -> bool:
        if name in PASSED:
            return True
        if name == "r":
            return _has(element, "rPr", "vanish")
        return name == "fldSimple" and _is_list(attribute(element, "instr"))

    def _begin(self, name: str, element: Any) -> None:
        if name == "txbxContent":
            self.found.park()
        elif name == "fldChar":
            self._turn_field(attribute(element, "fldCharType"))
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

    def _end(self, name: str, element: Any) -> None:
        if name == "txbxContent":
            self.found.unpark()
        elif name == "tc" or (name == "p" and not _has(element, "pPr", "rPr", "del")):
            self.found.end()

    def _turn_field(self, kind: str) -> None:
        if kind == "begin":
            self.fields.append(_Field())
            self.hiding += 1
        elif self.fields and kind == "separate":
            self._set_hiding(_is_list(self.fields[-1].instruction))
        elif self.fields and kind == "end":
            self._set_hiding(False)
            self.fields.pop()

    def _set_hiding(self, hides: bool) -> None:
        self.hiding += hides - self.fields[-1].hides
        self.fields[-1].hides = hides


@dataclass
class _Field:
    """A field that has begun: first what it shall show, hidden, then what it shows."""

    instruction: str = ""
    hides: bool = True


def _is_list(instruction: str) -> bool:
    return instruction.strip().partition(" ")[0].upper() in LISTS


def _has(element: Any, *path: str) -> bool:
    """Whether an element has a property that is not switched off."""
    for name in path:
        element = next((child for child in element if str(child.tag).endswith("}" + name)), None)
        if element is None:
            return False
    return attribute(element, "val").lower() not in ("0", "false", "off")
