"""`byline compare`: two systems' answers to the same problems."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from byline.cli.console import count_of, out, print_json
from byline.tasks.evaluate import AnswerComparison, compare_answers

NAMES = {"auc": "AUC", "c_at_1": "C@1", "product": "AUC x C@1", "cllr": "Cllr"}


def compare_command(
    first: Annotated[Path, typer.Argument(metavar="A", help="Answers of one system, a file or a folder.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Answers of another to the same problems.")],
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="The truth, a file or a folder.")],
    seed: Annotated[int, typer.Option(min=0, help="For the resampling.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Tell whether A's answers are better than B's, and how sure that is.

    Both are measured again and again on resampled texts, which are looked for beside the truth.

    Example: byline compare out-a/ out-b/ pan15-english/truth.txt
    """
    comparison = compare_answers(first, second, truth, seed)
    if as_json:
        print_json(comparison.to_dict())
    else:
        print_comparison(comparison)


def print_comparison(comparison: AnswerComparison) -> None:
    """A line for each measure, and the verdict on the product."""
    console = out()
    table = Table(box=None, header_style="bold", pad_edge=False)
    for heading in ("", "A", "B", "A less B", "95 of 100", "A better"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, heading in NAMES.items():
        found = comparison.differences[name]
        table.add_row(
            heading,
            f"{getattr(comparison.first.measures, name):.3f}",
            f"{getattr(comparison.second.measures, name):.3f}",
            f"{found.difference:+.3f}",
            f"{found.interval.low:+.3f} to {found.interval.high:+.3f}",
            f"{comparison.better(name):.1%}",
        )
    console.print(table)
    for name, side in (("A", comparison.first), ("B", comparison.second)):
        if side.missing:
            missing = count_of(side.missing, "problem")
            console.print(f"{name}, {side.answers}: {missing} without an answer, counted as undecided")
    chance = comparison.better("product")
    verdict = "A is better" if chance >= 0.975 else "B is better" if chance <= 0.025 else "no clear difference"
    what = "texts" if comparison.first.by_text else "problems (the texts are not beside the truth)"
    console.print(f"\n{verdict} by AUC x C@1: A is ahead in {chance:.1%} of resamples of the {what}.")
