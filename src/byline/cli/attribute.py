"""`byline attribute`: which of these authors wrote a text?"""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.cells import cell_len
from rich.table import Table

from byline.author_models.model import AuthorModel
from byline.author_models.model_file import looks_like_model, read_author_model
from byline.cli import options
from byline.cli.console import count_of, out, print_json, printable
from byline.cli.files import given_command, hash_files, require_free
from byline.cli.inspect import GUESS, print_table
from byline.cli.progress import work
from byline.cli.train import naming, train_model
from byline.corpora.author_corpus import NONE, read_author_corpus
from byline.corpora.documents import Document, classify_path, find_texts, read_documents
from byline.engines.protocol import Runtime
from byline.errors import BylineError, CorpusError, RunError
from byline.report.attribution import attribution_report
from byline.report.page import describe_report, require_report_path, write_report
from byline.storage.files import write_files
from byline.tasks.attribute import Attribution, Attributions, attribute
from byline.tasks.pan_collections import (
    CandidateProblem,
    answers_path,
    check_problems,
    folder_of,
    is_answered,
    is_collection,
    read_collection,
    write_predictions,
)

log = logging.getLogger(__name__)

SHOWN = 3
"""Authors that a line shows."""
GAP = 2
"""Columns between two of a table's."""
NARROWEST = 16
"""Columns that a text's name has, if other words leave as many."""


@dataclass(frozen=True)
class ResultOptions:
    """Where the attributions go, and in which form."""

    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.csv",
            help="Write all rankings as CSV; for a PAN folder, the folder for its answers.",
        ),
    ] = None
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep a PAN folder's answers that are there, and answer the others.")
    ] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="Print all rankings as CSV.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print all rankings as JSON, in the order of the texts.")] = (
        False
    )
    report_file: options.ReportFile = None


@options.with_groups
def attribute_command(
    context: typer.Context,
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="[MODEL] TEXT...", help="A model that byline train wrote, and text files or folders of them."
        ),
    ],
    result: ResultOptions,
    training: options.AuthorOptions,
    known: Annotated[
        Path | None,
        typer.Option(metavar="AUTHORS", help="Instead of a model: the authors' texts, as in byline train."),
    ] = None,
    none: Annotated[
        float,
        typer.Option(
            metavar="PRIOR",
            help="Prior probability that the author is none of these; 0 for a closed set.",
            callback=options.require_prior_of_none,
        ),
    ] = 0.1,
    quiet: options.Quiet = False,
) -> None:
    """Rank the candidate authors of each text, including "none of these".

    A PAN 2018 or 2019 folder (collection-info.json) is answered as a whole, into the folder that -o names.

    Options of members and language apply with --known and to such folders, not to a trained model.

    Example: byline attribute novels.byline found.txt
    """
    whole = known is None and len(inputs) == 1 and is_collection(inputs[0])
    if result.as_csv and result.as_json:
        context.fail("--csv and --json print the same in two ways; give one of them")
    if result.resume and result.overwrite:
        context.fail("--resume keeps the answers that are there and --overwrite replaces them; give one of them")
    if result.resume and not whole:
        context.fail("--resume is for a PAN folder's answers, problem by problem")
    if whole and (result.as_csv or result.report_file is not None):
        option = "--csv" if result.as_csv else "--report"
        context.fail(f"{option} is for texts; a PAN folder's answers are JSON, in the folder that -o names")
    if whole and result.output is None:
        context.fail(f"{inputs[0]}: a collection of problems; name a folder for the answers with -o")
    _refuse_idle(context, known, whole)
    _check_inputs(context, inputs, known, whole)

    if whole:
        _attribute_collection(inputs[0], none, result, training, quiet)
        return
    output, overwrite, report_file = result.output, result.overwrite, result.report_file
    given = [*inputs, *([] if known is None else [known, *training.input_files])]
    if output is not None:
        require_free(output, overwrite, given)
    if report_file is not None:
        require_report_path(report_file, overwrite)
        require_free(report_file, overwrite, given)
        if output is not None and report_file.resolve() == output.resolve():
            raise RunError(
                "the rankings and the report cannot be one file", where=output, remedy="Choose another name for one"
            )
    author_corpus = None
    if known is None:
        documents = read_texts(inputs[1:])
        model = read_author_model(inputs[0])
    else:
        rows = training.choose_members()
        documents = read_texts(inputs)
        author_corpus = read_author_corpus([known], training.language, training.author_column, training.text_column)
        model = train_model(author_corpus, rows, training.seed, [known], quiet)
    found = work(lambda runtime: attribute(model, documents, none, runtime), quiet)
    if output is not None:
        write_files(output.parent, {output.name: found.to_csv().encode(errors="replace")})
    if report_file is not None:
        source = known if known is not None else inputs[0]
        files = {} if known is not None else {"files": hash_files(inputs[0])}
        said = describe_report(str(source), given_command(context), **files)
        report_data = work(
            lambda runtime: attribution_report(model, documents, found, none, said, runtime, author_corpus), quiet
        )
        write_report(report_file, report_data)
    if result.as_json:
        print_json([each.to_dict() for each in found])
    elif result.as_csv:
        print(found.to_csv(), end="")
    else:
        print_attributions(found, none, model.calibration.held_out)
        if output is not None:
            out().print(f"Wrote all rankings to {printable(str(output))}", soft_wrap=True)
        if report_file is not None:
            out().print(f"Report: {printable(str(report_file))}", soft_wrap=True)


TRAINING = {
    "preset": "--preset", "members": "--members", "engines": "--engines", "seed": "--seed", "set_": "--set",
    "language": "--language", "author_column": "--author-column", "text_column": "--text-column",
}  # fmt: skip
"""Options of the training."""
COLUMNS = ("author_column", "text_column")


def _refuse_idle(context: typer.Context, known: Path | None, whole: bool) -> None:
    """Refuse options that would have no effect."""
    idle = () if known is not None else COLUMNS if whole else tuple(TRAINING)
    source = context.get_parameter_source
    given = [TRAINING[name] for name in idle if (found := source(name)) is not None and found.name == "COMMANDLINE"]
    if given:
        reason = "only tables have columns" if whole else "a model is trained already"
        context.fail(f"{given[0]} needs --known; {reason}")


def _check_inputs(context: typer.Context, inputs: Sequence[Path], known: Path | None, whole: bool) -> None:
    """Require either a model or --known, and texts."""
    if known is not None:
        if model := next((path for path in inputs if looks_like_model(path)), None):
            context.fail(f"{model}: a model; give a model or --known, not both")
    elif len(inputs) == 1 and not whole:
        if looks_like_model(inputs[0]) or not inputs[0].exists():
            context.fail(f"no texts are named; name them after the model {inputs[0]}")
        context.fail(
            f"{inputs[0]} is not a model; name a model written by byline train and then the texts,"
            " or give the authors' texts with --known"
        )


def _attribute_collection(
    path: Path, none: float, result: ResultOptions, training: options.AuthorOptions, quiet: bool
) -> None:
    """Train and ask for each problem of a PAN collection, and write its answers file."""
    output, rows = result.output, training.choose_members()
    assert output is not None
    problems = read_collection(path, training.language)
    places = {problem.name: answers_path(output, problem.name) for problem in problems}
    for place in places.values():
        if place.is_dir():
            raise RunError(
                "is a folder, not a file of answers", where=place, remedy="Remove it or choose another folder"
            )
        if place.exists() and not result.overwrite and not result.resume:
            raise RunError(
                "exists already",
                where=place,
                remedy="Choose another folder, replace it with {overwrite}, or continue with {resume}",
            )
        require_free(place, True)
    kept = [problem.name for problem in problems if result.resume and is_answered(output, problem)]
    left = [problem for problem in problems if problem.name not in kept]
    check_problems(path, left, rows)
    written: list[tuple[Path, Attributions]] = []
    guesses = []
    for number, problem in enumerate(left, start=1):
        title = problem.name + f" ({number} of {len(left)})" * (len(left) > 1)
        folder = folder_of(path, problem)
        with _going_on_later(len(kept) + len(written)):
            model = train_model(problem.candidates, rows, training.seed, [folder], quiet, title)

            def answer(
                runtime: Runtime, model: AuthorModel = model, problem: CandidateProblem = problem
            ) -> Attributions:
                return attribute(model, problem.unknown, none, runtime)

            with naming([folder], CorpusError):
                found = work(answer, quiet, title)
            written.append((write_predictions(output, problem, found, result.overwrite), found))
        guesses += [problem.name] * (not model.calibration.held_out)
    if result.as_json:
        before = [{"answers": str(places[name]), "kept": True} for name in kept]
        now = [{"answers": str(place), "texts": [each.to_dict() for each in found]} for place, found in written]
        print_json([*before, *now])
        return
    console = out()
    if kept:
        console.print(f"Answered before, and kept: {count_of(len(kept), 'problem')}")
    for place, found in written:
        nobody = sum(each.author is None for each in found)
        line = f"{place}: {count_of(len(found), 'text')}, {nobody} by none of the candidates"
        console.print(printable(line), soft_wrap=True)
    if guesses:
        console.print(f"{printable(', '.join(guesses))}: {GUESS[0].lower()}{GUESS[1:]}")
    line = f"Next: byline evaluate {shlex.quote(str(output))} {shlex.quote(str(path))}"
    console.print(printable(line), soft_wrap=True)


@contextmanager
def _going_on_later(done: int) -> Iterator[None]:
    """Warn that earlier problems are answered, if the work ends on a later one."""
    try:
        yield
    except (BylineError, KeyboardInterrupt):
        if done:
            log.warning("%s answered; --resume keeps these and answers the others", count_of(done, "problem"))
        raise


def read_texts(paths: Sequence[Path], encoding: str | None = None) -> list[Document]:
    """Read text files and folders of text files in order, and report all unreadable ones at once."""
    remedy = "Name text files or folders of text files"
    files: list[tuple[Path, str | None]] = []
    offences = []
    for path in paths:
        try:
            found = find_texts(path) if classify_path(path, remedy) == "folder" else [path]
        except CorpusError as error:
            offences.append(str(error))
            continue
        if not found:
            offences.append(f"{path}: no texts there. {remedy}")
        files += ((file, None) for file in found)
    return read_documents(files, offences, encoding)


def print_attributions(found: Sequence[Attribution], none: float, held_out: int) -> None:
    """The likely authors of each text, to read; `held_out`: how many texts told how sure to be."""
    console = out()
    print_table(_table(found, none > 0, console.width if sys.stdout.isatty() else None))
    if none:
        console.print(f'"None of these" was given a probability of {none:g} beforehand; see --none.')
        console.print(
            "Somebody who is not among them is often taken for one of them, with a high probability:"
            " if the author may be another, ask byline verify of the one who is named, too."
        )
    else:
        console.print("One of these authors is taken to have written each text (--none 0).")
    if not held_out:
        console.print(GUESS)


def _table(found: Sequence[Attribution], open_set: bool, width: int | None) -> Table:
    """A row for each text.

    Where it is too wide for a terminal, the authors that follow stand below each other and names of texts lose their
    beginnings; where not even an author's longest word has room, only the first author is shown.
    """
    headings = ["text", "author", "probability", *(["none"] if open_set else []), "bits", "then"]
    rows, after = [], []
    for each in found:
        bits = each.ranking[0].bits if each.author else None
        then = each.ranking[1:SHOWN] if each.author else each.ranking[: SHOWN - 1]
        after.append([f"{printable(other.author)} {other.probability:.3f}" for other in then])
        rows.append(
            [
                printable(each.document),
                printable(each.author) if each.author else NONE,
                f"{each.probability:.3f}",
                *([f"{each.none:.3f}"] if open_set else []),
                "" if bits is None else f"{bits:.3f}",
                ", ".join(after[-1]),
            ]
        )

    def widest(column: int, between: str | None = "\n") -> int:
        return max(cell_len(part) for row in [headings, *rows] for part in row[column].split(between))

    def room(between: str | None = "\n") -> int:
        """What is left for the first column, where others are as wide as their lines or their words."""
        return (width or 0) - sum(GAP + widest(column, between) for column in range(1, len(headings)))

    if width is not None and room() < widest(0):
        for row, others in zip(rows, after, strict=True):
            row[-1] = "\n".join(others)
        if room(None) < NARROWEST:
            headings, rows = headings[:-1], [row[:-1] for row in rows]
        left = max(room(), min(room(None), NARROWEST), 2)
        for row in rows:
            row[0] = cut_in_front(row[0], left)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0))
    for heading in headings:
        right = heading in ("probability", "none", "bits")
        table.add_column(
            heading, justify="right" if right else "left", no_wrap=right or heading == "text", overflow="fold"
        )
    for row in rows:
        table.add_row(*row)
    return table


def cut_in_front(name: str, width: int) -> str:
    """The end of a name, which tells a path from others, if the whole is wider than so many columns."""
    if cell_len(name) <= width:
        return name
    while cell_len(name) > width - 1:
        name = name[1:]
    return f"…{name}"
