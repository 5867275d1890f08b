"""A run folder: the plan and each member that is done, so that a run can be resumed and read.

run/plan.json                 what is asked, of which texts, and the members that answer it
run/preset.toml               the members' settings as a preset, to use them on other problems
run/members/0001/             one folder for each member (0001-2 for the second of several languages)
    member.json               settings, seed, timing, versions, hashes, learning curves
    matrix.safetensors        documents x heads for each way of asking, and the questions
    evidence.json, .npy       the evidence in each text, unless left out; see evidence_file.py
    trace/                    the member's own answers after each sub-epoch, if asked for
run/problems.jsonl            the problems with their texts, for reports, unless left out
run/cautions.json             reasons not to trust the answers; see problem_file.py
.run.lock                     beside the folder, locked while a process works on the run
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout
from safetensors import SafetensorError

from byline.corpora.answers import check_output
from byline.corpora.problems import ANSWER_FILES
from byline.engines.matrix import Side
from byline.errors import RunError, SettingsError
from byline.runs.member_files import (
    EVIDENCE,
    MATRIX,
    MEMBER,
    describe,
    matrix_bytes,
    require_no_link,
    require_no_links,
    sides_from_bytes,
)
from byline.runs.plan import BEGIN_AGAIN, FORMAT, Member, Plan, member_from, plan_from, plan_values, require_format
from byline.settings.settings import to_toml
from byline.storage.files import (
    PART,
    checked_json,
    discard,
    finish_replacement,
    hash_file,
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
    """The answers are in the folder around the run folder. They are removed when the run is replaced."""

    def check_answers(self) -> None:
        """Raise RunError if the folder around holds answers that may not be replaced, or can't be written to."""
        begun = has_run(self.folder)
        remedy = "Continue its run with {resume}" if begun else ""
        check_output(self.folder.parent, self.overwrite or (self.resume and begun), remedy)


@dataclass(frozen=True)
class Record:
    """The stored result of one member for the problems of one language."""

    member: Member
    group: int
    """The number of the language in the plan."""
    sides: tuple[Side, ...]
    """One for each way of asking."""
    seconds: float
    curves: tuple[tuple[float, ...], ...]
    """Bits per character by sub-epoch, for each way of asking. Empty if the engine does not learn step by step."""
    inputs: str
    """The hash of the texts."""
    made_by: Mapping[str, str]
    """Versions and machine."""

    @property
    def bits(self) -> float | None:
        """Bits per character in the last sub-epoch, or None if there is no such thing."""
        return float(np.mean([curve[-1] for curve in self.curves])) if all(self.curves) else None


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
            remedy = f"{first}Members that are done are kept: byline verify continues with {{resume}}"
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
        fits = all(question.problem < problems for side in record.sides for question in side.questions)
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
    raise RunError("no run found", where=path, remedy="Name a folder that byline verify wrote to")


def read_plan(folder: Path) -> Plan:
    """Read the plan in a run folder."""
    try:
        values = read_checked_json(folder / PLAN)
    except RunError as error:
        raise RunError(error.what, where=folder / PLAN, remedy=BEGIN_AGAIN) from None
    return plan_from(values, folder / PLAN)


def read_record(path: Path, evidence: bool = False) -> Record:
    """Read a finished member from its folder, and check everything that answers depend on.

    With `evidence`, raise RunError for damaged evidence as well. It is read by evidence_file.py.
    """
    values = describe(path)
    try:
        require_format(values, path)
        for name, digest in values["files"].items():
            wanted = name == MATRIX or (evidence and name.startswith(EVIDENCE))
            if wanted and hash_file(path / name) != digest:
                raise ValueError(f"{name} is not what was written")
        curves = tuple(tuple(float(bits) for bits in curve) for curve in values["curves"])
        sides = sides_from_bytes(read_regular_file(path / MATRIX), str(values.get("unit", "bits per character")))
        if not curves or len(curves) != len(sides) or len({bool(curve) for curve in curves}) > 1:
            raise ValueError("its curves don't fit its matrix")
        made_by = {str(name): str(value) for name, value in values["versions"].items()}
        return Record(
            member_from(values), int(values["group"]), sides, float(values["seconds"]), curves, str(values["inputs"]),
            made_by,
        )  # fmt: skip
    except (OSError, KeyError, TypeError, AttributeError, ValueError, SettingsError, SafetensorError) as error:
        raise RunError(f"damaged ({error})", where=path) from None


def read_members(folder: Path, plan: Plan) -> Iterator[Record]:
    """Read the finished members of a run, one at a time, in the plan's order."""
    run = RunFolder(folder, plan)
    for member, group, _ in run.paths:
        if record := run.load(member, group):
            yield record


def require_no_member_links(folder: Path, plan: Plan) -> None:
    """Raise RunError if links stand for members of a run or their files."""
    for _, _, home in RunFolder(folder, plan).paths:
        for path in (folder / MEMBERS, home, home / MEMBER):
            require_no_link(path)
        try:
            names = describe(home)["files"]
        except RunError:  # missing or damaged, which is reported when it is read
            continue
        for name in names:
            require_no_links(home, name)
