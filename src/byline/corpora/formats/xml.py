"""Parse XML and HTML of unknown origin, within limits, and read TEI editions.

No entity is expanded that is not plain text, nothing is fetched, and trees are walked without recursion.

Of a TEI edition, the body is read as its author wrote it. Of a `choice`, the original (`sic`, `orig`, `abbr`) is read
rather than the editor's version (`corr`, `reg`, `expan`), or else the first alternative; of an apparatus, the `lem` or
the first `rdg`. The header, front and back matter, notes, running heads, names of speakers, deletions and the editor's
descriptions are left out.
"""

from __future__ import annotations

import html.entities
import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from byline.corpora.formats.encodings import decode
from byline.corpora.formats.extraction import (
    SPLIT,
    ExtractedText,
    Paragraphs,
    Unreadable,
    left_out,
    require_library,
)

MAX_DEPTH = 2_000  # elements within one another
MAX_ELEMENTS = 1_000_000
MAX_TAGS = 2_500_000
MAX_ATTRIBUTES = 1_000  # of a tag
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_OWN_ENTITY = re.compile(r"<!ENTITY\s+([A-Za-z][A-Za-z0-9]{1,31})\s")
_XML_ENTITIES = ("amp", "lt", "gt", "quot", "apos")
_DECLARED = re.compile(r"""<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_DECLARATION = re.compile(r"\s*<\?xml\s[^>]{0,300}\?>")
_TAG_BEGIN = re.compile(r"<(?:!--|/?([A-Za-z][^\s/>]*))")
_ATTRIBUTE = re.compile(r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?""")
_WITHOUT_TAGS = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))


class Step(NamedTuple):
    """A step on the way through a tree: an element begins or ends, or there is text."""

    kind: Literal["begin", "text", "end"]
    name: str
    """The name of the element without its namespace, or the text."""
    element: Any
    """The element, or the one that the text is in."""


def declared_encoding(data: bytes) -> str | None:
    """Return the encoding that an XML declaration states."""
    found = _DECLARED.match(data[:300].decode("latin-1").lstrip())
    return found[1] if found else None


def parse_xml(content: bytes | str) -> Any:
    """Return the root of a well-formed document."""
    etree = require_library("lxml.etree")
    if isinstance(content, str):
        content = _DECLARATION.sub("", content, count=1)
        own = frozenset((*_XML_ENTITIES, *_OWN_ENTITY.findall(content)))
        content = _ENTITY.sub(lambda found: _replace_entity(found, own), content)  # HTML's need no declaration
        content = content.encode("utf-8", "replace")
    _check_tag_count(content.count(b"<"))
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise Unreadable("no well-formed XML" + (f" (line {line})" if line else ""), "Repair it") from None


def parse_optional(content: bytes) -> Any:
    """Return the root of a part that is only needed for notes; None if it can't be parsed."""
    try:
        return parse_xml(content) if content else None
    except Unreadable:
        return None


def _replace_entity(found: re.Match[str], own: frozenset[str]) -> str:
    return found[0] if found[1] in own else html.entities.html5.get(found[1] + ";", found[0])


def parse_html(text: str) -> Any:
    """Return the root of a web page, well-formed or not; None if it is empty."""
    etree = require_library("lxml.etree")
    _check_tag_count(text.count("<"))
    _check_attribute_counts(text)
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        return etree.fromstring(text.replace("\0", "").encode("utf-8", "replace") or b" ", parser)
    except etree.XMLSyntaxError:
        return None


def _check_tag_count(tags: int) -> None:
    """Refuse a file that would take too much memory, before it is parsed."""
    if tags > MAX_TAGS:
        raise Unreadable(f"more than {MAX_TAGS:,} tags", SPLIT)


def _check_attribute_counts(page: str) -> None:
    """Refuse tags with very many attributes: parsing takes time that grows with the square of their number."""
    place = 0
    while found := _TAG_BEGIN.search(page, place):
        name, place = found[1], found.end()
        if name is None:  # a comment
            end = page.find("-->", place)
            place = len(page) if end < 0 else end
            continue
        count = 0
        while attribute := _ATTRIBUTE.match(page, place):
            place, count = attribute.end(), count + 1
            if count > MAX_ATTRIBUTES:
                raise Unreadable(f"a tag with more than {MAX_ATTRIBUTES:,} attributes", "Save its text as plain text")
        if name.lower() in _WITHOUT_TAGS and not found[0].startswith("</"):
            ended = re.compile(f"</{re.escape(name)}", re.IGNORECASE).search(page, place)
            place = len(page) if ended is None else ended.start()


def walk(root: Any, skipped_kind: Callable[[str, Any], str | None], left: dict[str, None]) -> Iterator[Step]:
    """Yield the elements and texts of a tree in order.

    Elements are left out if `skipped_kind` gives the name that a note has for them, or an empty string if they need no
    note. Names of those with text are added to `left`.
    """
    etree = require_library("lxml.etree")
    declared = _text_entities(root)
    nodes = etree.iterwalk(root, events=("start", "end"))
    silent: Any = None  # the entity or skipped element that has begun, whose end is no step
    depth = 0
    for count, (event, node) in enumerate(nodes):
        if count > 2 * MAX_ELEMENTS:
            raise Unreadable(f"more than {MAX_ELEMENTS:,} elements", SPLIT)
        if event == "start":
            depth += 1
            if depth > MAX_DEPTH + 1:
                raise Unreadable(f"its elements are nested more than {MAX_DEPTH:,} deep", "Simplify it")
            if node.tag is etree.Entity:
                silent = node
                meant = declared.get(node.name) or html.entities.html5.get(f"{node.name};", "")
                yield Step("text", meant, node.getparent())
            elif (kind := skipped_kind(name := local_name(node), node)) is not None:
                note_left_out(left, kind, node)
                silent = node
                nodes.skip_subtree()
            else:
                yield Step("begin", name, node)
                if node.text:
                    yield Step("text", node.text, node)
            continue
        depth -= 1
        if node is not silent:
            yield Step("end", local_name(node), node)
        if node.tail and node is not root:
            yield Step("text", node.tail, node.getparent())


def _text_entities(root: Any) -> dict[str, str]:
    """Return the entities that a document declares as plain text; others stay unknown."""
    table = root.getroottree().docinfo.internalDTD
    found = {} if table is None else {entity.name: entity.content or "" for entity in table.iterentities()}
    return {name: text for name, text in found.items() if "&" not in text and "<" not in text}


def has_text(element: Any) -> bool:
    """Return whether an element contains more than white space."""
    return any(text.strip() for text in element.itertext())


def note_left_out(left: dict[str, None], kind: str, element: Any) -> None:
    """Add the kind of a skipped element to those that notes name, if there is text in it."""
    if kind and kind not in left and has_text(element):
        left[kind] = None


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace; an empty string for None, comments and entities."""
    return element.tag.rpartition("}")[2] if element is not None and isinstance(element.tag, str) else ""


def attribute(element: Any, name: str) -> str:
    """Return an attribute by its name without namespace, or an empty string."""
    plain = element.get(name)
    if plain is not None:
        return str(plain)
    endings = ("}" + name, ":" + name)
    return next((str(value) for key, value in element.items() if key.endswith(endings)), "")


# Elements of TEI that are left out, with the name that a note gives them, if it names them.
TEI_SKIPPED = {
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
TEI_BLOCKS = frozenset((
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

    def skipped_kind(name: str, element: Any) -> str | None:
        if element in rejected:
            return TEI_SKIPPED.get(name) or ("the editor's changes" if name in EDITORIAL else "other readings")
        if name in ("app", "choice"):
            rejected.update(_find_rejected(element, _find_readings(element) if name == "app" else list(element)))
        return TEI_SKIPPED.get(name)

    for step in walk(root, skipped_kind, left):
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
        elif step.name in TEI_BLOCKS and not _is_inline(step):
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
        elif step.name in BREAKS or step.name in TEI_BLOCKS:
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
