"""Write the pages that repeat what the program says of itself: commands.md and settings.md.

    python docs/generate.py

A test fails while the pages differ from the program.
"""

from __future__ import annotations

import ast
import inspect
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import typer

from byline import settings
from byline.commands import app

HERE = Path(__file__).parent

COMMANDS_HEAD = """# Commands

Written by `python docs/generate.py` from the program itself. Results go to stdout, progress to stderr: bars on a
terminal, plain lines elsewhere. Exit codes: 0 done, 1 something that you can put right (one message says what), 2 wrong
usage, 130 interrupted, 143 stopped by the system (SIGTERM; what is finished is kept as after Ctrl-C).
`byline --version` shows the version, `byline --verbose COMMAND ...` says more on stderr;
`python -m byline` is the same program.
"""

SETTINGS_HEAD = """# Settings

Written by `python docs/generate.py` from the program itself. Each can be given with `--set name=value`, or in a file of
TOML lines (`name = value`) with `--settings FILE.toml`; presets ([ensembles](ensembles.md)) give each member its own.
`byline verify` writes what it used into `OUT/run/preset.toml`. A bad value is refused. Sections and tables named here
are the paper's.

| name | default | values | meaning |
|---|---|---|---|
"""


def commands_page() -> str:
    """A section a command: its help, its arguments and options."""
    group: Any = typer.main.get_command(app)
    return COMMANDS_HEAD + "".join(_sections(name, command) for name, command in group.commands.items())


def _sections(name: str, command: Any) -> str:
    """The section of a command, or of each command in a group."""
    if inner := getattr(command, "commands", None):
        return "".join(_sections(f"{name} {part}", below) for part, below in inner.items())
    return _command_section(name, command)


def _command_section(name: str, command: Any) -> str:
    lines = [f"\n## byline {name}\n", inspect.cleandoc(command.help), "", "| | |", "|---|---|"]
    for parameter in command.params:
        names = ", ".join(f"`{part}`" for part in parameter.opts) if parameter.param_type_name == "option" else ""
        label = f"{names} {parameter.metavar or ''}".strip() or parameter.name
        default = parameter.default
        shown = "" if default is None or default is False or callable(default) else f" Default: {default}."
        if parameter.name != "help":
            lines.append(f"| {label} | {parameter.help}{shown} |")
    return "\n".join(lines) + "\n"


def settings_page() -> str:
    """A table of all settings."""
    meanings = _field_docstrings()
    rows = []
    for field in fields(settings.Settings):
        kind = settings.KINDS[field.name]
        if choices := get_args(kind):
            values = ", ".join(choices)
        elif kind is bool:
            values = "true, false"
        else:
            low, high = settings.RANGES[field.name]
            values = f"{low:g} or more" if high == float("inf") else f"{low:g} to {high:g}"
        default = str(field.default).lower() if kind is bool else field.default
        rows.append(f"| `{field.name}` | {default} | {values} | {meanings[field.name]} |\n")
    return SETTINGS_HEAD + "".join(rows)


def _field_docstrings() -> dict[str, str]:
    """The string below each field of Settings."""
    (body,) = (node for node in ast.parse(inspect.getsource(settings.Settings)).body if isinstance(node, ast.ClassDef))
    found, name = {}, None
    for node in body.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            name = node.target.id
        elif name and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found[name], name = str(node.value.value), None
    return found


PAGES = {"commands.md": commands_page, "settings.md": settings_page}

if __name__ == "__main__":
    for page, make in PAGES.items():
        (HERE / page).write_text(make(), encoding="utf-8")
