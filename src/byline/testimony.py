"""What a member says for and against in each text, kept so that answers can be explained later.

run/members/0001/evidence.json    for each question: way, problem, features, and which gains are its own: document (0 is
                                  the unknown one; known ones are 1, 2 ...), begin and end
run/members/0001/evidence.npy     all gains, one after another, in half precision

A gain is kept for each character of the original text: how many bits it speaks for the head, more than usual for that
head (gains.py). What the model does not see, and an engine that does not add up, has none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.alphabet import Symbols
from byline.engines import Feature, Filled
from byline.errors import RunError
from byline.gains import Gains, standings
from byline.memberfiles import describe
from byline.places import Trail, trace
from byline.problems import Problem
from byline.questions import Prepared
from byline.storage import hash_file, read_plain, sha256
from byline.views import View

EVIDENCE, GAINS = "evidence.json", "evidence.npy"
OLD_GAINS = "evidence.safetensors"
HALF = np.dtype("<f2")
Halves = NDArray[np.float16]
_MAGIC = b"\x93NUMPY\x01\x00"
_HEAD = re.compile(
    _MAGIC + rb"(..)\{'descr': '<f2', 'fortran_order': False, 'shape': \(([0-9]{1,15}),\), \} *\n", re.DOTALL
)
"""How the file of gains begins. NumPy would parse it as Python, which can fail in ways that are no ValueError."""
LONGEST_HEAD = 1_000


@dataclass(frozen=True)
class Kept:
    """What one member keeps of one question."""

    problem: int
    """Its number in the language's group."""
    way: int
    gains: Mapping[int, Halves]
    """By document, 0 the unknown one: bits of each character for the head. Empty where the engine does not add up."""
    features: tuple[Feature, ...]


class _Told(NamedTuple):
    """What a member told of one question."""

    way: int
    texts: tuple[Symbols, ...]
    """Of the document."""
    gains: Gains | None
    """Of its symbols."""
    level: float
    """What is usual for the head."""
    features: tuple[Feature, ...]


def evidence_files(filled: Sequence[Filled], prepared: Prepared) -> dict[str, bytes]:
    """A member's evidence by the names of files; none where it gave none."""
    told: dict[int, list[_Told]] = {}  # by problem, so that each of its texts is traced once
    for way, (own, side) in enumerate(zip(filled, prepared.sides, strict=True), start=1):
        if own.gains or own.features:
            for number, (question, standing) in enumerate(
                zip(side.questions, standings(side, own.matrix), strict=True)
            ):
                told.setdefault(question.problem, []).append(
                    _Told(
                        way,
                        tuple(side.texts[text] for text in side.documents[question.document]),
                        own.gains[number] if own.gains else None,
                        standing.level,
                        own.features[number] if own.features else (),
                    )
                )
    parts: list[Halves] = []
    rows: list[dict[str, Any]] = []
    size = 0
    for problem, answers in sorted(told.items()):
        trails: dict[str, Trail] = {}
        for each in answers:
            placed = []
            for document, gains in _place_gains(each, prepared.problems[problem], prepared.view, trails):
                parts.append(gains)
                placed.append((document, size, size + len(gains)))
                size += len(gains)
            features = [(name, float(f"{weight:.6g}")) for name, weight in each.features]
            rows.append({"way": each.way, "problem": problem, "features": features, "gains": placed})
    files = {EVIDENCE: json.dumps(rows).encode()} if rows else {}
    return {**files, GAINS: _array_bytes(parts)} if parts else files


def _array_bytes(parts: Sequence[Halves]) -> bytes:
    """Arrays, one after another, as the content of one .npy file."""
    head = BytesIO()
    size = sum(map(len, parts))
    np.lib.format.write_array_header_1_0(head, {"descr": HALF.str, "fortran_order": False, "shape": (size,)})
    return b"".join([head.getvalue(), *(part.data for part in parts)])


def _place_gains(told: _Told, problem: Problem, view: View, trails: dict[str, Trail]) -> Iterator[tuple[int, Halves]]:
    """The problem's documents, and what each character of the original speaks for the head, beyond the head's level.

    A text that the problem has twice gets it once. `trails` are those of its texts that were traced already.
    """
    if told.gains is None:
        return
    lengths = [len(text) for text in told.texts]
    parts = {
        text.tobytes(): part
        for text, part in zip(told.texts, np.split(told.gains, np.cumsum(lengths)[:-1]), strict=True)
    }
    for document, original in enumerate((problem.unknown, *problem.known)):
        if not parts:
            break
        if original.text not in trails:
            trails[original.text] = trace(view, original.text)
        trail = trails[original.text]
        part = parts.pop(trail.symbols.tobytes(), None)
        if part is not None:
            beyond = np.where(part != 0, part - told.level, 0)  # what did not count has none
            yield document, trail.spread(beyond, len(original.text)).astype(HALF)


def read_evidence(path: Path, problem: int | None = None) -> tuple[Kept, ...]:
    """What the member in a folder keeps of each question, or of those of one problem; nothing, where it keeps none.

    Gains stay in their file until they are looked at.
    """
    hashes = describe(path)["files"]
    if OLD_GAINS in hashes:
        raise RunError(f"{path}: its evidence was kept by an older version; run byline verify again, with --overwrite")
    if EVIDENCE not in hashes:
        return ()
    try:
        content = read_plain(path / EVIDENCE)
        found = {EVIDENCE: sha256(content), **({GAINS: hash_file(path / GAINS)} if GAINS in hashes else {})}
        for name, digest in found.items():
            if digest != hashes[name]:
                raise ValueError(f"{name} is not what was written")
        gains = _read_gains(path / GAINS) if GAINS in hashes else np.zeros(0, HALF)
        return tuple(
            Kept(
                int(row["problem"]),
                int(row["way"]),
                {int(document): _cut(gains, begin, end) for document, begin, end in row.get("gains", ())},
                tuple(Feature(str(name), float(weight)) for name, weight in row["features"]),
            )
            for row in json.loads(content)
            if problem is None or problem == row["problem"]
        )
    except (OSError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise RunError(
            f"{path}: its evidence is damaged ({error}); byline verify with --resume makes it anew"
        ) from None


def _read_gains(path: Path) -> Halves:
    with path.open("rb") as file:
        head = _HEAD.match(file.read(LONGEST_HEAD))
    if not head or head.end() - len(head[1]) - len(_MAGIC) != int.from_bytes(head[1], "little"):
        raise ValueError(f"{path.name} holds no gains")
    count = int(head[2])
    if path.stat().st_size != head.end() + count * HALF.itemsize:
        raise ValueError(f"{path.name} is longer or shorter than it says")
    return np.memmap(path, HALF, "r", head.end(), (count,)) if count else np.zeros(0, HALF)


def _cut(gains: Halves, begin: int, end: int) -> Halves:
    if not 0 <= begin <= end <= len(gains):
        raise ValueError(f"there are no gains from {begin} to {end}")
    return gains[begin:end]
