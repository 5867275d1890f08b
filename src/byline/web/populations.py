"""Reference populations that the page offers: the built-in ones, and those that were kept under a name."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, TypeGuard

from byline.documents import is_plain_name
from byline.errors import RunError
from byline.reference import Reference
from byline.reference.folder import DESCRIPTION
from byline.storage import PART, discard, read_checked_json
from byline.web.drafts import Draft
from byline.web.examples import builtin_references, read_builtin_reference
from byline.web.home import Home
from byline.web.layouts import lay_out
from byline.web.limits import Limits, RefusedError
from byline.web.names import one_line
from byline.web.options import LONGEST_NAME
from byline.web.processes import begin_python, follow

BUILDER = "byline.web.building"


class Populations:
    """All of them."""

    def __init__(self, home: Home, limits: Limits) -> None:
        self._home, self._limits = home, limits
        self._builtin: list[dict[str, Any]] = []
        self._being_built: set[str] = set()

    def all(self) -> list[dict[str, Any]]:
        """What can be told of each, the built-in ones first; one that can't be read says so.

        Its authors are those who surely are different, as results count them: of a problem's two, who may be one, one.
        """
        if not self._builtin:
            self._builtin = [_tell_builtin(name) for name in builtin_references()]
        folders = sorted(child for child in self._home.references.iterdir() if child.is_dir() and is_name(child.name))
        return [*self._builtin, *(_tell(folder) for folder in folders)]

    def require(self, name: str) -> None:
        """Refuse one that there is not."""
        if name not in builtin_references() and not (is_name(name) and (self._home.references / name).is_dir()):
            raise RefusedError(422, f"there is no reference {name} any more; choose another")

    def require_free(self, name: object) -> str:
        """A name that can be given to a new one."""
        if not is_name(name):
            raise RefusedError(422, f"give the reference a plain name of at most {LONGEST_NAME} letters")
        taken = name in builtin_references() or name in self._being_built
        if taken or os.path.lexists(self._home.references / name):
            raise RefusedError(409, f"there is a reference {name} already; choose another name, or delete that one")
        return name

    async def build(self, draft: Draft, name: object, language: object) -> dict[str, Any]:
        """Keep the texts of a draft that are by other people; where that fails, they are still in the draft."""
        chosen = self.require_free(name)
        if language is not None and not (is_plain_name(language) and len(language) <= LONGEST_NAME):
            raise RefusedError(422, "language must be a plain name")
        files = draft.of("reference")
        if not files:
            raise RefusedError(422, "still missing: texts by other people")
        folder, target = draft.folder / "laid-out", self._home.references / chosen
        self._being_built.add(chosen)
        try:
            undo = lay_out(files, folder)
            try:
                await self._build(folder / "reference", target, language)
            except BaseException:
                undo()
                raise
        finally:
            self._being_built.discard(chosen)
        return _tell(target)

    async def _build(self, folder: Path, target: Path, language: str | None) -> None:
        said: dict[str, Any] = {}
        process = await begin_python(BUILDER, str(folder), str(target), *([language] if language else []))
        try:
            code, _ = await asyncio.wait_for(follow(process, said.update), self._limits.building_seconds)
        except TimeoutError:
            raise RefusedError(422, "takes too long to put together; give fewer texts") from None
        if code:
            reason = one_line(str(said.get("error", "it broke off, perhaps because memory was short")))
            raise RefusedError(422, reason)

    def delete(self, name: str) -> None:
        """Remove one."""
        if name in builtin_references():
            raise RefusedError(409, "a built-in reference can't be deleted")
        if not (is_name(name) and (self._home.references / name).is_dir()):
            raise RefusedError(404, "there is no such reference any more")
        discard(self._home.references / name)


def is_name(name: object) -> TypeGuard[str]:
    """Whether a reference can be called so."""
    return is_plain_name(name) and len(name) <= LONGEST_NAME and not name.startswith(".") and not name.endswith(PART)


def _tell_builtin(name: str) -> dict[str, Any]:
    found = read_builtin_reference(builtin_references()[name])
    people = found.count_people(found.by_author)
    told = {"language": found.language, "texts": len(found.texts), "authors": people}
    characters = sum(len(text.document.text) for text in found.texts)
    return {"name": name, **told, "characters": characters, "builtin": True, "error": None}


def _tell(folder: Path) -> dict[str, Any]:
    """What a kept one says of itself; whether its texts are as they were is seen when it is used."""
    try:
        said = read_checked_json(folder / DESCRIPTION)
        rows, unclear = said["texts"], frozenset(frozenset(pair) for pair in said["unclear"])
        language = str(said["language"])
        people = Reference(language, (), unclear).count_people({row["author"] for row in rows})
        told = {
            "language": language, "texts": len(rows), "authors": people,
            "characters": sum(int(row["characters"]) for row in rows), "error": None,
        }  # fmt: skip
    except (RunError, KeyError, TypeError, ValueError):
        told = {"error": f"{folder.name}: damaged, and can't be used; delete it"}
    return {"name": folder.name, "builtin": False, **told}
