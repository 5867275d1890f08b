"""Write the pages that repeat what the program says of itself: commands.md, settings.md and json.md.

    python docs/generate.py

A test fails while the pages differ from the program.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import typer
from typer.testing import CliRunner

from byline.cli import app, load_commands
from byline.settings import settings

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

JSON_HEAD = """# JSON, key by key

Written by `python docs/generate.py`: the commands below were run on the built-in texts, and these are the keys of what
they printed or wrote. `[]` is each item of a list, `{id}` each key that is a name; a value that was seen in two kinds
has both. [File formats](file-formats.md) says what the files are for.
"""

QUICK = "--engines ngram,vectors"
MADE = (
    "demo --texts texts",
    "train texts/authors -o authors.byline",
    f"verify texts/problems -o out {QUICK} --overwrite",
    "verify texts/problems -o net --preset rnn --members 1 --set sub_epochs=1 --set hidden=2",
    "reference build texts/authors -o ref",
)
"""What is done first, without --json."""
PRINTED = (
    f"verify texts/problems -o again {QUICK}",
    "evaluate out texts/problems",
    "compare out net texts/problems",
    f"calibrate texts/problems -o cal.json {QUICK}",
    "attribute authors.byline texts/problems/EN001/unknown.txt",
    "rolling authors.byline texts/problems/EN001/unknown.txt --window 1000",
    "cluster texts/problems/EN001 --engines vectors",
    "inspect authors.byline",
    "explain out EN001",
    "runs show out --truth texts/problems",
    "reference check ref texts/problems",
    "presets best",
    "prepare texts/problems",
    "text texts/problems/EN001/unknown.txt",
    "generate authors.byline --author author-01 --length 40",
)
WRITTEN = (
    "out/run/plan.json",
    "out/run/cautions.json",
    "out/run/members/0001/member.json",
    "out/run/members/0003/evidence.json",
    "cal.json",
    "ref/reference.json",
)
NAMES = re.compile(r"EN\d+.*|author-\d+|[^a-z]|english|latin")
"""Keys that are names of problems, authors, languages or characters, not of fields."""


def json_page() -> str:
    """A table of keys for what each command prints with --json, and for each file."""
    parts = [JSON_HEAD]
    with _in_scratch():
        for line in MADE:
            _run(line)
        parts += [_key_table(f"`byline {line} --json`", json.loads(_run(f"{line} --json"))) for line in PRINTED]
        parts += [_key_table(f"`{path}`", json.loads(Path(path).read_text("utf-8"))) for path in WRITTEN]
    return "".join(parts)


@contextmanager
def _in_scratch() -> Iterator[None]:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _run(line: str) -> str:
    result = CliRunner().invoke(app, line.split())
    if result.exit_code:
        raise RuntimeError(f"byline {line}: {result.output}") from result.exception
    return result.stdout


def _key_table(title: str, value: object) -> str:
    found: dict[str, set[str]] = {}
    _describe(value, "", found)
    rows = [
        f"| `{path}` | {' or '.join(sorted(kinds))} |\n"
        for path, kinds in found.items()
        if path
        and not (kinds <= {"list", "object"} and any(re.match(re.escape(path) + r"[.\[]", other) for other in found))
    ]
    return f"\n## {title}\n\n| key | value |\n|---|---|\n{''.join(rows)}"


def _describe(value: object, path: str, found: dict[str, set[str]]) -> None:
    """Add to `found` the kind of each value below a path."""
    kinds = found.setdefault(path, set())
    if isinstance(value, list):
        kinds.add("list")
        for item in value:
            _describe(item, f"{path}[]", found)
    elif isinstance(value, dict):
        if value and value.keys() <= settings.KINDS.keys():
            kinds.add("[settings](settings.md)")
            return
        kinds.add("object")
        letters = value and all(len(key) == 1 for key in value) and len(value) > 2
        for key, item in value.items():
            name = "{id}" if letters or NAMES.fullmatch(key) else key
            _describe(item, f"{path}.{name}" if path else name, found)
    else:
        kinds.add({bool: "true or false", int: "number", float: "number", str: "text"}.get(type(value), "null"))


def commands_page() -> str:
    """A section a command: its help, its arguments and options."""
    commands = load_commands(typer.main.get_command(app))
    return COMMANDS_HEAD + "".join(_command_section(name, command) for name, command in commands.items())


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


PAGES = {"commands.md": commands_page, "settings.md": settings_page, "json.md": json_page}

if __name__ == "__main__":
    for page, make in PAGES.items():
        (HERE / page).write_text(make(), encoding="utf-8")
