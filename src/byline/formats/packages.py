"""Packed files (Word, OpenDocument, EPUB): members in memory, within limits; nothing is unpacked to disk."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from byline.formats.reading import Unreadable

LARGEST_PART = 100_000_000
"""Bytes of a member, unpacked."""
LARGEST_LOOK = 2_000_000
"""Bytes of one that only serves a note, unpacked."""
TIGHTEST = 200
"""How many times its size a large member may be unpacked; prose comes to five."""
SMALL = 1_000_000
"""Bytes of one that may be packed in any way."""
LARGEST_DIRECTORY = 2_000_000
"""Bytes of the list of members: some twenty thousand."""
MOST_MEMBERS = 20_000
DAMAGED = "damaged, or not what its name says; open it where it was written and save it again"
LOCKED = "protected by a password; save a copy without one"
_OLE = b"\xd0\xcf\x11\xe0"
_END = b"PK\x05\x06"
_FAILURES = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, KeyError, NotImplementedError, OSError, OverflowError,
    RuntimeError, ValueError,
)  # fmt: skip


class Package:
    """The members of a packed file by name."""

    def __init__(self, data: bytes) -> None:
        if data.startswith(_OLE):  # what Office packs a file into that has a password
            locked = "EncryptedPackage".encode("utf-16-le") in data
            raise Unreadable(LOCKED if locked else "of an old format; save it as .docx or .odt")
        _check_directory(data)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._members = {member.filename: member for member in self._zip.infolist()}
        except _FAILURES:
            raise Unreadable(DAMAGED) from None
        if len(self._members) > MOST_MEMBERS:
            raise Unreadable(f"more than {MOST_MEMBERS:,} files are packed in it; save its text alone")

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def look_into(self, name: str) -> bytes:
        """A member that is only looked at for what to note; nothing, if it is not there, large or damaged."""
        member = self._members.get(name)
        if member is None or member.file_size > LARGEST_LOOK:
            return b""
        try:
            return self.read(name)
        except Unreadable:
            return b""

    def read(self, name: str) -> bytes:
        """A member, unpacked."""
        member = self._members.get(name)
        if member is None:
            raise Unreadable(DAMAGED)
        if member.flag_bits & 1:
            raise Unreadable(LOCKED)
        if member.file_size > LARGEST_PART:
            raise Unreadable(f"unpacked it is larger than {LARGEST_PART // 1_000_000} MB; split it")
        if member.file_size > max(SMALL, TIGHTEST * member.compress_size):
            raise Unreadable(f"unpacked it is more than {TIGHTEST} times as large; save its text alone")
        try:
            with self._zip.open(member) as part:
                content = part.read(LARGEST_PART + 1)  # what it says of its size may be wrong
        except _FAILURES:
            raise Unreadable(DAMAGED) from None
        if len(content) > LARGEST_PART:
            raise Unreadable(f"unpacked it is larger than {LARGEST_PART // 1_000_000} MB; split it")
        return content


def _check_directory(data: bytes) -> None:
    """Refuse what has no end, or a list of members that would take long to read."""
    place = data.rfind(_END, max(0, len(data) - 70_000))
    if place < 0 or len(data) < place + 22:
        raise Unreadable(DAMAGED)
    (size,) = struct.unpack_from("<I", data, place + 12)
    if size > LARGEST_DIRECTORY:
        raise Unreadable(f"more than {MOST_MEMBERS:,} files are packed in it; save its text alone")
