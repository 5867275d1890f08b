"""Read the members of ZIP packages (Word, OpenDocument, EPUB) into memory, within limits; nothing goes to disk."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from byline.corpora.formats.extraction import SPLIT, Unreadable

MAX_SIZE = 100_000_000  # bytes of a member, unpacked
MAX_NOTE_SIZE = 2_000_000  # bytes of a member that is only needed for notes, unpacked
MAX_RATIO = 200  # of unpacked to packed size for a large member; that of prose is five
SMALL = 1_000_000  # bytes of a member that may have any ratio
MAX_DIRECTORY = 2_000_000  # bytes of the list of members: some twenty thousand
MAX_MEMBERS = 20_000
DAMAGED = ("damaged, or not what its name says", "Open it where it was written and save it again")
LOCKED = ("protected by a password", "Save a copy without one")
_TOO_LARGE = (f"unpacked it is larger than {MAX_SIZE // 1_000_000} MB", SPLIT)
_TOO_MANY = (f"more than {MAX_MEMBERS:,} files are packed in it", "Save its text alone")
_OLE = b"\xd0\xcf\x11\xe0"
_END = b"PK\x05\x06"
_FAILURES = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, NotImplementedError, OSError, OverflowError,
    RuntimeError, ValueError,
)  # fmt: skip


class Package:
    """The members of a ZIP file by name."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):  # which Office wraps around files with a password
            locked = "EncryptedPackage".encode("utf-16-le") in data
            raise Unreadable(*LOCKED if locked else ("in an old format", "Save it as .docx or .odt"))
        _check_directory(data)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._members = {member.filename: member for member in self._zip.infolist()}
        except _FAILURES:
            raise Unreadable(*DAMAGED) from None
        if len(self._members) > MAX_MEMBERS:
            raise Unreadable(*_TOO_MANY)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read_optional(self, name: str) -> bytes:
        """Return a member that is only needed for notes; nothing if it is missing, large or damaged."""
        member = self._members.get(name)
        if member is None or member.file_size > MAX_NOTE_SIZE:
            return b""
        try:
            return self.read(name)
        except Unreadable:
            return b""

    def read(self, name: str) -> bytes:
        """Return a member, unpacked."""
        member = self._members.get(name)
        if member is None:
            raise Unreadable(*DAMAGED)
        if member.flag_bits & 1:
            raise Unreadable(*LOCKED)
        if member.file_size > MAX_SIZE:
            raise Unreadable(*_TOO_LARGE)
        if member.file_size > max(SMALL, MAX_RATIO * member.compress_size):
            raise Unreadable(f"unpacked it is more than {MAX_RATIO} times as large", "Save its text alone")
        try:
            with self._zip.open(member) as part:
                content = part.read(MAX_SIZE + 1)  # the size that it states may be wrong
        except _FAILURES:
            raise Unreadable(*DAMAGED) from None
        if len(content) > MAX_SIZE:
            raise Unreadable(*_TOO_LARGE)
        return content


def _check_directory(data: bytes) -> None:
    """Refuse a file without an end, or with a list of members that would take long to read."""
    place = data.rfind(_END, max(0, len(data) - 70_000))
    if place < 0 or len(data) < place + 22:
        raise Unreadable(*DAMAGED)
    (size,) = struct.unpack_from("<I", data, place + 12)
    if size > MAX_DIRECTORY:
        raise Unreadable(*_TOO_MANY)
