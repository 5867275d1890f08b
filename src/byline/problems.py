"""Problems as PAN hands them out: folders of known and unknown texts (2013-15), or pairs on JSON lines (2020-23).

Nothing here opens a truth file: see truth.py.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from byline.documents import (
    Document,
    decode,
    doubtful_texts,
    find_texts,
    has_text_name,
    look_at,
    read_bytes,
    read_document,
    read_documents,
    read_json,
)
from byline.errors import CorpusError, listing
from byline.formats.reading import LARGEST_TEXT, TOO_LARGE
from byline.languages import FOREIGN, language_of, language_of_id, language_of_script

log = logging.getLogger(__name__)

Layout = Literal["folders", "pairs"]
ANSWER_FILES: Mapping[Layout, str] = {"folders": "answers.txt", "pairs": "answers.jsonl"}
"""What the file of the answers to such problems is called."""

_UNCLEAR = "unknown"  # language of a text without letters

_KNOWN = re.compile(r"known\d*\.\w+", re.IGNORECASE)
_UNKNOWN = re.compile(r"unknown\d*\.\w+", re.IGNORECASE)


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
class Offence:
    """Why a problem can't be used; `id` is None where not even that could be read."""

    id: str | None
    message: str


@dataclass(frozen=True)
class ProblemSet:
    """The problems of one corpus that can be used, and what is wrong with the others."""

    problems: tuple[Problem, ...]
    layout: Layout
    offences: tuple[Offence, ...] = ()

    def by_language(self) -> dict[str, list[Problem]]:
        """The problems of each language, languages in alphabetical order."""
        groups: dict[str, list[Problem]] = {}
        for problem in self.problems:
            groups.setdefault(problem.language, []).append(problem)
        return dict(sorted(groups.items()))


def read_problems(path: Path | str, language: str | None = None) -> ProblemSet:
    """The problems in a PAN folder, a folder with a pairs.jsonl, or a .jsonl file, sorted by id.

    Bad problems are returned as offences. `language` overrides what the corpus says of itself.
    """
    path = Path(path)
    remedy = "name a folder of problems or a pairs.jsonl file"
    if look_at(path, remedy) == "file":
        if path.suffix.lower() != ".jsonl":
            raise CorpusError(f"{path}: not a .jsonl file; {remedy}")
        return read_pairs(path, language)
    if pairs := find_file(path, "pairs.jsonl"):
        return read_pairs(pairs, language)
    return read_folders(path, language)


def require_sound(offences: Sequence[Offence]) -> None:
    """Raise one error that lists all offences, if there are any."""
    if offences:
        raise CorpusError(listing([offence.message for offence in offences], "these can't be used"))


def read_folders(folder: Path, language: str | None = None) -> ProblemSet:
    """The problems of a PAN13-15 corpus: a folder each, `contents.json` optional."""
    contents = _read_contents(folder)
    listed = contents.problems
    found = [child for child in _children(folder) if child.is_dir() and not child.name.startswith((".", "__"))]
    if not any(is_unknown(file.name) for file in folder.glob("*/*")) and (message := _misplaced(folder, found)):
        raise CorpusError(message)
    offences: list[Offence] = []
    if listed and not listed.isdisjoint(child.name for child in found):
        missing = sorted(listed - {child.name for child in found})
        offences += [
            Offence(name, f"{name}: contents.json names it, but there is no such folder; add it or remove the name")
            for name in missing
        ]
    elif listed:
        log.warning("%s: contents.json names none of the folders there; its list of problems is ignored", folder)
        listed = frozenset()
    problems: list[Problem] = []
    for child in found:
        try:
            known, unknown, others = _problem_files(child)
            if not known and not unknown and (_holds_answers(child) or (listed and child.name not in listed)):
                log.warning("%s: ignored, it holds no problem", child)
                continue
            problems.append(_read_folder(child.name, known, unknown, others, language or contents.language))
        except CorpusError as error:
            offences.append(Offence(child.name if _is_id(child.name) else None, str(error)))
    if not problems and not offences:
        raise CorpusError(
            f"{folder}: no problems found; it should hold folders such as EN001 with known01.txt and unknown.txt,"
            " or a file pairs.jsonl"
        )
    return _sorted(problems, "folders", offences)


def read_pairs(path: Path, language: str | None = None) -> ProblemSet:
    """The problems of a PAN20-23 corpus: a JSON object a line, `{"id": ..., "pair": [text, text]}`."""
    problems: list[Problem] = []
    offences: list[Offence] = []
    for number, record in read_json_lines(path):
        where = f"{path.name} line {number}"
        if isinstance(record, CorpusError):
            offences.append(Offence(None, str(record)))
            continue
        try:
            problems.append(_read_pair(record, where, language))
        except CorpusError as error:
            offences.append(Offence(_id_of(record), str(error)))
    counts = Counter(problem.id for problem in problems)
    repeated = {problem_id for problem_id, count in counts.items() if count > 1}
    offences += [
        Offence(name, f"{path.name}: id {name} occurs {counts[name]} times; give each problem its own id")
        for name in sorted(repeated)
    ]
    if not problems and not offences:
        raise CorpusError(f'{path}: no problems found; write one a line: {{"id": "1", "pair": ["text", "text"]}}')
    return _sorted([problem for problem in problems if problem.id not in repeated], "pairs", offences)


def read_question(known: Sequence[Path], unknown: Path, language: str) -> ProblemSet:
    """One question from files: were the known texts and the unknown one written by the same author?"""
    documents, offences = [], []
    for path in (*known, unknown):
        try:
            documents.append(read_document(path))
        except CorpusError as error:
            offences.append(str(error))
    if offences:
        raise CorpusError(listing(offences, "these can't be used"))
    problem = Problem("question", tuple(documents[:-1]), documents[-1], language)
    _warn_of_other_letters([problem])
    return ProblemSet((problem,), "folders")


def read_texts(path: Path) -> list[Document]:
    """All texts below a folder (or of a .jsonl of pairs, or one text file), each different text once.

    Truth and contents files are no texts. Bad files are collected and raised together.
    """
    kind = look_at(path, "name a folder of texts")
    if path.suffix.lower() == ".jsonl" or (kind == "folder" and find_file(path, "pairs.jsonl")):
        pairs = read_problems(path)
        require_sound(pairs.offences)
        documents = [document for problem in pairs.problems for document in (*problem.known, problem.unknown)]
    else:
        documents = _read_text_files(path)
    distinct = {document.text: document for document in documents}
    return list(distinct.values())


def read_json_lines(path: Path) -> Iterator[tuple[int, object]]:
    """Each line's number and value; a line that is no JSON gives a CorpusError as its value. Blank ones don't count."""
    text = decode(read_bytes(path), str(path))
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                yield number, CorpusError(f"{path.name} line {number}: not JSON; write one JSON object a line")


def is_unknown(name: str) -> bool:
    """Whether a file of that name is a problem's unknown text."""
    return _UNKNOWN.fullmatch(name) is not None and has_text_name(name)


def _is_known(name: str) -> bool:
    return _KNOWN.fullmatch(name) is not None and has_text_name(name)


def find_file(folder: Path, name: str) -> Path | None:
    """The file of that name in a folder, in any case of letters."""
    return next((child for child in _children(folder) if child.name.lower() == name and child.is_file()), None)


@dataclass(frozen=True)
class _Contents:
    """What contents.json says, as far as it is there and says it."""

    language: str | None = None
    problems: frozenset[str] = frozenset()


def _read_contents(folder: Path) -> _Contents:
    path = find_file(folder, "contents.json")
    if path is None:
        return _Contents()
    contents = read_json(path)
    if not isinstance(contents, dict):
        raise CorpusError(f"{path}: not a JSON object; repair it, or remove it and give --language")
    language, problems = contents.get("language"), contents.get("problems")
    return _Contents(
        language_of(language) if isinstance(language, str) and language.strip() else None,
        frozenset(name for name in problems if isinstance(name, str)) if isinstance(problems, list) else frozenset(),
    )


def _problem_files(folder: Path) -> tuple[list[Path], list[Path], list[str]]:
    """The known and the unknown texts' files of a problem, and the names of what else is there."""
    try:
        files = [child for child in _children(folder) if not child.is_dir()]
    except OSError as error:
        raise CorpusError(f"{folder}: can't be read ({error.strerror}); check that you may") from None
    known, unknown = [f for f in files if _is_known(f.name)], [f for f in files if is_unknown(f.name)]
    return known, unknown, [f.name for f in files if f not in known and f not in unknown]


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _misplaced(folder: Path, found: list[Path]) -> str | None:
    """What to say if a folder is one level too low or too high, or None."""
    if any(is_unknown(child.name) for child in _children(folder)):
        return f"{folder}: a single problem; name the folder above it"
    for child in found:
        if any(is_unknown(file.name) for file in child.glob("*/*")):
            return f"{folder}: no problems found, but {child.name} holds some; name {child}"
    return None


def _holds_answers(folder: Path) -> bool:
    """Whether it is the output of an earlier run, written into the corpus."""
    names = ("answers.txt", "answers.jsonl")
    return any(find_file(folder, name) for name in (*names, "plan.json")) or (folder / "run" / "plan.json").exists()


def _read_folder(
    problem_id: str, known: list[Path], unknown: list[Path], others: list[str], language: str | None
) -> Problem:
    offences = []
    if not _is_id(problem_id):
        raise CorpusError(f"{problem_id!a}: a name that answers.txt can't hold; rename the folder")
    seen = f" (there are {_some(others)})" if others else ""
    if not known:
        offences.append(f"{problem_id}: no known text{seen}; add known01.txt")
    if not unknown:
        offences.append(f"{problem_id}: no unknown text{seen}; add unknown.txt")
    if len(unknown) > 1:
        names = ", ".join(path.name for path in unknown)
        offences.append(f"{problem_id}: {len(unknown)} unknown texts ({names}); leave one")
    offences += [f"{problem_id}/{file.name}: {doubt}" for file, doubt in doubtful_texts(known)]
    documents = {}
    for path in known + unknown:
        try:
            documents[path] = read_document(path, f"{problem_id}/{path.name}")
        except CorpusError as error:
            offences.append(str(error))
    if offences:
        raise CorpusError("\n  ".join(offences))
    texts = tuple(documents[path] for path in known)
    return Problem(
        problem_id, texts, documents[unknown[0]], _language(language, problem_id, [*texts, documents[unknown[0]]])
    )


def _is_id(name: str) -> bool:
    """Whether answers.txt can hold it."""
    return name == name.strip() and name.isprintable()


def _read_pair(record: object, where: str, language: str | None) -> Problem:
    if not isinstance(record, dict):
        raise CorpusError(f'{where}: not an object; write {{"id": "1", "pair": ["text", "text"]}}')
    problem_id, pair = _id_of(record), record.get("pair")
    if problem_id is None:
        raise CorpusError(f'{where}: no "id"; give each problem its own')
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(text, str) for text in pair):
        raise CorpusError(f'{where}: id {problem_id}: "pair" must be a list of two texts')
    for name, text in zip(("first", "second"), pair, strict=True):
        if not text.strip():
            raise CorpusError(f"{where}: id {problem_id}: the {name} text is empty; remove the line or put text in it")
        if len(text) > LARGEST_TEXT:
            raise CorpusError(f"{where}: id {problem_id}: the {name} text has {TOO_LARGE}")
    first, second = (Document(f"{problem_id}, text {n}", text) for n, text in enumerate(pair, start=1))
    return Problem(problem_id, (first,), second, _language(language, problem_id, [first, second]), symmetric=True)


def _id_of(record: object) -> str | None:
    problem_id = record.get("id") if isinstance(record, dict) else None
    if isinstance(problem_id, int) and not isinstance(problem_id, bool):
        return str(problem_id)
    return problem_id if isinstance(problem_id, str) and problem_id.strip() else None


def _language(named: str | None, problem_id: str, documents: Sequence[Document]) -> str:
    if named:
        return language_of(named)
    return language_of_id(problem_id) or language_of_script(*(document.text for document in documents)) or _UNCLEAR


def _sorted(problems: list[Problem], layout: Layout, offences: list[Offence]) -> ProblemSet:
    """The problem set in the order of ids; a problem without letters is of the language that most others are."""
    counts = Counter(problem.language for problem in problems if problem.language != _UNCLEAR)
    usual = min(counts, key=lambda language: (-counts[language], language)) if counts else _UNCLEAR
    settled = (replace(problem, language=usual) if problem.language == _UNCLEAR else problem for problem in problems)
    _warn_of_other_letters(problems)
    return ProblemSet(tuple(sorted(settled, key=lambda problem: problem.id)), layout, tuple(offences))


def _warn_of_other_letters(problems: Sequence[Problem]) -> None:
    """Say which problems are not written in the letters of their language."""
    foreign = [problem.id for problem in problems if problem.language in FOREIGN and not _is_written_in_it(problem)]
    if foreign:  # every letter of such a text would become the same one
        log.warning(
            "%s: taken as %s, but written in other letters; if that is wrong, name the language with --language",
            ", ".join(foreign[:3]) + (f" and {len(foreign) - 3} more" if len(foreign) > 3 else ""),
            next(problem.language for problem in problems if problem.id == foreign[0]),
        )


def _is_written_in_it(problem: Problem) -> bool:
    texts = [document.text for document in (*problem.known, problem.unknown)]
    return language_of_script(*texts) in (problem.language, None)


def _children(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError as error:
        raise CorpusError(f"{folder}: can't be read ({error.strerror}); check that you may read it") from None


def _read_text_files(path: Path) -> list[Document]:
    if path.is_file():
        return read_documents([(path, path.name)])
    runs = {plan.parent for plan in path.rglob("plan.json")}
    files = [
        file
        for file in find_texts(path)
        if file.name.lower() not in ("truth.txt", "answers.txt")
        and runs.isdisjoint(file.parents)  # traces of an earlier run
    ]
    if not files:
        raise CorpusError(f"{path}: no texts found; it should hold some, such as .txt or .docx files")
    return read_documents((file, str(file.relative_to(path))) for file in files)
