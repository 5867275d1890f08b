"""How a question is to be answered, as the page asks for it; what there is not, or is of the wrong kind, is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from byline.attribution.attributing import USUAL_PRIOR
from byline.documents import is_plain_name
from byline.web.limits import RefusedError
from byline.web.names import plain_text

BUDGETS = ("quick", 60, 300, 1800, 3600)
LONGEST_TITLE = 120
LONGEST_NAME = 60
"""Of a language or a reference."""
REFERENCE = {"name", "uploaded", "save_as"}


@dataclass(frozen=True)
class Options:
    """How a question is to be answered."""

    title: str = ""
    language: str | None = None
    budget: str | int = "quick"
    seed: int = 0
    reference: str | None = None
    """A kept one's name."""
    uploaded: bool = False
    """The reference are texts that were dropped."""
    save_as: str | None = None
    mask_shared: bool = False
    none: float = USUAL_PRIOR
    keep: bool = True
    keep_files: bool = False


def read_options(values: object) -> Options:
    """The options that the page sends, checked."""
    if values is not None and not isinstance(values, dict):
        raise RefusedError(422, "options must be an object")
    given = dict(values or {})
    given |= _read_reference(given.pop("reference", None))
    usual = asdict(Options())
    if strange := sorted(set(given) - set(usual), key=str):
        raise RefusedError(422, f"there is no option {plain_text(strange[0])[:LONGEST_NAME]}")
    options: dict[str, Any] = {**usual, **given}
    for name in ("uploaded", "mask_shared", "keep", "keep_files"):
        if not isinstance(options[name], bool):
            raise RefusedError(422, f"{name} must be true or false")
    for name in ("language", "reference", "save_as"):
        if options[name] is not None and not _is_short_name(options[name]):
            raise RefusedError(422, f"{name} must be a plain name of at most {LONGEST_NAME} letters")
    if not isinstance(options["title"], str):
        raise RefusedError(422, "title must be text")
    budget, seed, none = options["budget"], options["seed"], options["none"]
    if not isinstance(budget, str | int) or isinstance(budget, bool) or budget not in BUDGETS:
        raise RefusedError(422, f"budget must be one of {', '.join(map(str, BUDGETS))}")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**32:
        raise RefusedError(422, "seed must be a whole number, 0 or more")
    if not isinstance(none, int | float) or isinstance(none, bool) or not 0 <= none < 1:
        raise RefusedError(422, "none must be a number, 0 or more and less than 1")
    options["title"] = " ".join(plain_text(" ".join(options["title"].split())).split())[:LONGEST_TITLE].strip()
    return Options(**options)


def _read_reference(values: object) -> Mapping[str, Any]:
    if values is None:
        return {}
    if not isinstance(values, dict) or not set(values) <= REFERENCE:
        raise RefusedError(422, "reference must be an object with a name, or uploaded and save_as")
    name, uploaded, save_as = values.get("name"), values.get("uploaded", False), values.get("save_as")
    if (name is None) == (uploaded is False):
        raise RefusedError(422, "reference must have a name or be uploaded, one of them")
    if save_as is not None and uploaded is not True:
        raise RefusedError(422, "save_as is for a reference that is uploaded")
    return {"reference": name, "uploaded": uploaded, "save_as": save_as}


def _is_short_name(value: object) -> bool:
    return is_plain_name(value) and len(value) <= LONGEST_NAME
