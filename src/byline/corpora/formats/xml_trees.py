"""Parse XML and HTML of unknown origin: expand no entities, fetch nothing, and walk trees without recursion."""

from __future__ import annotations

import html.entities
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from byline.corpora.formats.extraction import SPLIT, Unreadable, require_library

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


def walk(root: Any, skips: Callable[[str, Any], bool]) -> Iterator[Step]:
    """Yield the elements and texts of a tree in order, without the elements that `skips` is true of."""
    etree = require_library("lxml.etree")
    declared = _text_entities(root)
    node, depth, count = root, 0, 0
    while True:
        inner = None
        count += 1
        if count > MAX_ELEMENTS:
            raise Unreadable(f"more than {MAX_ELEMENTS:,} elements", SPLIT)
        if node.tag is etree.Entity:
            meant = declared.get(node.name) or html.entities.html5.get(f"{node.name};", "")
            yield Step("text", meant, node.getparent())
        elif isinstance(node.tag, str) and not skips(name := local_name(node), node):
            yield Step("begin", name, node)
            if node.text:
                yield Step("text", node.text, node)
            inner = next(node.iterchildren(), None)
            if inner is None:
                yield Step("end", name, node)
        if inner is not None:
            node, depth = inner, depth + 1
            if depth > MAX_DEPTH:
                raise Unreadable(f"its elements are nested more than {MAX_DEPTH:,} deep", "Simplify it")
            continue
        while node is not root:  # to the next element, or up to one that has a next
            outer = node.getparent()
            if node.tail:
                yield Step("text", node.tail, outer)
            following = node.getnext()
            if following is not None:
                node = following
                break
            node, depth = outer, depth - 1
            yield Step("end", local_name(node), node)
        else:
            return


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
