"""Names of uploaded files: which are accepted, where they lie on disk, and which folders a task means."""

from __future__ import annotations

import contextlib
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath

from byline.corpora.author_corpus import author_of
from byline.corpora.problems import find_file, holds_problems
from byline.web.drafts import UploadedFile
from byline.web.messages import RefusedError, show_name, strip_invisible

MAX_PART_BYTES = 200
MAX_PARTS = 12
FORBIDDEN = str.maketrans(dict.fromkeys('<>:"|?*', "-"))
"""Characters that some file systems refuse; a colon could even name another drive."""
DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))}
"""Names that no file can have on Windows, with any suffix."""
TRUTHS = ("truth.txt", "truth.jsonl", "truth.json")
PAIRS = ".jsonl"
TABLES = (".csv", ".tsv", PAIRS)


def check_path(name: str) -> str:
    """Return a file's name with its folders, separated by `/`; refuse one that leads elsewhere or cannot be stored."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".")]
    fault = ""
    if not parts:
        fault = "no name"
    elif leads_elsewhere(name):
        fault = "a name that leads elsewhere"
    elif len(parts) > MAX_PARTS:
        fault = "in too many folders"
    elif any(len(part.encode("utf-8", "surrogatepass")) > MAX_PART_BYTES for part in parts):
        fault = "too long a name"
    elif strip_invisible(name) != name:
        fault = "a name with invisible characters"
    elif any(part.startswith(".") for part in parts):
        fault = "a hidden file"
    if fault:
        raise RefusedError(422, f"{show_name(name)}: {fault}; rename the file")
    return "/".join(parts)


def leads_elsewhere(name: str) -> bool:
    """Return whether a name begins at a root or a drive, or goes up."""
    parts = name.replace("\\", "/").split("/")
    return not parts[0].strip() or ".." in parts or (len(parts[0]) == 2 and parts[0].endswith(":"))


def storable(part: str) -> str:
    """Return a part of a path as every file system can hold it."""
    plain = part.translate(FORBIDDEN).rstrip(". ") or "-"
    return f"-{plain}" if plain.split(".")[0].strip().lower() in DEVICES else plain


def unwrap_names(role: str, names: Sequence[str]) -> list[str]:
    """Return the names of an archive's files without the folders around all of them. The page does so with folders."""
    if role == "corpus":
        while _is_wrapped(names) and _is_deep(names):
            names = _unwrap(names)
        return list(names)
    if role == "candidates":
        inner = _unwrap(names) if _is_wrapped(names) and _is_deep(names) else names
        return [_add_author(name) for name in inner]
    return _unwrap(names) if _is_wrapped(names) else list(names)


def move_files(files: Iterable[UploadedFile], folder: Path) -> Callable[[], None]:
    """Move files to `folder`/role/name, all or none, and return a function that moves them back.

    Files whose names some file system would confuse get numbers.
    """
    moved: list[tuple[Path, Path]] = []
    used: dict[str, _UsedPaths] = {}

    def undo() -> None:
        for target, path in reversed(moved):
            with contextlib.suppress(FileNotFoundError):  # all of it may have been removed meanwhile
                target.rename(path)

    try:
        for file in files:
            target = folder / file.role / used.setdefault(file.role, _UsedPaths()).claim(file.name)
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.path.rename(target)
            moved.append((target, file.path))
    except OSError:
        undo()
        raise
    return undo


class _UsedPaths:
    """The paths in a folder that are taken."""

    def __init__(self) -> None:
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._renamed: dict[str, str] = {}
        """Folders that have another name, because a file has theirs."""
        self._numbers: dict[str, int] = {}

    def claim(self, name: str) -> str:
        """Return a free path for a file, as close to its name as possible."""
        *above, last = (storable(part) for part in name.split("/"))
        whole = ""
        for part in above:
            key = _fold(f"{whole}{part}")
            if key in self._files and key not in self._renamed:
                self._renamed[key] = self._add_number(f"{whole}{part}")
            whole = self._renamed.get(key, f"{whole}{part}")
            self._folders.add(_fold(whole))
            whole += "/"
        whole = self._add_number(f"{whole}{last}")
        self._files.add(_fold(whole))
        return whole

    def _add_number(self, path: str) -> str:
        """Return the path, with the first free number if it is taken."""
        plain, key, free = PurePosixPath(path), _fold(path), path
        number = self._numbers.get(key, 1)
        while _fold(free) in self._files or _fold(free) in self._folders:
            number += 1
            free = str(plain.with_name(f"{plain.stem} ({number}){plain.suffix}"))
        self._numbers[key] = number
        return free


def find_corpus(folder: Path) -> tuple[Path, Path | None]:
    """Return the folder of problems, or the file of pairs, and the truth if it lies there or above."""
    truth = None
    while True:
        truth = next((file for name in TRUTHS if (file := find_file(folder, name))), truth)
        pairs = [file for file in _files(folder) if file.suffix.lower() == PAIRS and file != truth]
        if holds_problems(folder) or not (below := _only_folder(folder)):
            return (pairs[0] if len(pairs) == 1 and not _folders(folder) else folder), truth
        folder = below


def find_author_corpus(folder: Path) -> Path:
    """Return the folder of authors' folders, or the only table."""
    return _only_file(folder, TABLES) or _unwrap_folder(folder)


def find_reference(folder: Path) -> Path:
    """Return the folder of people's folders or of texts, or the only file of pairs."""
    return _only_file(folder, (PAIRS,)) or _unwrap_folder(folder)


def _unwrap_folder(folder: Path) -> Path:
    """Return the folder, or the only one in it if that holds others."""
    while (below := _only_folder(folder)) and not _files(folder) and _folders(below):
        folder = below
    return folder


def _only_file(folder: Path, suffixes: Sequence[str]) -> Path | None:
    files = _files(folder)
    return files[0] if not _folders(folder) and len(files) == 1 and files[0].suffix.lower() in suffixes else None


def _only_folder(folder: Path) -> Path | None:
    folders = _folders(folder)
    return folders[0] if len(folders) == 1 else None


def _folders(folder: Path) -> list[Path]:
    return [child for child in sorted(folder.iterdir()) if child.is_dir()]


def _files(folder: Path) -> list[Path]:
    return [child for child in sorted(folder.iterdir()) if child.is_file()]


def _fold(path: str) -> str:
    """Return the same text for all paths that some file system takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def _is_wrapped(names: Sequence[str]) -> bool:
    """Return whether one folder holds everything."""
    return len({name.split("/")[0] for name in names}) == 1 and all("/" in name for name in names)


def _is_deep(names: Sequence[str]) -> bool:
    return any(name.count("/") > 1 for name in names)


def _unwrap(names: Sequence[str]) -> list[str]:
    return [name.partition("/")[2] for name in names]


def _add_author(name: str) -> str:
    """Put Author_Title.txt into a folder named after its author."""
    author = "" if "/" in name else author_of(PurePosixPath(name).stem)
    return f"{author}/{name}" if author else name
