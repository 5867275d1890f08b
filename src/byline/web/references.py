"""Reference populations that the page offers: built-in ones and kept ones. Also the built-in texts to try it with."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeGuard, get_args

from byline.corpora.documents import Document, read_document
from byline.corpora.problems import Collection, builtin_problems
from byline.corpora.reference import DESCRIPTION, Reference
from byline.corpora.reference_building import build_reference
from byline.errors import RunError
from byline.storage.files import PART, discard, read_checked_json, sha256
from byline.web.home import Home
from byline.web.job_options import MAX_NAME, Options, TaskName, is_short_name
from byline.web.messages import RefusedError

BUILTIN: dict[str, Collection] = {f"built-in {collection}": collection for collection in get_args(Collection)}
"""The built-in collections by the names that the page shows."""
QUESTIONED = "EN001"
"""The problem in the example of a question."""


class References:
    """All references that the page offers."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._builtin: list[dict[str, Any]] = []

    def all(self) -> list[dict[str, Any]]:
        """Describe each reference, the built-in ones first.

        Only authors who are certainly different are counted, as in results.
        """
        if not self._builtin:
            self._builtin = [_describe_builtin(name) for name in BUILTIN]
        folders = sorted(child for child in self._home.references.iterdir() if self._is_kept(child.name))
        return [*self._builtin, *(_describe(folder) for folder in folders)]

    def require(self, name: str) -> None:
        """Refuse a reference that does not exist."""
        if name not in BUILTIN and not self._is_kept(name):
            raise RefusedError(422, f"there is no reference {name} any more; choose another")

    def require_free(self, name: str) -> None:
        """Refuse a name that a new reference can't have."""
        if not _is_reference_name(name):
            raise RefusedError(422, f"give the reference a plain name of at most {MAX_NAME} letters")
        if name in BUILTIN or os.path.lexists(self._home.references / name):
            raise RefusedError(409, f"there is a reference {name} already; choose another name, or delete that one")

    def delete(self, name: str) -> None:
        """Delete a kept reference."""
        if name in BUILTIN:
            raise RefusedError(409, "a built-in reference can't be deleted")
        if not self._is_kept(name):
            raise RefusedError(404, "there is no such reference any more")
        discard(self._home.references / name)

    def _is_kept(self, name: str) -> bool:
        return _is_reference_name(name) and (self._home.references / name).is_dir()


def _is_reference_name(name: object) -> TypeGuard[str]:
    return is_short_name(name) and not name.startswith(".") and not name.endswith(PART)


def _describe_builtin(name: str) -> dict[str, Any]:
    found = read_builtin_reference(BUILTIN[name])
    return {
        "name": name, "language": found.language, "texts": len(found.texts),
        "authors": found.count_distinct(found.by_author),
        "characters": sum(len(text.document.text) for text in found.texts), "builtin": True, "error": None,
    }  # fmt: skip


def _describe(folder: Path) -> dict[str, Any]:
    """Describe a kept reference by its own description; its texts are checked when it is used."""
    try:
        description = read_checked_json(folder / DESCRIPTION)
        rows, unclear = description["texts"], frozenset(frozenset(pair) for pair in description["unclear"])
        language = str(description["language"])
        values = {
            "language": language, "texts": len(rows),
            "authors": Reference(language, (), unclear).count_distinct({row["author"] for row in rows}),
            "characters": sum(int(row["characters"]) for row in rows), "error": None,
        }  # fmt: skip
    except (RunError, KeyError, TypeError, ValueError):
        values = {"error": f"{folder.name}: damaged, and can't be used; delete it"}
    return {"name": folder.name, "builtin": False, **values}


def read_builtin_reference(collection: Collection) -> Reference:
    """Return built-in texts as a reference. It is small and of one kind, enough to try things."""
    with builtin_problems(collection) as folder:
        return build_reference([folder])


@dataclass(frozen=True)
class Example:
    """An example question about the built-in texts."""

    task: TaskName
    title: str
    about: str
    seconds: int
    """About how long it takes."""

    def options(self) -> Options:
        """Return the options of its job."""
        return Options(title=self.title, reference="built-in english" if self.task == "question" else None)


EXAMPLES = {
    example.task: example
    for example in (
        Example(
            "question",
            "Did she write this one too?",
            "Two texts by one invented author and a third that may be hers, compared with texts by eleven others.",
            15,
        ),
        Example(
            "corpus",
            "Twelve questions at once",
            "The built-in problems, answered together as at PAN, and measured against the truth afterwards.",
            20,
        ),
        Example(
            "attribution",
            "Which of twelve authors?",
            "Texts without a name, and two texts by each of twelve invented authors who may have written them.",
            20,
        ),
        Example(
            "clustering",
            "Who belongs with whom?",
            "Twenty-four texts by twelve authors, without any names: which have the same author?",
            20,
        ),
    )
}


def example_question() -> tuple[list[Document], Document]:
    """Return known texts, and one in question."""
    with builtin_problems("english") as folder:
        files = sorted((folder / QUESTIONED).glob("known*.txt"))
        known = [read_document(file, file.name) for file in files]
        return known, read_document(folder / QUESTIONED / "unknown.txt", "unknown.txt")


def example_author_corpus() -> tuple[list[tuple[str, Document]], list[Document]]:
    """Return texts with their authors, and texts without."""
    with builtin_problems("english") as folder:
        known = [
            (f"Author {problem.name[-2:]}", read_document(file, f"Author {problem.name[-2:]}/{number}.txt"))
            for problem in sorted(folder.glob("EN*"))
            for number, file in enumerate(sorted(problem.glob("known*.txt")), start=1)
        ]
        return known, unnamed([read_document(file) for file in sorted(folder.glob("EN*/unknown.txt"))])


def unnamed(texts: Sequence[Document]) -> list[Document]:
    """Return texts in an order and under names that tell nothing about their authors."""
    mixed = sorted(texts, key=lambda text: sha256(text.text.encode()))
    return [Document(f"text {number:02d}", text.text) for number, text in enumerate(mixed, start=1)]
