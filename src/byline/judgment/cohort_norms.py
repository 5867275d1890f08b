"""Score normalization against a cohort, by its published names.

A *trial* compares a head with a document; its score is higher the more alike they are. The cohort has a document and a
head for each of its members, so that a trial has a row, the scores of its head with the cohort's documents, and a
column, the scores of the cohort's heads with its document. All functions take the scores of several trials, (trials,),
and rows and columns, (trials, cohort), and return (trials,). `counted`, (trials, cohort), says which members of the
cohort count for a trial: those who wrote neither text.

Auckenthaler, R., Carey, M., Lloyd-Thomas, H. (2000): Score Normalization for Text-Independent Speaker Verification
Systems. Digital Signal Processing 10, 42-54 (z-norm, t-norm). Kenny, P. (2010): Bayesian Speaker Verification with
Heavy-Tailed Priors. Odyssey (s-norm). Matějka, P. and others (2017): Analysis of Score Normalization in Multilingual
Speaker Recognition. Interspeech, 1567-1571 (adaptive s-norm, and cohorts selected by the other side). The
double-centered, the local and the centered norm are this program's own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from byline.engines.matrix import ROUNDING, Flags, Ints64, Table

NEAREST, FEWEST_NEAREST = 30, 5
"""The most and the fewest members of an adaptive cohort. In between, it is half of the cohort."""
MOST_DEVIATIONS = 8.0
"""Normalized scores are limited to this many standard deviations: cohorts are too small to say more."""


class CohortScores(NamedTuple):
    """The scores of the cohort's heads with its documents."""

    scores: Table  # (documents, heads)
    counted: Flags  # (documents, heads): whether a pair is by different people


def one_sided_norm(scores: Table, cohort: Table, counted: Flags) -> Table:
    """Return how many standard deviations each score lies above the mean of its cohort.

    With rows this is z-norm, with columns t-norm. Each trial is normalized by itself: others do not matter.
    """
    deviations = (scores - _mean(cohort, counted)) / np.maximum(_deviation(cohort, counted), ROUNDING)
    found: Table = np.clip(deviations, -MOST_DEVIATIONS, MOST_DEVIATIONS)
    return found


def s_norm(scores: Table, rows: Table, columns: Table, counted: Flags) -> Table:
    """Return the mean of z-norm and t-norm."""
    return (one_sided_norm(scores, rows, counted) + one_sided_norm(scores, columns, counted)) / 2


def adaptive_s_norm(scores: Table, rows: Table, columns: Table, counted: Flags) -> Table:
    """Return the s-norm with the members of the cohort that are nearest to the head, and to the document."""
    nearest = nearest_members(rows, counted), nearest_members(columns, counted)
    return (one_sided_norm(scores, rows, nearest[0]) + one_sided_norm(scores, columns, nearest[1])) / 2


def cross_cohort_norm(scores: Table, rows: Table, columns: Table, counted: Flags) -> Table:
    """Return the s-norm in which the head is compared with those who are nearest to the document, and vice versa.

    If head and document are of different kinds, this asks whether the head is nearer to the document than to other
    texts of the document's kind.
    """
    nearest = nearest_members(rows, counted), nearest_members(columns, counted)
    return (one_sided_norm(scores, rows, nearest[1]) + one_sided_norm(scores, columns, nearest[0])) / 2


def double_centered_norm(scores: Table, rows: Table, columns: Table, cohort: CohortScores, counted: Flags) -> Table:
    """Return each score less the means of its row and column, plus the mean of the cohort, in standard deviations.

    The effects of head and document are removed as in an analysis of variance; what is left is their interaction.
    The standard deviation is the geometric mean of those of row and column.
    """
    return _interaction(scores, rows, columns, cohort, counted, counted)


def local_norm(scores: Table, rows: Table, columns: Table, cohort: CohortScores, counted: Flags) -> Table:
    """Return the double-centered norm with cross-cohorts.

    The row's cohort are the members nearest to the document, the column's those nearest to the head. If head and
    document are of different kinds, every mean is then of pairs of these two kinds, so that kinds do not matter.
    """
    nearest = nearest_members(rows, counted), nearest_members(columns, counted)
    return _interaction(scores, rows, columns, cohort, nearest[1], nearest[0])


def centered_norm(scores: Table, rows: Table, columns: Table, cohort: CohortScores, counted: Flags) -> Table:
    """Return the mean of the double-centered norm and the local norm.

    The first uses more members, so it varies less by chance; the second does not mistake a kind of text for an author.
    """
    whole = double_centered_norm(scores, rows, columns, cohort, counted)
    return (whole + local_norm(scores, rows, columns, cohort, counted)) / 2


def _interaction(
    scores: Table, rows: Table, columns: Table, cohort: CohortScores, documents: Flags, heads: Flags
) -> Table:
    """Return the double-centered norm with some documents of the cohort in rows, and some of its heads in columns."""
    there = cohort.counted.astype(np.float64)
    sums, counts = (
        (np.einsum("td,dh->th", documents.astype(np.float64), table) * heads).sum(axis=1)
        for table in (np.where(cohort.counted, cohort.scores, 0), there)
    )
    centered = scores - _mean(rows, documents) - _mean(columns, heads) + sums / np.maximum(counts, 1)
    spreads = np.sqrt(_deviation(rows, documents) * _deviation(columns, heads))
    found: Table = np.clip(centered / np.maximum(spreads, ROUNDING), -MOST_DEVIATIONS, MOST_DEVIATIONS)
    return found


def profile_correlation(rows: Table, columns: Table, counted: Flags) -> Table:
    """Return the correlation of row and column: whether head and document relate to the cohort alike."""
    one, other = _center(rows, counted), _center(columns, counted)
    sizes = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    products: Table = (one * other).sum(axis=1)
    return np.where(sizes > 0, products / np.where(sizes > 0, sizes, 1), 0)


def _center(cohort: Table, counted: Flags) -> Table:
    """Subtract the mean of each trial; 0 for members that do not count, and for rounding errors of equal scores."""
    centered = cohort - _mean(cohort, counted)[:, None]
    return np.where(counted & (np.abs(centered) >= ROUNDING), centered, 0)


def _deviation(cohort: Table, counted: Flags) -> Table:
    """Return (trials,): the standard deviation of the members that count."""
    found: Table = np.sqrt(_mean(_center(cohort, counted) ** 2, counted))
    return found


def _mean(cohort: Table, counted: Flags) -> Table:
    """Return (trials,): the mean of the members that count; 0 if none does."""
    means: Table = np.where(counted, cohort, 0).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)
    return means


def nearest_members(cohort: Table, counted: Flags) -> Flags:
    """Return (trials, cohort): of the members that count, those with the highest scores."""
    return nearest_in_order(order_members(cohort), counted)


def order_members(cohort: Table) -> Ints64:
    """Return (trials, cohort): the members from the highest score to the lowest, equal ones in their order."""
    return np.argsort(-cohort, axis=1, kind="stable")


def nearest_in_order(order: Ints64, counted: Flags) -> Flags:
    """Return (trials, cohort): of the members that count, the first in an order."""
    kept = np.minimum(NEAREST, np.maximum(counted.sum(axis=1) // 2, FEWEST_NEAREST))
    there = np.take_along_axis(counted, order, axis=1)
    nearest: Flags = np.zeros_like(counted)
    np.put_along_axis(nearest, order, there & (there.cumsum(axis=1) <= kept[:, None]), axis=1)
    return nearest
