"""`byline presets`: the pools that ensembles are made of."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from byline.cli import options
from byline.cli.console import count_of, out, print_json, printable
from byline.settings.settings import Pool, preset_names, read_pool


def presets_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Show this preset, or a pool in a FILE.toml.",
            autocompletion=options.one_of(preset_names),
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """List the presets, or show the members of one.

    Each is a TOML file; one of your own works the same: byline verify ... --preset FILE.toml

    Example: byline presets paper-greek
    """
    pools = [read_pool(name)] if name is not None else [read_pool(preset) for preset in preset_names()]
    if as_json:
        print_json([to_json(pool) for pool in pools])
    elif name is None:
        print_list(pools)
    else:
        print_pool(pools[0])


def to_json(pool: Pool) -> dict[str, object]:
    """What --json prints of a pool."""
    return {
        "name": pool.name,
        "description": pool.description,
        "draw": pool.draw,
        "members": pool.members,
        "interpret": pool.interpret,
        "radius": pool.radius,
        "pool": [asdict(row) for row in pool.rows],
    }


def print_list(pools: list[Pool]) -> None:
    """A line for each preset."""
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("preset", "pool", "members", "interpret", "radius", "what it is"):
        table.add_column(heading, justify="right" if heading in ("pool", "members", "radius") else "left")
    for pool in pools:
        table.add_row(
            pool.name, str(len(pool.rows)), str(pool.members), pool.interpret, f"{pool.radius:g}", pool.description
        )
    console = out()
    console.print(table)
    console.print("\nbyline presets NAME shows the settings of each member.", style="dim")


def print_pool(pool: Pool) -> None:
    """What the pool is, and a line for each member with what differs from the default settings."""
    console = out()
    drawn = "taken in order" if pool.draw == "order" else "drawn at random by the seed"
    console.print(f"{printable(pool.name)}: {printable(pool.description)}", style="bold")
    usually = f"{count_of(pool.members, 'member')} unless said otherwise"
    console.print(f"{count_of(len(pool.rows), 'row')}, {drawn}; {usually}; interpretation {pool.interpret}")
    rows = [row.changes() for row in pool.rows]
    shared = {key: value for key, value in rows[0].items() if all(row.get(key) == value for row in rows)}
    if shared and len(rows) > 1:
        console.print(f"all: {_words(shared)}")
    for number, row in enumerate(rows, start=1):
        own = {key: value for key, value in row.items() if key not in shared or len(rows) == 1}
        console.print(f"{number:3d}: {_words(own) or 'nothing else'}")
    console.print("What is not named has its default, see docs/settings.md.", style="dim")


def _words(values: dict[str, object]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())
