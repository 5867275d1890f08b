"""`byline report`, `explain` and `plot`: the evidence for a run's answers as a page, in the terminal and as figures."""

from __future__ import annotations

import functools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.text import Text

import byline
from byline.cli import options
from byline.cli.console import out, print_json, printable

if TYPE_CHECKING:
    from byline.engines.protocol import Runtime
    from byline.report.wording import Explanation, PassageShown

FigureKind = Literal["rolling", "heatmap", "roc", "tippett", "calibration", "pca", "mds", "dendrogram", "learning"]
page_option = functools.partial(typer.Option, rich_help_panel="Page")


def report_command(
    run: options.RunFolder,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE.html", help="Report to write, one file.")],
    truth: Annotated[
        Path | None,
        typer.Option(metavar="TRUTH", help="Truth file or folder, for measures and curves."),
    ] = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Write a report of a run: one HTML file with its answers, texts and evidence, to read, print and keep.

    It needs no network. It holds the texts: give it only to those who may read them.

    Example: byline report out/ -o report.html
    """
    from byline.report.page import timestamp

    byline.report_run(run, output, truth, timestamp(), overwrite)
    out().print(f"Wrote {output}. It holds the texts; open it in a browser.")


SYMBOLS = (
    "In n-grams ¹ stands before what was a capital letter, 7 for any digit, and where the topic is masked * for a"
    " letter of a rarer word."
)


def explain_command(
    run: options.RunFolder,
    problem: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM]", help="Id of the problem, if there are several.")
    ] = None,
    passages: Annotated[
        int, typer.Option(min=1, max=50, help="Passages to show for the same author, and against.")
    ] = 3,
    as_json: options.Json = False,
) -> None:
    """Explain one answer in the terminal: the verdict, cautions, and the strongest passages for and against it.

    Example: byline explain out/ EN001
    """
    found = byline.explain_problem(run, problem, passages)
    if as_json:
        print_json(explanation_json(found))
    else:
        print_explanation(found, run)


def explanation_json(found: Explanation) -> dict[str, object]:
    """Return an explanation in plain values."""
    from byline.runs.folder import caution_rows

    return {
        **found._asdict(),
        "warnings": list(found.warnings),
        "cautions": caution_rows(found.cautions),
        **{name: [each._asdict() for each in getattr(found, name)] for name in ("passages", "features", "shared")},
    }


def print_explanation(found: Explanation, run: Path) -> None:
    """Print the verdict, the cautions, and the passages and n-grams for and against it."""
    console = out()
    console.print(f"{printable(found.id)}: {found.said}", style="bold")
    console.print(found.statement)
    _print_cautions(found)
    if not found.weighed:
        console.print("No passages: no member of this run adds up over characters, or its evidence was not kept.")
    for heading, side in (("For the same author", 1), ("For another author", -1)):
        chosen = [each for each in found.passages if side * each.bits > 0]
        if not chosen and found.weighed:
            console.print(f"\n{heading}: no passage that stands out.", style="bold")
        if chosen:
            console.print(f"\n{heading} (bits above the usual level; not a weight of evidence):", style="bold")
        for each in chosen:
            _print_passage(each)
    for feature in found.features:
        console.print(
            f"\n{feature.member} scores whole texts, not passages. N-grams with the greatest weight:", style="bold"
        )
        console.print(f"  for: {_list_grams(feature.supporting)}")
        console.print(f"  against: {_list_grams(feature.opposing)}")
    if found.features:
        console.print(f"\n{SYMBOLS}")
    again = f"byline report {shlex.quote(str(run))} -o report.html"
    console.print(f"\nEvidence is never proof. The whole texts with their evidence: {again}")


def _print_cautions(found: Explanation) -> None:
    """Print the cautions, with the passages that both sides share."""
    from byline.cli.answers import print_caution
    from byline.judgment.checks.problem_checks import quote

    console = out()
    if found.unlooked:
        console.print(found.unlooked, style="yellow")
    for caution in found.cautions:
        if not caution.passages:
            print_caution(caution)
            continue
        console.print(f"Caution: {printable(caution.text)}", style="yellow")
        for each in found.shared:
            where = f"{printable(each.document)}, characters {each.begin:,} to {each.end:,}"
            console.print(f"  {where}: \u201c{printable(quote(each.text))}\u201d")


def _list_grams(names: tuple[str, ...]) -> str:
    return ", ".join(repr(printable(name)) for name in names) or "none"


def _print_passage(passage: PassageShown) -> None:
    """Print a passage. Strong words are blue for the same author, or orange and underlined for another."""
    console = out()
    console.print(
        f"  {printable(passage.document)}, characters {passage.begin:,} to {passage.end:,}: {passage.bits:+.1f} bits,"
        f" {passage.agreement:.0%} of members agree"
    )
    largest = max(abs(bits) for _, bits in passage.words) or 1.0
    line = Text("    ")
    for word, bits in passage.words:
        share = abs(bits) / largest
        style = ""
        if share > 0.25:
            style = ("bold " if share > 0.6 else "") + ("blue" if bits > 0 else "dark_orange underline")
        line.append(printable(word), style)
        line.append(" ")
    console.print(line)


def plot_command(
    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="Folder of a run (byline verify -o), or model of byline train."),
    ],
    kind: Annotated[
        FigureKind,
        typer.Argument(
            metavar="KIND", help="rolling, heatmap, roc, tippett, calibration, pca, mds, dendrogram or learning."
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="Figure to write: an .svg, .pdf or .png file.")
    ],
    text: Annotated[Path | None, typer.Option(metavar="FILE", help="For rolling: a long text.")] = None,
    window: Annotated[
        int | None, typer.Option(metavar="CHARACTERS", help="For rolling: length of the passages.")
    ] = None,
    step: Annotated[
        int | None, typer.Option(metavar="CHARACTERS", help="For rolling: distance of the passages.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(metavar="TRUTH", help="For roc, tippett and calibration: truth file or folder.")
    ] = None,
    metadata: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv", help="Labels, colors and groups of texts or authors: columns name, label, color, group."
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="Language to show, if a run has several.", callback=options.require_nonempty),
    ] = None,
    replicates: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="For dendrogram: resamplings for support (default: 200)."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of resampling (default: 0).")] = None,
    title: Annotated[str | None, page_option(help="Title above the figure.")] = None,
    width: Annotated[float | None, page_option(metavar="CM", help="Width (default: depends on the kind).")] = None,
    height: Annotated[
        float | None, page_option(metavar="CM", help="Height (default: depends on width and kind).")
    ] = None,
    font_size: Annotated[float, page_option(metavar="POINTS", help="Size of the lettering.")] = 9.0,
    dpi: Annotated[int, page_option(help="Resolution of a .png, and of heat maps in other formats.")] = 300,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a figure of a run or a model, for a paper.

    Of a run: heatmap, roc, tippett, calibration, pca, mds, dendrogram, learning.

    Of a model: rolling, heatmap, pca, mds, dendrogram, learning.

    Example: byline plot out/ roc --truth pan15-english/ -o roc.svg
    """
    from byline.cli.progress import work
    from byline.figures.canvas import FigureFormat

    options.require_free(output, overwrite, [source, text, truth, metadata])
    page = FigureFormat(width, height, title or "", font_size, dpi)

    def draw(runtime: Runtime) -> None:
        byline.plot(
            source, kind, output, format=page, overwrite=overwrite, runtime=runtime, text=text, window=window,
            step=step, truth=truth, metadata=metadata, language=language, replicates=replicates, seed=seed,
        )  # fmt: skip

    work(draw, quiet)
    print(f"Figure is in {output}")
