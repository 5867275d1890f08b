"""Check the files a command writes, and describe the command for its report."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from byline.corpora.documents import find_texts, has_text_name
from byline.errors import RunError
from byline.storage.files import resolve_file, sha256, write_error


def require_free(path: Path, overwrite: bool, inputs: Iterable[Path | None] = ()) -> None:
    """Raise if a file cannot be written, exists without leave to overwrite it, or is an input."""
    try:
        if path.is_dir():
            raise RunError("is a folder", where=path, remedy=f"Name a file, such as {path / 'model.byline'}")
        if path.exists() and not overwrite:
            raise RunError("exists already", where=path, remedy="Choose another name, or replace it with {overwrite}")
        real = resolve_file(path)
        there = next(parent for parent in real.parents if parent.exists())
        for name in real.relative_to(there).parts:  # which may be no possible names
            with suppress(FileNotFoundError):
                (there / name).lstat()
        with tempfile.TemporaryFile(dir=there):
            pass
        require_no_input(path, inputs)
    except OSError as error:
        raise write_error(path, error) from None


def require_no_input(path: Path, inputs: Iterable[Path | None]) -> None:
    """Raise if a file is an input, or would be among the texts of an input folder."""
    real = Path(path).resolve()
    for given in inputs:
        if given is None:
            continue
        if is_same(path, given):
            raise RunError("is one of the inputs", where=path, remedy="Choose another name")
        if given.is_dir():
            new = has_text_name(real.name) and given.resolve() in real.parents
            if new or (path.exists() and any(is_same(path, text) for text in find_texts(given))):
                raise RunError(f"would be among the input texts of {given}", where=path, remedy="Choose another folder")


def is_same(one: Path, other: Path) -> bool:
    """Return whether two paths name the same file."""
    return one.exists() and other.exists() and one.samefile(other)


def given_command(context: typer.Context) -> list[str]:
    """Return the words of the command: its arguments, then the options that were given."""
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


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def hash_files(*paths: Path) -> dict[str, str]:
    """Return the SHA-256 of each file by its name."""
    return {str(path): sha256(path.read_bytes()) for path in paths}
