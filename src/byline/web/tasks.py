"""The tasks of the page. Run as `python -m byline.web.tasks HOME JOB`, it does the work of one job."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from byline.author_models.model import train_authors
from byline.author_models.model_file import write_author_model
from byline.corpora.answers import read_truth, write_answers
from byline.corpora.author_corpus import make_author_corpus, read_author_corpus
from byline.corpora.documents import Document, read_documents
from byline.corpora.problems import Problem, ProblemSet, builtin_problems, read_problems
from byline.corpora.reference import Reference, write_reference
from byline.corpora.reference_building import build_reference, read_reference
from byline.engines.protocol import Runtime
from byline.errors import AnswersError, BylineError, CorpusError
from byline.report.attribution import attribution_report
from byline.report.clustering import clustering_report
from byline.report.page import describe_report, render, timestamp
from byline.report.verification import verification_report
from byline.runs.executor import Execution
from byline.runs.folder import RunOutput
from byline.runs.run import Run
from byline.runs.workers import Event, ProgressTracker
from byline.settings.settings import read_pool, usual_preset
from byline.storage.files import read_checked_json, write_files
from byline.tasks.attribute import attribute as attribute_texts
from byline.tasks.cluster import cluster_documents
from byline.tasks.pan_collections import write_clustering
from byline.tasks.verify import verify
from byline.web.file_names import PAIRS, TABLES, find_corpus, find_texts
from byline.web.home import Home
from byline.web.jobs import FILES, JOB, REPORT, RESULT, RUN, TEXTS, read_options_of
from byline.web.messages import one_line, page_message
from byline.web.processes import FAILED, SendMessage, connect_to_server
from byline.web.references import BUILTIN, example_author_corpus, example_question, read_builtin_reference, unnamed

SEED = 0
PROGRESS_SECONDS = 0.2
"""Shortest time between two messages about progress."""
MAX_ROWS = 200
"""Problems, texts or clusters in the short result."""
ROW = (
    "id", "verdict", "leaning", "statement", "answer", "llr", "low", "high", "probability", "known", "unknown", "truth",
    "warnings",
)  # fmt: skip
"""Values of a problem in the short result."""
ALL = "all.zip"
MODEL_FIGURES = ("heatmap", "pca", "mds", "dendrogram")
RUN_FIGURES = (*MODEL_FIGURES, "learning")
JUDGED_FIGURES = ("roc", "tippett", "calibration")
QUICK = "characters,ngram,punctuation,vectors,words"
"""The engines that need no training."""
FORMS = ("svg", "pdf", "png")
DPI = 150


class JobContext:
    """A job's folder, its options and its connection to the server."""

    def __init__(self, home: Home, name: str, send: SendMessage) -> None:
        self.home, self.send = home, send
        self.folder = home.jobs / name
        values = read_checked_json(self.folder / JOB)
        self.task, self.title = str(values["task"]), str(values["title"])
        self.example: str | None = values["example"]
        self.options = read_options_of(values)

    def runtime(self, stage: str) -> Runtime:
        """Return a runtime that sends the stage and its parts to the server."""
        self.send(stage=stage)
        return Runtime(threads=os.cpu_count() or 1, stage=lambda part: self.send(stage=f"{stage}: {part}"))

    def files_of(self, role: str) -> Path:
        """Return the folder of a role's files."""
        return self.folder / TEXTS / role

    def names(self, role: str) -> list[str]:
        """Return the names of a role's files."""
        folder = self.files_of(role)
        return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())

    def read(self, role: str) -> list[Document]:
        """Read the texts of a role under the names that they had."""
        found = read_documents((self.files_of(role) / name, name) for name in self.names(role))
        if not found:
            raise CorpusError("no text could be read", remedy="Drop the texts again")
        return found

    def reference(self) -> Reference | None:
        """Read or build the reference that the job asks for, and keep it if the job says so."""
        options = self.options
        if options.reference is not None:
            if collection := BUILTIN.get(options.reference):
                return read_builtin_reference(collection)
            return read_reference(self.home.references / options.reference, options.language)
        if not options.uploaded:
            return None
        self.send(stage="reading the texts to compare with")
        reference = build_reference([find_texts(self.files_of("reference"), PAIRS)], options.language)
        name = options.save_as
        if name and os.path.lexists(self.home.references / name):
            self.note(f"there is a reference {name} already; these texts were not kept under that name")
        elif name:
            write_reference(reference, self.home.references / name)
        return reference

    def note(self, message: str) -> None:
        """Send a note for the person who asked."""
        self.send(note=self.name_files(message))

    def name_files(self, message: str) -> str:
        """Return a message on one line, in which uploaded files have their role and name instead of their path."""
        return one_line(message.replace(f"{self.folder / TEXTS}{os.sep}", ""))


class RunProgress(ProgressTracker):
    """Sends the progress of a run to the server."""

    def __init__(self, send: SendMessage) -> None:
        super().__init__(time.monotonic)
        self._send = send
        self._lock = threading.Lock()
        self._last_sent = 0.0

    def hear(self, event: Event) -> None:
        """Count an event; several threads may call this at once."""
        with self._lock:
            super().hear(event)
            if time.monotonic() - self._last_sent > PROGRESS_SECONDS or self.share >= 1:
                self._last_sent = time.monotonic()
                done = min(self.kept + self.done + 1, self.jobs)
                stage = f"member {done} of {self.jobs}" if self.jobs else "planning"
                self._send(share=round(self.share, 3), stage=stage, left=self.seconds_left)


class NoteHandler(logging.Handler):
    """Sends warnings to the server as notes."""

    def __init__(self, work: JobContext) -> None:
        super().__init__(logging.WARNING)
        self._work = work

    def emit(self, record: logging.LogRecord) -> None:
        """Send a warning."""
        self._work.note(record.getMessage())


def answer(work: JobContext) -> None:
    """Verify: answer a question or a corpus of problems."""
    options = work.options
    reference = work.reference()
    work.send(stage="reading the texts")
    pool = read_pool(usual_preset(reference is not None))
    quick = options.budget == "quick"
    if quick and reference is None:
        pool = pool.only(QUICK.split(","))
    with ExitStack() as stack:
        truth = None
        if work.task == "question":
            assert reference is not None
            problems = question(work, reference)
        else:
            given = stack.enter_context(builtin_problems("english")) if work.example else work.files_of("corpus")
            source, truth = find_corpus(given)
            problems = read_problems(source, options.language)
            truth = _matching_truth(work, truth, problems)
        result = verify(
            problems,
            pool,
            budget=None if quick or reference is not None else float(options.budget),
            seed=SEED,
            reference=reference,
            skip_bad=True,
            mask_shared=options.mask_shared,
            output=RunOutput(work.folder / RUN, overwrite=True),
            execution=Execution(report=RunProgress(work.send).hear),
        )
        work.send(stage="writing the answers")
        write_answers(work.folder / FILES, result.answers, result.layout)
        run = Run.open(work.folder / RUN)
        report_data = verification_report(run, truth, timestamp(), work.title, command(work))
        rows = report_data["problems"]
        if len(rows) > 1:
            draw(work, run, (*RUN_FIGURES, *(JUDGED_FIGURES if truth else ())), truth)
    short = [{key: row[key] for key in ROW} for row in rows[:MAX_ROWS]]
    measured = {key: report_data[key] for key in ("calibrated", "measures")}
    finish(work, report_data, {"problems": short, "total": len(rows), **measured})


def question(work: JobContext, reference: Reference) -> ProblemSet:
    """Return a problem for each text in question."""
    if work.example:
        known, unknown = example_question()
        asked = [unknown]
    else:
        known, asked = work.read("known"), work.read("unknown")
    names = ["question"] if len(asked) == 1 else [f"{n:03d} {text.name}" for n, text in enumerate(asked, start=1)]
    return ProblemSet(
        tuple(Problem(name, tuple(known), text, reference.language) for name, text in zip(names, asked, strict=True)),
        "pairs" if len(asked) > 1 else "folders",
    )


def _matching_truth(work: JobContext, truth: Path | None, problems: ProblemSet) -> Path | None:
    """Return the truth if it covers these problems; otherwise the answers are not measured."""
    if truth is None:
        return None
    try:
        known = read_truth(truth)
        if any(problem.id not in known for problem in problems.problems):
            raise AnswersError("lacks some problems", where=truth.name)
    except BylineError as error:
        work.note(f"{page_message(error)}; the answers are not measured")
        return None
    return truth


def attribute(work: JobContext) -> None:
    """Attribute texts to authors who may have written them."""
    options = work.options
    if work.example:
        known, asked = example_author_corpus()
        texts, authors = [text for _, text in known], [author for author, _ in known]
        author_corpus = make_author_corpus(texts, authors, options.language)
    else:
        author_corpus = read_author_corpus([find_texts(work.files_of("candidates"), TABLES)], options.language)
        asked = work.read("unknown")
    pool = read_pool("authors")
    members = tuple(pool.take(pool.members, SEED))
    model = train_authors(author_corpus, members, SEED, work.runtime("learning the authors"))
    file = work.folder / FILES / "authors.byline"
    write_author_model(file, model)
    found = attribute_texts(model, asked, options.none, work.runtime("comparing the texts"))
    write_files(work.folder / FILES, {"attributions.csv": found.to_csv().encode(errors="replace")})
    runtime = work.runtime("looking for the evidence")
    report_data = attribution_report(model, asked, found, options.none, about(work), runtime, author_corpus)
    draw(work, file, MODEL_FIGURES)
    rows = [
        {**{key: row[key] for key in ("name", "author", "probability", "none", "statement", "warnings")},
         "ranking": [[each[0], each[1]] for each in row["ranking"][:5]]}
        for row in report_data["documents"][:MAX_ROWS]
    ]  # fmt: skip
    finish(work, report_data, {"documents": rows, "total": len(asked)})


def cluster(work: JobContext) -> None:
    """Cluster texts by author."""
    texts = unnamed([text for _, text in example_author_corpus()[0]]) if work.example else work.read("texts")
    clustering = cluster_documents(texts, None, work.options.language, None, work.runtime("comparing the texts"))
    write_clustering(work.folder / FILES, clustering, overwrite=True)
    report_data = clustering_report(clustering, about(work), texts, work.runtime("looking for the evidence"))
    clusters = [[clustering.names[text] for text in cluster] for cluster in clustering.clusters]
    clusters.sort(key=lambda names: -len(names))
    finish(work, report_data, {"clusters": clusters[:MAX_ROWS], "total": len(clusters)})


TASKS: Mapping[str, Callable[[JobContext], None]] = {
    "question": answer,
    "corpus": answer,
    "attribution": attribute,
    "clustering": cluster,
}


def draw(work: JobContext, source: Run | Path, kinds: Sequence[str], truth: Path | None = None) -> None:
    """Draw the figures for which there is enough data."""
    try:
        from byline.figures.canvas import FigureFormat, require_matplotlib

        require_matplotlib()
    except BylineError:
        return
    from byline.figures.plot import prepare_figure

    style = FigureFormat(dpi=DPI)
    for number, kind in enumerate(kinds, start=1):
        work.send(stage=f"drawing figures, {number} of {len(kinds)}")
        try:
            figure = prepare_figure(source, kind, style, truth=truth if kind in JUDGED_FIGURES else None)
        except BylineError:  # too few texts, or this kind does not apply
            continue
        write_files(work.folder / FILES, {f"{kind}.{form}": figure.render(form) for form in FORMS})


def finish(work: JobContext, report_data: Mapping[str, Any], short: Mapping[str, Any]) -> None:
    """Write the report, a zip of everything and, last, the short result."""
    work.send(stage="writing the report")
    files = work.folder / FILES
    files.mkdir(exist_ok=True)
    write_files(work.folder, {REPORT: render(report_data).encode("utf-8", "replace")})
    made = sorted(files.iterdir())
    with zipfile.ZipFile(files / ALL, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in (work.folder / REPORT, *made):
            archive.write(file, file.name)
    values = {key: report_data[key] for key in ("kind", "conclusion", "limits", "warnings")}
    write_files(work.folder, {RESULT: json.dumps({**values, **short}, allow_nan=False).encode()})


def about(work: JobContext) -> dict[str, Any]:
    """Return what a report says of itself."""
    return describe_report(work.title, command(work), work.title, seed=SEED)


def command(work: JobContext) -> list[str]:
    """Return the command that does the same in a terminal; words in capitals stand for files."""
    options = work.options
    language = ["--language", options.language] if options.language else []
    mask = ["--mask-shared"] if options.mask_shared else []
    if work.task == "clustering":
        return ["byline", "cluster", "TEXTS", "-o", "OUT", *language]
    if work.task == "attribution":
        return ["byline", "attribute", "--known", "AUTHORS", "TEXTS", "--none", repr(options.none), *language]
    if work.task == "question":
        known, unknown = ([f"./{name}" for name in work.names(role)] for role in ("known", "unknown"))
        asked = ["--known", *(known or ["KNOWN"]), "--unknown", unknown[0] if len(unknown) == 1 else "UNKNOWN"]
        return ["byline", "verify", *asked, "--reference", "REFERENCE", *mask, *language]
    words = ["byline", "verify", "PROBLEMS", "-o", "OUT", "--skip-bad", *mask, *language]
    if options.has_reference:
        return [*words, "--reference", "REFERENCE"]
    return [*words, *(["--engines", QUICK] if options.budget == "quick" else ["--budget", f"{options.budget}s"])]


def main(home: str, name: str) -> int:
    """Do the work of a job; return 0 if it is done."""
    send, _ = connect_to_server()
    work = JobContext(Home(Path(home)), name, send)
    logging.getLogger("byline").addHandler(NoteHandler(work))  # warnings of other libraries are not for the page
    try:
        TASKS[work.task](work)
    except BylineError as error:
        send(error=work.name_files(page_message(error)))
    except MemoryError:
        send(error="not enough memory; give fewer or shorter texts")
    except OSError as error:
        send(error=f"{error.strerror or error}; make room on the disk, or check the permissions of {work.home.folder}")
    else:
        return 0
    return FAILED


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
