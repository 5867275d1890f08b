"""`byline demo`: answer the built-in problems and compare the answers with the truth."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

import byline
from byline.cli import options
from byline.cli.console import answer_bar, count_of, make_table, out, print_json, print_table
from byline.corpora.problems import Collection
from byline.errors import RunError
from byline.storage.files import write_folder

if TYPE_CHECKING:
    from byline.runs.executor import Verification

REPORT = "byline-demo.html"
TITLE = "the built-in problems"
"""The beginning of the title of the demo's own reports, which a later demo may replace."""


def demo_command(
    context: typer.Context,
    collection: Annotated[
        Collection,
        typer.Argument(metavar="COLLECTION", help="The built-in problems to answer: english or greek."),
    ] = "english",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same answers.")] = 0,
    members: options.Members = None,
    report_file: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE.html", help="The report to write (default: byline-demo.html)."),
    ] = None,
    texts: Annotated[
        Path | None,
        typer.Option(
            "--texts", metavar="DIR", help="Only write the built-in texts to a new folder, to try other commands."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Answer the built-in problems, compare the answers with the truth, and write a report.

    The texts are by invented authors, who all write on the same topics. With --json a report is written only if
    --report names it.

    With --texts nothing is answered: DIR/problems gets the problems and their truth, DIR/authors the signed texts, a
    folder for each author.

    Example: byline demo greek
    """
    from byline.cli.answers import verification_json
    from byline.cli.progress import reporting
    from byline.report.page import require_report_path, timestamp, write_report
    from byline.report.verification import verification_report

    if texts is not None:
        if members is not None or report_file is not None or as_json:
            context.fail("--texts only writes texts; leave out --members, --report and --json")
        write_texts(texts, collection)
        return

    place = report_file or (None if as_json else Path(REPORT))
    if place is not None:
        require_report_path(place, report_file is None and is_own(place))
    begin = time.perf_counter()
    with byline.builtin_problems(collection) as folder, tempfile.TemporaryDirectory() as home:
        kept = byline.RunOutput(Path(home) / "run")
        with reporting() as report:
            execution = byline.Execution(report=report)
            result = byline.verify(
                folder, seed=seed, members=members, output=kept if place else None, execution=execution
            )
        truth = byline.read_truth(folder)
        seconds = time.perf_counter() - begin
        if as_json:
            print_json({**verification_json(result, seconds), "truth": truth})
        else:
            print_demo(result, truth, seconds)
        if place is not None:
            title = f"{TITLE} ({collection})"
            again = ["byline", "demo", collection, "--seed", str(seed), "--members", str(len(result.plan.members))]
            write_report(place, verification_report(kept.folder, folder, timestamp(), title, again))
            if not as_json:
                out().print(f"Report: {place}. Open it in a browser to see the passages for and against.")
    if not as_json:
        out().print("Next: byline verify YOUR_PROBLEMS -o OUT, then byline report OUT -o report.html")


def write_texts(folder: Path, collection: Collection) -> None:
    """Write the built-in problems, and what each author signed once more in a folder of the author's own."""
    if folder.exists():
        raise RunError("exists already", where=folder, remedy="Name a new folder")
    with byline.builtin_problems(collection) as source:
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
    """Return whether a file is a report that an earlier demo wrote."""
    try:
        with place.open(encoding="utf-8", errors="replace") as file:
            return f"<title>{TITLE} (" in file.read(10_000)
    except OSError:
        return False


def print_demo(result: Verification, truth: dict[str, bool], seconds: float) -> None:
    """Print the problems from most to least likely, with each answer and the truth, and how many are right."""
    console = out()
    (run,) = result.runs
    console.print(f"Byline read {run.problems} invented authors ({run.language}) and judged {run.problems} texts.\n")
    table = make_table("problem", "another author   same author", "answer", "truth", "", right=("answer",))
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
    print_table(table)
    ids = [answer.id for answer in result.answers]
    measures = byline.measure([truth[name] for name in ids], [answer.rounded for answer in result.answers])
    undecided = sum(answer.undecided for answer in result.answers)
    left = f", {undecided} undecided," if undecided else ""
    console.print(
        f"\n{correct} of {len(ids)} right{left} in {seconds:.1f} s; AUC {measures.auc:.2f}, C@1 {measures.c_at_1:.2f}."
    )
