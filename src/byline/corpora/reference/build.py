"""Building a reference population from any corpora: read the texts, tell their authors apart, leave out bad texts."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from byline.corpora.documents import Document, classify_path, raise_together
from byline.corpora.problems import NO_LANGUAGE
from byline.corpora.reference.authorship import (
    REMEDY,
    Author,
    AuthorGroups,
    AuthorLabels,
    LabeledText,
    read_author_labels,
    read_loose_texts,
)
from byline.corpora.reference.folder import is_reference, read_built
from byline.corpora.reference.population import SHORTEST_TEXT, LeftOut, Reference, ReferenceText
from byline.errors import CorpusError, TooLittleText, list_some
from byline.storage.files import restore_folder
from byline.text.languages import language_of, language_of_script
from byline.text.normalize import CAPITAL
from byline.text.shared_passages import find_borrowed, plain_form

log = logging.getLogger(__name__)

ONE_LANGUAGE = "Name texts of one language, or give the language of all with {language}"
MANY_BORROWED = 0.1
"""If a larger share of the texts is left out because of shared passages, a warning shows one."""


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
    found = _read_all(paths, language)
    raise_together(found.errors)
    language = language_of(language) if language else _find_language(found.texts)
    groups = AuthorGroups(found.unclear_pairs)
    kept: dict[str, LabeledText] = {}
    short = repeated = 0
    for text in found.texts:
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
            f"none of {len(found.texts)} texts has {SHORTEST_TEXT} characters after normalizing",
            where=", ".join(map(str, paths)),
            remedy="Add longer texts",
        )
    names = groups.names(author for _, author in sound)
    return Reference(
        language,
        tuple(ReferenceText(_encodable(text.document), names[author]) for text, author in sound),
        groups.unclear_pairs(names),
        LeftOut(short, repeated, len(borrowed)),
    )


def _read_all(paths: Sequence[Path], language: str | None) -> AuthorLabels:
    """Read each path once. Text files of one folder are read as if they were all it holds."""
    places: dict[str, list[Path]] = {}
    found = AuthorLabels()
    for path in paths:
        restore_folder(path)
        try:
            loose = classify_path(path, REMEDY) == "file" and path.suffix.lower() != ".jsonl"
        except CorpusError as error:
            found += AuthorLabels(errors=(error,))
            continue
        place = os.path.realpath(path.parent) + "/*" if loose else os.path.realpath(path)
        files = places.setdefault(place, [])
        if not files or (loose and path not in files):
            files.append(path)
    for place, files in places.items():
        if is_reference(files[0]):
            found += _read_reference(files[0])
        elif place.endswith("/*"):
            found += read_loose_texts(files, language)
        else:
            found += read_author_labels(files[0], language, qualified=len(places) > 1)
    return found


def _read_reference(folder: Path) -> AuthorLabels:
    """Read a built reference as a corpus. The names of its authors are taken for people's own."""
    try:
        built = read_built(folder)
    except CorpusError as error:
        return AuthorLabels(errors=(error,))
    texts = tuple(LabeledText(text.document, Author(text.author), built.language) for text in built.texts)
    pairs = (sorted(pair) for pair in built.unclear_pairs)
    return AuthorLabels(texts, tuple((Author(first), Author(second)) for first, second in pairs))


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
