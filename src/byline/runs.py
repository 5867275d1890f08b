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
import os
import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from byline.errors import RunError, SettingsError
from byline.exchange import exchange, is_stopped, undo_exchange
from byline.plans import FORMAT, Member, Plan, member_from, plan_from, plan_values, require_format
from byline.pools import to_toml
from byline.questions import Question
from byline.scoring import Cohort, Matrix, Side
from byline.storage import (
    PART,
    cant_write,
    checked_json,
    hash_file,
    read_checked_json,
    read_plain,
    remove_parts,
    sha256,
    write_files,
    write_folder,
)

log = logging.getLogger(__name__)

MOST_HEADS = 10_000_000
FOLDER = "run"
"""The run folder's name inside the folder of the answers."""
PLAN, POOL, TEXTS, CAUTIONS, MEMBERS, MEMBER, MATRIX, LOCK = (
    "plan.json", "preset.toml", "problems.jsonl", "cautions.json", "members", "member.json", "matrix.safetensors",
    "lock",
)  # fmt: skip
PARTS = (MEMBERS, TEXTS, CAUTIONS, POOL, PLAN)
"""Of a run, all that another one replaces; the plan last, since without it there is no run."""
EVIDENCE = "evidence."
"""How the names of files of evidence begin."""
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
        files = {MATRIX: _matrix_bytes(record.sides), **files}
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
            undo_exchange(folder, PARTS)
        except OSError as error:
            raise cant_write(folder, error) from None
        remove_parts(folder)
        remove_parts(folder / MEMBERS)
        yield
    finally:
        lock.release()  # the file stays: whoever removed it might remove another's


@contextmanager
def aside(folder: Path) -> Iterator[Path]:
    """A hidden folder in one that is held, to make in it what is to take a run's place; in the end it goes."""
    try:
        place = tempfile.TemporaryDirectory(prefix=".", suffix=PART, dir=folder, ignore_cleanup_errors=True)
    except OSError as error:
        raise cant_write(folder, error) from None
    with place as name:
        yield Path(name)


def start(folder: Path, plan: Plan, beside: Mapping[str, bytes], made: Path | None = None) -> None:
    """Write a plan, and what is kept beside it by name, into a folder, in place of any run that it holds.

    Members that are `made` already, in a run folder aside, come along. All is written aside first and then takes its
    place at once: a run that is there stays until then.
    """
    with nullcontext(made) if made else aside(folder) as new:
        write_files(new, beside)
        write_plan(new, plan)
        try:
            exchange(folder, new, PARTS)
        except OSError as error:
            raise cant_write(folder, error) from None


def clear(folder: Path) -> None:
    """Remove the run that a folder holds."""
    try:
        for name in (PLAN, TEXTS, CAUTIONS):
            (folder / name).unlink(missing_ok=True)
        members = folder / MEMBERS
        if members.is_dir() and not members.is_symlink():
            shutil.rmtree(members)
        else:
            members.unlink(missing_ok=True)
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
    clear(folder)
    with suppress(OSError):
        for name in (POOL, LOCK):
            (folder / name).unlink(missing_ok=True)
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
    if is_stopped(folder):
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
    values = read_checked_json(path / MEMBER)
    require_format(values, path)
    try:
        # models may be gone to save room, the matrix may not; answers don't depend on evidence, whose reader checks it
        for name, digest in values["files"].items():
            shown = name.startswith(EVIDENCE)
            wanted = evidence if shown else name == MATRIX or (path / name).exists()
            if wanted and hash_file(path / name) != digest:
                raise ValueError(f"{name} is not what was written")
        curves = tuple(tuple(float(bits) for bits in curve) for curve in values["curves"])
        sides = _read_sides(read_plain(path / MATRIX), str(values.get("unit", "bits per character")))
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
    """Refuse a run where links stand for members or their files: in somebody else's they might lead to anything."""
    run = RunFolder(folder, plan)
    for member in plan.members:
        for group in range(len(plan.groups)):
            home = run.path(member, group)
            for path in (folder / MEMBERS, home, home / MEMBER):
                _refuse_link(path)
            try:
                names = _describe(home)["files"]
            except RunError:  # none, or a damaged one, which its reader tells
                continue
            for name in names:
                _refuse_links(home, name)


def copy_member(source: Path, target: Path) -> None:
    """A finished member's folder, copied with all its own files that are there; what links stand for is not."""
    for path in (source, source / MEMBER):
        _refuse_link(path)
    described = _describe(source)
    hashes = described["files"]
    if any(name.startswith(EVIDENCE) and not os.path.lexists(source / name) for name in hashes):
        log.warning("%s: its evidence is not there whole, and left out", source)
        hashes = described["files"] = {name: each for name, each in hashes.items() if not name.startswith(EVIDENCE)}
    found = {MEMBER: checked_json(described)}
    for name, digest in hashes.items():
        _refuse_links(source, name)
        if name != MATRIX and not (source / name).exists():
            continue  # gone to save room
        found[name] = read_own(source / name)
        if sha256(found[name]) != digest:
            raise RunError(f"{source / name}: damaged; go on with its run by --resume, and join the runs again")
    write_folder(target, found)


def _describe(source: Path) -> dict[str, Any]:
    """What a member's folder says of itself; one whose files would not lie in it is refused."""
    described = read_checked_json(source / MEMBER)
    names = described.get("files")
    if not isinstance(names, dict):
        raise RunError(f"{source / MEMBER}: damaged, it names no files")
    for name in names:
        path = PureWindowsPath(name)  # which knows all that leads elsewhere on any system
        if not path.parts or path.anchor or ".." in path.parts:
            raise RunError(f"{source}: damaged, {name!r} is no name of its own files")
    return described


def read_own(path: Path) -> bytes:
    """A file of a run, which must be no link."""
    _refuse_link(path)
    try:
        return read_plain(path)
    except OSError as error:
        raise _cant_read(path, error) from None


def _refuse_links(folder: Path, name: str) -> None:
    """Refuse a file in a folder, and the folders in its name, where one of them is a link."""
    for inner in (Path(name), *Path(name).parents):
        _refuse_link(folder / inner)


def _refuse_link(path: Path) -> None:
    try:
        if path.is_symlink():
            raise RunError(f"{path}: a link, which is not followed; put there what it leads to")
    except OSError as error:
        raise _cant_read(path, error) from None


def _cant_read(path: Path, error: OSError) -> RunError:
    return RunError(f"{path}: can't be read ({error.strerror or error}); check that you may read it")


def _check_matrix(values: NDArray[Any], seen: NDArray[Any], heads: NDArray[Any], questions: NDArray[Any]) -> None:
    """Refuse arrays that no member could have given."""
    if values.ndim != 2 or values.dtype != np.float64 or not np.isfinite(values).all():
        raise ValueError("its values are no finite numbers")
    if seen.shape != values.shape or seen.dtype != np.bool_ or heads.shape != values.shape or heads.dtype != np.int32:
        raise ValueError("its arrays don't fit each other")
    if heads.size and not 0 <= heads.min() <= heads.max() < MOST_HEADS:
        raise ValueError("its heads are none")
    if questions.ndim != 2 or questions.shape[1] != 4 or questions.dtype != np.int32 or (questions < 0).any():
        raise ValueError("its questions are none")
    asked = questions[:, 2] < len(values)
    if not asked.all() or not (heads[questions[:, 2]] == questions[:, 1:2]).any(axis=1).all():
        raise ValueError("its questions don't fit its matrix")


def _matrix_bytes(sides: Sequence[Side]) -> bytes:
    arrays: dict[str, Any] = {}
    for way, side in enumerate(sides, start=1):
        arrays[f"values-{way}"] = side.matrix.values
        arrays[f"seen-{way}"] = side.matrix.seen
        arrays[f"heads-{way}"] = np.ascontiguousarray(side.matrix.heads)
        rows = [(q.problem, q.head, q.document, q in side.lonely) for q in side.questions]
        arrays[f"questions-{way}"] = np.array(rows, np.int32).reshape(-1, 4)
        if side.matrix.parts is not None:
            arrays[f"parts-{way}"] = side.matrix.parts.astype(np.float32)
        if side.matrix.trust is not None:
            arrays[f"trust-{way}"] = side.matrix.trust
        if side.reference is not None:
            for name, values in side.reference._asdict().items():
                arrays[f"reference-{name}-{way}"] = values
    return save(arrays)


def _read_sides(content: bytes, unit: str) -> tuple[Side, ...]:
    arrays = load(content)
    sides = []
    for way in range(1, sum(name.startswith("values-") for name in arrays) + 1):
        values, seen, heads, asked = (arrays[f"{name}-{way}"] for name in ("values", "seen", "heads", "questions"))
        _check_matrix(values, seen, heads, asked)
        rows = [(Question(int(p), int(h), int(d)), bool(lonely)) for p, h, d, lonely in asked]
        lonely_ones = frozenset(question for question, lonely in rows if lonely)
        asked_ones = tuple(question for question, _ in rows)
        matrix = Matrix(values, seen, heads, unit, _read_parts(arrays, way), _read_trust(arrays, way))
        sides.append(Side(matrix, asked_ones, lonely_ones, _read_reference(arrays, way)))
    return tuple(sides)


def _read_parts(arrays: Mapping[str, NDArray[Any]], way: int) -> NDArray[np.float64] | None:
    """The values without each part of the documents; members of before they were kept have none."""
    parts = arrays.get(f"parts-{way}")
    if parts is None:
        return None
    if parts.dtype != np.float32 or parts.ndim != 3 or not len(parts) or not np.isfinite(parts).all():
        raise ValueError("its parts are no finite numbers")
    if parts.shape[1:] != arrays[f"values-{way}"].shape:
        raise ValueError("its parts don't fit its matrix")
    return parts.astype(np.float64)


def _read_trust(arrays: Mapping[str, NDArray[Any]], way: int) -> NDArray[np.float64] | None:
    """How far values that say something by themselves can be relied on; those of most engines don't."""
    trust = arrays.get(f"trust-{way}")
    if trust is None:
        return None
    fits = trust.dtype == np.float64 and trust.shape == arrays[f"values-{way}"].shape
    if not fits or not ((trust >= 0) & (trust <= 1)).all():
        raise ValueError("its trust does not fit its matrix")
    return trust


def _read_reference(arrays: Mapping[str, NDArray[Any]], way: int) -> Cohort | None:
    """Which heads and documents are a reference population's, where there is one."""
    found = [arrays.get(f"reference-{name}-{way}") for name in Cohort._fields]
    if all(each is None for each in found):
        return None
    shape = arrays[f"values-{way}"].shape
    for name, each in zip(Cohort._fields, found, strict=True):
        wanted = np.bool_ if name in ("heads", "documents") else np.float64
        if (
            each is None
            or each.dtype != wanted
            or each.shape != (shape["head" in name],)
            or not np.isfinite(each).all()
        ):
            raise ValueError("its reference does not fit its matrix")
    return Cohort(*found)  # type: ignore[arg-type]
