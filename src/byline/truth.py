"""The truth of a corpus, for measuring only: truth.txt, truth.json or truth.jsonl -> id: was it the same author?"""

from __future__ import annotations

from pathlib import Path

from byline.records import RecordKind, read_records

_WORDS = {"y": True, "yes": True, "true": True, "1": True, "n": False, "no": False, "false": False, "0": False}


def _parse(word: object) -> bool | None:
    return _WORDS.get(str(word).strip().lower())


_TRUTH = RecordKind(
    noun="truth",
    names=("truth.txt", "truth.json", "truth.jsonl"),
    keys=("same", "answer", "truth"),
    parse=_parse,
    wanted="Y or N (or true or false)",
    example="EN001 Y",
)


def read_truth(path: Path | str) -> dict[str, bool]:
    """Each problem's truth from a file, or from the truth file in a folder."""
    path = Path(path)
    return read_records(path, _TRUTH)
