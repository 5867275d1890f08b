"""`byline train` and `byline enroll`: texts whose authors are known -> a model of these authors, in one file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from byline.author_models.model import AuthorModel, enroll_authors, train_authors
from byline.author_models.model_file import hold_model, read_author_model, write_author_model
from byline.cli import options
from byline.cli.console import count_of, print_json
from byline.cli.files import is_same, require_free
from byline.cli.inspect import model_to_json, print_model
from byline.cli.progress import work
from byline.corpora.author_corpus import AuthorCorpus, read_author_corpus
from byline.errors import COMMAND_LINE, BylineError, CorpusError, SettingsError
from byline.settings.settings import Settings


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
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was learned as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn authors from their texts, and keep what was learned in one file.

    Example: byline train novels/ -o novels.byline
    """
    require_free(output, overwrite, [*authors, *training.input_files])
    rows = training.choose_members()
    author_corpus = read_author_corpus(authors, training.language, training.author_column, training.text_column)
    begin = time.perf_counter()
    model = train_model(author_corpus, rows, training.seed, authors, quiet)
    write_author_model(output, model)
    if as_json:
        print_json({"model": str(output), **model_to_json(model)})
    else:
        print_model(model, f"Wrote {output} in {time.perf_counter() - begin:.1f} s. {_next(output)}")


def enroll_command(
    context: typer.Context,
    model_file: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that byline train wrote.")],
    authors: Annotated[list[Path], typer.Argument(metavar="AUTHORS...", help="Texts by further authors, as in train.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The new model; without it, the same file.")
    ] = None,
    author_column: options.AuthorColumn = "author",
    text_column: options.TextColumn = "text",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that -o names.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what the model knows as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Add authors to a model, without training anew what it has learned.

    Without -o, MODEL is replaced once the new model is complete. If that fails, MODEL is unchanged.

    Only one process can add to a model at a time.

    Example: byline enroll novels.byline more/ -o more.byline
    """
    if overwrite and output is None:
        context.fail("--overwrite is for a file that -o names; without -o the model itself is replaced")
    place = output or model_file
    if output is not None:
        require_free(output, overwrite, authors)
    itself = output is None or is_same(output, model_file)
    with hold_model(model_file) if itself else nullcontext(partial(write_author_model, place)) as write:
        model = read_author_model(model_file)
        require_free(place, True, authors)
        author_corpus = read_author_corpus(authors, model.language, author_column, text_column)
        begin = time.perf_counter()
        with naming(authors, CorpusError, SettingsError):
            larger = work(lambda runtime: enroll_authors(model, author_corpus, runtime), quiet)
        write(larger)
    if as_json:
        print_json({"model": str(place), **model_to_json(larger)})
        return
    seconds = time.perf_counter() - begin
    new = len(larger.authors) - len(model.authors)
    now = f"{place} now has {count_of(len(larger.authors), 'author')}, {new} of them new ({seconds:.1f} s)"
    print_model(larger, f"{f'Wrote {place} in {seconds:.1f} s' if output else now}. {_next(place)}")


def train_model(
    author_corpus: AuthorCorpus,
    rows: Sequence[Settings],
    seed: int,
    paths: Sequence[Path],
    quiet: bool,
    title: str = "",
) -> AuthorModel:
    """A model of the authors of texts, which were read from these paths."""
    with naming(paths, CorpusError):
        return work(lambda runtime: train_authors(author_corpus, rows, seed, runtime), quiet, title)


@contextmanager
def naming(paths: Sequence[Path], *kinds: type[BylineError]) -> Iterator[None]:
    """Begin errors of these kinds with the paths that the texts were read from."""
    try:
        yield
    except kinds as error:
        raise type(error)(error.phrase(COMMAND_LINE), where=", ".join(map(str, paths))) from None


def _next(model_file: Path) -> str:
    return f"Next: byline attribute {shlex.quote(str(model_file))} TEXT"
