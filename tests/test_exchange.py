"""Parts of a folder that take the place of others: wherever the process dies, one or the other is there whole."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from byline.agreement import examine_run
from byline.errors import RunError
from byline.exchange import TAKEN, TAKING, exchange, is_unfinished, undo_exchange
from byline.execution import Keep
from byline.runs import PARTS, find_run, hold
from byline.settings import Settings
from byline.verification import verify
from conftest import MakeCorpus, small_problems

NAMES = ("a", "b", "c")
OLD = {"a/x": "old a", "b": "old b"}
NEW = {"a/y": "new a", "b": "new b", "c": "new c"}
KILLED = 9

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes can't fork here")


def lay(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def held(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


def run_until(step: int, work: Callable[[], None]) -> bool:
    """Do something in a process that is killed just before its n-th step; whether it was, or came to its end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child of a process with threads does but little
        child = os.fork()
    if not child:
        left = [step]

        def count(act: Callable[..., object]) -> Callable[..., object]:
            def counted(*words: object, **more: object) -> object:
                left[0] -= 1
                if not left[0]:
                    os._exit(KILLED)
                return act(*words, **more)

            return counted

        for name in ("mkdir", "rename", "unlink", "rmdir"):
            setattr(Path, name, count(getattr(Path, name)))
            if name != "rename":
                setattr(os, name, count(getattr(os, name)))
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, KILLED)
    return code == KILLED


def test_new_parts_take_the_place_of_old_ones(tmp_path: Path) -> None:
    folder, new = lay(tmp_path / "run", {**OLD, "lock": ""}), lay(tmp_path / "run/.new.part", NEW)
    exchange(folder, new, NAMES)
    assert held(folder) == {**NEW, "lock": "", ".new.part/old/a/x": "old a", ".new.part/old/b": "old b"}
    assert not is_unfinished(folder)


def test_wherever_its_process_is_killed_the_old_ones_come_back_or_the_new_ones_are_there(tmp_path: Path) -> None:
    """The new ones have a part more: it may not stay beside the old ones. What was made of those goes with them."""
    ends = []
    for step in range(1, 100):
        around = lay(tmp_path / str(step), {"answers": "old", **{f"run/{name}": text for name, text in OLD.items()}})
        folder, new = around / "run", lay(tmp_path / f"new{step}", NEW)
        killed = run_until(step, lambda folder=folder, new=new: exchange(folder, new, NAMES, ["answers"]))  # type: ignore[misc]
        undo_exchange(folder, NAMES, ["answers"])
        assert not is_unfinished(folder)
        assert (held(folder), (around / "answers").exists()) in ((OLD, True), (NEW, False))
        ends.append(held(folder) == NEW)
        if not killed:
            break
    assert ends == [False] * (len(ends) - 1) + [True]
    assert len(ends) > 7, "two parts that go, three that come, and three changes of the hidden folder's name"


@pytest.mark.parametrize("reached", [TAKING, TAKEN])
def test_undoing_it_may_be_killed_too(tmp_path: Path, reached: str) -> None:
    for step in range(1, 100):
        folder = lay(tmp_path / str(step), {f"{reached}/b": "old b"})
        lay(folder, {f"{reached}/a/x": "old a", **NEW} if reached == TAKEN else {"a/x": "old a"})
        killed = run_until(step, lambda folder=folder: undo_exchange(folder, NAMES))  # type: ignore[misc]
        undo_exchange(folder, NAMES)
        assert held(folder) == OLD
        assert not is_unfinished(folder)
        if not killed:
            break
    assert step > 2


@pytest.mark.parametrize("name", [TAKING, TAKEN])
def test_a_link_in_the_place_of_what_was_taken_is_not_followed(tmp_path: Path, name: str) -> None:
    folder, elsewhere = lay(tmp_path / "run", OLD), lay(tmp_path / "elsewhere", NEW)
    (folder / name).symlink_to(elsewhere)
    assert not is_unfinished(folder)
    undo_exchange(folder, NAMES)
    assert (held(elsewhere), (folder / "b").read_text("utf-8")) == (NEW, "old b")


def test_what_comes_back_from_somebody_elses_folder_takes_no_other_names_and_nobodys_place(tmp_path: Path) -> None:
    planted = {f"{TAKING}/above/answers": "planted", f"{TAKING}/above/.profile": "planted"}
    folder = lay(tmp_path / "run", planted)
    lay(tmp_path, {"answers": "mine"})
    undo_exchange(folder, NAMES, ["answers"])
    assert held(tmp_path) == {"answers": "mine"}


def test_a_run_that_was_being_replaced_when_the_process_died_is_found_again(
    make_corpus: MakeCorpus, tmp_path: Path
) -> None:
    folder = tmp_path / "out/run"
    verify(make_corpus(small_problems(6)), Settings(hidden=4, sub_epochs=1), keep=Keep(folder))
    before = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / TAKEN).mkdir()
    for name in PARTS:
        (folder / name).rename(folder / TAKEN / name)
    (folder / PARTS[0]).mkdir()
    assert find_run(tmp_path / "out") == folder
    assert {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert examine_run(folder).members


def test_while_it_is_going_on_nobody_interferes(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with hold(folder):
        (folder / TAKING).mkdir()
        with pytest.raises(RunError, match="another process is at work here"):
            find_run(folder)
        assert (folder / TAKING).is_dir()
