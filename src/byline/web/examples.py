"""Built-in texts to try the page with, and to compare with if there is nothing better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, get_args

from byline.corpora.documents import Document, read_document
from byline.corpora.problems import Collection, builtin_problems
from byline.corpora.reference import Reference
from byline.corpora.reference_building import build_reference
from byline.storage.files import sha256

QUESTIONED = "EN001"
"""The problem in the example of a question."""


@dataclass(frozen=True)
class Example:
    """An example question about the built-in texts."""

    name: str
    title: str
    about: str
    seconds: int
    """About how long it takes."""

    @property
    def reference(self) -> str | None:
        """The reference that a question needs."""
        return "built-in english" if self.name == "question" else None

    def to_json(self) -> dict[str, Any]:
        """Return the example as the page needs it."""
        return {**asdict(self), "task": self.name}


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


def builtin_references() -> dict[str, Collection]:
    """Return the built-in collections by the names that the page shows."""
    return {f"built-in {collection}": collection for collection in get_args(Collection)}


def read_builtin_reference(collection: Collection) -> Reference:
    """Return built-in texts as a reference. It is small and of one kind, enough to try things."""
    with builtin_problems(collection) as folder:
        return build_reference([folder])
