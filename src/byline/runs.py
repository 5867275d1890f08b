"""A run folder: the plan, and each member that is done, so that a stopped run can go on and others can read it.

run/plan.json                 what is asked, of which texts, and the members that answer it
run/preset.toml               the members' settings, for --preset, to use them on other problems
run/members/0001/             one folder a member (0001-2 for the second of several languages), complete or absent
    member.json               settings, seed, timing, versions, hashes, learning curves
    matrix.safetensors        documents x heads for each way of asking, and the questions
    model-1.safetensors       the trained network of each way, unless left out
    evidence.json, .npy       what speaks for and against in each text, unless left out; see testimony.py
    trace/                    the member's own answers after each sub-epoch, if asked for
run/problems.jsonl            the problems with their texts, for reports, unless left out
run/cautions.json             what speaks against believing the answers, see cautions.py
run/lock                      held while a process works here
"""

from __future__ import annotations

import logging
import platform
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
from filelock import FileLock, Timeout
from safetensors import SafetensorError

from byline.errors import RunError, SettingsError
from byline.exchange import exchange, is_unfinished, undo_exchange
from byline.matrixfile import matrix_bytes, read_sides
from byline.memberfiles import EVIDENCE, MATRIX, MEMBER, describe, refuse_link, refuse_links_to
from byline.plans import FORMAT, Member, Plan, member_from, plan_from, plan_values, require_format
from byline.pools import to_toml
from byline.problems import ANSWER_FILES
from byline.scoring import Side
from byline.storage import (
    PART,
    cant_write,
    checked_json,
    hash_file,
    read_checked_json,
    read_plain,
    remove,
    remove_parts,
    sha256,
    write_files,
    write_folder,
)

log = logging.getLogger(__name__)

FOLDER = "run"
"""The run folder's name inside the folder of the answers."""
PLAN, POOL, TEXTS, CAUTIONS, MEMBERS, LOCK = (
    "plan.json", "preset.toml", "problems.jsonl", "cautions.json", "members", "lock",
)  # fmt: skip
PARTS = (MEMBERS, TEXTS, CAUTIONS, POOL, PLAN)
"""Of a run, all that another one replaces; the plan last, since without it there is no run."""
ANSWERS = tuple(ANSWER_FILES.values())
"""In the folder around a run, what was made of it."""
MATTER = ("byline", "numpy", "numba", "scipy", "scikit-learn")
"""Packages whose versions a result may depend on."""


def versions() -> dict[str, str]:
    """The versions that a result may depend on."""
    return {name: version(name) for name in MATTER}


def maker() -> dict[str, str]:
    """What makes a result here: the versions, Python's too, and the kind of machine."""
    return {**versions(), "python": platform.python_version(), "machine": platform.machine()}


@dataclass(frozen=True)
class Record:
    """What one member gave for the problems of one language."""

    member: Member
    group: int
    """The number of the language in the plan."""
    sides: tuple[Side, ...]
    """One for each way of asking."""
    seconds: float
    curves: tuple[tuple[float, ...], ...]
    """Bits per character by sub-epoch, for each way of asking; empty where the engine does not learn step by step."""
    inputs: str
    """The hash of the texts that it is of."""
    made_by: Mapping[str, str]
    """Versions and machine."""

    @property
    def bits(self) -> float | None:
        """Per character, in the last sub-epoch; None where there is none."""
        return float(np.mean([curve[-1] for curve in self.curves])) if all(self.curves) else None


class RunFolder:
    """A run folder and its plan."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan

    def path(self, member: Member, group: int) -> Path:
        """The folder of a member's result for one language."""
        several = len(self.plan.groups) > 1
        return self.folder / MEMBERS / (f"{self.plan.places[member] + 1:04d}" + (f"-{group + 1}" if several else ""))

    def save(self, record: Record, files: Mapping[str, bytes]) -> None:
        """Keep a member's result, and further files by name, such as its models; all of it or nothing."""
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
            raise RunError(
                f"{error}; members done so far are kept: byline verify with --resume goes on with them,"
                " byline calibrate does without being told"
            ) from None

    def load(self, member: Member, group: int, evidence: bool = False) -> Record | None:
        """A member's kept result, or None; a damaged one, or one of other texts, is as good as none.

        With `evidence`, so is one whose evidence is damaged: it will be asked for.
        """
        path = self.path(member, group)
        if not path.exists():
            return None
        try:
            record = read_record(path, evidence)
        except RunError as error:
            log.warning("%s; it is left out, and made again where the run goes on", error)
            return None
        problems = len(self.plan.groups[group].ids)
        fits = all(question.problem < problems for side in record.sides for question in side.questions)
        same = record.member == member and record.group == group and record.inputs == self.plan.inputs
        return record if same and fits else None


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Hold a run folder's lock, or refuse if another process does; whatever that process is killed by, it lets go."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(f"{folder}: another process is at work here; wait for it, or choose another folder") from None
    except OSError as error:
        raise cant_write(folder, error) from None
    try:
        try:
            undo_exchange(folder, PARTS, ANSWERS)
        except OSError as error:
            raise cant_write(folder, error) from None
        remove_parts(folder)
        remove_parts(folder / MEMBERS)
        yield
    finally:
        lock.release()  # the file stays: whoever removed it now might remove another's


@contextmanager
def aside(folder: Path) -> Iterator[Path]:
    """A hidden folder in one that is held, to make in it what is to take a run's place; in the end it goes."""
    try:
        place = tempfile.TemporaryDirectory(prefix=".", suffix=PART, dir=folder, ignore_cleanup_errors=True)
    except OSError as error:
        raise cant_write(folder, error) from None
    with place as name:
        yield Path(name)


def start(
    folder: Path, plan: Plan, beside: Mapping[str, bytes], made: Path | None = None, answered: bool = False
) -> None:
    """Write a plan, and what is kept beside it by name, into a folder, in place of any run that it holds.

    Members that are `made` already, in a run folder aside, come along. All is written aside first and then takes its
    place at once: a run that is there stays until then, and so do its answers in the folder around, which go with it
    where it is `answered` there.
    """
    with nullcontext(made) if made else aside(folder) as new:
        write_files(new, beside)
        write_plan(new, plan)
        try:
            exchange(folder, new, PARTS, ANSWERS if answered else ())
        except OSError as error:
            raise cant_write(folder, error) from None


def require_own(folder: Path) -> None:
    """Refuse a place that holds anything but a run, or what is left of one."""
    try:
        if not folder.is_symlink() and not folder.exists():
            return
        if folder.is_symlink() or not folder.is_dir():
            raise RunError(f"{folder}: no folder of a run, but members are kept there; move it away")
        strange = sorted(path.name for path in folder.iterdir() if not _is_own(path.name))
    except OSError as error:
        raise cant_write(folder, error) from None
    if strange:
        more = f" and {len(strange) - 1} more" if len(strange) > 1 else ""
        raise RunError(f"{folder}: holds {strange[0]}{more}, which is no part of a run; move it away")


def remove_run(folder: Path) -> None:
    """Remove a run and its folder; whatever else the folder holds stays, and the folder with it."""
    with hold(folder):
        try:
            for name in PARTS:
                remove(folder / name)
        except OSError as error:
            raise cant_write(folder, error) from None
        with suppress(OSError):  # while it is held; who comes later finds that it is gone, and makes another
            (folder / LOCK).unlink()
            folder.rmdir()


def _is_own(name: str) -> bool:
    return name in (*PARTS, LOCK) or (name.startswith(".") and name.endswith(PART))


def write_plan(folder: Path, plan: Plan) -> None:
    """Write a plan, and the pool that makes the same members of other problems."""
    description = f"the members of a run of {plan.preset}"
    pool = to_toml([member.settings for member in plan.members], description, plan.manner.interpretation)
    values = {"byline": version("byline"), **plan_values(plan)}
    write_files(folder, {POOL: pool.encode(), PLAN: checked_json(values)})


def require_vacant(folder: Path, remedy: str) -> None:
    """Refuse a folder that holds a run, or members whose plan is lost."""
    if is_run(folder):
        raise RunError(f"{folder}: holds a run already{remedy}")
    members = folder / MEMBERS
    if members.is_symlink() or (members.exists() and not members.is_dir()) or any(members.glob("*")):
        raise RunError(f"{members}: exists already, without a plan; choose another folder, or give --overwrite")


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run's plan."""
    return (folder / PLAN).is_file()


def look_for_run(folder: Path) -> bool:
    """The same; a run comes back first where a process was killed that was about to replace it."""
    if is_unfinished(folder):
        with hold(folder):
            pass
    return is_run(folder)


def find_run(path: Path) -> Path:
    """The run folder that a path means: itself, or the one in a folder of answers."""
    for folder in (path, path / FOLDER):
        if look_for_run(folder):
            return folder
    raise RunError(f"{path}: no run found; name a folder that byline verify -o wrote to")


def read_plan(folder: Path) -> Plan:
    """The plan in a run folder."""
    try:
        values = read_checked_json(folder / PLAN)
    except RunError as error:
        raise RunError(f"{error}; begin again with --overwrite") from None
    return plan_from(values, str(folder / PLAN))


def read_record(path: Path, evidence: bool = False) -> Record:
    """A finished member from its folder, everything checked that answers depend on, and its evidence where asked."""
    values = describe(path)
    require_format(values, path)
    try:
        # models may be gone to save room, the matrix may not; answers don't depend on evidence, whose reader checks it
        for name, digest in values["files"].items():
            shown = name.startswith(EVIDENCE)
            wanted = evidence if shown else name == MATRIX or (path / name).exists()
            if wanted and hash_file(path / name) != digest:
                raise ValueError(f"{name} is not what was written")
        curves = tuple(tuple(float(bits) for bits in curve) for curve in values["curves"])
        sides = read_sides(read_plain(path / MATRIX), str(values.get("unit", "bits per character")))
        if not curves or len(curves) != len(sides) or len({bool(curve) for curve in curves}) > 1:
            raise ValueError("its curves don't fit its matrix")
        made_by = {str(name): str(value) for name, value in values["versions"].items()}
        return Record(
            member_from(values), int(values["group"]), sides, float(values["seconds"]), curves, str(values["inputs"]),
            made_by,
        )  # fmt: skip
    except (OSError, KeyError, TypeError, AttributeError, ValueError, SettingsError, SafetensorError) as error:
        raise RunError(f"{path}: damaged ({error})") from None


def read_members(folder: Path, plan: Plan) -> Iterator[Record]:
    """All finished members of a run, one at a time, in the plan's order."""
    run = RunFolder(folder, plan)
    for member in plan.members:
        for group in range(len(plan.groups)):
            if record := run.load(member, group):
                yield record


def refuse_links(folder: Path, plan: Plan) -> None:
    """Refuse a run where links stand for members or their files."""
    run = RunFolder(folder, plan)
    for member in plan.members:
        for group in range(len(plan.groups)):
            home = run.path(member, group)
            for path in (folder / MEMBERS, home, home / MEMBER):
                refuse_link(path)
            try:
                names = describe(home)["files"]
            except RunError:  # none, or a damaged one, which its reader tells
                continue
            for name in names:
                refuse_links_to(home, name)
