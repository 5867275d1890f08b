"""Reference populations: texts by other people, with which a question is compared, and the folder that holds them.

ref/reference.json            language; file, name, author, length and hash of each text; unclear pairs of authors
ref/texts/0001.txt            a text in UTF-8
"""

from __future__ import annotations

import hashlib
import operator
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from byline import __version__
from byline.corpora.documents import Document, collect_errors, raise_together, read_bytes
from byline.corpora.problems import Problem
from byline.errors import OVERWRITE, CorpusError, RunError, list_some
from byline.storage.files import checked_json, read_checked_json, restore_folder, sha256, write_folder
from byline.text.languages import language_of_script
from byline.text.shared_passages import find_related, plain_form

FORMAT = 1
DESCRIPTION = "reference.json"
_FILE = re.compile(r"texts/\d{4,9}\.txt")
REBUILD = "Build the reference again with {overwrite}"

FEWEST = 10
"""Least number of other authors for any answer."""
ENOUGH = 50
"""With this many other authors, one more changes little."""
SHORTEST_TEXT = 200
"""Least characters after normalizing. A shorter text says little about its author and may be anyone's."""


@dataclass(frozen=True)
class ReferenceText:
    """A text and a name for its author, as far as the layout tells."""

    document: Document
    author: str


@dataclass(frozen=True)
class LeftOut:
    """The number of texts that were left out, by reason."""

    short: int = 0
    """Shorter than SHORTEST_TEXT."""
    repeated: int = 0
    """Identical to another text."""
    borrowed: int = 0
    """Sharing a passage with an earlier text by another author."""
    related: int = 0
    """Related to the documents of a question. Always 0 today; kept because stored references have it."""


@dataclass(frozen=True)
class Reference:
    """Different texts of one language by authors who are distinguished as far as possible."""

    language: str
    texts: tuple[ReferenceText, ...]
    unclear_pairs: frozenset[frozenset[str]] = frozenset()
    """Pairs of authors who may be the same person, such as the two of a problem, whose truth is never read."""
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
        """Sixteen hex digits for texts, authors and unclear pairs, regardless of their order."""
        rows = sorted(f"{text.author}\0{text.document.text}" for text in self.texts)
        rows += sorted("\0".join(sorted(pair)) for pair in self.unclear_pairs)
        digest = hashlib.sha256(self.language.encode())
        for row in rows:
            data = row.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little") + data)
        return digest.hexdigest()[:16]

    @cached_property
    def plain(self) -> tuple[str, ...]:
        """The texts in plain form, as they are compared."""
        return tuple(plain_form(text.document.text, self.language) for text in self.texts)

    @cached_property
    def lengths(self) -> tuple[int, ...]:
        """Characters of each text before normalizing."""
        return tuple(len(text.document.text) for text in self.texts)

    @property
    def length_summary(self) -> tuple[int, int, int]:
        """The least, the median and the greatest length of the texts."""
        ordered = sorted(self.lengths) or [0]
        return ordered[0], ordered[len(ordered) // 2], ordered[-1]

    def may_be_same(self, author: str, other: str) -> bool:
        """Whether two names stand for one person or may do so."""
        return author == other or frozenset((author, other)) in self.unclear_pairs

    def count_distinct(self, authors: Iterable[str]) -> int:
        """Count authors of whom no two may be the same person, chosen greedily: those in few unclear pairs first."""
        names = set(authors)
        same = {author: self._possibly_same.get(author, set()) for author in names}
        chosen: set[str] = set()
        for author in sorted(names, key=lambda author: (len(same[author] & names), author)):
            if chosen.isdisjoint(same[author]):
                chosen.add(author)
        return len(chosen)

    @cached_property
    def _possibly_same(self) -> dict[str, set[str]]:
        """For each author in an unclear pair, who may be the same person."""
        found: dict[str, set[str]] = {}
        for pair in self.unclear_pairs:
            for author in pair:
                found.setdefault(author, set()).update(pair - {author})
        return found


def related_texts(reference: Reference, documents: Sequence[Document]) -> list[frozenset[int]]:
    """Return, for each document, the numbers of the texts that may be by its author or depend on it.

    These are texts that share a passage with it and, if the document itself is in the reference, all texts by its
    author or by somebody who may be the same person.
    """
    plain = [plain_form(document.text, reference.language) for document in documents]
    number_of = {text: number for number, text in enumerate(reference.plain)}
    related = []
    for text, sharing in zip(plain, find_related(plain, reference.plain), strict=True):
        own: set[int] = set()
        if (number := number_of.get(text)) is not None:
            author = reference.texts[number].author
            own.update(n for n, other in enumerate(reference.texts) if reference.may_be_same(author, other.author))
        related.append(sharing | own)
    return related


def same_language(reference: Reference, problem: Problem) -> bool:
    """Whether a reference and a problem may be of one language, if only the script of one of them is known."""
    script, own = _scripts(reference, problem)
    if script != own and None not in (script, own):
        return False
    return reference.language == problem.language or script in (reference.language, problem.language)


def describe_languages(reference: Reference, problem: Problem) -> tuple[str, str]:
    """Describe how the languages or the scripts of a reference and a problem differ."""
    if reference.language != problem.language:
        return reference.language, problem.language
    script, own = _scripts(reference, problem)
    return f"written in {script} letters", f"in {own} ones"


def _scripts(reference: Reference, problem: Problem) -> tuple[str | None, str | None]:
    script = language_of_script(*(text.document.text for text in reference.texts[:ENOUGH]))
    return script, language_of_script(*(document.text for document in (*problem.known, problem.unknown)))


def is_reference(path: Path) -> bool:
    """Whether a folder holds a built reference."""
    return (path / DESCRIPTION).is_file()


def write_reference(reference: Reference, folder: Path, overwrite: bool = False) -> None:
    """Write a reference to a folder of its own. Nothing but another reference is ever replaced."""
    folder = Path(os.path.realpath(folder))  # a link to a folder stays one
    require_vacant(folder, overwrite)
    files, rows = {}, []
    for number, text in enumerate(reference.texts, start=1):
        name, content = f"texts/{number:04d}.txt", text.document.text.encode()
        files[name] = content
        row = {"file": name, "name": text.document.name, "author": text.author}
        rows.append({**row, "characters": len(text.document.text), "sha256": sha256(content)})
    described = {
        "format": FORMAT,
        "byline": __version__,
        "language": reference.language,
        "texts": rows,
        "unclear": sorted(sorted(pair) for pair in reference.unclear_pairs),
        "left_out": asdict(reference.left_out),
    }
    write_folder(folder, {DESCRIPTION: checked_json(described), **files})


def require_vacant(folder: Path, overwrite: bool = False) -> None:
    """Raise RunError if a folder holds anything but a reference, or a reference that may not be overwritten."""
    restore_folder(folder)
    another = "Choose another folder"
    try:
        if folder.exists() and not folder.is_dir():
            raise RunError("is a file, not a folder", where=folder, remedy=another)
        there = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))
    except OSError as error:
        raise RunError(f"can't be read ({error.strerror})", where=folder, remedy=another) from None
    if not there:
        return
    if DESCRIPTION not in there:
        raise RunError("is not empty and not a reference", where=folder, remedy=another)
    if not overwrite:
        raise RunError("holds a reference", where=folder, remedy=f"{OVERWRITE} or choose another folder")
    if strange := [name for name in there if name not in (DESCRIPTION, "texts") and not _FILE.fullmatch(name)]:
        raise RunError(
            f"holds {list_some(strange, 1)}, which a reference does not have",
            where=folder,
            remedy="Move it away or choose another folder",
        )


def read_built(folder: Path) -> Reference:
    """Read a reference as it was written. Raise one CorpusError for everything that was changed since."""
    path = folder / DESCRIPTION
    try:
        described = read_checked_json(path)
    except RunError as error:
        raise CorpusError(error.what, where=error.where, remedy=REBUILD) from None
    if described.get("format") != FORMAT:
        what = f"has format {described.get('format')}, and this Byline reads {FORMAT}"
        raise CorpusError(what, where=path, remedy=REBUILD)
    texts: list[ReferenceText] = []
    errors: list[CorpusError] = []
    try:
        for row in described["texts"]:
            with collect_errors(errors):
                document = Document(_check_name(row["name"]), _read_text(folder, row))
                texts.append(ReferenceText(document, _check_name(row["author"])))
        pairs = frozenset(frozenset(map(_check_name, pair)) for pair in described["unclear"])
        left_out = LeftOut(**{name: operator.index(number) for name, number in described["left_out"].items()})
        language = _check_name(described["language"])
        authors = {text.author for text in texts}
        if not errors and not all(len(pair) == 2 and pair <= authors for pair in pairs):
            raise ValueError("it names authors without texts")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CorpusError(f"is damaged ({error})", where=path, remedy=REBUILD) from None
    raise_together(errors)
    return Reference(language, tuple(texts), pairs, left_out)


def _check_name(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise TypeError(f"{value!a} is not a name")
    return value


def _read_text(folder: Path, row: Mapping[str, Any]) -> str:
    if not _FILE.fullmatch(row["file"]):
        what = f"names {row['file']!a}, which is not a text of it"
        raise CorpusError(what, where=folder / DESCRIPTION, remedy=REBUILD)
    path = folder / row["file"]
    remedy = "Restore it, or build the reference again"
    if not path.is_file():
        raise CorpusError("is missing", where=path, remedy=remedy)
    content = read_bytes(path)
    if sha256(content) != row["sha256"]:
        raise CorpusError("was changed after the reference was built", where=path, remedy=remedy)
    return content.decode()
