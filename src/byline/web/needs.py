"""What can be asked of the page, and which files each question needs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Literal, TypeGuard

from byline.web.drafts import Draft
from byline.web.limits import RefusedError
from byline.web.options import LONGEST_TITLE, Options

Task = Literal["question", "corpus", "attribution", "clustering"]
NEEDED: Mapping[Task, Mapping[str, str]] = {
    "question": {"known": "a text whose author is known", "unknown": "a text in question"},
    "corpus": {"corpus": "a folder or zip of problems"},
    "attribution": {"candidates": "texts of the authors", "unknown": "a text in question"},
    "clustering": {"texts": "three texts or more"},
}
FEWEST = {"texts": 3}
"""Files of a role, where one is not enough."""
USED_BY: Mapping[str, tuple[Task, ...]] = {
    "budget": ("corpus",),
    "mask_shared": ("question", "corpus"),
    "none": ("attribution",),
    "seed": ("question", "corpus", "attribution"),
}
"""Options that not every task looks at."""


def is_task(word: object) -> TypeGuard[Task]:
    """Whether it can be asked."""
    return word in NEEDED


def require_used(task: object, given: object) -> None:
    """Refuse options that would change nothing."""
    for name in sorted(given) if isinstance(given, dict) and is_task(task) else ():
        if task not in USED_BY.get(name, (task,)):
            raise RefusedError(422, f"{name} is not used where the task is {task}; leave it out")


def require_files(task: Task, options: Options, draft: Draft) -> None:
    """Refuse a question whose files are not all there, and a reference for one that has none."""
    missing = [what for role, what in NEEDED[task].items() if len(draft.of(role)) < FEWEST.get(role, 1)]
    if missing:
        raise RefusedError(422, f"still missing: {' and '.join(missing)}")
    compared = options.reference is not None or options.uploaded
    if compared and task not in ("question", "corpus"):
        raise RefusedError(422, "texts by other people are compared with in questions and corpora only")
    if task == "question" and not compared:
        raise RefusedError(422, "still missing: texts by other people to compare with; choose or drop some")
    if options.uploaded and not draft.of("reference"):
        raise RefusedError(422, "still missing: texts by other people to compare with; drop some")


def usual_title(task: Task, draft: Draft | None) -> str:
    """What a question is called where nobody calls it anything: by its files."""
    return _title(task, draft)[:LONGEST_TITLE].strip() if draft else ""


def _title(task: Task, draft: Draft) -> str:
    if task in ("corpus", "clustering"):
        files = draft.of("corpus" if task == "corpus" else "texts")
        sources = {file.source for file in files}
        whole = files[0].name if len(files) == 1 else sources.pop() if len(sources) == 1 else ""
        if task == "corpus":
            return whole or _count(len(files), "file")
        return ", ".join(filter(None, [whole, _count(len(files), "text")]))
    asked = draft.of("unknown")
    beside = _count(len(draft.of("known")), "known text")
    if task == "attribution":
        candidates = [file.name.split("/") for file in draft.of("candidates")]
        authors = {author for author, *below in candidates if below}
        beside = _count(len(authors), "author") if authors else _count(len(candidates), "file")
    others = [_count(len(asked) - 1, "other")] if len(asked) > 1 else []
    return f"{', '.join([PurePosixPath(asked[0].name).name, *others])} and {beside}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
