"""`byline inspect`: what a model of authors knows."""

from __future__ import annotations

import sys
import textwrap
from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from byline.author_models.model import AuthorModel
from byline.author_models.model_file import read_author_model
from byline.cli.console import count_of, language_title, out, print_json, printable

GUESS = "How sure to be is a guess: no text could be held out to learn it from."
WIDEST = 80
"""Columns that a list in a sentence takes at the most."""
UNBOUNDED = 100_000
"""Columns of a table that no terminal shows."""


def inspect_command(
    model_file: Annotated[Path, typer.Argument(metavar="MODEL", help="A model that byline train wrote.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show what a model of authors knows: who, from how much text, by which members.

    Example: byline inspect novels.byline
    """
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
            for member, weight in zip(model.members, model.calibration.weights, strict=True)
        ],
        "held_out": model.calibration.held_out,
        "seed": model.seed,
    }


def print_model(model: AuthorModel, last: str) -> None:
    """The same, to read."""
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
    print_table(table)
    console.print(members_line(model, min(console.width, WIDEST)))
    if model.calibration.held_out:
        held_out = count_of(model.calibration.held_out, "text")
        console.print(f"Probabilities were calibrated on {held_out}, each held out.")
    else:
        console.print(GUESS)
    console.print("The model holds the texts that it learned, normalized.")
    console.print(printable(last), soft_wrap=True)  # a command in it can be copied


def members_line(model: AuthorModel, width: int) -> str:
    """Members and what share of the judgment each has, folded between them; those of one name are counted."""
    weights: dict[str, float] = {}
    for member, weight in zip(model.members, model.calibration.weights, strict=True):
        weights[member.engine_name] = weights.get(member.engine_name, 0) + weight
    counts = Counter(member.engine_name for member in model.members)
    shares = in_hundredths(list(weights.values()))
    items = [
        f"{name}{f' x{counts[name]}' if counts[name] > 1 else ''} {share / 100:.2f}"
        for name, share in zip(weights, shares, strict=True)
    ]
    glued = ", ".join(item.replace(" ", "\N{NO-BREAK SPACE}") for item in items)
    line = textwrap.fill(f"Members and their shares: {glued}", width, subsequent_indent="  ", break_on_hyphens=False)
    return line.replace("\N{NO-BREAK SPACE}", " ")


def in_hundredths(weights: list[float]) -> list[int]:
    """Shares of the sum that add up to 100; those that lose most when rounded down are rounded up."""
    whole = sum(weights)
    exact = [100 * weight / whole if whole > 0 else 100 / len(weights) for weight in weights]
    found = [int(share) for share in exact]
    order = sorted(range(len(exact)), key=lambda place: found[place] - exact[place])
    for place in order[: 100 - sum(found)]:
        found[place] += 1
    return found


def print_table(table: Table) -> None:
    """A table as wide as the terminal, or, where there is none, as what it holds: nothing is folded there."""
    console = out()
    if not sys.stdout.isatty():
        console.width = UNBOUNDED
    console.print(table)
