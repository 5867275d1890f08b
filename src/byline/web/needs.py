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
TITLES: Mapping[Task, str] = {"question": "A question", "corpus": "A corpus"}


def is_task(word: object) -> TypeGuard[Task]:
    """Whether it can be asked."""
    return word in NEEDED


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
    """What a question is called where nobody calls it anything."""
    files = draft.of("unknown") if draft and task in ("question", "attribution") else []
    if not files:
        return TITLES.get(task, "Some texts")
    first = PurePosixPath(files[0].name).name[:LONGEST_TITLE]
    return first if len(files) == 1 else f"{first} and {len(files) - 1} more"
