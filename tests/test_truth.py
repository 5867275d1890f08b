from __future__ import annotations

from pathlib import Path

import pytest

from byline.errors import AnswersError
from byline.truth import read_truth


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("truth.txt", "\ufeffEN001 Y\r\nEN002 N\r\n"),
        ("TRUTH.TXT", "EN001 Y\nEN002 N"),
        ("truth.json", '{"EN001": "Y", "EN002": "N"}'),
        ("truth.json", '{"problems": [{"name": "EN001", "answer": "Y"}, {"name": "EN002", "answer": "N"}]}'),
        ("truth.jsonl", '{"id": "EN001", "same": true, "authors": [1, 1]}\n{"id": "EN002", "same": false}\n'),
    ],
)
def test_every_layout_of_truth_is_read_by_file_or_folder(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert read_truth(tmp_path / name) == read_truth(tmp_path) == {"EN001": True, "EN002": False}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("truth.txt", "", "empty"),
        ("truth.txt", "EN001 maybe", "line 1: no id with Y or N"),
        ("truth.txt", "EN001 Y\nEN001 N", "line 2: id EN001 occurs twice"),
        ("truth.json", "{", "not JSON"),
        ("truth.json", '{"EN001": "Y", "EN002": "N", "EN001": "N"}', "truth.json EN001: id EN001 occurs twice"),
        ("truth.jsonl", '{"id": "a"}\n{nope', "line 2"),
    ],
)
def test_bad_truth_is_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(AnswersError, match=message):
        read_truth(tmp_path / name)


def test_missing_truth_is_named(tmp_path: Path) -> None:
    with pytest.raises(AnswersError, match=r"no truth\.txt, truth\.json or truth\.jsonl there"):
        read_truth(tmp_path)
    for name in ("truth.txt", "truth.jsonl"):
        with pytest.raises(AnswersError, match="not found"):
            read_truth(tmp_path / name)


def test_ids_may_hold_spaces(tmp_path: Path) -> None:
    (tmp_path / "truth.txt").write_text("an id Y\nother N\n", encoding="utf-8")
    assert read_truth(tmp_path) == {"an id": True, "other": False}
