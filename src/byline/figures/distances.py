"""Texts by their distances: as points on a plane (principal components, classical scaling), and as leaves of a tree.

Trees are joined by average linkage. Support is Felsenstein's: the columns of the profiles are drawn with replacement
many times, and the support of a clade is the share of the resulting trees in which the same rows, and no others, make
up a clade.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from byline.engines.matrix import ROUNDING, Table
from byline.figures.canvas import FigureFormat, group_handles, is_varied, write_legend, write_names
from byline.figures.styles import GRAY, StyledName

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REPLICATES = 200
MOST_ORDERED = 200
"""Rows up to which leaves are ordered optimally; with more that takes too long."""
ACROSS = {1: "left", 0: "center", -1: "right"}
UPWARD = {1: "bottom", 0: "center", -1: "top"}
"""Alignment of a label for each side of its point."""
SUPPORTED, WELL_SUPPORTED = 70, 95
"""Percent from which a branch has a dot if its number does not fit."""
BETWEEN = 0.5
"""Points of free space around a number."""


@dataclass(frozen=True)
class Placement:
    """Points on a plane, and the share of the whole that each axis shows."""

    points: Table  # (rows, 2)
    shares: tuple[float, float]
    """From 0 to 1, of the variance, or of the positive eigenvalues of scaled distances."""


def principal_components(profiles: Table) -> Placement:
    """Project profiles (rows, columns) on the two directions in which they differ most."""
    centered = profiles - profiles.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centered, full_matrices=False)
    return _place(left * sizes, sizes**2)


def classical_scaling(distances: Table) -> Placement:
    """Place points so that their distances approximate those given (rows, rows): Torgerson's classical scaling.

    Distances that are not Euclidean give negative eigenvalues, which are ignored.
    """
    squares = distances**2
    inner = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean())
    sizes, directions = np.linalg.eigh(inner)
    sizes, directions = np.maximum(sizes[::-1], 0), directions[:, ::-1]
    return _place(directions * np.sqrt(sizes), sizes)


def cosine_distances(profiles: Table, weights: Table | None = None) -> Table:
    """(rows, rows): 1 minus the cosine of the angle between two rows; 1 if a row is all 0. Columns may have weights.

    The diagonal is 0, and the table is symmetric to the last digit.
    """
    weighed = profiles if weights is None else profiles * weights
    products = weighed @ profiles.T
    norms = np.sqrt(np.maximum(np.diagonal(products), 0))
    scale = np.outer(norms, norms)
    distances = 1 - np.divide(products, scale, out=np.zeros(products.shape), where=scale > ROUNDING**2)
    distances = np.clip((distances + distances.T) / 2, 0, 2).round(9)
    np.fill_diagonal(distances, 0)
    table: Table = distances
    return table


def _place(points: Table, sizes: Table) -> Placement:
    """Return the first two directions, with signs that make the farthest point positive."""
    plane = np.zeros((len(points), 2))
    plane[:, : min(2, points.shape[1])] = points[:, :2]
    far = plane[np.abs(plane.round(9)).argmax(axis=0), [0, 1]]
    plane = plane * np.where(far < 0, -1, 1)
    total = float(sizes.sum())
    shares = [float(size / total) if total > ROUNDING else 0.0 for size in (*sizes[:2], 0.0, 0.0)[:2]]
    return Placement(plane, (shares[0], shares[1]))


@dataclass(frozen=True)
class Tree:
    """A binary tree of rows."""

    merges: Table  # (rows - 1, 4): scipy's linkage: the two that are joined, their distance, and how many rows it makes
    order: tuple[int, ...]
    """The rows from one end of the tree to the other."""
    support: tuple[float | None, ...]
    """Of each merge, in percent of the replicates; None for the last one, which every tree has."""
    replicates: int


def grow_tree(
    profiles: Table, replicates: int = REPLICATES, seed: int = 0, proceed: Callable[[], None] = lambda: None
) -> Tree:
    """Join the rows of profiles (rows, columns) by their cosine distances. `proceed` is called for each replicate."""
    distances = cosine_distances(profiles)
    merges = join_rows(distances)
    counts = np.zeros(len(merges))
    rng = np.random.default_rng(seed)
    wanted = {mask: place for place, mask in enumerate(_clades(merges))}
    columns = profiles.shape[1]
    for _ in range(replicates):
        proceed()
        drawn = np.bincount(rng.integers(0, columns, columns), minlength=columns).astype(profiles.dtype)
        found = _clades(join_rows(cosine_distances(profiles, drawn)))
        counts[[wanted[mask] for mask in found if mask in wanted]] += 1
    support = [100 * float(count) / replicates if replicates else None for count in counts]
    support[-1:] = [None]
    return Tree(merges, order_leaves(merges, distances), tuple(support), replicates)


def join_rows(distances: Table) -> Table:
    """(rows - 1, 4): average linkage of (rows, rows) distances."""
    merges: Table = linkage(squareform(distances, checks=False), "average")
    return merges


def order_leaves(merges: Table, distances: Table) -> tuple[int, ...]:
    """Order the rows so that no branches cross and, if that is quick, so that neighbors are as similar as possible."""
    if len(distances) <= MOST_ORDERED:
        merges = optimal_leaf_ordering(merges, squareform(distances, checks=False))
    leaves: NDArray[np.int32] = leaves_list(merges)
    return tuple(leaves.tolist())


def order_rows(profiles: Table) -> tuple[int, ...]:
    """Order rows so that similar ones are adjacent."""
    if len(profiles) < 3:
        return tuple(range(len(profiles)))
    distances = cosine_distances(profiles)
    return order_leaves(join_rows(distances), distances)


@dataclass(frozen=True)
class Fork:
    """A merge as it is drawn: two branches, joined at a greater height."""

    places: tuple[float, float]
    """Of the two branches, in leaves from one end of the tree."""
    heights: tuple[float, float]
    """At which the branches begin: 0 for a leaf."""
    height: float
    support: float | None
    size: int
    """The number of leaves that it joins."""


def lay_out(tree: Tree) -> tuple[Fork, ...]:
    """Return the forks of a tree whose leaves are at 0, 1, 2 ... in its order."""
    count = len(tree.order)
    places: dict[int, float] = {row: float(place) for place, row in enumerate(tree.order)}
    heights: dict[int, float] = dict.fromkeys(range(count), 0.0)
    forks = []
    for number, (one, other, height, size) in enumerate(tree.merges.tolist()):
        first, second = sorted((int(one), int(other)), key=lambda branch: places[branch])
        forks.append(
            Fork(
                (places[first], places[second]), (heights[first], heights[second]), height, tree.support[number],
                int(size),
            )
        )  # fmt: skip
        places[count + number] = (places[first] + places[second]) / 2
        heights[count + number] = height
    return tuple(forks)


def _clades(merges: Table) -> Sequence[int]:
    """Return the rows that each merge joins, as the bits of a number."""
    count = len(merges) + 1
    masks = [1 << number for number in range(count)]
    for one, other in merges[:, :2].astype(np.int64).tolist():
        masks.append(masks[one] | masks[other])
    return masks[count:]


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
    write_legend(figure, *group_handles(styled), format)
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
    write_names(axes.yaxis, ordered, format.room(0.9))
    if is_varied(styled):
        size = float(np.clip(format.points[1] * 0.8 / count * 0.8, 1, format.small * 0.6))
        for place, each in enumerate(ordered):
            axes.plot(0, place, marker=each.marker, color=each.color, markersize=size, clip_on=False, zorder=3)
        axes.yaxis.set_tick_params(pad=format.small * 0.7)
    groups = group_handles(styled)
    if tree.replicates:
        _write_support(figure, axes, tree.replicates, forks, groups, format)
    else:
        write_legend(figure, *groups, format)


def _write_support(
    figure: Figure,
    axes: Axes,
    replicates: int,
    forks: Sequence[Fork],
    groups: tuple[list[Any], list[str]],
    format: FigureFormat,
) -> None:
    """Write the support of each fork as a number, or draw a dot if it does not fit, and write the legend."""
    from matplotlib.lines import Line2D

    told = [fork for fork in forks if fork.support is not None]
    small = format.small * 0.8
    dots = [
        Line2D([], [], linestyle="none", marker="o", markersize=3, color="black", markerfacecolor=face)
        for face in ("black", "white")
    ]
    words = [f"support of {WELL_SUPPORTED} % or more", f"of {SUPPORTED} % or more ({replicates:,} replicates)"]
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
        write_legend(figure, *groups, format)
    for fork in without:
        if fork.support is not None and fork.support >= SUPPORTED:
            face = "black" if fork.support >= WELL_SUPPORTED else "white"
            axes.plot(
                fork.height, sum(fork.places) / 2, "o", markersize=2.6, color="black", markerfacecolor=face,
                markeredgewidth=0.5, clip_on=False,
            )  # fmt: skip


def _write_numbers(figure: Figure, axes: Axes, forks: Sequence[Fork], size: float) -> list[Fork]:
    """Write numbers next to forks, the highest first, if they overlap no other. Return the forks without one."""
    figure.draw_without_rendering()  # fixes the positions
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
        left, low, right, high = text.get_window_extent().padded(BETWEEN * figure.dpi / 72).extents
        box = np.array([left, low, right, high])
        if _apart(taken, box).all() and right <= edge:
            taken = np.vstack([taken, box])
        else:
            text.remove()
            without.append(fork)
    return without


def _label_points(
    figure: Figure,
    axes: Axes,
    points: Sequence[Sequence[float]],
    labels: Sequence[str],
    size: float,
    format: FigureFormat,
) -> int:
    """Write labels next to points, the outermost first, if they overlap no label and no point. Return their number."""
    figure.draw_without_rendering()  # fixes the positions
    figure.set_layout_engine("none")
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
    if len(points) > format.room() * format.room(upright=False):  # not even in a grid
        return 0
    scale = figure.dpi / 72
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
        extent = text.get_window_extent()
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
