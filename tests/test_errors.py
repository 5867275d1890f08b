"""Errors carry what is wrong, where and the remedy, and each reader gets the remedy in their own words."""

from __future__ import annotations

import pickle

import pytest

from byline.errors import COMMAND_LINE, OVERWRITE, BylineError, Reader, RunError

ERROR = RunError("holds a run already", where="out", remedy=OVERWRITE)


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        (None, "out: holds a run already. Replace it with overwrite=True"),
        (COMMAND_LINE, "out: holds a run already. Replace it with --overwrite"),
        (Reader(str, {OVERWRITE: "Delete it first"}), "out: holds a run already. Delete it first"),
    ],
)
def test_each_reader_gets_the_remedy_in_their_own_words(reader: Reader | None, message: str) -> None:
    assert (ERROR.phrase(reader) if reader else str(ERROR)) == message


def test_each_of_several_causes_has_its_remedy_in_the_reader_s_words() -> None:
    several = BylineError("these can't be used", causes=[ERROR, BylineError("is empty", where="a.txt")])
    message = "these can't be used (2):\n  out: holds a run already. Replace it with --overwrite\n  a.txt: is empty"
    assert several.phrase(COMMAND_LINE) == message
    assert str(pickle.loads(pickle.dumps(several))) == str(several)


def test_place_and_remedy_are_optional() -> None:
    assert str(BylineError("out of memory")) == "out of memory"
    assert str(BylineError("is empty", where="a.txt")) == "a.txt: is empty"


def test_an_error_from_a_worker_process_keeps_its_place_and_remedy() -> None:
    back = pickle.loads(pickle.dumps(ERROR))
    assert (type(back), back.what, back.where, back.remedy) == (RunError, ERROR.what, ERROR.where, ERROR.remedy)
