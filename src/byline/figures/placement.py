"""Profiles -> places on a plane: principal components, and classical scaling of distances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from byline.scoring import ROUNDING, Table


@dataclass(frozen=True)
class Placement:
    """Where each row lies, and how much of the whole an axis shows."""

    points: Table  # (rows, 2)
    shares: tuple[float, float]
    """Of the variance, from 0 to 1; of distances, of what a plane could show of them at all."""


def principal_components(profiles: Table) -> Placement:
    """The two directions in which profiles (rows, columns) differ most."""
    centred = profiles - profiles.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    return _place(left * sizes, sizes**2)


def classical_scaling(distances: Table) -> Placement:
    """Places whose distances are as near as they get to those given (rows, rows): Torgerson's multidimensional scaling.

    Distances that no space has give directions of negative size; these show nothing and count in no share.
    """
    squares = distances**2
    inner = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1, keepdims=True) + squares.mean())
    sizes, directions = np.linalg.eigh(inner)
    sizes, directions = np.maximum(sizes[::-1], 0), directions[:, ::-1]
    return _place(directions * np.sqrt(sizes), sizes)


def cosine_distances(profiles: Table, weights: Table | None = None) -> Table:
    """(rows, rows): 1 less the cosine of the angle between two rows; 1 where a row is all 0. Columns may have weights.

    0 in the diagonal, and the same both ways to the last digit.
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
    """The first two directions, each turned so that its farthest point lies on the positive side."""
    plane = np.zeros((len(points), 2))
    plane[:, : min(2, points.shape[1])] = points[:, :2]
    far = plane[np.abs(plane.round(9)).argmax(axis=0), [0, 1]]
    plane = plane * np.where(far < 0, -1, 1)
    total = float(sizes.sum())
    shares = [float(size / total) if total > ROUNDING else 0.0 for size in (*sizes[:2], 0.0, 0.0)[:2]]
    return Placement(plane, (shares[0], shares[1]))
