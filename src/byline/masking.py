"""Topic masked: words that are not among the most frequent ones become asterisks, so that content counts less.

No tagger and no list of words is needed: function words are the most frequent ones in every language. What stays of a
masked word is its capital and its length, up to where runs are cut; punctuation, digits and spaces stay.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from byline.normalise import CAPITAL

FREQUENT = 300
"""How many different words stay."""
MASK = "*"

# Scripts that don't part words: Thai, Lao, Khmer, Burmese, kana, Chinese characters. There a character is a word.
UNPARTED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
WORD = re.compile(rf"[{UNPARTED}][\u0300-\u036f]*|(?:{CAPITAL}?[^\W\d_{CAPITAL}{UNPARTED}][\u0300-\u036f]*)+")
LETTER = re.compile(rf"[^{CAPITAL}\u0300-\u036f][\u0300-\u036f]*")


def frequent_words(texts: Iterable[str], count: int = FREQUENT) -> frozenset[str]:
    """The words that occur in most of the normalised texts; equally many are told apart by their letters."""
    found: Counter[str] = Counter()
    for text in texts:
        found.update({_plain(word) for word in WORD.findall(text)})
    ordered = sorted(found, key=lambda word: (-found[word], word))
    return frozenset(ordered[:count])


def mask_topic(text: str, frequent: frozenset[str]) -> str:
    """Normalised text with the letters of all other words replaced."""
    return WORD.sub(lambda match: match[0] if stays(match[0], frequent) else LETTER.sub(MASK, match[0]), text)


def stays(word: str, frequent: frozenset[str]) -> bool:
    """Whether a word is not masked, be it with a capital."""
    return _plain(word) in frequent


def _plain(word: str) -> str:
    return word.replace(CAPITAL, "")
