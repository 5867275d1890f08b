"""The command line: the table of commands, and the group that imports a command only when it is used.

Each command parses its options, calls one library function and prints. Help and completion list the commands from the
table; this is the lazy group of Click's documentation.
"""

from __future__ import annotations

import functools
import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from typing import Annotated, Any, NamedTuple, TextIO, cast

import typer
from typer.core import TyperCommand, TyperGroup

from byline import __version__
from byline.errors import printable_lines
from byline.storage.process import exit_interrupted


class CommandSpec(NamedTuple):
    """A command NAME that can be loaded: the module of its function NAME_command, and its line in `--help`."""

    module: str
    help: str
    many: str = ""
    """An option that takes all words up to the next option."""


COMMANDS = {
    "verify": CommandSpec("verify", "Answer verification problems, or a single question.", many="--known"),
    "evaluate": CommandSpec("evaluate", "Measure answers against the truth."),
    "compare": CommandSpec("evaluate", "Compare two systems' answers to the same problems."),
    "calibrate": CommandSpec("calibrate", "Fit a calibration on problems with known truth."),
    "train": CommandSpec("train", "Train a model of authors on their texts."),
    "attribute": CommandSpec("attribute", "Rank the candidate authors of texts."),
    "enroll": CommandSpec("train", "Add authors to a model without retraining it."),
    "inspect": CommandSpec("train", "Show what a model of authors holds."),
    "cluster": CommandSpec("cluster", "Group texts by author."),
    "rolling": CommandSpec("rolling", "Attribute a long text passage by passage."),
    "generate": CommandSpec("rolling", "Generate text from what a model learned of an author."),
    "report": CommandSpec("report", "Write an HTML report of a run."),
    "explain": CommandSpec("report", "Explain one answer of a run in the terminal."),
    "plot": CommandSpec("report", "Draw a figure of a run or a model."),
    "prepare": CommandSpec("text", "Show a text or corpus as the model sees it."),
    "text": CommandSpec("text", "Show the text that Byline reads from a document."),
    "presets": CommandSpec("presets", "List the presets, or show the members of one."),
    "combine": CommandSpec("runs", "Join runs of the same problems into one."),
    "demo": CommandSpec("demo", "Answer the built-in problems and write a report."),
    "serve": CommandSpec("serve", "Serve a local web page for your texts."),
    "doctor": CommandSpec("doctor", "Check the installation."),
}
RUNS = {"show": CommandSpec("runs", "Show the members of a run and how far they agree.")}
REFERENCE = {
    "build": CommandSpec("reference", "Build a reference population from texts by other people."),
    "check": CommandSpec("reference", "Check whether a reference population suits your problems."),
}


class LazyCommand(TyperCommand):
    """A stand-in that knows its name and help, and loads the command when it is parsed."""

    def __init__(self, name: str, spec: CommandSpec) -> None:
        super().__init__(name, help=spec.help, params=[])
        self._spec = spec

    def load(self) -> TyperCommand:
        """Import the command."""
        return _load(cast(str, self.name), self._spec)

    def make_context(self, info_name: Any, args: list[str], *more: Any, **options: Any) -> Any:
        """Parse the arguments with the command itself, and keep them for reports."""
        if self._spec.many:
            args = list(repeat_option(args, self._spec.many))
        words = ["byline", info_name, *args]
        context = self.load().make_context(info_name, args, *more, **options)
        context.meta["words"] = words
        return context


@functools.cache
def _load(name: str, spec: CommandSpec) -> TyperCommand:
    function = getattr(import_module(f"byline.cli.{spec.module}"), f"{name}_command")
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    app.command(name)(end_interrupted(function))
    return cast(TyperCommand, typer.main.get_command(app))


def lazy_group(table: Mapping[str, CommandSpec]) -> type[TyperGroup]:
    """Return a class for a group of the commands in a table; groups inside it are added as usual."""

    class LazyGroup(TyperGroup):
        """A group that lists its commands without loading them."""

        def list_commands(self, ctx: Any) -> list[str]:
            """Return the names in the order of the table."""
            return [*table, *super().list_commands(ctx)]

        def get_command(self, ctx: Any, cmd_name: str) -> Any:
            """Return the stand-in of a command, or a group."""
            return LazyCommand(cmd_name, table[cmd_name]) if cmd_name in table else super().get_command(ctx, cmd_name)

    return LazyGroup


def load_commands(group: Any, prefix: str = "") -> dict[str, TyperCommand]:
    """Load all commands of a group and of the groups inside it, by their names, such as `runs show`."""
    found: dict[str, TyperCommand] = {}
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        words = f"{prefix} {name}".strip()
        found |= {words: command.load()} if isinstance(command, LazyCommand) else load_commands(command, words)
    return found


def end_interrupted(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that an interruption ends it with one line on stderr."""

    @functools.wraps(command)
    def run(*arguments: object, **options: object) -> None:
        try:
            command(*arguments, **options)
        except KeyboardInterrupt:
            exit_interrupted()

    return run


def repeat_option(words: Sequence[str], option: str) -> Iterator[str]:
    """Yield the words with the option before each of its values."""
    inside = first = False
    for word in words:
        if word.startswith("-") and word != "-":
            inside, first = word.partition("=")[0] == option, "=" not in word
        elif inside and not first:
            yield option
        else:
            first = False
        yield word


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
    """Standard error that drops what cannot be written, so that a closed stream never ends a command."""

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
