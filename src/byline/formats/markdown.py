"""Markdown -> text, by way of the page that it stands for; front matter and footnotes are left out."""

from __future__ import annotations

import re
from dataclasses import replace

from byline.formats.encodings import decode
from byline.formats.reading import Reading, Unreadable, hushed, left_out, require_library
from byline.formats.webpage import read_markup

LARGEST_MARKDOWN = 5_000_000
"""Characters: if all are line ends and the like, it takes minutes."""
_FIRST = re.compile(r"""["']?[\w.-]{1,40}["']?\s?:(?:\s|$)""")
_MATTER = re.compile(r"""["']?[\w.-]{1,40}(?: [\w.-]{1,40}){0,3}["']?\s?:(?:\s|$)|[ \t]|- |-$|#|[\]}],?\s*$""")


def read_markdown(data: bytes, encoding: str | None = None) -> Reading:
    """The text of a Markdown file."""
    text, guesses = decode(data, None, encoding)
    if len(text) > LARGEST_MARKDOWN:
        raise Unreadable(f"more than {LARGEST_MARKDOWN // 1_000_000} million characters of Markdown; split it")
    rest = _without_matter(text)
    parser = require_library("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(require_library("mdit_py_plugins.footnote").footnote_plugin)
    try:
        with hushed("markdown_it"):
            parts: dict[str, object] = {}
            tokens = parser.parse(rest, parts)
            page = parser.renderer.render(tokens, parser.options, parts)
    except RecursionError:
        raise Unreadable("nested too deep; simplify it") from None
    found = read_markup(page, guesses, whole=True)
    return replace(found, notes=(*left_out(["front matter"] if rest != text else []), *found.notes))


def _without_matter(text: str) -> str:
    """The text after its front matter: YAML between two rules. Prose between two rules is none."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return text
    end = next((n for n, line in enumerate(lines[1:], start=1) if line.rstrip() in ("---", "...")), 0)
    if end < 2 or not _FIRST.match(lines[1]):
        return text
    if all(_MATTER.match(line) or not line.strip() for line in lines[1:end]):
        return "\n".join(lines[end + 1 :])
    return text
