"""A question that was asked of the page, on disk from that moment on.

jobs/NAME/job.json       what is asked, and how it stands
jobs/NAME/texts/ROLE/    the files that were dropped; gone when the job ends, unless they are kept by choice
jobs/NAME/run/           what byline verify keeps of a run, while it lasts
jobs/NAME/report.html    the answer at length
jobs/NAME/files/         what can be downloaded
jobs/NAME/result.json    the answer in short; the last that is written
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from byline.errors import RunError
from byline.storage import checked_json, discard, read_checked_json, remove_parts, write_files
from byline.web.drafts import Draft
from byline.web.home import Home, is_name, new_name
from byline.web.layouts import lay_out
from byline.web.limits import RefusedError
from byline.web.needs import NEEDED, Task, is_task, require_files, usual_title
from byline.web.options import Options

log = logging.getLogger(__name__)

State = Literal["queued", "running", "cancelling", "done", "failed", "cancelled", "interrupted"]
UNDER_WAY = ("running", "cancelling")
UNFINISHED = ("queued", *UNDER_WAY)
JOB, RESULT, REPORT, TEXTS, RUN, FILES = "job.json", "result.json", "report.html", "texts", "run", "files"
STOPPED = "byline serve was stopped before it was done"
DAMAGED = "what is kept of it is damaged and can't be read; delete it"


@dataclass
class Job:
    """A question, and how it stands."""

    id: str
    task: Task
    title: str
    options: Options
    state: State = "queued"
    made: str = ""
    began: str | None = None
    ended: str | None = None
    error: str | None = None
    example: str | None = None
    """The built-in texts that it is about."""
    files_kept: bool = False
    notes: list[str] = field(default_factory=list)
    progress: dict[str, Any] = field(default_factory=lambda: {"share": None, "stage": "", "left": None})

    def to_json(self, place: int | None = None) -> dict[str, Any]:
        """For the page; `place` is that in the queue."""
        return {**asdict(self), "kept": self.options.keep, "place": place}


def now() -> str:
    """The time, as jobs keep it."""
    return _as_time(datetime.now(UTC))


class Jobs:
    """All jobs of a home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._jobs: dict[str, Job] = {}
        """In the order they were made."""

    def load(self) -> None:
        """Find those of earlier servers: the finished ones as they were, others interrupted."""
        found = [_read(folder) for folder in self._home.jobs.iterdir() if folder.is_dir() and is_name(folder.name)]
        for job in sorted(found, key=lambda job: (job.made, job.id)):
            folder = self.folder(job)
            remove_parts(folder)
            if not job.options.keep:
                discard(folder)
                continue
            self._jobs[job.id] = job
            if job.state in UNFINISHED and _has_result(folder):
                self.end(job, "done")  # which could not be written down any more
            elif job.state in UNFINISHED:
                self.end(job, "interrupted", STOPPED)

    def all(self) -> list[Job]:
        """The newest first."""
        return list(reversed(self._jobs.values()))

    def waiting(self) -> list[Job]:
        """Those that are queued, the oldest first."""
        return [job for job in self._jobs.values() if job.state == "queued"]

    def find(self, name: str) -> Job:
        """The one of that name."""
        job = self._jobs.get(name)
        if job is None:
            raise RefusedError(404, "there is no such job any more")
        return job

    def folder(self, job: Job) -> Path:
        """Where it lies."""
        return self._home.jobs / job.id

    def begin(self, task: str, options: Options, draft: Draft | None = None, example: str | None = None) -> Job:
        """A new job, with the files of a draft."""
        if not is_task(task):
            raise RefusedError(422, f"task must be one of {', '.join(NEEDED)}")
        if draft is not None:
            require_files(task, options, draft)
        job = Job(new_name(), task, options.title or usual_title(task, draft), options, made=now(), example=example)
        job.files_kept = draft is not None
        self._add(job)
        try:
            if draft is not None:
                lay_out(draft.files.values(), self.folder(job) / TEXTS)
        except BaseException:
            self.delete(job)
            raise
        return job

    def repeat(self, job: Job) -> Job:
        """The same again, with the same files, which the new one takes over."""
        texts = self.folder(job) / TEXTS
        if job.state in UNFINISHED:
            raise RefusedError(409, "it has not ended yet")
        if job.example is None and not (job.files_kept and texts.is_dir()):
            raise RefusedError(409, "its files were not kept; drop them again")
        new = Job(new_name(), job.task, job.title, job.options, made=now(), example=job.example)
        self._add(new)
        if job.example is None:
            try:
                texts.rename(self.folder(new) / TEXTS)
            except BaseException:
                self.delete(new)
                raise
            new.files_kept, job.files_kept = True, False
            for each in (job, new):
                self._save_if_possible(each)
        return new

    def end(self, job: Job, state: State, error: str | None = None) -> None:
        """How it ended; its files go, unless they are kept by choice, and so does what is of no use any more."""
        job.state, job.error, job.ended = state, error, now()
        job.progress = {"share": None, "stage": "", "left": None}
        unwanted = [RUN] if state == "done" else [RUN, RESULT, REPORT, FILES]
        if not job.options.keep_files:
            unwanted.append(TEXTS)
            job.files_kept = False
        for name in unwanted:
            discard(self.folder(job) / name)
        self._save_if_possible(job)

    def save(self, job: Job) -> None:
        """Have it on disk as it stands."""
        values = {key: value for key, value in asdict(job).items() if key != "progress"}
        write_files(self.folder(job), {JOB: checked_json(values)})

    def delete(self, job: Job) -> None:
        """Remove it and all that is kept of it."""
        self._jobs.pop(job.id, None)
        discard(self.folder(job))

    def forget(self) -> None:
        """Remove those that should not outlive the server."""
        for job in [job for job in self._jobs.values() if not job.options.keep]:
            self.delete(job)

    def _add(self, job: Job) -> None:
        self.folder(job).mkdir(mode=0o700)
        try:
            self.save(job)
        except BaseException:
            discard(self.folder(job))
            raise
        self._jobs[job.id] = job

    def _save_if_possible(self, job: Job) -> None:
        """Where the disk is full, how it stands is known until the server stops."""
        try:
            self.save(job)
        except RunError as error:
            log.warning("%s", error)


def read_result(folder: Path) -> dict[str, Any]:
    """The answer in short, which the work wrote."""
    found = json.loads((folder / RESULT).read_bytes())
    if not isinstance(found, dict):
        raise ValueError("no result")
    return found


def _has_result(folder: Path) -> bool:
    try:
        return bool(read_result(folder))
    except (OSError, ValueError):
        return False


def _read(folder: Path) -> Job:
    """A job as it was left; one that can't be read is there all the same, so that it can be deleted."""
    try:
        values = read_checked_json(folder / JOB)
        if values["id"] != folder.name or not is_task(values["task"]) or values["state"] not in get_args(State):
            raise RunError(f"{folder}: no job of this program")
        return Job(**{**values, "options": Options(**values["options"])})
    except (RunError, KeyError, TypeError, ValueError) as error:
        log.warning("%s: a job that can't be read (%s)", folder, error)
        made = _as_time(datetime.fromtimestamp(folder.stat().st_mtime, UTC))
        job = Job(folder.name, "question", "A job that can't be read", Options(), "failed", made)
        return replace(job, ended=made, error=DAMAGED)


def _as_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
