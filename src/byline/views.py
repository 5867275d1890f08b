"""How texts are seen: normalised, with the topic masked or not, as numbers of an alphabet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from byline.alphabet import Alphabet, Symbols, count_characters, make_alphabet
from byline.documents import Document
from byline.errors import TooLittleText
from byline.languages import language_of_script
from byline.masking import MASK, frequent_words, mask_topic
from byline.normalise import normalise
from byline.settings import Mask, Settings, TextRules

SHORTEST = 12
"""A text needs this many characters after normalising: ten are skipped, and one is not a measurement."""


@dataclass(frozen=True)
class View:
    """What members with the same rules and mask see of a text, whichever texts it was learnt from."""

    language: str
    rules: TextRules
    mask: Mask
    alphabet: Alphabet
    frequent: frozenset[str] = frozenset()
    """The words that stay, where topic is masked."""

    def normal(self, text: str) -> str:
        """The text as members see it, but for characters outside the alphabet."""
        normal = normalise(text, self.language, self.rules)
        return mask_topic(normal, self.frequent) if self.mask == "topic" else normal

    def encode(self, text: str) -> Symbols:
        """The text as numbers; characters outside the alphabet are dropped."""
        return self.alphabet.encode(self.normal(text))


def learn_view(texts: Sequence[str], language: str, rules: TextRules, mask: Mask) -> View:
    """The view whose words and alphabet come from some texts; one that is there twice counts once."""
    normal = {normalise(text, language, rules) for text in texts}
    frequent = frequent_words(normal) if mask == "topic" else frozenset[str]()
    if mask == "topic":
        normal = {mask_topic(text, frequent) for text in normal}
    alphabet = make_alphabet(count_characters(normal), rules)
    if mask == "topic":  # later texts have masked words, though few words leave none here
        alphabet = Alphabet("".join(sorted({*alphabet.symbols, MASK})), rules)
    return View(language, rules, mask, alphabet, frequent)


class Library:
    """Texts of one language, seen by members of one kind, each normalised and encoded once."""

    def __init__(self, language: str, settings: Settings, learnt: Sequence[Document]) -> None:
        self.view = learn_view([d.text for d in learnt], language, settings.text_rules, settings.mask)
        self._normal: dict[str, str] = {}
        self._keys: dict[str, bytes] = {}

    @property
    def alphabet(self) -> Alphabet:
        """Of the texts that it was learnt from."""
        return self.view.alphabet

    def key(self, text: str) -> bytes:
        """The encoded text as bytes: what makes two texts the same, and what they are ordered by."""
        if text not in self._normal:
            self._normal[text] = self.view.normal(text)
        normal = self._normal[text]
        if normal not in self._keys:
            self._keys[normal] = self.alphabet.encode(normal).tobytes()
        return self._keys[normal]

    def length(self, text: str) -> int:
        """Characters that members see."""
        return len(self.key(text)) // np.dtype(np.int32).itemsize


def require_length(view: View, documents: Sequence[Document], lengths: Iterable[int]) -> None:
    """Refuse texts of which too little is left: they are short, or of other letters than all others."""
    short = [
        _why_short(view, document, length)
        for document, length in zip(documents, lengths, strict=True)
        if length < SHORTEST
    ]
    if short:
        raise TooLittleText("\n  ".join(short))


def _why_short(view: View, document: Document, length: int) -> str:
    own, usual = language_of_script(document.text), language_of_script(view.alphabet.symbols)
    whole = normalise(document.text, view.language, view.rules)
    if len(whole) >= SHORTEST and None not in (own, usual) and own != usual:
        return (
            f"{document.name}: written in another script ({own}) than the texts that it would be compared with"
            f" ({usual}); compare it with texts of its own language"
        )
    return (
        f"{document.name}: {length} characters after normalising, {SHORTEST} are needed;"
        " remove it or put more text in it"
    )
