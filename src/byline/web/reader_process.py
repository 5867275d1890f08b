"""Extract the text of uploaded files in a separate process, so that a hostile file can only harm that process.

It reads lines of JSON ({"path", "name"}) and answers each with one ({"characters", ...} or {"error"}).
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

from byline.corpora.documents import read_document
from byline.errors import BylineError
from byline.text.languages import detect_language, language_of_script
from byline.web.limits import Limits
from byline.web.messages import RefusedError, one_line, page_message
from byline.web.processes import KILL, signal_group, start_module

EXCERPT = 200
MEMORY = 3 << 30
"""Bytes that the process may allocate, if the system supports a limit."""
UNREADABLE = 422


class ReaderProcess:
    """Asks the process about one file at a time, and replaces it if it takes too long."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    async def read(self, path: Path, name: str) -> Mapping[str, Any]:
        """Return a description of a file's text, or refuse the file with the reason."""
        async with self._lock:
            try:
                found = await asyncio.wait_for(self._ask(path, name), self._limits.reading_seconds)
            except TimeoutError:
                await self._stop()
                raise RefusedError(UNREADABLE, f"{name}: takes too long to read; save it as plain text") from None
            except (OSError, ValueError, EOFError):
                await self._stop()
                raise RefusedError(UNREADABLE, f"{name}: is damaged and can't be read; save it as plain text") from None
            except asyncio.CancelledError:
                await self._stop()
                raise
        if "error" in found:
            raise RefusedError(UNREADABLE, one_line(str(found["error"])))
        return found

    async def _ask(self, path: Path, name: str) -> dict[str, Any]:
        if self._process is not None and self._process.returncode is not None:
            await self._stop()  # it ended since the last file
        if self._process is None:
            self._process = await start_module(__name__, str(self._limits.reading_seconds), keep_stderr=False)
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
        if process is not None and process.returncode is None:  # otherwise its number may be reused
            signal_group(process, KILL)
            await process.wait()

    async def close(self) -> None:
        """End the process."""
        async with self._lock:
            await self._stop()


def examine(path: Path, name: str) -> dict[str, Any]:
    """Describe a file's text, or return why there is none."""
    try:
        document = read_document(path, name)
    except BylineError as error:
        return {"error": page_message(error)}
    except (MemoryError, RecursionError):
        return {"error": f"{name}: too large or too deeply nested to read; save it as plain text"}
    text = document.text
    return {
        "characters": len(text),
        "script": language_of_script(text),
        "language": detect_language(text),
        "excerpt": " ".join(text[: 4 * EXCERPT].split())[:EXCERPT].strip(),
        "notes": [*document.guesses, *document.notes],
    }


def _limit(seconds: float) -> None:
    """Let the system end this process if it needs far too much time or memory, in case the server is gone."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        used = resource.getrusage(resource.RUSAGE_SELF)
        until = int(used.ru_utime + used.ru_stime + 2 * seconds) + 1
        resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def _listen(requests: queue.SimpleQueue[bytes]) -> None:
    """Collect requests while a file is being read; end the process with the server."""
    for line in sys.stdin.buffer:
        requests.put(line)
    os._exit(0)


def main(seconds: float) -> None:
    """Answer requests until the server ends."""
    requests: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    while True:
        file = json.loads(requests.get())
        _limit(seconds)
        sys.stdout.write(json.dumps(examine(Path(file["path"]), str(file["name"]))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(float(sys.argv[1]))
