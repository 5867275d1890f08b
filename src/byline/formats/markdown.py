"""Markdown -> text, by way of the page that it stands for; front matter and footnotes are left out."""

from __future__ import annotations

from byline.formats.encodings import decode
from byline.formats.reading import Reading, Unreadable, hushed, require_library
from byline.formats.webpage import read_markup

LARGEST_MARKDOWN = 5_000_000
"""Characters: if all are line ends and the like, it takes minutes."""


def read_markdown(data: bytes, encoding: str | None = None) -> Reading:
    """The text of a Markdown file."""
    text, guesses = decode(data, None, encoding)
    if len(text) > LARGEST_MARKDOWN:
        raise Unreadable(f"more than {LARGEST_MARKDOWN // 1_000_000} million characters of Markdown; split it")
    parser = require_library("markdown_it").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    parser.use(require_library("mdit_py_plugins.front_matter").front_matter_plugin)
    parser.use(require_library("mdit_py_plugins.footnote").footnote_plugin)
    try:
        with hushed("markdown_it"):
            page = parser.render(text)
    except RecursionError:
        raise Unreadable("nested too deep; simplify it") from None
    return read_markup(page, guesses)
