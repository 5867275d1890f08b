"""Trees of texts by average linkage, with bootstrap support.

Support is Felsenstein's: the columns of the profiles are drawn with replacement many times, and the support of a clade
is the share of the resulting trees in which the same rows, and no others, make up a clade.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from byline.engines.matrix import Table
from byline.figures.projection import cosine_distances

REPLICATES = 200
MOST_ORDERED = 200
"""Rows up to which leaves are ordered optimally; with more that takes too long."""


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
    profiles: Table,
    replicates: int = REPLICATES,
    seed: int = 0,
    proceed: Callable[[], None] = lambda: None,
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
