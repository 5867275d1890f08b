"""`byline plot`: a figure of a run or a model, for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from byline.cli import options
from byline.cli.files import require_free
from byline.cli.progress import work
from byline.engines.protocol import Runtime
from byline.figures.canvas import FigureFormat
from byline.figures.plot import KINDS, plot

PAGE = "Page"


def plot_command(
    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="Folder of a run (byline verify -o), or model of byline train."),
    ],
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help="rolling, heatmap, roc, tippett, calibration, pca, mds, dendrogram or learning.",
            autocompletion=options.one_of(KINDS),
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
    title: Annotated[str | None, typer.Option(help="Title above the figure.", rich_help_panel=PAGE)] = None,
    width: Annotated[
        float | None, typer.Option(metavar="CM", help="Width (default: depends on the kind).", rich_help_panel=PAGE)
    ] = None,
    height: Annotated[
        float | None,
        typer.Option(metavar="CM", help="Height (default: depends on width and kind).", rich_help_panel=PAGE),
    ] = None,
    font_size: Annotated[
        float, typer.Option(metavar="POINTS", help="Size of the lettering.", rich_help_panel=PAGE)
    ] = 9.0,
    dpi: Annotated[
        int, typer.Option(help="Resolution of a .png, and of heat maps in other formats.", rich_help_panel=PAGE)
    ] = 300,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing file.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a figure of a run or a model, for a paper.

    Of a run: heatmap, roc, tippett, calibration, pca, mds, dendrogram, learning.

    Of a model: rolling, heatmap, pca, mds, dendrogram, learning.

    Example: byline plot out/ roc --truth pan15-english/ -o roc.svg
    """
    require_free(output, overwrite, [source, text, truth, metadata])
    page = FigureFormat(width, height, title or "", font_size, dpi)

    def draw(runtime: Runtime) -> None:
        plot(
            source, kind, output, format=page, overwrite=overwrite, runtime=runtime, text=text, window=window,
            step=step, truth=truth, metadata=metadata, language=language, replicates=replicates, seed=seed,
        )  # fmt: skip

    work(draw, quiet)
    print(f"Figure is in {output}")
