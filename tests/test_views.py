"""How texts are seen: the same for a text that is asked about later as for those that were learnt."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.documents import Document
from byline.masking import FREQUENT
from byline.settings import Mask, Settings, TextRules
from byline.views import Library, learn_view
from conftest import phrase

TEXTS = [phrase(author, 300, salt) for author in range(7) for salt in range(2)]
KINDS = pytest.mark.parametrize(
    ("rules", "mask"), [("paper", "none"), ("paper", "topic"), ("scripts", "none"), ("scripts", "topic")]
)


@KINDS
def test_learnt_texts_are_seen_as_problems_are(rules: TextRules, mask: Mask) -> None:
    texts = [*TEXTS, " ".join(f"rare{'xyz'[n % 3]}{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(400))]
    view = learn_view(texts, "english", rules, mask)
    library = Library("english", Settings(text_rules=rules, mask=mask), [Document("", text) for text in texts])
    assert view.alphabet == library.alphabet
    assert [view.encode(text).tobytes() for text in texts] == [library.key(text) for text in texts]
    assert ("*" in view.alphabet.symbols) == (mask == "topic")
    assert len(view.frequent) == (FREQUENT if mask == "topic" else 0)


@KINDS
def test_order_and_repetition_of_the_texts_do_not_matter(rules: TextRules, mask: Mask) -> None:
    assert learn_view(TEXTS, "english", rules, mask) == learn_view([*TEXTS[::-1], TEXTS[3]], "english", rules, mask)


def test_what_is_not_in_the_alphabet_is_dropped() -> None:
    view = learn_view(["abcab abc", "cab Bac"], "english", "paper", "none")
    assert view.alphabet.decode(view.encode("zab\u00e6c  \u00b7 Q!cab")) == "abc ¹cab"


def test_topic_is_masked_by_the_words_that_were_learnt() -> None:
    view = learn_view(["the cat, the cat ", "the dog "], "english", "paper", "topic")  # none of theirs is masked
    assert view.frequent == {"the", "cat", "dog"}
    assert view.alphabet.decode(view.encode("the emu, the cat")) == "the ***, the cat"


@KINDS
@given(text=st.text(max_size=60))
def test_any_text_becomes_numbers_of_the_alphabet(rules: TextRules, mask: Mask, text: str) -> None:
    view = learn_view(TEXTS, "english", rules, mask)
    symbols = view.encode(text)
    assert symbols.dtype == np.int32
    assert ((symbols >= 0) & (symbols < len(view.alphabet))).all()
