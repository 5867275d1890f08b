"""Jobs one after another: each in a process of its own, which tells how far it is and can be ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from typing import Any

from byline.web.home import Home
from byline.web.jobs import RESULT, STOPPED, UNFINISHED, Job, Jobs, now
from byline.web.limits import Limits, RefusedError
from byline.web.names import one_line
from byline.web.processes import GRACE, KILL, begin_python, follow, signal_all

log = logging.getLogger(__name__)

WORKER = "byline.web.worker"
MOST_NOTES = 50


class Line:
    """The queue, and the one job that is being done."""

    def __init__(self, home: Home, jobs: Jobs, limits: Limits) -> None:
        self._home, self._jobs, self._limits = home, jobs, limits
        self._more = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._ended = asyncio.Event()
        """Whether the job that is being done has ended."""
        self._worker: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to take jobs."""
        self._worker = asyncio.create_task(self._work())

    async def stop(self) -> None:
        """End what is being done; it and what waits are interrupted."""
        if self._worker is not None:
            self._worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._worker
        for job in self._jobs.all():
            if job.state in UNFINISHED:
                self._jobs.end(job, "interrupted", STOPPED)

    def require_room(self) -> None:
        """Refuse where too many wait."""
        if len(self._jobs.waiting()) >= self._limits.jobs:
            raise RefusedError(429, f"{self._limits.jobs} jobs are waiting; wait until some are done, or cancel some")

    def look(self) -> None:
        """There is a new job at the end of the queue."""
        self._more.set()

    async def cancel(self, job: Job) -> None:
        """End a job; when this is done, it is."""
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

    async def _work(self) -> None:
        while True:
            waiting = self._jobs.waiting()
            if not waiting:
                self._more.clear()
                await self._more.wait()
                continue
            await self._do(waiting[0])

    async def _do(self, job: Job) -> None:
        """Have a job done; whatever happens, it has ended then, and the next one can be."""
        self._ended = asyncio.Event()
        job.state, job.began = "running", now()
        job.progress = {"share": None, "stage": "starting", "left": None}
        error: str | None = None

        def hear(told: dict[str, Any]) -> None:
            nonlocal error
            _keep(job, told)
            error = str(told["error"]) if "error" in told else error

        try:
            self._jobs.save(job)
            self._process = await begin_python(WORKER, str(self._home.folder), job.id)
            if _is_cancelled(job):
                self._signal(signal.SIGTERM)
            code, words = await follow(self._process, hear)
        except Exception as broken:
            log.warning("%s could not be done: %s", job.id, broken)
            error, code, words = error or f"it could not be done ({one_line(str(broken))})", 1, ""
        finally:
            self._process = None
        if _is_cancelled(job):
            self._jobs.end(job, "cancelled")
        elif code == 0 and (self._jobs.folder(job) / RESULT).is_file():
            self._jobs.end(job, "done")
        else:
            if error is None and words:
                log.warning("%s broke off: %s", job.id, words)
            self._jobs.end(job, "failed", error or _reason(code))
        self._ended.set()

    def _signal(self, number: int) -> None:
        if self._process is not None:
            signal_all(self._process, number)


def _keep(job: Job, told: dict[str, Any]) -> None:
    """What a process tells of how far it is, and what is to be said of the texts."""
    if "note" in told and len(job.notes) < MOST_NOTES and (note := one_line(str(told["note"]))) not in job.notes:
        job.notes.append(note)
    if "stage" in told:
        job.progress = {"share": told.get("share"), "stage": str(told["stage"]), "left": told.get("left")}


def _is_cancelled(job: Job) -> bool:
    """Which may have happened while its process was waited for."""
    return job.state == "cancelling"


def _reason(code: int) -> str:
    if code < 0 or code == 137:
        return "it was ended from outside, perhaps because memory was short; give fewer or shorter texts"
    return "it broke off; this is a fault of the program, and byline serve's terminal says more"
