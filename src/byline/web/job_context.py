"""A job as its worker process sees it: the question, the texts, and messages to the server."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from byline.corpora.documents import Document, read_documents
from byline.corpora.reference import Reference, write_reference
from byline.corpora.reference_building import build_reference, read_reference
from byline.engines.protocol import Runtime
from byline.errors import CorpusError
from byline.runs.workers import Event, ProgressTracker
from byline.storage.files import read_checked_json
from byline.web.examples import builtin_references, read_builtin_reference
from byline.web.file_names import find_reference
from byline.web.home import Home
from byline.web.job_requests import Options
from byline.web.jobs import JOB, TEXTS
from byline.web.messages import one_line
from byline.web.processes import SendMessage

PROGRESS_SECONDS = 0.2
"""Shortest time between two messages about progress."""
ROLE_NAMES = {"reference": "the texts to compare with", "candidates": "the authors' texts"}


class JobContext:
    """A job's folder, its options and its connection to the server."""

    def __init__(self, home: Home, name: str, send: SendMessage) -> None:
        self.home, self.send = home, send
        self.folder = home.jobs / name
        values = read_checked_json(self.folder / JOB)
        self.task, self.title = str(values["task"]), str(values["title"])
        self.example: str | None = values["example"]
        self.options = Options(**values["options"])

    def runtime(self, stage: str) -> Runtime:
        """Return a runtime that sends the stage and its parts to the server."""
        self.send(stage=stage)
        return Runtime(threads=os.cpu_count() or 1, stage=lambda part: self.send(stage=f"{stage}: {part}"))

    def files_of(self, role: str) -> Path:
        """Return the folder of a role's files."""
        return self.folder / TEXTS / role

    def names(self, role: str) -> list[str]:
        """Return the names of a role's files."""
        folder = self.files_of(role)
        return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())

    def read(self, role: str) -> list[Document]:
        """Read the texts of a role under the names that they had."""
        found = read_documents((self.files_of(role) / name, name) for name in self.names(role))
        if not found:
            raise CorpusError("no text could be read", remedy="Drop the texts again")
        return found

    def reference(self) -> Reference | None:
        """Read or build the reference that the job asks for."""
        options = self.options
        if options.uploaded:
            self.send(stage="reading the texts to compare with")
            reference = build_reference([find_reference(self.files_of("reference"))], options.language)
            self._keep(reference)
            return reference
        if options.reference is None:
            return None
        if collection := builtin_references().get(options.reference):
            return read_builtin_reference(collection)
        return read_reference(self.home.references / options.reference, options.language)

    def _keep(self, reference: Reference) -> None:
        """Keep a reference under the chosen name, unless that is taken by now."""
        name = self.options.save_as
        if name and os.path.lexists(self.home.references / name):
            self.send(note=f"there is a reference {name} already; these texts were not kept under that name")
        elif name:
            write_reference(reference, self.home.references / name)

    def hide_paths(self, message: str) -> str:
        """Return a message on one line, in which files have their original names."""
        for folder in sorted((self.folder / TEXTS).glob("*"), reverse=True):
            message = message.replace(f"{folder}/", "")
            message = message.replace(str(folder), ROLE_NAMES.get(folder.name, "the texts"))
        message = message.replace(f"{self.folder}/", "").replace(str(self.home.folder), "the page's folder")
        return one_line(message)


class RunProgress(ProgressTracker):
    """Sends the progress of a run to the server."""

    def __init__(self, send: SendMessage) -> None:
        super().__init__(time.monotonic)
        self._send = send
        self._lock = threading.Lock()
        self._last_sent = 0.0

    def hear(self, event: Event) -> None:
        """Count an event; several threads may call this at once."""
        with self._lock:
            super().hear(event)
            if time.monotonic() - self._last_sent > PROGRESS_SECONDS or self.share >= 1:
                self._last_sent = time.monotonic()
                done = min(self.kept + self.done + 1, self.jobs)
                stage = f"member {done} of {self.jobs}" if self.jobs else "planning"
                self._send(share=round(self.share, 3), stage=stage, left=self.seconds_left)
