"""What a finished job leaves: the report, figures, the short result, and an archive of all of it."""

from __future__ import annotations

import json
import shlex
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from byline import __version__
from byline.errors import BylineError
from byline.reports.page import render
from byline.storage import write_files
from byline.web.jobs import FILES, REPORT, RESULT, now
from byline.web.telling import on_the_page
from byline.web.work import Work

SHOWN = 200
"""Problems, texts or clusters that the short result names."""
ALL = "all.zip"
RUN_FIGURES = ("heatmap", "pca", "mds", "dendrogram", "learning")
JUDGED_FIGURES = ("roc", "tippett", "calibration")
MODEL_FIGURES = ("heatmap", "pca", "mds", "dendrogram")
QUICK = "ngram,vectors"
"""The engines that need no training."""
FORMS = ("svg", "pdf", "png")
DOTS = 150
"""An inch, of figures that are made of dots."""


def finish(work: Work, dossier: Mapping[str, Any], short: Mapping[str, Any]) -> None:
    """Write the report, the short result, and an archive of everything; the result is the last."""
    work.tell(stage="writing the report")
    files = work.folder / FILES
    files.mkdir(exist_ok=True)
    write_files(work.folder, {REPORT: render(dossier).encode("utf-8", "replace")})
    with zipfile.ZipFile(files / ALL, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(work.folder / REPORT, REPORT)
        for file in sorted(files.iterdir()):
            if file.name != ALL:
                archive.write(file, file.name)
    values = {**{key: dossier[key] for key in ("kind", "conclusion", "limits")}, "warnings": warnings_of(dossier)}
    write_files(work.folder, {RESULT: json.dumps({**values, **short}, allow_nan=False).encode()})


def warnings_of(told: Mapping[str, Any]) -> list[str]:
    """What warns of a result, or of a part of it, in the page's words."""
    return [on_the_page(warning) for warning in told["warnings"]]


def draw(work: Work, source: Path, kinds: Sequence[str], truth: Path | None = None) -> None:
    """Those figures that there is enough for."""
    try:
        from byline.figures.canvas import require_matplotlib

        require_matplotlib()
    except BylineError:
        return
    from byline.figures.plotting import plot

    for number, kind in enumerate(kinds, start=1):
        work.tell(stage=f"drawing figures, {number} of {len(kinds)}")
        for form in FORMS:
            place = work.folder / FILES / f"{kind}.{form}"
            judged = {"truth": truth} if kind in JUDGED_FIGURES else {}
            try:
                plot(source, kind, place, overwrite=True, dpi=DOTS, **judged)  # type: ignore[arg-type]
            except BylineError:  # too few texts for it, or none of its kind
                break


def made() -> str:
    """When, for people to read."""
    return now().replace("T", " ").replace("Z", " UTC")


def about(work: Work) -> dict[str, Any]:
    """What a report says of itself."""
    provenance = {"command": shlex.join(command(work)), "seed": work.options.seed}
    return {"title": work.title, "source": work.title, "byline": __version__, "made": made(), "provenance": provenance}


def command(work: Work) -> list[str]:
    """What a person would write in a terminal for it; words in capitals stand for files."""
    options = work.options
    spoken = ["--language", options.language] if options.language else []
    apart = ["--mask-shared"] if options.mask_shared else []
    chance = ["--seed", str(options.seed)] if options.seed else []
    if work.task == "clustering":
        return ["byline", "cluster", "TEXTS", "-o", "OUT", *spoken]
    if work.task == "attribution":
        return ["byline", "attribute", "--known", "AUTHORS", "TEXTS", "--none", repr(options.none), *spoken, *chance]
    if work.task == "question":
        known, unknown = ([f"./{name}" for name in work.names(role)] for role in ("known", "unknown"))
        asked = ["--known", *(known or ["KNOWN"]), "--unknown", unknown[0] if len(unknown) == 1 else "UNKNOWN"]
        return ["byline", "verify", *asked, "--reference", "REFERENCE", *apart, *spoken, *chance]
    words = ["byline", "verify", "PROBLEMS", "-o", "OUT", "--skip-bad", *apart, *spoken, *chance]
    if options.uploaded or options.reference:
        return [*words, "--reference", "REFERENCE"]
    return [*words, *(["--engines", QUICK] if options.budget == "quick" else ["--budget", f"{options.budget}s"])]
