"""Where, in folders that were dropped, the problems, the authors or the texts by other people lie."""

from __future__ import annotations

from pathlib import Path

from byline.preparation import holds_problems
from byline.problems import find_file

TRUTHS = ("truth.txt", "truth.jsonl", "truth.json")
PAIRS = ".jsonl"
TABLES = (".csv", ".tsv", PAIRS)


def find_corpus(folder: Path) -> tuple[Path, Path | None]:
    """The folder of problems, or the file of pairs, and the truth if it lies there or above."""
    truth = None
    while True:
        truth = next((file for name in TRUTHS if (file := find_file(folder, name))), truth)
        pairs = [file for file in _files(folder) if file.suffix.lower() == PAIRS and file != truth]
        if holds_problems(folder) or not (below := _only_folder(folder)):
            return (pairs[0] if len(pairs) == 1 and not _folders(folder) else folder), truth
        folder = below


def find_writings(folder: Path) -> Path:
    """The folder of authors' folders, or the one table there is."""
    files = _files(folder)
    if not _folders(folder) and len(files) == 1 and files[0].suffix.lower() in TABLES:
        return files[0]
    return _unwrap(folder)


def find_reference(folder: Path) -> Path:
    """The folder of people's folders or of texts, or the one file of pairs there is."""
    files = _files(folder)
    if not _folders(folder) and len(files) == 1 and files[0].suffix.lower() == PAIRS:
        return files[0]
    return _unwrap(folder)


def _unwrap(folder: Path) -> Path:
    """The folder, or the only one in it where that holds others."""
    while (below := _only_folder(folder)) and not _files(folder) and _folders(below):
        folder = below
    return folder


def _only_folder(folder: Path) -> Path | None:
    folders = _folders(folder)
    return folders[0] if len(folders) == 1 else None


def _folders(folder: Path) -> list[Path]:
    return [child for child in sorted(folder.iterdir()) if child.is_dir()]


def _files(folder: Path) -> list[Path]:
    return [child for child in sorted(folder.iterdir()) if child.is_file()]
