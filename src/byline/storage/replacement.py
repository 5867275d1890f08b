"""Replacing a whole folder: after a kill at any moment, the old folder or the new one is there, and complete.

The new folder is prepared under a hidden name beside its place. Then the old one is renamed to another hidden name, and
the new one takes its place. If the process is killed in between, `finish_replacement` puts the old one back. Callers
hold a lock.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from byline.storage.files import PART, discard, is_own_folder, remove, sync_folder


def hidden_place(folder: Path, suffix: str) -> Path:
    """Return a hidden name beside a folder, or beside the folder that a link leads to."""
    real = Path(os.path.realpath(folder))
    return real.with_name(f".{real.name}{suffix}")


def prepared_folder(folder: Path) -> Path:
    """Return the hidden place where a new folder is prepared. What it holds is never read."""
    return hidden_place(folder, f".new{PART}")


def replaced_folder(folder: Path) -> Path:
    """Return the hidden place where the old folder is while the new one takes its place."""
    return hidden_place(folder, f".old{PART}")


def replace_folder(folder: Path, beside: Sequence[str] = ()) -> None:
    """Put the prepared folder in place of a folder.

    Parameters
    ----------
    beside
        Names of files beside the folder that were made from the old one. They are removed with it.
    """
    old = replaced_folder(folder)
    try:
        remove(old)
        folder.mkdir(exist_ok=True)
        folder.rename(old)
        _move(folder.parent, old, beside)
        prepared_folder(folder).rename(folder)
        sync_folder(folder.parent)
    finally:
        finish_replacement(folder, beside)


def is_replacing(folder: Path) -> bool:
    """Return whether a folder is being replaced, or was when its process was killed."""
    return not folder.exists() and is_own_folder(replaced_folder(folder))


def finish_replacement(folder: Path, beside: Sequence[str] = ()) -> None:
    """Put the old folder back if the new one has not taken its place. Remove what is not needed any more."""
    new, old = prepared_folder(folder), replaced_folder(folder)
    if is_replacing(folder):
        _move(old, folder.parent, beside)
        old.rename(folder)
        sync_folder(folder.parent)
    discard(new)
    if is_own_folder(old):
        old.rename(new)  # before it is removed: a folder that is there in part is never put back
        discard(new)


def _move(source: Path, target: Path, names: Sequence[str]) -> None:
    for name in names:
        if os.path.lexists(source / name) and not os.path.lexists(target / name):
            (source / name).rename(target / name)
