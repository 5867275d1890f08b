"""`byline report` and `byline explain`: what a run's answers rest on, as a page and in the terminal."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from byline.dossiers.explanation import Explanation

SHOWN = 3
"""Passages for and against that explain shows."""


def report_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that byline verify -o wrote to.")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.html", help="The report, one file.")],
    truth: Annotated[
        Path | None,
        typer.Option(metavar="TRUTH", help="Truth file or folder, if it is known: measures and curves are shown."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
) -> None:
    """Write a report of a run: one HTML file with its answers, texts and evidence, to read, print and keep.

    It opens without a network. It holds the texts: give it only to those who may read them.

    Example: byline report out/ -o report.html
    """
    from byline.commands.console import out
    from byline.reporting import report_run

    report_run(run, output, truth, now(), overwrite)
    out().print(f"Wrote {output}. It holds the texts; open it in a browser.")


def now() -> str:
    """The time, as reports say it."""
    from datetime import UTC, datetime

    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def about(source: str, command: list[str], **further: object) -> dict[str, Any]:
    """What a report says of itself."""
    import shlex

    from byline import __version__

    return {
        "title": Path(source).resolve().name or source,
        "source": source,
        "byline": __version__,
        "made": now(),
        "provenance": {"command": shlex.join(command), **further},
    }


SYMBOLS = (
    "In n-grams ¹ stands before what was a capital letter, 7 for any digit, and where the topic is masked * for a"
    " letter of a rarer word."
)


def explain_command(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A folder that byline verify -o wrote to.")],
    problem: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM]", help="Which one, by its id, where there are several.")
    ] = None,
    passages: Annotated[
        int, typer.Option(min=1, max=50, help="Passages to show for the same author, and as many against.")
    ] = SHOWN,
    as_json: Annotated[bool, typer.Option("--json", help="Print the same as JSON.")] = False,
) -> None:
    """Explain one answer in the terminal: the verdict, what speaks against believing it, and the passages that speak
    most for and against it.

    Example: byline explain out/ EN001
    """
    from byline.commands.console import out, print_json, printable
    from byline.dossiers.explanation import explain_problem

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
        console.print(f"\n{heading} (bits beyond what is usual, which are no weight of evidence):", style="bold")
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
    """What --json prints."""
    from byline.cautions.file import caution_rows

    return {
        **found._asdict(),
        "warnings": list(found.warnings),
        "cautions": caution_rows(found.cautions),
        **{name: [each._asdict() for each in getattr(found, name)] for name in ("passages", "features", "shared")},
    }


def _print_cautions(console: Console, found: Explanation) -> None:
    """What speaks against believing the answer, with the passages that both sides share, or shared once."""
    from byline.cautions.sentences import quote
    from byline.commands.cautions import print_quotes
    from byline.commands.console import printable

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
    from byline.commands.console import printable

    return ", ".join(repr(printable(name)) for name in names) or "none"


def _print_passage(console: Console, words: tuple[tuple[str, float], ...]) -> None:
    """The words, the more they say the stronger: blue for the same author, orange and underlined for another."""
    from rich.text import Text

    from byline.commands.console import printable

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
