"""A file becomes a Document: its text, whatever its format, with a name to call it by."""

from __future__ import annotations

import json
import logging
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeGuard

from byline.errors import CorpusError, listing
from byline.formats import FORMATS, read_text
from byline.formats.encodings import MARKS
from byline.formats.plain import find_foreign
from byline.formats.reading import LARGEST_FILE

log = logging.getLogger(__name__)

LARGEST_TABLE = 2_000_000_000
"""Bytes of a file that is read whole."""

NO_TEXTS = ("readme", "license", "licence", "changelog", "contributing")
"""Names, before the ending, of what lies beside texts and tells of them. A .txt file is a text by any name."""
LEFT_BEHIND = (".", "~$")
"""What the names begin with that programs leave beside documents while they are open, or hide."""


@dataclass(frozen=True)
class Document:
    """A text and the name by which messages call it, such as `EN014/known02.txt`."""

    name: str
    text: str
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was left out or put right when it was read, by rule."""
    guesses: tuple[str, ...] = field(default=(), compare=False)
    """What was not sure when it was read, such as its encoding."""


def look_at(path: Path, remedy: str) -> Literal["file", "folder"]:
    """What a path is; one that is missing, out of reach, or neither file nor folder (a pipe, say) is refused."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise CorpusError(f"{path}: not found; {remedy}") from None
    except OSError as error:
        raise CorpusError(f"{path}: can't be read ({error.strerror}); {remedy}") from None
    except ValueError:
        raise CorpusError(f"{path}: no possible name of a file; {remedy}") from None
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    raise CorpusError(f"{path}: neither a file nor a folder; {remedy}")


def read_bytes(path: Path, name: str | None = None) -> bytes:
    """All bytes of a regular file."""
    name = name or str(path)
    remedy = "check that it is a file you may read"
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise CorpusError(f"{name}: a folder, where a file is wanted; name the files in it")
        if not stat.S_ISREG(mode):
            raise CorpusError(f"{name}: can't be read (not a file); {remedy}")
        with open(path, "rb", buffering=0, opener=_open_at_once) as file:
            if os.fstat(file.fileno()).st_size > LARGEST_TABLE:
                raise CorpusError(f"{name}: larger than {LARGEST_TABLE // 1_000_000_000} GB; split it")
            data = file.read()
            if data is None:
                raise CorpusError(f"{name}: can't be read (it would have to be waited for); {remedy}")
            return bytes(data)
    except OSError as error:
        raise CorpusError(f"{name}: can't be read ({error.strerror}); {remedy}") from None
    except ValueError:
        raise CorpusError(f"{name}: no possible name of a file; {remedy}") from None
    except MemoryError:
        raise CorpusError(f"{name}: too large for the memory that is left; split it") from None


def _open_at_once(path: str, flags: int) -> int:
    """Open a file so that what has nothing to read fails rather than waits."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def read_document(path: Path | str, name: str | None = None, encoding: str | None = None) -> Document:
    """The text of a file in any of the formats, line ends made plain; guesses are warned of.

    `encoding` is for plain text and markup whose own is not what it says; else it is found out.
    """
    path = Path(path)
    name = name or str(path)
    try:
        size = path.stat().st_size
    except (OSError, ValueError):
        size = 0  # read_bytes says why
    if size > LARGEST_FILE:
        raise CorpusError(f"{name}: larger than {LARGEST_FILE // 1_000_000} MB; save its text alone, or split it")
    found = read_text(read_bytes(path, name), path.suffix, name, encoding)
    for guess in found.guesses:
        log.warning("%s: %s", name, guess)
    for note in found.notes:
        log.info("%s: %s", name, note)
    return Document(name, found.text, found.notes, found.guesses)


def decode(data: bytes, name: str) -> str:
    """Bytes of a table or the like as text: UTF-8, or as the byte-order mark says; CRLF and CR made LF."""
    if foreign := find_foreign(data):
        raise CorpusError(f"{name}: {foreign.kind}, not plain text; save it as plain text in UTF-8")
    encoding = next((encoding for mark, encoding in MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{name}: not {encoding.upper().removesuffix('-SIG')} (byte {error.start}); save it as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def find_texts(folder: Path) -> list[Path]:
    """The texts' files below a folder, in the order of their names; a folder in it that can't be read is refused."""
    files: list[Path] = []
    seen: set[str] = set()
    try:
        for place, inner, names in os.walk(folder, onerror=_raise, followlinks=True):
            real = os.path.realpath(place)
            if real in seen:  # by a link that leads to where it was already
                inner.clear()
            else:
                seen.add(real)
                files += (Path(place, name) for name in names)
        return pick_texts(filter(is_text, files))
    except OSError as error:
        raise CorpusError(
            f"{error.filename or folder}: can't be read ({error.strerror}); check that you may read it"
        ) from None


def _raise(error: OSError) -> NoReturn:
    raise error


def pick_texts(files: Iterable[Path]) -> list[Path]:
    """Those that have the names of texts, in the order of their names; what may be one text twice is refused."""
    found = sorted(file for file in files if has_text_name(file.name))
    if doubts := [f"{file}: {doubt}" for file, doubt in doubtful_texts(found)]:
        raise CorpusError(listing(doubts, "these can't be used"))
    return found


def doubtful_texts(files: Iterable[Path]) -> list[tuple[Path, str]]:
    """The files that may be the same text as an earlier one in another format, and what to do about it."""
    first: dict[tuple[Path, str], Path] = {}
    found = []
    for file in files:
        before = first.setdefault((file.parent, file.stem.casefold()), file)
        if before.suffix.lower() != file.suffix.lower():
            found.append((file, f"{before.name} lies beside it, perhaps the same text; remove or rename one of them"))
    return found


def is_text(file: Path) -> bool:
    """Whether it has the name of a text."""
    return has_text_name(file.name) and not file.is_dir()


def has_text_name(name: str) -> bool:
    """Whether a file of that name is a text."""
    stem, _, suffix = name.rpartition(".")
    if suffix.lower() == "txt":
        return stem != ""
    aside = name.startswith(LEFT_BEHIND) or stem.lower() in NO_TEXTS
    return stem != "" and f".{suffix.lower()}" in FORMATS and not aside


def read_documents(
    files: Iterable[tuple[Path, str | None]], before: Sequence[str] = (), encoding: str | None = None
) -> list[Document]:
    """Texts under the names given; all that can't be read is named at once, after what was found wrong before."""
    documents, offences = [], list(before)
    for file, name in files:
        try:
            documents.append(read_document(file, name, encoding))
        except CorpusError as error:
            offences.append(str(error))
    if offences:
        raise CorpusError(listing(offences, "these can't be used"))
    return documents


def read_json(path: Path) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(decode(read_bytes(path), str(path)))
    except (ValueError, RecursionError):
        raise CorpusError(f"{path}: not JSON; repair it") from None


def is_plain_name(value: object) -> TypeGuard[str]:
    """Whether a value is the name of something in a folder, not a way out of it."""
    return isinstance(value, str) and Path(value).name == value and value.isprintable() and value.strip(". ") != ""
