"""Where a command writes: nothing is replaced unasked, and nothing ever that is to be read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from byline.errors import RunError
from byline.storage import cant_write, real_file


def require_free(path: Path, overwrite: bool, inputs: Iterable[Path | None] = ()) -> None:
    """Refuse to write over a file unasked, over an input, or where nothing can be written, before any work is done."""
    try:
        if path.is_dir():
            raise RunError(f"{path}: a folder; name a file, such as {path / 'model.byline'}")
        if path.exists() and not overwrite:
            raise RunError(f"{path}: exists already; choose another name, or give --overwrite")
        real = real_file(path)
        there = next(parent for parent in real.parents if parent.exists())
        for name in real.relative_to(there).parts:  # which may be no possible names
            with suppress(FileNotFoundError):
                (there / name).lstat()
        with tempfile.TemporaryFile(dir=there):
            pass
        require_no_input(path, inputs)
    except OSError as error:
        raise cant_write(path, error) from None


def require_no_input(path: Path, inputs: Iterable[Path | None]) -> None:
    """Refuse to write over a file that is to be read, or to put one among the texts of a folder that is."""
    from byline.documents import find_texts, has_text_name

    real = Path(path).resolve()
    for given in inputs:
        if given is None:
            continue
        if is_same(path, given):
            raise RunError(f"{path}: what is to be read; choose another name")
        if given.is_dir():
            new = has_text_name(real.name) and given.resolve() in real.parents
            if new or (path.exists() and any(is_same(path, text) for text in find_texts(given))):
                raise RunError(f"{path}: among the texts of {given}, which are to be read; choose another place")


def is_same(one: Path, other: Path) -> bool:
    """Whether two names are one file's."""
    return one.exists() and other.exists() and one.samefile(other)
