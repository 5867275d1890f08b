"""How texts are seen: normalised, with the topic masked or not, as numbers of an alphabet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from byline.alphabet import Alphabet, Symbols, count_characters, make_alphabet
from byline.masking import MASK, frequent_words, mask_topic
from byline.normalise import normalise
from byline.settings import Mask, TextRules


@dataclass(frozen=True)
class View:
    """What members with the same rules and mask see of a text, whichever texts it was learnt from."""

    language: str
    rules: TextRules
    mask: Mask
    alphabet: Alphabet
    frequent: frozenset[str] = frozenset()
    """The words that stay, where topic is masked."""

    def encode(self, text: str) -> Symbols:
        """The text as numbers; characters outside the alphabet are dropped."""
        normal = normalise(text, self.language, self.rules)
        return self.alphabet.encode(mask_topic(normal, self.frequent) if self.mask == "topic" else normal)


def learn_view(texts: Sequence[str], language: str, rules: TextRules, mask: Mask) -> View:
    """The view whose words and alphabet come from some texts."""
    normal = {normalise(text, language, rules) for text in texts}
    frequent = frequent_words(normal) if mask == "topic" else frozenset[str]()
    if mask == "topic":
        normal = {mask_topic(text, frequent) for text in normal}
    alphabet = make_alphabet(count_characters(normal), rules)
    if mask == "topic":  # later texts have masked words, though few words leave none here
        alphabet = Alphabet("".join(sorted({*alphabet.symbols, MASK})), rules)
    return View(language, rules, mask, alphabet, frequent)
