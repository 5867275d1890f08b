"""Read TEI editions: the body as its author wrote it.

Of a `choice`, the original (`sic`, `orig`, `abbr`) is read rather than the editor's version (`corr`, `reg`, `expan`),
or else the first alternative; of an apparatus, the `lem` or the first `rdg`. The header, front and back matter, notes,
running heads, names of speakers, deletions and the editor's descriptions are left out.
"""

from __future__ import annotations

import unicodedata
from typing import Any

from byline.corpora.formats.encodings import decode
from byline.corpora.formats.extraction import ExtractedText, Paragraphs, Unreadable, left_out
from byline.corpora.formats.xml_trees import (
    Step,
    attribute,
    declared_encoding,
    local_name,
    note_left_out,
    parse_xml,
    walk,
)

# Elements that are left out, with the name that a note gives them, if it names them.
SKIPPED = {
    "back": "front and back matter", "certainty": "", "del": "deleted text", "desc": "descriptions", "facsimile": "",
    "figDesc": "descriptions", "front": "front and back matter", "fw": "running heads", "index": "index terms",
    "interp": "interpretations", "interpGrp": "interpretations", "listEvent": "lists of names",
    "listOrg": "lists of names", "listPerson": "lists of names", "listPlace": "lists of names",
    "metamark": "marks of revision", "note": "notes", "noteGrp": "notes", "sourceDoc": "", "span": "interpretations",
    "spanGrp": "interpretations", "speaker": "names of speakers", "standOff": "", "teiHeader": "the header",
    "wit": "witnesses", "witDetail": "witnesses",
}  # fmt: skip
EDITORIAL = ("corr", "reg", "expan")
ORIGINAL = ("sic", "orig", "abbr", "am")
BLOCKS = frozenset((
    "ab", "address", "argument", "bibl", "body", "byline", "castItem", "cell", "closer", "dateline", "div", "div1",
    "div2", "div3", "div4", "div5", "div6", "div7", "docAuthor", "docTitle", "epigraph", "figure", "floatingText",
    "group", "head", "imprimatur", "item", "l", "label", "lg", "list", "listBibl", "opener", "p", "postscript",
    "quote", "row", "salute", "signed", "sp", "stage", "table", "text", "titlePage", "titlePart", "trailer",
))  # fmt: skip
# Elements that are no paragraphs within these.
INLINE = ("quote", "stage", "label", "bibl")
INLINE_IN = ("p", "l", "ab", "head", "item", "cell")
ALTERNATIVES = ("choice", "app", "rdgGrp", "subst")
BREAKS = ("lb", "pb", "cb", "gb", "milestone")


def read_tei(data: bytes, encoding: str | None = None) -> ExtractedText:
    """Read a TEI file: its `text/body`, or all bodies of a group."""
    text, guesses = decode(data, declared_encoding(data), encoding)
    root = parse_xml(text)
    name = local_name(root)
    if name not in ("TEI", "TEI.2", "teiCorpus"):
        raise Unreadable(f"XML, but no TEI ({name})", "Save its text as plain text")
    if name == "teiCorpus" and len(list(root.iter("{*}TEI", "{*}TEI.2"))) > 1:
        raise Unreadable("a corpus of several texts", "Put each into a file of its own")
    left: dict[str, None] = {}
    return ExtractedText(_collect(root, left), left_out(left), guesses)


def _collect(root: Any, left: dict[str, None]) -> str:
    """Return the text; the kinds of elements left out are added to `left`."""
    found = Paragraphs()
    words = _WordSpaces(root, found)
    rejected: set[Any] = set()  # alternatives that are not read

    def skips(name: str, element: Any) -> bool:
        if name in SKIPPED or element in rejected:
            other = "the editor's changes" if name in EDITORIAL else "other readings"
            note_left_out(left, SKIPPED.get(name) or (other if element in rejected else ""), element)
            return True
        if name in ("app", "choice"):
            rejected.update(_find_rejected(element, _find_readings(element) if name == "app" else list(element)))
        return False

    for step in walk(root, skips):
        words.follow(step)
        if step.kind == "text":
            # white space between alternatives is only layout
            if step.name.strip() or local_name(step.element) not in ALTERNATIVES:
                found.add(step.name)
        elif step.name in BREAKS:
            if step.kind == "begin":
                if attribute(step.element, "break") == "no":
                    found.join_word()
                else:
                    found.add(" ")
        elif step.name in BLOCKS and not _is_inline(step):
            found.end()
    return found.to_text()


def _find_readings(app: Any) -> list[Any]:
    """Return the readings of an apparatus, in groups or not, in order."""
    found, todo = [], [app]
    while todo:
        element = todo.pop()
        if element is app or local_name(element) == "rdgGrp":
            todo += reversed(element)
        elif local_name(element) in ("lem", "rdg"):
            found.append(element)
    return found


def _find_rejected(parent: Any, alternatives: list[Any]) -> list[Any]:
    """Return all alternatives except the one that is read: the original, or the first."""
    wanted = ("lem",) if local_name(parent) == "app" else ORIGINAL
    elements = [each for each in alternatives if local_name(each)]
    read = next((each for each in elements if local_name(each) in wanted), next(iter(elements), None))
    return [each for each in elements if each is not read]


class _WordSpaces:
    """Adds spaces between `w` elements if the edition has none."""

    def __init__(self, root: Any, found: Paragraphs) -> None:
        self.found = found
        self.needed = _lacks_spaces(root)
        self.last: Any = None  # the word or mark that has just ended

    def follow(self, step: Step) -> None:
        """Add a space if this step begins a word that needs one before it."""
        if not self.needed:
            return
        if step.kind == "text":
            if local_name(step.element) not in ALTERNATIVES:
                self.last = None
        elif step.name in ("w", "pc"):
            if step.kind == "begin" and self.last is not None and self._are_separate(self.last, step.element):
                self.found.add(" ")
            self.last = step.element if step.kind == "end" else None
        elif step.name in BREAKS or step.name in BLOCKS:
            self.last = None

    def _are_separate(self, one: Any, other: Any) -> bool:
        if attribute(one, "join") in ("right", "both") or attribute(other, "join") in ("left", "both"):
            return False
        if attribute(other, "part") in ("M", "F") or local_name(one.getparent()) == "w":
            return False
        opens = local_name(other) == "pc" and _is_opening(other)
        return (local_name(other) == "w" or opens) and (local_name(one) == "w" or _is_closing(one))


def _is_opening(mark: Any) -> bool:
    return unicodedata.category((mark.text or " ")[-1]) in ("Ps", "Pi")


def _is_closing(mark: Any) -> bool:
    """Return whether a space follows a mark; for straight quotes and dashes that is unknown."""
    last = (mark.text or " ")[-1]
    return last not in "\"'\u2019/@" and unicodedata.category(last) in ("Pe", "Pf", "Po")


def _lacks_spaces(root: Any) -> bool:
    """Return whether `w` elements mostly follow each other without a space."""
    joined = separate = 0
    for word in root.iter("{*}w"):
        edges = (word.text or "x")[0] + ((word.text or "x")[-1] if len(word) == 0 else "x") + (word.tail or "x")[0]
        following = word.getnext()
        if any(each.isspace() for each in edges) or local_name(following) == "c":
            separate += 1
        elif not word.tail and following is not None and local_name(following) not in ("pc", *BREAKS):
            joined += 1
    return joined > separate


def _is_inline(step: Step) -> bool:
    return step.name in INLINE and local_name(step.element.getparent()) in INLINE_IN
