"""Find the cautions of problems: each check returns a caution or None."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath

from byline.corpora.documents import Document
from byline.corpora.overlaps import GAP, REPEATED_SHARE, Overlap, RemovedPassages, find_overlap
from byline.corpora.problems import Problem
from byline.corpora.reference import Reference
from byline.errors import list_some
from byline.judgment.checks.cautions import KINDS, SHORT, Caution, Cautions, TextSpan
from byline.judgment.checks.genre import LIMIT, MAX_CORRELATION, compare_kinds, compare_styles, measure_style
from byline.judgment.checks.reference_suitability import check_reference
from byline.text.languages import WORDS, detect_language, language_of_script
from byline.text.shared_passages import PASSAGE

QUOTED = 200
"""The number of characters of a shared passage that are quoted."""


def find_cautions(
    problems: Sequence[Problem],
    reference: Reference | None = None,
    control: Sequence[Document] = (),
    omissions: Mapping[str, Sequence[RemovedPassages]] | None = None,
) -> Cautions:
    """Find the cautions of problems that are compared with each other, a reference or a control corpus.

    `omissions` tells what was left out of the problems before, by id. The time grows linearly: about two seconds for a
    thousand problems of 2,000 characters a side, and some seconds for a reference.
    """
    check = check_reference(reference, problems) if reference is not None else None
    mismatched, run = _find_mismatches(problems) if reference is None else (frozenset[str](), [])
    others = {
        "The reference": [text.document for text in reference.texts] if reference is not None else [],
        "The control corpus": control,
    }
    run += [caution for name, texts in others.items() if (caution := _compare_languages(problems, texts, name))]
    if check is not None and check.grade != "good" and len(problems) > 1:
        text = f"The reference: {check.texts} texts by {check.authors} people. {check.verdict}"
        run.append(Caution("reference", text))
    fits = {each.id: each for each in check.problems if each.grade != "good"} if check else {}
    order = list(KINDS)
    by_problem: dict[str, tuple[Caution, ...]] = {}
    for problem in problems:
        overlaps = find_overlap(problem)
        found = [
            check_languages(problem),
            check_shared_passages(problem, overlaps),
            check_kinds(problem, problem.id in mismatched),
            check_length(problem),
            check_repeats(problem, overlaps),
            check_omissions((omissions or {}).get(problem.id, ())),
        ]
        if problem.id in fits:
            found.append(Caution("reference", f"For this question the reference is {fits[problem.id].verdict}."))
        if own := [caution for caution in found if caution is not None]:
            by_problem[problem.id] = tuple(sorted(own, key=lambda caution: order.index(caution.kind)))
    return Cautions(tuple(run), by_problem, check)


def _find_mismatches(problems: Sequence[Problem]) -> tuple[frozenset[str], list[Caution]]:
    """Return the problems whose sides resemble different other texts, if most do, and cautions about that."""
    by_language: dict[str, list[Problem]] = {}
    for problem in problems:
        by_language.setdefault(problem.language, []).append(problem)
    mismatched: set[str] = set()
    cautions = []
    for own in by_language.values():
        comparison = compare_kinds(own)
        if comparison is None or not comparison.mismatched:
            continue
        pairs = zip(own, comparison.correlations, strict=True)
        mismatched |= {problem.id for problem, correlation in pairs if correlation < MAX_CORRELATION}
        text = (
            "In most problems the known and the unknown texts resemble different other texts of this run (median"
            f" correlation {comparison.median:.2f}). They seem to be of different kinds, or on different subjects."
            " Answers then depend on the kind as much as on the author."
        )
        cautions.append(Caution("kind", text))
    return frozenset(mismatched), cautions


def _compare_languages(problems: Sequence[Problem], others: Sequence[Document], name: str) -> Caution | None:
    """Check whether most of the texts that problems are compared with are in another language."""
    counts = Counter(language for document in others if (language := detect_language(document.text)))
    expected = {problem.language for problem in problems} & WORDS.keys()
    if not counts or not expected:
        return None
    language, count = counts.most_common(1)[0]
    if language in expected or count * 2 < len(others):
        return None
    taken = " and ".join(each.capitalize() for each in sorted(expected))
    seems = f"{name} seems to be in {language.capitalize()} ({count} of {len(others)} texts)"
    return Caution("language", f"{seems}, but the problems are taken as {taken}.")


def check_languages(problem: Problem) -> Caution | None:
    """Check whether the texts are in different scripts or languages, or in another than the corpus states."""
    documents, titles = (problem.unknown, *problem.known), text_titles(problem)
    scripts = [language_of_script(document.text) for document in documents]
    if len({*scripts} - {None}) > 1:
        which = _group_titles(scripts, titles, "in {} letters")
        return Caution("language", f"The texts are in different scripts: {which}. They can hardly be compared.")
    detected = [detect_language(document.text) for document in documents]
    languages = {language for language in detected if language is not None}
    if len(languages) > 1:
        which = _group_titles([language and language.capitalize() for language in detected], titles, "in {}")
        return Caution(
            "language", f"The texts seem to be in different languages: {which}. They can hardly be compared."
        )
    if languages and problem.language in {*WORDS, "greek"} - languages:
        (language,) = languages
        text = f"The texts seem to be in {language.capitalize()}, but are taken as {problem.language.capitalize()}."
        return Caution("language", f"{text} If that is wrong, the language has to be set.")
    return None


def check_shared_passages(problem: Problem, overlaps: Overlap) -> Caution | None:
    """Check whether the two sides share passages."""
    if not overlaps.passages:
        return None
    titles, text = text_titles(problem), problem.unknown.text
    shared = overlaps.passages[0]
    length = sum(end - begin for begin, end in shared)
    share = length / len(text)
    others = list_some(titles[number] for number in overlaps.passages if number)
    count = f"{len(shared)} passage{'s' * (len(shared) != 1)} of {PASSAGE} characters or more"
    extent = "most of it" if share >= REPEATED_SHARE else f"{share:.0%} of it"
    message = (
        f"{titles[0]} shares {count} word for word with {others} ({length:,} characters, {extent}). A quotation or a"
        " copy is no evidence of authorship. The problem can be answered again without such passages."
    )
    spans = tuple(TextSpan(number, *each) for number, own in overlaps.passages.items() for each in own)
    return Caution("shared", message, spans, tuple(quote(text[begin:end]) for begin, end in shared))


def check_kinds(problem: Problem, mismatched: bool) -> Caution | None:
    """Check whether the two sides look like different kinds of text, or are `mismatched` (see genre.py)."""
    known = measure_style([document.text for document in problem.known], problem.language)
    unknown = measure_style([problem.unknown.text], problem.language)
    if known is not None and unknown is not None and (difference := compare_styles(known, unknown)).score > LIMIT:
        found = f"look like different kinds of text: {'; '.join(difference.strongest)}"
    elif mismatched:
        found = (
            "resemble different other texts of this run: they seem to be of different kinds, or on different subjects"
        )
    else:
        return None
    return Caution(
        "kind",
        f"The known and the unknown side {found}. Texts of different kinds can differ more than those of two authors.",
    )


def check_length(problem: Problem) -> Caution | None:
    """Check whether a side is short."""
    unknown, known = len(problem.unknown.text), sum(len(document.text) for document in problem.known)
    together = " together" if len(problem.known) > 1 else ""
    sides = (("unknown", unknown, ""), ("known", known, together))
    short = [f"the {side} side has {count:,} characters{more}" for side, count, more in sides if count < SHORT]
    if not short:
        return None
    text = f"Very short: {' and '.join(short)}. Below {SHORT:,} the evidence is weak, whichever way it points."
    return Caution("short", text)


def check_repeats(problem: Problem, overlaps: Overlap) -> Caution | None:
    """Check whether known texts repeat each other, or the unknown one."""
    titles = text_titles(problem)
    found = [f"{titles[number]} is the unknown text itself, and is left out" for number in overlaps.copies]
    for number, other, share in overlaps.repeats:
        if share == 1:
            found.append(f"{titles[number]} is the same text as {titles[other]}, and counts once")
        else:
            found.append(f"{titles[number]} is mostly ({share:.0%}) the same as {titles[other]}, and adds little")
    return Caution("repeated", f"{'; '.join(found)}.") if found else None


def check_omissions(omissions: Sequence[RemovedPassages]) -> Caution | None:
    """Report what was left out of the texts before."""
    if not omissions:
        return None
    found = []
    for each in omissions:
        count = len(each.passages)
        what = "all of it" if each.whole else f"{count} passage{'s' * (count != 1)}"
        found.append(f"of {_file_name(each.name)} {what} ({each.characters:,} characters)")
    text = (
        f"Left out before training, because both sides share it: {'; '.join(found)}. {GAP} stands for a passage."
        " Positions in these texts, and their hashes, refer to what is left."
    )
    quotes = dict.fromkeys(quote(passage) for each in omissions for passage in each.passages)
    return Caution("masked", text, quotes=tuple(quotes))


def text_titles(problem: Problem) -> list[str]:
    """Return the names of the texts, the unknown one first; without folders if they are unique."""
    names = [document.name for document in (problem.unknown, *problem.known)]
    short = [_file_name(name) for name in names]
    return short if len(set(short)) == len(short) else names


def _file_name(name: str) -> str:
    return PurePath(name).name or name


def _group_titles(values: Sequence[str | None], titles: Sequence[str], phrase: str) -> str:
    """List the texts by value; those without one are left out."""
    found: dict[str, list[str]] = {}
    for value, title in zip(values, titles, strict=True):
        if value is not None:
            found.setdefault(value, []).append(title)
    return ", ".join(f"{list_some(names)} {phrase.format(value)}" for value, names in found.items())


def quote(passage: str) -> str:
    """Return the beginning of a passage on one line."""
    line = " ".join(passage.split())
    return line if len(line) <= QUOTED else f"{line[:QUOTED].rstrip()}…"
