"""Tokens and sentences of normalized text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.text.normalize import CAPITAL, WORD, mask_topic, normalize
from byline.text.tokens import CAPITALIZED, NUMBER, PLAIN, split_punctuation, split_sentences, split_tokens


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
    ("text", "symbols"),
    [
        ("The cat, the Cat!", "X x, x X!"),
        ("NATO, McDonald and iPhone", "X, X x x"),  # a word is capitalized if it begins with a capital
        ("don't, O'Neill's", "x'x, X'X'x"),
        ("well-known — or (not)", "x-x — x (x)"),
        ("Élan, où", "X, x"),  # an accent belongs to its letter
        ("In 1984, 3.50 or the 3rd", "X 7, 7.7 x x 7x"),
        ("寒山道。無人到", "xxx。xxx"),  # each character is a word
        ("ไทย", "xxx"),
        ("...?!", "...?!"),
        ("", ""),
    ],
)
def test_punctuation_marks_stay_and_words_and_numbers_become_symbols(text: str, symbols: str) -> None:
    assert split_punctuation(normalize(text)) == list(symbols)


@pytest.mark.parametrize("length", [1, 2, 4, 6])
def test_an_accent_is_no_mark_wherever_in_the_word_it_is(length: int) -> None:
    assert split_punctuation(normalize("e\u0301" * length + ".")) == [PLAIN, "."]
    assert split_punctuation(normalize("E\u0301" * length + ".")) == [CAPITALIZED, "."]


def test_several_spaces_are_one_symbol() -> None:
    text = normalize("One  two\n\n3", rules="scripts")
    assert split_punctuation(text) == [CAPITALIZED, "  ", PLAIN, "\n\n", NUMBER]


def test_capitals_of_letters_that_are_dropped_are_no_symbols() -> None:
    assert split_punctuation(f"{CAPITAL} a{CAPITAL}, {CAPITAL}.") == [" ", PLAIN, ",", " ", "."]


@given(st.text(max_size=40))
def test_no_mark_or_space_is_lost(text: str) -> None:
    def marks(characters: str) -> list[str]:
        return [c for c in characters if not (WORD.match(c) or c in (CAPITAL, NUMBER) or "\u0300" <= c <= "\u036f")]

    normal = normalize(text)
    symbols = split_punctuation(normal)
    assert all(symbols)
    assert marks("".join(symbols)) == marks(normal)


@given(st.lists(st.sampled_from(["the", "\u00b9of", "\u00b9a\u00b9b", "e\u0301a", "7", "777"]), min_size=1))
def test_words_and_numbers_are_one_symbol_each(words: list[str]) -> None:
    symbols = [NUMBER if "7" in word else CAPITALIZED if word[0] == CAPITAL else PLAIN for word in words]
    assert split_punctuation(", ".join(words)) == list(", ".join(symbols))


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
