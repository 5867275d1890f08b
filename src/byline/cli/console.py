"""What the commands share: results to stdout, progress to stderr and only on a terminal."""

from __future__ import annotations

import json
import sys
import unicodedata
from typing import Any

from rich.console import Console
from rich.text import Text

from byline.errors import printable as printable
from byline.text.languages import NAMES


class PlainConsole(Console):
    """One that shows what names and texts hold, and obeys none of it."""

    def render_str(self, text: str, **more: Any) -> Text:
        """A string with nothing but line ends and tabs that moves a cursor."""
        safe = "".join(letter if letter in "\n\t" else printable(letter) for letter in text)
        return super().render_str(text if text.isprintable() else safe, **more)


def out() -> Console:
    """The console for results: plain text, for ids and names may hold anything; 100 columns where it is no terminal."""
    terminal = sys.stdout.isatty()
    return PlainConsole(
        highlight=False, markup=False, emoji=False, soft_wrap=not terminal, width=None if terminal else 100
    )


def print_json(value: object) -> None:
    """One JSON value on stdout, in ASCII: texts and ids may hold anything."""
    print(json.dumps(value, indent=2))


def language_title(language: str) -> str:
    """A language's name, or, where only its script is known, that."""
    name = language.capitalize()
    return name if language in NAMES.values() else f"{name} script"


def count_of(number: int, noun: str) -> str:
    """A number and its noun, in the plural where it is due."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def answer_bar(answer: float, width: int = 20) -> str:
    """An answer from 0 to 1 as a dot on a line whose middle is 0.5."""
    cells = ["·"] * (width + 1)
    cells[width // 2] = "|"
    cells[round(answer * width)] = "●"
    return "".join(cells)


def visible(character: str) -> str:
    """A character as something that can be seen in a table: accents on a ring, white space by name."""
    names = {" ": "space", "\n": "newline"}
    if character in names:
        return names[character]
    if unicodedata.combining(character):
        return f"\u25cc{character}"
    return character if character.isprintable() else f"U+{ord(character):04X}"
