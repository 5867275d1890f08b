"""Texts whose authors are known: author folders, `Author_Title.txt` in one folder, or tables with named columns."""

from __future__ import annotations

import csv
import io
import json
import os
import threading
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from byline.documents import Document, decode, find_texts, look_at, pick_texts, read_bytes, read_document
from byline.errors import CorpusError, listing
from byline.formats.reading import LARGEST_TEXT, TOO_LARGE
from byline.languages import language_of, language_of_script
from byline.normalise import normalise

REMEDY = "name a folder of authors' folders, a folder of Author_Title.txt files, a .csv or a .jsonl file"
TABLES = (".csv", ".tsv", ".jsonl")
DELIMITERS = (",", ";", "\t")
"""What may stand between the cells of a table; some countries' spreadsheets write semicolons."""
_SPELT = {",": "commas", ";": "semicolons", "\t": "tabs"}
NONE = "none of these"
"""What answers say in an author's place: nobody can be called so."""
LONGEST_CELL = 100_000_000
_CELLS = threading.Lock()
"""Held while the csv module takes longer cells than usual: that is a setting of the whole process."""


@dataclass(frozen=True)
class Writings:
    """Texts and who wrote them, in the order of authors' names and of the texts."""

    documents: tuple[Document, ...]
    authors: tuple[str, ...]
    """Of each document."""
    language: str

    def __post_init__(self) -> None:
        """Each document has an author."""
        assert len(self.documents) == len(self.authors)

    @property
    def names(self) -> tuple[str, ...]:
        """The different authors, in order."""
        return tuple(sorted(set(self.authors)))


def read_writings(
    paths: Path | str | Sequence[Path | str],
    language: str | None = None,
    author_column: str = "author",
    text_column: str = "text",
) -> Writings:
    """The texts below folders or in tables; everything that can't be read is named at once."""
    given = [paths] if isinstance(paths, Path | str) else paths
    found: list[tuple[str, str, Document]] = []  # author, title, and the text under its whole path
    offences: list[str] = []
    for path in map(Path, given):
        try:
            if look_at(path, REMEDY) == "folder":
                for author, file, title in list(_in_folder(path)):
                    try:
                        found.append((author, title, read_document(file)))
                    except CorpusError as error:
                        offences.append(str(error))
            elif path.suffix.lower() in TABLES:
                found += _in_table(path, author_column, text_column)
            else:
                raise CorpusError(f"{path}: no folder, .csv, .tsv or .jsonl file; {REMEDY}")
        except CorpusError as error:
            offences.append(str(error))
    if offences:
        raise CorpusError(listing(offences, "these can't be used"))
    whole = writings_of([document for *_, document in found], [author for author, *_ in found], language)
    titles = {document.name: title for _, title, document in found}
    return replace(whole, documents=tuple(replace(each, name=titles[each.name]) for each in whole.documents))


def writings_of(documents: Sequence[Document], authors: Sequence[str], language: str | None = None) -> Writings:
    """Texts with their authors; one that an author has twice counts once, one that two authors have is refused.

    Texts that are the same after normalising are the same, and so are names, however their accents are stored.
    """
    authors = [plain_name(author) for author in authors]
    said = language_of(language) if language else language_of_script(*(document.text for document in documents))
    first: dict[str, tuple[str, Document]] = {}
    order = sorted(zip(authors, documents, strict=True), key=lambda each: (each[0], each[1].text, each[1].name))
    for author, document in order:
        before, other = first.setdefault(normalise(document.text, said or ""), (author, document))
        if before != author:
            raise CorpusError(
                f"{document.name}: {author} and {before} ({other.name}) have the same text;"
                " leave it with the one who wrote it"
            )
    kept = list(first.values())
    return Writings(tuple(document for _, document in kept), tuple(author for author, _ in kept), said or "unknown")


def _in_folder(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """Author, file and title of each text."""
    try:
        children = sorted(child for child in folder.iterdir() if not child.name.startswith((".", "__")))
        folders = [child for child in children if child.is_dir()]
        texts = {child: pick_texts(child.iterdir()) for child in folders}
    except OSError as error:
        place = error.filename or folder
        raise CorpusError(f"{place}: can't be read ({os.strerror(error.errno or 0)}); check that you may") from None
    if any(texts.values()) and (
        deeper := [text for each in folders for text in find_texts(each) if text.parent != each]
    ):
        raise CorpusError(f"{deeper[0]}: one folder too deep; put every text into its author's folder")
    files = pick_texts(child for child in children if child.is_file())
    if any(texts.values()):
        if files:
            raise CorpusError(
                f"{folder}: holds both folders and {files[0].name}; put every text into its author's folder"
            )
        if bare := [child for child, own in texts.items() if not own]:
            raise CorpusError(f"{bare[0]}: no texts there; put the author's texts into it, or remove the folder")
        for child, own in texts.items():
            yield from ((child.name, file, f"{child.name}/{file.name}") for file in own)
        return
    if not files:
        raise CorpusError(f"{folder}: no texts found; {REMEDY}")
    nameless = [file.name for file in files if not author_of(file.stem)]
    if nameless:
        raise CorpusError(
            f"{folder}: whose text is {nameless[0]}? Name texts Author_Title.txt, or put each author's into a folder"
        )
    yield from ((author_of(file.stem), file, file.name) for file in files)


def plain_name(author: str) -> str:
    """A name in Unicode's composed form (NFC): however its accents are stored, it is the same author's."""
    return unicodedata.normalize("NFC", author)


def author_of(stem: str) -> str:
    """The author in `Author_Title` or `Author_-_Title`, or nothing."""
    head, found, _ = stem.partition("_-_") if "_-_" in stem else stem.partition("_")
    return head.replace("_", " ").strip() if found else ""


def _in_table(path: Path, author_column: str, text_column: str) -> list[tuple[str, str, Document]]:
    content = decode(read_bytes(path), str(path))
    columns = (author_column, text_column)
    rows = _json_rows(content, path) if path.suffix.lower() == ".jsonl" else _csv_rows(content, path, columns)
    found = []
    for number, row in rows:
        _require_columns(row, columns, path, number)
        author, text = (_cell(row[column], column, path, number) for column in columns)
        if len(text) > LARGEST_TEXT:
            raise CorpusError(f"{path}:{number}: {TOO_LARGE}")
        found.append((author.strip(), f"{path.name}:{number}", Document(f"{path}:{number}", text)))
    if not found:
        raise CorpusError(f"{path}: empty; it should have a line for each text")
    return found


def _cell(value: object, column: str, path: Path, line: int) -> str:
    """The text in a cell."""
    if value is not None and not isinstance(value, str):
        raise CorpusError(f"{path}: line {line}: {column} must be text, got {json.dumps(value)[:40]}; put it in quotes")
    if value is None or not value.strip():
        raise CorpusError(f"{path}: line {line} has no {column}; complete it or remove the line")
    return value


def _require_columns(there: Iterable[object], wanted: Sequence[str], path: Path, line: int) -> None:
    names = [str(name) for name in there]
    if lacking := next((column for column in wanted if column not in names), None):
        raise CorpusError(
            f"{path}: line {line} has no column {lacking!r} (there are {', '.join(names)[:200] or 'none'});"
            " say which hold authors and texts (--author-column, --text-column)"
        )


def _csv_rows(content: str, path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, object]]]:
    """The number of each row's last line, and its cells by column."""
    with _CELLS:
        before = csv.field_size_limit(LONGEST_CELL)
        try:
            delimiter = _delimiter(content, columns, "\t" if path.suffix.lower() == ".tsv" else ",")
            reader = csv.reader(io.StringIO(content), delimiter=delimiter, strict=True)  # an open quote is an error
            names = next(filter(None, reader), [])
            if names:
                _require_columns(names, columns, path, reader.line_num)
                _require_single(names, path, reader.line_num)
            last = max((place for place, name in enumerate(names, start=1) if name), default=0)
            rows: list[tuple[int, dict[str, object]]] = []
            for row in filter(None, reader):
                if len(row) != len(names) or any(row[last:]):  # what stands behind the last name is cut off something
                    raise CorpusError(
                        f"{path}: line {reader.line_num} has {len(row)} cell{'s' * (len(row) > 1)}, and there are"
                        f" {last} columns; put texts that hold {_SPELT[delimiter]} in quotes, and leave no cell out"
                    )
                rows.append((reader.line_num, dict(zip(names, row, strict=True))))
            return rows
        except csv.Error as error:
            raise CorpusError(f"{path}: no table ({error}); save it as CSV with a line of column names") from None
        finally:
            csv.field_size_limit(before)


def _require_single(names: Sequence[str], path: Path, line: int) -> None:
    if twice := next((name for name in names if name and names.count(name) > 1), None):
        raise CorpusError(f"{path}: line {line} names {twice!r} twice; give each a name of its own")


def _delimiter(content: str, columns: Sequence[str], usual: str) -> str:
    """What stands between the columns' names: of them most, then most names at all, then the usual one."""

    def fitness(delimiter: str) -> tuple[int, int, bool]:
        try:
            names = next(filter(None, csv.reader(io.StringIO(content), delimiter=delimiter, strict=True)), [])
        except csv.Error:
            names = []
        return len(set(columns) & set(names)), len(names), delimiter == usual

    return max(DELIMITERS, key=fitness)


def _single_names(pairs: list[tuple[str, object]], path: Path, line: int) -> dict[str, object]:
    """A JSON object, if it names nothing twice."""
    _require_single([name for name, _ in pairs], path, line)
    return dict(pairs)


def _json_rows(content: str, path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=partial(_single_names, path=path, line=number))
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise CorpusError(f"{path}: line {number} is no JSON object; repair it")
        yield number, row
