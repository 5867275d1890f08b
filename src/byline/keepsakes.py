"""What a run keeps so that its answers can be explained later: the problems with their texts.

run/problems.jsonl            a line each

What members say of these texts is kept beside each member, see testimony.py.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from byline.documents import Document
from byline.errors import RunError
from byline.plans import Plan, fingerprint
from byline.problems import Problem
from byline.runs import TEXTS
from byline.storage import read_plain


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
        raise RunError(f"{path}: damaged ({error}); byline verify with --resume writes it anew") from None
    wanted, found = plan.request.get("problems") or {}, fingerprint(problems)
    answered = {name for group in plan.groups for name in group.ids}
    if len(found) != len(problems) or answered != set(found) or any(wanted.get(name) != found[name] for name in found):
        raise RunError(
            f"{path}: damaged, these are not the texts that were answered; byline verify with --resume writes them anew"
        )
    return {problem.id: problem for problem in problems}
