"""`byline text` and `byline prepare`: the text that is read of a document, and as the model sees it."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.columns import Columns

from byline.cli import options
from byline.cli.console import count_of, language_title, out, print_json, printable, visible
from byline.corpora.documents import Document, classify_path, find_texts, read_documents
from byline.errors import AnswersError, CorpusError, RunError
from byline.storage.files import write_files
from byline.text.normalize import TextRules

if TYPE_CHECKING:
    from byline.tasks.prepare import Preparation

SAMPLE = 600
"""Characters of the first text of a corpus that are shown; a single text is shown whole."""


def text_command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Documents, or folders of them.")],
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoding of plain text or markup, such as cp1253."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Write each to DIR as plain text in UTF-8."),
    ] = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
) -> None:
    """Show the text that is read of a document, and on stderr what was left out or guessed.

    Example: byline text letter.pdf thesis.docx
    """
    documents = read_texts(files, encoding)
    if output is not None:
        write_texts(output, documents, overwrite)
    for document in documents:
        for note in document.notes:  # reading has warned of guesses
            print(f"byline: {printable(document.name)}: {note}", file=sys.stderr)
    if as_json:
        print_json([document.to_dict() for document in documents])
    elif output is None:
        print_texts(documents)


def read_texts(paths: Sequence[Path], encoding: str | None = None) -> list[Document]:
    """Read text files and folders of text files in order, and report all unreadable ones at once."""
    remedy = "Name text files or folders of text files"
    files: list[Path] = []
    errors = []
    for path in paths:
        try:
            found = find_texts(path) if classify_path(path, remedy) == "folder" else [path]
        except CorpusError as error:
            errors.append(error)
            continue
        if not found:
            errors.append(CorpusError("no texts there", where=path, remedy=remedy))
        files += found
    return read_documents(((file, None) for file in files), errors, encoding)


def print_texts(documents: Sequence[Document]) -> None:
    """Print the texts, each below its name if there are several. On a terminal nothing in them moves the cursor."""
    for document in documents:
        text = document.text
        if sys.stdout.isatty():
            text = "\n".join(printable(line.expandtabs(4)) for line in text.split("\n"))
        heading = f"{printable(document.name)}\n\n" if len(documents) > 1 else ""
        print(heading + text, end="\n" if len(documents) > 1 or not text.endswith("\n") else "")


def write_texts(folder: Path, documents: Sequence[Document], overwrite: bool) -> None:
    """Write each text to a file of its own, all or none."""
    found: dict[str, Document] = {}
    for document in documents:
        path = folder / f"{Path(document.name).stem}.txt"
        if path.name in found:
            raise RunError(
                f"has the same name as {found[path.name].name}", where=document.name, remedy="Write them to two folders"
            )
        if options.is_same(path, Path(document.name)):
            raise RunError("is one of the inputs", where=path, remedy="Choose another folder")
        if path.exists() and not overwrite:
            raise AnswersError(
                "exists already", where=path, remedy="Choose another folder, or replace it with {overwrite}"
            )
        found[path.name] = document
    write_files(folder, {name: each.text.encode("utf-8", "replace") for name, each in found.items()})


def prepare_command(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A text file, a folder of texts, or a PAN corpus.")],
    language: Annotated[
        str | None, options.language_option(help="Language (default: as the corpus says, or by the script).")
    ] = None,
    rules: Annotated[TextRules, typer.Option(metavar="paper|scripts", help="Text rules.")] = "paper",
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, with all texts.")] = False,
) -> None:
    """Show a text or corpus as the model sees it: its alphabet, its counts, and the characters that were dropped.

    Example: byline prepare pan15-greek/GR094/known02.txt
    """
    from byline.tasks.prepare import prepare

    preparations = prepare(path, language, rules)
    if as_json:
        print_json([preparation.to_dict() for preparation in preparations])
    else:
        for preparation in preparations:
            print_preparation(preparation)


def print_preparation(preparation: Preparation) -> None:
    """Print the text or the beginning of the first, the counts of the alphabet, and the dropped characters."""
    console = out()
    texts = list(preparation.texts.items())
    name, first = texts[0]
    shown = first if len(texts) == 1 or len(first) <= SAMPLE else first[:SAMPLE] + " [...]"
    which = f" (the first of {len(texts)} texts; --json gives them all)" if len(texts) > 1 else ""
    console.print(f"{name}, as the model sees it{which}", style="bold")
    console.print(shown, soft_wrap=True)
    characters = sum(len(text) for text in preparation.texts.values())
    distinct = len(set(preparation.texts.values()))
    console.print(
        f"\n{language_title(preparation.language)}: {count_of(len(texts), 'text')} ({distinct} different),"
        f" {characters:,} characters; alphabet of {count_of(len(preparation.alphabet), 'symbol')}"
    )
    _print_counts(preparation.kept)
    dropped = preparation.dropped
    total, kinds = count_of(sum(dropped.values()), "character"), count_of(len(dropped), "kind")
    console.print(f"\nToo rare, and dropped: {total} of {kinds}" if dropped else "\nToo rare, and dropped: nothing")
    if dropped:
        _print_counts(dropped)
    console.print("\n¹ stands before what was a capital letter; accents stand after their letter.", style="dim")


def _print_counts(counts: Mapping[str, int]) -> None:
    out().print(Columns([f"{visible(character)} {count:,}" for character, count in counts.items()], column_first=False))
