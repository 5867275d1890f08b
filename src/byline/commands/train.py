"""`byline train` and `byline enroll`: texts whose authors are known -> a model of these authors, in one file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from byline.commands import options
from byline.commands.places import is_same, require_free
from byline.errors import BylineError, CorpusError, SettingsError

if TYPE_CHECKING:
    from byline.attribution.model import AuthorModel
    from byline.attribution.writings import Writings
    from byline.settings import Settings


def train_command(
    authors: Annotated[
        list[Path],
        typer.Argument(
            metavar="AUTHORS...", help="A folder of authors' folders, one of Author_Title.txt, or a .csv or .jsonl."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The model, such as model.byline.")],
    preset: options.AuthorPreset = "authors",
    members: options.Members = None,
    engines: options.AuthorEngines = None,
    seed: options.Seed = 0,
    set_: options.Assignments = None,
    language: options.TextLanguage = None,
    author_column: options.AuthorColumn = "author",
    text_column: options.TextColumn = "text",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was learnt as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn authors from their texts, and keep what was learnt in one file.

    Example: byline train novels/ -o novels.byline
    """
    from byline.attribution.file import write_author_model
    from byline.attribution.writings import read_writings
    from byline.commands.console import print_json
    from byline.commands.inspect import model_to_json, print_model

    require_free(output, overwrite, [*authors, *preset_file(preset)])
    pool = options.choose_pool(preset, None, set_ or [], engines=engines)
    rows = pool.take(members or pool.members, seed)
    writings = read_writings(authors, language, author_column, text_column)
    begin = time.perf_counter()
    model = train_model(writings, rows, seed, authors, quiet)
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
    """Add authors to a model, without training anew what it has learnt.

    Without -o the file itself is replaced, when the new model is whole; where that fails it stays as it was.

    Two can't add to one file at once: the second is refused.

    Example: byline enroll novels.byline more/ -o more.byline
    """
    from byline.attribution.file import hold_model, read_author_model, write_author_model
    from byline.attribution.model import enrol_authors
    from byline.attribution.writings import read_writings
    from byline.commands.console import count_of, print_json
    from byline.commands.inspect import model_to_json, print_model
    from byline.commands.work import work

    if overwrite and output is None:
        context.fail("--overwrite is for a file that -o names; without -o the model itself is replaced")
    place = output or model_file
    if output is not None:
        require_free(output, overwrite, authors)
    itself = output is None or is_same(output, model_file)
    with hold_model(model_file) if itself else nullcontext(partial(write_author_model, place)) as write:
        model = read_author_model(model_file)
        require_free(place, True, authors)
        writings = read_writings(authors, model.language, author_column, text_column)
        begin = time.perf_counter()
        with naming(authors, CorpusError, SettingsError):
            larger = work(lambda watch: enrol_authors(model, writings, watch), quiet)
        write(larger)
    if as_json:
        print_json({"model": str(place), **model_to_json(larger)})
        return
    seconds = time.perf_counter() - begin
    new = len(larger.authors) - len(model.authors)
    now = f"{place} now has {count_of(len(larger.authors), 'author')}, {new} of them new ({seconds:.1f} s)"
    print_model(larger, f"{f'Wrote {place} in {seconds:.1f} s' if output else now}. {_next(place)}")


def train_model(
    writings: Writings, rows: Sequence[Settings], seed: int, paths: Sequence[Path], quiet: bool, title: str = ""
) -> AuthorModel:
    """A model of the authors of texts, which were read from these paths."""
    from byline.attribution.model import train_authors
    from byline.commands.work import work

    with naming(paths, CorpusError):
        return work(lambda watch: train_authors(writings, rows, seed, watch), quiet, title)


@contextmanager
def naming(paths: Sequence[Path], *kinds: type[BylineError]) -> Iterator[None]:
    """Errors of these kinds begin with where the texts were read from."""
    try:
        yield
    except kinds as error:
        raise type(error)(f"{', '.join(map(str, paths))}: {error}") from None


def _next(model_file: Path) -> str:
    return f"Next: byline attribute {shlex.quote(str(model_file))} TEXT"


def preset_file(preset: str) -> list[Path]:
    """The file that a preset is read from, where it is one of the user's."""
    return [Path(preset)] if preset.endswith(".toml") else []
