"""`byline train`, `enroll` and `inspect`: models of authors, learned from texts whose authors are known."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import byline
from byline.cli import options
from byline.cli.console import (
    count_of,
    language_title,
    make_table,
    out,
    print_json,
    print_line,
    print_table,
    printable,
)
from byline.errors import BylineError, CorpusError, SettingsError
from byline.settings.settings import Settings

if TYPE_CHECKING:
    from byline.author_models.model import AuthorModel
    from byline.corpora.author_corpus import AuthorCorpus

UNCALIBRATED = "Probabilities are not calibrated, because no text could be held out."


@options.with_groups
def train_command(
    authors: Annotated[
        list[Path],
        typer.Argument(
            metavar="AUTHORS...", help="A folder of authors' folders, one of Author_Title.txt, or a .csv or .jsonl."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The model, such as model.byline.")],
    training: options.AuthorOptions,
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn authors from their texts, and keep what was learned in one file.

    Example: byline train novels/ -o novels.byline
    """
    options.require_free(output, overwrite, [*authors, *options.preset_files(training.preset)])
    rows = training.choose_members()
    author_corpus = training.read_authors(authors)
    begin = time.perf_counter()
    model = train_model(author_corpus, rows, training.seed, authors, quiet)
    byline.write_author_model(output, model)
    _print_result(model, output, f"Wrote {output} in {time.perf_counter() - begin:.1f} s", as_json)


def enroll_command(
    context: typer.Context,
    model_file: options.ModelFile,
    authors: Annotated[list[Path], typer.Argument(metavar="AUTHORS...", help="Texts by further authors, as in train.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The new model (default: the same file).")
    ] = None,
    author_column: options.AuthorColumn = "author",
    text_column: options.TextColumn = "text",
    overwrite: options.Overwrite = False,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Add authors to a model without retraining it.

    Without -o, MODEL is replaced once the new model is complete. If that fails, MODEL is unchanged.

    Only one process can add to a model at a time.

    Example: byline enroll novels.byline more/ -o more.byline
    """
    from byline.author_models.model_file import hold_model
    from byline.cli.progress import work

    if overwrite and output is None:
        context.fail("--overwrite is for a file that -o names; without -o the model itself is replaced")
    place = output or model_file
    if output is not None:
        options.require_free(output, overwrite, authors)
    itself = output is None or options.is_same(output, model_file)
    with hold_model(model_file) if itself else nullcontext(partial(byline.write_author_model, place)) as write:
        model = byline.read_author_model(model_file)
        options.require_free(place, True, authors)
        author_corpus = byline.read_author_corpus(authors, model.language, author_column, text_column)
        begin = time.perf_counter()
        with naming(authors, CorpusError, SettingsError):
            larger = work(lambda runtime: byline.enroll_authors(model, author_corpus, runtime), quiet)
        write(larger)
    seconds = time.perf_counter() - begin
    new = len(larger.authors) - len(model.authors)
    now = f"{place} now has {count_of(len(larger.authors), 'author')}, {new} of them new ({seconds:.1f} s)"
    _print_result(larger, place, f"Wrote {place} in {seconds:.1f} s" if output else now, as_json)


def inspect_command(model_file: options.ModelFile, as_json: options.Json = False) -> None:
    """Show what a model of authors holds: the authors, the lengths of their texts, and the members.

    Example: byline inspect novels.byline
    """
    model = byline.read_author_model(model_file)
    if as_json:
        print_json({"model": str(model_file), **model_to_json(model)})
    else:
        print_model(model, str(model_file))


def train_model(
    author_corpus: AuthorCorpus,
    rows: Sequence[Settings],
    seed: int,
    paths: Sequence[Path],
    quiet: bool,
    title: str = "",
) -> AuthorModel:
    """Train a model of the authors of texts that were read from these paths."""
    from byline.cli.progress import work

    with naming(paths, CorpusError):
        return work(lambda runtime: byline.train_authors(author_corpus, rows, seed, runtime), quiet, title)


@contextmanager
def naming(paths: Sequence[Path], *kinds: type[BylineError]) -> Iterator[None]:
    """Begin errors of these kinds with the paths that the texts were read from."""
    try:
        yield
    except kinds as error:
        raise type(error)(where=", ".join(map(str, paths)), causes=[error]) from None


def _print_result(model: AuthorModel, place: Path, written: str, as_json: bool) -> None:
    if as_json:
        print_json({"model": str(place), **model_to_json(model)})
    else:
        print_model(model, f"{written}. Next: byline attribute {shlex.quote(str(place))} TEXT")


def model_to_json(model: AuthorModel) -> dict[str, Any]:
    """Return what a model holds, in plain values."""
    return {
        "language": model.language,
        "authors": [
            {
                "author": author,
                "texts": [model.titles[text] for text in model.texts_of(number)],
                "characters": sum(len(model.texts[0][text]) for text in model.texts_of(number)),
            }
            for number, author in enumerate(model.authors)
        ],
        "members": [
            {"engine": member.engine, "mask": member.mask, "weight": weight, "changes": member.changes()}
            for member, weight in zip(model.members, model.calibration.weights, strict=True)
        ],
        "held_out": model.calibration.held_out,
        "seed": model.seed,
    }


def print_model(model: AuthorModel, last: str) -> None:
    """Print what a model holds, and a last line."""
    console = out()
    console.print(
        f"{language_title(model.language)}: {count_of(len(model.authors), 'author')},"
        f" {count_of(len(model.owners), 'text')}, {model.characters:,} characters"
    )
    table = make_table("author", "texts", "characters", right=("texts", "characters"))
    for row in model_to_json(model)["authors"]:
        table.add_row(printable(row["author"]), str(len(row["texts"])), f"{row['characters']:,}")
    print_table(table)
    console.print(members_line(model))
    if held_out := model.calibration.held_out:
        console.print(f"Probabilities were calibrated on {count_of(held_out, 'text')}, each held out.")
    else:
        console.print(UNCALIBRATED)
    console.print("The model holds the texts that it learned, normalized.")
    print_line(last)


def members_line(model: AuthorModel) -> str:
    """List the members and their shares of the judgment; those of one name are counted."""
    weights: dict[str, float] = {}
    for member, weight in zip(model.members, model.calibration.weights, strict=True):
        weights[member.engine_name] = weights.get(member.engine_name, 0) + weight
    counts = Counter(member.engine_name for member in model.members)
    total = sum(weights.values()) or 1
    items = [
        f"{name}{f' x{counts[name]}' if counts[name] > 1 else ''} {weight / total:.2f}"
        for name, weight in weights.items()
    ]
    return f"Members and their shares: {', '.join(items)}"
