"""Where files belong by their names: the folders of an archive as a task means them, and a place for each on disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Protocol

from byline.attribution.writings import author_of
from byline.web.names import same_name, storable

ROLES = ("known", "unknown", "reference", "candidates", "texts", "corpus")


class Placed(Protocol):
    """A file that lies somewhere, and where it belongs."""

    @property
    def role(self) -> str:
        """What it is there for."""

    @property
    def name(self) -> str:
        """With its folders."""

    @property
    def place(self) -> Path:
        """Where it lies."""


def shape(role: str, names: Sequence[str]) -> list[str]:
    """The names of an archive's files, without folders that hold everything; the page does the same with folders."""
    if role == "corpus":
        while _is_wrapped(names) and _is_deep(names):
            names = _unwrap(names)
        return list(names)
    if role == "candidates":
        inner = _unwrap(names) if _is_wrapped(names) and _is_deep(names) else names
        return [f"{author_of(_stem(name))}/{name}" if _is_titled(name) else name for name in inner]
    return _unwrap(names) if _is_wrapped(names) else list(names)


def lay_out(files: Iterable[Placed], folder: Path) -> Callable[[], None]:
    """Put files where their role and name say, each under a name of its own; all of them, or none. What undoes it."""
    moved: list[tuple[Path, Path]] = []
    places: dict[str, _Places] = {}

    def undo() -> None:
        for target, place in reversed(moved):
            with contextlib.suppress(FileNotFoundError):  # all of it may have been removed meanwhile
                target.rename(place)

    try:
        for file in files:
            target = folder / file.role / places.setdefault(file.role, _Places()).find(file.name)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.place.rename(target)
            moved.append((target, file.place))
    except OSError:
        undo()
        raise
    return undo


class _Places:
    """The places in a folder that are taken."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._moved: dict[str, str] = {}
        """Folders that are called otherwise, for there is a file of their name."""
        self._numbers: dict[str, int] = {}

    def find(self, name: str) -> str:
        """A free place for a file of that name, as near to it as can be."""
        *above, last = (storable(part) for part in name.split("/"))
        whole = ""
        for part in above:
            key = same_name(f"{whole}{part}")
            if key in self._files and key not in self._moved:
                self._moved[key] = self._free(f"{whole}{part}")
            whole = self._moved.get(key, f"{whole}{part}")
            self._folders.add(same_name(whole))
            whole += "/"
        whole = self._free(f"{whole}{last}")
        self._files.add(same_name(whole))
        return whole

    def _free(self, path: str) -> str:
        """The path, or the first of those with a number that is free."""
        plain, key, free = PurePosixPath(path), same_name(path), path
        number = self._numbers.get(key, 1)
        while same_name(free) in self._files or same_name(free) in self._folders:
            number += 1
            free = str(plain.with_name(f"{plain.stem} ({number}){plain.suffix}"))
        self._numbers[key] = number
        return free


def _is_wrapped(names: Sequence[str]) -> bool:
    """Whether one folder holds everything."""
    first = {name.split("/")[0] for name in names}
    return len(first) == 1 and all("/" in name for name in names)


def _is_deep(names: Sequence[str]) -> bool:
    return any(name.count("/") > 1 for name in names)


def _unwrap(names: Sequence[str]) -> list[str]:
    return [name.partition("/")[2] for name in names]


def _is_titled(name: str) -> bool:
    return "/" not in name and bool(author_of(_stem(name)))


def _stem(name: str) -> str:
    return PurePosixPath(name).stem
