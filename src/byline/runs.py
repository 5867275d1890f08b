"""A run folder: the plan, and each member that is done, so that a stopped run can go on and others can read it.

run/plan.json                 what is asked, of which texts, and the members that answer it
run/members/0001/             one folder a member (0001-2 for the second of several languages), complete or absent
    member.json               settings, seed, timing, versions, hashes, learning curves
    matrix.safetensors        documents x heads for each way of asking, and the questions
    model-1.safetensors       the trained network of each way, unless left out
    trace/                    the member's own answers after each sub-epoch, if asked for
run/lock                      held while a process works here
"""

from __future__ import annotations

import hashlib
import json
import logging
import platform
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout
from safetensors import SafetensorError
from safetensors.numpy import load, save

from byline.documents import Document
from byline.engines.rnn import Filled
from byline.errors import RunError, SettingsError
from byline.modelfile import model_bytes
from byline.pools import to_toml
from byline.problems import Layout, Problem
from byline.questions import Question, Questions
from byline.scoring import Matrix, Side
from byline.settings import Settings
from byline.storage import cant_write, remove_parts, write_files, write_folder

log = logging.getLogger(__name__)

FORMAT = 1
FOLDER = "run"
"""The run folder's name inside the folder of the answers."""
POOL, PLAN, MEMBERS, MEMBER, MATRIX, LOCK = (
    "preset.toml",
    "plan.json",
    "members",
    "member.json",
    "matrix.safetensors",
    "lock",
)


@dataclass(frozen=True)
class Member:
    """One training of an ensemble, on the problems of each language; number and seed make its random stream."""

    number: int
    """Its place in the plan that it was made for, from 0."""
    seed: int
    settings: Settings


@dataclass(frozen=True)
class Group:
    """The problems of one language, by id; questions number them in this order."""

    language: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """What a run does, settled before it begins."""

    preset: str
    members: tuple[Member, ...]
    groups: tuple[Group, ...]
    layout: Layout
    radius: float
    request: dict[str, Any]
    """What was asked for, in plain values: a run goes on only if the same is asked again."""
    budget: dict[str, Any] | None = None
    """Where members were chosen to fit a time: the seconds, the speeds found by the probe, the estimates."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Problems that can't be used, which are answered 0.5: id and reason."""


@dataclass(frozen=True)
class Outcome:
    """What one member gave for one language."""

    member: Member
    group: int
    filled: tuple[Filled, ...]
    """One for each way of asking."""
    seconds: float


@dataclass(frozen=True)
class Record:
    """A finished member of one language, as its folder tells it."""

    member: Member
    group: int
    sides: tuple[Side, ...]
    seconds: float
    curves: tuple[tuple[float, ...], ...]
    """Bits per character by sub-epoch, for each way of asking."""


def fingerprint(problems: Sequence[Problem]) -> dict[str, str]:
    """A hash of each problem's texts, by id."""
    return {
        problem.id: _digest(
            [problem.language, str(problem.symmetric), problem.unknown.text, *(d.text for d in problem.known)]
        )
        for problem in problems
    }


def fingerprint_texts(documents: Sequence[Document]) -> str | None:
    """One hash of all texts, in whatever order they come, or None where there are none."""
    return _digest(sorted(document.text for document in documents)) if documents else None


class RunFolder:
    """A run folder that this process holds the lock of."""

    def __init__(self, folder: Path, plan: Plan, models: bool = True) -> None:
        self.folder, self.plan, self.models = folder, plan, models

    def path(self, member: Member, group: int) -> Path:
        """The folder of a member's result for one language."""
        place = self.plan.members.index(member)
        return self.folder / MEMBERS / _folder_name(place, group, len(self.plan.groups))

    def save(self, outcome: Outcome, sides: Sequence[Questions], traces: Mapping[str, bytes]) -> None:
        """Keep a member's result, with its trace's files by name."""
        matrix = _matrix_bytes([Side.of(f.matrix, side) for f, side in zip(outcome.filled, sides, strict=True)])
        files = {MATRIX: matrix, **{f"trace/{name}": content for name, content in traces.items()}}
        if self.models:
            for way, (filled, side) in enumerate(zip(outcome.filled, sides, strict=True), start=1):
                files[f"model-{way}.safetensors"] = model_bytes(filled.model, side.alphabet)
        described = _describe(outcome, self.plan, {name: _sha(content) for name, content in files.items()})
        try:
            write_folder(self.path(outcome.member, outcome.group), {**files, MEMBER: _json_bytes(described)})
        except RunError as error:
            raise RunError(f"{error}; members done so far are kept, --resume goes on with them") from None

    def load(self, member: Member, group: int) -> Record | None:
        """A member's kept result, or None; a damaged one is as good as none."""
        path = self.path(member, group)
        if not path.exists():
            return None
        try:
            record = read_record(path)
        except RunError as error:
            log.warning("%s; it is made again", error)
            return None
        return record if record.member == member and record.group == group else None


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Hold a run folder's lock, or refuse if another process does; whatever that process is killed by, it lets go."""
    made = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(f"{folder}: another process is at work here; wait for it, or choose another folder") from None
    except OSError as error:
        raise cant_write(folder, error) from None
    try:
        remove_parts(folder)
        remove_parts(folder / MEMBERS)
        yield
    finally:
        lock.release()
        if not (folder / PLAN).exists():  # refused before it began: nothing is left behind
            (folder / LOCK).unlink(missing_ok=True)
            for parent in made:
                if any(parent.iterdir()):
                    break
                parent.rmdir()


def start(folder: Path, plan: Plan) -> None:
    """Write a plan into a folder, in place of any run that it holds."""
    try:
        (folder / PLAN).unlink(missing_ok=True)
        shutil.rmtree(folder / MEMBERS, ignore_errors=True)
    except OSError as error:
        raise cant_write(folder, error) from None
    pool = to_toml([member.settings for member in plan.members], f"the members of a run of {plan.preset}")
    write_files(folder, {POOL: pool.encode(), PLAN: _json_bytes(_plan_values(plan))})


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run's plan."""
    return (folder / PLAN).is_file()


def find_run(path: Path) -> Path:
    """The run folder that a path means: itself, or the one in a folder of answers."""
    for folder in (path, path / FOLDER):
        if is_run(folder):
            return folder
    raise RunError(f"{path}: no run found; name a folder that byline verify -o wrote to")


def read_plan(folder: Path) -> Plan:
    """The plan in a run folder."""
    path = folder / PLAN
    values = _read_json(path)
    try:
        if values["format"] > FORMAT:
            raise RunError(f"{path}: written by a newer Byline (format {values['format']}); update Byline to read it")
        return Plan(
            str(values["preset"]),
            tuple(_member(row) for row in values["members"]),
            tuple(Group(row["language"], tuple(row["problems"])) for row in values["groups"]),
            values["layout"],
            float(values["radius"]),
            values["request"],
            values["budget"],
            tuple((row["id"], row["reason"]) for row in values["skipped"]),
        )
    except (KeyError, TypeError, ValueError, SettingsError) as error:
        raise RunError(f"{path}: damaged ({error}); begin again with --overwrite") from None


def read_record(path: Path) -> Record:
    """A finished member from its folder, everything checked that answers depend on."""
    values = _read_json(path / MEMBER)
    try:
        content = (path / MATRIX).read_bytes()
        if _sha(content) != values["files"][MATRIX]:
            raise ValueError("its matrix is not the one that was written")
        return Record(
            _member(values),
            int(values["group"]),
            _read_sides(content),
            float(values["seconds"]),
            tuple(tuple(curve) for curve in values["curves"]),
        )
    except (OSError, KeyError, TypeError, ValueError, IndexError, SettingsError, SafetensorError) as error:
        raise RunError(f"{path}: damaged ({error})") from None


def read_records(folder: Path) -> tuple[Plan, list[Record]]:
    """The plan and all finished members of a run, in the plan's order."""
    plan = read_plan(folder)
    run = RunFolder(folder, plan)
    found = [run.load(member, group) for member in plan.members for group in range(len(plan.groups))]
    return plan, [record for record in found if record]


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What is asked for now that was not asked for then, each in a few words."""
    changed = []
    for key in dict.fromkeys([*old, *new]):
        before, now = old.get(key), new.get(key)
        if before == now:
            continue
        if isinstance(before, dict) and isinstance(now, dict):
            changed += [f"{key} {line}" for line in differences(before, now)]
        elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
            for number, (one, two) in enumerate(zip(before, now, strict=True), start=1):
                if isinstance(one, dict) and isinstance(two, dict):
                    changed += [f"{key} {number} {line}" for line in differences(one, two)]
        elif key not in old or key not in new:
            changed.append(f"{key} {'is new' if key not in old else 'is gone'}")
        elif isinstance(before, dict | list) or isinstance(now, dict | list) or _is_hash(before) or _is_hash(now):
            changed.append(f"{key} changed")
        else:
            changed.append(f"{key} was {before}, is {now}")
    return changed


def copy_member(source: Path, target: Path) -> None:
    """A finished member's folder, copied whole."""
    files = {str(file.relative_to(source)): file.read_bytes() for file in sorted(source.rglob("*")) if file.is_file()}
    write_folder(target, files)


def _folder_name(place: int, group: int, groups: int) -> str:
    return f"{place + 1:04d}" + (f"-{group + 1}" if groups > 1 else "")


def _plan_values(plan: Plan) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "byline": version("byline"),
        "preset": plan.preset,
        "layout": plan.layout,
        "radius": plan.radius,
        "groups": [{"language": group.language, "problems": list(group.ids)} for group in plan.groups],
        "members": [asdict(member) for member in plan.members],
        "skipped": [{"id": problem_id, "reason": reason} for problem_id, reason in plan.skipped],
        "budget": plan.budget,
        "request": plan.request,
    }


def _describe(outcome: Outcome, plan: Plan, hashes: Mapping[str, str]) -> dict[str, Any]:
    return {
        "format": FORMAT,
        **asdict(outcome.member),
        "group": outcome.group,
        "language": plan.groups[outcome.group].language,
        "seconds": round(outcome.seconds, 3),
        "curves": [list(filled.model.curve) for filled in outcome.filled],
        "inputs": _digest([json.dumps(plan.request.get(key), sort_keys=True) for key in ("problems", "control")]),
        "files": dict(hashes),
        "versions": {
            "byline": version("byline"),
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "numba", "scipy")},
            "machine": platform.machine(),
        },
    }


def _member(values: Mapping[str, Any]) -> Member:
    number, seed = values["number"], values["seed"]
    if not isinstance(number, int) or not isinstance(seed, int):
        raise ValueError("number and seed must be whole numbers")
    return Member(number, seed, Settings().change(values["settings"]))


def _matrix_bytes(sides: Sequence[Side]) -> bytes:
    arrays: dict[str, Any] = {}
    for way, side in enumerate(sides, start=1):
        arrays[f"values-{way}"] = side.matrix.values
        arrays[f"seen-{way}"] = side.matrix.seen
        arrays[f"heads-{way}"] = np.ascontiguousarray(side.matrix.heads)
        rows = [(q.problem, q.head, q.document, q in side.lonely) for q in side.questions]
        arrays[f"questions-{way}"] = np.array(rows, np.int32).reshape(-1, 4)
    return save(arrays, {"byline": json.dumps({"format": FORMAT, "unit": sides[0].matrix.unit})})


def _read_sides(content: bytes) -> tuple[Side, ...]:
    arrays = load(content)
    sides = []
    for way in range(1, len(arrays) // 4 + 1):
        matrix = Matrix(arrays[f"values-{way}"], arrays[f"seen-{way}"], arrays[f"heads-{way}"])
        rows = [(Question(int(p), int(h), int(d)), bool(lonely)) for p, h, d, lonely in arrays[f"questions-{way}"]]
        lonely_ones = frozenset(question for question, lonely in rows if lonely)
        sides.append(Side(matrix, tuple(question for question, _ in rows), lonely_ones))
    return tuple(sides)


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise RunError(f"{path}: can't be read ({error}); begin again with --overwrite") from None
    if not isinstance(values, dict) or values.pop("checksum", None) != _checksum(values):
        raise RunError(f"{path}: damaged, it is not what was written; begin again with --overwrite")
    return values


def _json_bytes(values: dict[str, Any]) -> bytes:
    """Values as JSON with a checksum over them."""
    return (json.dumps({**values, "checksum": _checksum(values)}, indent=1) + "\n").encode()


def _checksum(values: Mapping[str, Any]) -> str:
    return _sha(json.dumps(values, sort_keys=True).encode())


def _digest(texts: Sequence[str]) -> str:
    """Sixteen hex digits for a list of texts; where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and len(value) == 16 and all(digit in "0123456789abcdef" for digit in value)
