"""Built-in texts to try the page with, and to compare with where one has nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

from byline.builtin import Collection, builtin_problems
from byline.documents import Document, read_document
from byline.reference import Reference, build_reference
from byline.storage import sha256

QUESTIONED = "EN001"
"""The problem that the example of a question is."""


@dataclass(frozen=True)
class Example:
    """A question about the built-in texts."""

    name: str
    title: str
    about: str
    seconds: int
    """That it takes, about."""

    @property
    def task(self) -> str:
        """What is asked."""
        return self.name

    @property
    def reference(self) -> str | None:
        """The texts to compare with, of a question."""
        return "built-in english" if self.name == "question" else None

    def to_json(self) -> dict[str, Any]:
        """For the page."""
        return {**asdict(self), "task": self.task}


EXAMPLES = {
    example.name: example
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
            "Twenty-four texts by twelve authors, without any names: which are by one hand?",
            20,
        ),
    )
}


@contextmanager
def example_folder() -> Iterator[Path]:
    """The built-in English problems."""
    with builtin_problems("english") as folder:
        yield folder


def example_question() -> tuple[list[Document], Document]:
    """Known texts, and one in question."""
    with example_folder() as folder:
        files = sorted((folder / QUESTIONED).glob("known*.txt"))
        known = [read_document(file, file.name) for file in files]
        return known, read_document(folder / QUESTIONED / "unknown.txt", "unknown.txt")


def example_writings() -> tuple[list[tuple[str, Document]], list[Document]]:
    """Texts with their authors, and texts without."""
    with example_folder() as folder:
        known = [
            (f"Author {problem.name[-2:]}", read_document(file, f"Author {problem.name[-2:]}/{number}.txt"))
            for problem in sorted(folder.glob("EN*"))
            for number, file in enumerate(sorted(problem.glob("known*.txt")), start=1)
        ]
        return known, unnamed([read_document(file) for file in sorted(folder.glob("EN*/unknown.txt"))])


def unnamed(texts: Sequence[Document]) -> list[Document]:
    """Texts in an order that says nothing, under names that say nothing."""
    mixed = sorted(texts, key=lambda text: sha256(text.text.encode()))
    return [Document(f"text {number:02d}", text.text) for number, text in enumerate(mixed, start=1)]


def builtin_references() -> dict[str, Collection]:
    """By the name that the page shows."""
    return {f"built-in {collection}": collection for collection in get_args(Collection)}


def read_builtin_reference(collection: Collection) -> Reference:
    """The built-in texts as a reference: small, and of one kind; enough to try things with."""
    with builtin_problems(collection) as folder:
        return build_reference([folder])
