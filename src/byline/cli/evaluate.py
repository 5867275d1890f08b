"""`byline evaluate`: answers and truth -> measures."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from byline.cli.console import count_of, out, print_json, printable
from byline.errors import AnswersError
from byline.judgment.metrics import Averages, average
from byline.tasks.evaluate import (
    AttributionMeasures,
    Evaluation,
    evaluate_answers,
    evaluate_attributions,
    evaluate_clusterings,
    is_attribution_answers,
    is_attribution_truth,
    is_clustering,
)

COLUMNS = {
    "problems": "problems", "undecided": "undecided", "auc": "AUC", "c_at_1": "C@1", "product": "AUC x C@1",
    "f05u": "F0.5u", "f1": "F1", "brier": "1 - Brier", "overall": "mean of five", "cllr": "Cllr",
    "cllr_min": "Cllr min", "eer": "EER",
}  # fmt: skip

NARROW = {
    "problems": "n", "undecided": "0.5", "auc": "AUC", "c_at_1": "C@1", "product": "product", "overall": "of five",
    "cllr": "Cllr", "eer": "EER",
}  # fmt: skip
"""Of several corpora, as much as fits a terminal; --json has all."""


MEANS = {"average_precision": "map"}
"""What a mean over problems is called, where it has a name of its own."""


def evaluate_command(
    context: typer.Context,
    files: Annotated[
        list[Path], typer.Argument(metavar="ANSWERS TRUTH...", help="Answers and truth, as files or folders, in pairs.")
    ],
    seed: Annotated[int, typer.Option(min=0, help="For the resampling that gives the intervals.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the measures as JSON, with the data of calibration and Tippett plots.")
    ] = False,
) -> None:
    """Measure answers against the truth; several pairs at once give their averages too.

    A missing answer counts as 0.5, undecided. Intervals resample the texts, where they lie beside the truth.

    With a PAN 2018 or 2019 collection, or one problem's ground-truth.json, as truth: macro-F1; what is not answered
    counts as none of the candidates. With a PAN 2016 corpus or its truth folder: BCubed F and MAP.

    Example: byline evaluate out/ pan15-english/truth.txt
    """
    if len(files) % 2:
        context.fail("files come in pairs: ANSWERS TRUTH, and again for each further corpus")
    if _evaluated_otherwise(context, files, as_json):
        return

    rows = [evaluate_answers(answers, truth, seed) for answers, truth in zip(files[::2], files[1::2], strict=True)]
    averages = average([row.measures for row in rows])
    if as_json:
        means = {name: getattr(averages, name) for name in ("macro", "micro", "mean_product", "mean_cllr")}
        print_json({"corpora": [row.to_dict() for row in rows], **means})
    else:
        print_tables(rows, averages)


def _evaluated_otherwise(context: typer.Context, files: list[Path], as_json: bool) -> bool:
    """Measure attributions or clusterings, if that is what the truth is of."""
    pairs = list(zip(files[::2], files[1::2], strict=True))
    for answers, truth in pairs:
        if is_attribution_truth(answers) and not is_attribution_truth(truth):
            context.fail(f"{answers} is a truth: answers come first; byline evaluate {truth} {answers}")
        if is_attribution_answers(answers) and is_attribution_answers(truth) and not is_attribution_truth(truth):
            context.fail(f"{truth} holds answers too; name the collection that has the truth")
    kinds = [
        "attribution"
        if is_attribution_truth(truth)
        else "clustering"
        if truth.is_dir() and is_clustering(truth)
        else ""
        for _, truth in pairs
    ]
    if not any(kinds):
        return False
    if len(set(kinds)) > 1:
        raise AnswersError("the truths are of different kinds of problems", remedy="Evaluate each kind separately")
    if kinds[0] == "attribution":
        _print_attributions([(answers, evaluate_attributions(answers, truth)) for answers, truth in pairs], as_json)
    else:
        rows = [(answers, each) for answers, truth in pairs for each in evaluate_clusterings(answers, truth)]
        _print_rows([{"answers": str(answers), **asdict(each)} for answers, each in rows], as_json)
    return True


def _print_attributions(found: list[tuple[Path, tuple[AttributionMeasures, ...]]], as_json: bool) -> None:
    """The measures of attributions, and what was not answered."""
    _print_rows([{"answers": str(answers), **asdict(each)} for answers, rows in found for each in rows], as_json)
    if as_json:
        return
    console = out()
    for answers, rows in found:
        for each in rows:
            if each.missing:
                without = "all" if each.missing == each.texts else str(each.missing)
                line = f"{answers}: {without} of {count_of(each.texts, 'text')} of {each.problem} without an answer"
                console.print(f"{printable(line)}, counted as <UNK>")
    console.print("macro-F1 is the mean over the candidates that occur in the truth; <UNK> is no class.", style="dim")


def _print_rows(rows: list[dict[str, object]], as_json: bool) -> None:
    """Each problem's measures, and their means."""
    names = [name for name in rows[0] if name not in ("answers", "problem", "texts", "missing")]
    means = {name: sum(float(str(row[name])) for row in rows) / len(rows) for name in names}
    mapped = "average_precision" in means
    if as_json:
        print_json({"problems": rows, "means": {MEANS.get(name, name): value for name, value in means.items()}})
        return
    headings = {"macro_f1": "macro-F1", "bcubed_f": "BCubed F", "average_precision": "average precision"}
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("problem", "texts", *(headings.get(name, name) for name in names)):
        table.add_column(name, justify="left" if name == "problem" else "right")
    for row in rows:
        table.add_row(str(row["problem"]), str(row["texts"]), *(_cell(float(str(row[name]))) for name in names))
    table.add_row("mean (MAP)" if mapped else "mean", "", *(_cell(means[name]) for name in names))
    out().print(table)
    if mapped:
        out().print("MAP is the mean of average precision over the problems, as PAN 2016 has it.", style="dim")


def print_tables(rows: list[Evaluation], averages: Averages) -> None:
    """One corpus as a list of measures; several as a row each with their averages below."""
    console = out()
    table = Table(box=None, header_style="bold", pad_edge=False, show_header=len(rows) > 1)
    if len(rows) == 1:
        (row,) = rows
        table.add_column()
        table.add_column(justify="right")
        table.add_column(style="dim")
        for key, heading in COLUMNS.items():
            span = row.intervals.get(key)
            table.add_row(
                heading, _cell(getattr(row.measures, key)), f"{span.low:.3f} to {span.high:.3f}" if span else ""
            )
    else:
        table.add_column("answers", overflow="fold")
        for heading in NARROW.values():
            table.add_column(heading, justify="right", no_wrap=True)
        for row in rows:
            table.add_row(str(row.answers), *(_cell(getattr(row.measures, key)) for key in NARROW))
    console.print(table)
    for row in rows:
        if row.missing:
            console.print(f"{row.answers}: {count_of(row.missing, 'problem')} without an answer, counted as undecided")
    console.print(
        "Of AUC to mean of five 1 is the best; random answers have .50 AUC, .50 C@1 and .25 AUC x C@1."
        "\nOf Cllr and EER 0 is the best; always saying 0.5 has a Cllr of 1.",
        style="dim",
    )
    if len(rows) == 1:
        what = "texts" if rows[0].by_text else "problems (the texts are not beside the truth)"
        console.print(f"Ranges: 95 of 100 resamples of the {what}.", style="dim")
    else:
        console.print(
            f"\nmacro {averages.macro:.3f} (mean AUC x mean C@1), micro {averages.micro:.3f} (weighted by problems),"
            f" mean product {averages.mean_product:.3f}, mean Cllr {averages.mean_cllr:.3f}"
        )


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"
