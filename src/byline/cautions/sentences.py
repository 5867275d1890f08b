"""What is to be said of one problem: each function gives a caution, or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from byline.cautions.genres import LIMIT, compare_manners, read_manner
from byline.cautions.tongues import WORDS, tell_language
from byline.cautions.values import SHORT, Caution, Passage, list_some
from byline.languages import language_of_script
from byline.passages import PASSAGE
from byline.problems import Problem
from byline.quotations import GAP, MOSTLY, Omission, Overlaps

QUOTED = 200
"""Characters of a shared passage that are quoted."""


def speak_of_languages(problem: Problem) -> list[Caution]:
    """Whether the texts are of different scripts or languages, or of another than the corpus says."""
    documents, titles = (problem.unknown, *problem.known), titles_of(problem)
    scripts = [language_of_script(document.text) for document in documents]
    if len({*scripts} - {None}) > 1:
        said = _list_by_value(scripts, titles, "in {} letters")
        text = f"The texts are written in different letters: {said}. They can hardly be compared."
        return [Caution("language", text)]
    told = [tell_language(document.text) for document in documents]
    languages = {language for language in told if language is not None}
    if len(languages) > 1:
        said = _list_by_value([language and language.capitalize() for language in told], titles, "in {}")
        text = f"The texts seem to be in different languages: {said}. They can hardly be compared."
        return [Caution("language", text)]
    if languages and problem.language in {*WORDS, "greek"} - languages:
        (language,) = languages
        text = (
            f"The texts seem to be in {language.capitalize()}, but are taken as {problem.language.capitalize()}; if"
            " that is wrong, name the language with --language."
        )
        return [Caution("language", text)]
    return []


def speak_of_passages(problem: Problem, overlaps: Overlaps) -> list[Caution]:
    """Whether the two sides share passages, and where."""
    if not overlaps.passages:
        return []
    titles, text = titles_of(problem), problem.unknown.text
    shared = overlaps.passages[0]
    length = sum(end - begin for begin, end in shared)
    share = length / len(text)
    with_whom = list_some(titles[number] for number in overlaps.passages if number)
    count = f"{len(shared)} passage{'s' * (len(shared) != 1)} of {PASSAGE} characters or more"
    mostly = "most of it" if share >= MOSTLY else f"{share:.0%} of it"
    said = (
        f"{titles[0]} shares {count} word for word with {with_whom} ({length:,} characters, {mostly}). A quotation or a"
        " copy is no evidence of authorship; --mask-shared leaves such passages out."
    )
    places = tuple(Passage(number, *each) for number, own in overlaps.passages.items() for each in own)
    return [Caution("shared", said, places, tuple(quote(text[begin:end]) for begin, end in shared))]


def speak_of_kinds(problem: Problem, stranger: bool) -> list[Caution]:
    """Whether the two sides look like different kinds of text, by themselves or as a `stranger` among others does."""
    known = read_manner([document.text for document in problem.known], problem.language)
    unknown = read_manner([problem.unknown.text], problem.language)
    said = None
    if known is not None and unknown is not None and (difference := compare_manners(known, unknown)).score > LIMIT:
        said = f"look like different kinds of text: {'; '.join(difference.said)}"
    elif stranger:
        said = (
            "resemble different other texts of this run: they seem to be of different kinds, or on different subjects"
        )
    means = "Texts of different kinds can differ more than two authors do."
    return [Caution("kind", f"The known and the unknown side {said}. {means}")] if said else []


def speak_of_length(problem: Problem) -> list[Caution]:
    """Whether a side is short."""
    unknown, known = len(problem.unknown.text), sum(len(document.text) for document in problem.known)
    together = " together" if len(problem.known) > 1 else ""
    sides = (("unknown", unknown, ""), ("known", known, together))
    short = [f"the {side} side has {count:,} characters{more}" for side, count, more in sides if count < SHORT]
    if not short:
        return []
    said = f"Very short: {' and '.join(short)}. Below {SHORT:,} the evidence is weak, whichever way it points."
    return [Caution("short", said)]


def speak_of_repeats(problem: Problem, overlaps: Overlaps) -> list[Caution]:
    """Whether known texts repeat each other, or the unknown one."""
    titles = titles_of(problem)
    said = [f"{titles[number]} is the unknown text itself, and is left out" for number in overlaps.copies]
    for number, other, share in overlaps.repeats:
        if share == 1:
            said.append(f"{titles[number]} is the same text as {titles[other]}, and counts once")
        else:
            said.append(f"{titles[number]} is mostly ({share:.0%}) the same as {titles[other]}, and adds little")
    return [Caution("repeated", f"{'; '.join(said)}.")] if said else []


def speak_of_omissions(omissions: Sequence[Omission]) -> list[Caution]:
    """What was left out before."""
    if not omissions:
        return []
    said = []
    for each in omissions:
        count = len(each.passages)
        what = "all of it" if each.whole else f"{count} passage{'s' * (count != 1)}"
        said.append(f"of {_file_name(each.name)} {what} ({each.characters:,} characters)")
    text = (
        f"Left out before anything was learnt, since both sides have it: {'; '.join(said)}. {GAP} stands for a passage."
        " Places in these texts, and their hashes, are those of what is left."
    )
    quotes = dict.fromkeys(quote(passage) for each in omissions for passage in each.passages)
    return [Caution("masked", text, quotes=tuple(quotes))]


def titles_of(problem: Problem) -> list[str]:
    """What the texts are called, the unknown one first: names of files without folders, if they are clear so."""
    names = [document.name for document in (problem.unknown, *problem.known)]
    short = [_file_name(name) for name in names]
    return short if len(set(short)) == len(short) else names


def _file_name(name: str) -> str:
    return PurePath(name).name or name


def _list_by_value(values: Sequence[str | None], titles: Sequence[str], what: str) -> str:
    """Which texts are what; those that are nothing are left out."""
    found: dict[str, list[str]] = {}
    for value, title in zip(values, titles, strict=True):
        if value is not None:
            found.setdefault(value, []).append(title)
    return ", ".join(f"{list_some(names)} {what.format(value)}" for value, names in found.items())


def quote(passage: str) -> str:
    """How a passage begins, on one line."""
    line = " ".join(passage.split())
    return line if len(line) <= QUOTED else f"{line[:QUOTED].rstrip()}…"
