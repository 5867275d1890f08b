"""Answers and truth of a corpus: text lines as in PAN 2013-15, JSON, or JSON lines as in PAN 2020-23.

Truth is read for measuring only.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from byline.corpora.documents import JsonObject, classify_path, read_json, read_json_lines, read_table
from byline.corpora.problems import ANSWER_FILES, Layout, find_file
from byline.errors import AnswersError, BylineError, CorpusError, RunError, list_some, listing
from byline.storage.files import write_error, write_files

Value = TypeVar("Value")

_ID_KEYS = ("id", "problem", "name")
"""Names of a problem's id in JSON, in different years of PAN."""


@dataclass(frozen=True)
class Answer:
    """An answer from 0 (different authors) to 1 (same author); exactly 0.5 is undecided."""

    id: str
    value: float
    """A probability if there is a likelihood ratio; otherwise only a rank."""
    score: float | None = None
    """The score that the answer is made of; None if the problem could not be used."""
    llr: float | None = None
    """The decimal logarithm of the likelihood ratio (in bans), if the answer is calibrated."""
    interval: tuple[float, float] | None = None
    """An interval of `llr`: from the dependence on parts of the texts, and from the agreement of members or, for single
    questions, the uncertainty of the coefficients."""
    probability: float | None = None
    """The probability of the same author at the prior, if the answer is calibrated, even if it is undecided."""
    bounds: tuple[float, float] | None = None
    """The greatest `llr` that texts and reference allow, for the same author and for different authors, in bans; None
    if only the calibration bounds it."""

    @property
    def undecided(self) -> bool:
        """Whether no answer is given either way."""
        return self.value == 0.5

    @property
    def rounded(self) -> float:
        """The answer to three decimals; a decided one never becomes 0.5."""
        rounded = round(self.value, 3)
        if rounded == 0.5 and not self.undecided:
            return 0.501 if self.value > 0.5 else 0.499
        return rounded


def format_answers(answers: Iterable[Answer], layout: Layout) -> str:
    """Return the content of an answers file, sorted by id."""
    ordered = sorted(answers, key=lambda answer: answer.id)
    if layout == "pairs":
        # ids may hold anything, even lone surrogates, and so the file is ASCII
        return "".join(json.dumps({"id": answer.id, "value": answer.rounded}) + "\n" for answer in ordered)
    return "".join(f"{answer.id} {answer.rounded:.3f}\n" for answer in ordered)


def to_frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Any:
    """Return a pandas.DataFrame of rows, with these columns even if there are no rows."""
    try:
        import pandas  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        raise BylineError("pandas is not installed", remedy="Run pip install 'byline[pandas]'") from None
    return pandas.DataFrame([dict(row) for row in rows], columns=list(columns))


def check_output(folder: Path, overwrite: bool = False, remedy: str = "") -> None:
    """Raise RunError if a folder holds answers already or can't be written to. Create nothing."""
    try:
        held = [name for name in ANSWER_FILES.values() if (folder / name).exists()]
        if held and not overwrite:
            remedy = f"{remedy or 'Choose another folder'}, or replace it with {{overwrite}}"
            raise RunError("exists already", where=folder / held[0], remedy=remedy)
        if folders := [name for name in held if (folder / name).is_dir()]:
            raise RunError(
                "is a folder", where=folder / folders[0], remedy="Remove it or choose another folder for the answers"
            )
        existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise write_error(folder, error) from None


def write_answers(folder: Path, answers: Iterable[Answer], layout: Layout) -> Path:
    """Write the answers file of a layout, remove the other layout's, and return the path."""
    name = ANSWER_FILES[layout]
    write_files(folder, {name: format_answers(answers, layout).encode()})
    remove_answers(folder, keep=name)
    return folder / name


def remove_answers(folder: Path, keep: str = "") -> None:
    """Remove the answers of an earlier run."""
    try:
        for name in set(ANSWER_FILES.values()) - {keep}:
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise write_error(folder, error) from None


def read_answers(path: Path) -> dict[str, float]:
    """Read answers by id from a file, or from the answers file in a folder."""
    return _read_values(path, _ANSWERS)


def read_truth(path: Path | str) -> dict[str, bool]:
    """Read whether each problem has the same author, by id, from a file or from the truth file in a folder."""
    return _read_values(Path(path), _TRUTH)


def match_truth(answers: Mapping[str, float], truth: Mapping[str, bool], where: str) -> tuple[list[bool], list[float]]:
    """Return truth and answer of each problem in the truth, sorted by id. A missing answer is 0.5.

    Raise AnswersError if the truth lacks the id of an answer.
    """
    if unknown := sorted(answers.keys() - truth.keys()):
        raise AnswersError(
            f"the truth has no {list_some(unknown, 20)}",
            where=where,
            remedy="Check that answers and truth are of the same corpus",
        )
    ids = sorted(truth)
    return [truth[name] for name in ids], [answers.get(name, 0.5) for name in ids]


def read_answers_json(path: Path) -> Any:
    """Read a JSON file of answers or truth."""
    with _corpus_as_answers_errors():
        return read_json(path)


@contextmanager
def _corpus_as_answers_errors() -> Iterator[None]:
    try:
        yield
    except CorpusError as error:
        raise AnswersError(error.what, where=error.where, remedy=error.remedy) from None


class _Format(NamedTuple, Generic[Value]):
    """A kind of file that has a value for each problem."""

    noun: str
    names: tuple[str, ...]
    """Names of the file in a folder."""
    keys: tuple[str, ...]
    """Names of the value in JSON."""
    parse: Callable[[object], Value | None]
    """Returns the value of a word or a JSON value, or None if it is invalid."""
    values: str
    example: str


def _read_values(path: Path, kind: _Format[Value]) -> dict[str, Value]:
    """Read each id's value. Raise one error for all bad entries."""
    with _corpus_as_answers_errors():
        if classify_path(path, f"Name the {kind.noun} file or its folder") == "folder":
            found = next((file for name in kind.names if (file := find_file(path, name))), None)
            if found is None:
                names = f"{', '.join(kind.names[:-1])} or {kind.names[-1]}"
                raise AnswersError(f"has no {names}", where=path, remedy=f"Name the {kind.noun} file")
            path = found
        entries = _read_entries(path, kind.keys)
    values: dict[str, Value] = {}
    faults = []
    for where, problem_id, word in entries:
        value = kind.parse(word)
        if not isinstance(problem_id, str) or not problem_id or value is None:
            faults.append(f"{where}: is not an id with {kind.values}")
        elif problem_id in values:
            faults.append(f"{where}: id {problem_id} occurs twice")
        else:
            values[problem_id] = value
    line = f"one line for each problem, such as {kind.example}"
    if faults:
        raise AnswersError(listing(faults, "these entries can't be used"), where=path, remedy=f"Write {line}")
    if not values:
        raise AnswersError("is empty", where=path, remedy=f"Write {line}")
    return values


def _read_entries(path: Path, keys: tuple[str, ...]) -> list[tuple[str, object, object]]:
    """Return the position, the id and the word of each entry."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return [(f"line {number}", *_read_entry(value, keys)) for number, value in read_json_lines(path)]
    if suffix == ".json":
        value = read_json(path)
        if isinstance(value, dict) and isinstance(value.get("problems"), list):
            value = value["problems"]
        if isinstance(value, JsonObject):
            return [(name, name, word) for name, word in value.pairs]
        items = value if isinstance(value, list) else []
        return [(f"entry {number}", *_read_entry(item, keys)) for number, item in enumerate(items, start=1)]
    lines = enumerate((line.strip().rsplit(maxsplit=1) for line in read_table(path).split("\n")), start=1)
    return [(f"line {number}", *(words if len(words) == 2 else (None, None))) for number, words in lines if words]


def _read_entry(value: object, keys: tuple[str, ...]) -> tuple[object, object]:
    """Return the id and the word of a JSON object."""
    if not isinstance(value, dict):
        return None, None
    problem_id = next((value[key] for key in _ID_KEYS if key in value), None)
    word = next((value[key] for key in keys if key in value), None)
    return str(problem_id) if isinstance(problem_id, int) else problem_id, word


def _parse_answer(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    with suppress(ValueError, OverflowError):
        number = float(value)
        return number if 0 <= number <= 1 else None
    return None


_WORDS = {"y": True, "yes": True, "true": True, "1": True, "n": False, "no": False, "false": False, "0": False}

_ANSWERS = _Format(
    noun="answers",
    names=tuple(ANSWER_FILES.values()),
    keys=("value",),
    parse=_parse_answer,
    values="a number from 0 to 1",
    example="EN001 0.731",
)
_TRUTH = _Format(
    noun="truth",
    names=("truth.txt", "truth.json", "truth.jsonl"),
    keys=("same", "answer", "truth"),
    parse=lambda word: _WORDS.get(str(word).strip().lower()),
    values="Y or N (or true or false)",
    example="EN001 Y",
)
