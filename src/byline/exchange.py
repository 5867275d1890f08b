"""Parts of a folder that take the place of others, several of them at once: stopped anywhere, the old ones come back.

While it lasts, the old parts are in a hidden folder beside them, whose name tells how far it has come. A process that
is killed leaves that behind, and whoever comes to the folder next undoes what was done.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from byline.storage import PART, discard, is_own_folder, remove, settle

TAKING = f".taking{PART}"
"""Where the old parts go; what is not there yet is still in its place."""
TAKEN = f".taken{PART}"
"""Its name when all are there: what stands in their place from now on is new."""
ABOVE = "above"
"""In it, what was taken from the folder around."""


def exchange(folder: Path, new: Path, parts: Sequence[str], above: Sequence[str] = ()) -> None:
    """Put parts by their names, as many as are `new`, in the place of a folder's; what they replace goes to `new`.

    So do files in the folder around that were made of the old parts, and are named `above`: nothing new is there yet.
    """
    taking, taken = folder / TAKING, folder / TAKEN
    try:
        (taking / ABOVE).mkdir(parents=True)
        _move(folder, taking, parts)
        _move(folder.parent, taking / ABOVE, above)
        settle(taking)
        taking.rename(taken)
        _move(new, folder, parts)
        settle(folder)  # before the old ones can be forgotten
        taken.rename(new / "old")  # with this the new ones are in place for good
    except BaseException:
        undo_exchange(folder, parts, above)
        raise


def is_unfinished(folder: Path) -> bool:
    """Whether an exchange is going on in a folder, or was when its process was killed."""
    return any(is_own_folder(folder / name) for name in (TAKING, TAKEN))


def undo_exchange(folder: Path, parts: Sequence[str], above: Sequence[str] = ()) -> None:
    """Have the old parts back where an exchange was stopped; this may be stopped too, and done again."""
    taking, taken = folder / TAKING, folder / TAKEN
    if is_own_folder(taken):
        for name in parts:
            remove(folder / name)
        taken.rename(taking)
    if is_own_folder(taking):
        _move(taking, folder, parts)
        if is_own_folder(taking / ABOVE):
            _move(taking / ABOVE, folder.parent, [name for name in above if not os.path.lexists(folder.parent / name)])
        settle(folder)
        discard(taking)


def _move(source: Path, target: Path, parts: Sequence[str]) -> None:
    for name in parts:
        if os.path.lexists(source / name):
            (source / name).rename(target / name)
