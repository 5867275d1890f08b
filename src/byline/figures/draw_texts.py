"""Draw many texts at once: a heat map, points on a plane, a tree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from byline.engines.matrix import Table
from byline.figures.canvas import FigureFormat
from byline.figures.draw_curves import write_legend
from byline.figures.projection import Placement
from byline.figures.score_tables import ScoreTable
from byline.figures.styles import GRAY, PALETTE, StyledName, legend_entries
from byline.figures.trees import Fork, Tree, lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

HEAT = "cividis_r"
"""Goes from pale to dark also for the color-blind and in gray."""
MISSING = "#dddddd"
FRAME = PALETTE[1]
OUTLIERS = 4
"""Interquartile ranges beyond the quartiles that the colors reach."""
ACROSS = {1: "left", 0: "center", -1: "right"}
UPWARD = {1: "bottom", 0: "center", -1: "top"}
"""Alignment of a label for each side of its point."""
SUPPORTED, WELL_SUPPORTED = 70, 95
"""Percent from which a branch has a dot if its number does not fit."""
BETWEEN = 0.5
"""Points of free space around a number."""


def draw_heatmap(
    figure: Figure, table: ScoreTable, rows: Sequence[StyledName], columns: Sequence[StyledName], format: FigureFormat
) -> None:
    """Draw texts by heads, the darker the more alike, with frames around asked pairs."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Patch, Rectangle

    axes = figure.add_subplot()
    there = table.values[~np.isnan(table.values)]
    low, high = _span(there)
    axes.set_facecolor(MISSING)
    picture = axes.imshow(
        np.ma.masked_invalid(table.values), cmap=HEAT, vmin=low, vmax=high, aspect="auto", interpolation="nearest"
    )
    cell = min(format.points[0] / len(columns), format.points[1] / len(rows)) * 0.75
    width = float(np.clip(cell * 0.12, 0.12, 1.3))
    frames = [Rectangle((column - 0.5, row - 0.5), 1, 1) for row, column in table.asked]
    axes.add_collection(PatchCollection(frames, facecolor="none", edgecolor=FRAME, linewidth=width, clip_on=False))
    axes.set(ylabel=table.row_title, xlabel=table.column_title)
    axes.spines[["top", "right"]].set_visible(True)
    _write_names(axes.yaxis, rows, format.room(0.72))
    _write_names(axes.xaxis, columns, format.room(0.68, upright=False), rotation=90)
    for axis, styled, room in ((axes.yaxis, rows, format.points[1]), (axes.xaxis, columns, format.points[0])):
        if _differ(styled):
            _mark_names(axes, axis, styled, float(np.clip(0.7 * room / len(styled) * 0.8, 0.8, format.small * 0.6)))
    below, above = bool((there < low).any()), bool((there > high).any())
    ends = {(True, True): "both", (True, False): "min", (False, True): "max"}.get((below, above), "neither")
    bar: Any = figure.colorbar(picture, ax=axes, extend=ends, fraction=0.05, pad=0.02, aspect=35)
    beyond = [*([f"\u2264 {low:.1f}"] if below else []), *([f"\u2265 {high:.1f}"] if above else [])]
    bar.set_label("relative score (higher: more alike)" + (f"; {', '.join(beyond)} alike in color" if beyond else ""))
    bar.outline.set_linewidth(0.4)
    own = "own author" if table.column_title == "author" else "asked pair"
    handles: list[Any] = [Patch(facecolor="none", edgecolor=FRAME)]
    labels = [own]
    if np.isnan(table.values).any():
        handles.append(Patch(facecolor=MISSING))
        labels.append("not compared")
    groups, names = _group_handles([*rows, *columns])
    write_legend(figure, [*handles, *groups], [*labels, *names], format)


def _span(values: Table) -> tuple[float, float]:
    """Return the lowest and the highest value that the colors tell apart."""
    if not len(values):
        return 0.0, 1.0
    first, third = np.quantile(values, [0.25, 0.75]).tolist()
    reach = OUTLIERS * (third - first)
    low, high = max(float(values.min()), first - reach), min(float(values.max()), third + reach)
    return (low, high) if low < high else (low - 1, high + 1)


def draw_points(
    figure: Figure, placement: Placement, styled: Sequence[StyledName], axis: str, format: FigureFormat
) -> None:
    """Draw texts on a plane, with those labels that don't overlap."""
    axes = figure.add_subplot()
    points = placement.points
    size = float(np.clip(5.5 - len(points) / 100, 2.5, 5))
    for (across, up), each in zip(points.tolist(), styled, strict=True):
        axes.plot(
            across, up, marker=each.marker, color=each.color, markersize=size, linestyle="none",
            markeredgecolor="white", markeredgewidth=0.3,
        )  # fmt: skip
    first, second = (f"{axis} {number} ({share:.1%})" for number, share in enumerate(placement.shares, start=1))
    axes.set(xlabel=first, ylabel=second)
    axes.axhline(0, color=GRAY, linewidth=0.4, zorder=0)
    axes.axvline(0, color=GRAY, linewidth=0.4, zorder=0)
    axes.margins(0.08)
    axes.set_aspect("equal", adjustable="datalim")
    handles, names = _group_handles(styled)
    if handles:
        write_legend(figure, handles, names, format)
    axes.set_title(" ", fontsize=format.small, color=GRAY)  # takes its space before labels are placed
    written = _label_points(figure, axes, points.tolist(), [each.label for each in styled], size, format)
    if written < len(styled):
        axes.title.set_text(f"{written} of {len(styled)} texts have room for their label")


def draw_tree(figure: Figure, tree: Tree, styled: Sequence[StyledName], format: FigureFormat) -> None:
    """Draw leaves from top to bottom, branches joined at their distance, and the support of each."""
    axes = figure.add_subplot()
    count = len(tree.order)
    forks = lay_out(tree)
    for fork in forks:
        (one, other), (near, far) = fork.places, fork.heights
        axes.plot([near, fork.height, fork.height, far], [one, one, other, other], color="black", linewidth=0.7)
    top = forks[-1].height
    axes.set(ylim=(count - 0.4, -0.6), xlim=(max(top * 1.04, 1e-6), 0), xlabel="cosine distance")
    axes.spines["left"].set_visible(False)
    axes.yaxis.tick_right()
    axes.yaxis.set_tick_params(length=0)
    ordered = [styled[row] for row in tree.order]
    _write_names(axes.yaxis, ordered, format.room(0.9))
    if _differ(styled):
        size = float(np.clip(format.points[1] * 0.8 / count * 0.8, 1, format.small * 0.6))
        for place, each in enumerate(ordered):
            axes.plot(0, place, marker=each.marker, color=each.color, markersize=size, clip_on=False, zorder=3)
        axes.yaxis.set_tick_params(pad=format.small * 0.7)
    handles, names = _group_handles(styled)
    if tree.replicates:
        _write_support(figure, axes, tree.replicates, forks, (handles, names), format)
    elif handles:
        write_legend(figure, handles, names, format)


def _write_support(
    figure: Figure,
    axes: Axes,
    replicates: int,
    forks: Sequence[Fork],
    groups: tuple[list[Any], list[str]],
    format: FigureFormat,
) -> None:
    """Write the support of each fork as a number, or draw a dot if it does not fit, and write the legend."""
    told = [fork for fork in forks if fork.support is not None]
    small = format.small * 0.8
    dots, words = _support_handles(replicates)
    legend = write_legend(figure, [*dots, *groups[0]], [*words, *groups[1]], format)
    without = told
    if format.points[1] * 0.85 / (len(forks) + 1) > small * 1.2:
        said = f"support in percent of {replicates:,} replicates"
        axes.set_title(said, fontsize=format.small, color="#404040")
        without = _write_numbers(figure, axes, told, small)
        if len(without) == len(told):
            axes.set_title("")
    if not without:  # a legend without dots is lower, so the numbers still fit
        legend.remove()
        if groups[0]:
            write_legend(figure, *groups, format)
    for fork in without:
        if fork.support is not None and fork.support >= SUPPORTED:
            face = "black" if fork.support >= WELL_SUPPORTED else "white"
            axes.plot(
                fork.height, sum(fork.places) / 2, "o", markersize=2.6, color="black", markerfacecolor=face,
                markeredgewidth=0.5, clip_on=False,
            )  # fmt: skip


def _write_numbers(figure: Figure, axes: Axes, forks: Sequence[Fork], size: float) -> list[Fork]:
    """Write numbers beside forks, the highest first, if they overlap no other. Return the forks without one."""
    figure.draw_without_rendering()  # fixes the positions
    canvas: Any = figure.canvas
    renderer = canvas.get_renderer()
    edge = axes.get_window_extent().x1
    taken = np.empty((0, 4))
    without = []
    for fork in sorted(forks, key=lambda fork: (-(fork.support or 0), -fork.size, fork.places)):
        text = axes.annotate(
            f"{fork.support:.0f}", (fork.height, sum(fork.places) / 2), (1.5, 0), textcoords="offset points",
            fontsize=size, va="center", ha="left", color="#303030",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.9},
        )  # fmt: skip
        text.set_in_layout(False)
        left, low, right, high = text.get_window_extent(renderer).padded(BETWEEN * figure.dpi / 72).extents
        box = np.array([left, low, right, high])
        if _apart(taken, box).all() and right <= edge:
            taken = np.vstack([taken, box])
        else:
            text.remove()
            without.append(fork)
    return without


def _support_handles(replicates: int) -> tuple[list[Any], list[str]]:
    from matplotlib.lines import Line2D

    dots = [
        Line2D([], [], linestyle="none", marker="o", markersize=3, color="black", markerfacecolor=face)
        for face in ("black", "white")
    ]
    words = [f"support of {WELL_SUPPORTED} % or more", f"of {SUPPORTED} % or more ({replicates:,} replicates)"]
    return dots, words


def _group_handles(styled: Sequence[StyledName]) -> tuple[list[Any], list[str]]:
    """Return what a legend shows of groups."""
    from matplotlib.lines import Line2D

    groups = legend_entries(styled)
    handles = [
        Line2D([], [], linestyle="none", marker=each.marker, color=each.color, markersize=4.5) for each in groups
    ]
    return handles, [each.group for each in groups]


def _write_names(axis: Axis, styled: Sequence[StyledName], room: float, rotation: float = 0) -> None:
    """Write names beside an axis, evenly as many as fit."""
    places = list(thin_out(len(styled), room))
    axis.set_ticks(places, labels=[styled[place].label for place in places], rotation=rotation)


def thin_out(count: int, room: float) -> range:
    """Return which of so many things in a row get a label if there is room for `room` labels."""
    return range(0, count, max(1, math.ceil(count / max(1.0, room))))


def _differ(styled: Sequence[StyledName]) -> bool:
    """Return whether names have different colors or groups."""
    return len({(each.color, each.group) for each in styled}) > 1


def _mark_names(axes: Axes, axis: Axis, styled: Sequence[StyledName], size: float) -> None:
    """Draw a mark in each one's color between an axis and its names."""
    upright = axis is axes.yaxis
    transform = axes.get_yaxis_transform() if upright else axes.get_xaxis_transform()
    beside = -0.012
    for place, each in enumerate(styled):
        across, up = (beside, place) if upright else (place, beside)
        axes.plot(
            across, up, marker=each.marker, color=each.color, markersize=size, markeredgewidth=0, clip_on=False,
            transform=transform, scalex=False, scaley=False,
        )  # fmt: skip
    axis.set_tick_params(length=0, pad=size + 5)


def _label_points(
    figure: Figure,
    axes: Axes,
    points: Sequence[Sequence[float]],
    labels: Sequence[str],
    size: float,
    format: FigureFormat,
) -> int:
    """Write labels beside points, the outermost first, if they overlap neither a label nor a point. Return how many."""
    figure.draw_without_rendering()  # fixes the positions
    figure.set_layout_engine("none")
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
    if len(points) > format.room() * format.room(upright=False):  # not even in a grid
        return 0
    scale = figure.dpi / 72
    canvas: Any = figure.canvas
    renderer = canvas.get_renderer()
    places = axes.transData.transform(points)
    inside = axes.get_window_extent()
    reach = (size / 2 + 1.5) * scale
    taken = [(x - reach * 0.7, y - reach * 0.7, x + reach * 0.7, y + reach * 0.7) for x, y in places.tolist()]
    boxes = np.array(taken)
    distances = ((places - places.mean(axis=0)) ** 2).sum(axis=1)
    written = 0
    for number in sorted(range(len(points)), key=lambda each: (-round(float(distances[each]), 3), each)):
        text = axes.annotate(
            labels[number], points[number], (0, 0), textcoords="offset points", fontsize=format.small * 0.9,  # type: ignore[arg-type]
            ha="left", va="bottom", annotation_clip=False,
        )  # fmt: skip
        text.set_in_layout(False)
        extent = text.get_window_extent(renderer)
        x, y = places[number].tolist()
        for right, up in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)):
            left = x + right * reach - (0 if right > 0 else extent.width if right < 0 else extent.width / 2)
            low = y + up * reach - (0 if up > 0 else extent.height if up < 0 else extent.height / 2)
            box = np.array([left, low, left + extent.width, low + extent.height])
            apart = _apart(boxes, box)
            apart[number] = True
            fits = inside.x0 <= box[0] and box[2] <= inside.x1 and inside.y0 <= box[1] and box[3] <= inside.y1
            if apart.all() and fits:
                text.set(position=(right * reach / scale, up * reach / scale), ha=ACROSS[right], va=UPWARD[up])
                boxes = np.vstack([boxes, box])
                written += 1
                break
        else:
            text.remove()
    return written


def _apart(boxes: Table, box: Table) -> NDArray[np.bool_]:
    """Return which boxes (left, low, right, high) don't overlap another one."""
    apart: NDArray[np.bool_] = (
        (boxes[:, 2] <= box[0]) | (boxes[:, 0] >= box[2]) | (boxes[:, 3] <= box[1]) | (boxes[:, 1] >= box[3])
    )
    return apart
