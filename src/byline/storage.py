"""Files and folders that are written whole or not at all."""

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
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from byline.errors import RunError

PART = ".part"
"""Ends the name of what is not finished; nothing reads it."""
OLD = f".old{PART}"
"""Ends the name of a folder while another takes its place."""
GONE = f".gone{PART}"
"""Ends its name when the other is in place: it is being removed, and may be there in part only."""
TOO_MANY = (errno.EMFILE, errno.ENFILE)
"""Files are open."""
LARGEST, LARGEST_JSON = 4_000_000_000, 500_000_000
"""Bytes of a file that is read: far more than any that is written, and no more than can be."""
LONGEST_NAME = 200
"""Bytes of a name that an unfinished file's, which is longer, begins with."""
_NUMBER = re.compile(r"([0-9]+)(?:-[0-9]+)?")
"""Of a process, in a hidden name, and which of its names it is."""


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write contents under their names into a folder, which is made if need be: all are ready before one appears.

    A file that is there keeps its mode, and where its name is a link, what it leads to is written. What is no plain
    file, such as a device, is refused.
    """
    parts: dict[Path, Path] = {}  # by the file that each becomes
    place = folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            place = folder / name
            target = real_file(place)
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
            settle(around)
    except OSError as error:
        raise cant_write(place, error) from None
    finally:
        for part in parts.values():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def real_file(path: Path) -> Path:
    """The file that a name stands for, be it there or not; what is neither a plain file nor nothing is refused."""
    real = Path(os.path.realpath(path))
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return real
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise RunError(f"{path}: no plain file; choose another name")
    return real


def hidden_name(name: str) -> str:
    """With which the names of hidden files beside a file begin: short enough, however long its own is."""
    return f".{name}." if len(os.fsencode(name)) <= LONGEST_NAME else f".{sha256(os.fsencode(name))}."


def _begin_like(part: Path, target: Path) -> None:
    """Where there is a file to replace, begin the new one as its owner's, for nobody else to read yet."""
    part.unlink(missing_ok=True)
    if not target.exists():
        return
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):  # only some may give files away
            os.chown(part, target.stat().st_uid, target.stat().st_gid)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder that holds these files (names may have folders in them), in place of one that may be there.

    Where its name is a link, what it leads to is replaced. What is no folder is refused, and so is one that comes back
    from a killed process: whoever looked before, to see what would be replaced, has not seen it.
    """
    real = Path(os.path.realpath(folder))
    if put_back(folder):
        raise RunError(
            f"{folder}: is there again, since a process that replaced it was killed; look at it, and begin again"
        )
    part = _unused(real, PART)
    try:
        if real.exists() and not real.is_dir():
            raise RunError(f"{folder}: no folder; choose another name")
        discard(*_left(real, PART), *_left(real, GONE))
        part.mkdir(parents=True)
        for name, content in files.items():
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            _write(part / name, content)
        for inner in {inner for name in files for inner in (part / name).parents if inner.is_relative_to(part)}:
            settle(inner)
        old = _unused(real, OLD)
        if there := real.exists():
            real.rename(old)
        try:
            part.replace(real)
        except OSError:
            if there:
                old.rename(real)
            raise
        settle(real.parent)
        _remove_old(real)
    except OSError as error:
        raise cant_write(folder, error) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def put_back(folder: Path) -> bool:
    """Where a process was killed between taking a folder away and putting the new one there, the old one comes back.

    Whether one did. Where the new one is there, what was taken away for it goes for good.
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
    """Remove what was taken away for a folder, by another name first: what is there in part is never put back."""
    for old in _left(real, OLD):
        with contextlib.suppress(OSError):
            old.rename(_unused(real, GONE))
    discard(*_left(real, GONE))


def _unused(real: Path, end: str) -> Path:
    """A hidden name for this process beside a folder; an earlier one with its number may have left some behind."""
    begin = real.parent / f"{hidden_name(real.name)}{os.getpid()}"
    tries = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    return next(path for more in tries if not os.path.lexists(path := begin.with_name(f"{begin.name}{more}{end}")))


def _left(real: Path, end: str) -> list[Path]:
    """What stands hidden beside a file or folder, left by this process or by one that lives no more."""
    return [path for path, process in _hidden_beside(real, end).items() if not _is_another(process)]


def _hidden_beside(path: Path, end: str) -> dict[Path, int]:
    """What stands hidden beside a file or folder for its sake, not for one that is called `path.more`: whose it is."""
    begin = hidden_name(path.name)
    found = path.parent.glob(f"{glob.escape(begin)}*{end}")
    numbers = {each: _NUMBER.fullmatch(each.name[len(begin) : -len(end)]) for each in found}
    return {each: int(number[1]) for each, number in numbers.items() if number}


def _is_another(process: int) -> bool:
    """Whether it is the number of another process that lives, or may."""
    if process == os.getpid():
        return False
    if os.name == "nt":  # nobody can be asked there without harm
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # somebody else's
        pass
    return True


def checked_json(values: Mapping[str, Any]) -> bytes:
    """Values as JSON with a checksum over them."""
    return (json.dumps({**values, "checksum": _checksum(values)}, indent=1) + "\n").encode()


def read_checked_json(path: Path) -> dict[str, Any]:
    """The values in such a file; a damaged one is refused."""
    try:
        values = json.loads(read_plain(path, LARGEST_JSON))
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path}: can't be read ({error})") from None
    if not isinstance(values, dict) or values.pop("checksum", None) != _checksum(values):
        raise RunError(f"{path}: damaged, it is not what was written")
    return values


def read_plain(path: Path, most: int = LARGEST) -> bytes:
    """A file's content; what is no plain file, might never end or is larger than anything written is refused."""
    with _open_plain(path, most) as (file, size):
        return file.read(size)


@contextlib.contextmanager
def _open_plain(path: Path, most: int) -> Iterator[tuple[BinaryIO, int]]:
    """A plain file and its size, which is all that is to be read of it; of the system's own, there may be no end."""
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} is {'no file' if path.exists() else 'missing'}")
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(f"{path.name} is larger than {most / 1e9:g} GB")
        yield file, size


def sha256(content: bytes) -> str:
    """The hash of a file's content, in hex."""
    return hashlib.sha256(content).hexdigest()


def hash_file(path: Path) -> str:
    """The same of a plain file that may be large."""
    digest = hashlib.sha256()
    with _open_plain(path, LARGEST) as (file, size):
        while size and (piece := file.read(min(size, 1 << 20))):
            digest.update(piece)
            size -= len(piece)
    return digest.hexdigest()


def _checksum(values: Mapping[str, Any]) -> str:
    return sha256(json.dumps(values, sort_keys=True).encode())


def remove_parts(folder: Path) -> None:
    """Remove what a killed process left unfinished in a folder that no other process writes to."""
    discard(*folder.glob(f".*{PART}"))


def remove(path: Path) -> None:
    """Remove a file, or a folder with all in it; of a link, the link itself."""
    if is_own_folder(path):
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def discard(*paths: Path) -> None:
    """Remove what nobody needs, as far as it can be."""
    for path in paths:
        with contextlib.suppress(OSError):
            if is_own_folder(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def is_own_folder(path: Path) -> bool:
    """Whether it is a folder itself: in somebody else's folder a link might lead to anything."""
    return path.is_dir() and not path.is_symlink()


def cant_write(path: Path, error: OSError) -> RunError:
    """The error for a place that can't be written to."""
    remedies = {
        errno.ENAMETOOLONG: "choose a shorter one",
        errno.ENOTEMPTY: "another process wrote there in the meantime; look at it, and begin again",
        **dict.fromkeys(TOO_MANY, "close some, or raise ulimit -n"),
    }
    remedy = remedies.get(error.errno or 0, "make room there or choose another folder")
    return RunError(f"{path}: can't be written to ({error.strerror or error}); {remedy}")


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def settle(folder: Path) -> None:
    """Have the names in a folder on disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
