"""The files in a member's folder: its description, its matrix, and the evidence that it finds in each text.

member.json          settings, seed, timing, versions, hashes, learning curves
matrix.safetensors   documents x heads for each way of asking, the questions, and the layout of the reference
evidence.json        for each question: way, problem, features, and the place of its gains in the other file: document
                     (0 is the unknown one; known ones are 1, 2 ...), begin and end
evidence.npy         all gains, one after another, in half precision

There is a gain for each character of the original text: the bits by which it favors the head, beyond the head's usual
level (matrix.py). It is 0 for characters that the model does not see. Engines that do not add up characters have none.

The folder may come from somebody else. Everything in it is checked, its file names must stay inside it, and links are
not followed.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from io import BytesIO
from pathlib import Path, PureWindowsPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from byline.corpora.problems import Problem
from byline.engines.matrix import BITS, Floats32, Matrix, Side, find_head_levels
from byline.engines.protocol import EngineResult, Feature
from byline.engines.questions import PreparedQuestions, Question, ReferenceLayout
from byline.errors import RunError, SettingsError
from byline.runs.plan import Member, member_from, require_format
from byline.storage.files import checked_json, hash_file, read_checked_json, read_regular_file, sha256, write_folder
from byline.text.encoder import Alignment, Symbols, TextEncoder, align_text

log = logging.getLogger(__name__)

MEMBER, MATRIX, EVIDENCE, GAINS = "member.json", "matrix.safetensors", "evidence.json", "evidence.npy"
MOST_HEADS = 10_000_000
Halves = NDArray[np.float16]

CHUNK = 1 << 20
"""Gains that are checked at a time: a file may be larger than the memory."""


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


def describe(folder: Path) -> dict[str, Any]:
    """Return the description in a member's folder. Raise RunError if it names files outside of the folder."""
    described = read_checked_json(folder / MEMBER)
    names = described.get("files")
    if not isinstance(names, dict):
        raise RunError("damaged, it names no files", where=folder / MEMBER)
    for name in names:
        path = PureWindowsPath(name)  # which finds everything that leads elsewhere on any system
        if not path.parts or path.anchor or ".." in path.parts:
            raise RunError(f"damaged, {name!r} is not a name of its own files", where=folder)
    return described


def copy_member(source: Path, target: Path) -> None:
    """Copy the files that a finished member names. Its folder must have been checked by `require_no_links`."""
    described = describe(source)
    hashes = described["files"]
    if any(name in (EVIDENCE, GAINS) and not (source / name).exists() for name in hashes):
        log.warning("%s: its evidence is incomplete and left out", source)
        hashes = {name: digest for name, digest in hashes.items() if name not in (EVIDENCE, GAINS)}
    found = {MEMBER: checked_json({**described, "files": hashes})}
    for name, digest in hashes.items():
        if name != MATRIX and not (source / name).exists():
            continue  # deleted to save space
        found[name] = read_own(source / name)
        if sha256(found[name]) != digest:
            raise RunError("damaged", where=source / name, remedy="Repair its run with {resume}, then combine again")
    write_folder(target, found)


def read_own(path: Path) -> bytes:
    """Return the content of a file of a run."""
    try:
        return read_regular_file(path)
    except OSError as error:
        what = f"can't be read ({error.strerror or error})"
        raise RunError(what, where=path, remedy="Check that you may read it") from None


def require_no_links(folder: Path) -> None:
    """Raise RunError if a run folder holds links. In somebody else's run they might lead to anything."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise RunError("is a link, which is not followed", where=path, remedy="Replace it with what it leads to")


def matrix_bytes(sides: Sequence[Side]) -> bytes:
    """Return the content of a matrix file."""
    arrays: dict[str, Any] = {}
    for way, side in enumerate(sides, start=1):
        arrays[f"values-{way}"] = side.matrix.values
        arrays[f"seen-{way}"] = side.matrix.excluded
        arrays[f"heads-{way}"] = np.ascontiguousarray(side.matrix.heads)
        rows = [(q.problem, q.head, q.document, q in side.incomparable) for q in side.questions]
        arrays[f"questions-{way}"] = np.array(rows, np.int32).reshape(-1, 4)
        if side.matrix.parts is not None:
            arrays[f"parts-{way}"] = side.matrix.parts.astype(np.float32)
        arrays[f"turned-{way}"] = np.array([side.way == 1])
        if side.layout is not None:
            arrays |= {f"{name}-{way}": np.array(values, np.int32) for name, values in asdict(side.layout).items()}
    return save(arrays)


def sides_from_bytes(content: bytes, unit: str) -> tuple[Side, ...]:
    """Return what is in a matrix file. Raise ValueError, KeyError or SafetensorError if it is damaged."""
    arrays = load(content)
    sides = []
    for way in range(1, sum(name.startswith("values-") for name in arrays) + 1):
        values, seen, heads, asked = (arrays[f"{name}-{way}"] for name in ("values", "seen", "heads", "questions"))
        _check_matrix(values, seen, heads, asked)
        questions = tuple(Question(int(p), int(h), int(d)) for p, h, d, _ in asked)
        incomparable = frozenset(question for question, row in zip(questions, asked, strict=True) if row[3])
        matrix = Matrix(values, seen, heads, unit, _read_parts(arrays, way))
        sides.append(Side(matrix, questions, incomparable, _read_way(arrays, way), _read_layout(arrays, way)))
    _require_same_layouts(sides)
    return tuple(sides)


def _check_matrix(values: NDArray[Any], seen: NDArray[Any], heads: NDArray[Any], questions: NDArray[Any]) -> None:
    """Raise ValueError for arrays that no member writes."""
    if values.ndim != 2 or values.dtype != np.float64 or not np.isfinite(values).all():
        raise ValueError("its values are not finite numbers")
    if seen.shape != values.shape or seen.dtype != np.bool_ or heads.shape != values.shape or heads.dtype != np.int32:
        raise ValueError("its arrays don't fit each other")
    if heads.size and not 0 <= heads.min() <= heads.max() < MOST_HEADS:
        raise ValueError("its heads are out of range")
    if questions.ndim != 2 or questions.shape[1] != 4 or questions.dtype != np.int32 or (questions < 0).any():
        raise ValueError("its questions are damaged")
    asked = questions[:, 2] < len(values)
    if not asked.all() or not (heads[questions[:, 2]] == questions[:, 1:2]).any(axis=1).all():
        raise ValueError("its questions don't fit its matrix")


def _read_parts(arrays: Mapping[str, NDArray[Any]], way: int) -> NDArray[np.float64] | None:
    """Return the values without each part of the documents. Older members have none."""
    parts = arrays.get(f"parts-{way}")
    if parts is None:
        return None
    if parts.dtype != np.float32 or parts.ndim != 3 or not len(parts) or not np.isfinite(parts).all():
        raise ValueError("its parts are not finite numbers")
    if parts.shape[1:] != arrays[f"values-{way}"].shape:
        raise ValueError("its parts don't fit its matrix")
    return parts.astype(np.float64)


def _read_way(arrays: Mapping[str, NDArray[Any]], number: int) -> int:
    """Return 1 if known and unknown texts change roles. Older members don't tell, and nothing depends on it there."""
    turned = arrays.get(f"turned-{number}")
    if turned is None:
        return 0
    if turned.dtype != np.bool_ or turned.shape != (1,):
        raise ValueError("its ways of asking are damaged")
    return int(turned[0])


def _read_layout(arrays: Mapping[str, NDArray[Any]], number: int) -> ReferenceLayout | None:
    """Return the layout of the reference. Members without a reference population have none."""
    found = {field.name: arrays.get(f"{field.name}-{number}") for field in fields(ReferenceLayout)}
    if all(array is None for array in found.values()):
        return None
    values: dict[str, tuple[int, ...]] = {}
    for name, array in found.items():
        if array is None or array.dtype != np.int32 or array.ndim != 1 or array.min(initial=0) < 0:
            raise ValueError(f"{name} of its reference is damaged")
        values[name] = tuple(array.tolist())
    own_pairs, cases, cohort, halved, lengths = (values[name] for name in found)
    asked, heads = arrays[f"questions-{number}"], arrays[f"heads-{number}"]
    count = len(asked) + len(own_pairs) + len(cases) + len(cohort)
    places = np.arange(count)
    if not (
        len(lengths) == 2
        and min(lengths) > 0
        and len(halved) == len(cases) > 0
        and max(halved) <= 1
        and max(own_pairs, default=-1) < len(asked)
        and set(cases) <= set(cohort)
        and max(cohort) < len(cohort)  # authors are numbered
        and heads.shape == (count, count)
        and (heads == places).all()
        and (asked[:, 1:3] == places[: len(asked), None]).all()
    ):
        raise ValueError("its reference doesn't fit its matrix")
    known, unknown = lengths
    return ReferenceLayout(own_pairs, cases, cohort, tuple(map(bool, halved)), (known, unknown))


def _require_same_layouts(sides: Sequence[Side]) -> None:
    """Raise ValueError unless all ways of asking about the same problems have the same layout, or none has any."""
    layouts: dict[tuple[int, ...], ReferenceLayout | None] = {}
    for side in sides:
        problems = tuple(question.problem for question in side.questions)
        if layouts.setdefault(problems, side.layout) != side.layout:
            raise ValueError("its ways of asking have different references")
    if len({layout is None for layout in layouts.values()}) > 1:
        raise ValueError("only some of its problems have a reference")


def read_record(path: Path, evidence: bool = False) -> Record:
    """Read a finished member from its folder, and check everything that answers depend on.

    With `evidence`, raise RunError for damaged evidence as well.
    """
    values = describe(path)
    try:
        require_format(values, path)
        for name, digest in values["files"].items():
            wanted = name == MATRIX or (evidence and name in (EVIDENCE, GAINS))
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


@dataclass(frozen=True)
class ProblemEvidence:
    """The evidence of one member for one question."""

    problem: int
    """The number of the problem in its language."""
    way: int
    gains: Mapping[int, Halves]
    """What each character says for the head, by document (0 is the unknown one): bits, or deviations of a score beside
    the cohort. Empty if the engine does not add up."""
    features: tuple[Feature, ...]


class _Gathered(NamedTuple):
    """The evidence that an engine gave for one question."""

    way: int
    texts: tuple[Symbols, ...]
    """The texts of the document."""
    gains: Floats32 | None
    """The gains of its symbols."""
    level: float
    """The usual gain of the head."""
    features: tuple[Feature, ...]


def evidence_files(filled: Sequence[EngineResult], prepared: PreparedQuestions) -> dict[str, bytes]:
    """Return the contents of a member's evidence files by name. There are none if the engine gave no evidence."""
    gathered = _gather(filled, prepared)
    parts: list[Halves] = []
    rows: list[dict[str, Any]] = []
    size = 0
    for problem, own in sorted(gathered.items()):
        trails: dict[str, Alignment] = {}
        for each in own:
            placed = []
            for document, gains in _place_gains(each, prepared.problems[problem], prepared.encoder, trails):
                parts.append(gains)
                placed.append((document, size, size + len(gains)))
                size += len(gains)
            features = [(name, float(f"{weight:.6g}")) for name, weight in each.features]
            rows.append({"way": each.way, "problem": problem, "features": features, "gains": placed})
    files = {EVIDENCE: json.dumps(rows).encode()} if rows else {}
    if parts:
        content = BytesIO()
        np.save(content, np.concatenate(parts))
        files[GAINS] = content.getvalue()
    return files


def _gather(filled: Sequence[EngineResult], prepared: PreparedQuestions) -> dict[int, list[_Gathered]]:
    """Collect the evidence by problem, so that each of its texts is traced once."""
    gathered: dict[int, list[_Gathered]] = {}
    for way, (own, side) in enumerate(zip(filled, prepared.sides, strict=True), start=1):
        if own.gains or own.features:
            levels = find_head_levels(side, own.matrix)
            for number, (question, level) in enumerate(zip(side.questions, levels, strict=True)):
                texts = tuple(side.texts[text] for text in side.documents[question.document])
                gains = own.gains[number] if own.gains else None
                if own.matrix.unit != BITS:
                    level = 0.0  # such gains are beyond the head's level already
                features = own.features[number] if own.features else ()
                gathered.setdefault(question.problem, []).append(_Gathered(way, texts, gains, level, features))
    return gathered


def _place_gains(
    gathered: _Gathered, problem: Problem, encoder: TextEncoder, trails: dict[str, Alignment]
) -> Iterator[tuple[int, Halves]]:
    """Yield the problem's documents, and for each character of the original the gain beyond the head's level.

    If the problem has a text twice, only the first one is yielded. `trails` caches how its texts are aligned.
    """
    if gathered.gains is None:
        return
    lengths = [len(text) for text in gathered.texts]
    parts = {
        text.tobytes(): part
        for text, part in zip(gathered.texts, np.split(gathered.gains, np.cumsum(lengths)[:-1]), strict=True)
    }
    for document, original in enumerate((problem.unknown, *problem.known)):
        if not parts:
            break
        if original.text not in trails:
            trails[original.text] = align_text(encoder, original.text)
        trail = trails[original.text]
        part = parts.pop(trail.symbols.tobytes(), None)
        if part is not None:
            beyond = np.where(part != 0, part - gathered.level, 0)  # characters that did not count stay 0
            yield document, trail.to_characters(beyond, len(original.text)).astype("<f2")


def read_evidence(path: Path) -> tuple[ProblemEvidence, ...]:
    """Read a member's evidence for all questions. Return nothing if it has none.

    Gains are mapped from their file, not loaded.
    """
    hashes = describe(path)["files"]
    if EVIDENCE not in hashes:
        return ()
    try:
        for name in (EVIDENCE, GAINS):
            if name in hashes and hash_file(path / name) != hashes[name]:
                raise ValueError(f"{name} is not what was written")
        gains = _map_gains(path / GAINS) if GAINS in hashes else np.zeros(0, np.float16)
        return tuple(
            ProblemEvidence(
                int(row["problem"]),
                int(row["way"]),
                {int(document): _cut(gains, begin, end) for document, begin, end in row.get("gains", ())},
                tuple(Feature(str(name), float(weight)) for name, weight in row["features"]),
            )
            for row in json.loads(read_regular_file(path / EVIDENCE))
        )
    except (OSError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise RunError(f"its evidence is damaged ({error})", where=path, remedy="Make it again with {resume}") from None


def _map_gains(path: Path) -> Halves:
    try:
        gains: Halves = np.lib.format.open_memmap(path, mode="r")  # never reads a pickle
    except Exception as error:  # NumPy parses the header as Python, which can raise anything
        raise ValueError(f"{path.name} does not hold gains ({error})") from None
    if gains.dtype != np.dtype("<f2") or gains.ndim != 1:
        raise ValueError(f"{path.name} does not hold gains")
    if not all(np.isfinite(gains[start : start + CHUNK]).all() for start in range(0, len(gains), CHUNK)):
        raise ValueError(f"{path.name} holds gains that are not finite")
    return gains


def _cut(gains: Halves, begin: int, end: int) -> Halves:
    if not 0 <= begin <= end <= len(gains):
        raise ValueError(f"there are no gains from {begin} to {end}")
    return gains[begin:end]
