"""Bytes are decoded by their mark, by the encoding that they declare, as UTF-8, or by a guess that is reported."""

from __future__ import annotations

import codecs
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark_output import printed_by
from byline.corpora.formats.encodings import (
    BROWSERS,
    DECLARED,
    SAVE_AS_UTF8,
    WIDER,
    declarable,
    decode,
    guess_utf16,
)
from byline.corpora.formats.extraction import Unreadable
from paths import ROOT

DUTCH = (
    "De geïnterviewde vertelde dat zij de coöperatie in België één keer had bezocht; de reünie was naïef opgezet, vond "
    "zij, maar de creëerders ervan hadden hun ideeën goed uitgewerkt. ‘Het is vóór alles een kwestie van vertrouwen,’ "
    "zei ze, ‘en dat heb je, of je hebt het niet.’ Daarna reed zij naar huis, waar haar zoon een café wilde beginnen.\n"
)
GREEK = (
    "Τη γλώσσα μου έδωσαν ελληνική· το σπίτι φτωχικό στις αμμουδιές του Ομήρου. Άλλος ήταν ο δρόμος που πήραμε, και "
    "δεν θέλω να σας πω πως τον διαλέξαμε. Η μητέρα μου έλεγε ότι ο καθένας έχει την τύχη του· εγώ δεν την πίστευα, "
    "αλλά την άκουγα με προσοχή, γιατί ήξερε να διηγείται όπως κανένας άλλος στο χωριό μας.\n"
)
JAPANESE = (
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所でニャーニャー泣いていた事だけは記憶している。"
    "吾輩はここで始めて人間というものを見た。しかもあとで聞くとそれは書生という人間中で一番獰悪な種族であったそうだ。"
    "この書生というのは時々我々を捕えて煮て食うという話である。しかしその当時は何という考もなかったから別段恐しいとも思わなかった。\n"
)
RUSSIAN = (
    "Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. Всё смешалось в доме. "
    "Жена узнала, что муж был в связи с бывшею в их доме француженкою-гувернанткой, и объявила мужу, что не может жить "
    "с ним в одном доме. Положение это продолжалось уже третий день и мучительно чувствовалось и самими супругами.\n"
)
POLISH = (
    "Litwo! Ojczyzno moja! ty jesteś jak zdrowie: ile cię trzeba cenić, ten tylko się dowie, kto cię stracił. Dziś "
    "piękność twą w całej ozdobie widzę i opisuję, bo tęsknię po tobie. Panno święta, co Jasnej bronisz "
    "Częstochowy i w Ostrej "
    "świecisz Bramie! Ty, co gród zamkowy nowogródzki ochraniasz z jego wiernym ludem!\n"
)


@pytest.mark.parametrize(
    ("text", "encoding", "name"),
    [
        (DUTCH, "cp1252", "Windows-1252"),
        (DUTCH.replace("‘", "'").replace("’", "'"), "latin-1", "Windows-1252"),
        (DUTCH, "mac-roman", "Mac Roman"),
        (GREEK, "cp1253", "Windows-1253"),
        (GREEK, "iso8859-7", "ISO-8859-7"),
        (JAPANESE, "shift_jis", "Shift-JIS"),
        (JAPANESE, "euc_jp", "EUC-JP"),
        (RUSSIAN, "cp1251", "Windows-1251"),
        (RUSSIAN, "koi8-r", "KOI8-R"),
        (RUSSIAN, "cp866", "CP866"),
        (POLISH, "cp1250", "Windows-1250"),
        (GREEK, "utf-16-le", "UTF-16-LE"),
    ],
)
def test_an_encoding_is_guessed_and_the_guess_reported(text: str, encoding: str, name: str) -> None:
    found = decode(text.encode(encoding))
    assert found.text == text
    (guess,) = found.guesses
    assert guess.startswith(f"read as {name}, a guess; ")


@pytest.mark.parametrize(
    "data",
    [
        codecs.BOM_UTF16_LE + GREEK.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + GREEK.encode("utf-16-be"),
        codecs.BOM_UTF8 + GREEK.encode(),
        GREEK.encode(),
    ],
)
def test_utf8_and_what_has_a_mark_is_no_guess(data: bytes) -> None:
    assert decode(data) == (GREEK, ())


@pytest.mark.parametrize(
    "data",
    [
        "naïef".encode("cp1252"),
        ("word " * 100 + "na\u00efef").encode("mac-roman"),
        random.Random(7).randbytes(2_000),
        bytes(range(256)) * 4,
        ("Zij zei het. " * 40).encode() + bytes((0, 1, 2, 0xFF)),
    ],
)
def test_what_is_not_sure_is_refused_with_the_remedy(data: bytes) -> None:
    with pytest.raises(Unreadable, match=r"not UTF-8 \(byte \d+\)") as refusal:
        decode(data)
    assert refusal.value.remedy == SAVE_AS_UTF8


def test_a_few_bad_bytes_in_utf8_are_not_taken_for_another_encoding() -> None:
    spoilt = bytearray(GREEK.encode())
    spoilt[41] = 0xFF
    with pytest.raises(Unreadable, match=r"not UTF-8 \(byte 4\d\), though most"):
        decode(bytes(spoilt))


@pytest.mark.parametrize("declared", ["windows-1253", "ISO-8859-7", "iso8859-7", " cp1253 "])
def test_what_a_file_says_of_itself_is_obeyed(declared: str) -> None:
    text = "Τη γλώσσα μου έδωσαν ελληνική"
    assert decode(text.encode("cp1253"), declared) == (text, ())


def test_latin_1_means_windows_as_in_browsers() -> None:
    assert decode("‘naïef’ – €".encode("cp1252"), "iso-8859-1") == ("‘naïef’ – €", ())


@pytest.mark.parametrize("declared", ["utf-16", "utf-32-be", "utf-8", "unicode-1-1-utf-8"])
def test_what_it_says_falsely_is_passed_over(declared: str) -> None:
    assert decode("één".encode(), declared) == ("één", ())
    assert decode(GREEK.encode("cp1253"), declared).text == GREEK


@pytest.mark.parametrize(
    "declared",
    [
        "klingon", "base64", "x\0y", "cp037", "punycode", "unicode_escape", "Raw-Unicode-Escape", "UTF-7", "idna",
        "undefined", "charmap",
    ],
)  # fmt: skip
def test_what_no_text_is_in_is_not_obeyed(declared: str) -> None:
    text = "één \\u0041 +AGE- a-b"
    found, (guess,) = decode(text.encode(), declared)
    assert found == text
    assert f"{declared!a}" in guess
    found, (guess,) = decode(GREEK.encode("cp1253"), declared)
    assert (found, guess[:29]) == (GREEK, "read as Windows-1253, a guess")


def test_all_that_may_be_declared_is_known_by_that_name() -> None:
    assert all(codecs.lookup(name).name == name == declarable(name) for name in DECLARED)
    assert all(codecs.lookup(name).name == name in DECLARED for name in BROWSERS.values())
    assert set(WIDER) <= DECLARED
    assert decode("猫".encode("cp932"), "X-SJIS") == ("猫", ())


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["It was so.", DUTCH, "A\r\n" + "word " * 100, "It was 猫 and 猫, so they said."])
def test_utf16_without_a_mark_is_guessed(text: str, encoding: str) -> None:
    found = decode(text.encode(encoding))
    assert found.text == text.replace("\r\n", "\n")
    assert found.guesses[0].startswith(f"read as {encoding.upper()}, a guess; ")


@pytest.mark.parametrize(
    "text",
    [
        "It was so\0 and so.\0" * 20,
        "a\0b",
        "\0" * 40,
        "a\0\1\0" * 20,
        "a\0" * 20 + "b",
        "word\0" * 40,
    ],
)
def test_utf8_with_zeros_stays_what_it_is(text: str) -> None:
    assert decode(text.encode()) == (text, ())


def test_what_could_be_utf8_as_well_is_reported() -> None:
    found = decode("één".encode(), "cp1250")
    assert found.text == "Ă©Ă©n"
    assert found.guesses[0].startswith("declares Windows-1250, but could be UTF-8; ")


def test_only_the_first_mark_is_one() -> None:
    """Some PAN texts have two, and what is read of them must not change."""
    assert decode(codecs.BOM_UTF8 * 2 + b"a").text == "\ufeffa"


def test_what_the_user_says_counts() -> None:
    assert decode(codecs.BOM_UTF16_LE + "één".encode("utf-16-le"), None, "utf-16-le").text == "één"
    assert decode("één".encode("cp850"), "utf-8", "cp850") == ("één", ())
    with pytest.raises(Unreadable, match=r"not Windows-1253 \(byte 1\)"):
        decode(b"a\xd2b", None, "cp1253")
    for name in ("klingon", "rot13", "zip", "", "punycode", "unicode_escape", "utf-7"):
        with pytest.raises(Unreadable, match=r"there is no encoding|no other encoding is certain"):
            decode(b"a\xd2b", None, name)


@given(st.text(max_size=200))
def test_all_utf8_is_text(text: str) -> None:
    plain = text.encode("utf-8", "ignore").decode()
    data = plain.encode()
    if not data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and guess_utf16(data) is None:
        assert decode(data).text == plain.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def test_the_table_of_the_docs_is_the_stored_one() -> None:
    table = printed_by("guesses.py", "--table")
    assert table in (ROOT / "docs" / "file-formats.md").read_text("utf-8")
    rows = [[cell.strip() for cell in row.strip("|").split("|")] for row in table.splitlines()[2:]]
    assert len(rows) == 10
    assert sum(int(row[4]) for row in rows) <= 3
