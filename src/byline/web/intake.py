"""A file that is dropped on the page: written down, unpacked where it is an archive, read, and told of."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from starlette.requests import Request

from byline.documents import has_text_name
from byline.storage import discard
from byline.web.archives import unpack
from byline.web.drafts import Draft, Drafts, DroppedFile
from byline.web.layouts import ROLES, shape
from byline.web.limits import Limits, RefusedError
from byline.web.names import LONGEST_SHOWN, leads_elsewhere, one_line, plain_path, shown
from byline.web.reading import Reader
from byline.web.uploads import receive

TABLES = (".json", ".jsonl", ".csv", ".tsv")
"""What a corpus, or authors' texts, may hold beside texts."""
WITH_TABLES = ("corpus", "candidates", "reference")
ZIP = ".zip"


class _Found(NamedTuple):
    """A file that came out of an archive."""

    number: int
    place: Path
    name: str
    bytes: int


class Intake:
    """Takes files into drafts."""

    def __init__(self, drafts: Drafts, limits: Limits, reader: Reader, formats: Mapping[str, str]) -> None:
        self._drafts, self._limits, self._reader, self._formats = drafts, limits, reader, formats

    async def take(self, request: Request, draft: str, role: str, name: str, source: str = "") -> dict[str, Any]:
        """A file that comes in, or all that an archive holds: what the page is told of it. `source` is its folder."""
        if role not in ROLES:
            raise RefusedError(422, f"role must be one of {', '.join(ROLES)}")
        name = plain_path(name)
        async with self._drafts.alone_with(draft) as found:
            try:
                return await self._take(request, found, role, name, one_line(source, LONGEST_SHOWN))
            finally:
                found.coming = 0

    async def _take(self, request: Request, draft: Draft, role: str, name: str, source: str) -> dict[str, Any]:
        self._drafts.require_room(draft, name, 0)
        self._require_readable(role, name)
        number, place = draft.next_place()

        def require_room(count: int) -> None:
            self._drafts.require_there(draft)
            self._drafts.require_room(draft, name, count)

        try:
            count = await receive(request, place, shown(name), self._limits, require_room)
            if _suffix(name) == ZIP:
                return await self._unpack(request, draft, place, role, name)
            return (await self._keep(draft, role, _Found(number, place, name, count), source)).to_json()
        except OSError:
            self._drafts.require_there(draft)  # its folder may be gone
            raise
        finally:
            discard(place)  # what is kept has another name by now

    def _require_readable(self, role: str, name: str) -> None:
        if _suffix(name) not in (*self._formats, ZIP) and not _is_table(role, name):
            known = ", ".join((*self._formats, ZIP))
            raise RefusedError(415, f"{shown(name)}: no text that can be read here; these can: {known}")

    async def _unpack(self, request: Request, draft: Draft, archive: Path, role: str, name: str) -> dict[str, Any]:
        """All that can be read in an archive; where it is refused, nothing of it is left."""
        found: list[_Found] = []
        files: list[DroppedFile] = []
        skipped: list[str] = []
        size = archive.stat().st_size
        room = min(self._limits.total_bytes - draft.bytes, self._limits.waiting_bytes - self._drafts.waiting_bytes)
        try:
            await asyncio.to_thread(self._write_out, draft, archive, role, name, room, found, skipped)
            draft.coming = sum(each.bytes for each in found)
            names = shape(role, [each.name for each in found])
            for each, inner in zip(found, names, strict=True):
                if await request.is_disconnected():
                    raise RefusedError(400, f"{shown(name)}: broken off")
                try:
                    files.append(await self._keep(draft, role, each._replace(name=inner), shown(name)))
                    draft.coming -= each.bytes
                except RefusedError as refused:
                    self._drafts.require_there(draft)
                    skipped.append(refused.reason)
            if not files:
                reasons = f" ({'; '.join(skipped[:3])})" if skipped else ""
                raise RefusedError(422, f"{shown(name)}: no texts in it{reasons}")
        except BaseException:
            for file in files:
                draft.files.pop(file.number, None)
                discard(file.place)
            raise
        finally:
            for each in found:
                discard(each.place)
        return {
            "number": None, "role": role, "name": name, "bytes": size, "kind": "archive",
            "files": [file.to_json() for file in files], "skipped": skipped, "error": None,
        }  # fmt: skip

    def _write_out(
        self, draft: Draft, archive: Path, role: str, name: str, room: int, found: list[_Found], skipped: list[str]
    ) -> None:
        """What an archive holds to files under numbers, as far as they have names of texts."""
        for each in unpack(archive, shown(name), self._limits, room):
            if each.passed_over:
                skipped.append(f"{shown(each.name)}: {each.passed_over}")
                continue
            try:
                inner = plain_path(each.name)
                self._require_readable(role, inner)
                if not has_text_name(PurePosixPath(inner).name) and not _is_table(role, inner):
                    raise RefusedError(415, f"{shown(inner)}: by its name it tells of texts, and is none")
            except RefusedError as refused:
                if leads_elsewhere(each.name):
                    raise RefusedError(422, f"{shown(name)}: {refused.reason}") from None
                skipped.append(refused.reason)
                continue
            if len(draft.files) + len(found) >= self._limits.files:
                raise RefusedError(413, f"{shown(name)}: too many files together; {self._limits.files:,} are the most")
            number, place = draft.next_place()
            found.append(_Found(number, place, inner, len(each.content)))
            place.write_bytes(each.content)

    async def _keep(self, draft: Draft, role: str, found: _Found, source: str) -> DroppedFile:
        """The file, if it can be read, under a name that ends as its own: readers go by that."""
        name, place = found.name, found.place.with_suffix(_suffix(found.name))
        found.place.rename(place)
        about: Mapping[str, Any] = {}
        kind = "text" if _suffix(name) in self._formats and not _is_table(role, name) else "other"
        try:
            if kind == "text":
                about = await self._reader.read(place, shown(name))
            self._drafts.require_there(draft)
        except BaseException:
            discard(place)
            raise
        file = DroppedFile(found.number, role, name, found.bytes, kind, place, about, source)
        draft.files[found.number] = file
        return file


def _suffix(name: str) -> str:
    return PurePosixPath(name).suffix.lower()


def _is_table(role: str, name: str) -> bool:
    return role in WITH_TABLES and _suffix(name) in TABLES
