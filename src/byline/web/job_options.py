"""What the page can ask for: the tasks, the files that each needs, and the options."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal, TypeGuard

from byline.corpora.documents import is_plain_name
from byline.tasks.attribute import USUAL_PRIOR
from byline.web.messages import RefusedError, plain_words, show_name
from byline.web.uploads import Draft

TaskName = Literal["question", "corpus", "attribution", "clustering"]
NEEDED: Mapping[TaskName, Mapping[str, str]] = {
    "question": {"known": "a text whose author is known", "unknown": "a text in question"},
    "corpus": {"corpus": "a folder or zip of problems"},
    "attribution": {"candidates": "texts of the authors", "unknown": "a text in question"},
    "clustering": {"texts": "three texts or more"},
}
MIN_FILES = {"texts": 3}
"""Files that a role needs, if one is not enough."""
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
    reference: str | None = None
    """The name of a kept or built-in reference."""
    uploaded: bool = False
    """Whether the reference consists of uploaded texts."""
    save_as: str | None = None
    mask_shared: bool = False
    none: float = USUAL_PRIOR
    keep: bool = True
    keep_files: bool = False

    @property
    def has_reference(self) -> bool:
        """Whether texts by other people are given."""
        return self.uploaded or self.reference is not None


def is_short_name(value: object) -> TypeGuard[str]:
    """Return whether a value can be the name of a language or a reference."""
    return is_plain_name(value) and len(value) <= MAX_NAME


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


_SWITCH = (lambda value: isinstance(value, bool), "true or false")
_NAME = (lambda value: value is None or is_short_name(value), f"a plain name of at most {MAX_NAME} letters")
RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "title": (lambda value: isinstance(value, str), "text"),
    "language": _NAME,
    "budget": (
        lambda value: value == "quick" or (_is_number(value) and value in BUDGETS),
        f"one of {', '.join(map(str, BUDGETS))}",
    ),
    "reference": _NAME,
    "uploaded": _SWITCH,
    "save_as": _NAME,
    "mask_shared": _SWITCH,
    "none": (lambda value: _is_number(value) and 0 <= value < 1, "a number, 0 or more and less than 1"),
    "keep": _SWITCH,
    "keep_files": _SWITCH,
}
"""What the value of each option must be."""


def read_options(values: object) -> Options:
    """Check the options that the page sends."""
    if not isinstance(values, dict):
        raise RefusedError(422, "options must be an object")
    for name, value in values.items():
        if name not in RULES:
            raise RefusedError(422, f"there is no option {show_name(name)}")
        is_valid, rule = RULES[name]
        if not is_valid(value):
            raise RefusedError(422, f"{name} must be {rule}")
    options = Options(**{**values, "title": plain_words(values.get("title", ""))[:MAX_TITLE].strip()})
    if options.uploaded and options.reference is not None:
        raise RefusedError(422, "reference must either have a name or be uploaded")
    if options.save_as is not None and not options.uploaded:
        raise RefusedError(422, "save_as needs a reference that is uploaded")
    return options


def is_task(name: object) -> TypeGuard[TaskName]:
    """Return whether there is such a task."""
    return name in NEEDED


def require_files(task: TaskName, options: Options, draft: Draft) -> None:
    """Refuse a question that lacks files, or has a reference that its task ignores."""
    missing = [what for role, what in NEEDED[task].items() if len(draft.of_role(role)) < MIN_FILES.get(role, 1)]
    if missing:
        raise RefusedError(422, f"still missing: {' and '.join(missing)}")
    if options.has_reference and task not in ("question", "corpus"):
        raise RefusedError(422, "texts by other people are used in questions and corpora only")
    lacks_texts = options.uploaded and not draft.of_role("reference")
    if lacks_texts or (task == "question" and not options.has_reference):
        raise RefusedError(422, "still missing: texts by other people to compare with")


def default_title(task: TaskName, draft: Draft) -> str:
    """Return a title made of the names of the files."""
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
