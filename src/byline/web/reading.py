"""Files become text in a process of its own: one that hangs or breaks on a hostile file takes nothing with it.

The process reads a line of JSON ({"path", "name"}) and answers with a line of JSON ({"characters", ...} or {"error"}).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from byline.cautions.tongues import tell_language
from byline.documents import read_document
from byline.errors import BylineError
from byline.languages import language_of_script
from byline.web.limits import Limits, RefusedError
from byline.web.names import one_line
from byline.web.processes import KILL, begin_python, signal_all
from byline.web.telling import on_the_page

EXCERPT = 200
MEMORY = 3 << 30
"""Bytes that the process may ask for, where the system can be told."""
UNREADABLE = 422


class Reader:
    """Asks such a process, one file at a time, and begins a new one when it takes too long."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    async def read(self, path: Path, name: str) -> Mapping[str, Any]:
        """What can be told of a file's text; refused, with the reason, where it can't be read."""
        async with self._lock:
            try:
                found = await asyncio.wait_for(self._ask(path, name), self._limits.reading_seconds)
            except TimeoutError:
                await self._stop()
                raise RefusedError(UNREADABLE, f"{name}: takes too long to read; save it as plain text") from None
            except (OSError, ValueError, EOFError):
                await self._stop()
                raise RefusedError(UNREADABLE, f"{name}: can't be read, it is damaged; save it as plain text") from None
            except asyncio.CancelledError:
                await self._stop()
                raise
        if "error" in found:
            raise RefusedError(UNREADABLE, one_line(str(found["error"])))
        return found

    async def _ask(self, path: Path, name: str) -> dict[str, Any]:
        if self._process is not None and self._process.returncode is not None:
            await self._stop()  # ended by somebody else since the last file
        if self._process is None:
            self._process = await begin_python(__name__, str(self._limits.reading_seconds), heard=False)
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"path": str(path), "name": name}).encode() + b"\n")
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            raise EOFError
        found = json.loads(line)
        return found if isinstance(found, dict) else {}

    async def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None and process.returncode is None:  # else its number may be another's by now
            signal_all(process, KILL)
            await process.wait()

    async def close(self) -> None:
        """End the process."""
        async with self._lock:
            await self._stop()


def examine(path: Path, name: str) -> dict[str, Any]:
    """What can be told of a file's text, or why there is none."""
    try:
        document = read_document(path, name)
    except BylineError as error:
        return {"error": on_the_page(str(error))}
    except (MemoryError, RecursionError):
        return {"error": f"{name}: too large or too deeply nested to read; save it as plain text"}
    text = document.text
    return {
        "characters": len(text),
        "script": language_of_script(text),
        "language": tell_language(text),
        "excerpt": " ".join(text[: 4 * EXCERPT].split())[:EXCERPT].strip(),
        "notes": [on_the_page(note) for note in (*document.guesses, *document.notes)],
    }


def _limit(seconds: float) -> None:
    """Have the system end this process where it takes far too long or too much: nobody else may be left to do it."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = int(used.ru_utime + used.ru_stime + 2 * seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _listen(asked: queue.SimpleQueue[bytes]) -> None:
    """Take what is asked, also while a file is being read; the process ends when nobody can ask any more."""
    for line in sys.stdin.buffer:
        asked.put(line)
    os._exit(0)


def main(seconds: float) -> None:
    """Answer until nobody asks any more."""
    asked: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    while True:
        file = json.loads(asked.get())
        _limit(seconds)
        sys.stdout.write(json.dumps(examine(Path(file["path"]), str(file["name"]))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(float(sys.argv[1]))
