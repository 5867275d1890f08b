"""Texts whose authors are known: author folders, `Author_Title.txt` in one folder, or tables with named columns."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from byline.documents import Document, decode, look_at, read_bytes, read_document
from byline.errors import CorpusError, listing
from byline.languages import language_of, language_of_script
from byline.normalise import normalise

REMEDY = "name a folder of authors' folders, a folder of Author_Title.txt files, a .csv or a .jsonl file"
TABLES = (".csv", ".tsv", ".jsonl")
LONGEST_CELL = 100_000_000


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
    paths: Sequence[Path], language: str | None = None, author_column: str = "author", text_column: str = "text"
) -> Writings:
    """The texts below folders or in tables; everything that can't be read is named at once."""
    found: list[tuple[str, Document]] = []
    offences: list[str] = []
    for path in paths:
        try:
            if look_at(path, REMEDY) == "folder":
                files = list(_in_folder(path))
                for author, file, name in files:
                    try:
                        found.append((author, read_document(file, name)))
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
    return writings_of([document for _, document in found], [author for author, _ in found], language)


def writings_of(documents: Sequence[Document], authors: Sequence[str], language: str | None = None) -> Writings:
    """Texts with their authors; one that an author has twice counts once, one that two authors have is refused.

    Texts that are the same after normalising are the same.
    """
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
    """Author, file and name of each text."""
    try:
        children = sorted(child for child in folder.iterdir() if not child.name.startswith((".", "__")))
        folders = [child for child in children if child.is_dir()]
        texts = {child: sorted(file for file in child.iterdir() if file.suffix.lower() == ".txt") for child in folders}
    except OSError as error:
        raise CorpusError(f"{folder}: can't be read ({os.strerror(error.errno or 0)}); check that you may") from None
    files = [child for child in children if child.is_file() and child.suffix.lower() == ".txt"]
    if any(texts.values()):
        if files:
            raise CorpusError(
                f"{folder}: holds both folders and {files[0].name}; put every text into its author's folder"
            )
        if bare := [child for child, own in texts.items() if not own]:
            raise CorpusError(f"{bare[0]}: no .txt files there; put the author's texts into it, or remove the folder")
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


def author_of(stem: str) -> str:
    """The author in `Author_Title` or `Author_-_Title`, or nothing."""
    head, found, _ = stem.partition("_-_") if "_-_" in stem else stem.partition("_")
    return head.replace("_", " ").strip() if found else ""


def _in_table(path: Path, author_column: str, text_column: str) -> list[tuple[str, Document]]:
    content = decode(read_bytes(path), str(path))
    rows = _json_rows(content, path) if path.suffix.lower() == ".jsonl" else _csv_rows(content, path)
    found = []
    for number, row in rows:
        for column in (author_column, text_column):
            if column not in row:
                there = ", ".join(map(str, row)) or "none"
                raise CorpusError(
                    f"{path}: line {number} has no column {column!r} (there are {there[:200]});"
                    " name them with --author-column and --text-column"
                )
        author, text = row[author_column], row[text_column]
        if not isinstance(author, str) or not isinstance(text, str) or not author.strip() or not text.strip():
            raise CorpusError(f"{path}: line {number} has no author or no text; complete it or remove the line")
        found.append((author.strip(), Document(f"{path.name}:{number}", text)))
    if not found:
        raise CorpusError(f"{path}: empty; it should have a line for each text")
    return found


def _csv_rows(content: str, path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
        reader = csv.DictReader(io.StringIO(content), delimiter=delimiter, strict=True)  # an open quote is an error
        for row in reader:
            yield reader.line_num, {str(key): value for key, value in row.items() if key is not None}
    except csv.Error as error:
        raise CorpusError(f"{path}: no table ({error}); save it as CSV with a line of column names") from None
    finally:
        csv.field_size_limit(before)


def _json_rows(content: str, path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    for number, line in enumerate(content.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            raise CorpusError(f"{path}: line {number} is no JSON object; repair it")
        yield number, row
