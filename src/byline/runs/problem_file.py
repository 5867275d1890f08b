"""The files about the problems of a run, for its reports: the texts, and reasons not to trust the answers.

run/problems.jsonl            the problems with their texts, one JSON object per line
run/cautions.json             the cautions, with a checksum
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.errors import RunError
from byline.judgment.checks.cautions import GRADES, KINDS, Caution, Cautions, ProblemCheck, ReferenceCheck, TextSpan
from byline.runs.folder import CAUTIONS, TEXTS
from byline.runs.plan import FORMAT, Plan, hash_problems, require_format
from byline.storage.files import checked_json, read_checked_json, read_regular_file

WRITE_AGAIN = "Write it again: byline verify with {resume}"


def problem_lines(problems: Sequence[Problem]) -> bytes:
    """Return the content of the file of problems."""
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


def read_problem_file(folder: Path, plan: Plan) -> dict[str, Problem]:
    """Read the problems of a run, by id. Raise RunError if they are not those that its plan names."""
    path = folder / TEXTS
    try:
        rows = [json.loads(line) for line in read_regular_file(path).decode().splitlines()]
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
            "missing, so texts can't be shown",
            where=path,
            remedy="Run byline verify again, with evidence and {overwrite}",
        ) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise RunError(f"damaged ({error})", where=path, remedy=WRITE_AGAIN) from None
    found = hash_problems(problems)
    wanted = {name: plan.request.problems.get(name) for group in plan.groups for name in group.ids}
    if len(found) != len(problems) or found != wanted:
        raise RunError("damaged, these are not the texts that were answered", where=path, remedy=WRITE_AGAIN)
    return {problem.id: problem for problem in problems}


def cautions_bytes(cautions: Cautions, plan: Plan, quotes: bool) -> bytes:
    """Return the content of the file of cautions, with or without their quotes from the texts."""
    return checked_json({"format": FORMAT, "inputs": plan.inputs, **cautions_values(cautions, quotes)})


def cautions_values(cautions: Cautions, quotes: bool = True) -> dict[str, Any]:
    """Return cautions in plain values, as cautions.json has them."""
    return {
        "run": caution_rows(cautions.run, quotes),
        "problems": {name: caution_rows(own, quotes) for name, own in cautions.problems.items()},
        "reference": asdict(cautions.reference) if cautions.reference else None,
    }


def read_cautions(folder: Path, plan: Plan) -> Cautions | None:
    """Read the cautions of a run, or None if it has none."""
    path = folder / CAUTIONS
    if not path.exists():
        return None
    try:
        values = read_checked_json(path)
    except RunError as error:
        raise RunError(error.what, where=path, remedy=WRITE_AGAIN) from None
    try:
        require_format(values, path)
        if values["inputs"] != plan.inputs:
            raise ValueError("it is about other texts")
        return Cautions(
            _cautions(values["run"]),
            {str(name): _cautions(own) for name, own in values["problems"].items()},
            None if values["reference"] is None else _check_from(values["reference"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RunError(f"damaged ({error})", where=path, remedy=WRITE_AGAIN) from None


def caution_rows(cautions: Sequence[Caution], quotes: bool = True) -> list[dict[str, Any]]:
    """Return some cautions in plain values."""
    return [
        {
            "kind": each.kind,
            "text": each.text,
            "passages": [passage._asdict() for passage in each.passages],
            "quotes": list(each.quotes) if quotes else [],
        }
        for each in cautions
    ]


def _cautions(rows: Sequence[Mapping[str, Any]]) -> tuple[Caution, ...]:
    found = []
    for row in rows:
        if row["kind"] not in KINDS:
            raise ValueError(f"{row['kind']} is not a kind of caution")
        passages = tuple(TextSpan(int(p["document"]), int(p["begin"]), int(p["end"])) for p in row["passages"])
        found.append(Caution(row["kind"], str(row["text"]), passages, tuple(map(str, row["quotes"]))))
    return tuple(found)


def _check_from(values: Mapping[str, Any]) -> ReferenceCheck:
    rows = [ProblemCheck(**{**row, "remarks": tuple(map(str, row["remarks"]))}) for row in values["problems"]]
    if any(row.grade not in GRADES for row in rows):
        raise ValueError("it has an unknown grade")
    shortest, middle, longest = map(int, values["lengths"])
    return ReferenceCheck(
        str(values["language"]),
        int(values["texts"]),
        int(values["authors"]),
        int(values["characters"]),
        (shortest, middle, longest),
        tuple(rows),
    )
