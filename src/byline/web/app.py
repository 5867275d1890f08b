"""The addresses of the page, downloads, and answers to failed requests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from byline import __version__
from byline.errors import BylineError
from byline.storage.files import TOO_MANY_OPEN
from byline.tasks.attribute import USUAL_PRIOR
from byline.text.languages import NAMES
from byline.web.drafts import Drafts
from byline.web.examples import EXAMPLES
from byline.web.home import Home
from byline.web.job_queue import JobQueue
from byline.web.job_requests import Options, read_options, require_used
from byline.web.jobs import ACTIVE, FILES, REPORT, Job, Jobs, read_result
from byline.web.limits import Limits
from byline.web.messages import DISK_FULL, RefusedError, one_line, page_message
from byline.web.reader_process import ReaderProcess
from byline.web.references import References
from byline.web.uploads import Uploads, list_formats, read_message

MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
BASE_STYLE = "base.css"
REPORT_POLICY = "sandbox allow-scripts allow-downloads allow-modals; frame-ancestors 'none'"
"""A report may draw itself and be printed and saved. Its own policy, in its head, says more."""
DOWNLOAD_POLICY = "sandbox; default-src 'none'; frame-ancestors 'none'"
FIGURES = {
    "heatmap": "all comparisons as a heat map",
    "pca": "the texts on a plane, by principal components",
    "mds": "the texts on a plane, by their distances",
    "dendrogram": "the texts as a tree, with bootstrap support",
    "learning": "the members' training, step by step",
    "roc": "hits and false alarms",
    "tippett": "how often evidence was how strong",
    "calibration": "whether probabilities were right",
}
DOWNLOADS = {
    REPORT: "the report, one file that opens in any browser",
    "answers.txt": "the answers, in PAN's format",
    "answers.jsonl": "the answers, one JSON object per line",
    "attributions.csv": "all authors of each text, in order, for a spreadsheet",
    "authors.byline": "the trained authors, for byline attribute and byline rolling",
    "clustering.json": "the clusters, in PAN's format",
    "ranking.json": "the links, the strongest first",
    "tree.nwk": "the tree of texts, in Newick format",
    "network.gexf": "the texts and their links, for Gephi",
    **FIGURES,
    "all.zip": "everything, with the report",
}
"""Descriptions of downloads, in the order in which the page lists them. Figures have several suffixes."""
BUG, BUSY, DISK_IS_FULL, UNUSABLE, TIMEOUT = 500, 503, 507, 422, 408
HTTP_ERRORS = {404: "there is nothing here", 405: "this address does not support that method"}

Endpoint = Callable[[Request], Awaitable[Response]]


class Json(JSONResponse):
    """JSON in ASCII, so that lone surrogates in names and texts do no harm."""

    def render(self, content: Any) -> bytes:
        """Return the content as bytes."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class Page:
    """The parts of the server, and its addresses."""

    def __init__(self, home: Home, limits: Limits) -> None:
        self.home, self.limits = home, limits
        self.formats, self.missing_formats = list_formats()
        self.reader = ReaderProcess(limits)
        self.drafts = Drafts(home, limits)
        self.uploads = Uploads(self.drafts, limits, self.reader, self.formats)
        self.jobs = Jobs(home)
        self.queue = JobQueue(home, self.jobs, limits)
        self.references = References(home, limits)

    def all_jobs(self) -> list[dict[str, Any]]:
        """Return all jobs as the page needs them."""
        places = {job.id: place for place, job in enumerate(self.jobs.waiting(), start=1)}
        return [job.to_json(places.get(job.id)) for job in self.jobs.all()]

    def job_json(self, job: Job) -> dict[str, Any]:
        """Return a job as the page needs it."""
        return job.to_json(self.jobs.waiting().index(job) + 1 if job.state == "queued" else None)

    def job_of(self, request: Request) -> Job:
        """Return the job that an address names."""
        return self.jobs.find(request.path_params["job"])

    async def state(self, _: Request) -> Response:
        """Return what the page needs when it starts."""
        limits = self.limits
        return Json(
            {
                "byline": __version__,
                "limits": {name: getattr(limits, name) for name in ("file_bytes", "total_bytes", "files", "jobs")},
                "formats": self.formats,
                "missing": self.missing_formats,
                "languages": sorted({*NAMES.values()}),
                "usual": {"none": USUAL_PRIOR},
                "references": await asyncio.to_thread(self.references.all),
                "examples": [each.to_json() for each in EXAMPLES.values()],
                "home": str(self.home.folder.absolute()),
                "figures": find_spec("matplotlib") is not None,
                "jobs": self.all_jobs(),
            }
        )

    async def list_jobs(self, _: Request) -> Response:
        """Return the state of all jobs."""
        return Json({"jobs": self.all_jobs()})

    async def show_job(self, request: Request) -> Response:
        """Return the state of a job, with its result."""
        job = self.job_of(request)
        values = self.job_json(job)
        if job.state == "done":
            values["result"] = await asyncio.to_thread(_read_result, self.jobs.folder(job))
        return Json(values)

    async def create_draft(self, _: Request) -> Response:
        """Create a draft."""
        return Json(self.drafts.create().to_json(), 201)

    async def show_draft(self, request: Request) -> Response:
        """Return the files of a draft."""
        return Json(self.drafts.find(request.path_params["draft"]).to_json())

    async def delete_draft(self, request: Request) -> Response:
        """Delete a draft."""
        self.drafts.remove(request.path_params["draft"])
        return Response(status_code=204)

    async def upload_file(self, request: Request) -> Response:
        """Add a file to a draft."""
        role, name, source = (request.query_params.get(key, "") for key in ("role", "name", "folder"))
        return Json(await self.uploads.receive(request, request.path_params["draft"], role, name, source), 201)

    async def delete_file(self, request: Request) -> Response:
        """Delete a file of a draft."""
        number = request.path_params["number"]
        async with self.drafts.locked(request.path_params["draft"]) as draft:
            is_number = number.isascii() and number.isdigit() and len(number) < 10
            self.drafts.remove_file(draft, int(number) if is_number else 0)
        return Response(status_code=204)

    async def create_job(self, request: Request) -> Response:
        """Create a job from a draft."""
        asked = await read_message(request, self.limits)
        options = read_options(asked.get("options"))
        require_used(asked.get("task"), asked.get("options"))
        self.queue.require_room()
        async with self.drafts.locked(str(asked.get("draft"))) as draft:
            if options.reference is not None:
                self.references.require(options.reference)
            if options.save_as is not None:
                self.references.require_free(options.save_as)
            job = self.jobs.create(str(asked.get("task")), options, draft)
            self.drafts.remove(draft.id)
        self.queue.notify()
        return Json(self.job_json(job), 201)

    async def create_example(self, request: Request) -> Response:
        """Create a job about the built-in texts."""
        example = EXAMPLES.get(request.path_params["example"])
        if example is None:
            raise RefusedError(404, f"there is no such example; there are {', '.join(EXAMPLES)}")
        self.queue.require_room()
        options = Options(title=example.title, reference=example.reference)
        job = self.jobs.create(example.name, options, example=example.name)
        self.queue.notify()
        return Json(self.job_json(job), 201)

    async def cancel_job(self, request: Request) -> Response:
        """Cancel a job."""
        job = self.job_of(request)
        await self.queue.cancel(job)
        return Json(self.job_json(job))

    async def repeat_job(self, request: Request) -> Response:
        """Run a job again."""
        self.queue.require_room()
        job = self.jobs.repeat(self.job_of(request))
        self.queue.notify()
        return Json(self.job_json(job), 201)

    async def delete_job(self, request: Request) -> Response:
        """Delete a job, after canceling it if it is active."""
        job = self.job_of(request)
        if job.state in ACTIVE:
            await self.queue.cancel(job)
        self.jobs.delete(job)
        return Response(status_code=204)

    async def build_reference(self, request: Request) -> Response:
        """Build a reference and keep it under a name."""
        asked = await read_message(request, self.limits)
        async with self.drafts.locked(str(asked.get("draft"))) as draft:
            found = await self.references.build(draft, asked.get("name"), asked.get("language"))
            self.drafts.remove(draft.id)
        return Json(found, 201)

    async def delete_reference(self, request: Request) -> Response:
        """Delete a kept reference."""
        await asyncio.to_thread(self.references.delete, request.path_params["name"])
        return Response(status_code=204)

    async def report(self, request: Request) -> Response:
        """Return the report of a job."""
        job = self.job_of(request)
        path = self.jobs.folder(job) / REPORT
        if job.state != "done" or not path.is_file():
            raise RefusedError(404, "it has no report")
        return FileResponse(path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})

    async def download(self, request: Request) -> Response:
        """Return a file that a job made."""
        job, name = self.job_of(request), request.path_params["name"]
        file = _find_downloads(self.jobs.folder(job)).get(name) if job.state == "done" else None
        if file is None:
            raise RefusedError(404, "there is no such file")
        headers = {"content-security-policy": DOWNLOAD_POLICY}
        return FileResponse(file, media_type="application/octet-stream", filename=name, headers=headers)

    def routes(self) -> list[Route]:
        """Return all routes."""
        listed: list[tuple[str, str, Endpoint]] = [
            ("GET", "/", asset),
            ("GET", "/assets/{name}", asset),
            ("GET", "/api/state", self.state),
            ("GET", "/api/jobs", self.list_jobs),
            ("POST", "/api/jobs", self.create_job),
            ("GET", "/api/jobs/{job}", self.show_job),
            ("DELETE", "/api/jobs/{job}", self.delete_job),
            ("POST", "/api/jobs/{job}/cancel", self.cancel_job),
            ("POST", "/api/jobs/{job}/again", self.repeat_job),
            ("POST", "/api/examples/{example}", self.create_example),
            ("POST", "/api/drafts", self.create_draft),
            ("GET", "/api/drafts/{draft}", self.show_draft),
            ("DELETE", "/api/drafts/{draft}", self.delete_draft),
            ("PUT", "/api/drafts/{draft}/files", self.upload_file),
            ("DELETE", "/api/drafts/{draft}/files/{number}", self.delete_file),
            ("POST", "/api/references", self.build_reference),
            ("DELETE", "/api/references/{name}", self.delete_reference),
            ("GET", "/jobs/{job}/report.html", self.report),
            ("GET", "/jobs/{job}/files/{name}", self.download),
        ]
        return [Route(path, endpoint, methods=[method]) for method, path, endpoint in listed]


async def asset(request: Request) -> Response:
    """Return a file of the page itself."""
    name = request.path_params.get("name", "index.html")
    kind = MEDIA_TYPES.get(PurePosixPath(name).suffix)
    found = {each.name: each for each in (files("byline.web") / "assets").iterdir()}.get(name)
    if name == BASE_STYLE:  # shared with reports
        found = files("byline.report") / "assets" / BASE_STYLE
    if kind is None or found is None:
        raise RefusedError(404, HTTP_ERRORS[404])
    return Response(found.read_bytes(), media_type=kind)


def _read_result(folder: Path) -> dict[str, Any]:
    """Return the short result of a finished job, with the addresses of its report and downloads."""
    try:
        result = read_result(folder)
        downloads = [
            {"name": name, "about": DOWNLOADS[_key(name)], "bytes": file.stat().st_size,
             "href": f"jobs/{folder.name}/{FILES}/{name}"}
            for name, file in _find_downloads(folder).items()
        ]  # fmt: skip
    except (OSError, ValueError):
        raise RefusedError(404, "its result is damaged or gone from the disk; delete it, and ask again") from None
    return {**result, "downloads": downloads, "report": f"jobs/{folder.name}/{REPORT}"}


def _find_downloads(folder: Path) -> dict[str, Path]:
    """Return the files that can be downloaded, in the order of the page."""
    found = [file for file in (folder / REPORT, *sorted((folder / FILES).glob("*"))) if file.is_file()]
    order = list(DOWNLOADS)
    known = [file for file in found if _key(file.name) in DOWNLOADS]
    return {file.name: file for file in sorted(known, key=lambda file: order.index(_key(file.name)))}


def _key(name: str) -> str:
    stem = PurePosixPath(name).stem
    return stem if stem in FIGURES else name


async def _answer_refused(_: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    headers = {"connection": "close"} if error.status == TIMEOUT else None
    return Json({"error": one_line(error.reason)}, error.status, headers)


async def _answer_byline_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, BylineError)
    return Json({"error": one_line(page_message(error))}, _status_of(error.__context__, UNUSABLE))


async def _answer_system_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, OSError)
    status = _status_of(error, BUG)
    reasons = {DISK_IS_FULL: "the disk is full; make room and try again", BUSY: "too many requests; try again later"}
    return Json({"error": reasons.get(status, f"it can't be done ({error.strerror or error})")}, status)


async def _answer_http_error(_: Request, error: Exception) -> Response:
    status = int(getattr(error, "status_code", BUG))
    return Json({"error": HTTP_ERRORS.get(status, "it can't be done")}, status)


async def _answer_bug(_: Request, error: Exception) -> Response:
    return Json({"error": "this is a bug in Byline; the terminal of byline serve says more"}, BUG)


def _status_of(cause: BaseException | None, otherwise: int) -> int:
    if isinstance(cause, OSError) and cause.errno in TOO_MANY_OPEN:
        return BUSY
    return DISK_IS_FULL if isinstance(cause, OSError) and cause.errno in DISK_FULL else otherwise


ERROR_HANDLERS: Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]] = {
    RefusedError: _answer_refused,
    BylineError: _answer_byline_error,
    OSError: _answer_system_error,
    404: _answer_http_error,
    405: _answer_http_error,
    Exception: _answer_bug,
}
