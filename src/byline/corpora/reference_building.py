"""Build reference populations from any corpora: read texts, identify their authors, leave out unsuitable texts.

Authors are known as far as the layout tells. The truth of problems is never read.
"""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from byline.corpora.documents import (
    Document,
    classify_path,
    collect_errors,
    is_text,
    list_visible,
    pick_texts,
    raise_together,
    read_document,
)
from byline.corpora.problems import NO_LANGUAGE, NOT_TEXTS, Problem, holds_problems, is_unknown, read_problems
from byline.corpora.reference import SHORTEST_TEXT, LeftOut, Reference, ReferenceText, is_reference, read_built
from byline.errors import CorpusError, TooLittleText, list_some
from byline.storage.files import restore_folder
from byline.text.languages import language_of, language_of_script
from byline.text.normalize import CAPITAL
from byline.text.shared_passages import find_borrowed, plain_form

log = logging.getLogger(__name__)

OUTPUTS = ("reference.json", "plan.json", "run/plan.json")
"""A folder with one of these was written by Byline and is not an author's."""
REMEDY = "Name a folder of texts, a corpus, or a text file"
ONE_LANGUAGE = "Name texts of one language, or give the language of all with {language}"
MANY_BORROWED = 0.1
"""If a larger share of the texts is left out because of shared passages, a warning shows one."""


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


def read_reference(path: Path, language: str | None = None) -> Reference:
    """Read a reference that was built, or build one from any corpus. `language` overrides what they say."""
    restore_folder(path)
    if not is_reference(path):
        return build_reference([path], language)
    reference = read_built(path)
    return replace(reference, language=language_of(language)) if language else reference


def build_reference(paths: Sequence[Path], language: str | None = None) -> Reference:
    """Build a reference from PAN folders, pairs, authors' folders, folders of texts, text files or other references.

    Identical texts count once, and their authors are taken to be the same person. Raise one CorpusError for all bad
    files.
    """
    if not paths:
        raise CorpusError("no texts are given", remedy=REMEDY)
    corpora = _Corpora(language)
    corpora.read_all(paths)
    raise_together(corpora.errors)
    return make_reference(corpora.texts, corpora.unclear_pairs, language, ", ".join(map(str, paths)))


def make_reference(
    texts: Sequence[LabeledText], unclear_pairs: Iterable[tuple[Author, Author]], language: str | None, where: str
) -> Reference:
    """Make a reference of texts with their authors: join authors of identical texts, leave out unsuitable texts."""
    language = language_of(language) if language else _find_language(texts)
    groups = _AuthorGroups(unclear_pairs)
    kept: dict[str, LabeledText] = {}
    short = repeated = 0
    for text in texts:
        plain = plain_form(text.document.text, language)
        if len(plain) < SHORTEST_TEXT:  # it does not make two authors one: everybody writes "thank you"
            short += 1
        elif plain in kept:
            repeated += 1
            groups.join(kept[plain].author, text.author)
        else:
            kept[plain] = text
    borrowed = _find_borrowed(kept, [groups.find(text.author) for text in kept.values()])
    sound = [(text, groups.find(text.author)) for plain, text in kept.items() if plain not in borrowed]
    if not sound:
        raise TooLittleText(
            f"none of {len(texts)} texts has {SHORTEST_TEXT} characters after normalizing",
            where=where,
            remedy="Add longer texts",
        )
    names = _name_authors(author for _, author in sound)
    return Reference(
        language,
        tuple(ReferenceText(_encodable(text.document), names[author]) for text, author in sound),
        groups.unclear_pairs(names),
        LeftOut(short, repeated, len(borrowed)),
    )


class _Corpora:
    """The texts of some corpora, pairs of authors who may be the same person, and errors of what can't be read."""

    def __init__(self, language: str | None) -> None:
        self.language = language
        self.texts: list[LabeledText] = []
        self.unclear_pairs: list[tuple[Author, Author]] = []
        self.errors: list[CorpusError] = []

    def read_all(self, paths: Sequence[Path]) -> None:
        """Read each path once. Text files of one folder are read as if they were all it holds."""
        places: dict[str, list[Path]] = {}
        for path in paths:
            restore_folder(path)
            with collect_errors(self.errors):
                loose = classify_path(path, REMEDY) == "file" and path.suffix.lower() != ".jsonl"
                place = os.path.realpath(path.parent) + "/*" if loose else os.path.realpath(path)
                files = places.setdefault(place, [])
                if not files or (loose and path not in files):
                    files.append(path)
        for place, files in places.items():
            with collect_errors(self.errors):
                if is_reference(files[0]):
                    self._read_reference(files[0])
                elif place.endswith("/*"):
                    self._read_loose_texts(files)
                else:
                    self._read_corpus(files[0], f"{_holder(files[0])}/" if len(places) > 1 else "")

    def _read_reference(self, folder: Path) -> None:
        """Read a built reference as a corpus. The names of its authors are taken for people's own."""
        built = read_built(folder)
        self.texts += (LabeledText(text.document, Author(text.author), built.language) for text in built.texts)
        for first, second in map(sorted, built.unclear_pairs):
            self.unclear_pairs.append((Author(first), Author(second)))

    def _read_corpus(self, path: Path, prefix: str) -> None:
        """Read a folder or a file of pairs; names of texts begin with the prefix.

        A folder may hold a folder for each author, plain texts, or problems: the known texts of a problem are by one
        author, and the unknown one is by another who may be the same.
        """
        if holds_problems(path):
            self._read_problems(path, prefix)
            return
        children = list_visible(path)
        below = (file for child in children for file in child.glob("*/*"))
        if any(is_unknown(file.name) for file in (*children, *below)):  # one level off
            read_problems(path)  # raises an error that says which folder to name
        self._read_folder(path, prefix)

    def _read_folder(self, folder: Path, prefix: str) -> None:
        """Read a folder of texts and of authors' folders."""
        texts, errors = len(self.texts), len(self.errors)
        self._read_loose_texts(_list_texts(folder), prefix)
        for child in list_visible(folder):
            if not child.is_dir():
                continue
            if any((child / name).exists() for name in OUTPUTS):
                log.warning("%s: ignored, Byline wrote it", child)
                continue
            if deeper := next((below for below in list_visible(child) if below.is_dir() and _list_texts(below)), None):
                what = "holds texts too deep to tell their authors"
                self.errors.append(CorpusError(what, where=deeper, remedy=f"Name {child}"))
            for file in _list_texts(child):
                self._read_text(file, Author(child.name), f"{prefix}{child.name}/{file.name}")
        if (texts, errors) == (len(self.texts), len(self.errors)):
            remedy = "Put texts there, or a folder of texts for each author"
            raise CorpusError("no texts found", where=folder, remedy=remedy)

    def _read_loose_texts(self, files: Sequence[Path], prefix: str = "") -> None:
        """Read texts of one folder, each by its own author, except that `Author_Title.txt` names one that two share."""
        heads = Counter(map(_head, files))
        if len(heads) == 1 and len(files) > 1 and (head := _head(files[0])):
            log.warning("%s: by their names, all texts there are by one author, %s", files[0].parent, head)
        for file in files:
            head = _head(file)
            shared = head and heads[head] > 1
            author = Author(head) if shared else Author(file.stem, os.path.realpath(file.parent))
            self._read_text(file, author, prefix + file.name)

    def _read_text(self, file: Path, author: Author, name: str) -> None:
        with collect_errors(self.errors):
            document = read_document(file, name)
            said = language_of(self.language) if self.language else language_of_script(document.text) or NO_LANGUAGE
            self.texts.append(LabeledText(document, author, said))

    def _read_problems(self, path: Path, prefix: str) -> None:
        corpus = read_problems(path, self.language)
        lines = (line for bad in corpus.bad_problems for line in bad.message.split("\n  "))
        self.errors += (CorpusError(prefix + line) for line in lines)
        for problem in corpus.problems:
            self._label(problem, os.path.realpath(path), prefix)

    def _label(self, problem: Problem, place: str, prefix: str) -> None:
        """Add a problem's texts and its two authors, who may be the same person."""
        sides = ("first", "second") if problem.symmetric else ("known", "unknown")
        known, unknown = (Author(f"{problem.id} {side}", place) for side in sides)
        self.unclear_pairs.append((known, unknown))
        for document in (*problem.known, problem.unknown):
            author = unknown if document is problem.unknown else known
            named = replace(document, name=prefix + document.name)
            self.texts.append(LabeledText(named, author, problem.language))


def _holder(path: Path) -> str:
    """Return the name of a folder, or of the folder that a file is in."""
    place = Path(os.path.realpath(path))
    return place.name if path.is_dir() else place.parent.name


def _head(file: Path) -> str:
    """Return the author in `Author_Title.txt`, or an empty string; a number is no author."""
    head, underscore, _ = file.stem.partition("_")
    return head if underscore and any(letter.isalpha() for letter in head) else ""


def _list_texts(folder: Path) -> list[Path]:
    return [child for child in pick_texts(filter(is_text, list_visible(folder))) if child.name.lower() not in NOT_TEXTS]


class _AuthorGroups:
    """Groups of authors that turn out to be the same person."""

    def __init__(self, unclear_pairs: Iterable[tuple[Author, Author]]) -> None:
        self._pairs = list(unclear_pairs)
        self._same: dict[Author, Author] = {}

    def find(self, author: Author) -> Author:
        """Return the author who represents the group of this one."""
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

    def unclear_pairs(self, names: Mapping[Author, str]) -> frozenset[frozenset[str]]:
        """Return the pairs of authors who may be the same person, by name."""
        pairs = ({self.find(first), self.find(second)} for first, second in self._pairs)
        return frozenset(
            frozenset(names[author] for author in pair) for pair in pairs if len(pair) == 2 and pair <= names.keys()
        )


def _name_authors(authors: Iterable[Author]) -> dict[Author, str]:
    """Return a different name for each author."""
    names: dict[Author, str] = {}
    taken: set[str] = set()
    for author in sorted(dict.fromkeys(authors), key=lambda author: not author.named):
        name = author.name if author.named else f"{Path(author.place).name}/{author.name}"
        candidates = (name, *(f"{name} ({number})" for number in range(2, len(names) + 3)))
        names[author] = next(candidate for candidate in candidates if candidate not in taken)
        taken.add(names[author])
    return names


def _find_language(texts: Sequence[LabeledText]) -> str:
    """Return the language of all texts; if only a text's script is known, it is of the one language in that script."""
    scripts = [language_of_script(text.document.text) for text in texts]
    named = {(text.language, script) for text, script in zip(texts, scripts, strict=True) if text.language != script}
    names: dict[str, list[str]] = {}
    for text, script in zip(texts, scripts, strict=True):
        candidates = {language for language, used in named if used == script}
        only_script = text.language == script and len(candidates) == 1
        names.setdefault(candidates.pop() if only_script else text.language, []).append(text.document.name)
    names.pop(NO_LANGUAGE, None)
    if len(names) > 1:
        rows = [f"{language}: {list_some(those)}" for language, those in sorted(names.items())]
        raise CorpusError(
            "\n  ".join(["the texts are in several languages:", *rows]),
            remedy=ONE_LANGUAGE,
        )
    return next(iter(names), NO_LANGUAGE)


def _find_borrowed(kept: dict[str, LabeledText], authors: Sequence[Author]) -> set[str]:
    """Return the texts, in plain form, that share a passage with an earlier one by another author."""
    plain, titles = list(kept), [text.document.name for text in kept.values()]
    number_of = {author: number for number, author in enumerate(dict.fromkeys(authors))}
    borrowed = find_borrowed(plain, [number_of[author] for author in authors])
    example = ""
    for number, (source, passage) in borrowed.items():
        shared = f"{titles[number]} with {titles[source]}: {passage.replace(CAPITAL, '')}"
        log.debug("left out, because it shares a passage: %s", shared)
        example = example or shared
    if len(borrowed) > MANY_BORROWED * len(plain):
        log.warning(
            "%d of %d texts are left out, because they share passages with others, such as %s."
            " If that is a heading or the like, remove it from the texts",
            len(borrowed), len(plain), example,
        )  # fmt: skip
    return {plain[number] for number in borrowed}


def _encodable(document: Document) -> Document:
    """Drop lone surrogates, which JSON can hold and UTF-8 can't."""
    return replace(document, text=document.text.encode("utf-8", "ignore").decode())
