"""TEI -> text: the body of an encoded edition, as its author wrote it.

Of `choice` what was written stays (`sic`, `orig`, `abbr`), not what the editor made of it (`corr`, `reg`, `expan`), or
else the first alternative; of an apparatus the `lem`, or the first `rdg`. The header, front and back matter, notes,
running heads, names of speakers, what the author struck out and what the editor describes are left out.
"""

from __future__ import annotations

import unicodedata
from typing import Any

from byline.formats.encodings import decode
from byline.formats.reading import Paragraphs, Reading, Unreadable, left_out
from byline.formats.trees import Step, attribute, declared_encoding, has_text, parse_xml, walk

PASSED = frozenset((
    "back", "certainty", "del", "desc", "facsimile", "figDesc", "front", "fw", "index", "interp", "interpGrp",
    "listEvent", "listOrg", "listPerson", "listPlace", "metamark", "note", "noteGrp", "sourceDoc", "span", "spanGrp",
    "speaker", "standOff", "teiHeader", "wit", "witDetail",
))  # fmt: skip
LEFT = {
    "back": "front and back matter", "del": "deleted text", "front": "front and back matter", "fw": "running heads",
    "note": "notes", "noteGrp": "notes", "speaker": "names of speakers", "teiHeader": "the header", "wit": "witnesses",
    "witDetail": "witnesses", "rdg": "other readings", "rdgGrp": "other readings", "corr": "the editor's changes",
    "reg": "the editor's changes", "expan": "the editor's changes", "desc": "descriptions", "index": "index terms",
    "figDesc": "descriptions", "interp": "interpretations", "interpGrp": "interpretations", "span": "interpretations",
    "spanGrp": "interpretations", "metamark": "marks of revision", "listEvent": "lists of names",
    "listOrg": "lists of names", "listPerson": "lists of names", "listPlace": "lists of names",
}  # fmt: skip
"""What a note calls that which is left out."""
WRITTEN = ("sic", "orig", "abbr", "am")
BLOCKS = frozenset((
    "ab", "address", "argument", "bibl", "body", "byline", "castItem", "cell", "closer", "dateline", "div", "div1",
    "div2", "div3", "div4", "div5", "div6", "div7", "docAuthor", "docTitle", "epigraph", "figure", "floatingText",
    "group", "head", "imprimatur", "item", "l", "label", "lg", "list", "listBibl", "opener", "p", "postscript",
    "quote", "row", "salute", "signed", "sp", "stage", "table", "text", "titlePage", "titlePart", "trailer",
))  # fmt: skip
INLINE_IN = ("p", "l", "ab", "head", "item", "cell")
"""Within these a quotation, a stage direction or a label goes on with the line."""
ALTERNATIVES = ("choice", "app", "rdgGrp", "subst")
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
    left: dict[str, None] = {}
    return Reading(_gather(root, left), left_out(left), guesses)


def _gather(root: Any, left: dict[str, None]) -> str:
    """The text; what was passed over goes into `left`."""
    found = Paragraphs()
    words = _Words(root, found)
    others: set[Any] = set()
    """Alternatives that are not read."""

    def passes_over(name: str, element: Any) -> bool:
        if name in PASSED or element in others:
            kind = LEFT.get(name, "other readings" if element in others else "")
            if kind and kind not in left and has_text(element):
                left[kind] = None
            return True
        if name in ("app", "choice"):
            others.update(_others(element, _readings(element) if name == "app" else list(element)))
        return False

    for step in walk(root, passes_over):
        words.pass_by(step)
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


def _readings(app: Any) -> list[Any]:
    """The readings of an apparatus, in groups or not, in their order."""
    found, todo = [], [app]
    while todo:
        element = todo.pop()
        if element is app or _name(element) == "rdgGrp":
            todo += reversed(element)
        elif _name(element) in ("lem", "rdg"):
            found.append(element)
    return found


def _others(parent: Any, alternatives: list[Any]) -> list[Any]:
    """All alternatives but the one that is read: what was written, or the first."""
    wanted = ("lem",) if _name(parent) == "app" else WRITTEN
    elements = [each for each in alternatives if _name(each)]
    read = next((each for each in elements if _name(each) in wanted), next(iter(elements), None))
    return [each for each in elements if each is not read]


class _Words:
    """Puts spaces between words that are elements, where nothing else sets these apart."""

    def __init__(self, root: Any, found: Paragraphs) -> None:
        self.found = found
        self.needed = _are_glued(root)
        self.last: Any = None
        """The word or mark that has just ended."""

    def pass_by(self, step: Step) -> None:
        """See what comes next."""
        if not self.needed:
            return
        if step.kind == "text":
            if _name(step.element) not in ALTERNATIVES:
                self.last = None
        elif step.name in ("w", "pc"):
            if step.kind == "begin" and self.last is not None and self._are_apart(self.last, step.element):
                self.found.add(" ")
            self.last = step.element if step.kind == "end" else None
        elif step.name in BREAKS or step.name in BLOCKS:
            self.last = None

    def _are_apart(self, one: Any, other: Any) -> bool:
        if attribute(one, "join") in ("right", "both") or attribute(other, "join") in ("left", "both"):
            return False
        if attribute(other, "part") in ("M", "F") or _name(one.getparent()) == "w":
            return False
        opens = _name(other) == "pc" and _is_opening(other)
        return (_name(other) == "w" or opens) and (_name(one) == "w" or _is_closing(one))


def _is_opening(mark: Any) -> bool:
    return unicodedata.category((mark.text or " ")[-1]) in ("Ps", "Pi")


def _is_closing(mark: Any) -> bool:
    """Whether a space follows a mark; of straight quotes and dashes it can't be told."""
    last = (mark.text or " ")[-1]
    return last not in "\"'\u2019/@" and unicodedata.category(last) in ("Pe", "Pf", "Po")


def _are_glued(root: Any) -> bool:
    """Whether words that are elements mostly follow each other without a space."""
    close = apart = 0
    for word in root.iter("{*}w"):
        edges = (word.text or "x")[0] + ((word.text or "x")[-1] if len(word) == 0 else "x") + (word.tail or "x")[0]
        following = word.getnext()
        if any(each.isspace() for each in edges) or _name(following) == "c":
            apart += 1
        elif not word.tail and following is not None and _name(following) not in ("pc", *BREAKS):
            close += 1
    return close > apart


def _goes_on(step: Step) -> bool:
    """Whether a quotation or the like stands in the midst of a line."""
    return step.name in ("quote", "stage", "label", "bibl") and _name(step.element.getparent()) in INLINE_IN


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2] if element is not None and isinstance(element.tag, str) else ""
