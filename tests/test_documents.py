from __future__ import annotations

import codecs
import logging
import os
from pathlib import Path

import pytest

from byline import documents
from byline.documents import Document, decode, find_texts, has_text_name, read_bytes, read_document
from byline.errors import CorpusError


@pytest.mark.parametrize(
    "data",
    [
        "naïve\ntext".encode(),
        codecs.BOM_UTF8 + "naïve\r\ntext".encode(),
        codecs.BOM_UTF8 + "naïve\rtext".encode(),
        codecs.BOM_UTF16_LE + "naïve\ntext".encode("utf-16-le"),
        codecs.BOM_UTF16_BE + "naïve\ntext".encode("utf-16-be"),
        codecs.BOM_UTF32_LE + "naïve\ntext".encode("utf-32-le"),
    ],
)
def test_byte_order_marks_are_obeyed_and_line_ends_made_plain(data: bytes) -> None:
    assert decode(data, "x") == "naïve\ntext"


def test_bytes_that_are_no_utf8_name_the_file_and_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes("naïve".encode("latin-1"))
    with pytest.raises(
        CorpusError, match=r"^EN001/latin\.txt: not UTF-8 \(byte 2\), and .*; save it as UTF-8; byline text"
    ):
        read_document(path, "EN001/latin.txt")


@pytest.mark.parametrize("content", [b"", b" \n\t", codecs.BOM_UTF8])
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "empty.txt"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"empty\.txt: empty; remove it or put text in it"):
        read_document(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"gone\.txt: can't be read"):
        read_document(tmp_path / "gone.txt")


LATIN = ("Zij zei: één coöperatie, geïllustreerd met een reünie in België. " * 8).encode("cp1252")


def test_a_guess_is_kept_with_the_document_and_warned_of_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "latin.txt"
    path.write_bytes(LATIN)
    document = read_document(path, "EN001/latin.txt")
    assert document.text == LATIN.decode("cp1252")
    (guess,) = document.guesses
    assert guess.startswith("read as Windows-1252, a guess; ")
    assert [record.getMessage() for record in caplog.records] == [f"EN001/latin.txt: {guess}"]
    assert document == Document("EN001/latin.txt", document.text)


def test_the_encoding_may_be_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "old.txt"
    path.write_bytes("naïf".encode("cp850"))
    assert read_document(path, encoding="cp850") == Document(str(path), "naïf")
    assert caplog.records == []


def test_a_note_is_kept_but_no_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "page.html"
    path.write_bytes(b"<p>no<main><p>words")
    with caplog.at_level(logging.WARNING):
        assert read_document(path).notes == ("only its main part is read",)
    assert caplog.records == []


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("a.txt", True),
        ("README.txt", True),
        (".hidden.txt", True),
        ("a.DOCX", True),
        ("a.pdf", True),
        ("Title. A novel.epub", True),
        ("README.md", False),
        ("License.html", False),
        ("~$a.docx", False),
        ("._a.docx", False),
        ("a.doc", False),
        ("a.jpg", False),
        ("txt", False),
        (".txt", False),
        (".pdf", False),
    ],
)
def test_texts_have_the_names_of_texts(name: str, is_one: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text("words", "utf-8")
    assert has_text_name(name) == is_one
    assert find_texts(tmp_path) == ([tmp_path / name] if is_one else [])


def test_texts_are_found_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.docx", "a.pdf", "c/d.txt", "c.html", "C.TXT", "folder.txt/e.rtf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words", "utf-8")
    with pytest.raises(CorpusError, match=r"c\.html: C\.TXT lies beside it"):
        find_texts(tmp_path)
    (tmp_path / "C.TXT").unlink()
    assert [str(file.relative_to(tmp_path)) for file in find_texts(tmp_path)] == [
        "a.pdf",
        "b.docx",
        "c/d.txt",
        "c.html",
        "folder.txt/e.rtf",
    ]


def test_one_text_in_two_formats_is_refused_and_both_are_named(tmp_path: Path) -> None:
    for name in ("a.txt", "a.docx", "b.txt", "c/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words", "utf-8")
    with pytest.raises(CorpusError) as refusal:
        find_texts(tmp_path)
    assert str(refusal.value) == (
        f"{tmp_path / 'a.txt'}: a.docx lies beside it, perhaps the same text; remove or rename one of them"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"%PDF-1.7", "a PDF file, not plain text; give it the ending .pdf, or save it as plain text in UTF-8"),
        (b"{\\rtf1}", "an RTF file, not plain text; give it the ending .rtf, or save it as plain text in UTF-8"),
    ],
)
def test_another_format_in_a_texts_clothes_is_named(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    with pytest.raises(CorpusError) as refusal:
        read_document(path)
    assert str(refusal.value) == f"{path}: {message}"


def test_pan_texts_are_read_as_ever(pan_data: Path) -> None:
    """To the last character: results that are published depend on it."""
    files = sorted(pan_data.glob("*/*/*.txt"))[::5]
    assert len(files) > 500
    for file in files:
        assert read_document(file) == Document(str(file), decode(file.read_bytes(), str(file)))


def test_a_table_of_gigabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "truth.txt").open("wb") as file:
        file.truncate(3_000_000_000)  # takes no room
    with pytest.raises(CorpusError, match=r"truth\.txt: larger than 2 GB; split it"):
        documents.read_bytes(tmp_path / "truth.txt")


def test_one_that_the_memory_cannot_hold_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "truth.txt").write_text("x")

    def fail(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(documents, "_open_at_once", fail)
    with pytest.raises(CorpusError, match=r"truth\.txt: too large for the memory"):
        documents.read_bytes(tmp_path / "truth.txt")


def test_a_name_that_no_file_can_have_is_said() -> None:
    with pytest.raises(CorpusError, match="no possible name"):
        read_document("a\0b.txt")


def test_what_would_have_to_be_waited_for_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's own files may be plain ones and have nothing to say yet."""
    (tmp_path / "a.txt").write_text("x", encoding="utf-8")
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    monkeypatch.setattr(documents, "_open_at_once", lambda path, flags: reading)
    with pytest.raises(CorpusError, match=r"a\.txt: can't be read \(it would have to be waited for\)"):
        read_bytes(tmp_path / "a.txt")
    os.close(writing)
