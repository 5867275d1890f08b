"""What a run keeps so that its answers can be explained later: the texts, and what speaks for and against in them.

run/problems.jsonl                      the problems with their texts, a line each
run/members/0001/evidence.json          for each question: way, problem, relative entropy, the head's level, features
run/members/0001/evidence.safetensors   gain-1-12-0: way 1, problem 12, the unknown text (0; known ones are 1, 2 ...)

A gain is kept for each character of the original text: how many bits it speaks for the head, more than usual for that
head (gains.py). What the model does not see, and an engine that does not add up, has none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from byline.documents import Document
from byline.engines import Feature, Filled
from byline.errors import RunError
from byline.gains import standings
from byline.places import spread_back
from byline.plans import Plan, fingerprint
from byline.problems import Problem
from byline.questions import Prepared, Question, Questions
from byline.runs import MEMBER, TEXTS
from byline.storage import read_checked_json, read_plain, sha256

EVIDENCE, GAINS = "evidence.json", "evidence.safetensors"
Weights = NDArray[np.float64]


@dataclass(frozen=True)
class Kept:
    """What one member keeps of one question."""

    problem: int
    """Its number in the language's group."""
    way: int
    gains: Mapping[int, Weights]
    """By document, 0 the unknown one: bits of each character for the head. Empty where the engine does not add up."""
    relative: float
    """How much less a symbol costs the head than its cohort, in the matrix's unit; higher speaks for the head."""
    level: float
    """What that usually is for this head."""
    features: tuple[Feature, ...]


def problem_lines(problems: Sequence[Problem]) -> bytes:
    """The problems with their texts, a JSON object a line."""
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


def read_kept_problems(folder: Path, plan: Plan) -> dict[str, Problem]:
    """The problems of a run by id, the very ones that its plan names."""
    path = folder / TEXTS
    try:
        rows = [json.loads(line) for line in read_plain(path).decode().splitlines()]
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
            f"{path}: not there, so texts can't be shown; run byline verify again, with --overwrite and without"
            " --no-evidence"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"{path}: damaged ({error}); run byline verify again") from None
    wanted, found = plan.request.get("problems") or {}, fingerprint(problems)
    answered = {name for group in plan.groups for name in group.ids}
    if len(found) != len(problems) or answered != set(found) or any(wanted.get(name) != found[name] for name in found):
        raise RunError(f"{path}: damaged, these are not the texts that were answered; run byline verify again")
    return {problem.id: problem for problem in problems}


def evidence_files(filled: Sequence[Filled], prepared: Prepared) -> dict[str, bytes]:
    """A member's evidence by the names of files; none where it gave none."""
    arrays: dict[str, NDArray[np.float16]] = {}
    rows: list[dict[str, Any]] = []
    for way, (own, side) in enumerate(zip(filled, prepared.sides, strict=True), start=1):
        if not own.gains and not own.features:
            continue
        for number, (question, standing) in enumerate(zip(side.questions, standings(side, own.matrix), strict=True)):
            features = [list(each) for each in own.features[number]] if own.features else []
            rows.append({"way": way, "problem": question.problem, **standing._asdict(), "features": features})
            if own.gains:
                found = _place_gains(own.gains[number], standing.level, question, side, prepared)
                arrays |= {f"gain-{way}-{question.problem}-{document}": values for document, values in found.items()}
    files = {EVIDENCE: json.dumps(rows).encode()} if rows else {}
    return {**files, GAINS: save(arrays)} if arrays else files


def _place_gains(
    gains: NDArray[np.float32], level: float, question: Question, side: Questions, prepared: Prepared
) -> dict[int, NDArray[np.float16]]:
    """By the problem's document, what each character of the original speaks for the head, beyond the head's level.

    A text that the problem has twice gets it once.
    """
    numbers = side.documents[question.document]
    lengths = [len(side.texts[text]) for text in numbers]
    parts = {
        side.texts[text].tobytes(): part
        for text, part in zip(numbers, np.split(gains, np.cumsum(lengths)[:-1]), strict=True)
    }
    problem = prepared.problems[question.problem]
    found = {}
    for document, original in enumerate((problem.unknown, *problem.known)):
        part = parts.pop(prepared.view.encode(original.text).tobytes(), None)
        if part is not None:
            beyond = np.where(part != 0, part - level, 0)  # what did not count has none
            found[document] = spread_back(prepared.view, original.text, beyond).astype(np.float16)
    return found


def read_evidence(path: Path) -> tuple[Kept, ...]:
    """What the member in a folder keeps of each question; nothing, where it keeps none."""
    hashes = read_checked_json(path / MEMBER).get("files") or {}
    if EVIDENCE not in hashes:
        return ()
    try:
        content = {name: read_plain(path / name) for name in (EVIDENCE, GAINS) if name in hashes}
        for name, data in content.items():
            if sha256(data) != hashes[name]:
                raise ValueError(f"{name} is not what was written")
        arrays = load(content[GAINS]) if GAINS in content else {}
        gains: dict[tuple[int, int], dict[int, Weights]] = {}
        for name, values in arrays.items():
            way, problem, document = map(int, name.removeprefix("gain-").split("-"))
            gains.setdefault((way, problem), {})[document] = values.astype(np.float64)
        return tuple(
            Kept(
                int(row["problem"]),
                int(row["way"]),
                gains.get((row["way"], row["problem"]), {}),
                float(row["relative"]),
                float(row["level"]),
                tuple(Feature(str(name), float(weight)) for name, weight in row["features"]),
            )
            for row in json.loads(content[EVIDENCE])
        )
    except (OSError, KeyError, TypeError, ValueError, SafetensorError, RecursionError) as error:
        raise RunError(f"{path}: its evidence is damaged ({error}); run byline verify again") from None
