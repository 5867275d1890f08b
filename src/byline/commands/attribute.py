"""`byline attribute`: which of these authors wrote a text?"""

from __future__ import annotations

import logging
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from byline.commands import options
from byline.errors import BylineError, CorpusError, RunError

if TYPE_CHECKING:
    from rich.table import Table

    from byline.attribution.attributing import Attribution, Attributions
    from byline.attribution.collections import CandidateProblem
    from byline.attribution.model import AuthorModel
    from byline.documents import Document
    from byline.engines import Watch
    from byline.settings import Settings

log = logging.getLogger(__name__)

SHOWN = 3
"""Authors that a line shows."""
GAP = 2
"""Columns between two of a table's."""
NARROWEST = 16
"""Columns that a text's name has, if other words leave as many."""


def attribute_command(
    context: typer.Context,
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="[MODEL] TEXT...", help="A model that byline train wrote, and text files or folders of them."
        ),
    ],
    known: Annotated[
        Path | None,
        typer.Option(metavar="AUTHORS", help="Instead of a model: the authors' texts, as in byline train."),
    ] = None,
    none: Annotated[
        float,
        typer.Option(
            metavar="PRIOR",
            help="How probable it is beforehand that it is none of these; 0: one of them.",
            callback=options.probability_of_none,
        ),
    ] = 0.1,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE.csv",
            help="Write all rankings as CSV; a PAN folder's answers, into a folder.",
        ),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Keep a PAN folder's answers that are there, and go on with the others.")
    ] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print all rankings as CSV.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all rankings as JSON, in the order of the texts.")
    ] = False,
    report_file: options.ReportFile = None,
    preset: options.AuthorPreset = "authors",
    members: options.Members = None,
    engines: options.AuthorEngines = None,
    seed: options.Seed = 0,
    set_: options.Assignments = None,
    language: options.TextLanguage = None,
    author_column: options.AuthorColumn = "author",
    text_column: options.TextColumn = "text",
    quiet: options.Quiet = False,
) -> None:
    """Tell which of some authors is likely to have written each text, or that it is none of them.

    A folder of PAN 2018 or 2019 (collection-info.json) is answered whole, into the folder that -o names.

    Members and language may be chosen with --known and for such folders; a model has been trained already.

    Example: byline attribute novels.byline found.txt
    """
    from byline.attribution.collections import is_collection

    if as_csv and as_json:
        context.fail("--csv and --json print the same in two ways; give one of them")
    whole = known is None and len(inputs) == 1 and is_collection(inputs[0])
    if whole and output is None:
        context.fail(f"{inputs[0]}: a collection of problems; name a folder for the answers with -o")
    if whole and as_csv:
        context.fail("--csv is for texts; a PAN folder's answers are JSON, in the folder that -o names")
    if resume and not whole:
        context.fail("--resume is for a PAN folder's answers, problem by problem")
    if resume and overwrite:
        context.fail("--resume keeps answers that are there and --overwrite replaces them; give one of them")
    if whole and report_file is not None:
        context.fail("--report is for texts; a PAN folder's answers are JSON, in the folder that -o names")
    _refuse_idle(context, known, whole)
    _check_inputs(context, inputs, known, whole)

    if whole:
        assert output is not None
        rows = _choose_rows(preset, members, engines, seed, set_)
        _attribute_collection(inputs[0], output, none, overwrite, resume, as_json, rows, seed, language, quiet)
        return

    from byline.attribution.attributing import attribute
    from byline.attribution.file import read_author_model
    from byline.attribution.tables import to_csv
    from byline.attribution.writings import read_writings
    from byline.commands.console import out, print_json, printable
    from byline.commands.given import given_command, hash_files
    from byline.commands.places import require_free
    from byline.commands.report import about
    from byline.commands.train import preset_file, train_model
    from byline.commands.work import work
    from byline.dossiers.attribution import attribution_dossier
    from byline.reporting import require_report, write_report
    from byline.storage import write_files

    given = [*inputs, *([] if known is None else [known, *preset_file(preset)])]
    if output is not None:
        require_free(output, overwrite, given)
    if report_file is not None:
        require_report(report_file, overwrite)
        require_free(report_file, overwrite, given)
        if output is not None and report_file.resolve() == output.resolve():
            raise RunError(f"{output}: the rankings and the report can't be one file; choose another name for one")
    writings = None
    if known is None:
        documents = read_texts(inputs[1:])
        model = read_author_model(inputs[0])
    else:
        rows = _choose_rows(preset, members, engines, seed, set_)
        documents = read_texts(inputs)
        writings = read_writings([known], language, author_column, text_column)
        model = train_model(writings, rows, seed, [known], quiet)
    found = work(lambda watch: attribute(model, documents, none, watch), quiet)
    if output is not None:
        write_files(output.parent, {output.name: to_csv(found).encode(errors="replace")})
    if report_file is not None:
        source = known if known is not None else inputs[0]
        files = {} if known is not None else {"files": hash_files(inputs[0])}
        said = about(str(source), given_command(context), **files)
        dossier = work(lambda watch: attribution_dossier(model, documents, found, none, said, watch, writings), quiet)
        write_report(report_file, dossier)
    if as_json:
        print_json([to_json(each) for each in found])
    elif as_csv:
        print(to_csv(found), end="")
    else:
        print_attributions(found, none, model.judge.held_out)
        if output is not None:
            out().print(f"Wrote all rankings to {printable(str(output))}", soft_wrap=True)
        if report_file is not None:
            out().print(f"Report: {printable(str(report_file))}", soft_wrap=True)


TRAINING = {
    "preset": "--preset", "members": "--members", "engines": "--engines", "seed": "--seed", "set_": "--set",
    "language": "--language", "author_column": "--author-column", "text_column": "--text-column",
}  # fmt: skip
"""Options that say how authors are learnt."""
COLUMNS = ("author_column", "text_column")


def _refuse_idle(context: typer.Context, known: Path | None, whole: bool) -> None:
    """Refuse options that would do nothing."""
    idle = () if known is not None else COLUMNS if whole else tuple(TRAINING)
    source = context.get_parameter_source
    given = [TRAINING[name] for name in idle if (found := source(name)) is not None and found.name == "COMMANDLINE"]
    if given:
        reason = "columns are those of a table" if whole else "a model has been trained already"
        context.fail(f"{given[0]} is for authors who are learnt with --known; {reason}")


def _check_inputs(context: typer.Context, inputs: Sequence[Path], known: Path | None, whole: bool) -> None:
    """Either a model or --known, and texts."""
    from byline.attribution.file import looks_like_model

    if known is not None:
        if model := next((path for path in inputs if looks_like_model(path)), None):
            context.fail(f"{model}: a model; give a model or --known, not both")
    elif len(inputs) == 1 and not whole:
        if looks_like_model(inputs[0]) or not inputs[0].exists():
            context.fail(f"no texts are named; name them after the model {inputs[0]}")
        context.fail(
            f"the model is missing: {inputs[0]} is none; name a model that byline train wrote and then the texts,"
            " or the authors' texts with --known"
        )


def _choose_rows(
    preset: str, members: int | None, engines: str | None, seed: int, assignments: list[str] | None
) -> tuple[Settings, ...]:
    pool = options.choose_pool(preset, None, assignments or [], engines=engines)
    return tuple(pool.take(members or pool.members, seed))


def _attribute_collection(
    path: Path,
    output: Path,
    none: float,
    overwrite: bool,
    resume: bool,
    as_json: bool,
    rows: Sequence[Settings],
    seed: int,
    language: str | None,
    quiet: bool,
) -> None:
    """Train and ask for each problem of a collection, and write the answers as PAN wants them."""
    from byline.attribution.attributing import attribute
    from byline.attribution.collections import (
        answers_path,
        check_problems,
        folder_of,
        is_answered,
        read_collection,
        write_predictions,
    )
    from byline.commands.console import count_of, out, print_json, printable
    from byline.commands.inspect import GUESS
    from byline.commands.places import require_free
    from byline.commands.train import naming, train_model
    from byline.commands.work import work

    problems = read_collection(path, language)
    places = {problem.name: answers_path(output, problem.name) for problem in problems}
    for place in places.values():
        if place.is_dir():
            raise RunError(f"{place}: a folder, where answers are to be written; remove it or choose another folder")
        if place.exists() and not overwrite and not resume:
            raise RunError(f"{place}: exists already; choose another folder, or give --overwrite or --resume")
        require_free(place, True)
    kept = [problem.name for problem in problems if resume and is_answered(output, problem)]
    left = [problem for problem in problems if problem.name not in kept]
    check_problems(path, left, rows)
    written: list[tuple[Path, Attributions]] = []
    guesses = []
    for number, problem in enumerate(left, start=1):
        title = problem.name + f" ({number} of {len(left)})" * (len(left) > 1)
        folder = folder_of(path, problem)
        with _going_on_later(len(kept) + len(written)):
            model = train_model(problem.candidates, rows, seed, [folder], quiet, title)

            def answer(watch: Watch, model: AuthorModel = model, problem: CandidateProblem = problem) -> Attributions:
                return attribute(model, problem.unknown, none, watch)

            with naming([folder], CorpusError):
                found = work(answer, quiet, title)
            written.append((write_predictions(output, problem, found, overwrite), found))
        guesses += [problem.name] * (not model.judge.held_out)
    if as_json:
        before = [{"answers": str(places[name]), "kept": True} for name in kept]
        now = [{"answers": str(place), "texts": [to_json(each) for each in found]} for place, found in written]
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
    """Whatever ends the work on a problem, say that those before are answered."""
    try:
        yield
    except (BylineError, KeyboardInterrupt):
        if done:
            log.warning("%d answered so far; with --resume they are kept, and the others answered", done)
        raise


def read_texts(paths: Sequence[Path], encoding: str | None = None) -> list[Document]:
    """Text files, and those in folders, in order; all that can't be read is named at once."""
    from byline.documents import find_texts, look_at, read_documents

    remedy = "name text files, or folders of them"
    files: list[tuple[Path, str | None]] = []
    offences = []
    for path in paths:
        try:
            found = find_texts(path) if look_at(path, remedy) == "folder" else [path]
        except CorpusError as error:
            offences.append(str(error))
            continue
        if not found:
            offences.append(f"{path}: no texts there; {remedy}")
        files += ((file, None) for file in found)
    return read_documents(files, offences, encoding)


def to_json(found: Attribution) -> dict[str, Any]:
    """One text's attribution in plain values."""
    return {
        "document": found.document,
        "author": found.author,
        "probability": found.probability,
        "none": found.none,
        "cautions": list(found.cautions),
        "ranking": [
            {"author": each.author, "probability": each.probability, "bits": each.bits} for each in found.ranking
        ],
    }


def print_attributions(found: Sequence[Attribution], none: float, held_out: int) -> None:
    """The likely authors of each text, to read; `held_out`: how many texts told how sure to be."""
    from byline.commands.console import out
    from byline.commands.inspect import GUESS, print_table

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
    from rich.cells import cell_len
    from rich.table import Table

    from byline.attribution.writings import NONE
    from byline.commands.console import printable

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
    from rich.cells import cell_len

    if cell_len(name) <= width:
        return name
    while cell_len(name) > width - 1:
        name = name[1:]
    return f"…{name}"
