"""Answers: answers.txt as PAN 2013-15 wants it, answers.jsonl as PAN 2020-23 does; written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from byline.documents import decode, look_at, read_bytes
from byline.errors import AnswersError, CorpusError, RunError, listing
from byline.problems import Layout, find_file, read_json_lines

FILE_NAMES: dict[Layout, str] = {"folders": "answers.txt", "pairs": "answers.jsonl"}
SETTINGS_NAME = "settings.toml"
OWN_FILES = frozenset([*FILE_NAMES.values(), SETTINGS_NAME])
"""What a run writes into its folder."""


@dataclass(frozen=True)
class Answer:
    """From 0, surely another author, to 1, surely the same; exactly 0.5 is undecided."""

    id: str
    probability: float
    score: float | None = None
    """The mean rank score over members, before the median became 0.5; None where the problem could not be used."""

    @property
    def undecided(self) -> bool:
        """Whether no answer is given either way."""
        return self.probability == 0.5

    @property
    def rounded(self) -> float:
        """The answer to three decimals; one that is decided never becomes 0.500."""
        rounded = round(self.probability, 3)
        if rounded == 0.5 and not self.undecided:
            return 0.501 if self.probability > 0.5 else 0.499
        return rounded


def format_answers(answers: Iterable[Answer], layout: Layout) -> str:
    """The whole text of an answers file, sorted by id."""
    ordered = sorted(answers, key=lambda answer: answer.id)
    if layout == "pairs":
        # ids may hold anything, even half of a surrogate pair, so nothing but ASCII is written
        return "".join(json.dumps({"id": answer.id, "value": answer.rounded}) + "\n" for answer in ordered)
    return "".join(f"{answer.id} {answer.rounded:.3f}\n" for answer in ordered)


def check_output(folder: Path, overwrite: bool = False) -> None:
    """Refuse, before any work is done, a folder that holds results already or can't be written to; make nothing."""
    try:
        held = [name for name in OWN_FILES if (folder / name).exists()]
        if held and not overwrite:
            raise RunError(f"{folder / held[0]}: exists already; choose another folder, or give --overwrite")
        existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise RunError(f"{folder}: can't be written to ({error.strerror}); choose another folder") from None


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write texts under their names, each whole or not at all, and remove results of an earlier run."""
    parts = {name: folder / f".{name}.{os.getpid()}.part" for name in files}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            with parts[name].open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        for name, part in parts.items():
            part.replace(folder / name)
        for name in OWN_FILES - files.keys():
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise RunError(f"{folder}: can't be written to ({error.strerror}); choose another folder") from None
    finally:
        for part in parts.values():
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def read_answers(path: Path) -> dict[str, float]:
    """Each id's answer from answers.txt or answers.jsonl, or from the one in a folder."""
    try:
        kind = look_at(path, "name the answers file or its folder")
    except CorpusError as error:
        raise AnswersError(str(error)) from None
    if kind == "folder":
        found = [file for name in FILE_NAMES.values() if (file := find_file(path, name))]
        if not found:
            raise AnswersError(f"{path}: no answers.txt or answers.jsonl there; name the answers file")
        path = found[0]
    try:
        rows = _read_rows(path)
    except CorpusError as error:
        raise AnswersError(str(error)) from None
    answers: dict[str, float] = {}
    offences = []
    for where, problem_id, value in rows:
        number = _number(value)
        if not isinstance(problem_id, str) or not problem_id or number is None:
            offences.append(f"{where}: no id with a number from 0 to 1")
        elif problem_id in answers:
            offences.append(f"{where}: id {problem_id} occurs twice; leave one")
        else:
            answers[problem_id] = number
    if offences:
        raise AnswersError(listing(offences, f"{path} can't be used"))
    if not answers:
        raise AnswersError(f"{path}: empty; an answers file has a line for each problem, such as EN001 0.731")
    return answers


def match_truth(answers: Mapping[str, float], truth: Mapping[str, bool], where: str) -> tuple[list[bool], list[float]]:
    """Truth and answer of each problem in the truth, by id; a missing answer is 0.5, an unknown id is refused."""
    if unknown := sorted(answers.keys() - truth.keys()):
        raise AnswersError(
            f"{where}: the truth does not know {_some(unknown)}; check that answers and truth are of the same corpus"
        )
    ids = sorted(truth)
    return [truth[name] for name in ids], [answers.get(name, 0.5) for name in ids]


def _some(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) == 1 else f"these {len(names)} ids: {', '.join(names)}"


def _number(value: object) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= 1 else None


def _read_rows(path: Path) -> list[tuple[str, object, object]]:
    if path.suffix.lower() == ".jsonl":
        rows = []
        for number, value in read_json_lines(path):
            entry = value if isinstance(value, dict) else {}
            name = entry.get("id")
            rows.append(
                (f"{path.name} line {number}", str(name) if isinstance(name, int) else name, entry.get("value"))
            )
        return rows
    lines = enumerate(decode(read_bytes(path), str(path)).split("\n"), start=1)
    split = [(number, line.rsplit(maxsplit=1)) for number, line in lines if line.strip()]
    return [(f"{path.name} line {number}", *(words if len(words) == 2 else (None, None))) for number, words in split]
