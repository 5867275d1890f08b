"""TEI -> text: the body of an encoded edition, as its author wrote it.

Of `choice` what was written stays (`sic`, `orig`, `abbr`), not what the editor made of it (`corr`, `reg`, `expan`); of
an apparatus the `lem`, or the first `rdg`. The header, front and back matter, notes, running heads, names of speakers
and what the author struck out are left out.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from byline.formats.encodings import decode
from byline.formats.reading import Paragraphs, Reading, Unreadable
from byline.formats.trees import Step, attribute, declared_encoding, parse_xml, walk

PASSED = frozenset((
    "back", "certainty", "del", "facsimile", "figDesc", "front", "fw", "note", "noteGrp", "sourceDoc", "speaker",
    "standOff", "teiHeader", "wit", "witDetail",
))  # fmt: skip
WRITTEN = ("sic", "orig", "abbr")
EDITED = ("corr", "reg", "expan")
BLOCKS = frozenset((
    "ab", "address", "argument", "bibl", "body", "byline", "castItem", "cell", "closer", "dateline", "div", "div1",
    "div2", "div3", "div4", "div5", "div6", "div7", "docAuthor", "docTitle", "epigraph", "figure", "floatingText",
    "group", "head", "imprimatur", "item", "l", "label", "lg", "list", "listBibl", "opener", "p", "postscript",
    "quote", "row", "salute", "signed", "sp", "stage", "table", "text", "titlePage", "titlePart", "trailer",
))  # fmt: skip
INLINE_IN = ("p", "l", "ab", "head", "item", "cell")
"""Within these a quotation, a stage direction or a label goes on with the line."""
ALTERNATIVES = ("choice", "app", "subst")
MOST_CHOICES = 20
"""Alternatives that are looked at."""
BREAKS = ("lb", "pb", "cb", "gb", "milestone")


def read_tei(data: bytes, encoding: str | None = None) -> Reading:
    """The text of a TEI file: of its `text/body`, or of all bodies of a group."""
    text, guesses = decode(data, declared_encoding(data), encoding)
    root = parse_xml(text)
    name = str(root.tag).rpartition("}")[2]
    if name not in ("TEI", "TEI.2", "teiCorpus"):
        raise Unreadable(f"XML, but no TEI ({name}); save its text as plain text")
    if name == "teiCorpus" and len(list(root.iter("{*}TEI", "{*}TEI.2"))) > 1:
        raise Unreadable("a corpus of several texts; put each into a file of its own")
    return Reading(_gather(root), guesses=guesses)


def _gather(root: Any) -> str:
    found = Paragraphs()
    for step in walk(root, _passes_over):
        if step.kind == "text":
            if (
                step.name.strip() or _name(step.element) not in ALTERNATIVES
            ):  # there it only sets the alternatives apart
                found.add(step.name)
        elif step.name in BREAKS:
            if step.kind == "begin":
                if attribute(step.element, "break") == "no":
                    found.join_word()
                else:
                    found.add(" ")
        elif step.name in BLOCKS and not _goes_on(step):
            found.end()
    return found.to_text()


def _goes_on(step: Step) -> bool:
    """Whether a quotation or the like stands in the midst of a line."""
    return step.name in ("quote", "stage", "label", "bibl") and _name(step.element.getparent()) in INLINE_IN


def _passes_over(name: str, element: Any) -> bool:
    if name in PASSED:
        return True
    parent = element.getparent()
    above = _name(parent)
    if above == "choice":
        return name in EDITED and any(_name(child) in WRITTEN for child in islice(parent, MOST_CHOICES))
    if above == "app" and name in ("rdg", "rdgGrp"):
        return element.getprevious() is not None or any(_name(child) == "lem" for child in islice(parent, MOST_CHOICES))
    return False


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2] if element is not None and isinstance(element.tag, str) else ""
