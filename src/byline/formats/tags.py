"""How many attributes the tags of a web page have: parsing takes the square of that."""

from __future__ import annotations

import re

from byline.formats.reading import Unreadable

MOST_ATTRIBUTES = 1_000
_BEGIN = re.compile(r"<(?:!--|/?([A-Za-z][^\s/>]*))")
_ATTRIBUTE = re.compile(r"""[\s/]*+[^\s/>][^\s/>=]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?""")
RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
"""Elements that hold no tags."""


def check_tags(page: str) -> None:
    """Refuse a page that no honest program wrote."""
    place = 0
    while found := _BEGIN.search(page, place):
        name, place = found[1], found.end()
        if name is None:  # a comment
            end = page.find("-->", place)
            place = len(page) if end < 0 else end
            continue
        count = 0
        while attribute := _ATTRIBUTE.match(page, place):
            place, count = attribute.end(), count + 1
            if count > MOST_ATTRIBUTES:
                raise Unreadable(f"a tag with more than {MOST_ATTRIBUTES:,} attributes; save its text as plain text")
        if name.lower() in RAW and not found[0].startswith("</"):
            ended = re.compile(f"</{re.escape(name)}", re.IGNORECASE).search(page, place)
            place = len(page) if ended is None else ended.start()
