"""Score normalization against a cohort, by its published names.

A *trial* compares a head with a document; its score is higher the more alike they are. The cohort has a document and a
head for each of its members, so that a trial has a row, the scores of its head with the cohort's documents, and a
column, the scores of the cohort's heads with its document. All functions take the scores of several trials, (trials,),
and rows and columns, (trials, cohort), and return (trials,). `counted`, (trials, cohort), says which members of the
cohort count for a trial: those who wrote neither text.

Auckenthaler, R., Carey, M., Lloyd-Thomas, H. (2000): Score Normalization for Text-Independent Speaker Verification
Systems. Digital Signal Processing 10, 42-54 (z-norm, t-norm). Kenny, P. (2010): Bayesian Speaker Verification with
Heavy-Tailed Priors. Odyssey (s-norm). Matějka, P. and others (2017): Analysis of Score Normalization in Multilingual
Speaker Recognition. Interspeech, 1567-1571 (adaptive s-norm, and cohorts selected by the other side).
"""

from __future__ import annotations

import numpy as np

from byline.engines.matrix import ROUNDING, Flags, Table

NEAREST = 30
"""Members of an adaptive cohort: of a small cohort, half of it."""
MOST_DEVIATIONS = 6.0
"""Normalized scores are limited to so many standard deviations: cohorts are too small to say more."""


def one_sided_norm(scores: Table, cohort: Table, counted: Flags) -> Table:
    """Return how many standard deviations each score lies above the mean of its cohort.

    With rows this is z-norm, with columns t-norm. Each trial is normalized by itself: others do not matter.
    """
    counts = np.maximum(counted.sum(axis=1), 1)
    means = np.where(counted, cohort, 0).sum(axis=1) / counts
    spreads = np.sqrt((_center(cohort, counted) ** 2).sum(axis=1) / counts)
    found: Table = np.clip((scores - means) / np.maximum(spreads, ROUNDING), -MOST_DEVIATIONS, MOST_DEVIATIONS)
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


def profile_correlation(rows: Table, columns: Table, counted: Flags) -> Table:
    """Return the correlation of row and column: whether head and document relate to the cohort alike."""
    one, other = _center(rows, counted), _center(columns, counted)
    sizes = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    products: Table = (one * other).sum(axis=1)
    return np.where(sizes > 0, products / np.where(sizes > 0, sizes, 1), 0)


def _center(cohort: Table, counted: Flags) -> Table:
    """Subtract the mean of each trial; 0 for members that do not count, and for rounding errors of equal scores."""
    means = np.where(counted, cohort, 0).sum(axis=1, keepdims=True) / np.maximum(counted.sum(axis=1, keepdims=True), 1)
    return np.where(counted & (np.abs(cohort - means) >= ROUNDING), cohort - means, 0)


def centered_score(scores: Table, rows: Table, columns: Table, counted: Flags) -> Table:
    """Return the scores less the means of row and column, in the unit of the scores."""
    counts = np.maximum(counted.sum(axis=1), 1)
    sums = np.where(counted, rows, 0).sum(axis=1) + np.where(counted, columns, 0).sum(axis=1)
    found: Table = scores - sums / counts
    return found


def nearest_members(cohort: Table, counted: Flags) -> Flags:
    """Return (trials, cohort): the members that count with the highest scores, at most `NEAREST` of them."""
    kept = np.minimum(NEAREST, np.maximum(counted.sum(axis=1) // 2, 5))
    order = np.argsort(np.where(counted, -cohort, np.inf), axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(cohort.shape[1])[None, :], axis=1)
    nearest: Flags = (ranks < kept[:, None]) & counted
    return nearest
