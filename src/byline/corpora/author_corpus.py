"""Texts with known authors: author folders, `Author_Title.txt` files in one folder, or tables."""

from __future__ import annotations

import csv
import io
import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from byline.corpora.documents import (
    Document,
    JsonObject,
    classify_path,
    collect_errors,
    find_texts,
    list_folder,
    list_visible,
    pick_texts,
    raise_together,
    read_document,
    read_json_lines,
    read_table,
)
from byline.corpora.formats.extraction import LARGEST_TEXT, TOO_LARGE
from byline.errors import CorpusError
from byline.text.languages import language_of, language_of_script
from byline.text.normalize import normalize

REMEDY = "Name a folder of authors' folders, a folder of Author_Title.txt files, or a .csv or .jsonl file"
NAME_COLUMNS = "Say which columns hold authors and texts with {author_column} and {text_column}"
TABLES = (".csv", ".tsv", ".jsonl")
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
"""Spreadsheets of some countries write semicolons."""
NONE = "none of these"
"""The answer if nobody is likely; it can't be the name of an author."""
MAX_CELL = 100_000_000


@dataclass(frozen=True)
class AuthorCorpus:
    """Texts and the author of each, sorted by author and text."""

    documents: tuple[Document, ...]
    authors: tuple[str, ...]
    language: str

    @property
    def names(self) -> tuple[str, ...]:
        """The different authors, sorted."""
        return tuple(sorted(set(self.authors)))


def read_author_corpus(
    paths: Path | str | Sequence[Path | str],
    language: str | None = None,
    author_column: str = "author",
    text_column: str = "text",
) -> AuthorCorpus:
    """Read texts with their authors from folders or tables. Raise one CorpusError for all that can't be read.

    Parameters
    ----------
    paths
        Folders with a folder for each author, folders of `Author_Title.txt` files, .csv, .tsv or .jsonl files.
    language
        Language of the texts (default: their script).
    """
    found: list[tuple[str, str, Document]] = []  # author, title, and the text under its whole path
    errors: list[CorpusError] = []
    for path in map(Path, [paths] if isinstance(paths, Path | str) else paths):
        with collect_errors(errors):
            if classify_path(path, REMEDY) == "folder":
                for author, file, title in _list_texts(path):
                    with collect_errors(errors):
                        found.append((author, title, read_document(file)))
            elif path.suffix.lower() in TABLES:
                found += _read_rows(path, (author_column, text_column))
            else:
                raise CorpusError("is neither a folder nor a .csv, .tsv or .jsonl file", where=path, remedy=REMEDY)
    raise_together(errors)
    corpus = make_author_corpus([document for *_, document in found], [author for author, *_ in found], language)
    titles = {document.name: title for _, title, document in found}
    return replace(corpus, documents=tuple(replace(each, name=titles[each.name]) for each in corpus.documents))


def make_author_corpus(
    documents: Sequence[Document], authors: Sequence[str], language: str | None = None
) -> AuthorCorpus:
    """Make a corpus of documents and their authors; an author's identical texts count once.

    Texts are identical if they are after normalizing, and names if they are in Unicode's composed form. Raise
    CorpusError if two authors have the same text.
    """
    authors = [plain_name(author) for author in authors]
    said = language_of(language) if language else language_of_script(*(document.text for document in documents))
    first: dict[str, tuple[str, Document]] = {}
    order = sorted(zip(authors, documents, strict=True), key=lambda each: (each[0], each[1].text, each[1].name))
    for author, document in order:
        earlier, other = first.setdefault(normalize(document.text, said or ""), (author, document))
        if earlier != author:
            raise CorpusError(
                f"{author} and {earlier} ({other.name}) have the same text",
                where=document.name,
                remedy="Leave it with the author who wrote it",
            )
    kept = list(first.values())
    return AuthorCorpus(tuple(document for _, document in kept), tuple(author for author, _ in kept), said or "unknown")


def plain_name(author: str) -> str:
    """Return a name in Unicode's composed form (NFC), so that equal names are equal strings."""
    return unicodedata.normalize("NFC", author)


def author_of(stem: str) -> str:
    """Return the author in `Author_Title` or `Author_-_Title`, or an empty string."""
    head, found, _ = stem.partition("_-_") if "_-_" in stem else stem.partition("_")
    return head.replace("_", " ").strip() if found else ""


def _list_texts(folder: Path) -> list[tuple[str, Path, str]]:
    """Return author, file and title of each text in a folder."""
    children = list_visible(folder)
    folders = [child for child in children if child.is_dir()]
    texts = {child: pick_texts(list_folder(child)) for child in folders}
    files = pick_texts(child for child in children if child.is_file())
    remedy = "Put every text into its author's folder"
    if any(texts.values()):
        if deeper := next((file for child in folders for file in find_texts(child) if file.parent != child), None):
            raise CorpusError("one folder too deep", where=deeper, remedy=remedy)
        if files:
            raise CorpusError(f"holds both folders and {files[0].name}", where=folder, remedy=remedy)
        if empty := next((child for child, own in texts.items() if not own), None):
            remedy = "Put the author's texts into it or remove the folder"
            raise CorpusError("no texts there", where=empty, remedy=remedy)
        return [(child.name, file, f"{child.name}/{file.name}") for child, own in texts.items() for file in own]
    if not files:
        raise CorpusError("no texts found", where=folder, remedy=REMEDY)
    if nameless := next((file for file in files if not author_of(file.stem)), None):
        remedy = "Name texts Author_Title.txt, or put each author's texts into a folder"
        raise CorpusError("has no author in its name", where=nameless, remedy=remedy)
    return [(author_of(file.stem), file, file.name) for file in files]


def _read_rows(path: Path, columns: Sequence[str]) -> list[tuple[str, str, Document]]:
    """Return author, title and document of each row of a table."""
    rows = _json_rows(path) if path.suffix.lower() == ".jsonl" else _csv_rows(path, columns)
    found = []
    for line, row in rows:
        where = _place(path, line)
        _require_columns(row, columns, where)
        author, text = (_check_cell(row[column], column, where) for column in columns)
        if len(text) > LARGEST_TEXT:
            raise CorpusError(f"has {TOO_LARGE}", where=where, remedy="Split the text")
        found.append((author.strip(), f"{path.name}:{line}", Document(f"{path}:{line}", text)))
    if not found:
        raise CorpusError("is empty", where=path, remedy="Write a line for each text")
    return found


def _place(path: Path, line: int) -> str:
    return f"{path} line {line}"


def _check_cell(value: object, column: str, where: str) -> str:
    """Return the text of a cell. Raise CorpusError if there is none."""
    if value is not None and not isinstance(value, str):
        raise CorpusError(f"{column} is not text but {json.dumps(value)[:40]}", where=where, remedy="Put it in quotes")
    if value is None or not value.strip():
        raise CorpusError(f"has no {column}", where=where, remedy="Complete it or remove the line")
    return value


def _require_columns(present: Iterable[object], wanted: Sequence[str], where: str) -> None:
    names = [str(name) for name in present]
    if missing := next((column for column in wanted if column not in names), None):
        raise CorpusError(
            f"has no column {missing!r}, only {', '.join(names)[:200] or 'none'}",
            where=where,
            remedy=NAME_COLUMNS,
        )


def _require_distinct(names: Sequence[str], where: str) -> None:
    if repeated := next((name for name in names if name and names.count(name) > 1), None):
        raise CorpusError(f"has the name {repeated!r} twice", where=where, remedy="Give each column its own name")


def _csv_rows(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, object]]]:
    """Return the number of each row's last line, and its cells by column."""
    content = read_table(path)
    csv.field_size_limit(MAX_CELL)  # for the whole process; by default, a cell can't hold a book
    delimiter = _delimiter(content, columns, "\t" if path.suffix.lower() == ".tsv" else ",")
    reader = csv.reader(io.StringIO(content), delimiter=delimiter, strict=True)  # raises for an open quote
    try:
        names = next(filter(None, reader), [])
        if names:
            _require_columns(names, columns, _place(path, reader.line_num))
            _require_distinct(names, _place(path, reader.line_num))
        last = max((place for place, name in enumerate(names, start=1) if name), default=0)
        rows: list[tuple[int, dict[str, object]]] = []
        for row in filter(None, reader):
            if len(row) != len(names) or any(row[last:]):  # a cell after the last name was cut off a text
                raise CorpusError(
                    f"has {len(row)} cell{'s' * (len(row) > 1)} for {last} columns",
                    where=_place(path, reader.line_num),
                    remedy=f"Put texts that contain {DELIMITERS[delimiter]} in quotes and leave no cell out",
                )
            rows.append((reader.line_num, dict(zip(names, row, strict=True))))
    except csv.Error as error:
        remedy = "Save it as CSV with a line of column names"
        raise CorpusError(f"is not a table ({error})", where=path, remedy=remedy) from None
    return rows


def _delimiter(content: str, columns: Sequence[str], usual: str) -> str:
    """Return the delimiter that gives most of the wanted columns, then most columns, then the usual one."""

    def rank(delimiter: str) -> tuple[int, int, bool]:
        try:
            names = next(filter(None, csv.reader(io.StringIO(content), delimiter=delimiter, strict=True)), [])
        except csv.Error:
            names = []
        return len(set(columns) & set(names)), len(names), delimiter == usual

    return max(DELIMITERS, key=rank)


def _json_rows(path: Path) -> Iterator[tuple[int, dict[str, object]]]:
    for number, row in read_json_lines(path):
        if not isinstance(row, JsonObject):
            raise CorpusError("is not a JSON object", where=_place(path, number), remedy="Repair it")
        _require_distinct([name for name, _ in row.pairs], _place(path, number))
        yield number, row
