from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.text.encoder import count_characters, make_alphabet
from byline.text.normalize import CAPITAL, cut_runs, normalize

# The last paragraph of GR094/known02.txt, as the paper prints it: the T of "This" is a Greek capital tau.
GREEK = (
    "«\u03a4his», μουρμουρίζει χαμογελώντας μελαγχολικά ο Αμερικάνος, ακούγοντας το Σαλονικιό"
    " «is the beginning of a beautiful friendship». Παίξτο ξανά."
)
GREEK_MAPPED = (
    "«¹τsss», μουρμουρι²ζει χαμογελω²ντας μελαγχολικα² ο ¹αμερικα²νος, ακου²γοντας το ¹σαλονικιο²"
    " «ss sss sssss ss s sssss sssss». ¹παι²ξτο ξανα²."
).replace("²", "\u0301")


def test_the_papers_greek_paragraph_becomes_what_the_paper_prints() -> None:
    assert cut_runs(normalize(GREEK, "greek")) == GREEK_MAPPED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\u00c0 la", f"{CAPITAL}a\u0300 la"),  # the paper's triplet
        ("‘a’ 'b' `c´", "'a' 'b' 'c'"),
        ('“a” „b‟ "c"', '"a" "b" "c"'),
        ("a – b — c - d", "a — b — c - d"),
        ("[a] {b} (c)", "(a) (b) (c)"),
        ("wait…", "wait..."),
        ("a\tb \n\n c\u00a0d", "a b c d"),
        ("1984 ٣", "7777 7"),
        ("a\ufeffb\u00adc\\d_e+f\u2028g\u0085h\vi\fj", "abcdefghij"),
        ("ﬁne ²", "fine 7"),
        ("ΌΧΙ", f"{CAPITAL}ο\u0301{CAPITAL}χ{CAPITAL}ι"),
        ("Straße", f"{CAPITAL}straße"),
        ("   ", ""),
    ],
)
def test_the_rules_of_section_2_1(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_latin_letters_become_s_in_greek_only() -> None:
    assert normalize("Café και", "greek") == f"{CAPITAL}ssss και"
    assert normalize("café", "english") == "cafe\u0301"


def test_the_scripts_rules_keep_line_breaks() -> None:
    assert normalize("a\tb\nc  d", rules="scripts") == "a  b\nc  d"
    assert cut_runs("------- aaaaaaa", "scripts") == "------- aaaaa"
    assert cut_runs("------- aaaaaaa", "paper") == "----- aaaaa"


def test_runs_are_cut_after_the_rare_characters_are_gone() -> None:
    normal = normalize("a" * 10_000 + " aaa#aaa " + "b" * 10)
    filtered = make_alphabet(count_characters([normal])).filter(normal)
    assert filtered == "aaaaa aaaaa bbbbb"


@given(st.text())
def test_normalizing_leaves_no_digit_but_seven_and_single_spaces(text: str) -> None:
    normal = normalize(text)
    assert "  " not in normal
    assert not any(c.isdigit() and c not in ("7", CAPITAL) for c in normal if c.isdecimal())
    assert normal == normal.strip()
    alphabet = make_alphabet(count_characters([normal]))
    assert alphabet.decode(alphabet.encode(normal)) == alphabet.filter(normal)


def test_a_tower_of_accents_takes_no_time_and_keeps_thirty() -> None:
    assert len(normalize("a" + "\u0301\u0316" * 200_000)) == 31


@given(st.text())
def test_runs_are_never_longer_than_five(text: str) -> None:
    cut = cut_runs(text)
    assert all(character * 6 not in cut for character in set(cut))
