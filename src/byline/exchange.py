"""Parts of a folder that take the place of others, several of them at once: stopped anywhere, the old ones come back.

While it lasts, the old parts are in a hidden folder beside them, whose name tells how far it has come. A process that
is killed leaves that behind, and whoever comes to the folder next undoes what was done.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from byline.storage import PART

TAKING = f".taking{PART}"
"""Where the old parts go; what is not there yet is still in its place."""
TAKEN = f".taken{PART}"
"""Its name when all are there: what stands in their place from now on is new."""


def exchange(folder: Path, new: Path, parts: Sequence[str]) -> None:
    """Put parts by their names, as many as are `new`, in the place of a folder's; what they replace goes to `new`."""
    taking, taken = folder / TAKING, folder / TAKEN
    try:
        taking.mkdir()
        _move(folder, taking, parts)
        taking.rename(taken)
        _move(new, folder, parts)
        taken.rename(new / "old")  # with this the new ones are in place for good
    except BaseException:
        undo_exchange(folder, parts)
        raise


def is_stopped(folder: Path) -> bool:
    """Whether an exchange is going on in a folder, or was when its process was killed."""
    return any(_is_folder(folder / name) for name in (TAKING, TAKEN))


def undo_exchange(folder: Path, parts: Sequence[str]) -> None:
    """Have the old parts back where an exchange was stopped; this may be stopped too, and done again."""
    taking, taken = folder / TAKING, folder / TAKEN
    if _is_folder(taken):
        for name in parts:
            _remove(folder / name)
        taken.rename(taking)
    if _is_folder(taking):
        _move(taking, folder, parts)
        shutil.rmtree(taking, ignore_errors=True)


def _move(source: Path, target: Path, parts: Sequence[str]) -> None:
    for name in parts:
        if os.path.lexists(source / name):
            (source / name).rename(target / name)


def _is_folder(path: Path) -> bool:
    """Whether it is one itself: in somebody else's folder a link might lead to anything."""
    return path.is_dir() and not path.is_symlink()


def _remove(path: Path) -> None:
    if _is_folder(path):
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
