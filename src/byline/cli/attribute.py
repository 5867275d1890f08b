"""`byline attribute`: rank the candidate authors of texts, or answer a PAN collection."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import byline
from byline.cli import options
from byline.cli.console import count_of, make_table, out, print_json, print_line, print_table, printable
from byline.cli.text import read_texts
from byline.cli.train import UNCALIBRATED, naming, train_model
from byline.corpora.author_corpus import NONE
from byline.errors import BylineError, CorpusError, RunError
from byline.storage.files import sha256, write_files

if TYPE_CHECKING:
    from byline.author_models.model import AuthorModel
    from byline.engines.protocol import Runtime
    from byline.tasks.attribute import Attribution, Attributions
    from byline.tasks.pan_collections import CandidateProblem

log = logging.getLogger(__name__)

SHOWN = 3
"""Authors in a row of the table."""


def require_prior_of_none(value: float) -> float:
    """Refuse a prior of "none of these" that is not a probability below 1."""
    if not 0 <= value < 1:
        raise typer.BadParameter(f"it must be 0 or more and less than 1, got {value:g}")
    return value


@dataclass(frozen=True)
class ResultOptions:
    """Options that say where the attributions go, and in which form."""

    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.csv",
            help="Write all rankings as CSV; for a PAN folder, the folder for its answers.",
        ),
    ] = None
    overwrite: options.Overwrite = False
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep existing answers to a PAN folder, and answer the other problems.")
    ] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="Print all rankings as CSV.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Print all rankings as JSON, in the order of the texts.")] = (
        False
    )
    report_file: options.ReportFile = None

    def check(self, context: typer.Context, collection: Path | None) -> None:
        """Refuse options that contradict each other."""
        if self.as_csv and self.as_json:
            context.fail("--csv and --json print the same in two ways; give one of them")
        if self.resume and self.overwrite:
            context.fail("--resume keeps existing answers and --overwrite replaces them; give one of them")
        if self.resume and collection is None:
            context.fail("--resume is for a PAN folder's answers, problem by problem")
        if collection is not None and (self.as_csv or self.report_file is not None):
            option = "--csv" if self.as_csv else "--report"
            context.fail(f"{option} is for texts; a PAN folder's answers are JSON, in the folder that -o names")
        if collection is not None and self.output is None:
            context.fail(f"{collection}: a collection of problems; name a folder for the answers with -o")


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
            callback=require_prior_of_none,
        ),
    ] = 0.1,
    quiet: options.Quiet = False,
) -> None:
    """Rank the candidate authors of each text, including "none of these".

    A PAN 2018 or 2019 folder (collection-info.json) is answered as a whole, into the folder that -o names.

    Options of members and language apply with --known and to such folders, not to a trained model.

    Example: byline attribute novels.byline found.txt
    """
    from byline.cli.progress import work
    from byline.report.attribution import attribution_report
    from byline.report.page import describe_report, write_report
    from byline.tasks.pan_collections import is_collection

    collection = inputs[0] if known is None and len(inputs) == 1 and is_collection(inputs[0]) else None
    result.check(context, collection)
    _refuse_unused(context, known, collection)
    _check_inputs(context, inputs, known, collection)
    if collection is not None:
        _attribute_collection(collection, none, result, training, quiet)
        return

    output, report_file = result.output, result.report_file
    given = [*inputs, *([] if known is None else [known, *options.preset_files(training.preset)])]
    if output is not None:
        options.require_free(output, result.overwrite, given)
    options.require_free_report(report_file, result.overwrite, given)
    if output is not None and report_file is not None and report_file.resolve() == output.resolve():
        raise RunError(
            "the rankings and the report cannot be one file", where=output, remedy="Choose another name for one"
        )
    author_corpus = None
    if known is None:
        documents = read_texts(inputs[1:])
        model = byline.read_author_model(inputs[0])
    else:
        rows = training.choose_members()
        documents = read_texts(inputs)
        author_corpus = training.read_authors([known])
        model = train_model(author_corpus, rows, training.seed, [known], quiet)
    found = work(lambda runtime: byline.attribute(model, documents, none, runtime), quiet)
    if output is not None:
        write_files(output.parent, {output.name: found.to_csv().encode(errors="replace")})
    if report_file is not None:
        files = {} if known is not None else {"files": {str(inputs[0]): sha256(inputs[0].read_bytes())}}
        about = describe_report(str(known or inputs[0]), context.meta["words"], **files)
        report_data = work(
            lambda runtime: attribution_report(model, documents, found, none, about, runtime, author_corpus), quiet
        )
        write_report(report_file, report_data)
    if result.as_json:
        print_json([each.to_dict() for each in found])
    elif result.as_csv:
        print(found.to_csv(), end="")
    else:
        print_attributions(found, none, model.calibration.held_out)
        if output is not None:
            print_line(f"Wrote all rankings to {output}")
        if report_file is not None:
            print_line(f"Report: {report_file}")


def _refuse_unused(context: typer.Context, known: Path | None, collection: Path | None) -> None:
    """Refuse options of the training that would have no effect."""
    unused = {field.name for field in fields(options.AuthorOptions)} if known is None else set()
    reason = "a model is trained already"
    if collection is not None:
        unused &= {"author_column", "text_column"}
        reason = "only tables have columns"
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in unused and source is not None and source.name == "COMMANDLINE":
            context.fail(f"{parameter.opts[0]} needs --known; {reason}")


def _check_inputs(context: typer.Context, inputs: Sequence[Path], known: Path | None, collection: Path | None) -> None:
    """Require either a model or --known, and texts."""
    from byline.author_models.model_file import looks_like_model

    if known is not None:
        if model := next((path for path in inputs if looks_like_model(path)), None):
            context.fail(f"{model}: a model; give a model or --known, not both")
    elif len(inputs) == 1 and collection is None:
        if looks_like_model(inputs[0]) or not inputs[0].exists():
            context.fail(f"no texts are named; name them after the model {inputs[0]}")
        context.fail(
            f"{inputs[0]} is not a model; name a model written by byline train and then the texts,"
            " or give the authors' texts with --known"
        )


def _attribute_collection(
    path: Path, none: float, result: ResultOptions, training: options.AuthorOptions, quiet: bool
) -> None:
    """Train a model for each problem of a PAN collection, and write the answers to its texts."""
    from byline.cli.progress import work
    from byline.tasks.pan_collections import (
        answers_path,
        check_problems,
        folder_of,
        is_answered,
        read_collection,
        write_predictions,
    )

    output, rows = result.output, training.choose_members()
    assert output is not None
    problems = read_collection(path, training.language)
    places = {problem.name: answers_path(output, problem.name) for problem in problems}
    for place in places.values():
        _require_free_answers(place, result)
    kept = [problem.name for problem in problems if result.resume and is_answered(output, problem)]
    left = [problem for problem in problems if problem.name not in kept]
    check_problems(path, left, rows)
    written: list[tuple[Path, Attributions]] = []
    uncalibrated = []
    for number, problem in enumerate(left, start=1):
        title = problem.name + f" ({number} of {len(left)})" * (len(left) > 1)
        folder = folder_of(path, problem)
        with _warning_of_answers(len(kept) + len(written)):
            model = train_model(problem.candidates, rows, training.seed, [folder], quiet, title)

            def answer(
                runtime: Runtime, model: AuthorModel = model, problem: CandidateProblem = problem
            ) -> Attributions:
                return byline.attribute(model, problem.unknown, none, runtime)

            with naming([folder], CorpusError):
                found = work(answer, quiet, title)
            written.append((write_predictions(output, problem, found, result.overwrite), found))
        uncalibrated += [problem.name] * (not model.calibration.held_out)
    if result.as_json:
        before = [{"answers": str(places[name]), "kept": True} for name in kept]
        now = [{"answers": str(place), "texts": [each.to_dict() for each in found]} for place, found in written]
        print_json([*before, *now])
        return
    if kept:
        print_line(f"Answered before, and kept: {count_of(len(kept), 'problem')}")
    for place, found in written:
        nobody = sum(each.author is None for each in found)
        print_line(f"{place}: {count_of(len(found), 'text')}, {nobody} by none of the candidates")
    if uncalibrated:
        out().print(f"{printable(', '.join(uncalibrated))}: {UNCALIBRATED[0].lower()}{UNCALIBRATED[1:]}")
    print_line(f"Next: byline evaluate {shlex.quote(str(output))} {shlex.quote(str(path))}")


def _require_free_answers(place: Path, result: ResultOptions) -> None:
    """Raise if the answers to a problem cannot be written."""
    if place.is_dir():
        raise RunError("is a folder, not a file of answers", where=place, remedy="Remove it or choose another folder")
    if place.exists() and not result.overwrite and not result.resume:
        remedy = "Choose another folder, replace it with {overwrite}, or continue with {resume}"
        raise RunError("exists already", where=place, remedy=remedy)
    options.require_free(place, True)


@contextmanager
def _warning_of_answers(done: int) -> Iterator[None]:
    """Warn that earlier problems are answered, if the work ends on a later one."""
    try:
        yield
    except (BylineError, KeyboardInterrupt):
        if done:
            log.warning("%s answered; --resume keeps these and answers the others", count_of(done, "problem"))
        raise


def print_attributions(found: Sequence[Attribution], none: float, held_out: int) -> None:
    """Print the likely authors of each text; `held_out` texts calibrated the probabilities."""
    numbers = ["probability", *(["none"] if none else []), "bits"]
    table = make_table("text", "author", *numbers, "then", right=numbers)
    for each in found:
        first, then = (each.ranking[0], each.ranking[1:SHOWN]) if each.author else (None, each.ranking[: SHOWN - 1])
        table.add_row(
            printable(each.document),
            printable(each.author) if each.author else NONE,
            f"{each.probability:.3f}",
            *([f"{each.none:.3f}"] if none else []),
            "" if first is None or first.bits is None else f"{first.bits:.3f}",
            ", ".join(f"{printable(other.author)} {other.probability:.3f}" for other in then),
        )
    print_table(table)
    console = out()
    if none:
        console.print(f'The prior probability of "none of these" is {none:g} (--none).')
        console.print(
            "A text by somebody else is often attributed to one of these authors with a high probability."
            " If that is possible, check the answer with byline verify."
        )
    else:
        console.print("Each text is assumed to be by one of these authors (--none 0).")
    if not held_out:
        console.print(UNCALIBRATED)
