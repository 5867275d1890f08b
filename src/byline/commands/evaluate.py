"""`byline evaluate`: answers and truth -> measures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from byline.errors import AnswersError

if TYPE_CHECKING:
    from byline.metrics import Averages, Measures

COLUMNS = {
    "problems": "problems", "undecided": "undecided", "auc": "AUC", "c_at_1": "C@1", "product": "AUC x C@1",
    "f05u": "F0.5u", "f1": "F1", "brier": "1 - Brier", "overall": "mean of five",
}  # fmt: skip


def evaluate_command(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="ANSWERS TRUTH...", help="Answers and truth, as files or folders, in pairs.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print the measures as JSON.")] = False,
) -> None:
    """Measure answers against the truth; several pairs at once give their averages too.

    A missing answer counts as 0.5, undecided.

    Example: byline evaluate out/ pan15-english/truth.txt
    """
    if len(files) % 2:
        context.fail("files come in pairs: ANSWERS TRUTH, and again for each further corpus")

    from byline.answers import match_truth, read_answers
    from byline.commands.console import print_json
    from byline.metrics import average, measure
    from byline.truth import read_truth

    rows: list[tuple[str, int, Measures]] = []
    for answers_path, truth_path in zip(files[::2], files[1::2], strict=True):
        answers, truth = read_answers(answers_path), read_truth(truth_path)
        try:
            measures = measure(*match_truth(answers, truth, str(answers_path)))
        except AnswersError as error:
            raise AnswersError(f"{truth_path}: {error}") from None
        rows.append((str(answers_path), len(truth) - len(answers), measures))
    averages = average([measures for _, _, measures in rows])
    if as_json:
        print_json(to_json(rows, averages))
    else:
        print_tables(rows, averages)


def to_json(rows: list[tuple[str, int, Measures]], averages: Averages) -> dict[str, object]:
    """What --json prints: a list of corpora, and their averages."""
    return {
        "corpora": [
            {"answers": name, "missing": missing, **{key: getattr(measures, key) for key in COLUMNS}}
            for name, missing, measures in rows
        ],
        "macro": averages.macro,
        "micro": averages.micro,
        "mean_product": averages.mean_product,
    }


def print_tables(rows: list[tuple[str, int, Measures]], averages: Averages) -> None:
    """One corpus as a list of measures; several as a row each with their averages below."""
    from rich.table import Table

    from byline.commands.console import count_of, out

    console = out()
    table = Table(box=None, header_style="bold", pad_edge=False, show_header=len(rows) > 1)
    if len(rows) == 1:
        table.add_column()
        table.add_column(justify="right")
        for key, heading in COLUMNS.items():
            table.add_row(heading, _cell(getattr(rows[0][2], key)))
    else:
        table.add_column("answers", overflow="fold")
        for heading in COLUMNS.values():
            table.add_column(heading, justify="right", overflow="fold")
        for name, _, measures in rows:
            table.add_row(name, *(_cell(getattr(measures, key)) for key in COLUMNS))
    console.print(table)
    for name, missing, _ in rows:
        if missing:
            console.print(f"{name}: {count_of(missing, 'problem')} without an answer, counted as undecided")
    console.print("1 is the best of each; random answers have .50 AUC, .50 C@1 and .25 AUC x C@1.", style="dim")
    if len(rows) > 1:
        console.print(
            f"\nmacro {averages.macro:.3f} (mean AUC x mean C@1), micro {averages.micro:.3f} (weighted by problems),"
            f" mean product {averages.mean_product:.3f}"
        )


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"
