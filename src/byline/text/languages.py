"""Languages: their names, scripts and frequent words, and the language that a text is written in."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter
from functools import cache
from importlib.resources import files

# Names and codes in use -> Byline's name.
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


def language_of(name: str) -> str:
    """Return Byline's name for a language, such as `dutch` for `NL`; other names in lower case."""
    word = name.strip().lower()
    return NAMES.get(word, word)


def language_of_id(problem_id: str) -> str | None:
    """Return the language that the letters of a PAN id stand for, or None."""
    match = _ID.fullmatch(problem_id)
    return ID_LETTERS.get(match[1].upper()) if match else None


# Scripts that occur together in one language.
_ONE_SCRIPT = {"HIRAGANA": "CJK", "KATAKANA": "CJK", "KATAKANA-HIRAGANA": "CJK"}


def language_of_script(*texts: str) -> str | None:
    """Return the script of most letters at the beginning of the texts (for Greek, that is the language), or None."""
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
    """Return the first word of a character's Unicode name (LATIN, GREEK, CYRILLIC ...), or an empty string."""
    return unicodedata.name(character, "").partition(" ")[0]


WORDS: dict[str, str] = tomllib.loads((files("byline.text") / "frequent_words.toml").read_text("utf-8"))
"""The most frequent words of each language."""
MAX_CHARACTERS = 5_000
"""Only the beginning of a text is examined."""
MIN_WORDS = 50
MIN_SHARE = 0.2
"""Least share of a text's words that are in the list of its language."""
OWN_FACTOR, OWN_MARGIN = 3, 5
"""A text must have more words that only its language's list has than words that only another's has: at least this
many times as many, plus a margin."""

_WORD = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> str | None:
    """Return the language of a text, or None if that is not evident."""
    words = _WORD.findall(unicodedata.normalize("NFC", text[:MAX_CHARACTERS]).lower())
    if len(words) < MIN_WORDS:
        return None
    listed = [(found, count) for word, count in Counter(words).items() if (found := _languages_by_word().get(word))]

    def count_own(one: str, other: str | None = None) -> int:
        return sum(count for languages, count in listed if one in languages and other not in languages)

    first = max(WORDS, key=count_own)
    if count_own(first) < MIN_SHARE * len(words):
        return None
    others = (name for name in WORDS if name != first)
    evident = all(count_own(first, other) >= OWN_FACTOR * count_own(other, first) + OWN_MARGIN for other in others)
    return first if evident else None


@cache
def _languages_by_word() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for name, words in WORDS.items():
        for word in words.split():
            found.setdefault(word, set()).add(name)
    return found
