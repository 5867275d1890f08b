"""Jobs: questions that were asked on the page, stored on disk from the start.

jobs/ID/job.json       the question and its state
jobs/ID/texts/ROLE/    the uploaded files, removed when the job ends unless they are to be kept
jobs/ID/run/           the run folder, while the job runs
jobs/ID/report.html    the report
jobs/ID/files/         downloads
jobs/ID/result.json    the short result, written last
"""

from __future__ import annotations

import json
import logging
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from byline.errors import RunError
from byline.storage.files import checked_json, discard, read_checked_json, remove_parts, write_files
from byline.web.drafts import Draft
from byline.web.file_names import move_files
from byline.web.home import Home, is_id, new_id
from byline.web.job_requests import NEEDED, Options, TaskName, default_title, is_task, require_files
from byline.web.messages import RefusedError

log = logging.getLogger(__name__)

JobState = Literal["queued", "running", "cancelling", "done", "failed", "cancelled", "interrupted"]
ACTIVE = ("running", "cancelling")
UNFINISHED = ("queued", *ACTIVE)
JOB, RESULT, REPORT, TEXTS, RUN, FILES = "job.json", "result.json", "report.html", "texts", "run", "files"
STOPPED = "byline serve was stopped before it was done"
DAMAGED = "its files are damaged and can't be read; delete it"


@dataclass
class Job:
    """A question and its state."""

    id: str
    task: TaskName
    title: str
    options: Options
    state: JobState = "queued"
    made: str = ""
    began: str | None = None
    ended: str | None = None
    error: str | None = None
    example: str | None = None
    """The name of the built-in example."""
    files_kept: bool = False
    notes: list[str] = field(default_factory=list)
    progress: dict[str, Any] = field(default_factory=lambda: {"share": None, "stage": "", "left": None})

    def to_json(self, place: int | None = None) -> dict[str, Any]:
        """Return the job as the page needs it; `place` is its place in the queue."""
        return {**asdict(self), "kept": self.options.keep, "place": place}


def now() -> str:
    """Return the time in the format of stored jobs."""
    return _format_time(datetime.now(UTC))


class Jobs:
    """All jobs of a home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._jobs: dict[str, Job] = {}
        """In the order of their creation."""

    def load(self) -> None:
        """Load the jobs of earlier servers; unfinished ones become interrupted."""
        found = [_read(folder) for folder in self._home.jobs.iterdir() if folder.is_dir() and is_id(folder.name)]
        for job in sorted(found, key=lambda job: (job.made, job.id)):
            folder = self.folder(job)
            remove_parts(folder)
            if not job.options.keep:
                discard(folder)
                continue
            self._jobs[job.id] = job
            if job.state in UNFINISHED and _has_result(folder):
                self.end(job, "done")  # its end was not stored
            elif job.state in UNFINISHED:
                self.end(job, "interrupted", STOPPED)

    def all(self) -> list[Job]:
        """Return all jobs, the newest first."""
        return list(reversed(self._jobs.values()))

    def waiting(self) -> list[Job]:
        """Return queued jobs, the oldest first."""
        return [job for job in self._jobs.values() if job.state == "queued"]

    def find(self, name: str) -> Job:
        """Return a job by its id."""
        job = self._jobs.get(name)
        if job is None:
            raise RefusedError(404, "there is no such job any more")
        return job

    def folder(self, job: Job) -> Path:
        """Return the job's folder."""
        return self._home.jobs / job.id

    def create(self, task: str, options: Options, draft: Draft | None = None, example: str | None = None) -> Job:
        """Create a job that takes over the files of a draft."""
        if not is_task(task):
            raise RefusedError(422, f"task must be one of {', '.join(NEEDED)}")
        if draft is not None:
            require_files(task, options, draft)
        job = Job(new_id(), task, options.title or default_title(task, draft), options, made=now(), example=example)
        job.files_kept = draft is not None
        self._add(job)
        try:
            if draft is not None:
                move_files(draft.files.values(), self.folder(job) / TEXTS)
        except BaseException:
            self.delete(job)
            raise
        return job

    def repeat(self, job: Job) -> Job:
        """Create a copy of a finished job that takes over its files."""
        texts = self.folder(job) / TEXTS
        if job.state in UNFINISHED:
            raise RefusedError(409, "it has not ended yet")
        if job.example is None and not (job.files_kept and texts.is_dir()):
            raise RefusedError(409, "its files were not kept; drop them again")
        new = Job(new_id(), job.task, job.title, job.options, made=now(), example=job.example)
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

    def end(self, job: Job, state: JobState, error: str | None = None) -> None:
        """Store how a job ended, and remove its files unless they are to be kept."""
        job.state, job.error, job.ended = state, error, now()
        job.progress = {"share": None, "stage": "", "left": None}
        unneeded = [RUN] if state == "done" else [RUN, RESULT, REPORT, FILES]
        if not job.options.keep_files:
            unneeded.append(TEXTS)
            job.files_kept = False
        for name in unneeded:
            discard(self.folder(job) / name)
        self._save_if_possible(job)

    def save(self, job: Job) -> None:
        """Write a job to disk."""
        values = {key: value for key, value in asdict(job).items() if key != "progress"}
        write_files(self.folder(job), {JOB: checked_json(values)})

    def delete(self, job: Job) -> None:
        """Delete a job and all its files."""
        self._jobs.pop(job.id, None)
        discard(self.folder(job))

    def delete_temporary(self) -> None:
        """Delete the jobs that should not outlive the server."""
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
        """Write a job to disk; if that fails, its state is known until the server stops."""
        try:
            self.save(job)
        except RunError as error:
            log.warning("%s", error)


def read_result(folder: Path) -> dict[str, Any]:
    """Read the short result of a job."""
    found = json.loads((folder / RESULT).read_bytes())
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found


def _has_result(folder: Path) -> bool:
    try:
        return bool(read_result(folder))
    except (OSError, ValueError):
        return False


def _read(folder: Path) -> Job:
    """Read a stored job; one that is damaged is listed all the same, so that it can be deleted."""
    try:
        values = read_checked_json(folder / JOB)
        if values["id"] != folder.name or not is_task(values["task"]) or values["state"] not in get_args(JobState):
            raise RunError("is not a job", where=folder)
        return Job(**{**values, "options": Options(**values["options"])})
    except (RunError, KeyError, TypeError, ValueError) as error:
        log.warning("%s: the job can't be read (%s)", folder, error)
        made = _format_time(datetime.fromtimestamp(folder.stat().st_mtime, UTC))
        job = Job(folder.name, "question", "A job that can't be read", Options(), "failed", made)
        return replace(job, ended=made, error=DAMAGED)


def _format_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
