"""`byline demo`: the built-in problems, answered, with the truth beside."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from byline.builtin import Collection, builtin_problems
from byline.commands import options

if TYPE_CHECKING:
    from byline.execution import Verification


def demo_command(
    context: typer.Context,
    collection: Annotated[
        str, typer.Argument(metavar="COLLECTION", help="Which built-in problems: english or greek.")
    ] = "english",
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same answers.")] = 0,
    members: options.Members = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answers and the truth as JSON.")] = False,
) -> None:
    """Answer the built-in problems and show the truth beside.

    The prose was written for this program by invented authors, who all write on the same topics.

    Example: byline demo greek
    """
    if collection not in get_args(Collection):
        context.fail(f"there are {' and '.join(get_args(Collection))}, got {collection}")

    from byline.commands.answers import to_json
    from byline.commands.console import print_json
    from byline.commands.progress import reporting
    from byline.truth import read_truth
    from byline.verification import verify

    begin = time.perf_counter()
    with builtin_problems(cast(Collection, collection)) as folder:
        with reporting() as report:
            result = verify(folder, seed=seed, members=members, report=report)
        truth = read_truth(folder)
    seconds = time.perf_counter() - begin
    if as_json:
        print_json({**to_json(result, seconds), "truth": truth})
    else:
        print_demo(result, truth, seconds)


def print_demo(result: Verification, truth: dict[str, bool], seconds: float) -> None:
    """The problems from most to least likely, each answer beside the truth, and how many are right."""
    from rich.table import Table
    from rich.text import Text

    from byline.commands.console import answer_bar, out
    from byline.metrics import measure

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
        f"\n{correct} of {len(ids)} right{left} in {seconds:.1f} s;"
        f" AUC {measures.auc:.2f}, C@1 {measures.c_at_1:.2f}."
        "\nNext: byline verify YOUR_PROBLEMS -o OUT"
    )
