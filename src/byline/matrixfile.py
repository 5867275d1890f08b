"""The matrix of a member on disk: safetensors, everything checked that is read of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load, save

from byline.questions import Question
from byline.scoring import Cohort, Matrix, Side

MOST_HEADS = 10_000_000


def matrix_bytes(sides: Sequence[Side]) -> bytes:
    """The content of the file: what each way of asking gave."""
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


def read_sides(content: bytes, unit: str) -> tuple[Side, ...]:
    """What each way of asking gave, from the content; a ValueError, KeyError or SafetensorError where it is damaged."""
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
