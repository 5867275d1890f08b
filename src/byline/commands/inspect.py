"""`byline inspect`: what a model of authors knows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from byline.attribution.model import AuthorModel


def inspect_command(
    model_file: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that byline train wrote.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show what a model of authors knows: who, from how much text, by which members.

    Example: byline inspect novels.byline
    """
    from byline.attribution.file import read_author_model
    from byline.commands.console import print_json

    model = read_author_model(model_file)
    if as_json:
        print_json({"model": str(model_file), **model_to_json(model)})
    else:
        print_model(model, str(model_file))


def model_to_json(model: AuthorModel) -> dict[str, Any]:
    """What a model knows, in plain values."""
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
            for member, weight in zip(model.members, model.judge.weights, strict=True)
        ],
        "held_out": model.judge.held_out,
        "seed": model.seed,
    }


def print_model(model: AuthorModel, where: str) -> None:
    """The same, to read."""
    from rich.table import Table

    from byline.commands.console import count_of, language_title, out, printable

    console = out()
    console.print(
        f"{language_title(model.language)}: {count_of(len(model.authors), 'author')},"
        f" {count_of(len(model.owners), 'text')}, {model.characters:,} characters"
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("author", overflow="fold")
    table.add_column("texts", justify="right", no_wrap=True)
    table.add_column("characters", justify="right", no_wrap=True)
    for number, author in enumerate(model.authors):
        own = model.texts_of(number)
        table.add_row(printable(author), str(len(own)), f"{sum(len(model.texts[0][text]) for text in own):,}")
    console.print(table)
    members = [
        f"{member.engine_name} {weight:.2f}" for member, weight in zip(model.members, model.judge.weights, strict=True)
    ]
    console.print(f"Members and their weights: {', '.join(members)}")
    if model.judge.held_out:
        console.print(
            f"How sure to be was learnt from {count_of(model.judge.held_out, 'text')}, each judged as if not known."
        )
    else:
        console.print("How sure to be is a guess: no text could be held out to learn it from.")
    console.print("The model holds the texts that it learnt, normalised.")
    console.print(where)
