"""The truth of a corpus, for measuring only: truth.txt, truth.json or truth.jsonl -> id: was it the same author?"""

from __future__ import annotations

import json
from pathlib import Path

from byline.documents import decode, look_at, read_bytes
from byline.errors import AnswersError, CorpusError, listing
from byline.problems import find_file, read_json_lines

_WORDS = {"y": True, "yes": True, "true": True, "1": True, "n": False, "no": False, "false": False, "0": False}


def read_truth(path: Path) -> dict[str, bool]:
    """Each problem's truth from a file, or from the truth file in a folder."""
    try:
        kind = look_at(path, "name the truth file or its folder")
    except CorpusError as error:
        raise AnswersError(str(error)) from None
    if kind == "folder":
        found = [file for name in ("truth.txt", "truth.json", "truth.jsonl") if (file := find_file(path, name))]
        if not found:
            raise AnswersError(f"{path}: no truth.txt, truth.json or truth.jsonl there; name the truth file")
        path = found[0]
    try:
        rows = _read_rows(path)
    except CorpusError as error:
        raise AnswersError(str(error)) from None
    truth: dict[str, bool] = {}
    offences = []
    for where, problem_id, word in rows:
        same = word if isinstance(word, bool) else _WORDS.get(str(word).strip().lower())
        if not isinstance(problem_id, str) or not problem_id or same is None:
            offences.append(f"{where}: no id with Y or N (or true or false)")
        elif problem_id in truth:
            offences.append(f"{where}: id {problem_id} occurs twice; leave one")
        else:
            truth[problem_id] = same
    if offences:
        raise AnswersError(listing(offences, "the truth can't be used"))
    if not truth:
        raise AnswersError(f"{path}: empty; a truth file has a line for each problem, such as EN001 Y")
    return truth


def _read_rows(path: Path) -> list[tuple[str, object, object]]:
    """Where it stands, id and word of each entry."""
    suffix = path.suffix.lower()
    if suffix == ".jsonl":
        return [(f"{path.name} line {number}", *_entry(value)) for number, value in read_json_lines(path)]
    text = decode(read_bytes(path), str(path))
    if suffix == ".json":
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            raise AnswersError(f"{path}: not JSON; repair it") from None
        if isinstance(value, dict) and isinstance(value.get("problems"), list):
            value = value["problems"]
        if isinstance(value, dict):
            return [(f"{path.name} {name}", name, word) for name, word in value.items()]
        entries = value if isinstance(value, list) else []
        return [(f"{path.name} entry {number}", *_entry(entry)) for number, entry in enumerate(entries, start=1)]
    lines = [(number, line.strip().rsplit(maxsplit=1)) for number, line in enumerate(text.split("\n"), start=1)]
    return [
        (f"{path.name} line {number}", *(words if len(words) == 2 else (None, None)))
        for number, words in lines
        if words
    ]


def _entry(value: object) -> tuple[object, object]:
    """Id and word of a JSON object, by the names that PAN's years have used."""
    if not isinstance(value, dict):
        return None, None
    problem_id = next((value[key] for key in ("id", "problem", "name") if key in value), None)
    word = next((value[key] for key in ("same", "answer", "truth") if key in value), None)
    return str(problem_id) if isinstance(problem_id, int) else problem_id, word
