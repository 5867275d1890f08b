"""`byline plot`: a figure of a run or a model, for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from byline.commands import options

PAGE = "Page"


def plot_command(
    source: Annotated[
        Path,
        typer.Argument(metavar="SOURCE", help="A folder that byline verify -o wrote to, or a model of byline train."),
    ],
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND", help="rolling, heatmap, roc, tippett, calibration, pca, mds, dendrogram or learning."
        ),
    ],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The figure: a .svg, .pdf or .png file.")
    ],
    text: Annotated[Path | None, typer.Option(metavar="FILE", help="For rolling: a long text.")] = None,
    window: Annotated[int | None, typer.Option(metavar="CHARACTERS", help="For rolling: length of a passage.")] = None,
    step: Annotated[
        int | None, typer.Option(metavar="CHARACTERS", help="For rolling: between the beginnings of two passages.")
    ] = None,
    truth: Annotated[
        Path | None, typer.Option(metavar="TRUTH", help="For roc, tippett and calibration: truth file or folder.")
    ] = None,
    metadata: Annotated[
        Path | None,
        typer.Option(metavar="FILE.csv", help="Columns name, label, colour or group: how texts or authors are shown."),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="Of a run in several languages, the problems in this one.", callback=options.named),
    ] = None,
    replicates: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="For dendrogram: resamplings that tell support; without it 200."),
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="For what is resampled; without it 0.")] = None,
    title: Annotated[str | None, typer.Option(help="A line above the figure.", rich_help_panel=PAGE)] = None,
    width: Annotated[
        float | None, typer.Option(metavar="CM", help="Without it, as the kind needs.", rich_help_panel=PAGE)
    ] = None,
    height: Annotated[
        float | None, typer.Option(metavar="CM", help="Without it, as width and kind need.", rich_help_panel=PAGE)
    ] = None,
    font_size: Annotated[float, typer.Option(metavar="POINTS", help="Of the writing.", rich_help_panel=PAGE)] = 9.0,
    dpi: Annotated[int, typer.Option(help="Of a .png, and of heat maps in the others.", rich_help_panel=PAGE)] = 300,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the file that is there.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Draw a figure of a run or a model, for a paper.

    Of a run: heatmap, roc, tippett, calibration, pca, mds, dendrogram, learning.

    Of a model: rolling, heatmap, pca, mds, dendrogram, learning.

    Example: byline plot out/ roc --truth pan15-english/ -o roc.svg
    """
    from byline.commands.places import require_free
    from byline.commands.work import work
    from byline.engines import Watch
    from byline.figures.plotting import plot

    require_free(output, overwrite, [source, text, truth, metadata])

    def draw(watch: Watch) -> None:
        plot(
            source, kind, output, text=text, window=window, step=step, truth=truth, metadata=metadata,
            language=language, replicates=replicates, seed=seed, width=width, height=height, title=title or "",
            font_size=font_size, dpi=dpi, overwrite=overwrite, watch=watch,
        )  # fmt: skip

    work(draw, quiet)
    print(f"Figure is in {output}")
