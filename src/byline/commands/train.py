"""`byline train` and `byline enroll`: texts whose authors are known -> a model of these authors, in one file."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer

from byline.commands import options
from byline.errors import RunError
from byline.storage import cant_write

Column = Annotated[str, typer.Option(metavar="NAME", help="In a .csv, .tsv or .jsonl file, the column of authors.")]
TextColumn = Annotated[str, typer.Option(metavar="NAME", help="And that of the texts.")]
TextLanguage = Annotated[
    str | None, typer.Option(help="Language of the texts, instead of what their script says.", callback=options.named)
]


def train_command(
    authors: Annotated[
        list[Path],
        typer.Argument(
            metavar="AUTHORS...", help="A folder of authors' folders, one of Author_Title.txt, or a .csv or .jsonl."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The model, such as model.byline.")],
    preset: Annotated[
        str, typer.Option(metavar="NAME|FILE.toml", help="Which members.", rich_help_panel=options.MEMBERS)
    ] = "authors",
    members: options.Members = None,
    engines: Annotated[
        str | None,
        typer.Option(
            metavar="ngram,vectors,linear,rnn",
            help="Only the preset's members of these engines.",
            rich_help_panel=options.MEMBERS,
        ),
    ] = None,
    seed: options.Seed = 0,
    set_: options.Assignments = None,
    language: TextLanguage = None,
    author_column: Column = "author",
    text_column: TextColumn = "text",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was learnt as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn authors from their texts, and keep what was learnt in one file.

    Example: byline train novels/ -o novels.byline
    """
    from byline.attribution.file import write_author_model
    from byline.attribution.model import train_authors
    from byline.attribution.writings import read_writings
    from byline.commands.console import print_json
    from byline.commands.inspect import model_to_json, print_model
    from byline.commands.work import work

    require_free(output, overwrite)
    pool = options.choose_pool(preset, None, set_ or [], engines=engines)
    writings = read_writings(authors, language, author_column, text_column)
    begin = time.perf_counter()
    rows = pool.take(members or pool.members, seed)
    model = work(lambda watch: train_authors(writings, rows, seed, watch), quiet)
    write_author_model(output, model)
    if as_json:
        print_json({"model": str(output), **model_to_json(model)})
    else:
        print_model(model, f"{output}, {time.perf_counter() - begin:.1f} s")


def enroll_command(
    model_file: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that byline train wrote.")],
    authors: Annotated[list[Path], typer.Argument(metavar="AUTHORS...", help="Texts by further authors, as in train.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="The new model; without it, the same file.")
    ] = None,
    author_column: Column = "author",
    text_column: TextColumn = "text",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that -o names.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what the model knows as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Add authors to a model, without training anew what it has learnt.

    Example: byline enroll novels.byline more/ -o more.byline
    """
    from byline.attribution.file import read_author_model, write_author_model
    from byline.attribution.model import enrol_authors
    from byline.attribution.writings import read_writings
    from byline.commands.console import print_json
    from byline.commands.inspect import model_to_json, print_model
    from byline.commands.work import work

    if output is not None:
        require_free(output, overwrite)
    model = read_author_model(model_file)
    writings = read_writings(authors, model.language, author_column, text_column)
    begin = time.perf_counter()
    larger = work(lambda watch: enrol_authors(model, writings, watch), quiet)
    write_author_model(output or model_file, larger)
    if as_json:
        print_json({"model": str(output or model_file), **model_to_json(larger)})
    else:
        print_model(larger, f"{output or model_file}, {time.perf_counter() - begin:.1f} s")


def require_free(path: Path, overwrite: bool) -> None:
    """Refuse to write over a file unasked, or where nothing can be written, before any work is done."""
    try:
        if path.is_dir():
            raise RunError(f"{path}: a folder; name a file, such as {path / 'model.byline'}")
        if path.exists() and not overwrite:
            raise RunError(f"{path}: exists already; choose another name, or give --overwrite")
        with tempfile.TemporaryFile(dir=next(parent for parent in path.absolute().parents if parent.exists())):
            pass
    except OSError as error:
        raise cant_write(path, error) from None
