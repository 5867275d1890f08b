"""Files and folders that are written whole or not at all.

`write_files` and `write_folder` write what is in memory. A large folder is prepared beside its place, and
`replace_folder` puts it there: after a kill at any moment, the old folder or the new one is there, and complete.
Its callers hold a lock.
"""

from __future__ import annotations

import contextlib
import errno
import glob
import hashlib
import itertools
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from byline.errors import RunError

PART = ".part"
"""Suffix of an unfinished file or folder, which nothing reads."""
OLD = f".old{PART}"
"""Suffix of a folder while another takes its place."""
GONE = f".gone{PART}"
"""Suffix of a replaced folder that is being removed and may be incomplete."""
TOO_MANY_OPEN = (errno.EMFILE, errno.ENFILE)
MAX_BYTES, MAX_JSON_BYTES = 4_000_000_000, 500_000_000
"""Size limits for reading: far more than Byline ever writes."""
MAX_NAME_BYTES = 200
"""Longer names are hashed for the hidden files beside them, whose names are longer still."""
_PROCESS = re.compile(r"([0-9]+)(?:-[0-9]+)?")
"""The process id in a hidden name, and a counter if that process needed several names."""


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a folder, which is created if necessary. All are complete before the first one appears.

    An existing file keeps its mode, and a link stays a link. Raise RunError for anything but a regular file, such as
    a device.
    """
    parts: dict[Path, Path] = {}  # target -> unfinished file
    place = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            place = folder / name
            target = resolve_file(place)
            parts[target] = part = target.parent / f"{hidden_name(target.name)}{os.getpid()}{PART}"
            _begin_like(part, target)
            _write(part, content)
            if target.exists():
                part.chmod(stat.S_IMODE(target.stat().st_mode))
        for target, part in parts.items():
            place = target
            discard(*(each for each in _left(target, PART) if each != part))
            part.replace(target)
        for around in dict.fromkeys(inner for target in parts for inner in (target.parent, target.parent.parent)):
            sync_folder(around)
    except OSError as error:
        raise write_error(place, error) from None
    finally:
        for part in parts.values():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def resolve_file(path: Path) -> Path:
    """Follow links to the file itself, which need not exist yet. Raise an error if it is not a regular file."""
    real = Path(os.path.realpath(path))
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return real
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise RunError("is not a regular file", where=path, remedy="Choose another name")
    return real


def hidden_name(name: str) -> str:
    """Return the beginning of the names of hidden files beside a file; it is short even if the file's name is long."""
    return f".{name}." if len(os.fsencode(name)) <= MAX_NAME_BYTES else f".{sha256(os.fsencode(name))}."


def _begin_like(part: Path, target: Path) -> None:
    """Create the file that will replace an existing one with the same owner, unreadable for others until it is done."""
    part.unlink(missing_ok=True)
    if not target.exists():
        return
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only root may change owners
            os.chown(part, target.stat().st_uid, target.stat().st_gid)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write a folder with these files (names may contain folders), replacing an existing one as a whole.

    A link stays a link. Raise RunError if the target is a file, or if a folder reappears that a killed process was
    replacing: the caller could not have seen it when it decided what may be replaced.
    """
    real = Path(os.path.realpath(folder))
    if restore_folder(folder):
        raise RunError(
            "was restored just now, because the process that was replacing it was killed",
            where=folder,
            remedy="Check what it holds and try again",
        )
    part = _unused(real, PART)
    try:
        if real.exists() and not real.is_dir():
            raise RunError("is a file, not a folder", where=folder, remedy="Choose another name")
        discard(*_left(real, PART), *_left(real, GONE))
        part.mkdir(parents=True)
        for name, content in files.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            _write(part / name, content)
        for inner in {inner for name in files for inner in (part / name).parents if inner.is_relative_to(part)}:
            sync_folder(inner)
        old = _unused(real, OLD)
        if there := real.exists():
            real.rename(old)
        try:
            part.replace(real)
        except OSError:
            if there:
                old.rename(real)
            raise
        sync_folder(real.parent)
        _remove_old(real)
    except OSError as error:
        raise write_error(folder, error) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def restore_folder(folder: Path) -> bool:
    """Restore a folder if a process was killed while replacing it; return whether it was restored.

    If the new folder is in place, remove what is left of the old one.
    """
    real = Path(os.path.realpath(folder))
    with contextlib.suppress(OSError):
        if real.exists():
            _remove_old(real)
        elif left := _left(real, OLD):
            max(left, key=lambda old: old.stat().st_mtime).rename(real)
            return True
    return False


def _remove_old(real: Path) -> None:
    """Remove replaced folders. Each is renamed first, so that an incomplete one is never restored."""
    for old in _left(real, OLD):
        with contextlib.suppress(OSError):
            old.rename(_unused(real, GONE))
    discard(*_left(real, GONE))


def _unused(real: Path, end: str) -> Path:
    """Return an unused hidden name beside a folder. Earlier processes may have had the same id, as in containers."""
    begin = real.parent / f"{hidden_name(real.name)}{os.getpid()}"
    tries = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    return next(path for more in tries if not os.path.lexists(path := begin.with_name(f"{begin.name}{more}{end}")))


def _left(real: Path, end: str) -> list[Path]:
    """List hidden entries beside a file or folder that this process or a dead one left."""
    return [path for path, process in _hidden_beside(real, end).items() if not _is_other_process(process)]


def _hidden_beside(path: Path, end: str) -> dict[Path, int]:
    """Map the hidden entries that belong to `path` (not to `path.more`) to the ids of their processes."""
    begin = hidden_name(path.name)
    found = path.parent.glob(f"{glob.escape(begin)}*{end}")
    numbers = {each: _PROCESS.fullmatch(each.name[len(begin) : -len(end)]) for each in found}
    return {each: int(number[1]) for each, number in numbers.items() if number}


def _is_other_process(process: int) -> bool:
    """Whether this is the id of another process that is running or may be."""
    if process == os.getpid():
        return False
    if os.name == "nt":  # os.kill would end the process there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's process
        pass
    return True


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
        _move_files(folder.parent, old, beside)
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
        _move_files(old, folder.parent, beside)
        old.rename(folder)
        sync_folder(folder.parent)
    discard(new)
    if is_own_folder(old):
        old.rename(new)  # before it is removed: a folder that is there in part is never put back
        discard(new)


def _move_files(source: Path, target: Path, names: Sequence[str]) -> None:
    for name in names:
        if os.path.lexists(source / name) and not os.path.lexists(target / name):
            (source / name).rename(target / name)


def checked_json(values: Mapping[str, Any]) -> bytes:
    """Serialize values as JSON with a checksum."""
    return (json.dumps({**values, "checksum": _checksum(values)}, indent=1) + "\n").encode()


def read_checked_json(path: Path) -> dict[str, Any]:
    """Read JSON that `checked_json` made. Raise RunError if it is damaged."""
    try:
        values = json.loads(read_regular_file(path, MAX_JSON_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"can't be read ({error})", where=path) from None
    if not isinstance(values, dict) or values.pop("checksum", None) != _checksum(values):
        raise RunError("is damaged: its checksum does not match", where=path)
    return values


def read_regular_file(path: Path, most: int = MAX_BYTES) -> bytes:
    """Read a regular file. Raise OSError if it is something else (a pipe may never end) or implausibly large."""
    with _open_regular(path, most) as (file, size):
        return file.read(size)


@contextlib.contextmanager
def _open_regular(path: Path, most: int) -> Iterator[tuple[BinaryIO, int]]:
    """Open a regular file and tell its size. Read no more than that: some files of the system have no end."""
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} is {'not a file' if path.exists() else 'missing'}")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(f"{path.name} is larger than {most / 1e9:g} GB")
        yield file, size


def sha256(content: bytes) -> str:
    """Return the SHA-256 hash in hex."""
    return hashlib.sha256(content).hexdigest()


def hash_file(path: Path) -> str:
    """Return the SHA-256 hash of a regular file that may be large."""
    digest = hashlib.sha256()
    with _open_regular(path, MAX_BYTES) as (file, size):
        while size and (piece := file.read(min(size, 1 << 20))):
            digest.update(piece)
            size -= len(piece)
    return digest.hexdigest()


def _checksum(values: Mapping[str, Any]) -> str:
    return sha256(json.dumps(values, sort_keys=True).encode())


def remove_parts(folder: Path) -> None:
    """Remove the unfinished files of killed processes from a folder that no other process writes to."""
    discard(*folder.glob(f".*{PART}"))


def remove(path: Path, ignore_errors: bool = False) -> None:
    """Remove a file, a link or a whole folder."""
    if is_own_folder(path):
        shutil.rmtree(path, ignore_errors=ignore_errors)
    else:
        path.unlink(missing_ok=True)


def discard(*paths: Path) -> None:
    """Remove files and folders as far as possible, ignoring errors."""
    for path in paths:
        with contextlib.suppress(OSError):
            remove(path, ignore_errors=True)


def is_own_folder(path: Path) -> bool:
    """Whether this is a folder and not a link to one, which might lead anywhere."""
    return path.is_dir() and not path.is_symlink()


def write_error(path: Path, error: OSError) -> RunError:
    """Return the error to raise if a file or folder can't be written."""
    remedies = {
        errno.ENAMETOOLONG: "Choose a shorter name",
        errno.ENOTEMPTY: "Another process wrote there at the same time. Check what it holds and try again",
        **dict.fromkeys(TOO_MANY_OPEN, "Close some files or raise the limit with ulimit -n"),
    }
    remedy = remedies.get(error.errno or 0, "Make room there or choose another folder")
    return RunError(f"can't be written to ({error.strerror or error})", where=path, remedy=remedy)


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Flush a folder's list of names to disk, if the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
