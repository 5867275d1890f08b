"""`byline report` and `byline explain`: the evidence for a run's answers, as a page and in the terminal."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from byline.cli.answers import print_quotes
from byline.cli.console import out, print_json, printable
from byline.judgment.checks.problem_checks import quote
from byline.report.page import timestamp
from byline.report.verification import report_run
from byline.report.wording import Explanation, explain_problem
from byline.runs.problem_file import caution_rows

SHOWN = 3
"""Passages for and against."""


def report_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run (byline verify -o).")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.html", help="Report to write, one file.")],
    truth: Annotated[
        Path | None,
        typer.Option(metavar="TRUTH", help="Truth file or folder, for measures and curves."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
) -> None:
    """Write a report of a run: one HTML file with its answers, texts and evidence, to read, print and keep.

    It needs no network. It holds the texts: give it only to those who may read them.

    Example: byline report out/ -o report.html
    """
    report_run(run, output, truth, timestamp(), overwrite)
    out().print(f"Wrote {output}. It holds the texts; open it in a browser.")


SYMBOLS = (
    "In n-grams ¹ stands before what was a capital letter, 7 for any digit, and where the topic is masked * for a"
    " letter of a rarer word."
)


def explain_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run (byline verify -o).")],
    problem: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM]", help="Id of the problem, if there are several.")
    ] = None,
    passages: Annotated[
        int, typer.Option(min=1, max=50, help="Passages to show for the same author, and against.")
    ] = SHOWN,
    as_json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False,
) -> None:
    """Explain one answer in the terminal: the verdict, cautions, and the strongest passages for and against it.

    Example: byline explain out/ EN001
    """
    found = explain_problem(run, problem, passages)
    if as_json:
        print_json(explanation_json(found))
        return
    console = out()
    console.print(f"{printable(found.id)}: {found.said}", style="bold")
    console.print(found.statement)
    _print_cautions(console, found)
    if not found.weighed:
        console.print("No member of this run adds up over characters, or its evidence was not kept: no passages.")
    for heading, side in (("For the same author", 1), ("For another author", -1)):
        chosen = [each for each in found.passages if side * each.bits > 0]
        if not chosen and found.weighed:
            console.print(f"\n{heading}: none that stands out.", style="bold")
        if not chosen:
            continue
        console.print(f"\n{heading} (bits above the usual level; not a weight of evidence):", style="bold")
        for each in chosen:
            console.print(f"  {printable(each.document)}, characters {each.begin:,} to {each.end:,}:"
                          f" {each.bits:+.1f} bits, {each.agreement:.0%} of members agree")  # fmt: skip
            _print_passage(console, each.words)
    for feature in found.features:
        console.print(f"\n{feature.member} does not add up over characters. Its n-grams that weigh most:", style="bold")
        console.print(f"  for: {_grams(feature.supporting)}")
        console.print(f"  against: {_grams(feature.opposing)}")
    if found.features:
        console.print(f"\n{SYMBOLS}")
    again = f"byline report {shlex.quote(str(run))} -o report.html"
    console.print(f"\nEvidence is never proof. The whole texts with their evidence: {again}")


def explanation_json(found: Explanation) -> dict[str, object]:
    """Return what --json prints."""
    return {
        **found._asdict(),
        "warnings": list(found.warnings),
        "cautions": caution_rows(found.cautions),
        **{name: [each._asdict() for each in getattr(found, name)] for name in ("passages", "features", "shared")},
    }


def _print_cautions(console: Console, found: Explanation) -> None:
    """Print the cautions, with the passages that both sides share."""
    if found.unlooked:
        console.print(found.unlooked, style="yellow")
    for caution in found.cautions:
        console.print(f"Caution: {printable(caution.text)}", style="yellow")
        if not caution.passages:
            print_quotes(console, caution)
            continue
        for each in found.shared:
            where = f"{printable(each.document)}, characters {each.begin:,} to {each.end:,}"
            console.print(f"  {where}: \u201c{printable(quote(each.text))}\u201d")


def _grams(names: tuple[str, ...]) -> str:

    return ", ".join(repr(printable(name)) for name in names) or "none"


def _print_passage(console: Console, words: tuple[tuple[str, float], ...]) -> None:
    """Print words, strong ones in blue for the same author, or in orange and underlined for another."""
    largest = max(abs(bits) for _, bits in words) or 1.0
    line = Text("    ")
    for word, bits in words:
        share = abs(bits) / largest
        style = ""
        if share > 0.25:
            style = ("bold " if share > 0.6 else "") + ("blue" if bits > 0 else "dark_orange underline")
        line.append(printable(word), style)
        line.append(" ")
    console.print(line)
