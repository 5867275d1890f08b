"""Worker processes, seen from both sides. A worker sends lines of JSON and ends when the server does.

The server holds a worker's standard input open. When that ends, the server is gone, however it ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

GRACE = 3.0
"""Seconds in which a process may end by itself."""
POLL = 1.0
"""Seconds between two checks whether a silent process still exists."""
MAX_LINE = 1 << 20
MAX_STDERR = 4_000
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
FAILED = 1
"""Exit code of a worker that sent the reason why it failed."""

SendMessage = Callable[..., None]
"""Sends keyword arguments to the server; any thread may call it."""


async def start_module(module: str, *arguments: str, keep_stderr: bool = True) -> asyncio.subprocess.Process:
    """Start a process that runs a module of this program (-P: not one from the current folder)."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", module, *arguments, limit=MAX_LINE,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE if keep_stderr else asyncio.subprocess.DEVNULL,
        start_new_session=os.name == "posix",
    )  # fmt: skip


async def receive_messages(
    process: asyncio.subprocess.Process, receive: Callable[[dict[str, Any]], None]
) -> tuple[int, str]:
    """Pass on a process's messages until it ends; return its exit code and the end of its standard error.

    Whatever it started and left behind is ended, too. If this is canceled, so is the process.
    """
    assert process.stdout
    assert process.stderr
    last = asyncio.create_task(_read_end(process.stderr))
    try:
        while line := await _next_line(process, process.stdout):
            if message := _parse(line):
                receive(message)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
    except BaseException:
        last.cancel()
        signal_group(process, signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
        signal_group(process, KILL)
        await process.wait()
        raise
    signal_group(process, KILL)  # its children, and itself if it only closed its output
    return await process.wait(), await last


def signal_group(process: asyncio.subprocess.Process, number: int) -> None:
    """Send a signal to a process and all that it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            process.terminate()


async def _next_line(process: asyncio.subprocess.Process, stream: asyncio.StreamReader) -> bytes:
    """Return a line, or nothing if the process has ended, even if a child still holds the stream."""
    while True:
        try:
            return await asyncio.wait_for(stream.readline(), POLL)
        except TimeoutError:
            if process.returncode is not None:
                return b""
        except ValueError:  # the line is too long
            continue


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


async def _read_end(stream: asyncio.StreamReader) -> str:
    """Return the end of a stream, which is read completely so that the process never waits."""
    end = b""
    while chunk := await stream.read(1 << 16):
        end = (end + chunk)[-MAX_STDERR:]
    return end.decode("utf-8", "replace").strip()


def connect_to_server() -> SendMessage:
    """In a worker: return a function that sends messages, and end this process when the server ends."""
    lock = threading.Lock()

    def send(**values: object) -> None:
        with lock:
            sys.stdout.write(json.dumps(values) + "\n")
            sys.stdout.flush()

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        os._exit(FAILED)

    threading.Thread(target=wait, daemon=True).start()
    return send


class _WarningHandler(logging.Handler):
    """Passes warnings on."""

    def __init__(self, receive: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._receive = receive

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a warning on."""
        self._receive(record.getMessage())


@contextlib.contextmanager
def forward_warnings(receive: Callable[[str], None]) -> Iterator[None]:
    """Pass on this program's warnings; those of other libraries are not for the page."""
    handler, root = _WarningHandler(receive), logging.getLogger("byline")
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
