"""A file becomes a Document: decoded text with a name to call it by."""

from __future__ import annotations

import codecs
import json
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

from byline.errors import CorpusError, listing

# Longest first: UTF-32's mark begins with UTF-16's.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# What people rename to .txt.
_FOREIGN = (
    (b"PK\x03\x04", "a Word, OpenDocument or other packed file"),
    (b"\xd0\xcf\x11\xe0", "an old Word file"),
    (b"%PDF", "a PDF file"),
    (b"{\\rtf", "an RTF file"),
)


@dataclass(frozen=True)
class Document:
    """A text and the name by which messages call it, such as `EN014/known02.txt`."""

    name: str
    text: str


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
        if not stat.S_ISREG(path.stat().st_mode):
            raise CorpusError(f"{name}: can't be read (not a file); {remedy}")
        return path.read_bytes()
    except OSError as error:
        raise CorpusError(f"{name}: can't be read ({error.strerror}); {remedy}") from None


def read_document(path: Path, name: str | None = None) -> Document:
    """The text of a UTF-8 file (or one whose byte-order mark says otherwise), line ends made plain."""
    name = name or str(path)
    text = decode(read_bytes(path, name), name)
    if not text.strip():
        raise CorpusError(f"{name}: empty; remove it or put text in it")
    return Document(name, text)


def decode(data: bytes, name: str) -> str:
    """Bytes as text: byte-order mark obeyed and removed, CRLF and CR made LF."""
    if kind := next((kind for mark, kind in _FOREIGN if data.startswith(mark)), None):
        raise CorpusError(f"{name}: {kind}, not plain text; save it as plain text in UTF-8")
    encoding = next((encoding for mark, encoding in _MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise CorpusError(
            f"{name}: not {encoding.upper().removesuffix('-SIG')} (byte {error.start}); save it as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def find_texts(folder: Path) -> list[Path]:
    """The text files below a folder, in the order of their names."""
    try:
        return sorted(file for file in folder.rglob("*") if is_text(file))
    except OSError as error:
        raise CorpusError(f"{folder}: can't be read ({error.strerror}); check that you may read it") from None


def is_text(file: Path) -> bool:
    """Whether it has the name of a text."""
    return file.suffix.lower() == ".txt" and not file.is_dir()


def read_documents(files: Iterable[tuple[Path, str | None]], before: Sequence[str] = ()) -> list[Document]:
    """Texts under the names given; all that can't be read is named at once, after what was found wrong before."""
    documents, offences = [], list(before)
    for file, name in files:
        try:
            documents.append(read_document(file, name))
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
