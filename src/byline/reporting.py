"""A report of a finished run, written as one HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from byline.dossiers.verification import verification_dossier
from byline.errors import AnswersError, RunError
from byline.reports.page import render
from byline.storage import write_files


def report_run(
    run: Path | str, path: Path | str, truth: Path | str | None = None, made: str = "", overwrite: bool = False
) -> None:
    """Write the report of a run, a folder that was kept: answers, texts, evidence and where they come from.

    `truth` is a file of it, for measures and curves; `made` is the time that the report shall say.
    """
    require_report(Path(path), overwrite)
    write_report(Path(path), verification_dossier(Path(run), None if truth is None else Path(truth), made))


def require_report(path: Path, overwrite: bool) -> None:
    """Refuse, before any work, a place where a report can't be written."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise RunError(f"{path}: a report is an HTML file; give it a name that ends with .html")
    if path.is_dir():
        raise RunError(f"{path}: a folder; name a file for the report, such as {path / 'report.html'}")
    if path.exists() and not overwrite:
        raise AnswersError(f"{path}: exists already; choose another name, or overwrite it (--overwrite)")


def write_report(path: Path, dossier: Mapping[str, Any]) -> None:
    """The page of a dossier, whole or not at all."""
    write_files(path.parent, {path.name: render(dossier).encode("utf-8", "replace")})
