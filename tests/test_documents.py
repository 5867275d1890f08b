from __future__ import annotations

import codecs
from pathlib import Path

import pytest

from byline.documents import decode, read_document
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
    with pytest.raises(CorpusError, match=r"^EN001/latin\.txt: not UTF-8 \(byte 2\), and .*; save it as UTF-8, or say"):
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
