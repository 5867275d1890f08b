"""Documents: files of any format and name, read or refused."""

from __future__ import annotations

import codecs
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from byline.corpora.documents import Document, decode, find_texts, has_text_name, read_bytes, read_document
from byline.errors import CorpusError
from refusals import refusal


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


@pytest.mark.parametrize(
    "content",
    ["naïve".encode("latin-1"), b"", b" \n\t", codecs.BOM_UTF8, b"%PDF-1.7", b"{\\rtf1}"],
    ids=["no UTF-8", "empty", "spaces", "mark", "PDF", "RTF"],
)
def test_a_file_without_readable_text_is_refused_by_its_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(CorpusError, match=r"^EN001/a\.txt: "):
        read_document(path, "EN001/a.txt")


@pytest.mark.parametrize("name", ["gone.txt", "a\0b.txt", "x" * 300, "folder.txt"])
def test_a_path_that_is_no_file_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.txt").mkdir()
    assert refusal(CorpusError, read_document, tmp_path / name).where == str(tmp_path / name)


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


TEXT_NAMES = ["a.txt", "README.txt", ".hidden.txt", "a.DOCX", "a.pdf", "Title. A novel.epub"]
OTHER_NAMES = ["README.md", "License.html", "~$a.docx", "._a.docx", "a.doc", "a.jpg", "txt", ".txt", ".pdf"]


@pytest.mark.parametrize("name", TEXT_NAMES + OTHER_NAMES)
def test_texts_have_the_names_of_texts(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("words", "utf-8")
    assert has_text_name(name) == (name in TEXT_NAMES)
    assert find_texts(tmp_path) == ([tmp_path / name] if name in TEXT_NAMES else [])


def test_texts_are_found_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.docx", "a.pdf", "c/d.txt", "c.html", "C.TXT", "folder.txt/e.rtf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("words", "utf-8")
    error = refusal(CorpusError, find_texts, tmp_path)  # perhaps one text in two formats
    assert (error.where, "C.TXT" in error.what) == (str(tmp_path / "c.html"), True)
    (tmp_path / "C.TXT").unlink()
    names = [str(file.relative_to(tmp_path)) for file in find_texts(tmp_path)]
    assert names == ["a.pdf", "b.docx", "c/d.txt", "c.html", "folder.txt/e.rtf"]


def test_pan_texts_are_read_as_ever(pan_data: Path) -> None:
    """To the last character: results that are published depend on it."""
    files = sorted(pan_data.glob("*/*/*.txt"))[::5]
    assert len(files) > 500
    for file in files:
        assert read_document(file) == Document(str(file), decode(file.read_bytes(), str(file)))


@pytest.mark.parametrize(("read", "size"), [(read_bytes, 3_000_000_000), (read_document, 500_000_000)])
def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path, read: Callable[[Path], object], size: int) -> None:
    with (tmp_path / "truth.txt").open("wb") as file:
        file.truncate(size)  # takes no room
    error = refusal(CorpusError, read, tmp_path / "truth.txt")
    assert (error.where, "larger than" in error.what) == (str(tmp_path / "truth.txt"), True)


def test_one_that_the_memory_cannot_hold_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "truth.txt").write_text("x")

    def fail(_: Path) -> bytes:
        raise MemoryError

    monkeypatch.setattr(Path, "read_bytes", fail)
    assert "memory" in refusal(CorpusError, read_bytes, tmp_path / "truth.txt").what
