"""`byline text`: what Byline reads of a document, and how it came to it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from byline.cli.attribute import read_texts
from byline.cli.console import print_json, printable
from byline.corpora.documents import Document
from byline.errors import AnswersError, RunError
from byline.storage.files import write_files


def text_command(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Documents, or folders of them.")],
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="What plain text or markup is encoded in, such as cp1253."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", help="Write each to DIR as plain text in UTF-8."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what DIR holds already.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print texts, notes and guesses as JSON.")] = False,
) -> None:
    """Show the text that is read of a document, and on stderr what was left out or guessed.

    Example: byline text letter.pdf thesis.docx
    """
    documents = read_texts(files, encoding)
    if output is not None:
        write_texts(output, documents, overwrite)
    for document in documents:
        for note in document.notes:  # guesses are warned of when it is read
            print(f"byline: {printable(document.name)}: {note}", file=sys.stderr)
    if as_json:
        print_json([document.to_dict() for document in documents])
    elif output is None:
        print_texts(documents)


def print_texts(documents: Sequence[Document]) -> None:
    """The texts as they are; several each below its name. On a terminal nothing in them moves its cursor."""
    for document in documents:
        text = document.text
        if sys.stdout.isatty():
            text = "\n".join(printable(line.expandtabs(4)) for line in text.split("\n"))
        heading = f"{printable(document.name)}\n\n" if len(documents) > 1 else ""
        print(heading + text, end="\n" if len(documents) > 1 or not text.endswith("\n") else "")


def write_texts(folder: Path, documents: Sequence[Document], overwrite: bool) -> None:
    """Each text in a file of its own, all or none."""
    found: dict[str, Document] = {}
    for document in documents:
        path = folder / f"{Path(document.name).stem}.txt"
        if path.name in found:
            raise RunError(
                f"has the same name as {found[path.name].name}", where=document.name, remedy="Write them to two folders"
            )
        if path.exists() and path.samefile(document.name):
            raise RunError("is one of the inputs", where=path, remedy="Choose another folder")
        if path.exists() and not overwrite:
            raise AnswersError(
                "exists already", where=path, remedy="Choose another folder, or replace it with {overwrite}"
            )
        found[path.name] = document
    write_files(folder, {name: each.text.encode("utf-8", "replace") for name, each in found.items()})
