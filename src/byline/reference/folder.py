"""A reference on disk.

ref/reference.json            language; each text's file, name, author, length and hash; which authors may be one
ref/texts/0001.txt            a text, in UTF-8
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from byline import __version__
from byline.documents import Document, read_bytes
from byline.errors import CorpusError, RunError, listing
from byline.reference.texts import LeftOut, Reference, ReferenceText
from byline.storage import checked_json, put_back, read_checked_json, sha256, write_folder

FORMAT = 1
DESCRIPTION = "reference.json"
_FILE = re.compile(r"texts/\d{4,9}\.txt")
_AGAIN = "build it again with byline reference build --overwrite"


def is_reference(path: Path) -> bool:
    """Whether a folder is a reference that was built."""
    return (path / DESCRIPTION).is_file()


def write_reference(reference: Reference, folder: Path, overwrite: bool = False) -> None:
    """Keep a reference in a folder of its own, whole or not at all; nothing but another reference is ever replaced."""
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
        "unclear": sorted(sorted(pair) for pair in reference.unclear),
        "left_out": asdict(reference.left_out),
    }
    write_folder(folder, {DESCRIPTION: checked_json(described), **files})


def require_vacant(folder: Path, overwrite: bool = False) -> None:
    """Refuse a place that holds anything but a reference, or a reference that is to stay."""
    put_back(folder)
    try:
        if folder.exists() and not folder.is_dir():
            raise RunError(f"{folder}: a file, not a folder; choose another place")
        there = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    except OSError as error:
        raise RunError(f"{folder}: can't be looked into ({error.strerror}); choose another folder") from None
    if not there:
        return
    if DESCRIPTION not in there:
        raise RunError(f"{folder}: not empty, and no reference; choose another folder")
    if not overwrite:
        raise RunError(f"{folder}: holds a reference; give --overwrite to replace it, or choose another folder")
    if strange := [name for name in there if name not in (DESCRIPTION, "texts") and not _FILE.fullmatch(name)]:
        more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
        raise RunError(
            f"{folder}: holds {strange[0]}{more}, which is no part of a reference;"
            " move it away, or choose another folder"
        )


def read_built(folder: Path) -> Reference:
    """A reference as it was written; one that was changed since is refused, and all that is changed is named."""
    path = folder / DESCRIPTION
    try:
        described = read_checked_json(path)
    except RunError as error:
        raise CorpusError(f"{error}; {_AGAIN}") from None
    if described.get("format") != FORMAT:
        raise CorpusError(f"{path}: of format {described.get('format')}, this Byline reads {FORMAT}; {_AGAIN}")
    texts, offences = [], []
    try:
        for row in described["texts"]:
            try:
                text = _read_text(folder, row)
                texts.append(ReferenceText(Document(_word(row["name"]), text), _word(row["author"])))
            except CorpusError as error:
                offences.append(str(error))
        unclear = frozenset(frozenset((_word(first), _word(second))) for first, second in described["unclear"])
        left_out = LeftOut(**{name: _count(number) for name, number in described["left_out"].items()})
        language = _word(described["language"])
        authors = {text.author for text in texts}
        if not offences and not all(len(pair) == 2 and pair <= authors for pair in unclear):
            raise ValueError("it names authors who are none")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorpusError(f"{path}: damaged ({error}), not what Byline writes; {_AGAIN}") from None
    if offences:
        raise CorpusError(listing(offences, "these are not as they were written"))
    return Reference(language, tuple(texts), unclear, left_out)


def _word(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{value!a} is no name")
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise TypeError(f"{value!a} is no number of texts")
    return value


def _read_text(folder: Path, row: Mapping[str, Any]) -> str:
    if not _FILE.fullmatch(row["file"]):
        raise CorpusError(f"{folder / DESCRIPTION}: names {row['file']!a}, which is no text of it; {_AGAIN}")
    path = folder / row["file"]
    if not path.is_file():
        raise CorpusError(f"{path}: missing; put it back, or {_AGAIN}")
    content = read_bytes(path)
    if sha256(content) != row["sha256"]:
        raise CorpusError(f"{path}: changed since the reference was built; put it back as it was, or {_AGAIN}")
    return content.decode()
