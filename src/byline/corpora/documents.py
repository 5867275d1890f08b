"""Documents: texts read from files of any format, with a name for messages."""

from __future__ import annotations

import json
import logging
import os
import stat
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeGuard

from byline.corpora.formats import FORMATS, read_text
from byline.corpora.formats.encodings import MARKS
from byline.corpora.formats.extraction import LARGEST_FILE, find_foreign
from byline.errors import CorpusError, SettingsError

log = logging.getLogger(__name__)

MAX_BYTES = 2_000_000_000

NOT_TEXTS = ("readme", "license", "licence", "changelog", "contributing")
"""Names without suffix of files that describe a corpus. A .txt file is a text whatever its name."""
HIDDEN_PREFIXES = (".", "~$")
"""Prefixes of hidden files and of those that programs keep beside open documents."""
CHECK_ACCESS = "Check that you may read it"


@dataclass(frozen=True)
class Document:
    """A text and its name in messages, such as `EN014/known02.txt`."""

    name: str
    text: str
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What was left out or corrected while reading, according to the rules of the format."""
    guesses: tuple[str, ...] = field(default=(), compare=False)
    """What was uncertain while reading, such as the encoding."""

    def to_dict(self) -> dict[str, object]:
        """Return plain values, as `byline text --json` prints them."""
        return {
            "document": self.name,
            "characters": len(self.text),
            "notes": list(self.notes),
            "guesses": list(self.guesses),
            "text": self.text,
        }


def classify_path(path: Path, remedy: str, name: str | None = None) -> Literal["file", "folder"]:
    """Return whether a path is a file or a folder. Raise CorpusError with this remedy if it is neither."""
    where = name or path
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise CorpusError("not found", where=where, remedy=remedy) from None
    except OSError as error:
        raise CorpusError(f"can't be read ({error.strerror})", where=where, remedy=remedy) from None
    except ValueError:
        raise CorpusError("can't be the name of a file", where=where, remedy=remedy) from None
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISREG(mode):
        return "file"
    raise CorpusError("is neither a file nor a folder", where=where, remedy=remedy)


def read_bytes(path: Path, name: str | None = None, limit: int = MAX_BYTES) -> bytes:
    """Read a regular file. Raise CorpusError if it can't be read, is too large or is no file."""
    where = name or str(path)
    if classify_path(path, CHECK_ACCESS, where) == "folder":
        raise CorpusError("is a folder, not a file", where=where, remedy="Name the files in it")
    try:
        if path.stat().st_size > limit:
            size = f"{limit // 1_000_000:,} MB"
            raise CorpusError(f"is larger than {size}", where=where, remedy="Split it or save its text alone")
        return path.read_bytes()
    except OSError as error:
        raise CorpusError(f"can't be read ({error.strerror})", where=where, remedy=CHECK_ACCESS) from None
    except MemoryError:
        raise CorpusError("is too large for the free memory", where=where, remedy="Split it") from None


def read_document(path: Path | str, name: str | None = None, encoding: str | None = None) -> Document:
    """Read the text of a file in any of the formats, with Unix line ends. Log a warning for each guess.

    Parameters
    ----------
    name
        Name of the document in messages (default: the path).
    encoding
        Encoding of plain text and markup (default: detected).
    """
    path = Path(path)
    name = name or str(path)
    found = read_text(read_bytes(path, name, LARGEST_FILE), path.suffix, name, encoding)
    for guess in found.guesses:
        log.warning("%s: %s", name, guess)
    for note in found.notes:
        log.info("%s: %s", name, note)
    return Document(name, found.text, found.notes, found.guesses)


def read_table(path: Path) -> str:
    """Read the plain text of a table or a JSON file, with LF as line ends."""
    return decode(read_bytes(path), str(path))


def decode(data: bytes, name: str) -> str:
    """Decode plain text as its byte-order mark says or as UTF-8, with LF as line ends."""
    if foreign := find_foreign(data):
        raise CorpusError(f"{foreign.kind}, not plain text", where=name, remedy="Save it as plain text in UTF-8")
    encoding = next((encoding for mark, encoding in MARKS if data.startswith(mark)), "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        expected = encoding.upper().removesuffix("-SIG")
        raise CorpusError(f"not {expected} (byte {error.start})", where=name, remedy="Save it as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def find_texts(folder: Path) -> list[Path]:
    """Return the sorted text files below a folder. Raise CorpusError if a folder can't be read."""
    files: list[Path] = []
    seen: set[str] = set()
    try:
        for parent, inner, names in os.walk(folder, onerror=_raise, followlinks=True):
            real = os.path.realpath(parent)
            if real in seen:  # a link leads in a circle
                inner.clear()
            else:
                seen.add(real)
                files += (Path(parent, name) for name in names)
        return pick_texts(filter(is_text, files))
    except OSError as error:
        raise unreadable_folder(folder, error) from None


def unreadable_folder(folder: Path, error: OSError) -> CorpusError:
    """Return the error to raise if a folder or one below it can't be listed."""
    reason = error.strerror or os.strerror(error.errno or 0)
    return CorpusError(f"can't be read ({reason})", where=error.filename or folder, remedy=CHECK_ACCESS)


def list_folder(folder: Path) -> list[Path]:
    """Return the sorted contents of a folder."""
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise unreadable_folder(folder, error) from None


def list_visible(folder: Path) -> list[Path]:
    """Return the sorted contents of a folder without what systems and packers hide there."""
    return [child for child in list_folder(folder) if not child.name.startswith((".", "__"))]


def _raise(error: OSError) -> NoReturn:
    raise error


def pick_texts(files: Iterable[Path]) -> list[Path]:
    """Return the sorted files that have names of texts. Raise CorpusError if a text may be there twice."""
    found = sorted(file for file in files if has_text_name(file.name))
    raise_together(find_duplicates(found))
    return found


def find_duplicates(files: Iterable[Path], prefix: str | None = None) -> list[CorpusError]:
    """Return an error for each file that may be the same text as an earlier one in another format.

    `prefix` replaces the folder in messages.
    """
    first: dict[tuple[Path, str], Path] = {}
    errors = []
    for file in files:
        earlier = first.setdefault((file.parent, file.stem.casefold()), file)
        if earlier.suffix.lower() != file.suffix.lower():
            where = file if prefix is None else prefix + file.name
            what = f"may be the same text as {earlier.name} beside it"
            errors.append(CorpusError(what, where=where, remedy="Remove or rename one of them"))
    return errors


def is_text(file: Path) -> bool:
    """Whether this is a file with the name of a text."""
    return has_text_name(file.name) and not file.is_dir()


def has_text_name(name: str) -> bool:
    """Whether a file of this name is a text."""
    stem, _, suffix = name.rpartition(".")
    if not stem or suffix.lower() == "txt":
        return stem != ""
    hidden = name.startswith(HIDDEN_PREFIXES) or stem.lower() in NOT_TEXTS
    return f".{suffix.lower()}" in FORMATS and not hidden


def read_documents(
    files: Iterable[tuple[Path, str | None]], faults: Sequence[CorpusError] = (), encoding: str | None = None
) -> list[Document]:
    """Read files under the names given. Raise one CorpusError for all that can't be read and for earlier faults."""
    errors = list(faults)
    documents: list[Document] = []
    for file, name in files:
        with collect_errors(errors):
            documents.append(read_document(file, name, encoding))
    raise_together(errors)
    return documents


@contextmanager
def collect_errors(errors: list[CorpusError]) -> Iterator[None]:
    """Append a CorpusError to a list instead of raising it."""
    try:
        yield
    except CorpusError as error:
        errors.append(error)


def raise_together(errors: Sequence[CorpusError]) -> None:
    """Raise one error for several, or the only one as it is; do nothing if there is none."""
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise CorpusError("these can't be used", causes=errors)


class JsonObject(dict[str, Any]):
    """A JSON object that remembers names which occur twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def read_json(path: Path) -> Any:
    """Read a JSON file. Its objects are JsonObjects."""
    try:
        return json.loads(read_table(path), object_pairs_hook=JsonObject)
    except (ValueError, RecursionError):
        raise CorpusError("is not JSON", where=path, remedy="Repair it") from None


def read_json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each line that is not blank; the value of a bad line is a CorpusError."""
    for number, line in enumerate(read_table(path).split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line, object_pairs_hook=JsonObject)
            except (ValueError, RecursionError):
                where, remedy = f"{path.name} line {number}", "Write one JSON object per line"
                yield number, CorpusError("is not JSON", where=where, remedy=remedy)


def read_toml(path: Path) -> dict[str, Any]:
    """Read the values in a TOML file."""
    try:
        return parse_toml(read_bytes(path), str(path))
    except CorpusError as error:
        raise SettingsError(error.what, where=error.where, remedy=error.remedy) from None


def parse_toml(data: bytes, where: str) -> dict[str, Any]:
    """Return the values in TOML."""
    try:
        values = tomllib.loads(decode(data, where))
        json.dumps(values, default=str)  # raises for numbers of thousands of digits, which no message can show
        return values
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, extremely long or nested
        raise SettingsError(f"not TOML ({error})", where=where, remedy="Write lines such as hidden = 99") from None


def is_plain_name(value: object) -> TypeGuard[str]:
    """Whether a value is the name of something in a folder and not a path out of it."""
    return isinstance(value, str) and Path(value).name == value and value.isprintable() and value.strip(". ") != ""
