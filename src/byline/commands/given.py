"""The command as it was given, to be shown in what it made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import typer


def given_command(context: typer.Context) -> list[str]:
    """The command's words: its arguments, then the options that were given, and none that were not."""
    words = ["byline", context.info_name or ""]
    options: list[str] = []
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is None or source.name != "COMMANDLINE":
            continue
        value: Any = context.params[parameter.name or ""]
        values = value if isinstance(value, list | tuple) else [value]
        if parameter.param_type_name == "argument":
            words += map(_shown, values)
        elif isinstance(value, bool):
            options.append(max(parameter.opts if value else parameter.secondary_opts, key=len))
        else:
            options += [word for each in values for word in (max(parameter.opts, key=len), _shown(each))]
    return words + options


def given_words(context: typer.Context) -> tuple[str, ...]:
    """The words of a command that keeps them, in their own order: of one question, files stand after its options."""
    from byline.commands.asking import WORDS

    return ("byline", context.info_name or "", *context.meta.get(WORDS, ()))


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def hash_files(*paths: Path) -> dict[str, str]:
    """The SHA-256 of each file, by its name."""
    from byline.storage import sha256

    return {str(path): sha256(path.read_bytes()) for path in paths}
