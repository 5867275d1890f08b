"""Processes of the server's own: each tells a line of JSON at a time, and can be ended with all that it began.

They end by themselves when their standard input does, which is when the server is gone, however it went.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

GRACE = 3.0
"""Seconds that a process has to end by itself."""
LOOK = 1.0
"""Seconds between two looks at whether a silent one is still there."""
LINE = 1 << 20
"""Bytes of the longest line that is heard."""
WORDS = 4_000
"""Bytes of what a process that breaks says last."""
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


async def begin_python(module: str, *arguments: str, heard: bool = True) -> asyncio.subprocess.Process:
    """A process that runs a module; of what it says on its standard error the end is kept, where that is `heard`.

    It looks for modules where this program does, not in the folder that the server was started in (-P).
    """
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", module, *arguments, limit=LINE,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE if heard else asyncio.subprocess.DEVNULL,
        start_new_session=os.name == "posix",
    )  # fmt: skip


async def follow(process: asyncio.subprocess.Process, hear: Callable[[dict[str, Any]], None]) -> tuple[int, str]:
    """Hear what a process tells until it ends: its exit code, and its last words.

    When this is cancelled, it is put down; and what it began and left behind is ended in any case.
    """
    assert process.stdout
    assert process.stderr
    last = asyncio.create_task(_last_words(process.stderr))
    try:
        while line := await _next_line(process, process.stdout):
            if told := _read(line):
                hear(told)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), GRACE)
    except BaseException:
        last.cancel()
        await put_down(process)
        raise
    signal_all(process, KILL)  # whatever it left running, and itself if it only fell silent
    return await process.wait(), await last


async def put_down(process: asyncio.subprocess.Process) -> None:
    """End a process, in a friendly way first."""
    signal_all(process, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), GRACE)
    signal_all(process, KILL)
    await process.wait()


def signal_all(process: asyncio.subprocess.Process, number: int) -> None:
    """To the process and all that it began."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            process.terminate()


async def _next_line(process: asyncio.subprocess.Process, stream: asyncio.StreamReader) -> bytes:
    """A line, or nothing where the process has ended, even if a child of it still holds the stream."""
    while True:
        try:
            return await asyncio.wait_for(stream.readline(), LOOK)
        except TimeoutError:
            if process.returncode is not None:
                return b""
        except ValueError:  # too long a line
            continue


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


async def _last_words(stream: asyncio.StreamReader) -> str:
    """The end of what is said on a stream, which is read to its end so that nobody has to wait."""
    words = b""
    while piece := await stream.read(1 << 16):
        words = (words + piece)[-WORDS:]
    return words.decode("utf-8", "replace").strip()
