"""The addresses of the page, downloads, and answers to failed requests."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from byline.errors import BylineError
from byline.tasks.attribute import USUAL_PRIOR
from byline.text.languages import NAMES
from byline.web.home import Home
from byline.web.job_options import read_options
from byline.web.jobs import ACTIVE, FILES, REPORT, Job, JobQueue, Jobs, read_result
from byline.web.messages import RefusedError, one_line, page_message
from byline.web.references import EXAMPLES, References
from byline.web.uploads import Drafts, Uploads, read_message

MEDIA_TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}
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
DISK_FULL = tuple(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))
HTTP_ERRORS = {404: "there is nothing here", 405: "this address does not support that method"}


class Json(JSONResponse):
    """JSON in ASCII, so that lone surrogates in names and texts do no harm."""

    def render(self, content: Any) -> bytes:
        """Return the content as bytes."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


class Page:
    """The parts of the server, and its addresses."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.drafts = Drafts(home)
        self.uploads = Uploads(home.limits, self.drafts)
        self.jobs = Jobs(home)
        self.queue = JobQueue(home, self.jobs)
        self.references = References(home)

    def describe_job(self, job: Job) -> dict[str, Any]:
        """Return a job and its place in the queue, as the page needs it."""
        return {**job.to_json(), "place": self.jobs.waiting().index(job) + 1 if job.state == "queued" else None}

    def describe_jobs(self) -> list[dict[str, Any]]:
        """Return all jobs as the page needs them."""
        return [self.describe_job(job) for job in self.jobs.all()]

    def find_job(self, request: Request) -> Job:
        """Return the job that an address names."""
        return self.jobs.find(request.path_params["job"])

    async def show_state(self, _: Request) -> Response:
        """Return what the page needs when it starts."""
        limits = self.home.limits
        return Json(
            {
                "limits": {name: getattr(limits, name) for name in ("file_bytes", "total_bytes", "files")},
                "formats": self.uploads.formats,
                "missing": self.uploads.missing_formats,
                "languages": sorted({*NAMES.values()}),
                "usual": {"none": USUAL_PRIOR},
                "references": await asyncio.to_thread(self.references.all),
                "examples": [asdict(each) for each in EXAMPLES.values()],
                "home": str(self.home.folder.absolute()),
                "jobs": self.describe_jobs(),
            }
        )

    async def list_jobs(self, _: Request) -> Response:
        """Return the state of all jobs."""
        return Json({"jobs": self.describe_jobs()})

    async def show_job(self, request: Request) -> Response:
        """Return the state of a job, with its result."""
        job = self.find_job(request)
        values = self.describe_job(job)
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
        async with self.drafts.locked(request.path_params["draft"]) as draft:
            self.drafts.remove(draft)
        return Response(status_code=204)

    async def upload_file(self, request: Request) -> Response:
        """Add a file to a draft."""
        role, name, source = (request.query_params.get(key, "") for key in ("role", "name", "folder"))
        return Json(await self.uploads.receive(request, request.path_params["draft"], role, name, source), 201)

    async def delete_file(self, request: Request) -> Response:
        """Delete a file of a draft."""
        async with self.drafts.locked(request.path_params["draft"]) as draft:
            draft.remove_file(request.path_params["number"])
        return Response(status_code=204)

    async def create_job(self, request: Request) -> Response:
        """Create a job from a draft."""
        asked = await read_message(request, self.home.limits)
        options = read_options(asked.get("options", {}))
        async with self.drafts.locked(str(asked.get("draft"))) as draft:
            if options.reference is not None:
                self.references.require(options.reference)
            if options.save_as is not None:
                self.references.require_free(options.save_as)
            job = self.jobs.create(asked.get("task"), options, draft)
            self.drafts.remove(draft)
        return self._answer_queued(job)

    async def create_example(self, request: Request) -> Response:
        """Create a job about the built-in texts."""
        example = EXAMPLES.get(request.path_params["example"])
        if example is None:
            raise RefusedError(404, f"there is no such example; there are {', '.join(EXAMPLES)}")
        return self._answer_queued(self.jobs.create_example(example.task, example.options()))

    async def repeat_job(self, request: Request) -> Response:
        """Run a job again."""
        return self._answer_queued(self.jobs.repeat(self.find_job(request)))

    def _answer_queued(self, job: Job) -> Response:
        self.queue.notify()
        return Json(self.describe_job(job), 201)

    async def cancel_job(self, request: Request) -> Response:
        """Cancel a job."""
        job = self.find_job(request)
        await self.queue.cancel(job)
        return Json(self.describe_job(job))

    async def delete_job(self, request: Request) -> Response:
        """Delete a job, after canceling it if it is active."""
        job = self.find_job(request)
        if job.state in ACTIVE:
            await self.queue.cancel(job)
        self.jobs.delete(job)
        return Response(status_code=204)

    async def delete_reference(self, request: Request) -> Response:
        """Delete a kept reference."""
        await asyncio.to_thread(self.references.delete, request.path_params["name"])
        return Response(status_code=204)

    async def show_report(self, request: Request) -> Response:
        """Return the report of a job."""
        path = self._find_downloads(request).get(REPORT)
        if path is None:
            raise RefusedError(404, "it has no report")
        return FileResponse(path, media_type="text/html", headers={"content-security-policy": REPORT_POLICY})

    async def download(self, request: Request) -> Response:
        """Return a file that a job made."""
        name = request.path_params["name"]
        path = self._find_downloads(request).get(name)
        if path is None:
            raise RefusedError(404, "there is no such file")
        headers = {"content-security-policy": DOWNLOAD_POLICY}
        return FileResponse(path, media_type="application/octet-stream", filename=name, headers=headers)

    def _find_downloads(self, request: Request) -> dict[str, Path]:
        job = self.find_job(request)
        return _list_downloads(self.jobs.folder(job)) if job.state == "done" else {}

    def routes(self) -> list[Route]:
        """Return all routes."""
        return [
            Route("/", show_asset),
            Route("/assets/{name}", show_asset),
            Route("/api/state", self.show_state),
            Route("/api/jobs", self.list_jobs),
            Route("/api/jobs", self.create_job, methods=["POST"]),
            Route("/api/jobs/{job}", self.show_job),
            Route("/api/jobs/{job}", self.delete_job, methods=["DELETE"]),
            Route("/api/jobs/{job}/cancel", self.cancel_job, methods=["POST"]),
            Route("/api/jobs/{job}/again", self.repeat_job, methods=["POST"]),
            Route("/api/examples/{example}", self.create_example, methods=["POST"]),
            Route("/api/drafts", self.create_draft, methods=["POST"]),
            Route("/api/drafts/{draft}", self.show_draft),
            Route("/api/drafts/{draft}", self.delete_draft, methods=["DELETE"]),
            Route("/api/drafts/{draft}/files", self.upload_file, methods=["PUT"]),
            Route("/api/drafts/{draft}/files/{number:int}", self.delete_file, methods=["DELETE"]),
            Route("/api/references/{name}", self.delete_reference, methods=["DELETE"]),
            Route("/jobs/{job}/report.html", self.show_report),
            Route("/jobs/{job}/files/{name}", self.download),
        ]


async def show_asset(request: Request) -> Response:
    """Return a file of the page itself."""
    name = request.path_params.get("name", "index.html")
    kind = MEDIA_TYPES.get(PurePosixPath(name).suffix)
    found = {each.name: each for each in (files("byline.web") / "assets").iterdir()}.get(name)
    if name == "base.css":  # shared with reports
        found = files("byline.report") / "assets" / name
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
            for name, file in _list_downloads(folder).items()
        ]  # fmt: skip
    except (OSError, ValueError):
        raise RefusedError(404, "its result is damaged or gone from the disk; delete it, and ask again") from None
    return {**result, "downloads": downloads, "report": f"jobs/{folder.name}/{REPORT}"}


def _list_downloads(folder: Path) -> dict[str, Path]:
    """Return the files that can be downloaded, in the order of the page."""
    found = [file for file in (folder / REPORT, *sorted((folder / FILES).glob("*"))) if file.is_file()]
    order = list(DOWNLOADS)
    known = [file for file in found if _key(file.name) in DOWNLOADS]
    return {file.name: file for file in sorted(known, key=lambda file: order.index(_key(file.name)))}


def _key(name: str) -> str:
    stem = PurePosixPath(name).stem
    return stem if stem in FIGURES else name


async def answer_error(_: Request, error: Exception) -> Response:
    """Answer a request that failed, with the reason in one line."""
    cause = error if isinstance(error, OSError) else error.__context__
    if isinstance(error, RefusedError):
        status, reason = error.status, error.reason
    elif isinstance(error, HTTPException):
        status, reason = error.status_code, HTTP_ERRORS.get(error.status_code, "it can't be done")
    elif isinstance(cause, OSError) and cause.errno in DISK_FULL:
        status, reason = 507, "the disk is full; make room and try again"
    elif isinstance(error, BylineError):
        status, reason = 422, page_message(error)
    elif isinstance(error, OSError):
        status, reason = 500, f"it can't be done ({error.strerror or error})"
    else:
        status, reason = 500, "this is a bug in Byline; the terminal of byline serve says more"
    return Json({"error": one_line(reason)}, status, {"connection": "close"} if status == 408 else None)


ERROR_HANDLERS: Mapping[Any, Callable[[Request, Exception], Awaitable[Response]]] = dict.fromkeys(
    (RefusedError, BylineError, OSError, HTTPException, Exception), answer_error
)
