"""`byline presets`: the pools that the members of ensembles are drawn from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

import byline
from byline.cli import options
from byline.cli.console import count_of, make_table, out, print_json, print_table, printable
from byline.settings.settings import preset_names


def presets_command(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="NAME",
            help="Show this preset, or a pool in a FILE.toml.",
            autocompletion=options.complete_preset,
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """List the presets, or show the members of one.

    Each is a TOML file; one of your own works the same: byline verify ... --preset FILE.toml

    Example: byline presets paper-greek
    """
    pools = [byline.read_pool(preset) for preset in (preset_names() if name is None else [name])]
    if as_json:
        print_json([to_json(pool) for pool in pools])
    elif name is None:
        print_list(pools)
    else:
        print_pool(pools[0])


def to_json(pool: byline.Pool) -> dict[str, object]:
    """Return the values of a pool."""
    return {
        "name": pool.name,
        "description": pool.description,
        "draw": pool.draw,
        "members": pool.members,
        "interpret": pool.interpret,
        "radius": pool.radius,
        "pool": [asdict(row) for row in pool.rows],
    }


def print_list(pools: list[byline.Pool]) -> None:
    """Print a line for each preset."""
    numbers = ("pool", "members", "radius")
    table = make_table("preset", "pool", "members", "interpret", "radius", "description", right=numbers)
    for pool in pools:
        table.add_row(
            pool.name, str(len(pool.rows)), str(pool.members), pool.interpret, f"{pool.radius:g}", pool.description
        )
    print_table(table)
    out().print("\nbyline presets NAME shows the settings of each member.", style="dim")


def print_pool(pool: byline.Pool) -> None:
    """Print the pool, and a line for each member with the settings that differ from the default."""
    console = out()
    drawn = "taken in order" if pool.draw == "order" else "drawn at random by the seed"
    console.print(f"{printable(pool.name)}: {printable(pool.description)}", style="bold")
    usually = f"{count_of(pool.members, 'member')} by default"
    console.print(f"{count_of(len(pool.rows), 'row')}, {drawn}; {usually}; interpretation {pool.interpret}")
    rows = [row.changes() for row in pool.rows]
    shared = {key: value for key, value in rows[0].items() if all(row.get(key) == value for row in rows)}
    if shared and len(rows) > 1:
        console.print(f"all: {_words(shared)}")
    for number, row in enumerate(rows, start=1):
        own = {key: value for key, value in row.items() if key not in shared or len(rows) == 1}
        console.print(f"{number:3d}: {_words(own) or 'nothing else'}")
    console.print("Other settings have their defaults, see docs/settings.md.", style="dim")


def _words(values: dict[str, object]) -> str:
    return ", ".join(f"{key} {value}" for key, value in values.items())
