"""Tokens of normalized text: words, numbers and punctuation marks, and the sentences that they form.

Words are those that topic masking sees. In scripts without spaces each character is a word.
"""

from __future__ import annotations

import functools
import re

from byline.text.normalize import CAPITAL, MASK, WORD

NUMBER = "7"
"""The token of every number: digits are 7 in normalized text."""

PLAIN, CAPITALIZED = "x", "X"
"""The symbols of words between punctuation marks."""

# A masked word is one token whatever its length; a mark keeps its accents.
_TOKEN = re.compile(
    rf"(?:{CAPITAL}?\{MASK})+|{NUMBER}+(?:[.,:]{NUMBER}+)*|{WORD.pattern}|[^\s{CAPITAL}][\u0300-\u036f]*"
)
_BETWEEN = re.compile(rf"{NUMBER}+|{WORD.pattern}|\s+|[^\s{CAPITAL}]")
_ENDS = re.compile(
    "[.!?;"
    "\u3002"  # Chinese and Japanese
    "\u0964\u0965"  # Devanagari
    "\u061b\u061f\u06d4"  # Arabic and Urdu
    "\u0589\u055c\u055e"  # Armenian
    "\u1362\u1367\u1368"  # Ethiopic
    "\u17d4\u17d5"  # Khmer
    "\u104b"  # Burmese
    "\u0f0d\u0f0e"  # Tibetan
    "\u203d\u2026]"
)


def split_tokens(text: str) -> list[str]:
    """Return the tokens of normalized text, in lower case; all numbers are one token, and all masked words."""
    return [_token(found) for found in _TOKEN.findall(text)]


def split_punctuation(text: str) -> list[str]:
    """Return the marks and spaces of normalized text, with a symbol for each word, capitalized word and number."""
    return [_symbol(found) for found in _BETWEEN.findall(text)]


def split_sentences(text: str) -> list[list[str]]:
    """Return the tokens of each sentence of normalized text.

    A sentence ends with the line, or with the last of one or more marks that end sentences.
    """
    sentences: list[list[str]] = []
    for line in text.split("\n"):
        sentence: list[str] = []
        for token in split_tokens(line):
            if sentence and _ENDS.fullmatch(sentence[-1]) and not _ENDS.fullmatch(token):
                sentences.append(sentence)
                sentence = []
            sentence.append(token)
        if sentence:
            sentences.append(sentence)
    return sentences


def _token(found: str) -> str:
    if MASK in found:
        return MASK
    return NUMBER if found.startswith(NUMBER) else found.replace(CAPITAL, "")


@functools.lru_cache(10_000)  # texts repeat their words
def _symbol(found: str) -> str:
    if WORD.match(found):
        return CAPITALIZED if found.startswith(CAPITAL) else PLAIN
    return NUMBER if found.startswith(NUMBER) else found
