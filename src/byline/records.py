"""Files that give each problem's id a value, such as answers and truth: lines of text, a JSON file, or JSON lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from byline.documents import decode, look_at, read_bytes, read_json
from byline.errors import AnswersError, CorpusError, listing
from byline.problems import find_file, read_json_lines

Value = TypeVar("Value")

# What PAN's years have called a problem's id in JSON.
_ID_KEYS = ("id", "problem", "name")


@dataclass(frozen=True)
class RecordKind(Generic[Value]):
    """What a kind of file holds and how messages speak of it."""

    noun: str
    names: tuple[str, ...]
    """The names that its file has in a folder."""
    keys: tuple[str, ...]
    """What the value is called in JSON."""
    parse: Callable[[object], Value | None]
    """The value that a word or JSON value stands for, or None."""
    wanted: str
    example: str


def read_records(path: Path, kind: RecordKind[Value]) -> dict[str, Value]:
    """Each id's value, from a file or from the one in a folder; all bad entries are named at once."""
    try:
        if look_at(path, f"name the {kind.noun} file or its folder") == "folder":
            found = next((file for name in kind.names if (file := find_file(path, name))), None)
            if found is None:
                names = f"{', '.join(kind.names[:-1])} or {kind.names[-1]}"
                raise AnswersError(f"{path}: no {names} there; name the {kind.noun} file")
            path = found
        entries = _read_entries(path, kind.keys)
    except CorpusError as error:
        raise AnswersError(str(error)) from None
    values: dict[str, Value] = {}
    offences = []
    for where, problem_id, word in entries:
        value = kind.parse(word)
        if not isinstance(problem_id, str) or not problem_id or value is None:
            offences.append(f"{where}: no id with {kind.wanted}")
        elif problem_id in values:
            offences.append(f"{where}: id {problem_id} occurs twice; leave one")
        else:
            values[problem_id] = value
    if offences:
        raise AnswersError(listing(offences, f"{path} can't be used"))
    if not values:
        raise AnswersError(f"{path}: empty; it should have a line for each problem, such as {kind.example}")
    return values


def read_answers_json(path: Path) -> Any:
    """What a JSON file of answers or truth holds."""
    try:
        return read_json(path)
    except CorpusError as error:
        raise AnswersError(str(error)) from None


def _read_entries(path: Path, keys: tuple[str, ...]) -> list[tuple[str, object, object]]:
    """Where it stands, id and word of each entry."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return [(f"{path.name} line {number}", *_entry(value, keys)) for number, value in read_json_lines(path)]
    text = decode(read_bytes(path), str(path))
    if suffix == ".json":
        try:
            value = json.loads(text, object_pairs_hook=_Pairs)
        except (ValueError, RecursionError):
            raise AnswersError(f"{path}: not JSON; repair it") from None
        if isinstance(value, dict) and isinstance(value.get("problems"), list):
            value = value["problems"]
        if isinstance(value, _Pairs):
            return [(f"{path.name} {name}", name, word) for name, word in value.pairs]
        items = value if isinstance(value, list) else []
        return [(f"{path.name} entry {number}", *_entry(item, keys)) for number, item in enumerate(items, start=1)]
    lines = [(number, line.strip().rsplit(maxsplit=1)) for number, line in enumerate(text.split("\n"), start=1)]
    return [
        (f"{path.name} line {number}", *(words if len(words) == 2 else (None, None)))
        for number, words in lines
        if words
    ]


class _Pairs(dict[str, object]):
    """A JSON object that knows of names which it has twice."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def _entry(value: object, keys: tuple[str, ...]) -> tuple[object, object]:
    """Id and word of a JSON object."""
    if not isinstance(value, dict):
        return None, None
    problem_id = next((value[key] for key in _ID_KEYS if key in value), None)
    word = next((value[key] for key in keys if key in value), None)
    return str(problem_id) if isinstance(problem_id, int) else problem_id, word
