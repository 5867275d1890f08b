"""Who wrote the texts of a corpus, as far as its layout tells. The truth of its problems is never read."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from byline.documents import Document, is_text, look_at, pick_texts, read_document
from byline.errors import CorpusError
from byline.languages import language_of, language_of_script
from byline.preparation import holds_problems
from byline.problems import Problem, is_unknown, read_problems

log = logging.getLogger(__name__)

NO_LANGUAGE = "unknown"
"""The language of a text without letters."""
NO_TEXTS = ("truth.txt", "answers.txt")
NO_AUTHORS = ("reference.json", "plan.json", "run/plan.json")
"""What a folder holds that Byline itself wrote: it is no author's."""
REMEDY = "name a folder of texts, a corpus, or a text file"


@dataclass(frozen=True)
class Author:
    """Whoever wrote some texts: a person by name, or the one whom a corpus keeps at some place, by a label."""

    name: str
    place: str = ""
    """Two unnamed authors with the same label at different places have nothing to do with each other."""

    @property
    def named(self) -> bool:
        """Whether the name is a person's own, the same wherever it is found."""
        return not self.place


@dataclass(frozen=True)
class Attributed:
    """A text, who wrote it, and its language or, where only that is known, its script."""

    document: Document
    author: Author
    language: str


@dataclass(frozen=True)
class Attributions:
    """The texts of some corpora, what could not be read, and the authors of whom two may be one."""

    texts: tuple[Attributed, ...] = ()
    unclear: tuple[tuple[Author, Author], ...] = ()
    offences: tuple[str, ...] = ()

    def __add__(self, other: Attributions) -> Attributions:
        return Attributions(self.texts + other.texts, self.unclear + other.unclear, self.offences + other.offences)


def read_attributions(path: Path, language: str | None = None, qualified: bool = False) -> Attributions:
    """The texts below a folder, or of a file of pairs; `qualified`: their names begin with the folder's.

    A folder for each author, plain texts (`Author_Title.txt` where two begin alike), or problems: the known texts of
    one are by one author, the unknown one is by another who may be the same.
    """
    try:
        prefix = _prefix(path) if qualified else ""
        if holds_problems(path):
            return _read_problems(path, language, prefix)
        if look_at(path, REMEDY) == "file":
            return read_plain([path], language, prefix)
        if _holds_problems_elsewhere(path):
            read_problems(path)  # says which folder to name instead
        return _read_folder(path, language, prefix)
    except CorpusError as error:
        return Attributions(offences=(str(error),))


def _holds_problems_elsewhere(folder: Path) -> bool:
    """Whether a folder is itself a problem, or holds corpora of them."""
    children = _visible(folder)
    below = (file for child in children for file in child.glob("*/*"))
    return any(is_unknown(file.name) for file in (*children, *below))


def read_plain(files: Sequence[Path], language: str | None = None, prefix: str = "") -> Attributions:
    """Texts that lie side by side: each by an author of its own, but for those that begin alike before a `_`."""
    heads = Counter(_head(file) for file in files)
    if len(heads) == 1 and len(files) > 1 and (head := _head(files[0])):
        log.warning("%s: by their names, all texts there are by one author, %s", files[0].parent, head)

    def author(file: Path) -> Author:
        head = _head(file)
        return Author(head) if head and heads[head] > 1 else Author(file.stem, _place(file.parent))

    return _read_files([(file, author(file), prefix + file.name) for file in files], language)


def _head(file: Path) -> str:
    """The author in `Author_Title.txt`, or nothing; a number is no author."""
    head, underscore, _ = file.stem.partition("_")
    return head if underscore and any(letter.isalpha() for letter in head) else ""


def _read_folder(folder: Path, language: str | None, prefix: str) -> Attributions:
    """A folder of texts and of authors' folders."""
    found = read_plain(_text_files(folder), language, prefix)
    for child in _visible(folder):
        if not child.is_dir():
            continue
        if any((child / name).exists() for name in NO_AUTHORS):
            log.warning("%s: ignored, Byline wrote it", child)
            continue
        deeper = [below for below in _visible(child) if below.is_dir() and _text_files(below)]
        offences = [f"{below}: whose texts are these? They lie too deep; name {child} instead" for below in deeper[:1]]
        files = [(file, Author(child.name), f"{prefix}{child.name}/{file.name}") for file in _text_files(child)]
        found += _read_files(files, language) + Attributions(offences=tuple(offences))
    if not found.texts and not found.offences:
        raise CorpusError(f"{folder}: no texts found; it should hold some, or a folder of them for each author")
    return found


def _read_files(files: Iterable[tuple[Path, Author, str]], language: str | None) -> Attributions:
    texts, offences = [], []
    for file, author, name in files:
        try:
            document = read_document(file, name)
        except CorpusError as error:
            offences.append(str(error))
            continue
        said = language_of(language) if language else language_of_script(document.text) or NO_LANGUAGE
        texts.append(Attributed(document, author, said))
    return Attributions(tuple(texts), offences=tuple(offences))


def _read_problems(path: Path, language: str | None, prefix: str) -> Attributions:
    corpus = read_problems(path, language)
    place = _place(path)
    found = [_attribute(problem, place, prefix) for problem in corpus.problems]
    return Attributions(
        tuple(text for texts, _ in found for text in texts),
        tuple(pair for _, pair in found),
        tuple(prefix + line for offence in corpus.offences for line in offence.message.split("\n  ")),
    )


def _attribute(problem: Problem, place: str, prefix: str) -> tuple[list[Attributed], tuple[Author, Author]]:
    """A problem's texts and its two authors, who may be one."""
    sides = ("first", "second") if problem.symmetric else ("known", "unknown")
    known, unknown = (Author(f"{problem.id} {side}", place) for side in sides)
    texts = [(document, known) for document in problem.known] + [(problem.unknown, unknown)]
    return [
        Attributed(replace(document, name=prefix + document.name), author, problem.language)
        for document, author in texts
    ], (known, unknown)


def _place(path: Path) -> str:
    return os.path.realpath(path)


def _prefix(path: Path) -> str:
    place = Path(_place(path))
    return f"{place.name if path.is_dir() else place.parent.name}/"


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError as error:
        raise CorpusError(f"{folder}: can't be read ({error.strerror}); check that you may read it") from None


def _visible(folder: Path) -> list[Path]:
    """What lies in a folder, but for what systems and packers leave there."""
    return [folder / name for name in _names(folder) if not name.startswith((".", "__"))]


def _text_files(folder: Path) -> list[Path]:
    return [child for child in pick_texts(filter(is_text, _visible(folder))) if child.name.lower() not in NO_TEXTS]


class Hands:
    """Which of the authors are one person, as it comes out."""

    def __init__(self, unclear: Iterable[tuple[Author, Author]] = ()) -> None:
        self._pairs = list(unclear)
        self._same: dict[Author, Author] = {}

    def of(self, author: Author) -> Author:
        """The one who stands for an author and all who are the same person."""
        while author in self._same:
            author = self._same[author]
        return author

    def join(self, author: Author, other: Author) -> None:
        """Both wrote the same text: they are one, or, where they have names of their own, may be."""
        author, other = self.of(author), self.of(other)
        if author == other:
            return
        if author.named and other.named:
            self._pairs.append((author, other))
        elif other.named:
            self._same[author] = other
        else:
            self._same[other] = author

    def names(self, authors: Iterable[Author]) -> dict[Author, str]:
        """A different name for each author."""
        names: dict[Author, str] = {}
        taken: set[str] = set()
        for author in sorted(dict.fromkeys(authors), key=lambda author: not author.named):
            name = author.name if author.named else f"{Path(author.place).name}/{author.name}"
            free = (name, *(f"{name} ({number})" for number in range(2, len(names) + 3)))
            names[author] = next(candidate for candidate in free if candidate not in taken)
            taken.add(names[author])
        return names

    def unclear(self, names: Mapping[Author, str]) -> frozenset[frozenset[str]]:
        """The pairs, by name, of whom it is unclear whether they are one."""
        pairs = ((self.of(first), self.of(second)) for first, second in self._pairs)
        return frozenset(
            frozenset((names[first], names[second]))
            for first, second in pairs
            if first != second and first in names and second in names
        )
