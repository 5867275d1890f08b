"""Texts as points on a plane: principal components, and classical scaling of distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from byline.engines.matrix import ROUNDING, Table


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
