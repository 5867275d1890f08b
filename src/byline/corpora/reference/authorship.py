"""Who wrote the texts of a corpus, as far as its layout tells. The truth of problems is never read."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from byline.corpora.documents import Document, classify_path, is_text, list_visible, pick_texts, read_document
from byline.corpora.problems import NO_LANGUAGE, NOT_TEXTS, Problem, holds_problems, is_unknown, read_problems
from byline.errors import CorpusError
from byline.text.languages import language_of, language_of_script

log = logging.getLogger(__name__)

OUTPUTS = ("reference.json", "plan.json", "run/plan.json")
"""A folder with one of these was written by Byline and is not an author's."""
REMEDY = "Name a folder of texts, a corpus, or a text file"


@dataclass(frozen=True)
class Author:
    """An author: a person by name, or the unnamed author of a problem or file, by a label and its place."""

    name: str
    place: str = ""
    """Unnamed authors with the same label at different places are different people."""

    @property
    def named(self) -> bool:
        """Whether the name is a person's own, the same in all corpora."""
        return not self.place


@dataclass(frozen=True)
class LabeledText:
    """A text, its author, and its language or, if that is unknown, its script."""

    document: Document
    author: Author
    language: str


@dataclass(frozen=True)
class AuthorLabels:
    """The texts of some corpora, pairs of authors who may be the same person, and errors of what can't be read."""

    texts: tuple[LabeledText, ...] = ()
    unclear_pairs: tuple[tuple[Author, Author], ...] = ()
    errors: tuple[CorpusError, ...] = ()

    def __add__(self, other: AuthorLabels) -> AuthorLabels:
        return AuthorLabels(
            self.texts + other.texts, self.unclear_pairs + other.unclear_pairs, self.errors + other.errors
        )


def read_author_labels(path: Path, language: str | None = None, qualified: bool = False) -> AuthorLabels:
    """Read the texts below a folder or of a file of pairs.

    The folder may hold a folder for each author, plain texts, or problems: the known texts of a problem are by one
    author, and the unknown one is by another who may be the same. If `qualified`, names of texts begin with the name
    of the folder.
    """
    try:
        place = Path(os.path.realpath(path))
        prefix = f"{place.name if path.is_dir() else place.parent.name}/" if qualified else ""
        if holds_problems(path):
            return _read_problems(path, language, prefix)
        if classify_path(path, REMEDY) == "file":
            return read_loose_texts([path], language, prefix)
        children = list_visible(path)
        below = (file for child in children for file in child.glob("*/*"))
        if any(is_unknown(file.name) for file in (*children, *below)):  # one level off
            read_problems(path)  # raises an error that says which folder to name
        return _read_folder(path, language, prefix)
    except CorpusError as error:
        return AuthorLabels(errors=(error,))


def read_loose_texts(files: Sequence[Path], language: str | None = None, prefix: str = "") -> AuthorLabels:
    """Read texts of one folder, each by its own author, except that `Author_Title.txt` names one that two share."""
    heads = Counter(_head(file) for file in files)
    if len(heads) == 1 and len(files) > 1 and (head := _head(files[0])):
        log.warning("%s: by their names, all texts there are by one author, %s", files[0].parent, head)

    def author(file: Path) -> Author:
        head = _head(file)
        return Author(head) if head and heads[head] > 1 else Author(file.stem, os.path.realpath(file.parent))

    return _read_files([(file, author(file), prefix + file.name) for file in files], language)


def _head(file: Path) -> str:
    """Return the author in `Author_Title.txt`, or an empty string; a number is no author."""
    head, underscore, _ = file.stem.partition("_")
    return head if underscore and any(letter.isalpha() for letter in head) else ""


def _read_folder(folder: Path, language: str | None, prefix: str) -> AuthorLabels:
    """Read a folder of texts and of authors' folders."""
    found = read_loose_texts(_text_files(folder), language, prefix)
    for child in list_visible(folder):
        if not child.is_dir():
            continue
        if any((child / name).exists() for name in OUTPUTS):
            log.warning("%s: ignored, Byline wrote it", child)
            continue
        deeper = next((below for below in list_visible(child) if below.is_dir() and _text_files(below)), None)
        if deeper:
            error = CorpusError("holds texts too deep to tell their authors", where=deeper, remedy=f"Name {child}")
            found += AuthorLabels(errors=(error,))
        files = [(file, Author(child.name), f"{prefix}{child.name}/{file.name}") for file in _text_files(child)]
        found += _read_files(files, language)
    if not found.texts and not found.errors:
        remedy = "Put texts there, or a folder of texts for each author"
        raise CorpusError("no texts found", where=folder, remedy=remedy)
    return found


def _text_files(folder: Path) -> list[Path]:
    return [child for child in pick_texts(filter(is_text, list_visible(folder))) if child.name.lower() not in NOT_TEXTS]


def _read_files(files: Iterable[tuple[Path, Author, str]], language: str | None) -> AuthorLabels:
    texts, errors = [], []
    for file, author, name in files:
        try:
            document = read_document(file, name)
        except CorpusError as error:
            errors.append(error)
            continue
        said = language_of(language) if language else language_of_script(document.text) or NO_LANGUAGE
        texts.append(LabeledText(document, author, said))
    return AuthorLabels(tuple(texts), errors=tuple(errors))


def _read_problems(path: Path, language: str | None, prefix: str) -> AuthorLabels:
    corpus = read_problems(path, language)
    lines = [line for bad in corpus.bad_problems for line in bad.message.split("\n  ")]
    labels = [_label(problem, os.path.realpath(path), prefix) for problem in corpus.problems]
    return AuthorLabels(
        tuple(text for texts, _ in labels for text in texts),
        tuple(pair for _, pair in labels),
        tuple(CorpusError(prefix + line) for line in lines),
    )


def _label(problem: Problem, place: str, prefix: str) -> tuple[list[LabeledText], tuple[Author, Author]]:
    """Return a problem's texts and its two authors, who may be the same person."""
    sides = ("first", "second") if problem.symmetric else ("known", "unknown")
    known, unknown = (Author(f"{problem.id} {side}", place) for side in sides)
    texts = [(document, known) for document in problem.known] + [(problem.unknown, unknown)]
    return [
        LabeledText(replace(document, name=prefix + document.name), author, problem.language)
        for document, author in texts
    ], (known, unknown)


class AuthorGroups:
    """Groups of authors that turn out to be the same person."""

    def __init__(self, unclear_pairs: Iterable[tuple[Author, Author]] = ()) -> None:
        self._pairs = list(unclear_pairs)
        self._same: dict[Author, Author] = {}

    def find(self, author: Author) -> Author:
        """Return the author who stands for the group of this one."""
        while author in self._same:
            author = self._same[author]
        return author

    def join(self, author: Author, other: Author) -> None:
        """Note that both wrote the same text: they are one or, if both are named, an unclear pair."""
        author, other = self.find(author), self.find(other)
        if author == other:
            return
        if author.named and other.named:
            self._pairs.append((author, other))
        elif other.named:
            self._same[author] = other
        else:
            self._same[other] = author

    def names(self, authors: Iterable[Author]) -> dict[Author, str]:
        """Return a different name for each author."""
        names: dict[Author, str] = {}
        taken: set[str] = set()
        for author in sorted(dict.fromkeys(authors), key=lambda author: not author.named):
            name = author.name if author.named else f"{Path(author.place).name}/{author.name}"
            free = (name, *(f"{name} ({number})" for number in range(2, len(names) + 3)))
            names[author] = next(candidate for candidate in free if candidate not in taken)
            taken.add(names[author])
        return names

    def unclear_pairs(self, names: Mapping[Author, str]) -> frozenset[frozenset[str]]:
        """Return the pairs of authors who may be the same person, by name."""
        pairs = ((self.find(first), self.find(second)) for first, second in self._pairs)
        return frozenset(
            frozenset((names[first], names[second]))
            for first, second in pairs
            if first != second and first in names and second in names
        )
