"""The texts of a reference population, and which of them have to do with a question."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from byline.documents import Document
from byline.passages import find_related, plain_form

SHORTEST_TEXT = 200
"""Characters after normalising. A shorter text says little of its author, and may be anyone's."""


@dataclass(frozen=True)
class ReferenceText:
    """A text and a name for who wrote it, as far as the layout tells."""

    document: Document
    author: str


@dataclass(frozen=True)
class LeftOut:
    """How many texts were left out, and why."""

    short: int = 0
    """Shorter than SHORTEST_TEXT."""
    repeated: int = 0
    """The same text again."""
    borrowed: int = 0
    """Share a long passage with an earlier text by another author."""
    related: int = 0
    """Have to do with the documents of a question: see related_texts."""


@dataclass(frozen=True)
class Reference:
    """Texts of one language, each once, by people who are told apart as far as that can be done."""

    language: str
    texts: tuple[ReferenceText, ...]
    unclear: frozenset[frozenset[str]] = frozenset()
    """Pairs of authors that may be the same person: those of a problem, whose truth is never read."""
    left_out: LeftOut = LeftOut()

    @property
    def by_author(self) -> dict[str, tuple[ReferenceText, ...]]:
        """The texts of each author, in the order of the texts."""
        found: dict[str, list[ReferenceText]] = {}
        for text in self.texts:
            found.setdefault(text.author, []).append(text)
        return {author: tuple(texts) for author, texts in found.items()}

    @cached_property
    def fingerprint(self) -> str:
        """Sixteen hex digits for the texts, who wrote which, and who may be one, in whatever order they come."""
        rows = sorted(f"{text.author}\0{text.document.text}" for text in self.texts)
        rows += sorted("\0".join(sorted(pair)) for pair in self.unclear)
        digest = hashlib.sha256(self.language.encode())
        for row in rows:
            data = row.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()[:16]

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The texts as they are compared and measured: normalised."""
        return tuple(plain_form(text.document.text, self.language) for text in self.texts)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Characters of each text as it is, before normalising: what people count, and cautions of other kinds say."""
        return tuple(len(text.document.text) for text in self.texts)

    @property
    def spread(self) -> tuple[int, int, int]:
        """The lengths of the shortest text, the median one and the longest."""
        ordered = sorted(self.lengths) or [0]
        return ordered[0], ordered[len(ordered) // 2], ordered[-1]

    def count_people(self, authors: Iterable[str]) -> int:
        """About how many of some authors can be picked of whom no two may be one; those with few doubts come first."""
        left, doubles = set(authors), self._doubles
        doubts = {author: len(doubles.get(author, frozenset()) & left) for author in left}
        apart: set[str] = set()
        for author in sorted(left, key=lambda author: (doubts[author], author)):
            if apart.isdisjoint(doubles.get(author, ())):
                apart.add(author)
        return len(apart)

    @cached_property
    def _doubles(self) -> dict[str, frozenset[str]]:
        """For each author of whom it is unclear, who may be the same person."""
        found: dict[str, set[str]] = {}
        for pair in self.unclear:
            for author in pair:
                found.setdefault(author, set()).update(pair - {author})
        return {author: frozenset(others) for author, others in found.items()}

    def may_be_one(self, author: str, other: str) -> bool:
        """Whether two names stand for one person, or may do so."""
        return author == other or frozenset((author, other)) in self.unclear


def leave_out_related(reference: Reference, documents: Sequence[Document]) -> Reference:
    """The reference without what has to do with the documents: see related_texts."""
    gone = frozenset[int]().union(*related_texts(reference, documents))
    texts = tuple(text for number, text in enumerate(reference.texts) if number not in gone)
    authors = {text.author for text in texts}
    return replace(
        reference,
        texts=texts,
        unclear=frozenset(pair for pair in reference.unclear if pair <= authors),
        left_out=replace(reference.left_out, related=reference.left_out.related + len(gone)),
    )


def related_texts(reference: Reference, documents: Sequence[Document]) -> list[frozenset[int]]:
    """For each document the numbers of the reference's texts that may be by its author, or are not independent of it.

    They share a long passage with it; or the document is itself in the reference, and they are by its author, or by
    one of whom it is unclear whether he is the same.
    """
    plain = [plain_form(document.text, reference.language) for document in documents]
    number_of = {text: number for number, text in enumerate(reference.plain)}
    related = []
    for text, sharing in zip(plain, find_related(plain, reference.plain), strict=True):
        own: set[int] = set()
        if (number := number_of.get(text)) is not None:
            author = reference.texts[number].author
            own.update(n for n, other in enumerate(reference.texts) if reference.may_be_one(author, other.author))
        related.append(sharing | own)
    return related
