"""Topic masked: which words stay, and what stays of the others."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.text.normalize import CAPITAL, FREQUENT, frequent_words, mask_topic, normalize

NOTHING: frozenset[str] = frozenset()


def letters(text: str) -> int:
    """Characters, an accent belonging to its letter."""
    return len(re.sub("[\u0300-\u036f]", "", text))


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("the cat and the dog", "the *** and the ***"),
        ("The Cat AND the dog", "¹the ¹*** ¹a¹n¹d the ***"),  # a capital is no part of the word
        ("NATO and the UN", "¹*¹*¹*¹* and the ¹*¹*"),
        ("a: the 12 men, and (no) 3rd!", "*: the 77 ***, and (**) 7**!"),
        ("other than these", "***** **** *****"),  # whole words only
        ("the-cat's and", "the-***'* and"),
    ],
)
def test_frequent_words_stay_and_others_become_asterisks(text: str, masked: str) -> None:
    assert mask_topic(normalize(text), frozenset({"the", "and"})) == masked


def test_an_accent_belongs_to_its_letter() -> None:
    spanish = normalize("El niño comió aquí, él también", "spanish")
    assert mask_topic(spanish, frozenset({"el"})) == "¹el **** ***** ****, ** *******"
    stays = frozenset({normalize("también", "spanish")})
    assert mask_topic(spanish, stays) == "¹** **** ***** ****, ** " + normalize("también")


def test_greek_words_are_words() -> None:
    greek = normalize("Ο Άνθρωπος και η πόλη· καί", "greek")
    assert mask_topic(greek, frozenset({"και", "η"})) == "¹* ¹******** και η ****" + normalize("·") + " ***"


@pytest.mark.parametrize(
    ("texts", "count", "words"),
    [
        (["The sea", "the THE land", "land"], 1, {"land"}),  # capitals make no difference
        (["The sea", "the land"], 1, {"the"}),
        (["d c b a"], 2, {"a", "b"}),  # ties are broken alphabetically
        (["d c", "b a d"], 2, {"d", "a"}),
    ],
)
def test_which_words_are_frequent(texts: list[str], count: int, words: set[str]) -> None:
    assert frequent_words(map(normalize, texts), count) == words


def test_so_many_words_stay_and_of_fewer_all() -> None:
    words = [f"{a}{b}{c}" for a in "abcdefgh" for b in "abcdefgh" for c in "abcdefgh"]
    assert frequent_words([" ".join(words)]) == set(words[:FREQUENT])
    assert frequent_words([" ".join(words[:9])]) == set(words[:9])
    assert frequent_words([]) == frequent_words(["", "7 7, ***"]) == NOTHING


TEXTS = st.text(st.one_of(st.sampled_from("aeTHño É,.7_¹*άΩ\n"), st.characters())).map(normalize)


@given(TEXTS, st.integers(0, 3))
def test_masking_twice_is_masking_once_and_keeps_the_length(text: str, count: int) -> None:
    stays = frequent_words([text], count)
    masked = mask_topic(text, stays)
    assert mask_topic(masked, stays) == masked
    assert letters(masked) == letters(text)
    assert masked.count(CAPITAL) == text.count(CAPITAL)
    assert frequent_words([masked]) == stays
