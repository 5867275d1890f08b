"""Verification problems: folders of known and unknown texts (PAN 2013-15), or pairs in JSON lines (PAN 2020-23).

Nothing here opens a truth file: see answers.py.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from pathlib import Path
from typing import Literal

from byline.corpora.documents import (
    Document,
    classify_path,
    collect_errors,
    find_duplicates,
    find_texts,
    has_text_name,
    list_folder,
    list_visible,
    read_document,
    read_documents,
    read_json,
    read_json_lines,
)
from byline.corpora.formats.extraction import LARGEST_TEXT, TOO_LARGE
from byline.errors import CorpusError, list_some, listing
from byline.text.languages import FOREIGN, language_of, language_of_id, language_of_script

log = logging.getLogger(__name__)

Layout = Literal["folders", "pairs"]
ANSWER_FILES: Mapping[Layout, str] = {"folders": "answers.txt", "pairs": "answers.jsonl"}
"""The name of the answers file for each layout of problems."""
NOT_TEXTS = ("truth.txt", "answers.txt")
NO_LANGUAGE = "unknown"
"""The language of a text without letters."""
Collection = Literal["english", "greek"]

_KNOWN = re.compile(r"known\d*\.\w+", re.IGNORECASE)
_UNKNOWN = re.compile(r"unknown\d*\.\w+", re.IGNORECASE)
REPAIR_CONTENTS = "Repair it, or remove it and give {language}"
_PAIR = '{"id": "1", "pair": ["text", "text"]}'


@dataclass(frozen=True)
class Problem:
    """One question: did the author of the known texts write the unknown one?"""

    id: str
    known: tuple[Document, ...]
    unknown: Document
    language: str
    symmetric: bool = False
    """A pair: each text is known once and unknown once, and the two answers are averaged."""


@dataclass(frozen=True)
class BadProblem:
    """A problem that can't be used, and why; `id` is None if not even that could be read."""

    id: str | None
    message: str


@dataclass(frozen=True)
class ProblemSet:
    """The problems of a corpus, and those that can't be used."""

    problems: tuple[Problem, ...]
    layout: Layout
    bad_problems: tuple[BadProblem, ...] = ()

    def by_language(self) -> dict[str, list[Problem]]:
        """Return the problems of each language, languages in alphabetical order."""
        groups: dict[str, list[Problem]] = {}
        for problem in self.problems:
            groups.setdefault(problem.language, []).append(problem)
        return dict(sorted(groups.items()))


@contextmanager
def builtin_problems(collection: Collection = "english") -> Iterator[Path]:
    """Provide the folder of a built-in PAN corpus with truth, written for this project by invented authors.

    The English one has 12 authors; the Greek one is smaller.
    """
    with as_file(files("byline.corpora") / "texts" / collection) as folder:
        yield folder


def read_problems(path: Path | str, language: str | None = None) -> ProblemSet:
    """Read the problems in a PAN folder, a folder with a pairs.jsonl, or a .jsonl file, sorted by id.

    `language` overrides what the corpus says. Problems that can't be used are returned as `bad_problems`.
    """
    path = Path(path)
    remedy = "Name a folder of problems or a pairs.jsonl file"
    if classify_path(path, remedy) == "file":
        if path.suffix.lower() != ".jsonl":
            raise CorpusError("is not a .jsonl file", where=path, remedy=remedy)
        return _read_pairs(path, language)
    if pairs := find_file(path, "pairs.jsonl"):
        return _read_pairs(pairs, language)
    return _read_folders(path, language)


def require_sound(bad_problems: Sequence[BadProblem]) -> None:
    """Raise one CorpusError that lists all bad problems, if there are any."""
    if bad_problems:
        raise CorpusError(listing([bad.message for bad in bad_problems], "these can't be used"))


def read_question(known: Sequence[Path], unknown: Path, language: str) -> ProblemSet:
    """Read one question from files: did the same author write the known texts and the unknown one?"""
    documents = read_documents((path, None) for path in (*known, unknown))
    problem = Problem("question", tuple(documents[:-1]), documents[-1], language)
    _warn_of_other_script([problem])
    return ProblemSet((problem,), "folders")


def read_texts(path: Path) -> list[Document]:
    """Read all different texts below a folder, of a corpus, of a file of pairs, or one text file.

    Raise one CorpusError for all bad files.
    """
    kind = classify_path(path, "Name a folder of texts")
    if path.suffix.lower() == ".jsonl" or (kind == "folder" and find_file(path, "pairs.jsonl")):
        pairs = read_problems(path)
        require_sound(pairs.bad_problems)
        documents = [document for problem in pairs.problems for document in (*problem.known, problem.unknown)]
    elif kind == "file":
        documents = read_documents([(path, path.name)])
    else:
        runs = {plan.parent for plan in path.rglob("plan.json")}  # outputs of earlier runs
        found = [
            file for file in find_texts(path) if file.name.lower() not in NOT_TEXTS and runs.isdisjoint(file.parents)
        ]
        if not found:
            raise CorpusError("no texts found", where=path, remedy="Put texts there, such as .txt or .docx files")
        documents = read_documents((file, str(file.relative_to(path))) for file in found)
    distinct = {document.text: document for document in documents}
    return list(distinct.values())


def holds_problems(path: Path) -> bool:
    """Whether a path is a corpus of problems and not only texts."""
    if classify_path(path, "Name a text file, a folder of texts, or a corpus") == "file":
        return path.suffix.lower() == ".jsonl"
    return bool(find_file(path, "pairs.jsonl")) or any(is_unknown(file.name) for file in path.glob("*/*"))


def is_unknown(name: str) -> bool:
    """Whether a file of this name is a problem's unknown text."""
    return _UNKNOWN.fullmatch(name) is not None and has_text_name(name)


def find_file(folder: Path, name: str) -> Path | None:
    """Return the file of this name in a folder, ignoring case."""
    return next((child for child in list_folder(folder) if child.name.lower() == name and child.is_file()), None)


def _read_folders(folder: Path, language: str | None) -> ProblemSet:
    """Read a PAN 2013-15 corpus: a folder for each problem, and perhaps contents.json."""
    said, listed = _read_contents(folder)
    found = [child for child in list_visible(folder) if child.is_dir()]
    if not any(is_unknown(file.name) for file in folder.glob("*/*")):
        _check_level(folder, found)
    bad: list[BadProblem] = []
    names = {child.name for child in found}
    if listed and listed.isdisjoint(names):
        log.warning("%s: contents.json names none of the folders there, so its list of problems is ignored", folder)
        listed = frozenset()
    for name in sorted(listed - names):
        message = f"{name}: contents.json names it, but there is no such folder. Add it or remove the name"
        bad.append(BadProblem(name, message))
    problems: list[Problem] = []
    for child in found:
        try:
            inside = [file for file in list_folder(child) if not file.is_dir()]
            known = [file for file in inside if _KNOWN.fullmatch(file.name) and has_text_name(file.name)]
            unknown = [file for file in inside if is_unknown(file.name)]
            if not known and not unknown and (_holds_run(child) or (listed and child.name not in listed)):
                log.warning("%s: ignored, it holds no problem", child)
                continue
            others = [file.name for file in inside if file not in (*known, *unknown)]
            problems.append(_read_folder(child.name, known, unknown, others, language or said))
        except CorpusError as error:
            bad.append(BadProblem(child.name if _is_id(child.name) else None, str(error)))
    if not problems and not bad:
        remedy = "It should hold folders such as EN001 with known01.txt and unknown.txt, or a file pairs.jsonl"
        raise CorpusError("no problems found", where=folder, remedy=remedy)
    return _make_problem_set(problems, "folders", bad)


def _read_contents(folder: Path) -> tuple[str | None, frozenset[str]]:
    """Return the language and the names of problems in contents.json, as far as it tells them."""
    path = find_file(folder, "contents.json")
    if path is None:
        return None, frozenset()
    contents = read_json(path)
    if not isinstance(contents, dict):
        raise CorpusError("is not a JSON object", where=path, remedy=REPAIR_CONTENTS)
    language, problems = contents.get("language"), contents.get("problems")
    return (
        language_of(language) if isinstance(language, str) and language.strip() else None,
        frozenset(name for name in problems if isinstance(name, str)) if isinstance(problems, list) else frozenset(),
    )


def _check_level(folder: Path, found: Sequence[Path]) -> None:
    """Raise CorpusError if a folder is one level too deep or not deep enough."""
    if any(is_unknown(child.name) for child in list_folder(folder)):
        raise CorpusError("is a single problem", where=folder, remedy="Name the folder above it")
    for child in found:
        if any(is_unknown(file.name) for file in child.glob("*/*")):
            raise CorpusError(f"no problems found, but {child.name} holds some", where=folder, remedy=f"Name {child}")


def _holds_run(folder: Path) -> bool:
    """Whether an earlier run was written into this folder of the corpus."""
    names = (*ANSWER_FILES.values(), "plan.json")
    return any(find_file(folder, name) for name in names) or (folder / "run" / "plan.json").exists()


def _read_folder(
    problem_id: str, known: list[Path], unknown: list[Path], others: Sequence[str], language: str | None
) -> Problem:
    if not _is_id(problem_id):
        raise CorpusError("is a name that answers.txt can't hold", where=ascii(problem_id), remedy="Rename the folder")
    errors = []

    def add_error(what: str, remedy: str) -> None:
        errors.append(CorpusError(what, where=problem_id, remedy=remedy))

    seen = f", only {list_some(others)}" if others else ""
    if not known:
        add_error(f"no known text{seen}", "Add known01.txt")
    if not unknown:
        add_error(f"no unknown text{seen}", "Add unknown.txt")
    if len(unknown) > 1:
        add_error(f"{len(unknown)} unknown texts: {', '.join(path.name for path in unknown)}", "Leave one")
    errors += find_duplicates(known, f"{problem_id}/")
    documents: list[Document] = []
    for path in (*known, *unknown):
        with collect_errors(errors):
            documents.append(read_document(path, f"{problem_id}/{path.name}"))
    if errors:
        raise CorpusError("\n  ".join(map(str, errors)))
    return Problem(problem_id, tuple(documents[:-1]), documents[-1], _find_language(language, problem_id, documents))


def _is_id(name: str) -> bool:
    """Whether answers.txt can hold this id."""
    return name == name.strip() and name.isprintable()


def _read_pairs(path: Path, language: str | None) -> ProblemSet:
    """Read a PAN 2020-23 corpus: a JSON object per line, `{"id": ..., "pair": [text, text]}`."""
    problems: list[Problem] = []
    bad: list[BadProblem] = []
    for number, record in read_json_lines(path):
        try:
            problems.append(_read_pair(record, f"{path.name} line {number}", language))
        except CorpusError as error:
            bad.append(BadProblem(_id_of(record), str(error)))
    counts = Counter(problem.id for problem in problems)
    repeated = sorted(problem_id for problem_id, count in counts.items() if count > 1)
    for name in repeated:
        message = f"{path.name}: id {name} occurs {counts[name]} times. Give each problem its own id"
        bad.append(BadProblem(name, message))
    if not problems and not bad:
        raise CorpusError("no problems found", where=path, remedy=f"Write one per line: {_PAIR}")
    return _make_problem_set([problem for problem in problems if problem.id not in repeated], "pairs", bad)


def _read_pair(record: object, where: str, language: str | None) -> Problem:
    if isinstance(record, CorpusError):
        raise record
    if not isinstance(record, dict):
        raise CorpusError("is not a JSON object", where=where, remedy=f"Write {_PAIR}")
    problem_id, pair = _id_of(record), record.get("pair")
    if problem_id is None:
        raise CorpusError('has no "id"', where=where, remedy="Give each problem its own")
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
        raise CorpusError(f'id {problem_id}: "pair" is not a list of two texts', where=where, remedy=f"Write {_PAIR}")
    for name, text in zip(("first", "second"), pair, strict=True):
        subject = f"id {problem_id}: the {name} text"
        if not text.strip():
            raise CorpusError(f"{subject} is empty", where=where, remedy="Remove the line or add text")
        if len(text) > LARGEST_TEXT:
            raise CorpusError(f"{subject} has {TOO_LARGE}", where=where, remedy="Split it")
    first, second = (Document(f"{problem_id}, text {n}", text) for n, text in enumerate(pair, start=1))
    return Problem(problem_id, (first,), second, _find_language(language, problem_id, [first, second]), symmetric=True)


def _id_of(record: object) -> str | None:
    problem_id = record.get("id") if isinstance(record, dict) else None
    if isinstance(problem_id, int) and not isinstance(problem_id, bool):
        return str(problem_id)
    return problem_id if isinstance(problem_id, str) and problem_id.strip() else None


def _find_language(said: str | None, problem_id: str, documents: Sequence[Document]) -> str:
    if said:
        return language_of(said)
    return language_of_id(problem_id) or language_of_script(*(document.text for document in documents)) or NO_LANGUAGE


def _make_problem_set(problems: list[Problem], layout: Layout, bad_problems: Sequence[BadProblem]) -> ProblemSet:
    """Sort the problems by id. A problem without letters gets the language of most others."""
    counts = Counter(problem.language for problem in problems if problem.language != NO_LANGUAGE)
    usual = min(counts, key=lambda language: (-counts[language], language)) if counts else NO_LANGUAGE
    settled = (replace(problem, language=usual) if problem.language == NO_LANGUAGE else problem for problem in problems)
    _warn_of_other_script(problems)
    return ProblemSet(tuple(sorted(settled, key=lambda problem: problem.id)), layout, tuple(bad_problems))


def _warn_of_other_script(problems: Sequence[Problem]) -> None:
    """Warn of problems that are not written in the script of their language: all their letters would become one."""
    foreign = [
        problem
        for problem in problems
        if problem.language in FOREIGN
        and language_of_script(*(document.text for document in (*problem.known, problem.unknown)))
        not in (problem.language, None)
    ]
    if foreign:
        names = list_some(problem.id for problem in foreign)
        log.warning("%s: taken as %s but written in another script; check the language", names, foreign[0].language)
