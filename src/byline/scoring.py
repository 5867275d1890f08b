"""The matrix documents x heads, the only thing that interpretations look at; relative entropies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from byline.questions import Questions

Table = NDArray[np.float64]

ROUNDING = 1e-9
"""Bits per character: smaller differences are none."""


@dataclass(frozen=True)
class Matrix:
    """How badly each head predicts each document, in `unit`: lower is better."""

    values: Table  # (documents, heads)
    seen: NDArray[np.bool_]  # (documents, heads): the head was trained on the document; not to be compared
    unit: str = "bits per character"

    @property
    def comparable(self) -> Table:
        """The values, NaN where a head was trained on the document."""
        return np.where(self.seen, np.nan, self.values)


def gather(questions: Questions, bits: Table, lengths: NDArray[np.int64]) -> Matrix:
    """The matrix from (texts, heads) total bits and each text's counted characters; control's column is left out."""
    heads = len(questions.heads)
    rows = [bits[list(texts), :heads].sum(axis=0) / lengths[list(texts)].sum() for texts in questions.documents]
    return Matrix(np.array(rows).reshape(len(questions.documents), heads), questions.seen)


def relative_entropies(matrix: Matrix) -> Table:
    """Section 2.6: each document's mean subtracted, then each head's values scaled to a similar range.

    Heads trained on a document neither count in its mean nor get a value (NaN).
    """
    values = matrix.comparable
    counts = (~matrix.seen).sum(axis=1, keepdims=True)
    means = np.nansum(values, axis=1, keepdims=True) / np.maximum(counts, 1)
    centred = values - means
    centred[np.abs(centred) < ROUNDING] = 0  # heads that agree must not be told apart by how a mean is rounded
    # the columns' root mean squares about their means
    columns = np.maximum((~matrix.seen).sum(axis=0, keepdims=True), 1)
    about = centred - np.nansum(centred, axis=0, keepdims=True) / columns
    spread = np.sqrt(np.nansum(about * about, axis=0, keepdims=True) / columns)
    relative: Table = centred / np.where(spread > 0, spread, 1)
    return relative
