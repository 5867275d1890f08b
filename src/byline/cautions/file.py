"""The cautions of a run on disk: run/cautions.json, checked, and of the very texts that the run's plan names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from byline.cautions import KINDS, Caution, Cautions, Passage
from byline.errors import RunError
from byline.plans import FORMAT, Plan, require_format
from byline.reference import ProblemCheck, ReferenceCheck
from byline.reference.suitability import GRADES
from byline.runs import CAUTIONS
from byline.storage import checked_json, read_checked_json

REMEDY = "remove it; byline verify with --resume writes it anew"


def cautions_bytes(cautions: Cautions, plan: Plan, quotes: bool) -> bytes:
    """What is kept of a run's cautions; what they quote of the texts only where that is wanted."""
    return checked_json({"format": FORMAT, "inputs": plan.inputs, **cautions_values(cautions, quotes)})


def cautions_values(cautions: Cautions, quotes: bool = True) -> dict[str, Any]:
    """Cautions in plain values, as they are written."""
    return {
        "run": caution_rows(cautions.run, quotes),
        "problems": {name: caution_rows(own, quotes) for name, own in cautions.problems.items()},
        "reference": asdict(cautions.reference) if cautions.reference else None,
    }


def read_cautions(folder: Path, plan: Plan) -> Cautions | None:
    """What was found when the run in a folder was begun, or None: earlier programs kept none."""
    path = folder / CAUTIONS
    if not path.exists():
        return None
    try:
        values = read_checked_json(path)
    except RunError as error:
        raise RunError(f"{error}; {REMEDY}") from None
    require_format(values, path)
    try:
        if values["inputs"] != plan.inputs:
            raise ValueError("it is of other texts")
        return Cautions(
            _cautions(values["run"]),
            {str(name): _cautions(own) for name, own in values["problems"].items()},
            None if values["reference"] is None else _check_from(values["reference"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise RunError(f"{path}: damaged ({error}); {REMEDY}") from None


def caution_rows(cautions: Sequence[Caution], quotes: bool = True) -> list[dict[str, Any]]:
    """Some cautions in plain values."""
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
            raise ValueError(f"{row['kind']} is no kind of caution")
        passages = tuple(Passage(int(p["document"]), int(p["begin"]), int(p["end"])) for p in row["passages"])
        found.append(Caution(row["kind"], str(row["text"]), passages, tuple(map(str, row["quotes"]))))
    return tuple(found)


def _check_from(values: Mapping[str, Any]) -> ReferenceCheck:
    rows = [ProblemCheck(**{**row, "remarks": tuple(map(str, row["remarks"]))}) for row in values["problems"]]
    if any(row.grade not in GRADES for row in rows):
        raise ValueError("it has a grade that is none")
    shortest, middle, longest = map(int, values["lengths"])
    return ReferenceCheck(
        str(values["language"]),
        int(values["texts"]),
        int(values["authors"]),
        int(values["characters"]),
        (shortest, middle, longest),
        tuple(rows),
    )
