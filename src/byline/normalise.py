"""Unicode text -> the small character set that the model reads (section 2.1 of the paper).

The steps, in the paper's order: NFKD; capitals become a marker and a small letter; characters that mean the same
are mapped together; white space becomes single spaces. The rare characters go next (alphabet.py), and runs of
more than five are cut last.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Mapping

from byline.languages import FOREIGN, script_of
from byline.settings import TextRules

CAPITAL = "\u00b9"  # ¹ before a small letter; NFKD turns a ¹ of the text itself into a digit, so the two never meet
LONGEST_RUN = 5

# Spacing accents that people type for an apostrophe. NFKD would take them apart into a space and an accent.
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
    """What each code point of NFKD text becomes; filled as code points are met."""

    def __init__(self, language: str, rules: TextRules) -> None:
        self.foreign = FOREIGN.get(language, {})
        self.rules = rules

    def __missing__(self, code: int) -> str:
        self[code] = image = self._image(chr(code))
        return image

    def _image(self, character: str) -> str:
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
def images(language: str, rules: TextRules) -> Mapping[int, str]:
    """What each code point of NFKD text becomes."""
    return _Table(language, rules)


# Unicode's stream-safe limit: more combining marks in a row than this mean nothing, and would take NFKD very long.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
)
MOST_MARKS = 30
TOO_MANY_MARKS = re.compile(f"([{_MARKS}]{{{MOST_MARKS}}})[{_MARKS}]+")

# An accent on a letter that is folded away goes with it, so that a foreign word is one run.
LATIN_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
RUNS: dict[TextRules, re.Pattern[str]] = {
    "paper": re.compile(rf"(.)\1{{{LONGEST_RUN},}}", re.DOTALL),
    "scripts": re.compile(rf"([^\W_])\1{{{LONGEST_RUN},}}"),
}


def normalise(text: str, language: str = "", rules: TextRules = "paper") -> str:
    """The text in NFKD with capitals marked, equivalent characters mapped together and white space single."""
    text = unicodedata.normalize("NFKD", TOO_MANY_MARKS.sub(r"\1", text.translate(BEFORE_NFKD)))
    if language in FOREIGN:
        text = LATIN_ACCENTS.sub("", text)
    return single_spaces(text.translate(images(language, rules)), rules)


def single_spaces(text: str, rules: TextRules = "paper") -> str:
    """White space at the ends gone and, by the paper's rules, runs of it collapsed into one space."""
    return " ".join(text.split()) if rules == "paper" else text.strip()


def cut_runs(text: str, rules: TextRules = "paper") -> str:
    """The text with runs of more than five identical characters cut to five."""
    return RUNS[rules].sub(lambda run: run[1] * LONGEST_RUN, text)
