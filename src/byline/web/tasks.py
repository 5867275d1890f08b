"""What can be asked, answered: a question or a corpus of problems, texts and their authors, texts and each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path

from byline.errors import BylineError
from byline.execution import Keep
from byline.problems import Problem, ProblemSet, read_problems
from byline.reference import Reference
from byline.storage import write_files
from byline.truth import read_truth
from byline.web.examples import example_folder, example_question, example_writings, unnamed
from byline.web.jobs import FILES, RUN
from byline.web.progress import RunProgress
from byline.web.results import (
    JUDGED_FIGURES,
    MODEL_FIGURES,
    QUICK,
    RUN_FIGURES,
    SHOWN,
    about,
    command,
    draw,
    finish,
    made,
    warnings_of,
)
from byline.web.sources import find_corpus, find_writings
from byline.web.work import Work

ROW = (
    "id", "verdict", "leaning", "statement", "answer", "llr", "low", "high", "probability", "known", "unknown", "truth"
)  # fmt: skip
"""What the short result says of a problem."""


def answer(work: Work) -> None:
    """A question, or a corpus of problems."""
    from byline.answers import write_answers
    from byline.dossiers.verification import verification_dossier
    from byline.pools import read_pool
    from byline.verification import usual_preset, verify

    options = work.options
    reference = work.reference()
    work.tell(stage="reading the texts")
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
            given = stack.enter_context(example_folder()) if work.example else work.place("corpus")
            source, truth = find_corpus(given)
            problems = read_problems(source, options.language)
            truth = _fitting(work, truth, problems)
        result = verify(
            problems,
            pool,
            budget=None if quick or reference is not None else float(options.budget),
            seed=options.seed,
            reference=reference,
            language=options.language,
            skip_bad=True,
            mask_shared=options.mask_shared,
            keep=Keep(work.folder / RUN, overwrite=True, models=False),
            report=RunProgress(work.tell).hear,
        )
        work.tell(stage="weighing what was found")
        write_answers(work.folder / FILES, result.answers, result.layout)
        dossier = verification_dossier(work.folder / RUN, truth, made(), work.title, command(work))
        rows = dossier["problems"]
        if len(rows) > 1:
            draw(work, work.folder / RUN, (*RUN_FIGURES, *(JUDGED_FIGURES if truth else ())), truth)
    short = [{**{key: row[key] for key in ROW}, "warnings": warnings_of(row)} for row in rows[:SHOWN]]
    said = {"calibrated": dossier["calibrated"], "measures": dossier["measures"]}
    finish(work, dossier, {"problems": short, "total": len(rows), **said})


def question(work: Work, reference: Reference) -> ProblemSet:
    """A problem for each text in question."""
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


def _fitting(work: Work, truth: Path | None, problems: ProblemSet) -> Path | None:
    """The truth, if it is that of these problems: they can be answered without, only not measured."""
    if truth is None:
        return None
    try:
        known = read_truth(truth)
    except BylineError as error:
        work.tell(note=f"{work.plain(str(error))}; the answers are not measured")
        return None
    if any(problem.id not in known for problem in problems.problems):
        work.tell(note=f"{truth.name}: says nothing of some problems; the answers are not measured")
        return None
    return truth


def attribute(work: Work) -> None:
    """Texts, and authors who may have written them."""
    from byline.attribution.attributing import attribute as attribute_texts
    from byline.attribution.file import write_author_model
    from byline.attribution.model import train_authors
    from byline.attribution.tables import to_csv
    from byline.attribution.writings import read_writings, writings_of
    from byline.dossiers.attribution import attribution_dossier
    from byline.pools import read_pool

    options = work.options
    if work.example:
        known, asked = example_writings()
        writings = writings_of([text for _, text in known], [author for author, _ in known], options.language)
    else:
        writings = read_writings([find_writings(work.place("candidates"))], options.language)
        asked = work.read("unknown")
    pool = read_pool("authors")
    members = tuple(pool.take(pool.members, options.seed))
    model = train_authors(writings, members, options.seed, work.watch("learning the authors"))
    file = work.folder / FILES / "authors.byline"
    write_author_model(file, model)
    found = attribute_texts(model, asked, options.none, work.watch("comparing the texts"))
    write_files(work.folder / FILES, {"attributions.csv": to_csv(found).encode(errors="replace")})
    watch = work.watch("looking for what speaks for whom")
    dossier = attribution_dossier(model, asked, found, options.none, about(work), watch, writings)
    draw(work, file, MODEL_FIGURES)
    rows = [
        {**{key: row[key] for key in ("name", "author", "probability", "none", "statement")},
         "warnings": warnings_of(row), "ranking": [[each[0], each[1]] for each in row["ranking"][:5]]}
        for row in dossier["documents"][:SHOWN]
    ]  # fmt: skip
    finish(work, dossier, {"documents": rows, "total": len(asked)})


def cluster(work: Work) -> None:
    """Texts that may belong together."""
    from byline.clusterfiles import write_clustering
    from byline.clustering import cluster_documents
    from byline.dossiers.clustering import clustering_dossier

    texts = unnamed([text for _, text in example_writings()[0]]) if work.example else work.read("texts")
    clustering = cluster_documents(texts, None, work.options.language, None, work.watch("comparing the texts"))
    write_clustering(work.folder / FILES, clustering, overwrite=True)
    dossier = clustering_dossier(clustering, about(work), texts, work.watch("looking for what speaks for links"))
    clusters = [[clustering.names[text] for text in cluster] for cluster in clustering.clusters]
    clusters.sort(key=lambda names: -len(names))
    finish(work, dossier, {"clusters": clusters[:SHOWN], "total": len(clusters)})


TASKS: Mapping[str, Callable[[Work], None]] = {
    "question": answer,
    "corpus": answer,
    "attribution": attribute,
    "clustering": cluster,
}
