"""Jobs: questions that were asked on the page, stored on disk from the start, and the queue in which they run.

jobs/ID/job.json       the question and its state
jobs/ID/texts/ROLE/    the uploaded files, removed when the job ends unless they are to be kept
jobs/ID/run/           the run folder, while the job runs
jobs/ID/report.html    the report
jobs/ID/files/         downloads
jobs/ID/result.json    the short result, written last
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from byline.errors import RunError
from byline.storage.files import checked_json, discard, read_checked_json, remove_parts, write_files
from byline.web.home import Home, is_id, new_id
from byline.web.job_options import MAX_TITLE, NEEDED, Options, TaskName, default_title, is_task, require_files
from byline.web.messages import RefusedError, one_line
from byline.web.processes import run_module
from byline.web.uploads import Draft, move_files

log = logging.getLogger(__name__)

JobState = Literal["queued", "running", "cancelling", "done", "failed", "cancelled", "interrupted"]
ACTIVE = ("running", "cancelling")
UNFINISHED = ("queued", *ACTIVE)
JOB, RESULT, REPORT, TEXTS, RUN, FILES = "job.json", "result.json", "report.html", "texts", "run", "files"
STOPPED = "byline serve was stopped before it was done"
DAMAGED = "its files are damaged and can't be read; delete it"
KILLED = "it was ended from outside, perhaps for lack of memory; give fewer or shorter texts"
BROKEN = "it broke off because of a bug in Byline; the terminal of byline serve says more"
WORKER = "byline.web.tasks"
MAX_NOTES = 50


@dataclass(frozen=True)
class JobProgress:
    """How far a job is; the share and the seconds left may not be known."""

    stage: str = ""
    share: float | None = None
    left: float | None = None


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
    progress: JobProgress = field(default_factory=JobProgress)

    def to_json(self) -> dict[str, Any]:
        """Return the job as the page needs it."""
        return {**asdict(self), "kept": self.options.keep}


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
            remove_parts(self.folder(job))
            self._jobs[job.id] = job
            if job.state in UNFINISHED and (self.folder(job) / RESULT).is_file():
                self.end(job, "done")  # its end was not stored
            elif job.state in UNFINISHED:
                self.end(job, "interrupted", STOPPED)
        self.delete_temporary()

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

    def create(self, task: object, options: Options, draft: Draft) -> Job:
        """Create a job that takes over the files of a draft."""
        if not is_task(task):
            raise RefusedError(422, f"task must be one of {', '.join(NEEDED)}")
        require_files(task, options, draft)
        job = self._add(task, options.title or default_title(task, draft)[:MAX_TITLE].strip(), options)
        try:
            move_files(draft.files.values(), self.folder(job) / TEXTS)
        except BaseException:
            self.delete(job)
            raise
        return job

    def create_example(self, task: TaskName, options: Options) -> Job:
        """Create a job about built-in texts."""
        return self._add(task, options.title, options, example=task)

    def repeat(self, job: Job) -> Job:
        """Create a copy of a finished job that takes over its files."""
        if job.state in UNFINISHED:
            raise RefusedError(409, "it has not ended yet")
        if job.example is not None:
            return self._add(job.task, job.title, job.options, job.example)
        texts = self.folder(job) / TEXTS
        if not (job.files_kept and texts.is_dir()):
            raise RefusedError(409, "its files were not kept; drop them again")
        new = self._add(job.task, job.title, job.options)
        try:
            texts.rename(self.folder(new) / TEXTS)
        except BaseException:
            self.delete(new)
            raise
        job.files_kept = False
        self._save_if_possible(job)
        return new

    def end(self, job: Job, state: JobState, error: str | None = None) -> None:
        """Store how a job ended, and remove its files unless they are to be kept."""
        job.state, job.error, job.ended = state, error, now()
        job.progress = JobProgress()
        unneeded = [RUN] if state == "done" else [RUN, RESULT, REPORT, FILES]
        if not job.options.keep_files:
            unneeded.append(TEXTS)
            job.files_kept = False
        discard(*(self.folder(job) / name for name in unneeded))
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

    def _add(self, task: TaskName, title: str, options: Options, example: str | None = None) -> Job:
        job = Job(new_id(), task, title, options, made=now(), example=example, files_kept=example is None)
        self.folder(job).mkdir(mode=0o700)
        try:
            self.save(job)
        except BaseException:
            discard(self.folder(job))
            raise
        self._jobs[job.id] = job
        return job

    def _save_if_possible(self, job: Job) -> None:
        """Write a job to disk; if that fails, its state is known until the server stops."""
        try:
            self.save(job)
        except RunError as error:
            log.warning("%s", error)


class JobQueue:
    """Runs jobs one after another, each in a worker process."""

    def __init__(self, home: Home, jobs: Jobs) -> None:
        self._home, self._jobs = home, jobs
        self._new_jobs = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        """The task that runs all jobs, and that of the running job."""

    def start(self) -> None:
        """Start to run jobs."""
        self._tasks = [asyncio.create_task(self._run_all())]

    async def stop(self) -> None:
        """Interrupt the running job and the queued ones."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for job in self._jobs.all():
            if job.state in UNFINISHED:
                self._jobs.end(job, "interrupted", STOPPED)

    def notify(self) -> None:
        """Say that there is a new job."""
        self._new_jobs.set()

    async def cancel(self, job: Job) -> None:
        """End a job and wait until it has ended."""
        if job.state not in UNFINISHED:
            raise RefusedError(409, "it has ended already")
        if job.state == "cancelling":
            await asyncio.wait(self._tasks[1:])
            return
        if job.state == "running":
            job.state = "cancelling"
            self._tasks[1].cancel()
            await asyncio.wait(self._tasks[1:])
        self._jobs.end(job, "cancelled")

    async def _run_all(self) -> None:
        while True:
            waiting = self._jobs.waiting()
            if waiting:
                waiting[0].state = "running"
                self._tasks[1:] = [asyncio.create_task(self._run(waiting[0]))]
                await asyncio.wait(self._tasks[1:])
            else:
                self._new_jobs.clear()
                await self._new_jobs.wait()

    async def _run(self, job: Job) -> None:
        """Run a job. It has ended afterwards, except if this is cancelled."""
        job.began, job.progress = now(), JobProgress("starting")
        error: str | None = None

        def receive(message: Mapping[str, Any]) -> None:
            nonlocal error
            error = message.get("error", error)
            if (note := message.get("note")) and len(job.notes) < MAX_NOTES and note not in job.notes:
                job.notes.append(note)
            if "stage" in message:
                job.progress = JobProgress(**message)

        try:
            self._jobs.save(job)
            code = await run_module(WORKER, str(self._home.folder), job.id, receive=receive)
        except Exception as broken:
            log.warning("%s could not be run: %s", job.id, broken)
            self._jobs.end(job, "failed", f"it could not be run ({one_line(str(broken))})")
            return
        if code == 0 and (self._jobs.folder(job) / RESULT).is_file():
            self._jobs.end(job, "done")
        else:
            self._jobs.end(job, "failed", error or (KILLED if code < 0 else BROKEN))


def now() -> str:
    """Return the time in the format of stored jobs."""
    return _format_time(datetime.now(UTC))


def _format_time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def read_result(folder: Path) -> dict[str, Any]:
    """Read the short result of a job."""
    found = json.loads((folder / RESULT).read_bytes())
    if not isinstance(found, dict):
        raise ValueError("not an object")
    return found


def read_options_of(values: Mapping[str, Any]) -> Options:
    """Return the options of a stored job. Earlier versions stored some more."""
    names = {each.name for each in fields(Options)}
    return Options(**{name: value for name, value in values["options"].items() if name in names})


def _read(folder: Path) -> Job:
    """Read a stored job; one that is damaged is listed all the same, so that it can be deleted."""
    try:
        values = read_checked_json(folder / JOB)
        if values["id"] != folder.name or not is_task(values["task"]) or values["state"] not in get_args(JobState):
            raise RunError("is not a job", where=folder)
        return Job(**{**values, "options": read_options_of(values)})
    except (AttributeError, RunError, KeyError, TypeError, ValueError) as error:
        log.warning("%s: the job can't be read (%s)", folder, error)
        made = _format_time(datetime.fromtimestamp(folder.stat().st_mtime, UTC))
        title = "A job that can't be read"
        return Job(folder.name, "question", title, Options(), "failed", made, ended=made, error=DAMAGED)
