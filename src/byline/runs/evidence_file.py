"""The evidence that a member finds in each text, stored so that answers can be explained later.

run/members/0001/evidence.json    for each question: way, problem, features, and the place of its gains in the other
                                  file: document (0 is the unknown one; known ones are 1, 2 ...), begin and end
run/members/0001/evidence.npy     all gains, one after another, in half precision

There is a gain for each character of the original text: the bits by which it favors the head, beyond the head's usual
level (gains.py). It is 0 for characters that the model does not see. Engines that do not add up characters have none.
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

from byline.corpora.problems import Problem
from byline.engines.gains import find_head_levels
from byline.engines.matrix import Floats32
from byline.engines.protocol import EngineResult, Feature
from byline.engines.questions import PreparedQuestions
from byline.errors import RunError
from byline.runs.member_files import describe
from byline.storage.files import hash_file, read_regular_file, sha256
from byline.text.alignment import Alignment, align_text
from byline.text.encoder import Symbols, TextEncoder

EVIDENCE, GAINS = "evidence.json", "evidence.npy"
OLD_GAINS = "evidence.safetensors"
HALF = np.dtype("<f2")
Halves = NDArray[np.float16]
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    _MAGIC + rb"(..)\{'descr': '<f2', 'fortran_order': False, 'shape': \(([0-9]{1,15}),\), \} *\n", re.DOTALL
)
"""The header of the file of gains. NumPy parses it as Python, which can raise more than ValueError."""
MAX_HEADER = 1_000


@dataclass(frozen=True)
class ProblemEvidence:
    """The evidence of one member for one question."""

    problem: int
    """The number of the problem in its language."""
    way: int
    gains: Mapping[int, Halves]
    """Bits of each character for the head, by document (0 is the unknown one). Empty if the engine does not add up."""
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
    return {**files, GAINS: _array_bytes(parts)} if parts else files


def _gather(filled: Sequence[EngineResult], prepared: PreparedQuestions) -> dict[int, list[_Gathered]]:
    """Collect the evidence by problem, so that each of its texts is traced once."""
    gathered: dict[int, list[_Gathered]] = {}
    for way, (own, side) in enumerate(zip(filled, prepared.sides, strict=True), start=1):
        if own.gains or own.features:
            levels = find_head_levels(side, own.matrix)
            for number, (question, level) in enumerate(zip(side.questions, levels, strict=True)):
                texts = tuple(side.texts[text] for text in side.documents[question.document])
                gains = own.gains[number] if own.gains else None
                features = own.features[number] if own.features else ()
                gathered.setdefault(question.problem, []).append(_Gathered(way, texts, gains, level, features))
    return gathered


def _array_bytes(parts: Sequence[Halves]) -> bytes:
    """Return arrays, one after another, as the content of one .npy file."""
    head = BytesIO()
    size = sum(map(len, parts))
    np.lib.format.write_array_header_1_0(head, {"descr": HALF.str, "fortran_order": False, "shape": (size,)})
    return b"".join([head.getvalue(), *(part.data for part in parts)])


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
            yield document, trail.to_characters(beyond, len(original.text)).astype(HALF)


def read_evidence(path: Path, problem: int | None = None) -> tuple[ProblemEvidence, ...]:
    """Read a member's evidence for all questions, or for those of one problem. Return nothing if it has none.

    Gains are mapped from their file, not loaded.
    """
    hashes = describe(path)["files"]
    if OLD_GAINS in hashes:
        raise RunError(
            "its evidence was written by an older version",
            where=path,
            remedy="Run byline verify again with {overwrite}",
        )
    if EVIDENCE not in hashes:
        return ()
    try:
        content = read_regular_file(path / EVIDENCE)
        found = {EVIDENCE: sha256(content), **({GAINS: hash_file(path / GAINS)} if GAINS in hashes else {})}
        for name, digest in found.items():
            if digest != hashes[name]:
                raise ValueError(f"{name} is not what was written")
        gains = _read_gains(path / GAINS) if GAINS in hashes else np.zeros(0, HALF)
        return tuple(
            ProblemEvidence(
                int(row["problem"]),
                int(row["way"]),
                {int(document): _cut(gains, begin, end) for document, begin, end in row.get("gains", ())},
                tuple(Feature(str(name), float(weight)) for name, weight in row["features"]),
            )
            for row in json.loads(content)
            if problem is None or problem == row["problem"]
        )
    except (OSError, KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        remedy = "Make it again: byline verify with {resume}"
        raise RunError(f"its evidence is damaged ({error})", where=path, remedy=remedy) from None


def _read_gains(path: Path) -> Halves:
    with path.open("rb") as file:
        head = _HEADER.match(file.read(MAX_HEADER))
    if not head or head.end() - len(head[1]) - len(_MAGIC) != int.from_bytes(head[1], "little"):
        raise ValueError(f"{path.name} does not hold gains")
    count = int(head[2])
    if path.stat().st_size != head.end() + count * HALF.itemsize:
        raise ValueError(f"{path.name} is longer or shorter than it says")
    return np.memmap(path, HALF, "r", head.end(), (count,)) if count else np.zeros(0, HALF)


def _cut(gains: Halves, begin: int, end: int) -> Halves:
    if not 0 <= begin <= end <= len(gains):
        raise ValueError(f"there are no gains from {begin} to {end}")
    return gains[begin:end]
