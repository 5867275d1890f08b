"""Uploaded files: received, unpacked if they are archives, read, and kept in a draft."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Mapping
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect, Request

from byline.corpora.documents import has_text_name
from byline.corpora.formats import FORMATS
from byline.storage.files import discard
from byline.web.archives import unpack
from byline.web.drafts import Draft, Drafts, UploadedFile
from byline.web.file_names import check_path, leads_elsewhere, unwrap_names
from byline.web.limits import Limits
from byline.web.messages import DISK_FULL, MAX_SHOWN, RefusedError, megabytes, one_line, show_name
from byline.web.reader_process import ReaderProcess

ROLES = ("known", "unknown", "reference", "candidates", "texts", "corpus")
TABLES = (".json", ".jsonl", ".csv", ".tsv")
"""Files that some roles accept beside texts."""
ROLES_WITH_TABLES = ("corpus", "candidates", "reference")
ZIP = ".zip"


def list_formats() -> tuple[dict[str, str], list[str]]:
    """Return the readable suffixes with the names of their formats, and the suffixes that lack a library."""
    readable = {suffix: form.name for suffix, form in FORMATS.items() if all(map(find_spec, form.libraries))}
    return readable, [suffix for suffix in FORMATS if suffix not in readable]


async def read_message(request: Request, limits: Limits) -> dict[str, Any]:
    """Read the JSON object in a request's body."""
    content = bytearray()
    async for chunk in _read_chunks(request, "the request", limits):
        content += chunk
        if len(content) > limits.message_bytes:
            raise RefusedError(413, "the request is too large")
    try:
        found = json.loads(bytes(content))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RefusedError(422, "the request is not a JSON object")
    return found


class _Part(NamedTuple):
    """A received file that is not yet part of the draft."""

    number: int
    path: Path
    name: str
    bytes: int


class Uploads:
    """Receives files into drafts."""

    def __init__(self, drafts: Drafts, limits: Limits, reader: ReaderProcess, formats: Mapping[str, str]) -> None:
        self._drafts, self._limits, self._reader, self._formats = drafts, limits, reader, formats

    async def receive(self, request: Request, draft: str, role: str, name: str, source: str = "") -> dict[str, Any]:
        """Receive a file, or all files of an archive, and return the page's description. `source` is its folder."""
        if role not in ROLES:
            raise RefusedError(422, f"role must be one of {', '.join(ROLES)}")
        name = check_path(name)
        async with self._drafts.locked(draft) as found:
            try:
                return await self._receive(request, found, role, name, one_line(source, MAX_SHOWN))
            finally:
                found.incoming_bytes = 0

    async def _receive(self, request: Request, draft: Draft, role: str, name: str, source: str) -> dict[str, Any]:
        self._drafts.reserve(draft, name, 0)
        self._require_readable(role, name)
        number, path = draft.new_path()

        def reserve(count: int) -> None:
            self._drafts.require_current(draft)
            self._drafts.reserve(draft, name, count)

        try:
            count = await _write_body(request, path, show_name(name), self._limits, reserve)
            if _suffix(name) == ZIP:
                return await self._unpack(request, draft, path, role, name)
            return (await self._keep(draft, role, _Part(number, path, name, count), source)).to_json()
        except OSError:
            self._drafts.require_current(draft)  # its folder may be gone
            raise
        finally:
            discard(path)  # a kept file has another name by now

    def _require_readable(self, role: str, name: str) -> None:
        if _suffix(name) not in (*self._formats, ZIP) and not _is_table(role, name):
            known = ", ".join((*self._formats, ZIP))
            raise RefusedError(415, f"{show_name(name)}: unsupported file type; supported types are {known}")

    async def _unpack(self, request: Request, draft: Draft, archive: Path, role: str, name: str) -> dict[str, Any]:
        """Keep all readable files of an archive, or none if it is refused."""
        parts: list[_Part] = []
        files: list[UploadedFile] = []
        skipped: list[str] = []
        size = archive.stat().st_size
        room = min(self._limits.total_bytes - draft.bytes, self._limits.waiting_bytes - self._drafts.waiting_bytes)
        try:
            await asyncio.to_thread(self._write_parts, draft, archive, role, name, room, parts, skipped)
            draft.incoming_bytes = sum(part.bytes for part in parts)
            for part, inner in zip(parts, unwrap_names(role, [part.name for part in parts]), strict=True):
                if await request.is_disconnected():
                    raise RefusedError(400, f"{show_name(name)}: broken off")
                try:
                    files.append(await self._keep(draft, role, part._replace(name=inner), show_name(name)))
                    draft.incoming_bytes -= part.bytes
                except RefusedError as refused:
                    self._drafts.require_current(draft)
                    skipped.append(refused.reason)
            if not files:
                reasons = f" ({'; '.join(skipped[:3])})" if skipped else ""
                raise RefusedError(422, f"{show_name(name)}: no texts in it{reasons}")
        except BaseException:
            for file in files:
                draft.files.pop(file.number, None)
                discard(file.path)
            raise
        finally:
            discard(*(part.path for part in parts))
        return {
            "number": None, "role": role, "name": name, "bytes": size, "kind": "archive",
            "files": [file.to_json() for file in files], "skipped": skipped, "error": None,
        }  # fmt: skip

    def _write_parts(
        self, draft: Draft, archive: Path, role: str, name: str, room: int, parts: list[_Part], skipped: list[str]
    ) -> None:
        """Write an archive's files to numbered paths, as far as their names are those of texts."""
        for each in unpack(archive, show_name(name), self._limits, room):
            if each.skipped:
                skipped.append(f"{show_name(each.name)}: {each.skipped}")
                continue
            try:
                inner = check_path(each.name)
                self._require_readable(role, inner)
                if not has_text_name(PurePosixPath(inner).name) and not _is_table(role, inner):
                    raise RefusedError(415, f"{show_name(inner)}: its name suggests metadata rather than a text")
            except RefusedError as refused:
                if leads_elsewhere(each.name):
                    raise RefusedError(422, f"{show_name(name)}: {refused.reason}") from None
                skipped.append(refused.reason)
                continue
            if len(draft.files) + len(parts) >= self._limits.files:
                most = f"{self._limits.files:,}"
                raise RefusedError(413, f"{show_name(name)}: too many files together; at most {most} are accepted")
            number, path = draft.new_path()
            parts.append(_Part(number, path, inner, len(each.content)))
            path.write_bytes(each.content)

    async def _keep(self, draft: Draft, role: str, part: _Part, source: str) -> UploadedFile:
        """Add a file to the draft if it can be read. It keeps its suffix, which decides how it is read."""
        name, path = part.name, part.path.with_suffix(_suffix(part.name))
        part.path.rename(path)
        description: Mapping[str, Any] = {}
        kind = "text" if _suffix(name) in self._formats and not _is_table(role, name) else "other"
        try:
            if kind == "text":
                description = await self._reader.read(path, show_name(name))
            self._drafts.require_current(draft)
        except BaseException:
            discard(path)
            raise
        file = UploadedFile(part.number, role, name, part.bytes, kind, path, description, source)
        draft.files[part.number] = file
        return file


async def _write_body(request: Request, path: Path, name: str, limits: Limits, reserve: Callable[[int], None]) -> int:
    """Write a request's body to a new file and return its size; remove the file if it is refused.

    `reserve` is called with the size known so far and refuses it if there is no room.
    """

    def require_size(count: int) -> None:
        if count > limits.file_bytes:
            raise RefusedError(413, f"{name}: too large; at most {megabytes(limits.file_bytes)} are accepted")
        reserve(count)

    declared = request.headers.get("content-length", "")
    require_size(int(declared) if declared.isascii() and declared.isdigit() else 0)
    count = 0
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            async for chunk in _read_chunks(request, name, limits):
                count += len(chunk)
                require_size(count)
                file.write(chunk)
    except BaseException as error:
        path.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno in DISK_FULL:
            raise RefusedError(507, f"{name}: the disk is full; make room and try again") from None
        raise
    return count


async def _read_chunks(request: Request, name: str, limits: Limits) -> AsyncIterator[bytes]:
    """Yield a body's chunks; refuse one that arrives more slowly than a machine sends to itself."""
    stream = request.stream().__aiter__()
    begin, count = time.monotonic(), 0
    while True:
        left = begin + limits.body_seconds + count / limits.min_bytes_per_second - time.monotonic()
        try:
            chunk = await asyncio.wait_for(anext(stream), max(left, 0))
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise RefusedError(408, f"{name}: arrives too slowly; try again") from None
        except ClientDisconnect:
            raise RefusedError(400, f"{name}: broken off") from None
        count += len(chunk)
        yield chunk


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _is_table(role: str, name: str) -> bool:
    return role in ROLES_WITH_TABLES and _suffix(name) in TABLES
