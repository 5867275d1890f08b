"""The folder that holds the page's jobs, kept references and drafts, and the limits on what it accepts."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from byline.errors import RunError
from byline.storage.files import discard, remove_parts, write_error

OWNER_ONLY = 0o700
ID_BYTES = 9
"""Random bytes in the id of a job or a draft."""
LOCK, MARK = "serve.lock", "byline-serve.txt"
OTHER_HOME = "choose another folder with {home}"
MARK_TEXT = """\
byline serve keeps here the questions asked on its page and their answers (jobs), and texts to compare with
(references). Drafts are removed whenever it starts. To remove everything, stop it and delete this folder.
"""


@dataclass(frozen=True)
class Limits:
    """Limits on what the page accepts: bytes, files and time."""

    file_bytes: int = 50_000_000
    """Size of one uploaded file."""
    total_bytes: int = 200_000_000
    """Size of all files of a draft, with archives unpacked."""
    files: int = 5_000
    """Files of a draft."""
    drafts: int = 20
    draft_seconds: float = 3_600
    """Time after which an unused draft is removed."""
    message_bytes: int = 100_000
    """Size of a request that is not a file."""
    body_seconds: float = 60
    """Time that a request's body may take to arrive. It comes from this machine."""
    reading_seconds: float = 60
    """Time to extract the text of one file."""
    zip_ratio: int = 200
    """Largest allowed ratio between the contents of a zip and the zip itself."""


class Home:
    """Paths in the folder, and its limits."""

    def __init__(self, folder: Path, limits: Limits | None = None) -> None:
        self.folder, self.limits = folder, limits or Limits()
        self.jobs, self.drafts, self.references = (folder / name for name in ("jobs", "drafts", "references"))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Prepare the folder and lock it for one server."""
        before = os.umask(0o077)  # also for files that worker processes write
        lock = FileLock(self.folder / LOCK)
        try:
            self._prepare(lock)
            self._clear()  # leftovers of a server that was killed
            yield
        finally:
            if lock.is_locked:
                self._clear()
            lock.release()
            os.umask(before)

    def _prepare(self, lock: FileLock) -> None:
        folders = (self.jobs, self.drafts, self.references)
        try:
            self.folder.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
            # Drafts in it are removed, so it must not hold anything else
            if not (self.folder / MARK).is_file() and any(child.name != LOCK for child in self.folder.iterdir()):
                remedy = "Choose a new or empty folder with {home}"
                raise RunError("holds other things", where=self.folder, remedy=remedy)
            if link := next(filter(Path.is_symlink, folders), None):
                remedy = f"Remove it, or {OTHER_HOME}"
                raise RunError("is a link, which Byline does not follow", where=link, remedy=remedy)
            lock.acquire(timeout=0)
            (self.folder / MARK).write_text(MARK_TEXT, encoding="utf-8")
            for folder in (self.folder, *folders):
                folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
                folder.chmod(OWNER_ONLY)
        except Timeout:
            remedy = f"Go on with that one, stop it, or {OTHER_HOME}"
            raise RunError("another byline serve is using it", where=self.folder, remedy=remedy) from None
        except OSError as error:
            raise write_error(self.folder, error) from None

    def _clear(self) -> None:
        with suppress(FileNotFoundError):  # somebody may have removed it all
            discard(*self.drafts.iterdir())
        remove_parts(self.references)


def new_id() -> str:
    """Return an id that nobody can guess, of characters that any file system and address can hold."""
    return secrets.token_hex(ID_BYTES)


def is_id(name: str) -> bool:
    """Return whether a name is an id of a job or a draft."""
    return re.fullmatch(f"[0-9a-f]{{{2 * ID_BYTES}}}", name) is not None
