"""`byline rolling` and `byline generate`: attribute the passages of a long text, and generate text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import byline
from byline.cli import options
from byline.cli.console import count_of, make_table, out, print_json, print_line, print_table, printable
from byline.corpora.author_corpus import plain_name
from byline.corpora.documents import classify_path
from byline.errors import CorpusError
from byline.storage.files import sha256

if TYPE_CHECKING:
    from byline.tasks.rolling import Rolling

WIDTH = 20
"""Characters of the longest bar."""


def rolling_command(
    context: typer.Context,
    model_file: options.ModelFile,
    book: Annotated[Path, typer.Argument(metavar="TEXT", help="A long text.")],
    window: Annotated[int, typer.Option(metavar="CHARACTERS", help="Length of a passage.")] = 3_000,
    step: Annotated[int, typer.Option(metavar="CHARACTERS", help="Between the beginnings of two passages.")] = 1_000,
    changes: Annotated[
        float, typer.Option(metavar="PROBABILITY", help="How probable a change of author is at each step.")
    ] = 0.1,
    report_file: options.ReportFile = None,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Attribute each passage of a long text, and find where the author changes.

    Example: byline rolling novels.byline book.txt
    """
    from byline.cli.progress import work
    from byline.report.attribution import rolling_report
    from byline.report.page import describe_report, write_report

    options.require_free_report(report_file, overwrite, [model_file, book])
    model = byline.read_author_model(model_file)
    if classify_path(book, "name a text file") == "folder":
        raise CorpusError("is a folder", where=book, remedy="Name a text file in it")
    document = byline.read_document(book)
    found = work(lambda runtime: byline.roll(model, document, window, step, changes, runtime), quiet)
    if report_file is not None:
        files = {str(model_file): sha256(model_file.read_bytes())}
        about = describe_report(str(book), context.meta["words"], files=files)
        asked = {
            "Characters of a passage": window,
            "Characters between the beginnings of two": step,
            "Probability of a change at each step": changes,
        }
        report_data = work(lambda runtime: rolling_report(model, document, found, about, runtime, asked=asked), quiet)
        write_report(report_file, report_data)
    if as_json:
        print_json(found.to_dict())
    else:
        print_rolling(found)
        if report_file is not None:
            print_line(f"Report: {report_file}")


def print_rolling(found: Rolling) -> None:
    """Print the likely author of each passage, then the stretches."""
    console = out()
    table = make_table("from", "author", "probability", "", right=("from", "probability"))
    for passage in found.passages:
        chance = passage.attribution.probability
        bar = "█" * round(chance * WIDTH)
        table.add_row(f"{passage.begin:,}", printable(passage.attribution.author or ""), f"{chance:.3f}", bar)
    print_table(table)
    console.print()
    for stretch in found.stretches:
        reserve = "" if stretch.stands_out else "nobody stands out; most like "
        console.print(
            f"characters {stretch.begin:,} to {stretch.end:,}: {reserve}{printable(stretch.author)}"
            f" ({stretch.probability:.3f} on average)"
        )
    console.print(
        f"{count_of(len(found.changes), 'change')} of author found. Each passage is assumed to be by one of these"
        " authors; passages by anybody else are not detected."
    )
    if found.dissenting:
        console.print(
            f"{count_of(found.dissenting, 'passage')} of {len(found.passages):,} would be attributed to another author"
            " without their neighbors, so changes may have been missed. A larger --changes finds more changes, and more"
            " false ones."
        )


def generate_command(
    model_file: options.ModelFile,
    author: Annotated[str, typer.Option(metavar="NAME", help="Whose head; byline inspect lists them.")],
    length: Annotated[int, typer.Option(metavar="CHARACTERS", help="Number of characters to generate.")] = 500,
    temperature: Annotated[
        float, typer.Option(help="Sampling temperature: below 1 is more predictable, above 1 more varied.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same text.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Generate text from an author's head. It shows what the model learned, and is not the author's writing.

    Example: byline generate novels.byline --author Austen
    """
    from byline.tasks.generate import generate

    model = byline.read_author_model(model_file)
    if author not in model.authors:
        author = plain_name(author)
    text = generate(model, author, length, seed, temperature)
    if as_json:
        print_json({"author": author, "seed": seed, "temperature": temperature, "text": text})
    else:
        print(text)
