"""Reference populations on the page: the built-in ones, and those that were kept under a name.

Run as `python -m byline.web.references FOLDER TARGET [LANGUAGE]`, it builds one from uploaded files.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeGuard

from byline.corpora.documents import is_plain_name
from byline.corpora.reference import DESCRIPTION, Reference, write_reference
from byline.corpora.reference_building import build_reference
from byline.errors import BylineError, RunError
from byline.storage.files import PART, discard, read_checked_json
from byline.web.drafts import Draft
from byline.web.examples import builtin_references, read_builtin_reference
from byline.web.file_names import find_reference, move_files
from byline.web.home import Home
from byline.web.job_requests import MAX_NAME
from byline.web.limits import Limits
from byline.web.messages import RefusedError, one_line, page_message
from byline.web.processes import FAILED, connect_to_server, receive_messages, start_module

NO_MEMORY = "not enough memory; give fewer or shorter texts"


class References:
    """All references that the page offers."""

    def __init__(self, home: Home, limits: Limits) -> None:
        self._home, self._limits = home, limits
        self._builtin: list[dict[str, Any]] = []
        self._being_built: set[str] = set()

    def all(self) -> list[dict[str, Any]]:
        """Describe each reference, the built-in ones first.

        Only authors who are certainly different are counted, as in results.
        """
        if not self._builtin:
            self._builtin = [_describe_builtin(name) for name in builtin_references()]
        folders = sorted(child for child in self._home.references.iterdir() if self._is_kept(child.name))
        return [*self._builtin, *(_describe(folder) for folder in folders)]

    def require(self, name: str) -> None:
        """Refuse a reference that does not exist."""
        if name not in builtin_references() and not self._is_kept(name):
            raise RefusedError(422, f"there is no reference {name} any more; choose another")

    def require_free(self, name: object) -> str:
        """Return a name that a new reference can have, or refuse it."""
        if not is_reference_name(name):
            raise RefusedError(422, f"give the reference a plain name of at most {MAX_NAME} letters")
        taken = name in builtin_references() or name in self._being_built
        if taken or os.path.lexists(self._home.references / name):
            raise RefusedError(409, f"there is a reference {name} already; choose another name, or delete that one")
        return name

    async def build(self, draft: Draft, name: object, language: object) -> dict[str, Any]:
        """Build a reference from a draft's texts by other people. If that fails, they stay in the draft."""
        chosen = self.require_free(name)
        if language is not None and not (is_plain_name(language) and len(language) <= MAX_NAME):
            raise RefusedError(422, "language must be a plain name")
        files = draft.of_role("reference")
        if not files:
            raise RefusedError(422, "still missing: texts by other people")
        folder, target = draft.folder / "laid-out", self._home.references / chosen
        self._being_built.add(chosen)
        try:
            undo = move_files(files, folder)
            try:
                await self._build(folder / "reference", target, language)
            except BaseException:
                undo()
                raise
        finally:
            self._being_built.discard(chosen)
        return _describe(target)

    async def _build(self, folder: Path, target: Path, language: str | None) -> None:
        message: dict[str, Any] = {}
        process = await start_module(__name__, str(folder), str(target), *([language] if language else []))
        try:
            code, _ = await asyncio.wait_for(receive_messages(process, message.update), self._limits.building_seconds)
        except TimeoutError:
            raise RefusedError(422, "building the reference takes too long; give fewer texts") from None
        if code:
            raise RefusedError(422, one_line(str(message.get("error", "it broke off, perhaps for lack of memory"))))

    def delete(self, name: str) -> None:
        """Delete a kept reference."""
        if name in builtin_references():
            raise RefusedError(409, "a built-in reference can't be deleted")
        if not self._is_kept(name):
            raise RefusedError(404, "there is no such reference any more")
        discard(self._home.references / name)

    def _is_kept(self, name: str) -> bool:
        return is_reference_name(name) and (self._home.references / name).is_dir()


def is_reference_name(name: object) -> TypeGuard[str]:
    """Return whether a reference can have this name."""
    return is_plain_name(name) and len(name) <= MAX_NAME and not name.startswith(".") and not name.endswith(PART)


def _describe_builtin(name: str) -> dict[str, Any]:
    found = read_builtin_reference(builtin_references()[name])
    return {
        "name": name, "language": found.language, "texts": len(found.texts),
        "authors": found.count_distinct(found.by_author),
        "characters": sum(len(text.document.text) for text in found.texts), "builtin": True, "error": None,
    }  # fmt: skip


def _describe(folder: Path) -> dict[str, Any]:
    """Describe a kept reference by its own description; its texts are checked when it is used."""
    try:
        description = read_checked_json(folder / DESCRIPTION)
        rows, unclear = description["texts"], frozenset(frozenset(pair) for pair in description["unclear"])
        language = str(description["language"])
        values = {
            "language": language, "texts": len(rows),
            "authors": Reference(language, (), unclear).count_distinct({row["author"] for row in rows}),
            "characters": sum(int(row["characters"]) for row in rows), "error": None,
        }  # fmt: skip
    except (RunError, KeyError, TypeError, ValueError):
        values = {"error": f"{folder.name}: damaged, and can't be used; delete it"}
    return {"name": folder.name, "builtin": False, **values}


def main(arguments: Sequence[str]) -> int:
    """Build and write a reference; return 0 if it is done."""
    send = connect_to_server()
    folder, target = Path(arguments[0]), Path(arguments[1])
    try:
        write_reference(build_reference([find_reference(folder)], *arguments[2:]), target)
    except BylineError as error:
        send(error=page_message(error).replace(f"{folder}/", "").replace(str(folder), "the texts"))
    except MemoryError:
        send(error=NO_MEMORY)
    else:
        return 0
    return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
