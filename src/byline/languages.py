"""Languages: their names, how an id or a script gives one away, and which fold foreign letters together."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

# What people and files call them.
NAMES = {
    "dutch": "dutch", "nl": "dutch", "du": "dutch", "nederlands": "dutch",
    "english": "english", "en": "english",
    "greek": "greek", "gr": "greek", "el": "greek",
    "spanish": "spanish", "es": "spanish", "sp": "spanish",
}  # fmt: skip

# The two letters before the digits of a PAN problem's id.
ID_LETTERS = {
    "DU": "dutch", "DE": "dutch", "DR": "dutch",
    "EN": "english", "EE": "english",
    "GR": "greek",
    "SP": "spanish",
}  # fmt: skip

# Languages in which the letters of a foreign script all become one letter (section 2.1): script -> letter.
# An s resembles neither a Greek nor a Cyrillic letter.
FOREIGN: dict[str, dict[str, str]] = {
    "greek": {"LATIN": "s"},
    "cyrillic": {"LATIN": "s"},
}

_ID = re.compile(r"([A-Za-z]{2})[-_]?\d+")


def language_of(named: str) -> str:
    """The one name that Byline uses for a language, however it was written; unknown names stay as they are."""
    word = named.strip().lower()
    return NAMES.get(word, word)


def language_of_id(problem_id: str) -> str | None:
    """The language that a PAN id's letters stand for, or None."""
    match = _ID.fullmatch(problem_id)
    return ID_LETTERS.get(match[1].upper()) if match else None


# Scripts that are written together count as one.
_ONE_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}


def language_of_script(*texts: str) -> str | None:
    """The script that most letters of the texts' beginnings belong to, which for Greek is the language too, or None."""
    characters: Counter[str] = Counter()
    for text in texts:
        characters.update(text[:20_000])
    scripts: Counter[str] = Counter()
    for character, count in characters.items():
        if character.isalpha():
            script = script_of(character)
            scripts[_ONE_SCRIPT.get(script, script)] += count
    return min(scripts, key=lambda script: (-scripts[script], script)).lower() if scripts else None


def script_of(character: str) -> str:
    """The first word of a character's Unicode name: LATIN, GREEK, CYRILLIC ..., or an empty string."""
    return unicodedata.name(character, "").partition(" ")[0]
