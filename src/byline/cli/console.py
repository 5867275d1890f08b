"""Printing that the commands share: plain text, tables and JSON on stdout."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Container
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from byline.errors import printable as printable
from byline.text.languages import NAMES

UNBOUNDED = 100_000
"""The width of tables that are not shown on a terminal."""


class PlainConsole(Console):
    """A console that shows control characters in names and texts instead of obeying them."""

    def render_str(self, text: str, **more: Any) -> Text:
        """Escape all characters that move a cursor, except line ends and tabs."""
        safe = "".join(letter if letter in "\n\t" else printable(letter) for letter in text)
        return super().render_str(text if text.isprintable() else safe, **more)


def out() -> Console:
    """Return the console for results: no markup, since ids and names may hold anything; 100 columns in a file."""
    terminal = sys.stdout.isatty()
    return PlainConsole(
        highlight=False, markup=False, emoji=False, soft_wrap=not terminal, width=None if terminal else 100
    )


def make_table(*headings: str, right: Container[str] = (), header: bool = True) -> Table:
    """Return a table without lines. The columns named in `right` hold numbers; the others fold long words."""
    table = Table(box=None, header_style="bold", pad_edge=False, show_header=header)
    for heading in headings:
        number = heading in right
        table.add_column(heading, justify="right" if number else "left", no_wrap=number, overflow="fold")
    return table


def print_table(table: Table) -> None:
    """Print a table as wide as the terminal, or unfolded if stdout is no terminal."""
    console = out()
    if not sys.stdout.isatty():
        console.width = UNBOUNDED
    console.print(table)


def print_line(line: str) -> None:
    """Print a line that the terminal may wrap but that is copied as one, such as one with a command in it."""
    out().print(printable(line), soft_wrap=True)


def print_json(value: object) -> None:
    """Print one JSON value, in ASCII, since texts and ids may hold anything."""
    print(json.dumps(value, indent=2))


def language_title(language: str) -> str:
    """Return the name of a language, or of its script if only that is known."""
    name = language.capitalize()
    return name if language in NAMES.values() else f"{name} script"


def count_of(number: int, noun: str) -> str:
    """Return a number and its noun, in the plural unless the number is 1."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def answer_bar(answer: float, width: int) -> str:
    """Draw an answer from 0 to 1 as a dot on a line whose middle is 0.5."""
    cells = ["·"] * (width + 1)
    cells[width // 2] = "|"
    cells[round(answer * width)] = "●"
    return "".join(cells)


def visible(character: str) -> str:
    """Return a visible form of a character: accents on a ring, white space by name."""
    names = {" ": "space", "\n": "newline"}
    if character in names:
        return names[character]
    if unicodedata.combining(character):
        return f"\u25cc{character}"
    return character if character.isprintable() else f"U+{ord(character):04X}"
