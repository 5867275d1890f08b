"""Answers: answers.txt as PAN 2013-15 wants it, answers.jsonl as PAN 2020-23 does; written whole or not at all."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from byline.errors import AnswersError, RunError
from byline.problems import ANSWER_FILES, Layout
from byline.records import RecordKind, read_records
from byline.storage import cant_write, write_files


@dataclass(frozen=True)
class Answer:
    """From 0, surely another author, to 1, surely the same; exactly 0.5 is undecided."""

    id: str
    value: float
    """A probability only where there is a likelihood ratio; otherwise no more than an order."""
    score: float | None = None
    """What members say together, before answers were made of it; None where the problem could not be used."""
    llr: float | None = None
    """The decimal logarithm of the likelihood ratio (in bans), where the answer is calibrated."""
    interval: tuple[float, float] | None = None
    """Of the likelihood ratio's logarithm, from how far members agree and how far it hangs on parts of the texts."""
    probability: float | None = None
    """That of the same author at the prior, where the answer is calibrated, undecided or not."""

    @property
    def undecided(self) -> bool:
        """Whether no answer is given either way."""
        return self.value == 0.5

    @property
    def rounded(self) -> float:
        """The answer to three decimals; one that is decided never becomes 0.500."""
        rounded = round(self.value, 3)
        if rounded == 0.5 and not self.undecided:
            return 0.501 if self.value > 0.5 else 0.499
        return rounded


def format_answers(answers: Iterable[Answer], layout: Layout) -> str:
    """The whole text of an answers file, sorted by id."""
    ordered = sorted(answers, key=lambda answer: answer.id)
    if layout == "pairs":
        # ids may hold anything, even half of a surrogate pair, so nothing but ASCII is written
        return "".join(json.dumps({"id": answer.id, "value": answer.rounded}) + "\n" for answer in ordered)
    return "".join(f"{answer.id} {answer.rounded:.3f}\n" for answer in ordered)


def check_output(folder: Path, overwrite: bool = False, remedy: str = "") -> None:
    """Refuse, before any work is done, a folder that holds answers already or can't be written to; make nothing."""
    try:
        held = [name for name in ANSWER_FILES.values() if (folder / name).exists()]
        if held and not overwrite:
            raise RunError(
                f"{folder / held[0]}: exists already; {remedy or 'choose another folder'}, or replace it by --overwrite"
            )
        if folders := [name for name in held if (folder / name).is_dir()]:
            raise RunError(f"{folder / folders[0]}: is a folder; remove it, or choose another folder for the answers")
        existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        raise cant_write(folder, error) from None


def write_answers(folder: Path, answers: Iterable[Answer], layout: Layout) -> Path:
    """Write the answers file into a folder, whole or not at all; its path. An answers file of the other layout goes."""
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
        raise cant_write(folder, error) from None


def read_answers(path: Path) -> dict[str, float]:
    """Each id's answer from answers.txt or answers.jsonl, or from the one in a folder."""
    return read_records(path, _ANSWERS)


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


def _parse(value: object) -> float | None:
    """A number from 0 to 1, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if 0 <= number <= 1 else None


_ANSWERS = RecordKind(
    noun="answers",
    names=tuple(ANSWER_FILES.values()),
    keys=("value",),
    parse=_parse,
    wanted="a number from 0 to 1",
    example="EN001 0.731",
)
