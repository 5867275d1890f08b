"""What the page can ask for: the tasks, the files that each needs, and the options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any, Literal, TypeGuard

from byline.corpora.documents import is_plain_name
from byline.tasks.attribute import USUAL_PRIOR
from byline.web.drafts import Draft
from byline.web.messages import RefusedError, strip_invisible

TaskName = Literal["question", "corpus", "attribution", "clustering"]
NEEDED: Mapping[TaskName, Mapping[str, str]] = {
    "question": {"known": "a text whose author is known", "unknown": "a text in question"},
    "corpus": {"corpus": "a folder or zip of problems"},
    "attribution": {"candidates": "texts of the authors", "unknown": "a text in question"},
    "clustering": {"texts": "three texts or more"},
}
MIN_FILES = {"texts": 3}
"""Files that a role needs, if one is not enough."""
USED_BY: Mapping[str, tuple[TaskName, ...]] = {
    "budget": ("corpus",),
    "mask_shared": ("question", "corpus"),
    "none": ("attribution",),
    "seed": ("question", "corpus", "attribution"),
}
"""Options that not every task uses."""
BUDGETS = ("quick", 60, 300, 1800, 3600)
MAX_TITLE = 120
MAX_NAME = 60
"""Length of the name of a language or a reference."""


@dataclass(frozen=True)
class Options:
    """How a question is to be answered."""

    title: str = ""
    language: str | None = None
    budget: str | int = "quick"
    seed: int = 0
    reference: str | None = None
    """The name of a kept or built-in reference."""
    uploaded: bool = False
    """Whether the reference consists of uploaded texts."""
    save_as: str | None = None
    mask_shared: bool = False
    none: float = USUAL_PRIOR
    keep: bool = True
    keep_files: bool = False


def read_options(values: object) -> Options:
    """Check the options that the page sends."""
    if values is not None and not isinstance(values, dict):
        raise RefusedError(422, "options must be an object")
    given = dict(values or {})
    given |= _read_reference(given.pop("reference", None))
    usual = asdict(Options())
    if unknown := sorted(set(given) - set(usual), key=str):
        raise RefusedError(422, f"there is no option {strip_invisible(unknown[0])[:MAX_NAME]}")
    options: dict[str, Any] = {**usual, **given}
    for name in ("uploaded", "mask_shared", "keep", "keep_files"):
        if not isinstance(options[name], bool):
            raise RefusedError(422, f"{name} must be true or false")
    for name in ("language", "reference", "save_as"):
        if (value := options[name]) is not None and not (is_plain_name(value) and len(value) <= MAX_NAME):
            raise RefusedError(422, f"{name} must be a plain name of at most {MAX_NAME} letters")
    if not isinstance(options["title"], str):
        raise RefusedError(422, "title must be text")
    budget, seed, none = options["budget"], options["seed"], options["none"]
    if not isinstance(budget, str | int) or isinstance(budget, bool) or budget not in BUDGETS:
        raise RefusedError(422, f"budget must be one of {', '.join(map(str, BUDGETS))}")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**32:
        raise RefusedError(422, "seed must be a whole number, 0 or more")
    if not isinstance(none, int | float) or isinstance(none, bool) or not 0 <= none < 1:
        raise RefusedError(422, "none must be a number, 0 or more and less than 1")
    options["title"] = " ".join(strip_invisible(" ".join(options["title"].split())).split())[:MAX_TITLE].strip()
    return Options(**options)


def _read_reference(values: object) -> Mapping[str, Any]:
    if values is None:
        return {}
    if not isinstance(values, dict) or not set(values) <= {"name", "uploaded", "save_as"}:
        raise RefusedError(422, "reference must be an object with a name, or uploaded and save_as")
    name, uploaded, save_as = values.get("name"), values.get("uploaded", False), values.get("save_as")
    if (name is None) == (uploaded is False):
        raise RefusedError(422, "reference must either have a name or be uploaded")
    if save_as is not None and uploaded is not True:
        raise RefusedError(422, "save_as needs a reference that is uploaded")
    return {"reference": name, "uploaded": uploaded, "save_as": save_as}


def is_task(name: object) -> TypeGuard[TaskName]:
    """Return whether there is such a task."""
    return name in NEEDED


def require_used(task: object, given: object) -> None:
    """Refuse options that the task ignores."""
    for name in sorted(given) if isinstance(given, dict) and is_task(task) else ():
        if task not in USED_BY.get(name, (task,)):
            raise RefusedError(422, f"{name} is not used where the task is {task}; leave it out")


def require_files(task: TaskName, options: Options, draft: Draft) -> None:
    """Refuse a question that lacks files, or has a reference that its task ignores."""
    missing = [what for role, what in NEEDED[task].items() if len(draft.of_role(role)) < MIN_FILES.get(role, 1)]
    if missing:
        raise RefusedError(422, f"still missing: {' and '.join(missing)}")
    has_reference = options.reference is not None or options.uploaded
    if has_reference and task not in ("question", "corpus"):
        raise RefusedError(422, "texts by other people are used in questions and corpora only")
    if task == "question" and not has_reference:
        raise RefusedError(422, "still missing: texts by other people to compare with; choose or drop some")
    if options.uploaded and not draft.of_role("reference"):
        raise RefusedError(422, "still missing: texts by other people to compare with; drop some")


def default_title(task: TaskName, draft: Draft | None) -> str:
    """Return a title made of the names of the files."""
    return _describe_files(task, draft)[:MAX_TITLE].strip() if draft else ""


def _describe_files(task: TaskName, draft: Draft) -> str:
    if task in ("corpus", "clustering"):
        files = draft.of_role("corpus" if task == "corpus" else "texts")
        sources = {file.source for file in files}
        whole = files[0].name if len(files) == 1 else sources.pop() if len(sources) == 1 else ""
        if task == "corpus":
            return whole or _count(len(files), "file")
        return ", ".join(filter(None, [whole, _count(len(files), "text")]))
    questioned = draft.of_role("unknown")
    known = _count(len(draft.of_role("known")), "known text")
    if task == "attribution":
        candidates = [file.name.split("/") for file in draft.of_role("candidates")]
        authors = {author for author, *below in candidates if below}
        known = _count(len(authors), "author") if authors else _count(len(candidates), "file")
    others = [_count(len(questioned) - 1, "other")] if len(questioned) > 1 else []
    return f"{', '.join([PurePosixPath(questioned[0].name).name, *others])} and {known}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
