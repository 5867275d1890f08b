"""Inputs of the network's functions, made from plain tables."""

from __future__ import annotations

import numpy as np

from byline.engines.rnn.network import Learners, Noise


def learners_of(own: np.ndarray, carry: np.ndarray, leaks: np.ndarray, span: int) -> Learners:
    """`leaks` (R, N) says which head is leaked to in each row of `span` predictions."""
    starts = np.concatenate([[0], (leaks > 0).sum(axis=1).cumsum()])
    return Learners(own, carry, np.nonzero(leaks)[1].astype(np.int32), starts.astype(np.int32), span)


def noise_of(rows: np.ndarray) -> Noise:
    """`rows` (T, H) is the noise of each step; H = 0 is none."""
    return Noise(rows.ravel(), (np.arange(len(rows)) * rows.shape[1]).astype(np.int32))
