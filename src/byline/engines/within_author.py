"""Within-class covariance normalization (Hatch, Kajarekar and Stolcke 2006): discount what varies within an author.

Texts by one author differ, because their topics and occasions do. The directions in which they differ most are found
from passages whose author is known: the principal directions of the distances between each passage and the mean of its
author. With v the variance along a direction, and w that along the first direction beyond the leading ones,

    x . y  becomes  x . y - sum over leading directions of v / (v + w) * (x along it) * (y along it)

Directions beyond the leading ones keep their weight, because few passages say little about them.

What is learned from passages hides the differences between these very passages. So texts by an author must not be
compared by what this author's passages taught. Directions are therefore learned several times, each time without some
of the authors.

Hatch, A., Kajarekar, S., Stolcke, A. (2006): Within-Class Covariance Normalization for SVM-based Speaker Recognition.
Interspeech, 1471-1474.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from byline.engines.matrix import Floats64, Ints32, Ints64

MOST_DIRECTIONS = 100
"""The most leading directions. They are at most half of all directions."""
ROUNDING = 1e-9
"""Shorter vectors, and smaller shares of the greatest variance, count as 0."""
BLOCK = 64
"""Rows that are multiplied at once: always as many, so that the last digits of a row don't depend on other rows."""


class Vectors(NamedTuple):
    """Vectors, ready to be compared."""

    values: Floats64  # (vectors, features)
    along: Floats64  # (vectors, sets, directions): along the leading directions, scaled; what a product loses
    lengths: Floats64  # (vectors, sets)

    def select(self, places: Ints32 | Ints64) -> Vectors:
        """Return some of the vectors."""
        return Vectors(self.values[places], self.along[places], self.lengths[places])

    def unit(self) -> Floats64:
        """Return (vectors, features): the values, each divided by its length by the first set of directions."""
        return self.values / np.maximum(self.lengths[:, 0], ROUNDING)[:, None]


class WithinAuthorNorm:
    """Compares vectors without the directions in which passages by one author differ most."""

    def __init__(self, distances: Floats64, authors: Ints64, left_out: Sequence[frozenset[int]]) -> None:
        """Learn a set of directions for each set of authors who are left out.

        Parameters
        ----------
        distances
            (passages, features): the distance of each passage from the mean of its author's passages.
        authors
            (passages,): the number of the author of each.
        """
        self._distances = distances
        products = distances @ distances.T
        self._weights = np.zeros((len(distances), len(left_out), MOST_DIRECTIONS))  # of passages, for scaled directions
        for number, gone in enumerate(left_out):
            kept = np.flatnonzero(~np.isin(authors, list(gone)))
            found = _lead(products[np.ix_(kept, kept)])
            self._weights[kept, number, : found.shape[1]] = found

    def measure(self, values: Floats64) -> Vectors:
        """Return vectors, (vectors, features), with what comparing them needs."""
        passages, *shape = self._weights.shape
        flat = self._weights.reshape(passages, shape[0] * shape[1])
        along = multiply(multiply(values, self._distances.T), flat).reshape(len(values), *shape)
        squares = np.einsum("vf,vf->v", values, values)[:, None] - np.einsum("vkd,vkd->vk", along, along)
        return Vectors(values, along, np.sqrt(np.maximum(squares, 0)))

    def discount(self, vector: Floats64) -> Floats64:
        """Return (features,): the vector whose plain product with another is their product by the first set."""
        weights = self._weights[:, 0]
        lost: Floats64 = self._distances.T @ (weights @ (weights.T @ (self._distances @ vector)))
        return vector - lost


def cosines(rows: Vectors, columns: Vectors, sets: Ints64) -> Floats64:
    """Return (rows, columns): cosines, 0 for vectors without length.

    Parameters
    ----------
    sets
        (columns,): the number of the set of directions that is used.
    """
    places = np.arange(len(sets))
    found = np.einsum("rf,cf->rc", rows.values, columns.values)
    found -= np.einsum("rcd,cd->rc", rows.along[:, sets], columns.along[places, sets])
    lengths = rows.lengths[:, sets] * columns.lengths[places, sets]
    return np.where(lengths > ROUNDING**2, found / np.maximum(lengths, ROUNDING**2), 0)


def multiply(rows: Floats64, table: Floats64) -> Floats64:
    """Return the matrix product, in which no row depends on the others, not even in its last digits."""
    count = -(-len(rows) // BLOCK) * BLOCK
    padded = np.zeros((count, rows.shape[1]))
    padded[: len(rows)] = rows
    blocks = [padded[start : start + BLOCK] @ table for start in range(0, count, BLOCK)]
    return np.concatenate([np.zeros((0, table.shape[1])), *blocks])[: len(rows)]


def _lead(products: Floats64) -> Floats64:
    """Return (passages, directions): the weights of passages in the leading directions, scaled by what these lose.

    `products` are those of the passages' distances.
    """
    variances, found = np.linalg.eigh(products)
    variances, found = variances[::-1], found[:, ::-1]
    count = min(MOST_DIRECTIONS, len(variances) // 2, int((variances > ROUNDING * variances[:1]).sum()))
    if not count:
        return found[:, :0]
    leading, beyond = variances[:count], max(float(variances[count]), 0.0)
    weights: Floats64 = found[:, :count] / np.sqrt(leading + beyond)  # sqrt(v / (v + w)) / sqrt(v)
    return weights
