from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.answers import Answer, check_output, format_answers, match_truth, read_answers, write_answers
from byline.errors import AnswersError, RunError


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


def test_a_folder_that_holds_answers_is_refused_unless_told(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text("", "utf-8")
    with pytest.raises(
        RunError, match=r"answers\.jsonl: exists already; choose another folder, or replace it by --overwrite"
    ):
        check_output(tmp_path)
    check_output(tmp_path, overwrite=True)
    check_output(tmp_path / "new" / "deep")
    assert not (tmp_path / "new").exists()  # nothing is made before there is something to write


def test_a_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", "utf-8")
    with pytest.raises(RunError, match="can't be written to"):
        check_output(tmp_path / "file")
    with pytest.raises(RunError, match="can't be written to"):
        check_output(tmp_path / "file" / "below")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("answers.txt", "", "empty"),
        ("answers.txt", "EN001 1.5", "line 1: no id with a number from 0 to 1"),
        ("answers.txt", "EN001 nan", "line 1"),
        ("answers.txt", "EN001", "line 1"),
        ("answers.txt", "EN001 0.5\nEN001 0.6", "line 2: id EN001 occurs twice"),
        ("answers.jsonl", '{"id": "a", "value": "x"}', "line 1"),
        ("answers.jsonl", "nope", "line 1"),
    ],
)
def test_bad_answers_are_named(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(AnswersError, match=message):
        read_answers(tmp_path / name)


def test_missing_answers_are_named(tmp_path: Path) -> None:
    with pytest.raises(AnswersError, match=r"no answers\.txt or answers\.jsonl there"):
        read_answers(tmp_path)
    with pytest.raises(AnswersError, match="not found"):
        read_answers(tmp_path / "answers.txt")
    with pytest.raises(AnswersError, match="can't be read"):
        read_answers(tmp_path / ("x" * 300))


def test_a_missing_answer_is_a_half_and_an_unknown_id_is_refused() -> None:
    assert match_truth({"a": 0.9}, {"a": True, "b": False}, "x") == ([True, False], [0.9, 0.5])
    with pytest.raises(AnswersError, match="the truth does not know these 2 ids: c, d"):
        match_truth({"a": 0.9, "c": 1.0, "d": 0.1}, {"a": True}, "x")


def test_a_folder_in_the_place_of_an_answers_file_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "answers.txt").mkdir()
    with pytest.raises(RunError, match=r"answers\.txt: is a folder"):
        check_output(tmp_path, overwrite=True)
