"""Files that were dropped on the page and wait for their question. They lie under numbers, whatever they are called."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from byline.storage import discard
from byline.web.home import Home, new_name
from byline.web.limits import Limits, RefusedError
from byline.web.names import shown
from byline.web.uploads import megabytes

GONE = "these files are gone; drop them again"


@dataclass(frozen=True)
class DroppedFile:
    """A file, and what could be told of it."""

    number: int
    role: str
    name: str
    bytes: int
    kind: str
    place: Path
    about: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    """The folder or archive that it came in, which is no part of its name."""

    def to_json(self) -> dict[str, Any]:
        """For the page."""
        values = {"number": self.number, "role": self.role, "name": self.name, "bytes": self.bytes, "kind": self.kind}
        return {**values, **self.about, "error": None}


class Draft:
    """The files of a question that is not asked yet."""

    def __init__(self, folder: Path) -> None:
        self.id = folder.name
        self.folder = folder
        self.files: dict[int, DroppedFile] = {}
        self.coming = 0
        """Bytes that are on their way, or come out of an archive just now."""
        self.used = time.monotonic()
        self.lock = asyncio.Lock()
        """One file at a time, so that what is counted is all there is."""
        self._last = 0

    def next_place(self) -> tuple[int, Path]:
        """A number, and where a file of that number lies."""
        self._last += 1
        return self._last, self.folder / f"{self._last:06d}"

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(file.bytes for file in self.files.values())

    def of(self, role: str) -> list[DroppedFile]:
        """The files of a role, in the order they came."""
        return [file for file in self.files.values() if file.role == role]

    def to_json(self) -> dict[str, Any]:
        """For the page."""
        return {"id": self.id, "files": [file.to_json() for file in self.files.values()]}


class Drafts:
    """All of them."""

    def __init__(self, home: Home, limits: Limits) -> None:
        self._home, self._limits = home, limits
        self._drafts: dict[str, Draft] = {}

    def begin(self) -> Draft:
        """A new one, without files; for the 51st, one that was begun and never used gives way."""
        self.forget_unused()
        if len(self._drafts) >= self._limits.drafts:
            idle = [draft for draft in self._drafts.values() if not draft.files and not draft.lock.locked()]
            if not idle:
                raise RefusedError(429, "too many questions are being put together; finish or leave some")
            self.leave(min(idle, key=lambda draft: draft.used).id)
        folder = self._home.drafts / new_name()
        folder.mkdir(mode=0o700)
        self._drafts[folder.name] = draft = Draft(folder)
        return draft

    def find(self, name: str) -> Draft:
        """The one of that name."""
        self.forget_unused()
        draft = self._drafts.get(name)
        if draft is None:
            raise RefusedError(404, GONE)
        draft.used = time.monotonic()
        return draft

    @asynccontextmanager
    async def alone_with(self, name: str) -> AsyncIterator[Draft]:
        """The one of that name, which nobody else changes meanwhile."""
        draft = self.find(name)
        async with draft.lock:
            self.require_there(draft)
            try:
                yield draft
            finally:
                draft.used = time.monotonic()
                if draft.id not in self._drafts:  # left meanwhile: what came after is to go, too
                    discard(draft.folder)

    def require_there(self, draft: Draft) -> None:
        """Refuse one that was left, or asked, in the meantime."""
        if self._drafts.get(draft.id) is not draft:
            raise RefusedError(404, GONE)

    def leave(self, name: str) -> None:
        """Remove one and its files."""
        draft = self._drafts.pop(name, None)
        if draft is not None:
            discard(draft.folder)

    def drop(self, draft: Draft, number: int) -> None:
        """Remove a file."""
        file = draft.files.pop(number, None)
        if file is None:
            raise RefusedError(404, "no such file")
        discard(file.place)

    def require_room(self, draft: Draft, name: str, count: int) -> None:
        """Refuse so many bytes more where that is too much, or a file too many; keep them in mind otherwise."""
        limits = self._limits
        draft.coming = count
        if len(draft.files) >= limits.files:
            raise RefusedError(413, f"{shown(name)}: one file too many; {limits.files:,} are the most")
        if draft.bytes + count > limits.total_bytes:
            most = megabytes(limits.total_bytes)
            raise RefusedError(413, f"{shown(name)}: too much together; {most} are the most")
        if self.waiting_bytes > limits.waiting_bytes:
            raise RefusedError(429, f"{shown(name)}: too many files wait in other questions; finish or leave those")

    @property
    def waiting_bytes(self) -> int:
        """Of all of them."""
        return sum(each.bytes + each.coming for each in self._drafts.values())

    def forget_unused(self) -> None:
        """Remove those that nobody has used for long."""
        limit = time.monotonic() - self._limits.draft_seconds
        for draft in [each for each in self._drafts.values() if each.used < limit and not each.lock.locked()]:
            self.leave(draft.id)

    async def sweep(self) -> None:
        """Do that now and then, for ever."""
        while True:
            await asyncio.sleep(min(60.0, self._limits.draft_seconds / 4))
            self.forget_unused()
