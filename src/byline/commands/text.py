"""`byline text`: what Byline reads of a document, and how it came to it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from byline.documents import Document


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
    from byline.commands.attribute import read_texts
    from byline.commands.console import print_json, printable

    documents = read_texts(files, encoding)
    if output is not None:
        write_texts(output, documents, overwrite)
    for document in documents:
        for note in document.notes:  # guesses are warned of when it is read
            print(f"byline: {printable(document.name)}: {note}", file=sys.stderr)
    if as_json:
        print_json([to_json(document) for document in documents])
    elif output is None:
        print_texts(documents)


def to_json(document: Document) -> dict[str, object]:
    """What --json prints of a document."""
    return {
        "document": document.name,
        "characters": len(document.text),
        "notes": list(document.notes),
        "guesses": list(document.guesses),
        "text": document.text,
    }


def print_texts(documents: Sequence[Document]) -> None:
    """The texts as they are; several each below its name. On a terminal nothing in them moves its cursor."""
    from byline.commands.console import printable

    for document in documents:
        text = document.text
        if sys.stdout.isatty():
            text = "\n".join(printable(line.expandtabs(4)) for line in text.split("\n"))
        heading = f"{printable(document.name)}\n\n" if len(documents) > 1 else ""
        print(heading + text, end="\n" if len(documents) > 1 or not text.endswith("\n") else "")


def write_texts(folder: Path, documents: Sequence[Document], overwrite: bool) -> None:
    """Each text in a file of its own, all or none."""
    from byline.errors import AnswersError, RunError
    from byline.storage import write_files

    found: dict[str, Document] = {}
    for document in documents:
        path = folder / f"{Path(document.name).stem}.txt"
        if path.name in found:
            raise RunError(f"{document.name}: {found[path.name].name} has the same name; write them to two folders")
        if path.exists() and path.samefile(document.name):
            raise RunError(f"{path}: what is to be read; choose another folder")
        if path.exists() and not overwrite:
            raise AnswersError(f"{path}: exists already; choose another folder, or overwrite it (--overwrite)")
        found[path.name] = document
    write_files(folder, {name: each.text.encode("utf-8", "replace") for name, each in found.items()})
