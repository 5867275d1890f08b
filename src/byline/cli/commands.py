"""Commands that are imported when they are used, so that `byline --help` is quick, and options with several values.

This is the lazy group of Click's documentation: help and completion list the commands from a table, and the module of
a command is imported when the command is parsed.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from byline.storage.process import exit_interrupted


class CommandSpec(NamedTuple):
    """A command that can be loaded: the module and function, and the line that `--help` shows."""

    module: str
    function: str
    help: str
    kind: type[TyperCommand] = TyperCommand


class LazyCommand(TyperCommand):
    """A stand-in that knows its name and help, and loads the command when it is parsed."""

    def __init__(self, name: str, command: CommandSpec) -> None:
        super().__init__(name, help=command.help, params=[])
        self._command = command

    def load(self) -> TyperCommand:
        """Import the command."""
        return _load(self.name, self._command)

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Parse the arguments with the command itself."""
        return self.load().make_context(*arguments, **more)


@functools.cache
def _load(name: str | None, command: CommandSpec) -> TyperCommand:
    function = getattr(import_module(f"byline.cli.{command.module}"), command.function)
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    app.command(name, cls=command.kind)(end_well(function))
    loaded = typer.main.get_command(app)
    assert isinstance(loaded, TyperCommand)
    return loaded


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


def end_well(command: Callable[..., None]) -> Callable[..., None]:
    """Wrap a command so that it ends well when it is interrupted or when the reader of its output goes away."""

    @functools.wraps(command)
    def run(*arguments: object, **options: object) -> None:
        try:
            command(*arguments, **options)
            sys.stdout.flush()
        except KeyboardInterrupt:
            exit_interrupted()
        except BrokenPipeError:  # of stdout only, see Stderr
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the rest has nowhere to go
            sys.exit(0)
        except SystemExit as error:
            if isinstance(error.__context__, BrokenPipeError):  # rich takes it for a failure
                sys.exit(0)
            raise

    return run


class KnownFiles(TyperCommand):
    """A command whose option `--known` takes all words up to the next option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option for each of its values, then parse."""
        return super().parse_args(ctx, list(repeat_option(args, "--known")))


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
