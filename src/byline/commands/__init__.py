"""The command line: one file a command, each parses, calls one library function and prints."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from byline import __version__
from byline.commands import demo, evaluate, prepare, verify

app = typer.Typer(
    name="byline",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"byline {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more of what is done, on stderr.")] = False,
) -> None:
    """Byline tells who wrote a text.

    Start with [bold]byline demo[/bold], then [bold]byline verify PROBLEMS -o OUT[/bold].
    """
    logging.basicConfig(
        level=logging.DEBUG if verbose else logging.WARNING,
        format="byline: %(message)s",
        stream=sys.stderr,
        force=True,
    )
    logging.getLogger("numba").setLevel(logging.WARNING)


app.command("verify")(verify.verify_command)
app.command("evaluate")(evaluate.evaluate_command)
app.command("prepare")(prepare.prepare_command)
app.command("demo")(demo.demo_command)
