"""Interpret likelihood ratios: as probabilities at a prior, in words, and which answers to leave undecided.

A likelihood ratio tells how many times more probable the evidence is if the one proposition is true than if the other
is. It is given in bans, its decimal logarithm: 1 is ten times, -1 a tenth. How probable a proposition is also depends
on the prior, which the program cannot know.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from byline.errors import SettingsError

Values = NDArray[np.float64]

SAME = "the author of the known texts wrote the unknown text"
DIFFERENT = "someone else wrote the unknown text"

EVEN = 0.5
"""The prior of even odds."""
NO_SUPPORT = "no support either way"
SCALE = (
    (2, "weak"),
    (10, "moderate"),
    (100, "moderately strong"),
    (1_000, "strong"),
    (10_000, "very strong"),
    (1_000_000, "extremely strong"),
)
"""The verbal scale of ENFSI's guideline for evaluative reporting (2015): the ratio with which each word begins."""


def parse_prior(value: str | float) -> float:
    """Return the prior probability of the same author; raise SettingsError unless it is between 0 and 1."""
    try:
        prior = float(value)
    except ValueError:
        prior = float("nan")
    if not 0 < prior < 1:
        raise SettingsError(
            f"must be more than 0 and less than 1, got {value}", where="prior", remedy="Give 0.5 for even odds"
        )
    return prior


def probability(bans: Sequence[float] | Values, prior: float = EVEN) -> Values:
    """Return the posterior probabilities of the same author at a prior."""
    chances: Values = expit(np.asarray(bans, np.float64) * np.log(10) + logit(parse_prior(prior)))
    return chances


def describe_ratio(bans: float) -> str:
    """Return in words how strongly the evidence supports which proposition."""
    word = support_word(bans)
    return f"{word} support for {'the same' if bans > 0 else 'another'} author" if word else NO_SUPPORT


def support_word(bans: float) -> str | None:
    """Return the scale's word for the strength of the support, on either side; None for a ratio near 1."""
    return next((word for ratio, word in reversed(SCALE) if abs(bans) >= np.log10(ratio)), None)


def format_ratio(bans: float) -> str:
    """Return the ratio, or its reciprocal if that is greater, with as many digits as one reads."""
    ratio = 10 ** abs(bans)
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def choose_radius(probabilities: Sequence[float] | Values) -> float:
    """Return the radius around 0.5 of undecided answers that maximizes the expected C@1 of the whole set.

    An answer is undecided if `abs(p - 0.5) < radius`, or if it is 0.5. If the probabilities are calibrated, an answer
    is right with probability max(p, 1 - p).
    """
    chances = np.asarray(probabilities, np.float64)
    return best_radius(chances, np.maximum(chances, 1 - chances))


def best_radius(probabilities: Values, right: Values) -> float:
    """Return the smallest radius with the highest C@1, given how probably each answer is right."""
    distances = np.abs(probabilities - 0.5)
    order = np.argsort(distances, kind="stable")
    ordered, count = distances[order], len(distances)
    cuts = np.flatnonzero(np.diff(ordered, prepend=0))  # the numbers of undecided answers at each new distance
    if not len(cuts):
        return 0.0
    correct = right[order][::-1].cumsum()[::-1][cuts]
    values = correct * (1 + cuts / count)
    best = int(np.argmax(values >= values.max() - 1e-12 * count))  # sums of the same numbers may differ in the last bit
    return float(ordered[cuts[best]]) if best else 0.0
