"""Texts of one language, normalized and encoded once, and the roles that the texts of a problem have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.errors import TooLittleText
from byline.settings.settings import Settings
from byline.text.encoder import SHORTEST, Alphabet, TextEncoder, fit_encoder
from byline.text.languages import language_of_script
from byline.text.normalize import normalize

SWAP_BELOW = 0.9
"""A single known text shorter than this share of the unknown is exchanged with it."""


def assign_roles(
    problem: Problem, encoded_texts: EncodedTexts, settings: Settings
) -> list[tuple[frozenset[bytes], frozenset[bytes]]]:
    """Return the texts that a problem trains on and those that it scores, once or both ways round."""
    texts = (*problem.known, problem.unknown)
    require_length(encoded_texts.encoder, texts, (encoded_texts.length(document.text) for document in texts))
    known = frozenset(encoded_texts.key(document.text) for document in problem.known)
    unknown = frozenset([encoded_texts.key(problem.unknown.text)])
    # a head never learns the text that it judges
    rest = known - unknown
    if not rest:
        raise TooLittleText(
            "the known and the unknown text are the same", where=problem.id, remedy="Remove the problem"
        )
    if problem.symmetric:  # which text of a pair comes first must not matter
        return [(rest, unknown), (unknown, rest)] if min(rest) < min(unknown) else [(unknown, rest), (rest, unknown)]
    if settings.train_on == "both":
        return [(rest, unknown), (unknown, rest)]
    if settings.train_on == "unknown" or (settings.swap_short and _is_short(problem, encoded_texts)):
        return [(unknown, rest)]
    return [(rest, unknown)]


def _is_short(problem: Problem, encoded_texts: EncodedTexts) -> bool:
    """The swap rule of section 2.4: one known text, significantly shorter than the unknown."""
    known, *others = problem.known
    return not others and encoded_texts.length(known.text) < SWAP_BELOW * encoded_texts.length(problem.unknown.text)


class EncodedTexts:
    """Texts of one language, encoded alike; each is normalized and encoded once."""

    def __init__(self, language: str, settings: Settings, learned: Sequence[Document]) -> None:
        self.encoder = fit_encoder([d.text for d in learned], language, settings.text_rules, settings.mask)
        self._normal: dict[str, str] = {}
        self._keys: dict[str, bytes] = {}

    @property
    def alphabet(self) -> Alphabet:
        """The alphabet of the texts that the encoder was fitted to."""
        return self.encoder.alphabet

    def key(self, text: str) -> bytes:
        """Return the encoded text as bytes, by which texts are compared and ordered."""
        if text not in self._normal:
            self._normal[text] = self.encoder.normal(text)
        normal = self._normal[text]
        if normal not in self._keys:
            self._keys[normal] = self.alphabet.encode(normal).tobytes()
        return self._keys[normal]

    def length(self, text: str) -> int:
        """Return the number of characters after encoding."""
        return len(self.key(text)) // np.dtype(np.int32).itemsize


def require_length(encoder: TextEncoder, documents: Sequence[Document], lengths: Iterable[int]) -> None:
    """Raise TooLittleText for documents that are too short after encoding, or written in another script."""
    short = [
        _short_text_error(encoder, document, length)
        for document, length in zip(documents, lengths, strict=True)
        if length < SHORTEST
    ]
    if len(short) == 1:
        raise short[0]
    if short:
        raise TooLittleText("\n  ".join(map(str, short)))


def _short_text_error(encoder: TextEncoder, document: Document, length: int) -> TooLittleText:
    own, usual = language_of_script(document.text), language_of_script(encoder.alphabet.symbols)
    whole = normalize(document.text, encoder.language, encoder.rules)
    if len(whole) >= SHORTEST and None not in (own, usual) and own != usual:
        return TooLittleText(
            f"written in another script ({own}) than the texts that it would be compared with ({usual})",
            where=document.name,
            remedy="Compare it with texts of its own language",
        )
    return TooLittleText(
        f"{length} characters after normalizing, {SHORTEST} are needed",
        where=document.name,
        remedy="Remove it or add text",
    )
