"""A reference population out of whatever corpora there are: read, told apart, cleaned."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from byline.documents import Document, look_at
from byline.errors import CorpusError, TooLittleText, listing
from byline.languages import language_of, language_of_script
from byline.normalise import CAPITAL
from byline.passages import find_borrowed, plain_form
from byline.reference.authorship import (
    NO_LANGUAGE,
    REMEDY,
    Attributed,
    Attributions,
    Author,
    Hands,
    read_attributions,
    read_plain,
)
from byline.reference.folder import is_reference, read_built
from byline.reference.texts import SHORTEST_TEXT, LeftOut, Reference, ReferenceText
from byline.storage import put_back

log = logging.getLogger(__name__)

MANY = 0.1
"""Where this share of the texts is left out for passages that others have too, a warning shows one."""


def read_reference(path: Path, language: str | None = None) -> Reference:
    """A reference that was built, or one made of any corpus on the spot; `language` overrides what they say."""
    put_back(path)
    if not is_reference(path):
        return build_reference([path], language)
    reference = read_built(path)
    return replace(reference, language=language_of(language)) if language else reference


def build_reference(paths: Sequence[Path], language: str | None = None) -> Reference:
    """The texts of PAN folders, pairs, authors' folders, folders of texts, text files or other references, cleaned.

    A text that occurs again is one text, and whoever wrote it here wrote it there. Bad files are raised together.
    """
    if not paths:
        raise CorpusError(f"no texts are named; {REMEDY}")
    found = _read_all(paths, language)
    if found.offences:
        raise CorpusError(listing(found.offences, "these can't be used"))
    spoken = language_of(language) if language else _one_language(found.texts)
    hands = Hands(found.unclear)
    kept: dict[str, Attributed] = {}
    short = repeated = 0
    for text in found.texts:
        plain = plain_form(text.document.text, spoken)
        if len(plain) < SHORTEST_TEXT:  # it makes no two authors one: everybody writes "thank you"
            short += 1
        elif plain in kept:
            repeated += 1
            hands.join(kept[plain].author, text.author)
        else:
            kept[plain] = text
    authors = [hands.of(text.author) for text in kept.values()]
    borrowed = _leave_out_borrowed(kept, authors)
    sound = [(text, hands.of(text.author)) for plain, text in kept.items() if plain not in borrowed]
    if not sound:
        raise TooLittleText(
            f"{', '.join(map(str, paths))}: none of {len(found.texts)} texts has {SHORTEST_TEXT} characters"
            " after normalising; add longer ones"
        )
    names = hands.names(author for _, author in sound)
    return Reference(
        spoken,
        tuple(ReferenceText(_writable(text.document), names[author]) for text, author in sound),
        hands.unclear(names),
        LeftOut(short, repeated, len(borrowed)),
    )


def _read_all(paths: Sequence[Path], language: str | None) -> Attributions:
    """Everything at some paths, each place once; text files side by side are read like a folder that holds them."""
    places: dict[str, list[Path]] = {}
    found = Attributions()
    for path in paths:
        put_back(path)
        try:
            alone = look_at(path, REMEDY) == "file" and path.suffix.lower() != ".jsonl"
        except CorpusError as error:
            found += Attributions(offences=(str(error),))
            continue
        place = os.path.realpath(path.parent) + "/*" if alone else os.path.realpath(path)
        files = places.setdefault(place, [])
        if not files or (alone and path not in files):
            files.append(path)
    for place, files in places.items():
        if is_reference(files[0]):
            found += _read_reference(files[0])
        elif place.endswith("/*"):
            found += read_plain(files, language)
        else:
            found += read_attributions(files[0], language, qualified=len(places) > 1)
    return found


def _read_reference(folder: Path) -> Attributions:
    """A built reference as a corpus; its authors' names are taken for people's own."""
    try:
        built = read_built(folder)
    except CorpusError as error:
        return Attributions(offences=(str(error),))
    texts = tuple(Attributed(text.document, Author(text.author), built.language) for text in built.texts)
    pairs = (sorted(pair) for pair in built.unclear)
    return Attributions(texts, tuple((Author(first), Author(second)) for first, second in pairs))


def _one_language(texts: Sequence[Attributed]) -> str:
    """The language of all; a text of which only the script is known is of the one language that is written in it."""
    scripts = [language_of_script(text.document.text) for text in texts]
    named = {(text.language, script) for text, script in zip(texts, scripts, strict=True) if text.language != script}
    names: dict[str, list[str]] = {}
    for text, script in zip(texts, scripts, strict=True):
        candidates = {language for language, used in named if used == script}
        only_script = text.language == script and len(candidates) == 1
        names.setdefault(candidates.pop() if only_script else text.language, []).append(text.document.name)
    names.pop(NO_LANGUAGE, None)
    if len(names) > 1:
        rows = [
            f"{language}: {', '.join(those[:3])}" + (f" and {len(those) - 3} more" if len(those) > 3 else "")
            for language, those in sorted(names.items())
        ]
        heading = "texts of several languages; name those of one, or say with --language what all are:"
        raise CorpusError("\n  ".join([heading, *rows]))
    return next(iter(names), NO_LANGUAGE)


def _leave_out_borrowed(kept: dict[str, Attributed], authors: Sequence[Author]) -> set[str]:
    """The texts, in plain form, that share a passage with an earlier one by another author."""
    plain, texts = list(kept), list(kept.values())
    number_of = {author: number for number, author in enumerate(dict.fromkeys(authors))}
    borrowed = find_borrowed(plain, [number_of[author] for author in authors])
    for number, shared in borrowed.items():
        passage, other = shared.passage.replace(CAPITAL, ""), texts[shared.other].document.name
        log.debug("%s: left out, %s has a passage of it: %s", texts[number].document.name, other, passage)
    if len(borrowed) > MANY * len(plain):
        number, shared = next(iter(borrowed.items()))
        log.warning(
            "%d of %d texts are left out, for they share passages with others, such as %s with %s: %s;"
            " if that is a heading or the like, remove it from the texts",
            len(borrowed),
            len(plain),
            texts[number].document.name,
            texts[shared.other].document.name,
            shared.passage.replace(CAPITAL, ""),
        )
    return {plain[number] for number in borrowed}


def _writable(document: Document) -> Document:
    """The document without halves of characters, which JSON can hold and UTF-8 can't."""
    return replace(document, text=document.text.encode("utf-8", "ignore").decode())
