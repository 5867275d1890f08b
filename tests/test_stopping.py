from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

WITHIN_EXEC = """
import os
from byline.stopping import end_interrupted, heed_signals

heed_signals()
try:
    exec("import time; os.kill(os.getpid(), {number}); time.sleep(60)")
except KeyboardInterrupt:
    end_interrupted()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("words", [["-m", "stopped"], ["stopped.py"]], ids=["module", "script"])
def test_a_signal_while_code_is_made_from_a_string_ends_with_its_own_code(
    tmp_path: Path, number: signal.Signals, words: list[str]
) -> None:
    (tmp_path / "stopped.py").write_text(WITHIN_EXEC.format(number=int(number)))
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (128 + number, f"byline: stopped by {number.name}\n")


WHILE_PARSING = """
import os, sys
import typer.core

def stop(self, context, words):
    os.kill(os.getpid(), {number})

import byline.commands
typer.core.TyperCommand.parse_args = stop
sys.argv = ["byline", "presets"]
from byline.__main__ import main
main()
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_while_words_are_parsed_is_said_too(number: signal.Signals, code: int) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WHILE_PARSING.format(number=int(number))], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == code
    cause = "interrupted" if number == signal.SIGINT else f"stopped by {number.name}"
    assert done.stderr.endswith(f"byline: {cause}\n")


@pytest.mark.parametrize(("raised", "code"), [("from stop", 130), ("", 1)], ids=["stopped", "broken"])
def test_a_module_that_is_stopped_while_it_is_loaded_ends_as_all_else_does(raised: str, code: int) -> None:
    """Compiled ones say that they could not be loaded, and that the reason was a KeyboardInterrupt."""
    script = f"""
import byline.commands, byline.__main__
def app(**_):
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        stop = error
    raise ImportError("initialization failed") {raised}
byline.commands.app = app
byline.__main__.main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code
    assert ("Traceback" in done.stderr) == (code == 1)


@pytest.mark.parametrize(("number", "words"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "stopped by SIGTERM")])
def test_an_interruption_that_comes_while_python_cleans_up_is_not_lost(number: int, words: str) -> None:
    """Python would print a traceback, and go on."""
    script = f"""
import os, time
import byline.commands, byline.__main__
class Cleaned:
    def __del__(self):
        os.kill(os.getpid(), {int(number)})
        time.sleep(1)
def app(**_):
    Cleaned()
    time.sleep(30)
byline.commands.app = app
byline.__main__.main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stderr) == (128 + number, f"byline: {words}\n")


def test_one_that_comes_when_all_is_done_says_nothing_more() -> None:
    script = """
import atexit, os, signal
import byline.commands, byline.__main__
byline.commands.app = lambda **_: None
atexit.register(os.kill, os.getpid(), signal.SIGINT)
byline.__main__.main()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=20)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
