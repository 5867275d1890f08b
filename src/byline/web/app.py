"""The addresses of the page, and what each of them does."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib.resources import files
from importlib.util import find_spec
from pathlib import PurePosixPath
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from byline import __version__
from byline.attribution.attributing import USUAL_PRIOR
from byline.languages import NAMES
from byline.web.downloads import download_of, report_of, result_json
from byline.web.drafts import Drafts
from byline.web.examples import EXAMPLES
from byline.web.home import Home
from byline.web.intake import Intake
from byline.web.jobs import UNDER_WAY, Job, Jobs
from byline.web.limits import Limits, RefusedError
from byline.web.line import Line
from byline.web.needs import require_used
from byline.web.options import Options, read_options
from byline.web.populations import Populations
from byline.web.reading import Reader
from byline.web.refusals import Json
from byline.web.uploads import read_message

KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

Endpoint = Callable[[Request], Awaitable[Response]]


class Page:
    """All that the addresses work with."""

    def __init__(self, home: Home, limits: Limits, formats: dict[str, str], missing: list[str]) -> None:
        self.home, self.limits, self.formats, self.missing = home, limits, formats, missing
        self.reader = Reader(limits)
        self.drafts = Drafts(home, limits)
        self.intake = Intake(self.drafts, limits, self.reader, formats)
        self.jobs = Jobs(home)
        self.line = Line(home, self.jobs, limits)
        self.populations = Populations(home, limits)

    def all_jobs(self) -> list[dict[str, Any]]:
        """All jobs, for the page."""
        places = {job.id: place for place, job in enumerate(self.jobs.waiting(), start=1)}
        return [job.to_json(places.get(job.id)) for job in self.jobs.all()]

    def job_json(self, job: Job) -> dict[str, Any]:
        """A job, for the page."""
        return job.to_json(self.jobs.waiting().index(job) + 1 if job.state == "queued" else None)

    def job_of(self, request: Request) -> Job:
        """The one that an address names."""
        return self.jobs.find(request.path_params["job"])

    async def state(self, _: Request) -> Response:
        """What the page has to know at its start."""
        limits = self.limits
        return Json(
            {
                "byline": __version__,
                "limits": {name: getattr(limits, name) for name in ("file_bytes", "total_bytes", "files", "jobs")},
                "formats": self.formats,
                "missing": self.missing,
                "languages": sorted({*NAMES.values()}),
                "usual": {"none": USUAL_PRIOR},
                "references": await asyncio.to_thread(self.populations.all),
                "examples": [each.to_json() for each in EXAMPLES.values()],
                "home": str(self.home.folder.absolute()),
                "figures": find_spec("matplotlib") is not None,
                "jobs": self.all_jobs(),
            }
        )

    async def list_jobs(self, _: Request) -> Response:
        """How all jobs stand."""
        return Json({"jobs": self.all_jobs()})

    async def show_job(self, request: Request) -> Response:
        """How one stands, with its result."""
        job = self.job_of(request)
        values = self.job_json(job)
        if job.state == "done":
            values["result"] = await asyncio.to_thread(result_json, self.jobs, job)
        return Json(values)

    async def begin_draft(self, _: Request) -> Response:
        """A place for files."""
        return Json(self.drafts.begin().to_json(), 201)

    async def show_draft(self, request: Request) -> Response:
        """The files that are there."""
        return Json(self.drafts.find(request.path_params["draft"]).to_json())

    async def leave_draft(self, request: Request) -> Response:
        """Its files go."""
        self.drafts.leave(request.path_params["draft"])
        return Response(status_code=204)

    async def take_file(self, request: Request) -> Response:
        """A file comes in."""
        role, name, source = (request.query_params.get(key, "") for key in ("role", "name", "folder"))
        return Json(await self.intake.take(request, request.path_params["draft"], role, name, source), 201)

    async def drop_file(self, request: Request) -> Response:
        """A file goes."""
        number = request.path_params["number"]
        async with self.drafts.alone_with(request.path_params["draft"]) as draft:
            self.drafts.drop(draft, int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0)
        return Response(status_code=204)

    async def begin_job(self, request: Request) -> Response:
        """A question is asked."""
        asked = await read_message(request, self.limits)
        options = read_options(asked.get("options"))
        require_used(asked.get("task"), asked.get("options"))
        self.line.require_room()
        async with self.drafts.alone_with(str(asked.get("draft"))) as draft:
            if options.reference is not None:
                self.populations.require(options.reference)
            if options.save_as is not None:
                self.populations.require_free(options.save_as)
            job = self.jobs.begin(str(asked.get("task")), options, draft)
            self.drafts.leave(draft.id)
        self.line.look()
        return Json(self.job_json(job), 201)

    async def begin_example(self, request: Request) -> Response:
        """A question about the built-in texts."""
        example = EXAMPLES.get(request.path_params["example"])
        if example is None:
            raise RefusedError(404, f"there is no such example; there are {', '.join(EXAMPLES)}")
        self.line.require_room()
        options = Options(title=example.title, reference=example.reference)
        job = self.jobs.begin(example.task, options, example=example.name)
        self.line.look()
        return Json(self.job_json(job), 201)

    async def cancel_job(self, request: Request) -> Response:
        """A job ends before it is done."""
        job = self.job_of(request)
        await self.line.cancel(job)
        return Json(self.job_json(job))

    async def repeat_job(self, request: Request) -> Response:
        """The same again."""
        self.line.require_room()
        job = self.jobs.repeat(self.job_of(request))
        self.line.look()
        return Json(self.job_json(job), 201)

    async def delete_job(self, request: Request) -> Response:
        """A job goes, with all that is kept of it."""
        job = self.job_of(request)
        if job.state in UNDER_WAY:
            await self.line.cancel(job)
        self.jobs.delete(job)
        return Response(status_code=204)

    async def build_reference(self, request: Request) -> Response:
        """Texts by other people are kept under a name."""
        asked = await read_message(request, self.limits)
        async with self.drafts.alone_with(str(asked.get("draft"))) as draft:
            found = await self.populations.build(draft, asked.get("name"), asked.get("language"))
            self.drafts.leave(draft.id)
        return Json(found, 201)

    async def delete_reference(self, request: Request) -> Response:
        """They go."""
        await asyncio.to_thread(self.populations.delete, request.path_params["name"])
        return Response(status_code=204)

    async def report(self, request: Request) -> Response:
        """A job's report."""
        return report_of(self.jobs, self.job_of(request))

    async def download(self, request: Request) -> Response:
        """A file that a job made."""
        return download_of(self.jobs, self.job_of(request), request.path_params["name"])

    def routes(self) -> list[Route]:
        """Address by address."""
        listed: list[tuple[str, str, Endpoint]] = [
            ("GET", "/", asset),
            ("GET", "/assets/{name}", asset),
            ("GET", "/api/state", self.state),
            ("GET", "/api/jobs", self.list_jobs),
            ("POST", "/api/jobs", self.begin_job),
            ("GET", "/api/jobs/{job}", self.show_job),
            ("DELETE", "/api/jobs/{job}", self.delete_job),
            ("POST", "/api/jobs/{job}/cancel", self.cancel_job),
            ("POST", "/api/jobs/{job}/again", self.repeat_job),
            ("POST", "/api/examples/{example}", self.begin_example),
            ("POST", "/api/drafts", self.begin_draft),
            ("GET", "/api/drafts/{draft}", self.show_draft),
            ("DELETE", "/api/drafts/{draft}", self.leave_draft),
            ("PUT", "/api/drafts/{draft}/files", self.take_file),
            ("DELETE", "/api/drafts/{draft}/files/{number}", self.drop_file),
            ("POST", "/api/references", self.build_reference),
            ("DELETE", "/api/references/{name}", self.delete_reference),
            ("GET", "/jobs/{job}/report.html", self.report),
            ("GET", "/jobs/{job}/files/{name}", self.download),
        ]
        return [Route(path, endpoint, methods=[method]) for method, path, endpoint in listed]


async def asset(request: Request) -> Response:
    """A part of the page itself."""
    name = request.path_params.get("name", "index.html")
    kind = KINDS.get(PurePosixPath(name).suffix)
    found = {each.name: each for each in (files("byline.web") / "assets").iterdir()}.get(name)
    if kind is None or found is None:
        raise RefusedError(404, "there is nothing here")
    return Response(found.read_bytes(), media_type=kind)
