"""A job as the process that does it sees it: what is asked, the texts, and whom to tell how far it is."""

from __future__ import annotations

import os
from pathlib import Path

from byline.documents import Document, read_documents
from byline.engines import Watch
from byline.errors import CorpusError
from byline.reference import Reference, build_reference, read_reference, write_reference
from byline.storage import read_checked_json
from byline.web.examples import builtin_references, read_builtin_reference
from byline.web.home import Home
from byline.web.jobs import JOB, TEXTS
from byline.web.names import one_line
from byline.web.options import Options
from byline.web.sources import find_reference
from byline.web.telling import Tell, on_the_page


class Work:
    """A job's folder and what is asked."""

    def __init__(self, home: Home, name: str, tell: Tell) -> None:
        self.home, self.tell = home, tell
        self.folder = home.jobs / name
        values = read_checked_json(self.folder / JOB)
        self.task, self.title = str(values["task"]), str(values["title"])
        self.example: str | None = values["example"]
        self.options = Options(**values["options"])

    def watch(self, doing: str) -> Watch:
        """Who looks on: the server is told what is done, and which part of it."""
        self.tell(stage=doing)
        return Watch(threads=os.cpu_count() or 1, stage=lambda words: self.tell(stage=f"{doing}: {words}"))

    def place(self, role: str) -> Path:
        """Where the files of a role lie."""
        return self.folder / TEXTS / role

    def names(self, role: str) -> list[str]:
        """What the files of a role are called."""
        folder = self.place(role)
        return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())

    def read(self, role: str) -> list[Document]:
        """The texts of a role, under the names they had."""
        found = read_documents((self.place(role) / name, name) for name in self.names(role))
        if not found:
            raise CorpusError("no text could be read; drop them again")
        return found

    def reference(self) -> Reference | None:
        """The texts by other people that are asked for."""
        options = self.options
        if options.uploaded:
            self.tell(stage="reading the texts to compare with")
            reference = build_reference([find_reference(self.place("reference"))], options.language)
            self._keep(reference)
            return reference
        if options.reference is None:
            return None
        if collection := builtin_references().get(options.reference):
            return read_builtin_reference(collection)
        return read_reference(self.home.references / options.reference, options.language)

    def _keep(self, reference: Reference) -> None:
        """Under the name that was chosen, unless another one has it by now."""
        name = self.options.save_as
        if name and os.path.lexists(self.home.references / name):
            self.tell(note=f"there is a reference {name} already; these texts were not kept under that name")
        elif name:
            write_reference(reference, self.home.references / name)

    def plain(self, message: str) -> str:
        """A message on one line, in which files are called as they were when they came."""
        for place in sorted((self.folder / TEXTS).glob("*"), reverse=True):
            message = message.replace(f"{place}/", "").replace(str(place), _called(place.name))
        plain = message.replace(f"{self.folder}/", "").replace(str(self.home.folder), "the page's folder")
        return one_line(on_the_page(plain))


def _called(role: str) -> str:
    return {"reference": "the texts to compare with", "candidates": "the authors' texts"}.get(role, "the texts")
