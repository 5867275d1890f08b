"""A zip, unpacked with limits: what it says of itself is not believed, only what comes out of it is counted."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from byline.web.limits import Limits, RefusedError

PIECE = 1 << 16
JUNK = ("__macosx", "thumbs.db", "desktop.ini")
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Of packing: others may make gigabytes of one piece."""
LISTED = 500
"""Bytes that a file takes in the list at an archive's end, at most on the mean: a name, and some numbers."""
TOO_MUCH = 413
NOT_ZIP = 422


UTF8 = 0x800
"""The flag of a name that is said to be UTF-8; all others are in cp437, says the standard."""


class Unpacked(NamedTuple):
    """A file of an archive: its name there, and what it holds; nothing where it is passed over, for a reason."""

    name: str
    content: bytes
    passed_over: str = ""


def unpack(path: Path, name: str, limits: Limits, room: int) -> Iterator[Unpacked]:
    """The files of an archive, one after another, as long as they are few and small enough; `room` bytes at most."""
    allowed = min(room, limits.ratio * path.stat().st_size)
    try:
        with _Frugal(path, name, limits) as file, zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename and not entry.is_dir()]
            if len(entries) > limits.files:
                raise _too_many(name, limits)
            for entry in entries:
                if reason := _reason(entry):
                    yield Unpacked(_name(entry), b"", reason)
                    continue
                content = _content(archive, entry, name, min(allowed, limits.file_bytes))
                allowed -= len(content)
                yield Unpacked(_name(entry), content)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise RefusedError(NOT_ZIP, f"{name}: can't be unpacked ({error}); make the zip anew") from None


class _Frugal(io.FileIO):
    """A file of which no more is read at once than the list of as many files as are allowed can need."""

    def __init__(self, path: Path, name: str, limits: Limits) -> None:
        super().__init__(path)
        self._refusal = _too_many(name, limits)
        self._most = max(2 * PIECE, limits.files * LISTED)

    def read(self, size: int | None = -1, /) -> bytes:
        """Some bytes."""
        if size is None or size < 0:  # to the end: so the list's own end is looked for
            size = self._most + 1
            content = super().read(size) or b""
            if len(content) < size:
                return content
        if size > self._most:
            raise self._refusal
        return super().read(size) or b""


def _too_many(name: str, limits: Limits) -> RefusedError:
    return RefusedError(TOO_MUCH, f"{name}: holds too many files; {limits.files:,} are the most")


def _name(entry: zipfile.ZipInfo) -> str:
    """What a file is called there: many programs write UTF-8 and don't say so."""
    if entry.flag_bits & UTF8:
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return entry.filename


def _reason(entry: zipfile.ZipInfo) -> str:
    """Why it is passed over, or nothing."""
    parts = entry.filename.replace("\\", "/").split("/")
    if any(part.lower() in JUNK or part.startswith((".", "~$")) for part in parts if part not in ("", ".", "..")):
        return "no text"
    if parts[-1].lower().endswith(".zip"):
        return "a zip in a zip; unpack it first"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "a link"
    if entry.flag_bits & 1:
        return "encrypted; unpack it with its password first"
    return "" if entry.compress_type in METHODS else "packed in an unusual way; make the zip anew"


def _content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, most: int) -> bytes:
    pieces, count = [], 0
    with archive.open(entry) as file:
        while piece := file.read(PIECE):
            count += len(piece)
            if count > most:
                raise RefusedError(TOO_MUCH, f"{name}: unpacks to more than can be taken; leave out what is not needed")
            pieces.append(piece)
    return b"".join(pieces)
