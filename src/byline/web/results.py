"""Files that a finished job leaves: the report, figures, the short result, and a zip of all of them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from byline.errors import BylineError
from byline.report.page import describe_report, render
from byline.runs.run import Run
from byline.storage.files import write_files
from byline.web.job_context import JobContext
from byline.web.jobs import FILES, REPORT, RESULT

MAX_ROWS = 200
"""Problems, texts or clusters in the short result."""
ALL = "all.zip"
RUN_FIGURES = ("heatmap", "pca", "mds", "dendrogram", "learning")
JUDGED_FIGURES = ("roc", "tippett", "calibration")
MODEL_FIGURES = ("heatmap", "pca", "mds", "dendrogram")
QUICK = "ngram,vectors"
"""The engines that need no training."""
FORMS = ("svg", "pdf", "png")
DPI = 150


def finish(work: JobContext, report_data: Mapping[str, Any], short: Mapping[str, Any]) -> None:
    """Write the report, a zip of everything and, last, the short result."""
    work.send(stage="writing the report")
    files = work.folder / FILES
    files.mkdir(exist_ok=True)
    write_files(work.folder, {REPORT: render(report_data).encode("utf-8", "replace")})
    with zipfile.ZipFile(files / ALL, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(work.folder / REPORT, REPORT)
        for file in sorted(files.iterdir()):
            if file.name != ALL:
                archive.write(file, file.name)
    values = {key: report_data[key] for key in ("kind", "conclusion", "limits", "warnings")}
    write_files(work.folder, {RESULT: json.dumps({**values, **short}, allow_nan=False).encode()})


def draw(work: JobContext, source: Run | Path, kinds: Sequence[str], truth: Path | None = None) -> None:
    """Draw the figures for which there is enough data."""
    try:
        from byline.figures.canvas import FigureFormat, require_matplotlib

        require_matplotlib()
    except BylineError:
        return
    from byline.figures.plot import prepare_figure

    for number, kind in enumerate(kinds, start=1):
        work.send(stage=f"drawing figures, {number} of {len(kinds)}")
        try:
            figure = prepare_figure(
                source, kind, FigureFormat(dpi=DPI), truth=truth if kind in JUDGED_FIGURES else None
            )
        except BylineError:  # too few texts, or this kind does not apply
            continue
        write_files(work.folder / FILES, {f"{kind}.{form}": figure.render(form) for form in FORMS})


def about(work: JobContext) -> dict[str, Any]:
    """What a report says of itself."""
    return describe_report(work.title, command(work), work.title, seed=work.options.seed)


def command(work: JobContext) -> list[str]:
    """Return the command that does the same in a terminal; words in capitals stand for files."""
    options = work.options
    language = ["--language", options.language] if options.language else []
    mask = ["--mask-shared"] if options.mask_shared else []
    seed = ["--seed", str(options.seed)] if options.seed else []
    if work.task == "clustering":
        return ["byline", "cluster", "TEXTS", "-o", "OUT", *language]
    if work.task == "attribution":
        return ["byline", "attribute", "--known", "AUTHORS", "TEXTS", "--none", repr(options.none), *language, *seed]
    if work.task == "question":
        known, unknown = ([f"./{name}" for name in work.names(role)] for role in ("known", "unknown"))
        asked = ["--known", *(known or ["KNOWN"]), "--unknown", unknown[0] if len(unknown) == 1 else "UNKNOWN"]
        return ["byline", "verify", *asked, "--reference", "REFERENCE", *mask, *language, *seed]
    words = ["byline", "verify", "PROBLEMS", "-o", "OUT", "--skip-bad", *mask, *language, *seed]
    if options.uploaded or options.reference:
        return [*words, "--reference", "REFERENCE"]
    return [*words, *(["--engines", QUICK] if options.budget == "quick" else ["--budget", f"{options.budget}s"])]
