"""A run folder: the plan and each member that is done, so that a run can be resumed and read.

run/plan.json                 the request, hashes of the texts, and the members that answer it
run/preset.toml               the members' settings as a preset, to use them on other problems
run/members/0001/             one folder for each member (0001-2 for the second of several languages)
    member.json ...           description, matrix and evidence; see member_files.py
    trace/                    the member's own answers after each sub-epoch, if asked for
run/problems.jsonl            the problems with their texts, one JSON object per line, for reports, unless left out
run/cautions.json             reasons not to trust the answers, with a checksum
.run.lock                     beside the folder, locked while a process works on the run
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from byline.corpora.answers import check_output
from byline.corpora.documents import Document
from byline.corpora.problems import ANSWER_FILES, Problem
from byline.errors import RunError
from byline.judgment.checks.cautions import GRADES, KINDS, Caution, Cautions, ProblemCheck, ReferenceCheck, TextSpan
from byline.runs.member_files import MATRIX, MEMBER, Record, matrix_bytes, read_record
from byline.runs.plan import BEGIN_AGAIN, FORMAT, Member, Plan, hash_problems, plan_from, plan_values, require_format
from byline.settings.settings import to_toml
from byline.storage.files import (
    PART,
    checked_json,
    discard,
    finish_replacement,
    hidden_place,
    is_own_folder,
    is_replacing,
    prepared_folder,
    read_checked_json,
    read_regular_file,
    remove,
    remove_parts,
    replace_folder,
    sha256,
    write_error,
    write_files,
    write_folder,
)

log = logging.getLogger(__name__)

FOLDER = "run"
"""The run folder's name inside the folder of the answers."""
PLAN, POOL, TEXTS, CAUTIONS, MEMBERS = "plan.json", "preset.toml", "problems.jsonl", "cautions.json", "members"
OWN_NAMES = {PLAN, POOL, TEXTS, CAUTIONS, MEMBERS, "lock", ".DS_Store", "Thumbs.db"}
"""What a run folder may hold. Earlier versions had the lock inside; systems add files of their own."""
ANSWERS = tuple(ANSWER_FILES.values())
"""Files in the folder around a run that are made from it."""
WRITE_AGAIN = "Write it again with {resume}"
MOVE_AWAY = "Move it away, or choose another folder"
RESUME_OR_OVERWRITE = "Continue it with {resume}, or replace it with {overwrite}"


@dataclass(frozen=True)
class RunOutput:
    """The run folder that is written, and what it holds."""

    folder: Path
    """The run folder."""
    resume: bool = False
    """Continue the run in the folder."""
    overwrite: bool = False
    """Replace the run in the folder."""
    trace: bool = False
    """Write each member's answers after each sub-epoch."""
    evidence: bool = True
    """Write the texts and the evidence in them, for reports."""
    command: tuple[str, ...] | None = None
    """The command that begins the run, for its report."""
    answers: bool = False
    """Write the answers into the folder around the run folder."""

    def check_answers(self) -> None:
        """Raise RunError if the folder around holds answers that may not be replaced, or can't be written to."""
        begun = has_run(self.folder)
        remedy = "Continue its run with {resume}" if begun else ""
        check_output(self.folder.parent, self.overwrite or (self.resume and begun), remedy)


class RunFolder:
    """A run folder and its plan."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan

    def path(self, member: Member, group: int) -> Path:
        """Return the folder of a member's result for one language."""
        several = len(self.plan.groups) > 1
        return self.folder / MEMBERS / (f"{self.plan.places[member] + 1:04d}" + (f"-{group + 1}" if several else ""))

    @property
    def paths(self) -> Iterator[tuple[Member, int, Path]]:
        """The members, languages and folders of all results, in the plan's order."""
        for member in self.plan.members:
            for group in range(len(self.plan.groups)):
                yield member, group, self.path(member, group)

    def save(self, record: Record, files: Mapping[str, bytes]) -> None:
        """Write a member's result and further files by name, completely or not at all."""
        files = {MATRIX: matrix_bytes(record.sides), **files}
        described = {
            "format": FORMAT,
            **asdict(record.member),
            "group": record.group,
            "language": self.plan.groups[record.group].language,
            "unit": record.sides[0].matrix.unit,
            "seconds": round(record.seconds, 3),
            "curves": [list(curve) for curve in record.curves],
            "inputs": record.inputs,
            "files": {name: sha256(content) for name, content in files.items()},
            "versions": dict(record.made_by),
        }
        try:
            write_folder(self.path(record.member, record.group), {**files, MEMBER: checked_json(described)})
        except RunError as error:
            first = f"{error.remedy}. " if error.remedy else ""
            remedy = f"{first}Members that are done are kept; continue with {{resume}}"
            raise RunError(error.what, where=error.where, remedy=remedy) from None

    def load(self, member: Member, group: int, evidence: bool = False) -> Record | None:
        """Return a member's stored result, or None if there is none, or it is damaged or of other texts.

        With `evidence`, damaged evidence counts as well.
        """
        path = self.path(member, group)
        if not path.exists():
            return None
        try:
            record = read_record(path, evidence)
        except RunError as error:
            log.warning("%s: %s. It is ignored, and made again if the run is resumed", path, error.what)
            return None
        problems = len(self.plan.groups[group].ids)
        beside_reference = self.plan.judgment.interpretation == "cohort"
        fits = all(
            question.problem < problems and (side.layout is not None) == beside_reference
            for side in record.sides
            for question in side.questions
        )
        same = record.member == member and record.group == group and record.inputs == self.plan.inputs
        return record if same and fits else None


@contextmanager
def lock_run(folder: Path) -> Iterator[None]:
    """Lock a run folder, which need not exist. Raise RunError if another process has locked it.

    What a killed process left unfinished is removed. The system releases the lock of a process that is killed.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(hidden_place(folder, ".lock"))
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(
            "another process is at work here", where=folder, remedy="Wait for it, or choose another folder"
        ) from None
    except OSError as error:
        raise write_error(folder, error) from None
    try:
        try:
            finish_replacement(folder, ANSWERS)
        except OSError as error:
            raise write_error(folder, error) from None
        remove_parts(folder)
        remove_parts(folder / MEMBERS)
        yield
    finally:
        lock.release()  # the file stays, since another process may have opened it


@contextmanager
def prepare_run(folder: Path, plan: Plan) -> Iterator[RunFolder]:
    """Prepare a run in a hidden folder, while the run folder is locked. It is removed unless `replace_run` is called.

    The hidden folder holds the plan, and the pool that gives other problems the same members.
    """
    new = prepared_folder(folder)
    try:
        new.mkdir()
    except OSError as error:
        raise write_error(folder, error) from None
    try:
        write_plan(new, plan)
        yield RunFolder(new, plan)
    finally:
        discard(new)


def replace_run(folder: Path, answers: bool = False) -> None:
    """Put the prepared run in place of the run in a folder, and remove the answers around it if they belong to it."""
    try:
        replace_folder(folder, ANSWERS if answers else ())
    except OSError as error:
        raise write_error(folder, error) from None


def require_run_folder(folder: Path, overwrite: bool, remedy: str = RESUME_OR_OVERWRITE) -> None:
    """Raise RunError unless a new run may take the place of what a folder holds.

    Files that are not part of a run are never replaced; a run, or members without a plan, only with `overwrite`.
    """
    try:
        if not os.path.lexists(folder):
            return
        if not is_own_folder(folder):
            raise RunError("is not a folder of a run", where=folder, remedy=MOVE_AWAY)
        if strange := sorted(path.name for path in folder.iterdir() if not _is_own(path.name)):
            more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
            raise RunError(f"holds {strange[0]}{more}, which is not part of a run", where=folder, remedy=MOVE_AWAY)
        if overwrite:
            return
        if has_run(folder):
            raise RunError("holds a run already", where=folder, remedy=remedy)
        members = folder / MEMBERS
        if members.is_symlink() or (members.exists() and not members.is_dir()) or any(members.glob("*")):
            raise RunError(
                "exists already, without a plan", where=members, remedy="Choose another folder, or give {overwrite}"
            )
    except OSError as error:
        raise write_error(folder, error) from None


def remove_run(folder: Path) -> None:
    """Remove a run and its folder. Other files in the folder stay."""
    with lock_run(folder):
        try:
            for name in OWN_NAMES:
                remove(folder / name)
        except OSError as error:
            raise write_error(folder, error) from None
        with suppress(OSError):
            folder.rmdir()
            hidden_place(folder, ".lock").unlink()  # while it is locked: a later process makes another one


def _is_own(name: str) -> bool:
    return name in OWN_NAMES or (name.startswith(".") and name.endswith(PART))


def write_plan(folder: Path, plan: Plan) -> None:
    """Write a plan, and the members' settings as a preset."""
    description = f"the members of a run of {plan.preset}"
    pool = to_toml([member.settings for member in plan.members], description, plan.judgment.interpretation)
    values = {"byline": version("byline"), **plan_values(plan)}
    write_files(folder, {POOL: pool.encode(), PLAN: checked_json(values)})


def has_run(folder: Path) -> bool:
    """Return whether a folder holds a run. One that a killed process was about to replace is put back first."""
    if is_replacing(folder):
        with lock_run(folder):
            pass
    return (folder / PLAN).is_file()


def find_run(path: Path) -> Path:
    """Return the run folder that a path means: itself, or the one in a folder of answers."""
    for folder in (path, path / FOLDER):
        if has_run(folder):
            return folder
    raise RunError("no run found", where=path, remedy="Name a folder that holds one")


def read_plan(folder: Path) -> Plan:
    """Read the plan in a run folder."""
    try:
        values = read_checked_json(folder / PLAN)
    except RunError as error:
        raise RunError(error.what, where=folder / PLAN, remedy=BEGIN_AGAIN) from None
    return plan_from(values, folder / PLAN)


def read_members(folder: Path, plan: Plan) -> Iterator[Record]:
    """Read the finished members of a run, one at a time, in the plan's order."""
    run = RunFolder(folder, plan)
    for member, group, _ in run.paths:
        if record := run.load(member, group):
            yield record


def problem_lines(problems: Sequence[Problem]) -> bytes:
    """Return the content of the file of problems."""
    rows = (
        {
            "id": problem.id,
            "language": problem.language,
            "symmetric": problem.symmetric,
            "known": [{"name": document.name, "text": document.text} for document in problem.known],
            "unknown": {"name": problem.unknown.name, "text": problem.unknown.text},
        }
        for problem in problems
    )
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read_problem_file(folder: Path, plan: Plan) -> dict[str, Problem]:
    """Read the problems of a run, by id. Raise RunError if they are not those that its plan names."""
    path = folder / TEXTS
    try:
        rows = [json.loads(line) for line in read_regular_file(path).decode().splitlines()]
        problems = [
            Problem(
                str(row["id"]),
                tuple(Document(str(each["name"]), str(each["text"])) for each in row["known"]),
                Document(str(row["unknown"]["name"]), str(row["unknown"]["text"])),
                str(row["language"]),
                bool(row["symmetric"]),
            )
            for row in rows
        ]
    except FileNotFoundError:
        raise RunError(
            "missing, so texts can't be shown",
            where=path,
            remedy="Begin again with evidence and {overwrite}",
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"damaged ({error})", where=path, remedy=WRITE_AGAIN) from None
    found = hash_problems(problems)
    wanted = {name: plan.request.problems.get(name) for group in plan.groups for name in group.ids}
    if len(found) != len(problems) or found != wanted:
        raise RunError("damaged, these are not the texts that were answered", where=path, remedy=WRITE_AGAIN)
    return {problem.id: problem for problem in problems}


def cautions_bytes(cautions: Cautions, plan: Plan, quotes: bool) -> bytes:
    """Return the content of the file of cautions, with or without their quotes from the texts."""
    return checked_json({"format": FORMAT, "inputs": plan.inputs, **cautions_values(cautions, quotes)})


def cautions_values(cautions: Cautions, quotes: bool = True) -> dict[str, Any]:
    """Return cautions in plain values, as cautions.json has them."""
    return {
        "run": caution_rows(cautions.run, quotes),
        "problems": {name: caution_rows(own, quotes) for name, own in cautions.problems.items()},
        "reference": asdict(cautions.reference) if cautions.reference else None,
    }


def read_cautions(folder: Path, plan: Plan) -> Cautions | None:
    """Read the cautions of a run, or None if it has none."""
    path = folder / CAUTIONS
    if not path.exists():
        return None
    try:
        values = read_checked_json(path)
    except RunError as error:
        raise RunError(error.what, where=path, remedy=WRITE_AGAIN) from None
    try:
        require_format(values, path)
        if values["inputs"] != plan.inputs:
            raise ValueError("it is about other texts")
        return Cautions(
            _cautions(values["run"]),
            {str(name): _cautions(own) for name, own in values["problems"].items()},
            None if values["reference"] is None else _check_from(values["reference"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RunError(f"damaged ({error})", where=path, remedy=WRITE_AGAIN) from None


def caution_rows(cautions: Sequence[Caution], quotes: bool = True) -> list[dict[str, Any]]:
    """Return some cautions in plain values."""
    return [
        {
            "kind": each.kind,
            "text": each.text,
            "passages": [passage._asdict() for passage in each.passages],
            "quotes": list(each.quotes) if quotes else [],
        }
        for each in cautions
    ]


def _cautions(rows: Sequence[Mapping[str, Any]]) -> tuple[Caution, ...]:
    found = []
    for row in rows:
        if row["kind"] not in KINDS:
            raise ValueError(f"{row['kind']} is not a kind of caution")
        passages = tuple(TextSpan(int(p["document"]), int(p["begin"]), int(p["end"])) for p in row["passages"])
        found.append(Caution(row["kind"], str(row["text"]), passages, tuple(map(str, row["quotes"]))))
    return tuple(found)


def _check_from(values: Mapping[str, Any]) -> ReferenceCheck:
    rows = [ProblemCheck(**{**row, "remarks": tuple(map(str, row["remarks"]))}) for row in values["problems"]]
    if any(row.grade not in GRADES for row in rows):
        raise ValueError("it has an unknown grade")
    shortest, middle, longest = map(int, values["lengths"])
    return ReferenceCheck(
        str(values["language"]),
        int(values["texts"]),
        int(values["authors"]),
        int(values["characters"]),
        (shortest, middle, longest),
        tuple(rows),
    )
