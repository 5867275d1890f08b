"""Replacing a folder: wherever the process dies, the old folder or the new one is there, and complete."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from byline.storage.files import (
    finish_replacement,
    is_replacing,
    prepared_folder,
    replace_folder,
    replaced_folder,
)

OLD = {"run/a/x": "old a", "run/b": "old b", "answers": "old"}
NEW = {"run/a/y": "new a", "run/b": "new b", "run/c": "new c"}
KILLED = 9

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes can't fork here")


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def files_in(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()}


def prepare(home: Path) -> Path:
    """The folder that is to be replaced, beside the one that is to replace it."""
    folder = write_files(home, OLD) / "run"
    write_files(home, {name.replace("run", prepared_folder(folder).name): text for name, text in NEW.items()})
    return folder


def run_until(step: int, work: Callable[[], None]) -> bool:
    """Run a function in a process that is killed before its n-th step; return whether it was, or came to its end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # about forking a process that has threads
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


def test_wherever_the_process_is_killed_the_old_or_the_new_folder_is_there(tmp_path: Path) -> None:
    """Even if the process that puts the old one back is killed too. What was made from the old one goes with it."""
    ends = []
    for step in range(1, 100):
        folder = prepare(tmp_path / str(step))
        killed = run_until(step, lambda folder=folder: replace_folder(folder, ["answers"]))  # type: ignore[misc]
        for again in range(1, 100):
            if not run_until(again, lambda folder=folder: finish_replacement(folder, ["answers"])):  # type: ignore[misc]
                break
        assert not is_replacing(folder)
        assert files_in(folder.parent) in (OLD, NEW)
        ends.append(files_in(folder.parent) == NEW)
        if not killed:
            break
    assert ends == sorted(ends)
    assert ends[-1]
    assert ends.count(False) > 3


def test_an_error_puts_the_old_folder_back(tmp_path: Path) -> None:
    folder = write_files(tmp_path, OLD) / "run"
    with pytest.raises(OSError, match=r"new\.part"):  # nothing is prepared
        replace_folder(folder, ["answers"])
    assert files_in(tmp_path) == OLD


def test_a_link_in_the_place_of_the_old_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere = write_files(tmp_path / "elsewhere", NEW)
    folder = prepare(tmp_path / "home")
    replaced_folder(folder).symlink_to(elsewhere)
    replace_folder(folder, ["answers"])
    assert files_in(tmp_path / "home") == NEW
    assert files_in(elsewhere) == NEW


def test_files_that_are_put_back_have_the_given_names_and_replace_nothing(tmp_path: Path) -> None:
    planted = {"answers": "planted", ".profile": "planted"}
    write_files(tmp_path / replaced_folder(tmp_path / "run").name, planted)
    write_files(tmp_path, {"answers": "mine"})
    finish_replacement(tmp_path / "run", ["answers"])
    assert (tmp_path / "answers").read_text("utf-8") == "mine"
    assert not (tmp_path / ".profile").exists()
