"""What comes in from the page: bodies that are neither too large nor too slow."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request

from byline.web.limits import Limits, RefusedError

FULL = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))


async def receive(request: Request, place: Path, name: str, limits: Limits, room: Callable[[int], None]) -> int:
    """Write a request's body to a new file; the number of its bytes. What is refused leaves nothing behind.

    `room` is told how many bytes there will be, as far as that is known, and refuses them where they are too many.
    """
    declared = request.headers.get("content-length", "")
    _require_size(name, int(declared) if declared.isascii() and declared.isdigit() else 0, limits, room)
    count = 0
    done = False
    try:
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for piece in _pieces(request, name, limits):
                count += len(piece)
                _require_size(name, count, limits, room)
                file.write(piece)
        done = True
    except OSError as error:
        if error.errno in FULL:
            raise RefusedError(507, f"{name}: the disk is full; make room and try again") from None
        raise
    finally:
        if not done:
            place.unlink(missing_ok=True)
    return count


async def read_message(request: Request, limits: Limits) -> dict[str, Any]:
    """The JSON object that a request brings."""
    content = bytearray()
    async for piece in _pieces(request, "the request", limits):
        content += piece
        if len(content) > limits.message_bytes:
            raise RefusedError(413, "the request is too large")
    try:
        found = json.loads(bytes(content))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RefusedError(422, "the request is no JSON object")
    return found


async def _pieces(request: Request, name: str, limits: Limits) -> AsyncIterator[bytes]:
    """A body's pieces, as long as they come as fast as a machine sends to itself."""
    stream = request.stream().__aiter__()
    begin, count = time.monotonic(), 0
    while True:
        left = begin + limits.patience + count / limits.slowest - time.monotonic()
        try:
            piece = await asyncio.wait_for(anext(stream), max(left, 0))
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise RefusedError(408, f"{name}: comes too slowly; try again") from None
        except ClientDisconnect:
            raise RefusedError(400, f"{name}: broken off") from None
        count += len(piece)
        yield piece


def _require_size(name: str, count: int, limits: Limits, room: Callable[[int], None]) -> None:
    if count > limits.file_bytes:
        raise RefusedError(413, f"{name}: too large; {megabytes(limits.file_bytes)} are the most")
    room(count)


def megabytes(count: int) -> str:
    """A number of bytes, to read."""
    return f"{count / 1_000_000:,.0f} MB" if count >= 1_000_000 else f"{count:,} bytes"
