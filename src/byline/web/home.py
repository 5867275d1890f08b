"""The folder that the page's jobs, kept references and waiting files lie in; nobody but its owner may look into it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from byline.errors import RunError
from byline.storage import cant_write, discard, remove_parts

OWNER_ONLY = 0o700
NAME_BYTES = 9
"""Of chance in the name of a job or a draft."""
LOCK, MARK = "serve.lock", "byline-serve.txt"
SAID = """\
Here byline serve keeps what was asked of its page: questions and their answers in jobs, texts to compare with in
references. What lies in drafts is removed whenever it starts. To be rid of all of it, stop it and delete this folder.
"""


class Home:
    """Where things lie."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs, self.drafts, self.references = (folder / name for name in ("jobs", "drafts", "references"))

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Make it what it should be, for one server at a time."""
        before = os.umask(0o077)  # whatever is written from here on, also by other processes of it, is the owner's only
        try:
            with self._locked():
                self._clear()  # what a server that was killed left
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
                    raise RunError(f"{folder}: a link, which is not followed; remove it, or name another --home")
            self.folder.chmod(OWNER_ONLY)
            lock = FileLock(self.folder / LOCK)
            lock.acquire(timeout=0)
        except Timeout:
            raise RunError(
                f"{self.folder}: another byline serve is using it; go on with that one, stop it, or name another folder"
                " with --home"
            ) from None
        except OSError as error:
            raise cant_write(self.folder, error) from None
        try:
            (self.folder / MARK).write_text(SAID, encoding="utf-8")
            for folder in (self.jobs, self.drafts, self.references):
                folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
                folder.chmod(OWNER_ONLY)
        except OSError as error:
            lock.release()
            raise cant_write(self.folder, error) from None
        try:
            yield
        finally:
            lock.release()

    def _require_ours(self) -> None:
        """Refuse a folder that holds other things: it may have drafts of its own, and those here are removed."""
        if not (self.folder / MARK).is_file() and any(child.name != LOCK for child in self.folder.iterdir()):
            raise RunError(f"{self.folder}: holds other things; name a new or empty folder with --home")

    def _clear(self) -> None:
        with suppress(FileNotFoundError):  # somebody may have removed it all
            discard(*self.drafts.iterdir())
        remove_parts(self.references)


def new_name() -> str:
    """A name that nobody can guess, of signs that any file system and address can hold."""
    return secrets.token_hex(NAME_BYTES)


def is_name(word: str) -> bool:
    """Whether it is such a name, and no way out of a folder."""
    return len(word) == 2 * NAME_BYTES and all(sign in "0123456789abcdef" for sign in word)
