"""The built-in problems: prose written for this project, by invented authors, with truth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

Collection = Literal["english", "greek"]


@contextmanager
def builtin_problems(collection: Collection = "english") -> Iterator[Path]:
    """The folder of a built-in PAN corpus: English, 12 authors; Greek, a smaller one in another script."""
    with as_file(files("byline") / "texts" / collection) as folder:
        yield folder
