"""`byline attribute`: which of these authors wrote a text?"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from byline.commands import options
from byline.errors import CorpusError, RunError

if TYPE_CHECKING:
    from byline.attribution.attributing import Attribution
    from byline.attribution.collections import CandidateProblem
    from byline.attribution.model import AuthorModel
    from byline.documents import Document
    from byline.engines import Watch

SHOWN = 3
"""Authors that a line shows."""


def attribute_command(
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
        typer.Option(metavar="PRIOR", help="How probable it is beforehand that it is none of these; 0: one of them."),
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
    as_csv: Annotated[bool, typer.Option("--csv", help="Print all rankings as CSV.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all rankings as JSON, in the order of the texts.")
    ] = False,
    language: Annotated[
        str | None, typer.Option(help="Language of the authors' texts, with --known.", callback=options.named)
    ] = None,
    quiet: options.Quiet = False,
) -> None:
    """Tell which of some authors is likely to have written each text, or that it is none of them.

    A folder of PAN 2018 or 2019 (collection-info.json) is answered whole, into the folder that -o names.

    Example: byline attribute novels.byline found.txt
    """
    from byline.attribution.attributing import attribute
    from byline.attribution.collections import is_collection
    from byline.commands.console import print_json
    from byline.commands.train import require_free
    from byline.commands.work import work
    from byline.storage import write_files

    if as_csv and as_json:
        raise RunError("--csv and --json print the same in two ways; give one of them")
    if len(inputs) == 1 and known is None and is_collection(inputs[0]):
        _attribute_collection(inputs[0], output, none, overwrite, as_json, language, quiet)
        return
    if output is not None:
        require_free(output, overwrite)
    model_file, texts = (None, inputs) if known is not None else (inputs[0], inputs[1:])
    if not texts:
        raise RunError("no texts are named; give a model and then the texts, or --known AUTHORS and the texts")
    documents = read_texts(texts)
    model = _model(model_file, known, language, quiet)

    def ask(watch: Watch) -> tuple[Attribution, ...]:
        return attribute(model, documents, none, watch)

    found = work(ask, quiet)
    if output is not None:
        write_files(output.parent, {output.name: to_csv(found).encode(errors="replace")})
    if as_json:
        print_json([to_json(each) for each in found])
    elif as_csv:
        print(to_csv(found), end="")
    else:
        print_attributions(found, none)


def _attribute_collection(
    path: Path, output: Path | None, none: float, overwrite: bool, as_json: bool, language: str | None, quiet: bool
) -> None:
    """Train and ask for each problem of a collection, and write the answers as PAN wants them."""
    from byline.attribution.attributing import attribute
    from byline.attribution.collections import answers_path, read_collection, write_predictions
    from byline.attribution.model import train_authors
    from byline.commands.console import count_of, out, print_json
    from byline.commands.work import work
    from byline.pools import read_pool

    if output is None:
        raise RunError(f"{path}: a collection of problems; name a folder for the answers with -o")
    problems = read_collection(path, language)
    taken = [place for problem in problems if (place := answers_path(output, problem.name)).exists()]
    if taken and not overwrite:
        raise RunError(f"{taken[0]}: exists already; choose another folder, or give --overwrite")
    rows = read_pool("authors").rows
    written = []
    for problem in problems:

        def answer(watch: Watch, problem: CandidateProblem = problem) -> tuple[Attribution, ...]:
            model = train_authors(problem.candidates, rows, 0, watch)
            return attribute(model, problem.unknown, none, watch)

        found = work(answer, quiet)
        written.append((write_predictions(output, problem, found, overwrite), found))
    if as_json:
        print_json([{"answers": str(place), "texts": [to_json(each) for each in found]} for place, found in written])
        return
    console = out()
    for place, found in written:
        nobody = sum(each.author is None for each in found)
        console.print(f"{place}: {count_of(len(found), 'text')}, {nobody} by none of the candidates")


def _model(model_file: Path | None, known: Path | None, language: str | None, quiet: bool) -> AuthorModel:
    from byline.attribution.file import read_author_model
    from byline.attribution.model import train_authors
    from byline.attribution.writings import read_writings
    from byline.commands.work import work
    from byline.pools import read_pool

    if known is None:
        assert model_file is not None
        return read_author_model(model_file)
    writings, pool = read_writings([known], language), read_pool("authors")
    return work(lambda watch: train_authors(writings, pool.rows, 0, watch), quiet)


def read_texts(paths: Sequence[Path]) -> list[Document]:
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
            offences.append(f"{path}: no .txt files there; {remedy}")
        files += ((file, None) for file in found)
    return read_documents(files, offences)


def to_json(found: Attribution) -> dict[str, Any]:
    """One text's attribution in plain values."""
    return {
        "document": found.document,
        "author": found.author,
        "probability": found.probability,
        "none": found.none,
        "ranking": [
            {"author": each.author, "probability": each.probability, "bits": each.bits} for each in found.ranking
        ],
    }


def to_csv(found: Sequence[Attribution]) -> str:
    """A line for each text and author, the most probable first; rank 0 is none of these."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["document", "rank", "author", "probability", "bits"])
    for each in found:
        if each.none:
            writer.writerow([each.document, 0, "", f"{each.none:.6f}", ""])
        for rank, candidate in enumerate(each.ranking, start=1):
            bits = "" if candidate.bits is None else f"{candidate.bits:.6f}"
            writer.writerow([each.document, rank, candidate.author, f"{candidate.probability:.6f}", bits])
    return table.getvalue()


def print_attributions(found: Sequence[Attribution], none: float) -> None:
    """The likely authors of each text, to read."""
    from rich.table import Table

    from byline.attribution.attributing import NONE
    from byline.commands.console import out, printable

    console = out()
    table = Table(box=None, pad_edge=False)
    table.add_column("text", overflow="fold")
    table.add_column("author", overflow="fold")
    table.add_column("probability", justify="right", no_wrap=True)
    table.add_column("bits", justify="right", no_wrap=True)
    table.add_column("then", overflow="fold")
    for each in found:
        first, *others = each.ranking[:SHOWN] if each.author else (None, *each.ranking[: SHOWN - 1])
        table.add_row(
            printable(each.document),
            printable(each.author) if each.author else NONE,
            f"{each.probability:.3f}",
            "" if first is None or first.bits is None else f"{first.bits:.3f}",
            ", ".join(f"{printable(other.author)} {other.probability:.3f}" for other in others if other),
        )
    console.print(table)
    if none:
        console.print(f"Before anything was measured, none of these had a probability of {none:g}; see --none.")
    else:
        console.print("One of these authors is taken to have written each text.")
