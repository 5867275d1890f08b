"""How texts are seen: the same for a text that is asked about later as for those that were learned."""

from __future__ import annotations

from pathlib import Path

import pytest

from byline.corpora.documents import Document
from byline.engines.questions import EncodedTexts
from byline.settings.settings import Settings
from byline.tasks.prepare import prepare
from byline.text.encoder import fit_encoder, make_alphabet
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


def test_a_character_is_kept_at_one_in_ten_thousand() -> None:
    kept = make_alphabet({"a": 9_999, "b": 1})
    assert kept.symbols == "ab"
    assert make_alphabet({"a": 10_000, "b": 1}).symbols == "a"


def test_the_scripts_rules_keep_all_letters_and_rarer_others() -> None:
    counts = {"a": 99_998, "b": 1, "!": 1, "?": 1}
    assert make_alphabet(counts, "scripts").symbols == "ab"
    assert make_alphabet(counts | {"!": 2}, "scripts").symbols == "!ab"


def test_the_alphabets_of_pan_2015_are_near_the_papers(pan_data: Path) -> None:
    sizes = {
        language: len(prepare(pan_data / f"pan15-train-{language}")[0].alphabet)
        for language in ("english", "dutch", "greek", "spanish")
    }
    assert sizes["english"] == 39  # the paper's
    assert abs(sizes["dutch"] - 47) <= 5
    assert abs(sizes["greek"] - 47) <= 5
    assert abs(sizes["spanish"] - 51) <= 9
