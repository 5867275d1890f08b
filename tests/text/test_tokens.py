"""Tokens and sentences of normalized text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.text.normalize import mask_topic, normalize
from byline.text.tokens import split_sentences, split_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat, the Cat!", ["the", "cat", ",", "the", "cat", "!"]),
        ("In 1984, 3.50 or 1,000,000.", ["in", "7", ",", "7", "or", "7", "."]),
        ("don't", ["don", "'", "t"]),
        ("Élan où", ["e\u0301lan", "ou\u0300"]),
        ("寒山 道。", ["寒", "山", "道", "。"]),
        ("", []),
        (" \u00b9 ", ["7"]),  # a raised 1 is a digit
    ],
)
def test_tokens_are_words_numbers_and_marks_in_lower_case(text: str, tokens: list[str]) -> None:
    assert split_tokens(normalize(text)) == tokens


def test_a_masked_word_is_one_token_whatever_its_length() -> None:
    masked = mask_topic(normalize("The Cats of Rome, a cat"), frozenset(["the", "of", "a"]))
    assert split_tokens(masked) == ["the", "*", "of", "*", ",", "a", "*"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? Four; five", ["one .", "two !", "three ?", "four ;", "five"]),
        ("Well... no?! Yes", ["well . . .", "no ? !", "yes"]),
        ("“Stop!” he said.", ['" stop !', '" he said .']),
        ("It cost 3.50 then", ["it cost 7 then"]),
        ("寒山道。無人到", ["寒 山 道 。", "無 人 到"]),
        ("यह। वह॥", ["यह ।", "वह ॥"]),
        ("ما؟ هذا", ["ما ؟", "هذا"]),
        (". One", [".", "one"]),
        ("", []),
    ],
)
def test_sentences_end_with_their_last_mark(text: str, sentences: list[str]) -> None:
    assert [" ".join(sentence) for sentence in split_sentences(normalize(text))] == sentences


def test_lines_end_sentences_where_they_are_kept() -> None:
    text = "The first line\n\nthe second"
    assert len(split_sentences(normalize(text, rules="scripts"))) == 2
    assert len(split_sentences(normalize(text))) == 1


@given(st.text(max_size=40))
def test_no_character_but_spaces_and_capitals_is_lost(text: str) -> None:
    normal = normalize(text)
    tokens = split_tokens(normal)
    assert all(tokens)
    assert [token for sentence in split_sentences(normal) for token in sentence] == tokens
    if "7" not in normal and "*" not in normal:
        assert "".join(tokens) == normal.replace(" ", "").replace("\u00b9", "")
