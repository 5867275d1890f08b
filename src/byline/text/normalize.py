"""Normalization: Unicode text becomes the small character set that the model reads (section 2.1 of the paper).

The steps, in the paper's order: NFKD; capitals become a marker and a small letter; characters with the same meaning
are mapped together; white space becomes single spaces. Rare characters are dropped next (encoder.py), and runs of
more than five are cut last. Topic masking replaces words that are not frequent by asterisks.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from byline.text.languages import FOREIGN, script_of

TextRules = Literal["paper", "scripts"]

CAPITAL = "\u00b9"  # ¹ before a small letter; NFKD turns a ¹ of the text itself into a digit
LONGEST_RUN = 5

# Spacing accents typed as apostrophes. NFKD would turn them into a space and an accent.
BEFORE_NFKD = str.maketrans({"\u00b4": "'", "\u0384": "'", "\u1fbd": "'", "\u1ffd": "'", "\u02bc": "'"})

_SAME = {
    **dict.fromkeys("'‘’‚‛′`", "'"),
    **dict.fromkeys('"“”„‟″', '"'),
    **dict.fromkeys("–—―", "—"),
    **dict.fromkeys("‐‑", "-"),
    **dict.fromkeys("[{", "("),
    **dict.fromkeys("]}", ")"),
    "…": "...",
}
_DROPPED = frozenset("\ufeff\u00ad\r\v\f\u0085\u2028\\_+")


class _Table(dict[int, str]):
    """A table for str.translate on NFKD text, filled as characters occur."""

    def __init__(self, language: str, rules: TextRules) -> None:
        self.foreign = FOREIGN.get(language, {})
        self.rules = rules

    def __missing__(self, code: int) -> str:
        self[code] = replacement = self._replacement(chr(code))
        return replacement

    def _replacement(self, character: str) -> str:
        if character in _SAME:
            return _SAME[character]
        if character in _DROPPED:
            return ""
        if character.isspace():
            return self._space(character)
        category = unicodedata.category(character)
        if category in ("Cc", "Cf", "Cs"):  # controls, invisible marks, lone surrogates
            return ""
        if category == "Nd":
            return "7"
        if character.isalpha() and (folded := self.foreign.get(script_of(character))):
            return CAPITAL + folded if character.isupper() else folded
        if character.isupper() or character.istitle():
            return CAPITAL + character.lower()
        return character

    def _space(self, character: str) -> str:
        if self.rules == "scripts":
            return {"\n": "\n", "\t": "  "}.get(character, " ")
        return " "


@functools.cache
def character_table(language: str, rules: TextRules) -> Mapping[int, str]:
    """Return the table that maps each code point of NFKD text to its replacement."""
    return _Table(language, rules)


# Unicode's stream-safe limit. More combining marks in a row have no meaning, and NFKD would take very long.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
MOST_MARKS = 30
TOO_MANY_MARKS = re.compile(f"([{_MARKS}]{{{MOST_MARKS}}})[{_MARKS}]+")

# Accents of folded letters are dropped, so that a foreign word is one run.
LATIN_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
RUNS: dict[TextRules, re.Pattern[str]] = {
    "paper": re.compile(rf"(.)\1{{{LONGEST_RUN},}}", re.DOTALL),
    "scripts": re.compile(rf"([^\W_])\1{{{LONGEST_RUN},}}"),
}


def normalize(text: str, language: str = "", rules: TextRules = "paper") -> str:
    """Return the text in NFKD with capitals marked, equivalent characters mapped to one and single spaces."""
    text = unicodedata.normalize("NFKD", TOO_MANY_MARKS.sub(r"\1", text.translate(BEFORE_NFKD)))
    if language in FOREIGN:
        text = LATIN_ACCENTS.sub("", text)
    return single_spaces(text.translate(character_table(language, rules)), rules)


def single_spaces(text: str, rules: TextRules = "paper") -> str:
    """Strip white space at the ends and, by the paper's rules, collapse it within the text."""
    return " ".join(text.split()) if rules == "paper" else text.strip()


def cut_runs(text: str, rules: TextRules = "paper") -> str:
    """Cut runs of more than five identical characters to five."""
    return RUNS[rules].sub(lambda run: run[1] * LONGEST_RUN, text)


Mask = Literal["none", "topic"]

FREQUENT = 300
"""Number of different words that are kept."""
MASK = "*"

# Scripts without spaces between words: Thai, Lao, Khmer, Burmese, kana, Chinese. There each character is a word.
UNSEGMENTED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{UNSEGMENTED}][\u0300-\u036f]*|(?:{CAPITAL}?[^\W\d_{CAPITAL}{UNSEGMENTED}][\u0300-\u036f]*)+")
LETTER = re.compile(rf"[^{CAPITAL}\u0300-\u036f][\u0300-\u036f]*")


def frequent_words(texts: Iterable[str], count: int = FREQUENT) -> frozenset[str]:
    """Return the words that occur in most of the normalized texts; ties are broken alphabetically."""
    found: Counter[str] = Counter()
    for text in texts:
        found.update({_without_capitals(word) for word in WORD.findall(text)})
    ordered = sorted(found, key=lambda word: (-found[word], word))
    return frozenset(ordered[:count])


def mask_topic(text: str, frequent: frozenset[str]) -> str:
    """Replace the letters of all but the frequent words of normalized text."""
    return WORD.sub(lambda match: _mask_word(match[0], frequent), text)


@functools.lru_cache(10_000)  # texts repeat their words
def _mask_word(word: str, frequent: frozenset[str]) -> str:
    return word if is_kept(word, frequent) else LETTER.sub(MASK, word)


def is_kept(word: str, frequent: frozenset[str]) -> bool:
    """Whether a word is not masked, with or without capitals."""
    return _without_capitals(word) in frequent


def _without_capitals(word: str) -> str:
    return word.replace(CAPITAL, "")
