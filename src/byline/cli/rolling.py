"""`byline rolling` and `byline generate`: what a model of authors makes of a long text, and of nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from byline.author_models.model_file import read_author_model
from byline.cli import options
from byline.cli.console import count_of, out, print_json, printable
from byline.cli.files import given_command, hash_files, require_free
from byline.cli.inspect import print_table
from byline.cli.progress import work
from byline.corpora.author_corpus import plain_name
from byline.corpora.documents import classify_path, read_document
from byline.errors import CorpusError
from byline.report.attribution import rolling_report
from byline.report.page import describe_report, require_report_path, write_report
from byline.tasks.generate import generate
from byline.tasks.rolling import Rolling, roll

WIDTH = 40
"""Characters of the bars that show a text."""


def rolling_command(
    context: typer.Context,
    model_file: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that byline train wrote.")],
    book: Annotated[Path, typer.Argument(metavar="TEXT", help="A long text.")],
    window: Annotated[int, typer.Option(metavar="CHARACTERS", help="Length of a passage.")] = 3_000,
    step: Annotated[int, typer.Option(metavar="CHARACTERS", help="Between the beginnings of two passages.")] = 1_000,
    changes: Annotated[
        float, typer.Option(metavar="PROBABILITY", help="How probable a change of author is at each step.")
    ] = 0.1,
    report_file: options.ReportFile = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the report that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print passages and stretches as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Tell who seems to have written each passage along a text, and where the hand changes.

    Example: byline rolling novels.byline book.txt
    """
    if report_file is not None:
        require_report_path(report_file, overwrite)
        require_free(report_file, overwrite, [model_file, book])
    model = read_author_model(model_file)
    if classify_path(book, "name a text file") == "folder":
        raise CorpusError("is a folder", where=book, remedy="Name a text file in it")
    document = read_document(book)
    found = work(lambda runtime: roll(model, document, window, step, changes, runtime), quiet)
    if report_file is not None:
        said = describe_report(str(book), given_command(context), files=hash_files(model_file))
        asked = {
            "Characters of a passage": window,
            "Characters between the beginnings of two": step,
            "Probability of a change at each step": changes,
        }
        report_data = work(lambda runtime: rolling_report(model, document, found, said, runtime, asked=asked), quiet)
        write_report(report_file, report_data)
    if as_json:
        print_json(found.to_dict())
    else:
        print_rolling(found)
        if report_file is not None:
            out().print(f"Report: {printable(str(report_file))}", soft_wrap=True)


def print_rolling(found: Rolling) -> None:
    """Each passage's likely author, then the stretches."""
    console = out()
    table = Table(box=None, pad_edge=False)
    table.add_column("from", justify="right", no_wrap=True)
    table.add_column("author", overflow="fold")
    table.add_column("probability", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for passage in found.passages:
        chance = passage.attribution.probability
        bar = "█" * round(chance * WIDTH / 2)
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
        f"{count_of(len(found.changes), 'change')} of hand found. Each passage is taken to be by one of the authors:"
        " that somebody else wrote it is not noticed."
    )
    if found.dissenting:
        console.print(
            f"{count_of(found.dissenting, 'passage')} of {len(found.passages):,} by themselves look like another"
            " author's than is said of their stretch: there may be changes that are passed over. Larger --changes sees"
            " more of them, and more that are none."
        )


def generate_command(
    model_file: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that byline train wrote.")],
    author: Annotated[str, typer.Option(metavar="NAME", help="Whose head; byline inspect lists them.")],
    length: Annotated[int, typer.Option(metavar="CHARACTERS", help="Number of characters to generate.")] = 500,
    temperature: Annotated[
        float, typer.Option(help="Sampling temperature: below 1 is more predictable, above 1 more varied.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same text.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the text as JSON.")] = False,
) -> None:
    """Generate text from an author's head. It shows what the model learned; it is not the author's writing.

    Example: byline generate novels.byline --author Austen
    """
    model = read_author_model(model_file)
    if author not in model.authors:
        author = plain_name(author)
    text = generate(model, author, length, seed, temperature)
    if as_json:
        print_json({"author": author, "seed": seed, "temperature": temperature, "text": text})
    else:
        print(text)
