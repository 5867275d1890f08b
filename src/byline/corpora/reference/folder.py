"""The folder of a reference.

ref/reference.json            language; file, name, author, length and hash of each text; unclear pairs of authors
ref/texts/0001.txt            a text in UTF-8
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from byline import __version__
from byline.corpora.documents import Document, raise_together, read_bytes
from byline.corpora.reference.population import LeftOut, Reference, ReferenceText
from byline.errors import OVERWRITE, CorpusError, RunError, list_some
from byline.storage.files import checked_json, read_checked_json, restore_folder, sha256, write_folder

FORMAT = 1
DESCRIPTION = "reference.json"
_FILE = re.compile(r"texts/\d{4,9}\.txt")
REBUILD = "Build the reference again with {overwrite}"


def is_reference(path: Path) -> bool:
    """Whether a folder holds a built reference."""
    return (path / DESCRIPTION).is_file()


def write_reference(reference: Reference, folder: Path, overwrite: bool = False) -> None:
    """Write a reference to a folder of its own. Nothing but another reference is ever replaced."""
    folder = Path(os.path.realpath(folder))  # a link to a folder stays one
    require_vacant(folder, overwrite)
    files, rows = {}, []
    for number, text in enumerate(reference.texts, start=1):
        name, content = f"texts/{number:04d}.txt", text.document.text.encode()
        files[name] = content
        row = {"file": name, "name": text.document.name, "author": text.author}
        rows.append({**row, "characters": len(text.document.text), "sha256": sha256(content)})
    described = {
        "format": FORMAT,
        "byline": __version__,
        "language": reference.language,
        "texts": rows,
        "unclear": sorted(sorted(pair) for pair in reference.unclear_pairs),
        "left_out": asdict(reference.left_out),
    }
    write_folder(folder, {DESCRIPTION: checked_json(described), **files})


def require_vacant(folder: Path, overwrite: bool = False) -> None:
    """Raise RunError if a folder holds anything but a reference, or a reference that may not be overwritten."""
    restore_folder(folder)
    another = "Choose another folder"
    try:
        if folder.exists() and not folder.is_dir():
            raise RunError("is a file, not a folder", where=folder, remedy=another)
        there = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    except OSError as error:
        raise RunError(f"can't be read ({error.strerror})", where=folder, remedy=another) from None
    if not there:
        return
    if DESCRIPTION not in there:
        raise RunError("is not empty and not a reference", where=folder, remedy=another)
    if not overwrite:
        raise RunError("holds a reference", where=folder, remedy=f"{OVERWRITE} or choose another folder")
    if strange := [name for name in there if name not in (DESCRIPTION, "texts") and not _FILE.fullmatch(name)]:
        raise RunError(
            f"holds {list_some(strange, 1)}, which a reference does not have",
            where=folder,
            remedy="Move it away or choose another folder",
        )


def read_built(folder: Path) -> Reference:
    """Read a reference as it was written. Raise one CorpusError for everything that was changed since."""
    path = folder / DESCRIPTION
    try:
        described = read_checked_json(path)
    except RunError as error:
        raise CorpusError(error.what, where=error.where, remedy=REBUILD) from None
    if described.get("format") != FORMAT:
        what = f"has format {described.get('format')}, and this Byline reads {FORMAT}"
        raise CorpusError(what, where=path, remedy=REBUILD)
    texts, errors = [], []
    try:
        for row in described["texts"]:
            try:
                text = _read_text(folder, row)
                texts.append(ReferenceText(Document(_check_name(row["name"]), text), _check_name(row["author"])))
            except CorpusError as error:
                errors.append(error)
        pairs = frozenset(frozenset(map(_check_name, pair)) for pair in described["unclear"])
        left_out = LeftOut(**{name: _check_count(number) for name, number in described["left_out"].items()})
        language = _check_name(described["language"])
        authors = {text.author for text in texts}
        if not errors and not all(len(pair) == 2 and pair <= authors for pair in pairs):
            raise ValueError("it names authors without texts")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorpusError(f"is damaged ({error})", where=path, remedy=REBUILD) from None
    raise_together(errors)
    return Reference(language, tuple(texts), pairs, left_out)


def _check_name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{value!a} is not a name")
    return value


def _check_count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError(f"{value!a} is not a number of texts")
    return value


def _read_text(folder: Path, row: Mapping[str, Any]) -> str:
    if not _FILE.fullmatch(row["file"]):
        what = f"names {row['file']!a}, which is not a text of it"
        raise CorpusError(what, where=folder / DESCRIPTION, remedy=REBUILD)
    path = folder / row["file"]
    remedy = "Restore it, or build the reference again"
    if not path.is_file():
        raise CorpusError("is missing", where=path, remedy=remedy)
    content = read_bytes(path)
    if sha256(content) != row["sha256"]:
        raise CorpusError("was changed after the reference was built", where=path, remedy=remedy)
    return content.decode()
