"""The command line: one file per command. Each parses, calls one library function and prints."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from typing import Annotated, Any, TextIO, cast

import typer

from byline import __version__
from byline.cli.commands import CommandSpec, KnownFiles, lazy_group
from byline.errors import printable_lines

COMMANDS = {
    "verify": CommandSpec(
        "verify", "verify_command", "Answer verification problems, or a single question.", KnownFiles
    ),
    "evaluate": CommandSpec("evaluate", "evaluate_command", "Measure answers against the truth."),
    "compare": CommandSpec("compare", "compare_command", "Compare two systems' answers to the same problems."),
    "calibrate": CommandSpec("calibrate", "calibrate_command", "Fit a calibration on problems with known truth."),
    "train": CommandSpec("train", "train_command", "Train a model of authors on their texts."),
    "attribute": CommandSpec("attribute", "attribute_command", "Rank the candidate authors of texts."),
    "enroll": CommandSpec("train", "enroll_command", "Add authors to a model without retraining it."),
    "inspect": CommandSpec("inspect", "inspect_command", "Show what a model of authors holds."),
    "cluster": CommandSpec("cluster", "cluster_command", "Group texts by author."),
    "rolling": CommandSpec("rolling", "rolling_command", "Attribute a long text passage by passage."),
    "generate": CommandSpec("rolling", "generate_command", "Generate text from what a model learned of an author."),
    "report": CommandSpec("report", "report_command", "Write an HTML report of a run."),
    "explain": CommandSpec("report", "explain_command", "Explain one answer of a run in the terminal."),
    "plot": CommandSpec("plot", "plot_command", "Draw a figure of a run or a model."),
    "prepare": CommandSpec("prepare", "prepare_command", "Show a text or corpus as the model sees it."),
    "text": CommandSpec("text", "text_command", "Show the text that Byline reads from a document."),
    "presets": CommandSpec("presets", "presets_command", "List the presets, or show the members of one."),
    "combine": CommandSpec("combine", "combine_command", "Join runs of the same problems into one."),
    "demo": CommandSpec("demo", "demo_command", "Answer the built-in problems and write a report."),
    "serve": CommandSpec("serve", "serve_command", "Serve a local web page for your texts."),
    "doctor": CommandSpec("doctor", "doctor_command", "Check the installation."),
}
RUNS = {"show": CommandSpec("runs", "show_command", "Show the members of a run and how far they agree.")}
REFERENCE = {
    "build": CommandSpec("reference", "build_command", "Build a reference population from texts by other people."),
    "check": CommandSpec("reference", "check_command", "Check whether a reference population suits your problems."),
}

app = typer.Typer(
    name="byline",
    no_args_is_help=True,
    cls=lazy_group(COMMANDS),
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, table, words in (
    ("runs", RUNS, "Look into run folders."),
    ("reference", REFERENCE, "Build and check reference populations."),
):
    app.add_typer(
        typer.Typer(cls=lazy_group(table), no_args_is_help=True, callback=lambda: None), name=name, help=words
    )


class Stderr:
    """Standard error that loses what cannot be written, so that a closed stream never ends a command."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, words: str) -> int:
        """Write, if the stream is still open."""
        with suppress(OSError):
            self._stream.write(words)
        return len(words)

    def flush(self) -> None:
        """Flush, if the stream is still open."""
        with suppress(OSError, ValueError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _PrintableFormatter(logging.Formatter):
    """Formats warnings so that names in them cannot move a terminal's cursor."""

    def format(self, record: logging.LogRecord) -> str:
        return printable_lines(super().format(record))


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"byline {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Print more details on stderr.")] = False,
) -> None:
    """Byline estimates who wrote a text.

    Start with [bold]byline demo[/bold], then [bold]byline verify PROBLEMS -o OUT[/bold].
    """
    if not isinstance(sys.stderr, Stderr):
        sys.stderr = cast(TextIO, Stderr(sys.stderr))
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_PrintableFormatter("byline: %(message)s"))
    logging.basicConfig(level=logging.DEBUG if verbose else logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("numba").setLevel(logging.WARNING)
