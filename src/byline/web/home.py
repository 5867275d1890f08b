"""The folder that holds the page's jobs, kept references and drafts. Only its owner may look into it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
Here byline serve keeps the questions asked on its page and their answers (jobs), and texts to compare with
(references). Drafts are removed whenever it starts. To remove everything, stop it and delete this folder.
"""


class Home:
    """Paths in the folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs, self.drafts, self.references = (folder / name for name in ("jobs", "drafts", "references"))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Prepare the folder and lock it for one server."""
        before = os.umask(0o077)  # also for files that worker processes write
        try:
            with self._locked():
                self._clear()  # leftovers of a server that was killed
                try:
                    yield
                finally:
                    self._clear()
        finally:
            os.umask(before)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.folder.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
            self._require_ours()
            for folder in (self.jobs, self.drafts, self.references):
                if folder.is_symlink():
                    raise RunError(
                        "is a link, which Byline does not follow", where=folder, remedy=f"Remove it, or {OTHER_HOME}"
                    )
            self.folder.chmod(OWNER_ONLY)
            lock = FileLock(self.folder / LOCK)
            lock.acquire(timeout=0)
        except Timeout:
            remedy = f"Go on with that one, stop it, or {OTHER_HOME}"
            raise RunError("another byline serve is using it", where=self.folder, remedy=remedy) from None
        except OSError as error:
            raise write_error(self.folder, error) from None
        try:
            (self.folder / MARK).write_text(MARK_TEXT, encoding="utf-8")
            for folder in (self.jobs, self.drafts, self.references):
                folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
                folder.chmod(OWNER_ONLY)
        except OSError as error:
            lock.release()
            raise write_error(self.folder, error) from None
        try:
            yield
        finally:
            lock.release()

    def _require_ours(self) -> None:
        """Refuse a folder that holds other things, because drafts in it are removed."""
        if not (self.folder / MARK).is_file() and any(child.name != LOCK for child in self.folder.iterdir()):
            raise RunError("holds other things", where=self.folder, remedy="Choose a new or empty folder with {home}")

    def _clear(self) -> None:
        with suppress(FileNotFoundError):  # somebody may have removed it all
            discard(*self.drafts.iterdir())
        remove_parts(self.references)


def new_id() -> str:
    """Return an id that nobody can guess, of characters that any file system and address can hold."""
    return secrets.token_hex(ID_BYTES)


def is_id(name: str) -> bool:
    """Return whether a name is an id of a job or a draft."""
    return len(name) == 2 * ID_BYTES and all(c in "0123456789abcdef" for c in name)
