"""The tasks of the page. Run as `python -m byline.web.tasks HOME JOB`, it does the work of one job."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from byline.author_models.model import train_authors
from byline.author_models.model_file import write_author_model
from byline.corpora.answers import read_truth, write_answers
from byline.corpora.author_corpus import make_author_corpus, read_author_corpus
from byline.corpora.problems import Problem, ProblemSet, builtin_problems, read_problems
from byline.corpora.reference import Reference
from byline.errors import BylineError
from byline.report.attribution import attribution_report
from byline.report.clustering import clustering_report
from byline.report.page import timestamp
from byline.report.verification import verification_report
from byline.runs.executor import Execution
from byline.runs.folder import RunOutput
from byline.runs.run import Run
from byline.settings.settings import read_pool, usual_preset
from byline.storage.files import write_files
from byline.tasks.attribute import attribute as attribute_texts
from byline.tasks.cluster import cluster_documents
from byline.tasks.pan_collections import write_clustering
from byline.tasks.verify import verify
from byline.web.examples import example_author_corpus, example_question, unnamed
from byline.web.file_names import find_author_corpus, find_corpus
from byline.web.home import Home
from byline.web.job_context import JobContext, RunProgress
from byline.web.jobs import FILES, RUN
from byline.web.messages import page_message
from byline.web.processes import FAILED, connect_to_server, forward_warnings
from byline.web.references import NO_MEMORY
from byline.web.results import (
    JUDGED_FIGURES,
    MAX_ROWS,
    MODEL_FIGURES,
    QUICK,
    RUN_FIGURES,
    about,
    command,
    draw,
    finish,
)

ROW = (
    "id", "verdict", "leaning", "statement", "answer", "llr", "low", "high", "probability", "known", "unknown", "truth",
    "warnings",
)  # fmt: skip
"""Values of a problem in the short result."""


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
            seed=options.seed,
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
    said = {"calibrated": report_data["calibrated"], "measures": report_data["measures"]}
    finish(work, report_data, {"problems": short, "total": len(rows), **said})


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
    except BylineError as error:
        work.send(note=f"{work.hide_paths(page_message(error))}; the answers are not measured")
        return None
    if any(problem.id not in known for problem in problems.problems):
        work.send(note=f"{truth.name}: lacks some problems; the answers are not measured")
        return None
    return truth


def attribute(work: JobContext) -> None:
    """Attribute texts to authors who may have written them."""
    options = work.options
    if work.example:
        known, asked = example_author_corpus()
        author_corpus = make_author_corpus(
            [text for _, text in known], [author for author, _ in known], options.language
        )
    else:
        author_corpus = read_author_corpus([find_author_corpus(work.files_of("candidates"))], options.language)
        asked = work.read("unknown")
    pool = read_pool("authors")
    members = tuple(pool.take(pool.members, options.seed))
    model = train_authors(author_corpus, members, options.seed, work.runtime("learning the authors"))
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


def main(arguments: Sequence[str]) -> int:
    """Do the work of a job; return 0 if it is done."""
    send = connect_to_server()
    work = JobContext(Home(Path(arguments[0])), arguments[1], send)
    try:
        with forward_warnings(lambda warning: send(note=work.hide_paths(warning))):
            TASKS[work.task](work)
    except BylineError as error:
        send(error=work.hide_paths(page_message(error)))
    except MemoryError:
        send(error=NO_MEMORY)
    except OSError as error:
        send(error=f"{error.strerror or error}; make room on the disk, or check the permissions of {work.home.folder}")
    else:
        return 0
    return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
