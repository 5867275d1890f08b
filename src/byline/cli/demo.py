"""`byline demo`: the built-in problems, answered, with the truth beside."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Annotated, cast, get_args

import typer
from rich.table import Table
from rich.text import Text

from byline.cli import options
from byline.cli.answers import to_json
from byline.cli.console import answer_bar, count_of, out, print_json
from byline.cli.progress import reporting
from byline.corpora.answers import read_truth
from byline.corpora.problems import Collection, builtin_problems
from byline.errors import RunError
from byline.judgment.metrics import measure
from byline.report.page import require_report_path, timestamp, write_report
from byline.report.verification import verification_report
from byline.runs.executor import Execution, Verification
from byline.runs.folder import RunOutput
from byline.storage.files import write_folder
from byline.tasks.verify import verify

REPORT = "byline-demo.html"
MARK = "<title>the built-in problems ("
"""What the demo's own reports have near their beginning."""


def demo_command(
    context: typer.Context,
    collection: Annotated[
        str,
        typer.Argument(
            metavar="COLLECTION",
            help="The built-in problems to answer: english or greek.",
            autocompletion=options.one_of(get_args(Collection)),
        ),
    ] = "english",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same answers.")] = 0,
    members: options.Members = None,
    report_file: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE.html", help="Where the report goes; without it, byline-demo.html here."),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(
            "--texts", metavar="DIR", help="Only write the built-in texts to a new folder, to try things with."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers and the truth as JSON.")] = False,
) -> None:
    """Answer the built-in problems, show the truth beside, and write a report of it.

    The prose was written for this program by invented authors, who all write on the same topics. With --json a report
    is written only where --report names it.

    With --texts nothing is answered: DIR/problems gets the problems and their truth, DIR/authors the signed texts, a
    folder for each author.

    Example: byline demo greek
    """
    if collection not in get_args(Collection):
        context.fail(f"there are {' and '.join(get_args(Collection))}, got {collection}")
    if texts is not None:
        if members is not None or report_file is not None or as_json:
            context.fail("--texts only writes texts; leave out --members, --report and --json")
        write_texts(texts, cast(Collection, collection))
        return

    place = report_file or (None if as_json else Path(REPORT))
    if place is not None:
        require_report_path(place, report_file is None and is_own(place))
    begin = time.perf_counter()
    with builtin_problems(cast(Collection, collection)) as folder, tempfile.TemporaryDirectory() as home:
        kept = RunOutput(Path(home) / "run")
        with reporting() as report:
            result = verify(
                folder,
                seed=seed,
                members=members,
                output=kept if place else None,
                execution=Execution(report=report),
            )
        truth = read_truth(folder)
        seconds = time.perf_counter() - begin
        if as_json:
            print_json({**to_json(result, seconds), "truth": truth})
        else:
            print_demo(result, truth, seconds)
        if place is not None:
            title = f"the built-in problems ({collection})"
            again = ["byline", "demo", collection, "--seed", str(seed), "--members", str(len(result.plan.members))]
            write_report(place, verification_report(kept.folder, folder, timestamp(), title, again))
            if not as_json:
                out().print(f"Report: {place}, to open in a browser: which passages speak for and against.")
    if not as_json:
        out().print("Next: byline verify YOUR_PROBLEMS -o OUT, then byline report OUT -o report.html")


def write_texts(folder: Path, collection: Collection) -> None:
    """Write the built-in problems, and what each author signed once more in a folder of the author's own."""
    if folder.exists():
        raise RunError("exists already", where=folder, remedy="Name a new folder")
    with builtin_problems(collection) as source:
        paths = [path for path in sorted(source.rglob("*")) if path.is_file()]
        files = {f"problems/{path.relative_to(source).as_posix()}": path.read_bytes() for path in paths}
        for path in paths:
            if path.name.startswith("known"):
                files[f"authors/author-{path.parent.name[-2:]}/{path.name}"] = path.read_bytes()
    write_folder(folder, files)
    authors = len({name.split("/")[1] for name in files if name.startswith("authors/")})
    out().print(f"{folder / 'problems'}: {count_of(authors, 'problem')} and their truth")
    out().print(f"{folder / 'authors'}: the signed texts of {count_of(authors, 'author')}, in a folder each")


def is_own(place: Path) -> bool:
    """Whether a file is a report that an earlier demo wrote."""
    try:
        with place.open(encoding="utf-8", errors="replace") as file:
            return MARK in file.read(10_000)
    except OSError:
        return False


def print_demo(result: Verification, truth: dict[str, bool], seconds: float) -> None:
    """The problems from most to least likely, each answer beside the truth, and how many are right."""
    console = out()
    (run,) = result.runs
    console.print(f"Byline read {run.problems} invented authors ({run.language}) and judged {run.problems} texts.\n")
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("problem", "another author   same author", "answer", "truth", ""):
        table.add_column(heading, justify="right" if heading == "answer" else "left")
    correct = 0
    for answer in sorted(result.answers, key=lambda answer: -answer.value):
        same = truth[answer.id]
        right = not answer.undecided and (answer.value > 0.5) == same
        correct += right
        mark = (
            Text("undecided", "yellow")
            if answer.undecided
            else Text("right", "green")
            if right
            else Text("wrong", "red")
        )
        table.add_row(
            answer.id, answer_bar(answer.value, 26), f"{answer.rounded:.3f}", "same" if same else "another", mark
        )
    console.print(table)
    ids = [answer.id for answer in result.answers]
    measures = measure([truth[name] for name in ids], [answer.rounded for answer in result.answers])
    undecided = sum(answer.undecided for answer in result.answers)
    left = f", {undecided} undecided," if undecided else ""
    console.print(
        f"\n{correct} of {len(ids)} right{left} in {seconds:.1f} s; AUC {measures.auc:.2f}, C@1 {measures.c_at_1:.2f}."
    )
