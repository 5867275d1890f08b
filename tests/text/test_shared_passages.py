"""Passages that texts share: found exactly where they are, whoever has them, and who depends on whom by them."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.text.shared_passages import FEW_SHARE, PASSAGE, find_borrowed, find_pairs, find_related, plain_form
from samples import prose


def headed(number: int, heading: str = "", length: int = 400) -> str:
    """A heading and a text whose first letter no other has, so that the two share nothing but the heading."""
    return heading + chr(0x4E00 + number) + prose(number, length)


def test_lines_of_dots_are_no_passage() -> None:
    texts = [prose(n) + " . " * 200 + "-" * 200 for n in range(2)]
    assert find_borrowed([plain_form(text, "english") for text in texts], [0, 1]) == {}


@given(
    st.integers(0, 2**32),
    st.integers(0, 3),
    st.sampled_from(["abcdefghijklm", "abcdefghijklmnopqrstuvwxyzäöü𝒳𝒴"]),
)
def test_a_passage_is_shared_exactly_where_a_window_is(seed: int, edge: int, letters: str) -> None:
    dice = random.Random(seed)
    passage = "".join(dice.choices(letters, k=PASSAGE + edge - 2))
    texts = ["".join(dice.choices(letters, k=dice.randint(0, 250))) for _ in range(3)]
    texts = [f"{text}!{passage}?{dice.random()}" if dice.random() < 0.7 else text for text in texts]
    windows = [{text[n : n + PASSAGE] for n in range(len(text) - PASSAGE + 1)} for text in texts]
    found = find_related(texts[:1], texts[1:])[0]
    assert found == {n for n in range(2) if windows[0] & windows[n + 1]}
    kept: list[int] = []
    expected = set()
    for n in range(3):
        expected |= {n} if any(windows[n] & windows[m] for m in kept) else set()
        kept += [n] if n not in expected else []
    assert set(find_borrowed(texts, [0, 1, 2])) == expected
    assert find_borrowed(texts, [0, 0, 0]) == {}


def test_a_passage_is_found_where_its_beginning_occurs_before() -> None:
    passage = prose(1, PASSAGE)
    first = "#".join(passage[n : n + 60] for n in range(0, 40, 5)) + prose(2) + passage
    assert find_related([first], [prose(3) + passage + prose(4)]) == [{0}]


def test_many_texts_are_compared_in_a_moment() -> None:
    texts = [prose(n, 10_000) for n in range(500)]
    documents = [prose(n, 10_000) for n in range(1000, 1200)]
    documents[7] = documents[7][:500] + texts[3][1000:1200]
    started = time.perf_counter()
    related = find_related(documents, texts)
    assert time.perf_counter() - started < 10  # it takes about half a second
    assert [n for n, found in enumerate(related) if found] == [7]


class TestPairs:
    @pytest.mark.parametrize(("shared", "pairs"), [(PASSAGE - 1, set()), (PASSAGE, {(0, 2)}), (PASSAGE + 50, {(0, 2)})])
    def test_two_texts_that_share_a_hundred_characters_are_one(self, shared: int, pairs: set[tuple[int, int]]) -> None:
        assert PASSAGE == 100
        passage = prose(9, shared)
        texts = [f"{prose(1)}!{passage}?{prose(2)}", prose(3), f"{prose(4)}.{passage},"]
        assert find_pairs(texts) == pairs

    @pytest.mark.parametrize(("having", "found"), [(2, 1), (FEW_SHARE, 10), (FEW_SHARE + 1, 0), (40, 0)])
    def test_a_heading_that_many_texts_have_makes_none(self, having: int, found: int) -> None:
        """Five texts are ten pairs; of 40 texts a tenth are four, which is fewer."""
        texts = [headed(n, prose(99, 150) if n < having else "") for n in range(40)]
        assert len(find_pairs(texts)) == found

    def test_in_a_large_corpus_a_tenth_of_the_texts_are_not_many(self) -> None:
        for having, found in ((8, 8 * 7 // 2), (9, 0)):
            texts = [headed(n, prose(999, 150) if n < having else "") for n in range(80)]
            assert len(find_pairs(texts)) == found

    def test_nor_does_it_with_the_few_letters_that_some_texts_by_chance_begin_with(self) -> None:
        """The end of the heading and one letter more is a passage that only every fourth text has."""
        texts = [prose(99, 150) + "abcd"[n % 4] + headed(n) for n in range(12)]
        assert find_pairs(texts) == frozenset()
        texts = [headed(n) + "abcd"[n % 4] + prose(99, 150) for n in range(12)]
        assert find_pairs(texts) == frozenset()

    def test_under_a_common_heading_a_passage_of_their_own_is_still_found(self) -> None:
        texts = [headed(n, prose(99, 150)) for n in range(12)]
        texts[7] += prose(50, 120)
        texts[3] += prose(50, 120)
        texts[11] += texts[5][250:400]
        assert find_pairs(texts) == {(3, 7), (5, 11)}

    def test_of_texts_that_share_in_turn_only_those_that_share_with_each_other_are_pairs(self) -> None:
        one, two = prose(50, 120), prose(51, 120)
        assert find_pairs([prose(1) + one, prose(2) + two, one + prose(3) + two]) == {(0, 2), (1, 2)}

    def test_the_same_text_twice_is_a_pair_if_it_is_long_enough(self) -> None:
        assert find_pairs([prose(1), prose(2), prose(1)]) == {(0, 2)}
        assert find_pairs([prose(1, 90), prose(1, 90)]) == frozenset()

    def test_a_text_that_repeats_itself_is_no_pair(self) -> None:
        assert find_pairs([prose(1) + prose(2, 150) + prose(2, 150), prose(3)]) == frozenset()

    def test_no_texts_have_none(self) -> None:
        assert find_pairs([]) == find_pairs([""]) == find_pairs(["", prose(1)]) == frozenset()
