"""Names of uploaded files: which are accepted, where they lie on disk, and which folders a task means."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Sequence
from pathlib import Path, PurePosixPath

from byline.corpora.author_corpus import author_of
from byline.corpora.problems import find_file, holds_problems
from byline.web.messages import RefusedError, show_name, strip_invisible

MAX_PART_BYTES = 200
MAX_PARTS = 12
FORBIDDEN = str.maketrans(dict.fromkeys('<>:"|?*', "-"))
"""Characters that some file systems refuse; a colon could even name another drive."""
DEVICES = {"con", "prn", "aux", "nul", *(f"{name}{n}" for name in ("com", "lpt") for n in range(1, 10))}
"""Names that no file can have on Windows, with any suffix."""
TRUTHS = ("truth.txt", "truth.jsonl", "truth.json")
PAIRS = (".jsonl",)
TABLES = (".csv", ".tsv", *PAIRS)


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


def claim_path(name: str, taken: set[str]) -> PurePosixPath:
    """Return the path on disk of a file, with a number if a file system could confuse it with one that is taken."""
    path = PurePosixPath(*map(storable, name.split("/")))
    free, number = path, 1
    while _fold(free) in taken:
        number += 1
        free = path.with_name(f"{path.stem} ({number}){path.suffix}")
    taken.add(_fold(free))
    return free


def _fold(path: PurePosixPath) -> str:
    """Return the same text for all paths that some file system takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", str(path)).casefold())


def unwrap_names(role: str, names: Sequence[str]) -> list[str]:
    """Return the names of an archive's files without the folders around all of them. The page does so with folders."""
    wrapped = len({name.split("/")[0] for name in names}) == 1 and all("/" in name for name in names)
    folder_is_group = role in ("corpus", "candidates") and not any(name.count("/") > 1 for name in names)
    if wrapped and not folder_is_group:
        names = [name.partition("/")[2] for name in names]
        if role == "corpus":
            return unwrap_names(role, names)
    return [_add_author(name) for name in names] if role == "candidates" else list(names)


def _add_author(name: str) -> str:
    """Put Author_Title.txt into a folder named after its author."""
    author = "" if "/" in name else author_of(PurePosixPath(name).stem)
    return f"{author}/{name}" if author else name


def find_corpus(folder: Path) -> tuple[Path, Path | None]:
    """Return the folder of problems, or the file of pairs, and the truth if it lies there or above."""
    truth = None
    while True:
        folders, files = _list_folder(folder)
        truth = next((file for name in TRUTHS if (file := find_file(folder, name))), truth)
        if holds_problems(folder) or len(folders) != 1:
            pairs = [file for file in files if file.suffix.lower() in PAIRS and file != truth]
            return (pairs[0] if len(pairs) == 1 and not folders else folder), truth
        folder = folders[0]


def find_texts(folder: Path, tables: Collection[str]) -> Path:
    """Return the only table in a folder, or the folder without the folders around its contents."""
    folders, files = _list_folder(folder)
    if not folders and len(files) == 1 and files[0].suffix.lower() in tables:
        return files[0]
    while len(folders) == 1 and not files and (inner := _list_folder(folders[0]))[0]:
        folder = folders[0]
        folders, files = inner
    return folder


def _list_folder(folder: Path) -> tuple[list[Path], list[Path]]:
    """Return the folders and the files in a folder."""
    children = sorted(folder.iterdir())
    return [child for child in children if child.is_dir()], [child for child in children if child.is_file()]
