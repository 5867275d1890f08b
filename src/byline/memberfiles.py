"""The files in a member's folder, which may be somebody else's: their names stay in it, and links are not copied."""

from __future__ import annotations

import logging
import os
from pathlib import Path, PureWindowsPath
from typing import Any

from byline.errors import RunError
from byline.storage import checked_json, read_checked_json, read_plain, sha256, write_folder

log = logging.getLogger(__name__)

MEMBER, MATRIX = "member.json", "matrix.safetensors"
EVIDENCE = "evidence."
"""How the names of files of evidence begin."""


def describe(source: Path) -> dict[str, Any]:
    """What a member's folder says of itself; one whose files would not lie in it is refused."""
    described = read_checked_json(source / MEMBER)
    names = described.get("files")
    if not isinstance(names, dict):
        raise RunError(f"{source / MEMBER}: damaged, it names no files")
    for name in names:
        path = PureWindowsPath(name)  # which knows all that leads elsewhere on any system
        if not path.parts or path.anchor or ".." in path.parts:
            raise RunError(f"{source}: damaged, {name!r} is no name of its own files")
    return described


def copy_member(source: Path, target: Path) -> None:
    """A finished member's folder, copied with all its own files that are there; what links stand for is not."""
    for path in (source, source / MEMBER):
        refuse_link(path)
    described = describe(source)
    hashes = described["files"]
    if any(name.startswith(EVIDENCE) and not os.path.lexists(source / name) for name in hashes):
        log.warning("%s: its evidence is not there whole, and left out", source)
        hashes = described["files"] = {name: each for name, each in hashes.items() if not name.startswith(EVIDENCE)}
    found = {MEMBER: checked_json(described)}
    for name, digest in hashes.items():
        refuse_links_to(source, name)
        if name != MATRIX and not (source / name).exists():
            continue  # gone to save room
        found[name] = read_own(source / name)
        if sha256(found[name]) != digest:
            raise RunError(f"{source / name}: damaged; go on with its run by --resume, and join the runs again")
    write_folder(target, found)


def read_own(path: Path) -> bytes:
    """A file of a run, which must be no link."""
    refuse_link(path)
    try:
        return read_plain(path)
    except OSError as error:
        raise _cant_read(path, error) from None


def refuse_links_to(folder: Path, name: str) -> None:
    """Refuse a file in a folder, and the folders in its name, where one of them is a link."""
    for inner in (Path(name), *Path(name).parents):
        refuse_link(folder / inner)


def refuse_link(path: Path) -> None:
    """Refuse a link: in somebody else's run it might lead to anything."""
    try:
        if path.is_symlink():
            raise RunError(f"{path}: a link, which is not followed; put there what it leads to")
    except OSError as error:
        raise _cant_read(path, error) from None


def _cant_read(path: Path, error: OSError) -> RunError:
    return RunError(f"{path}: can't be read ({error.strerror or error}); check that you may read it")
