"""Files and folders that are written whole or not at all."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from byline.errors import RunError

PART = ".part"
"""Ends the name of what is not finished; nothing reads it."""
LEFT_BEHIND = 60
"""Seconds after which an unfinished file is taken for a dead process's."""


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write contents under their names into a folder, which is made if need be: all are ready before one appears."""
    parts = {name: folder / f".{name}.{os.getpid()}{PART}" for name in files}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            _write(parts[name], content)
        for name, part in parts.items():
            _remove_older(folder.glob(f".{glob.escape(name)}.*{PART}"), part)
            part.replace(folder / name)
        _settle(folder)
    except OSError as error:
        raise cant_write(folder, error) from None
    finally:
        for part in parts.values():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder that holds these files (names may have folders in them), in place of one that may be there."""
    part = folder.parent / f".{folder.name}.{os.getpid()}{PART}"
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        for name, content in files.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            _write(part / name, content)
        for inner in {(part / name).parent for name in files}:
            _settle(inner)
        if folder.exists():
            shutil.rmtree(folder)
        part.replace(folder)
        _settle(folder.parent)
    except OSError as error:
        raise cant_write(folder, error) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def checked_json(values: Mapping[str, Any]) -> bytes:
    """Values as JSON with a checksum over them."""
    return (json.dumps({**values, "checksum": _checksum(values)}, indent=1) + "\n").encode()


def read_checked_json(path: Path) -> dict[str, Any]:
    """The values in such a file; a damaged one is refused."""
    try:
        values = json.loads(read_plain(path))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path}: can't be read ({error})") from None
    if not isinstance(values, dict) or values.pop("checksum", None) != _checksum(values):
        raise RunError(f"{path}: damaged, it is not what was written")
    return values


def read_plain(path: Path) -> bytes:
    """A file's content; what is no plain file, and might never end, is refused."""
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} is {'no file' if path.exists() else 'missing'}")
    return path.read_bytes()


def sha256(content: bytes) -> str:
    """The hash of a file's content, in hex."""
    return hashlib.sha256(content).hexdigest()


def _checksum(values: Mapping[str, Any]) -> str:
    return sha256(json.dumps(values, sort_keys=True).encode())


def remove_parts(folder: Path) -> None:
    """Remove what a killed process left unfinished in a folder that no other process writes to."""
    _remove(folder.glob(f".*{PART}"))


def _remove_older(parts: Iterable[Path], new: Path) -> None:
    """Remove what a killed process left; what is about as old as the new one, a living process may be writing."""
    limit = new.stat().st_mtime - LEFT_BEHIND
    _remove([part for part in parts if part.stat().st_mtime < limit])


def _remove(parts: Iterable[Path]) -> None:
    for part in parts:
        if part.is_dir():
            shutil.rmtree(part, ignore_errors=True)
        else:
            part.unlink(missing_ok=True)


def cant_write(path: Path, error: OSError) -> RunError:
    """The error for a place that can't be written to."""
    return RunError(
        f"{path}: can't be written to ({error.strerror or error}); make room there or choose another folder"
    )


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _settle(folder: Path) -> None:
    """Have the names in a folder on disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
