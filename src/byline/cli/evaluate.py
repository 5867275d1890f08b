"""`byline evaluate` and `byline compare`: answers compared with the truth, and two systems with each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import byline
from byline.cli import options
from byline.cli.console import count_of, make_table, out, print_json, print_table, printable
from byline.errors import AnswersError

if TYPE_CHECKING:
    from byline.judgment.metrics import Averages
    from byline.tasks.evaluate import AnswerComparison, AttributionMeasures, Evaluation

MEASURES = {
    "problems": "problems", "undecided": "undecided", "auc": "AUC", "c_at_1": "C@1", "product": "AUC x C@1",
    "f05u": "F0.5u", "f1": "F1", "brier": "1 - Brier", "overall": "mean of five", "cllr": "Cllr",
    "cllr_min": "Cllr min", "eer": "EER",
}  # fmt: skip
SHORT_MEASURES = {
    "problems": "n", "undecided": "0.5", "auc": "AUC", "c_at_1": "C@1", "product": "product", "overall": "of five",
    "cllr": "Cllr", "eer": "EER",
}  # fmt: skip
"""Measures of several corpora that fit a terminal; --json has all."""
COMPARED = ("auc", "c_at_1", "product", "cllr")
OTHER_MEASURES = {"macro_f1": "macro-F1", "bcubed_f": "BCubed F", "average_precision": "average precision"}
"""Headings of the measures of attributions and clusterings."""


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

    A missing answer counts as 0.5, undecided. Intervals resample the texts if they are in the folder of the truth.

    With a PAN 2018 or 2019 collection, or one problem's ground-truth.json, as truth: macro-F1; a missing answer
    counts as none of the candidates. With a PAN 2016 corpus or its truth folder: BCubed F and MAP.

    Example: byline evaluate out/ pan15-english/truth.txt
    """
    from byline.judgment.metrics import average
    from byline.tasks.evaluate import evaluate_attributions, evaluate_clusterings

    if len(files) % 2:
        context.fail("files come in pairs: ANSWERS TRUTH, and again for each further corpus")
    pairs = list(zip(files[::2], files[1::2], strict=True))
    kind = _require_one_kind(context, pairs)
    if kind == "attribution":
        _print_attributions([(answers, evaluate_attributions(answers, truth)) for answers, truth in pairs], as_json)
    elif kind == "clustering":
        found = [(answers, each) for answers, truth in pairs for each in evaluate_clusterings(answers, truth)]
        _print_problems([{"answers": str(answers), **asdict(each)} for answers, each in found], as_json)
    else:
        rows = [byline.evaluate_answers(answers, truth, seed) for answers, truth in pairs]
        averages = average([row.measures for row in rows])
        if as_json:
            means = {name: getattr(averages, name) for name in ("macro", "micro", "mean_product", "mean_cllr")}
            print_json({"corpora": [row.to_dict() for row in rows], **means})
        else:
            print_evaluations(rows, averages)


def _require_one_kind(context: typer.Context, pairs: Sequence[tuple[Path, Path]]) -> str:
    """Return the kind of problems that the truths are about; refuse answers in the place of a truth."""
    from byline.tasks.evaluate import is_attribution_answers, is_attribution_truth, is_clustering

    kinds = set()
    for answers, truth in pairs:
        if is_attribution_truth(truth):
            kinds.add("attribution")
        elif is_attribution_truth(answers):
            context.fail(f"{answers} is a truth: answers come first; byline evaluate {truth} {answers}")
        elif is_attribution_answers(answers) and is_attribution_answers(truth):
            context.fail(f"{truth} holds answers too; name the collection that has the truth")
        else:
            kinds.add("clustering" if truth.is_dir() and is_clustering(truth) else "verification")
    if len(kinds) > 1:
        raise AnswersError("the truths are of different kinds of problems", remedy="Evaluate each kind separately")
    return kinds.pop()


def _print_attributions(found: Sequence[tuple[Path, Sequence[AttributionMeasures]]], as_json: bool) -> None:
    """Print the measures of attributions, and count the missing answers."""
    _print_problems([{"answers": str(answers), **asdict(each)} for answers, rows in found for each in rows], as_json)
    if as_json:
        return
    console = out()
    for answers, rows in found:
        for each in rows:
            if each.missing:
                missing = "all" if each.missing == each.texts else str(each.missing)
                line = f"{answers}: {missing} of {count_of(each.texts, 'text')} of {each.problem} without an answer"
                console.print(f"{printable(line)}, counted as <UNK>")
    console.print("macro-F1 is the mean over the candidates that occur in the truth; <UNK> is no class.", style="dim")


def _print_problems(rows: Sequence[dict[str, Any]], as_json: bool) -> None:
    """Print the measures of each problem, and their means. The mean of average precision is called MAP."""
    names = [name for name in rows[0] if name not in ("answers", "problem", "texts", "missing")]
    means = {name: sum(row[name] for row in rows) / len(rows) for name in names}
    mapped = "average_precision" in means
    if as_json:
        called = {"average_precision": "map"}
        print_json({"problems": rows, "means": {called.get(name, name): mean for name, mean in means.items()}})
        return
    headings = ["texts", *(OTHER_MEASURES.get(name, name) for name in names)]
    table = make_table("problem", *headings, right=headings)
    for row in rows:
        table.add_row(str(row["problem"]), str(row["texts"]), *(_number(row[name]) for name in names))
    table.add_row("mean (MAP)" if mapped else "mean", "", *(_number(means[name]) for name in names))
    print_table(table)
    if mapped:
        out().print("MAP is the mean of average precision over the problems, as in PAN 2016.", style="dim")


def print_evaluations(rows: Sequence[Evaluation], averages: Averages) -> None:
    """Print one corpus as a list of measures, or several as a row each with their averages below."""
    console = out()
    single = rows[0] if len(rows) == 1 else None
    if single:
        table = make_table("measure", "value", "interval", right=("value",), header=False)
        table.columns[2].style = "dim"
        for name, heading in MEASURES.items():
            span = single.intervals.get(name)
            interval = f"{span.low:.3f} to {span.high:.3f}" if span else ""
            table.add_row(heading, _number(getattr(single.measures, name)), interval)
    else:
        table = make_table("answers", *SHORT_MEASURES.values(), right=SHORT_MEASURES.values())
        for row in rows:
            table.add_row(str(row.answers), *(_number(getattr(row.measures, name)) for name in SHORT_MEASURES))
    print_table(table)
    for row in rows:
        _print_missing(row)
    console.print(
        "Of AUC to mean of five 1 is the best; random answers have .50 AUC, .50 C@1 and .25 AUC x C@1."
        "\nOf Cllr and EER 0 is the best; always answering 0.5 has a Cllr of 1.",
        style="dim",
    )
    if single:
        console.print(f"Ranges: 95 of 100 resamples of the {_resampled(single)}.", style="dim")
    else:
        console.print(
            f"\nmacro {averages.macro:.3f} (mean AUC x mean C@1), micro {averages.micro:.3f} (weighted by problems),"
            f" mean product {averages.mean_product:.3f}, mean Cllr {averages.mean_cllr:.3f}"
        )


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def _print_missing(row: Evaluation, system: str = "") -> None:
    if row.missing:
        missing = count_of(row.missing, "problem")
        out().print(f"{system}{row.answers}: {missing} without an answer, counted as undecided")


def _resampled(row: Evaluation) -> str:
    return "texts" if row.by_text else "problems (the texts are not beside the truth)"


def compare_command(
    first: Annotated[Path, typer.Argument(metavar="A", help="Answers of one system, a file or a folder.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Answers of another to the same problems.")],
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="The truth, a file or a folder.")],
    seed: Annotated[int, typer.Option(min=0, help="For the resampling.")] = 0,
    as_json: options.Json = False,
) -> None:
    """Tell whether A's answers are better than B's, and how sure that is.

    Both are measured on many resamples of the texts in the folder of the truth, or of the problems.

    Example: byline compare out-a/ out-b/ pan15-english/truth.txt
    """
    from byline.tasks.evaluate import compare_answers

    comparison = compare_answers(first, second, truth, seed)
    if as_json:
        print_json(comparison.to_dict())
    else:
        print_comparison(comparison)


def print_comparison(comparison: AnswerComparison) -> None:
    """Print a line for each measure, and which system has the better product."""
    headings = ("A", "B", "A less B", "95 of 100", "A better")
    table = make_table("", *headings, right=headings)
    for name in COMPARED:
        found = comparison.differences[name]
        table.add_row(
            MEASURES[name],
            f"{getattr(comparison.first.measures, name):.3f}",
            f"{getattr(comparison.second.measures, name):.3f}",
            f"{found.difference:+.3f}",
            f"{found.interval.low:+.3f} to {found.interval.high:+.3f}",
            f"{comparison.better(name):.1%}",
        )
    print_table(table)
    _print_missing(comparison.first, "A, ")
    _print_missing(comparison.second, "B, ")
    chance = comparison.better("product")
    verdict = "A is better" if chance >= 0.975 else "B is better" if chance <= 0.025 else "no clear difference"
    resampled = _resampled(comparison.first)
    out().print(f"\n{verdict} by AUC x C@1: A is ahead in {chance:.1%} of resamples of the {resampled}.")
