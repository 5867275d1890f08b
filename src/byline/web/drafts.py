"""Drafts: uploaded files that wait for their question. On disk they have numbers instead of their names."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from byline.storage.files import discard
from byline.web.home import Home, new_id
from byline.web.limits import Limits
from byline.web.messages import RefusedError, megabytes, show_name

GONE = "these files are gone; drop them again"


@dataclass(frozen=True)
class UploadedFile:
    """A file of a draft, and a description of its text."""

    number: int
    role: str
    name: str
    bytes: int
    kind: str
    path: Path
    description: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    """The folder or archive that it came in, which is not part of its name."""

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
        self.incoming_bytes = 0
        """Bytes that are being received or unpacked."""
        self.last_used = time.monotonic()
        self.lock = asyncio.Lock()
        """Admits one file at a time, so that the limits count all of them."""
        self._last_number = 0

    def new_path(self) -> tuple[int, Path]:
        """Return a new number and the path of the file with that number."""
        self._last_number += 1
        return self._last_number, self.folder / f"{self._last_number:06d}"

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(file.bytes for file in self.files.values())

    def of_role(self, role: str) -> list[UploadedFile]:
        """Return the files of a role in the order of their arrival."""
        return [file for file in self.files.values() if file.role == role]

    def to_json(self) -> dict[str, Any]:
        """Return the draft as the page needs it."""
        return {"id": self.id, "files": [file.to_json() for file in self.files.values()]}


class Drafts:
    """All drafts of a server."""

    def __init__(self, home: Home, limits: Limits) -> None:
        self._home, self._limits = home, limits
        self._drafts: dict[str, Draft] = {}

    def create(self) -> Draft:
        """Return a new draft. If there are too many, remove one without files."""
        self.remove_unused()
        if len(self._drafts) >= self._limits.drafts:
            idle = [draft for draft in self._drafts.values() if not draft.files and not draft.lock.locked()]
            if not idle:
                raise RefusedError(429, "too many questions are being put together; finish or leave some")
            self.remove(min(idle, key=lambda draft: draft.last_used).id)
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
        """Return a draft that no other request changes meanwhile."""
        draft = self.find(name)
        async with draft.lock:
            self.require_current(draft)
            try:
                yield draft
            finally:
                draft.last_used = time.monotonic()
                if draft.id not in self._drafts:  # removed meanwhile: files that arrived later must go, too
                    discard(draft.folder)

    def require_current(self, draft: Draft) -> None:
        """Refuse a draft that was removed or became a job in the meantime."""
        if self._drafts.get(draft.id) is not draft:
            raise RefusedError(404, GONE)

    def remove(self, name: str) -> None:
        """Remove a draft and its files."""
        draft = self._drafts.pop(name, None)
        if draft is not None:
            discard(draft.folder)

    def remove_file(self, draft: Draft, number: int) -> None:
        """Remove one file."""
        file = draft.files.pop(number, None)
        if file is None:
            raise RefusedError(404, "no such file")
        discard(file.path)

    def reserve(self, draft: Draft, name: str, count: int) -> None:
        """Reserve space for a file of `count` bytes, or refuse it if a limit is exceeded."""
        limits = self._limits
        draft.incoming_bytes = count
        if len(draft.files) >= limits.files:
            raise RefusedError(413, f"{show_name(name)}: one file too many; at most {limits.files:,} are accepted")
        if draft.bytes + count > limits.total_bytes:
            most = megabytes(limits.total_bytes)
            raise RefusedError(413, f"{show_name(name)}: too much together; at most {most} are accepted")
        if self.waiting_bytes > limits.waiting_bytes:
            raise RefusedError(429, f"{show_name(name)}: too many files wait in other questions; finish or leave those")

    @property
    def waiting_bytes(self) -> int:
        """Size of all drafts."""
        return sum(each.bytes + each.incoming_bytes for each in self._drafts.values())

    def remove_unused(self) -> None:
        """Remove drafts that nobody has used for long."""
        limit = time.monotonic() - self._limits.draft_seconds
        for draft in [each for each in self._drafts.values() if each.last_used < limit and not each.lock.locked()]:
            self.remove(draft.id)

    async def remove_unused_forever(self) -> None:
        """Remove unused drafts at intervals."""
        while True:
            await asyncio.sleep(min(60.0, self._limits.draft_seconds / 4))
            self.remove_unused()
