"""Signals end a command as Ctrl-C does, with the exit code of the signal."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest


def run(*words: str, folder: Path | None = None) -> tuple[int, str]:
    """The exit code and the standard error of a Python program."""
    command = [sys.executable, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    return done.returncode, done.stderr


WITHIN_EXEC = """
import os
from byline.storage.process import exit_interrupted, handle_signals

handle_signals()
try:
    exec("import time; os.kill(os.getpid(), {number}); time.sleep(60)")
except KeyboardInterrupt:
    exit_interrupted()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("words", [["-m", "stopped"], ["stopped.py"]], ids=["module", "script"])
def test_a_signal_while_code_is_made_from_a_string_ends_with_its_own_code(
    tmp_path: Path, number: signal.Signals, words: list[str]
) -> None:
    (tmp_path / "stopped.py").write_text(WITHIN_EXEC.format(number=int(number)))
    assert run(*words, folder=tmp_path) == (128 + number, f"byline: stopped by {number.name}\n")


WHILE_PARSING = """
import os, sys
import typer.core

def stop(self, context, words):
    os.kill(os.getpid(), {number})

import byline.cli
typer.core.TyperCommand.parse_args = stop
sys.argv = ["byline", "presets"]
from byline.__main__ import main
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_while_words_are_parsed_is_said_too(number: signal.Signals, code: int) -> None:
    ended, said = run("-c", WHILE_PARSING.format(number=int(number)))
    cause = "interrupted" if number == signal.SIGINT else f"stopped by {number.name}"
    assert (ended, said.endswith(f"byline: {cause}\n")) == (code, True)


@pytest.mark.parametrize(("raised", "code"), [("from stop", 130), ("", 1)], ids=["stopped", "broken"])
def test_a_module_that_is_stopped_while_it_is_loaded_ends_as_all_else_does(raised: str, code: int) -> None:
    """Compiled ones say that they could not be loaded, and that the reason was a KeyboardInterrupt."""
    script = f"""
import byline.cli, byline.__main__
def app(**_):
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        stop = error
    raise ImportError("initialization failed") {raised}
byline.cli.app = app
byline.__main__.main()
"""
    ended, said = run("-c", script)
    assert (ended, "Traceback" in said) == (code, code == 1)


@pytest.mark.parametrize(("number", "words"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "stopped by SIGTERM")])
def test_an_interruption_that_comes_while_python_cleans_up_is_not_lost(number: int, words: str) -> None:
    """Python would print a traceback, and go on."""
    script = f"""
import os, time
import byline.cli, byline.__main__
class Cleaned:
    def __del__(self):
        os.kill(os.getpid(), {int(number)})
        time.sleep(1)
def app(**_):
    Cleaned()
    time.sleep(30)
byline.cli.app = app
byline.__main__.main()
"""
    assert run("-c", script) == (128 + number, f"byline: {words}\n")


def test_one_that_comes_when_all_is_done_says_nothing_more() -> None:
    script = """
import atexit, os, signal
import byline.cli, byline.__main__
byline.cli.app = lambda **_: None
atexit.register(os.kill, os.getpid(), signal.SIGINT)
byline.__main__.main()
"""
    assert run("-c", script) == (-signal.SIGINT, "")
