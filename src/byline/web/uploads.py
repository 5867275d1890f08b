"""Uploaded files: received, unpacked if they are archives, read, and kept in a draft until their question is asked.

On disk the files of a draft have numbers instead of their names.
"""

from __future__ import annotations

import asyncio
import json
import stat
import time
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect, Request

from byline.corpora.documents import has_text_name
from byline.corpora.formats import FORMATS
from byline.storage.files import discard
from byline.web.file_names import TABLES, check_path, claim_path, leads_elsewhere, unwrap_names
from byline.web.home import Home, Limits, new_id
from byline.web.messages import MAX_SHOWN, RefusedError, one_line, show_name
from byline.web.processes import TextReader

TOO_LARGE, UNUSABLE = 413, 422
ROLES = ("known", "unknown", "reference", "candidates", "texts", "corpus")
TABLES_OF_ROLES = dict.fromkeys(("corpus", "candidates", "reference"), (".json", *TABLES))
"""Files that some roles accept in addition to texts."""
ZIP = ".zip"
GONE = "these files are gone; drop them again"
JUNK = ("__macosx", "thumbs.db", "desktop.ini")
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other methods can expand one chunk to gigabytes."""
ENTRY_MARK = b"PK\x01\x02"
"""Begins each entry in a zip's list of files."""
UTF8_FLAG = 0x800
"""Marks a name as UTF-8. By the standard, all other names are in cp437."""


def list_formats() -> tuple[dict[str, str], list[str]]:
    """Return the readable suffixes with the names of their formats, and the suffixes that lack a library."""
    readable = {suffix: form.name for suffix, form in FORMATS.items() if all(map(find_spec, form.libraries))}
    return readable, [suffix for suffix in FORMATS if suffix not in readable]


@dataclass(frozen=True)
class UploadedFile:
    """A file of a draft, and a description of its text."""

    role: str
    name: str
    bytes: int
    kind: str
    path: Path
    description: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    """The folder or archive that it came in, which is not part of its name."""

    @property
    def number(self) -> int:
        """Its number in the draft."""
        return int(self.path.stem)

    def to_json(self) -> dict[str, Any]:
        """Return the file as the page needs it."""
        values = {"number": self.number, "role": self.role, "name": self.name, "bytes": self.bytes, "kind": self.kind}
        return {**values, **self.description, "error": None}


class Draft:
    """The files of one question that has not been asked yet."""

    def __init__(self, folder: Path) -> None:
        self.id = folder.name
        self.folder = folder
        self.files: dict[int, UploadedFile] = {}
        self.last_used = time.monotonic()
        self.lock = asyncio.Lock()
        """Admits one request at a time, so that the limits count all files."""
        self._last_number = 0

    def new_path(self) -> Path:
        """Return the path of a new file."""
        self._last_number += 1
        return self.folder / f"{self._last_number:06d}"

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.bytes for file in self.files.values())

    def of_role(self, role: str) -> list[UploadedFile]:
        """Return the files of a role in the order of their arrival."""
        return [file for file in self.files.values() if file.role == role]

    def remove_file(self, number: int) -> None:
        """Remove one file."""
        file = self.files.pop(number, None)
        if file is None:
            raise RefusedError(404, "no such file")
        discard(file.path)

    def to_json(self) -> dict[str, Any]:
        """Return the draft as the page needs it."""
        return {"id": self.id, "files": [file.to_json() for file in self.files.values()]}


class Drafts:
    """All drafts of a server."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._drafts: dict[str, Draft] = {}

    def create(self) -> Draft:
        """Return a new draft. If there are too many, remove the one that was not used for longest."""
        self.remove_unused()
        if len(self._drafts) >= self._home.limits.drafts:
            self.remove(min(self._drafts.values(), key=lambda draft: (draft.lock.locked(), draft.last_used)))
        folder = self._home.drafts / new_id()
        folder.mkdir(mode=0o700)
        self._drafts[folder.name] = draft = Draft(folder)
        return draft

    def find(self, name: str) -> Draft:
        """Return a draft by its id."""
        self.remove_unused()
        draft = self._drafts.get(name)
        if draft is None:
            raise RefusedError(404, GONE)
        draft.last_used = time.monotonic()
        return draft

    @asynccontextmanager
    async def locked(self, name: str) -> AsyncIterator[Draft]:
        """Return a draft that no other request changes or removes meanwhile."""
        draft = self.find(name)
        async with draft.lock:
            self.find(name)  # it may have been removed while this request waited
            try:
                yield draft
            finally:
                draft.last_used = time.monotonic()

    def remove(self, draft: Draft) -> None:
        """Remove a draft and its files."""
        self._drafts.pop(draft.id, None)
        discard(draft.folder)

    def remove_unused(self) -> None:
        """Remove drafts that were not used for long."""
        limit = time.monotonic() - self._home.limits.draft_seconds
        for draft in [each for each in self._drafts.values() if each.last_used < limit and not each.lock.locked()]:
            self.remove(draft)

    async def remove_unused_forever(self) -> None:
        """Remove unused drafts at intervals."""
        while True:
            await asyncio.sleep(min(60.0, self._home.limits.draft_seconds / 4))
            self.remove_unused()


class Uploads:
    """Receives files into drafts."""

    def __init__(self, limits: Limits, drafts: Drafts) -> None:
        self._limits, self._drafts = limits, drafts
        self.formats, self.missing_formats = list_formats()
        self.reader = TextReader(limits.reading_seconds)

    async def receive(self, request: Request, draft: str, role: str, name: str, source: str = "") -> dict[str, Any]:
        """Receive a file, or all files of an archive, and return the page's description. `source` is its folder."""
        if role not in ROLES:
            raise RefusedError(UNUSABLE, f"role must be one of {', '.join(ROLES)}")
        name = check_path(name)
        self._require_readable(role, name)
        async with self._drafts.locked(draft) as found:
            path = found.new_path()
            try:
                await self._write_body(request, found, path, show_name(name))
                if _suffix(name) == ZIP:
                    return await self._unpack(request, found, path, role, name)
                return (await self._keep(found, role, path, name, one_line(source, MAX_SHOWN))).to_json()
            finally:
                discard(path)  # a kept file has another name by now

    def _require_readable(self, role: str, name: str) -> None:
        if _suffix(name) not in (*self.formats, ZIP) and not _is_table(role, name):
            known = ", ".join((*self.formats, ZIP))
            raise RefusedError(415, f"{show_name(name)}: unsupported file type; supported types are {known}")

    async def _write_body(self, request: Request, draft: Draft, path: Path, name: str) -> None:
        """Write a request's body to a new file, as far as there is room."""
        limits = self._limits

        def require_room(count: int) -> None:
            if count > limits.file_bytes:
                raise RefusedError(TOO_LARGE, f"{name}: too large; at most {_size(limits.file_bytes)} are accepted")
            if draft.bytes + count > limits.total_bytes:
                most = _size(limits.total_bytes)
                raise RefusedError(TOO_LARGE, f"{name}: too much together; at most {most} are accepted")

        if len(draft.files) >= limits.files:
            raise RefusedError(TOO_LARGE, f"{name}: one file too many; at most {limits.files:,} are accepted")
        require_room(int(request.headers.get("content-length", 0)))
        with path.open("xb") as file:

            def write(chunk: bytes) -> None:
                require_room(file.tell() + len(chunk))
                file.write(chunk)

            await _read_body(request, name, limits, write)

    async def _unpack(self, request: Request, draft: Draft, archive: Path, role: str, name: str) -> dict[str, Any]:
        """Keep all readable files of an archive, or none if it is refused."""
        parts: list[tuple[Path, str]] = []
        files: list[UploadedFile] = []
        skipped: list[str] = []
        size = archive.stat().st_size
        try:
            await asyncio.to_thread(self._write_parts, draft, archive, role, name, parts, skipped)
            for (path, _), inner in zip(parts, unwrap_names(role, [inner for _, inner in parts]), strict=True):
                if await request.is_disconnected():
                    raise RefusedError(400, f"{show_name(name)}: broken off")
                try:
                    files.append(await self._keep(draft, role, path, inner, show_name(name)))
                except RefusedError as refused:
                    skipped.append(refused.reason)
            if not files:
                reasons = f" ({'; '.join(skipped[:3])})" if skipped else ""
                raise RefusedError(UNUSABLE, f"{show_name(name)}: no texts in it{reasons}")
        except BaseException:
            for file in files:
                draft.remove_file(file.number)
            raise
        finally:
            discard(*(path for path, _ in parts))
        return {
            "number": None, "role": role, "name": name, "bytes": size, "kind": "archive",
            "files": [file.to_json() for file in files], "skipped": skipped, "error": None,
        }  # fmt: skip

    def _write_parts(
        self, draft: Draft, archive: Path, role: str, name: str, parts: list[tuple[Path, str]], skipped: list[str]
    ) -> None:
        """Write an archive's files to numbered paths, as far as their names are those of texts."""
        for each in unpack(archive, show_name(name), self._limits, self._limits.total_bytes - draft.bytes):
            try:
                if each.skipped:
                    raise RefusedError(415, f"{show_name(each.name)}: {each.skipped}")
                inner = check_path(each.name)
                self._require_readable(role, inner)
                if not has_text_name(PurePosixPath(inner).name) and not _is_table(role, inner):
                    raise RefusedError(415, f"{show_name(inner)}: its name suggests metadata rather than a text")
            except RefusedError as refused:
                if leads_elsewhere(each.name):
                    raise RefusedError(UNUSABLE, f"{show_name(name)}: {refused.reason}") from None
                skipped.append(refused.reason)
                continue
            if len(draft.files) + len(parts) >= self._limits.files:
                raise _too_many_files(show_name(name), self._limits)
            path = draft.new_path()
            parts.append((path, inner))
            path.write_bytes(each.content)

    async def _keep(self, draft: Draft, role: str, written: Path, name: str, source: str) -> UploadedFile:
        """Add a file to the draft if it can be read. It keeps its suffix, which decides how it is read."""
        path = written.rename(written.with_suffix(_suffix(name)))
        description: Mapping[str, Any] = {}
        kind = "text" if _suffix(name) in self.formats and not _is_table(role, name) else "other"
        try:
            if kind == "text":
                description = await self.reader.read(path, show_name(name))
        except BaseException:
            discard(path)
            raise
        file = UploadedFile(role, name, path.stat().st_size, kind, path, description, source)
        draft.files[file.number] = file
        return file


async def read_message(request: Request, limits: Limits) -> dict[str, Any]:
    """Read the JSON object in a request's body."""
    content = bytearray()

    def extend(chunk: bytes) -> None:
        content.extend(chunk)
        if len(content) > limits.message_bytes:
            raise RefusedError(TOO_LARGE, "the request is too large")

    await _read_body(request, "the request", limits, extend)
    try:
        found = json.loads(bytes(content))
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise RefusedError(UNUSABLE, "the request is not a JSON object")
    return found


async def _read_body(request: Request, name: str, limits: Limits, receive: Callable[[bytes], None]) -> None:
    """Pass on the chunks of a request's body; refuse one that does not arrive in time."""
    try:
        async with asyncio.timeout(limits.body_seconds):
            async for chunk in request.stream():
                receive(chunk)
    except TimeoutError:
        raise RefusedError(408, f"{name}: arrives too slowly; try again") from None
    except ClientDisconnect:
        raise RefusedError(400, f"{name}: broken off") from None


class UnpackedFile(NamedTuple):
    """A file of an archive, or the reason why it was skipped."""

    name: str
    content: bytes
    skipped: str = ""


def unpack(path: Path, name: str, limits: Limits, room: int) -> Iterator[UnpackedFile]:
    """Yield the files of a zip, at most `room` bytes together, as counted when they come out."""
    packed = path.read_bytes()
    if packed.count(ENTRY_MARK) > 2 * limits.files:  # before the list is read, which takes memory; it names folders too
        raise _too_many_files(name, limits)
    allowed = min(room, limits.zip_ratio * len(packed))
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename and not entry.is_dir()]
            if len(entries) > limits.files:
                raise _too_many_files(name, limits)
            for entry in entries:
                reason = _skip_reason(entry)
                content = b"" if reason else _read_entry(archive, entry, name, min(allowed, limits.file_bytes))
                allowed -= len(content)
                yield UnpackedFile(_decode_name(entry), content, reason)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise RefusedError(UNUSABLE, f"{name}: can't be unpacked ({error}); create the zip again") from None


def _decode_name(entry: zipfile.ZipInfo) -> str:
    """Return a file's name; many programs write UTF-8 without its flag."""
    if entry.flag_bits & UTF8_FLAG:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def _skip_reason(entry: zipfile.ZipInfo) -> str:
    """Return why a file is skipped, or nothing."""
    parts = entry.filename.replace("\\", "/").split("/")
    if any(part.lower() in JUNK or part.startswith((".", "~$")) for part in parts if part not in ("", ".", "..")):
        return "not a text"
    if parts[-1].lower().endswith(ZIP):
        return "a zip in a zip; unpack it first"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "a link"
    if entry.flag_bits & 1:
        return "encrypted; unpack it with its password first"
    return "" if entry.compress_type in METHODS else "packed with an unusual method; create the zip again"


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, most: int) -> bytes:
    with archive.open(entry) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise RefusedError(TOO_LARGE, f"{name}: unpacks to more than is accepted; leave out what is not needed")
    return content


def move_files(files: Iterable[UploadedFile], folder: Path) -> None:
    """Move files to `folder`/role/name, all or none. Files whose names some file system would confuse get numbers."""
    moved: list[tuple[Path, Path]] = []
    taken: dict[str, set[str]] = {}
    try:
        for file in files:
            target = folder / file.role / claim_path(file.name, taken.setdefault(file.role, set()))
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            moved.append((file.path, file.path.rename(target)))
    except OSError:
        for path, target in moved:
            target.rename(path)
        raise


def _too_many_files(name: str, limits: Limits) -> RefusedError:
    return RefusedError(TOO_LARGE, f"{name}: too many files together; at most {limits.files:,} are accepted")


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _is_table(role: str, name: str) -> bool:
    return _suffix(name) in TABLES_OF_ROLES.get(role, ())


def _size(count: int) -> str:
    return f"{count / 1_000_000:,.0f} MB" if count >= 1_000_000 else f"{count:,} bytes"
