"""XML and HTML as trees: no entity is expanded, nothing is fetched, and a tree is walked without recursion."""

from __future__ import annotations

import html.entities
import re
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

from byline.formats.reading import Unreadable, require_library
from byline.formats.tags import check_tags

DEEPEST = 2_000
"""Elements within one another."""
MOST_ELEMENTS = 1_000_000
"""That are looked into."""
MOST_TAGS = 2_500_000
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_OWN = re.compile(r"<!ENTITY\s+([A-Za-z][A-Za-z0-9]{1,31})\s")
_XML = ("amp", "lt", "gt", "quot", "apos")
_DECLARED = re.compile(r"""<\?xml\s[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})["']""")
_DECLARATION = re.compile(r"\s*<\?xml\s[^>]{0,300}\?>")


class Step(NamedTuple):
    """A thing met on the way through a tree: an element begins or ends, or there is text."""

    kind: Literal["begin", "text", "end"]
    name: str
    """Of the element, without its namespace; of text, the text."""
    element: Any
    """Of text, the one that it stands in."""


def declared_encoding(data: bytes) -> str | None:
    """What an XML declaration says."""
    found = _DECLARED.match(data[:300].decode("latin-1").lstrip())
    return found[1] if found else None


def parse_xml(content: bytes | str) -> Any:
    """The root of a well-formed document."""
    etree = require_library("lxml.etree")
    if isinstance(content, str):
        content = _DECLARATION.sub("", content, count=1)
        own = frozenset((*_XML, *_OWN.findall(content)))
        content = _ENTITY.sub(lambda found: _spell_out(found, own), content)  # what web pages know needs no declaration
        content = content.encode("utf-8", "replace")
    _require_few(content.count(b"<"))
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        return etree.fromstring(content, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f" (line {line})" if line else ""
        raise Unreadable(f"no well-formed XML{where}; repair it") from None


def parse_lightly(content: bytes) -> Any:
    """The root of what is only looked at for what to note; None where it can't be read."""
    try:
        return parse_xml(content) if content else None
    except Unreadable:
        return None


def _require_few(tags: int) -> None:
    """Refuse what would take a lot of memory before it takes it."""
    if tags > MOST_TAGS:
        raise Unreadable(f"more than {MOST_TAGS:,} tags; split it")


def _spell_out(found: re.Match[str], own: frozenset[str]) -> str:
    if found[1] in own:
        return found[0]
    return html.entities.html5.get(found[1] + ";", found[0])


def parse_html(text: str) -> Any:
    """The root of a web page, however it is written; None where there is nothing."""
    etree = require_library("lxml.etree")
    _require_few(text.count("<"))
    check_tags(text)
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        return etree.fromstring(text.replace("\0", "").encode("utf-8", "replace") or b" ", parser)
    except etree.XMLSyntaxError:
        return None


def walk(root: Any, passes_over: Callable[[str, Any], bool]) -> Iterator[Step]:
    """All that a tree holds, in order, but for the elements, by name, that are passed over with all that is in them."""
    etree = require_library("lxml.etree")
    declared = _simple_entities(root)
    node, depth, count = root, 0, 0
    while True:
        inner = None
        count += 1
        if count > MOST_ELEMENTS:
            raise Unreadable(f"more than {MOST_ELEMENTS:,} elements; split it")
        if node.tag is etree.Entity:
            meant = declared.get(node.name) or html.entities.html5.get(f"{node.name};", "")
            yield Step("text", meant, node.getparent())
        elif isinstance(node.tag, str) and not passes_over(name := node.tag.rpartition("}")[2], node):
            yield Step("begin", name, node)
            if node.text:
                yield Step("text", node.text, node)
            inner = next(node.iterchildren(), None)
            if inner is None:
                yield Step("end", name, node)
        if inner is not None:
            node, depth = inner, depth + 1
            if depth > DEEPEST:
                raise Unreadable(f"its elements are nested more than {DEEPEST:,} deep; simplify it")
            continue
        while node is not root:  # on to the next, or up to where there is one
            outer = node.getparent()
            if node.tail:
                yield Step("text", node.tail, outer)
            following = node.getnext()
            if following is not None:
                node = following
                break
            node, depth = outer, depth - 1
            yield Step("end", node.tag.rpartition("}")[2], node)
        else:
            return


def has_text(element: Any) -> bool:
    """Whether there is anything to read in an element."""
    return any(text.strip() for text in element.itertext())


def _simple_entities(root: Any) -> dict[str, str]:
    """The entities that a document declares as plain text; others stay unknown."""
    table = root.getroottree().docinfo.internalDTD
    found = {} if table is None else {entity.name: entity.content or "" for entity in table.iterentities()}
    return {name: text for name, text in found.items() if "&" not in text and "<" not in text}


def attribute(element: Any, name: str) -> str:
    """An attribute by its name without namespace, or nothing."""
    plain = element.get(name)
    if plain is not None:
        return str(plain)
    endings = ("}" + name, ":" + name)
    return next((str(value) for key, value in element.items() if key.endswith(endings)), "")
