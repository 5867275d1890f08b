"""Unpack zip files within limits. Sizes are counted as contents come out, not taken from the zip's own list."""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from byline.web.limits import Limits
from byline.web.messages import RefusedError

CHUNK = 1 << 16
JUNK = ("__macosx", "thumbs.db", "desktop.ini")
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Other methods can expand one chunk to gigabytes."""
ENTRY_BYTES = 500
"""Mean size of an entry in a zip's list of files, at most."""
TOO_MUCH, NOT_ZIP = 413, 422
UTF8_FLAG = 0x800
"""Marks a name as UTF-8. By the standard, all other names are in cp437."""


class UnpackedFile(NamedTuple):
    """A file of an archive, or the reason why it was skipped."""

    name: str
    content: bytes
    skipped: str = ""


def unpack(path: Path, name: str, limits: Limits, room: int) -> Iterator[UnpackedFile]:
    """Yield the files of a zip, at most `room` bytes together."""
    allowed = min(room, limits.zip_ratio * path.stat().st_size)
    try:
        with _BoundedFile(path, name, limits) as file, zipfile.ZipFile(file) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename and not entry.is_dir()]
            if len(entries) > limits.files:
                raise _too_many_files(name, limits)
            for entry in entries:
                if reason := _skip_reason(entry):
                    yield UnpackedFile(_decode_name(entry), b"", reason)
                    continue
                content = _read_entry(archive, entry, name, min(allowed, limits.file_bytes))
                allowed -= len(content)
                yield UnpackedFile(_decode_name(entry), content)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OSError) as error:
        raise RefusedError(NOT_ZIP, f"{name}: can't be unpacked ({error}); create the zip again") from None


class _BoundedFile(io.FileIO):
    """A file that refuses to read more at once than the list of the allowed number of files needs."""

    def __init__(self, path: Path, name: str, limits: Limits) -> None:
        super().__init__(path)
        self._refusal = _too_many_files(name, limits)
        self._most = max(2 * CHUNK, limits.files * ENTRY_BYTES)

    def read(self, size: int | None = -1, /) -> bytes:
        """Read some bytes."""
        if size is None or size < 0:  # zipfile reads to the end to find the end of the list
            size = self._most + 1
            content = super().read(size) or b""
            if len(content) < size:
                return content
        if size > self._most:
            raise self._refusal
        return super().read(size) or b""


def _too_many_files(name: str, limits: Limits) -> RefusedError:
    return RefusedError(TOO_MUCH, f"{name}: holds too many files; at most {limits.files:,} are accepted")


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
    if parts[-1].lower().endswith(".zip"):
        return "a zip in a zip; unpack it first"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return "a link"
    if entry.flag_bits & 1:
        return "encrypted; unpack it with its password first"
    return "" if entry.compress_type in METHODS else "packed with an unusual method; create the zip again"


def _read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, name: str, most: int) -> bytes:
    chunks, count = [], 0
    with archive.open(entry) as file:
        while chunk := file.read(CHUNK):
            count += len(chunk)
            if count > most:
                raise RefusedError(TOO_MUCH, f"{name}: unpacks to more than is accepted; leave out what is not needed")
            chunks.append(chunk)
    return b"".join(chunks)
