"""Run commands as a user does, without the time that starting takes.

A server that has imported the program forks for each command: the child has its own arguments, folder, environment
and outputs, and ends as the program does. Tests of starting, signals or limits start a real process instead.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, NoReturn

import typer.main
import typer.testing

from byline.runs.executor import Execution

LIMIT = 300.0
"""Seconds that a command may take, including the start of the server before the first."""


DYING = """
import os
from pathlib import Path
from byline.storage import files
left = POINT
def count():
    global left
    left -= 1
    if not left: os._exit(9)
def dying(act):
    def counted(*words, **more):
        count()
        return act(*words, **more)
    return counted
write = files._write
def dying_write(path, content):
    write(path, content[: len(content) // 2])
    count()
    write(path, content)
files._write = dying_write
for name in ("replace", "rename", "unlink", "rmdir"):
    setattr(Path, name, dying(getattr(Path, name)))
for name in ("unlink", "rmdir"):  # which shutil.rmtree calls
    setattr(os, name, dying(getattr(os, name)))
"""
"""Python code that ends a process as SIGKILL does when, for the POINT-th time, a file is half written or is about to be
renamed or removed."""


@dataclass(frozen=True)
class Started:
    """A running command and its process id; only one runs at a time."""

    words: list[str]
    number: int

    def running(self) -> bool:
        """Return whether it is still running."""
        return not select.select([begin_server().stdout], [], [], 0)[0]

    def wait(self, timeout: float = LIMIT) -> int:
        """Return its exit code; kill it and raise TimeoutExpired if it takes too long."""
        if not select.select([begin_server().stdout], [], [], timeout)[0]:
            kill_server()
            raise subprocess.TimeoutExpired(self.words, timeout)
        return _read_number()


def start(
    *words: object, cwd: Path | str, outputs: Sequence[str], environment: Mapping[str, str], before: str = ""
) -> Started:
    """Start `byline WORDS` with files for its output; its process runs the Python code `before` first."""
    command = ["byline", *map(str, words)]
    asked = {"words": command, "folder": str(cwd), "environment": dict(environment), "outputs": [*outputs]}
    server = begin_server()
    assert server.stdin
    server.stdin.write(json.dumps({**asked, "before": before}).encode() + b"\n")
    return Started(command, _read_number())


def run(
    *words: object, cwd: Path | str | None = None, columns: int = 120, timeout: float = LIMIT, before: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `byline WORDS`; kill it and raise TimeoutExpired if it takes too long."""
    environment = {**os.environ, "COLUMNS": str(columns), "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as place:
        outputs = [f"{place}/stdout", f"{place}/stderr"]
        started = start(*words, cwd=cwd or os.getcwd(), outputs=outputs, environment=environment, before=before)
        try:
            code = started.wait(timeout)
        except subprocess.TimeoutExpired as late:
            late.stdout, late.stderr = (Path(path).read_text("utf-8", "replace") for path in outputs)  # type: ignore[assignment]
            raise
        texts = [Path(path).read_text("utf-8") for path in outputs]
    return subprocess.CompletedProcess(started.words, code, *texts)


def kill_server() -> None:
    """Kill the server and its children; the next command starts another."""
    server = begin_server()
    os.killpg(server.pid, signal.SIGKILL)
    server.wait()
    begin_server.cache_clear()


def _read_number() -> int:
    server = begin_server()
    assert server.stdout
    told = server.stdout.readline()
    assert told, f"the server of commands ended with {server.wait()}"
    return int(told)


@cache
def begin_server() -> subprocess.Popen[bytes]:
    """Start the server, once per process of the tests; it ends when its input does."""
    process = subprocess.Popen(
        [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True
    )

    def end() -> None:
        assert process.stdin
        assert process.stdout
        process.stdin.close()
        process.stdout.close()
        process.wait()

    atexit.register(end)
    return process


def make_commands_once() -> None:
    """Build typer's tree of commands once per process rather than for each command."""
    typer.main.get_command = typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[assignment]


def _serve(requests: IO[str], answers: IO[str]) -> None:
    import byline.estimators  # noqa: F401
    from byline.cli import app, load_commands

    make_commands_once()
    load_commands(typer.main.get_command(app))
    _load_code()
    for line in requests:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            _become(asked)
        print(child, file=answers, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


def _load_code() -> None:
    """Load compiled code from its cache here, once, rather than in each child."""
    from byline.corpora.problems import builtin_problems
    from byline.settings.settings import Pool, Settings
    from byline.tasks.verify import verify

    members = (Settings(hidden=2, sub_epochs=1), Settings(engine="ngram"), Settings(engine="vectors"))
    with builtin_problems() as folder:
        verify(
            folder, Pool("all engines", members), members=len(members), execution=Execution(workers=1, cautions=False)
        )


def _become(asked: dict[str, Any]) -> NoReturn:
    """Run the program in this process, and end it."""
    code: object = 1
    try:
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["folder"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        for number, path in enumerate(asked["outputs"], start=1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), number)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, encoding="utf-8", closefd=False)
        sys.argv = asked["words"]
        exec(asked["before"], {})
        try:
            from byline.__main__ import main

            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        except BaseException:
            traceback.print_exc()
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(code if isinstance(code, int) else 1)


if __name__ == "__main__":
    with os.fdopen(os.dup(0), encoding="utf-8") as requests, os.fdopen(os.dup(1), "w", encoding="utf-8") as answers:
        _serve(requests, answers)
