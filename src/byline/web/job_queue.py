"""The queue of jobs. They run one after another, each in a worker process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from typing import Any

from byline.web.home import Home
from byline.web.jobs import RESULT, STOPPED, UNFINISHED, Job, Jobs, now
from byline.web.limits import Limits
from byline.web.messages import RefusedError, one_line
from byline.web.processes import GRACE, KILL, receive_messages, signal_group, start_module

log = logging.getLogger(__name__)

WORKER = "byline.web.tasks"
MAX_NOTES = 50


class JobQueue:
    """The queue, and the one job that runs."""

    def __init__(self, home: Home, jobs: Jobs, limits: Limits) -> None:
        self._home, self._jobs, self._limits = home, jobs, limits
        self._new_jobs = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._ended = asyncio.Event()
        """Set when the running job has ended."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start to run jobs."""
        self._task = asyncio.create_task(self._run_all())

    async def stop(self) -> None:
        """Interrupt the running job and the queued ones."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        for job in self._jobs.all():
            if job.state in UNFINISHED:
                self._jobs.end(job, "interrupted", STOPPED)

    def require_room(self) -> None:
        """Refuse a job if too many are queued."""
        if len(self._jobs.waiting()) >= self._limits.jobs:
            raise RefusedError(429, f"{self._limits.jobs} jobs are waiting; wait until some are done, or cancel some")

    def notify(self) -> None:
        """Say that there is a new job."""
        self._new_jobs.set()

    async def cancel(self, job: Job) -> None:
        """End a job and wait until it has ended."""
        if job.state == "queued":
            self._jobs.end(job, "cancelled")
        elif job.state not in UNFINISHED:
            raise RefusedError(409, "it has ended already")
        else:
            job.state = "cancelling"
            ended = self._ended
            self._signal(signal.SIGTERM)
            try:
                await asyncio.wait_for(ended.wait(), GRACE)
            except TimeoutError:
                self._signal(KILL)
                await ended.wait()

    async def _run_all(self) -> None:
        while True:
            waiting = self._jobs.waiting()
            if not waiting:
                self._new_jobs.clear()
                await self._new_jobs.wait()
                continue
            await self._run(waiting[0])

    async def _run(self, job: Job) -> None:
        """Run a job. Whatever happens, it has ended afterwards."""
        self._ended = asyncio.Event()
        job.state, job.began = "running", now()
        job.progress = {"share": None, "stage": "starting", "left": None}
        error: str | None = None

        def receive(message: dict[str, Any]) -> None:
            nonlocal error
            _update(job, message)
            error = str(message["error"]) if "error" in message else error

        try:
            self._jobs.save(job)
            self._process = await start_module(WORKER, str(self._home.folder), job.id)
            if _is_cancelled(job):
                self._signal(signal.SIGTERM)
            code, stderr = await receive_messages(self._process, receive)
        except Exception as broken:
            log.warning("%s could not be run: %s", job.id, broken)
            error, code, stderr = error or f"it could not be run ({one_line(str(broken))})", 1, ""
        finally:
            self._process = None
        if _is_cancelled(job):
            self._jobs.end(job, "cancelled")
        elif code == 0 and (self._jobs.folder(job) / RESULT).is_file():
            self._jobs.end(job, "done")
        else:
            if error is None and stderr:
                log.warning("%s broke off: %s", job.id, stderr)
            self._jobs.end(job, "failed", error or _reason(code))
        self._ended.set()

    def _signal(self, number: int) -> None:
        if self._process is not None:
            signal_group(self._process, number)


def _update(job: Job, message: dict[str, Any]) -> None:
    """Store the progress and the notes that a worker sends."""
    if "note" in message and len(job.notes) < MAX_NOTES and (note := one_line(str(message["note"]))) not in job.notes:
        job.notes.append(note)
    if "stage" in message:
        job.progress = {"share": message.get("share"), "stage": str(message["stage"]), "left": message.get("left")}


def _is_cancelled(job: Job) -> bool:
    """Return whether the job was cancelled; its state may change at any await."""
    return job.state == "cancelling"


def _reason(code: int) -> str:
    if code < 0 or code == 137:
        return "it was ended from outside, perhaps for lack of memory; give fewer or shorter texts"
    return "it broke off because of a bug in Byline; the terminal of byline serve says more"
