"""How texts are seen: the same for a text that is asked about later as for those that were learned."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.corpora.documents import Document
from byline.engines.questions import EncodedTexts
from byline.settings.settings import Settings
from byline.text.encoder import fit_encoder
from byline.text.normalize import FREQUENT, Mask, TextRules
from samples import phrase

TEXTS = [phrase(author, 300, salt) for author in range(7) for salt in range(2)]
KINDS = pytest.mark.parametrize(
    ("rules", "mask"), [("paper", "none"), ("paper", "topic"), ("scripts", "none"), ("scripts", "topic")]
)


@KINDS
def test_learned_texts_are_seen_as_problems_are(rules: TextRules, mask: Mask) -> None:
    texts = [*TEXTS, " ".join(f"rare{'xyz'[n % 3]}{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(400))]
    encoder = fit_encoder(texts, "english", rules, mask)
    encoded_texts = EncodedTexts(
        "english", Settings(text_rules=rules, mask=mask), [Document("", text) for text in texts]
    )
    assert encoder.alphabet == encoded_texts.alphabet
    assert [encoder.encode(text).tobytes() for text in texts] == [encoded_texts.key(text) for text in texts]
    assert ("*" in encoder.alphabet.symbols) == (mask == "topic")
    assert len(encoder.frequent) == (FREQUENT if mask == "topic" else 0)


@KINDS
def test_order_and_repetition_of_the_texts_do_not_matter(rules: TextRules, mask: Mask) -> None:
    assert fit_encoder(TEXTS, "english", rules, mask) == fit_encoder([*TEXTS[::-1], TEXTS[3]], "english", rules, mask)


def test_what_is_not_in_the_alphabet_is_dropped() -> None:
    encoder = fit_encoder(["abcab abc", "cab Bac"], "english", "paper", "none")
    assert encoder.alphabet.decode(encoder.encode("zab\u00e6c  \u00b7 Q!cab")) == "abc ¹cab"


def test_topic_is_masked_by_the_words_that_were_learned() -> None:
    encoder = fit_encoder(["the cat, the cat ", "the dog "], "english", "paper", "topic")  # none of theirs is masked
    assert encoder.frequent == {"the", "cat", "dog"}
    assert encoder.alphabet.decode(encoder.encode("the emu, the cat")) == "the ***, the cat"


@KINDS
@given(text=st.text(max_size=60))
def test_any_text_becomes_numbers_of_the_alphabet(rules: TextRules, mask: Mask, text: str) -> None:
    encoder = fit_encoder(TEXTS, "english", rules, mask)
    symbols = encoder.encode(text)
    assert symbols.dtype == np.int32
    assert ((symbols >= 0) & (symbols < len(encoder.alphabet))).all()
