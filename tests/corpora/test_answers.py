"""Answers and truth: what is written can be read, and every bad entry is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.corpora.answers import (
    Answer,
    check_output,
    format_answers,
    match_truth,
    read_answers,
    read_truth,
    write_answers,
)
from byline.errors import AnswersError, RunError
from refusals import refusal


@pytest.mark.parametrize(
    ("probability", "text"),
    [(0.5, "0.500"), (0.5001, "0.501"), (0.4999, "0.499"), (0.7314, "0.731"), (0.0, "0.000"), (1.0, "1.000")],
)
def test_only_an_undecided_answer_is_written_as_a_half(probability: float, text: str) -> None:
    assert format_answers([Answer("EN001", probability)], "folders") == f"EN001 {text}\n"


@given(st.floats(0, 1))
def test_rounding_never_changes_the_side(probability: float) -> None:
    answer = Answer("x", probability)
    assert (answer.rounded > 0.5) == (probability > 0.5)
    assert (answer.rounded < 0.5) == (probability < 0.5)


def test_answers_are_sorted_by_id() -> None:
    assert format_answers([Answer("b", 1), Answer("a", 0)], "folders") == "a 0.000\nb 1.000\n"
    assert format_answers([Answer("b", 1), Answer("é", 0.25)], "pairs") == (
        '{"id": "b", "value": 1}\n{"id": "\\u00e9", "value": 0.25}\n'
    )


@pytest.mark.parametrize("layout", ["folders", "pairs"])
def test_what_is_written_can_be_read_again(tmp_path: Path, layout: str) -> None:
    name = {"folders": "answers.txt", "pairs": "answers.jsonl"}[layout]
    write_answers(tmp_path, [Answer("one", 0.5), Answer("two", 0.123)], layout)  # type: ignore[arg-type]
    assert read_answers(tmp_path) == read_answers(tmp_path / name) == {"one": 0.5, "two": 0.123}
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_folder_with_answers_is_refused_unless_they_may_be_overwritten(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text("", "utf-8")
    error = refusal(RunError, check_output, tmp_path)
    assert error.where == str(tmp_path / "answers.jsonl")
    assert "{overwrite}" in str(error.remedy)
    check_output(tmp_path, overwrite=True)
    check_output(tmp_path / "new" / "deep")
    assert not (tmp_path / "new").exists()  # nothing is made before there is something to write


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        assert refusal(RunError, check_output, path).where == str(path)
    (tmp_path / "answers.txt").mkdir()
    assert refusal(RunError, check_output, tmp_path, overwrite=True).where == str(tmp_path / "answers.txt")


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


def test_ids_may_hold_spaces(tmp_path: Path) -> None:
    (tmp_path / "truth.txt").write_text("an id Y\nother N\n", encoding="utf-8")
    assert read_truth(tmp_path) == {"an id": True, "other": False}


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("answers.txt", "", "empty"),
        ("answers.txt", "EN001 1.5", "line 1"),
        ("answers.txt", "EN001 nan", "line 1"),
        ("answers.txt", "EN001", "line 1"),
        ("answers.txt", "EN001 0.5\nEN001 0.6", "line 2: id EN001 occurs twice"),
        ("answers.jsonl", '{"id": "a", "value": "x"}', "line 1"),
        ("answers.jsonl", "nope", "line 1"),
        ("truth.txt", "", "empty"),
        ("truth.txt", "EN001 maybe", "line 1"),
        ("truth.txt", "EN001 Y\nEN001 N", "line 2: id EN001 occurs twice"),
        ("truth.json", "{", "JSON"),
        ("truth.json", '{"EN001": "Y", "EN002": "N", "EN001": "N"}', "EN001: id EN001 occurs twice"),
        ("truth.jsonl", '{"id": "a"}\n{nope', "line 2"),
    ],
)
def test_bad_entries_are_named(tmp_path: Path, name: str, text: str, fault: str) -> None:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    read: Callable[[Path], object] = read_truth if name.startswith("truth") else read_answers
    error = refusal(AnswersError, read, path)
    assert error.where == str(path)
    assert fault in error.what


@pytest.mark.parametrize("read", [read_answers, read_truth])
def test_missing_files_are_named(tmp_path: Path, read: Callable[[Path], object]) -> None:
    for path in (tmp_path, tmp_path / "truth.txt", tmp_path / ("x" * 300)):
        assert refusal(AnswersError, read, path).where == str(path)


def test_a_missing_answer_is_a_half_and_an_unknown_id_is_refused() -> None:
    assert match_truth({"a": 0.9}, {"a": True, "b": False}, "x") == ([True, False], [0.9, 0.5])
    error = refusal(AnswersError, match_truth, {"a": 0.9, "c": 1.0, "d": 0.1}, {"a": True}, "x")
    assert (error.where, "c, d" in error.what) == ("x", True)
