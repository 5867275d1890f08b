"""What a finished job can be asked for: its files with what they are, and its report."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Any

from starlette.responses import FileResponse, Response

from byline.web.jobs import FILES, REPORT, Job, Jobs, read_result
from byline.web.limits import RefusedError

SANDBOX = "sandbox allow-scripts allow-downloads allow-modals; frame-ancestors 'none'"
"""A report may draw itself, be printed and saved, and do nothing else; its own policy, in its head, says more."""
SHUT = "sandbox; default-src 'none'; frame-ancestors 'none'"
"""A download does nothing at all."""
REPORTED = {REPORT: "the report, one file that opens in any browser"}
DOWNLOADS = {
    "answers.txt": "the answers, as PAN wants them",
    "answers.jsonl": "the answers, a JSON object a line",
    "attributions.csv": "all authors of each text, in order, for a spreadsheet",
    "authors.byline": "what was learnt of the authors, for byline attribute and byline rolling",
    "clustering.json": "the clusters, as PAN wants them",
    "ranking.json": "the links, the strongest first",
    "tree.nwk": "the tree of texts, in Newick's form",
    "network.gexf": "the texts and their links, for Gephi",
}
FIGURES = {
    "heatmap": "all comparisons as a heat map",
    "pca": "the texts on a plane, by principal components",
    "mds": "the texts on a plane, by their distances",
    "dendrogram": "the texts as a tree, with bootstrap support",
    "learning": "what the members learnt, step by step",
    "roc": "hits and false alarms",
    "tippett": "how often evidence was how strong",
    "calibration": "whether probabilities were right",
}
EVERYTHING = {"all.zip": "everything, with the report"}


def result_json(jobs: Jobs, job: Job) -> dict[str, Any]:
    """The short result of a job that is done, with where to find the rest."""
    try:
        result = read_result(jobs.folder(job))
        found = [_download_json(job, file) for file in _files(jobs, job).values()]
    except (OSError, ValueError):
        raise RefusedError(404, "its result is damaged or gone from the disk; delete it, and ask again") from None
    return {**result, "downloads": found, "report": f"jobs/{job.id}/{REPORT}"}


def report_of(jobs: Jobs, job: Job) -> Response:
    """The report of a job that is done."""
    path = jobs.folder(job) / REPORT
    if job.state != "done" or not path.is_file():
        raise RefusedError(404, "there is no report of it")
    return FileResponse(path, media_type="text/html", headers={"content-security-policy": SANDBOX})


def download_of(jobs: Jobs, job: Job, name: str) -> Response:
    """A file of a job that is done."""
    file = _files(jobs, job).get(name) if job.state == "done" else None
    if file is None:
        raise RefusedError(404, "there is no such file")
    headers = {"content-security-policy": SHUT}
    return FileResponse(file, media_type="application/octet-stream", filename=name, headers=headers)


def _files(jobs: Jobs, job: Job) -> dict[str, Path]:
    """What can be downloaded, by name: the report and data first, then figures, then everything."""
    order = [*REPORTED, *DOWNLOADS, *FIGURES, *EVERYTHING]
    folder = jobs.folder(job) / FILES
    found = [file for file in sorted(folder.iterdir()) if _about(file.name)] if folder.is_dir() else []
    report = jobs.folder(job) / REPORT
    found += [report] if report.is_file() else []
    return {file.name: file for file in sorted(found, key=lambda file: order.index(_key(file.name)))}


def _download_json(job: Job, file: Path) -> dict[str, Any]:
    href = f"jobs/{job.id}/{FILES}/{file.name}"
    return {"name": file.name, "about": _about(file.name), "bytes": file.stat().st_size, "href": href}


def _about(name: str) -> str | None:
    return {**REPORTED, **DOWNLOADS, **FIGURES, **EVERYTHING}.get(_key(name))


def _key(name: str) -> str:
    stem = PurePosixPath(name).stem
    return stem if stem in FIGURES else name
