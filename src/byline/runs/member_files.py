"""The files in a member's folder: its description, its matrix, and copies of both.

The folder may come from somebody else. Everything in it is checked, its file names must stay inside it, and links are
not followed.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from byline.engines.matrix import Cohort, Matrix, Side
from byline.engines.questions import Question
from byline.errors import RunError
from byline.storage.files import checked_json, read_checked_json, read_regular_file, sha256, write_folder

log = logging.getLogger(__name__)

MEMBER, MATRIX = "member.json", "matrix.safetensors"
EVIDENCE = "evidence."
"""The beginning of the names of evidence files."""
MODEL = "model-"
"""The beginning of the names of network files, which earlier versions wrote. They are ignored."""
MOST_HEADS = 10_000_000


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
    """Copy the files that a finished member names. Its folder must have been checked by `require_no_member_links`."""
    described = describe(source)
    hashes = {name: digest for name, digest in described["files"].items() if not name.startswith(MODEL)}
    if any(name.startswith(EVIDENCE) and not os.path.lexists(source / name) for name in hashes):
        log.warning("%s: its evidence is incomplete and left out", source)
        hashes = {name: digest for name, digest in hashes.items() if not name.startswith(EVIDENCE)}
    found = {MEMBER: checked_json({**described, "files": hashes})}
    for name, digest in hashes.items():
        if name != MATRIX and not (source / name).exists():
            continue  # deleted to save space
        found[name] = read_own(source / name)
        if sha256(found[name]) != digest:
            raise RunError("damaged", where=source / name, remedy="Repair its run with {resume}, then combine again")
    write_folder(target, found)


def read_own(path: Path) -> bytes:
    """Return the content of a file of a run, which must not be a link."""
    require_no_link(path)
    try:
        return read_regular_file(path)
    except OSError as error:
        raise _read_error(path, error) from None


def require_no_links(folder: Path, name: str) -> None:
    """Raise RunError if a file in a folder, or a folder in its name, is a link."""
    for inner in (Path(name), *Path(name).parents):
        require_no_link(folder / inner)


def require_no_link(path: Path) -> None:
    """Raise RunError if a path is a link. In somebody else's run it might lead to anything."""
    try:
        if path.is_symlink():
            raise RunError("is a link, which is not followed", where=path, remedy="Replace it with what it leads to")
    except OSError as error:
        raise _read_error(path, error) from None


def _read_error(path: Path, error: OSError) -> RunError:
    return RunError(f"can't be read ({error.strerror or error})", where=path, remedy="Check that you may read it")


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
        if side.matrix.trust is not None:
            arrays[f"trust-{way}"] = side.matrix.trust
        if side.reference is not None:
            for name, values in side.reference._asdict().items():
                arrays[f"reference-{name}-{way}"] = values
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
        matrix = Matrix(values, seen, heads, unit, _read_parts(arrays, way), _read_trust(arrays, way))
        sides.append(Side(matrix, questions, incomparable, _read_reference(arrays, way)))
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


def _read_trust(arrays: Mapping[str, NDArray[Any]], way: int) -> NDArray[np.float64] | None:
    """Return how far values can be relied on, which only some engines write."""
    trust = arrays.get(f"trust-{way}")
    if trust is None:
        return None
    fits = trust.dtype == np.float64 and trust.shape == arrays[f"values-{way}"].shape
    if not fits or not ((trust >= 0) & (trust <= 1)).all():
        raise ValueError("its trust does not fit its matrix")
    return trust


def _read_reference(arrays: Mapping[str, NDArray[Any]], way: int) -> Cohort | None:
    """Return which heads and documents are those of a reference population, if there is one."""
    found = [arrays.get(f"reference-{name}-{way}") for name in Cohort._fields]
    if all(each is None for each in found):
        return None
    shape = arrays[f"values-{way}"].shape
    for name, each in zip(Cohort._fields, found, strict=True):
        wanted = np.bool_ if name in ("heads", "documents") else np.float64
        fits = each is not None and each.dtype == wanted and each.shape == (shape["head" in name],)
        if not fits or not np.isfinite(each).all():  # type: ignore[arg-type]
            raise ValueError("its reference does not fit its matrix")
    return Cohort(*found)  # type: ignore[arg-type]
