"""Worker processes of the page. A worker exchanges lines of JSON with the server and ends when the server does.

The server holds a worker's standard input open. When that ends, the server is gone, however it ended. Run as
`python -m byline.web.processes`, this module extracts the text of uploaded files, so that a hostile file can only harm
that process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from byline.corpora.documents import read_document
from byline.errors import BylineError
from byline.text.languages import detect_language, language_of_script
from byline.web.messages import RefusedError, one_line, page_message

GRACE = 3.0
"""Seconds in which a process may end by itself."""
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
FAILED = 1
"""Exit code of a worker that sent the reason why it failed."""
EXCERPT = 200
MEMORY = 3 << 30
"""Bytes that the process that reads files may allocate, if the system supports a limit."""

SendMessage = Callable[..., None]
"""Sends keyword arguments to the server; any thread may call it."""


async def run_module(module: str, *arguments: str, receive: Callable[[dict[str, Any]], None]) -> int:
    """Run a module in a worker and pass on its messages; return its exit code. If this is canceled, so is the worker.

    Processes that the worker leaves behind are ended, too.
    """
    process = await _start_module(module, *arguments)
    assert process.stdout
    try:
        async for line in process.stdout:
            receive(json.loads(line))
        return await process.wait()
    finally:
        await _end_process(process)


async def _start_module(module: str, *arguments: str, stderr: int | None = None) -> asyncio.subprocess.Process:
    """Start a process that runs a module of this program (-P: not one from the current folder)."""
    return await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", module, *arguments,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=stderr,
        start_new_session=os.name == "posix",
    )  # fmt: skip


async def _end_process(process: asyncio.subprocess.Process) -> None:
    """End a process and all that it started."""
    try:
        if process.returncode is None:
            _signal_group(process, signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE)
    finally:
        _signal_group(process, KILL)
    await process.wait()


def _signal_group(process: asyncio.subprocess.Process, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, number)
        else:
            process.terminate()


class TextReader:
    """Asks the reading process about one file at a time, and replaces it if it takes too long."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None

    async def read(self, path: Path, name: str) -> Mapping[str, Any]:
        """Return a description of a file's text, or refuse the file with the reason."""
        async with self._lock:
            try:
                found = await asyncio.wait_for(self._ask(path, name), self._seconds)
            except BaseException as error:
                await self.close()
                if not isinstance(error, OSError | EOFError | ValueError):
                    raise
                fault = "takes too long to read" if isinstance(error, TimeoutError) else "is damaged and can't be read"
                raise RefusedError(422, f"{name}: {fault}; save it as plain text") from None
        if "error" in found:
            raise RefusedError(422, one_line(str(found["error"])))
        return found

    async def _ask(self, path: Path, name: str) -> dict[str, Any]:
        if self._process is None or self._process.returncode is not None:
            self._process = await _start_module(__name__, stderr=asyncio.subprocess.DEVNULL)
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps({"path": str(path), "name": name}).encode() + b"\n")
        await self._process.stdin.drain()
        line = await self._process.stdout.readline()
        if not line:
            raise EOFError
        return dict(json.loads(line))

    async def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:  # otherwise its number may be reused
            await _end_process(process)


def connect_to_server() -> tuple[SendMessage, Callable[[], Any]]:
    """In a worker: return functions that send and receive messages, and end this process when the server ends.

    Whatever else is printed goes to standard error, here and in the processes that this one starts.
    """
    channel = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)
    lock = threading.Lock()
    received: queue.SimpleQueue[Any] = queue.SimpleQueue()

    def send(**values: object) -> None:
        with lock:
            channel.write(json.dumps(values) + "\n")
            channel.flush()

    def listen() -> None:
        with open(0, "rb", closefd=False) as requests:
            for line in requests:
                received.put(json.loads(line))
        os._exit(FAILED)

    threading.Thread(target=listen, daemon=True).start()
    return send, received.get


def describe_text(path: Path, name: str) -> dict[str, Any]:
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


def main() -> None:
    """Describe files until the server ends."""
    send, receive = connect_to_server()
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    while True:
        file = receive()
        send(**describe_text(Path(file["path"]), file["name"]))


if __name__ == "__main__":
    main()
