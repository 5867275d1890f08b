"""What a likelihood ratio says: a probability at a prior, words for people, and when it is better to say nothing.

A likelihood ratio is how many times more probable the finding is if the one proposition is true than if the other is;
in bans, its decimal logarithm, 1 is ten times, -1 a tenth. It says nothing yet of how probable a proposition is: that
needs a prior, what was thought before, and the prior is not the program's to know.
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
"""The prior of a fair question: as often yes as no."""
NO_SUPPORT = "no support either way"
SCALE = (
    (2, "weak"),
    (10, "moderate"),
    (100, "moderately strong"),
    (1_000, "strong"),
    (10_000, "very strong"),
    (1_000_000, "extremely strong"),
)
"""The verbal scale of ENFSI's guideline for evaluative reporting (2015): each word, and the ratio it begins with."""


def parse_prior(value: str | float) -> float:
    """The probability of the same author before anything was measured: more than 0, less than 1."""
    try:
        prior = float(value)
    except ValueError:
        prior = float("nan")
    if not 0 < prior < 1:
        raise SettingsError(f"prior must be more than 0 and less than 1, got {value}; 0.5 takes neither side")
    return prior


def probability(bans: Sequence[float] | Values, prior: float = EVEN) -> Values:
    """The probability of the same author, from 0 to 1, that likelihood ratios make of a prior."""
    chances: Values = expit(np.asarray(bans, np.float64) * np.log(10) + logit(parse_prior(prior)))
    return chances


def verbal(bans: float) -> str:
    """The ratio in words: how strongly the finding supports which proposition."""
    word = support(bans)
    return f"{word} support for {'the same' if bans > 0 else 'another'} author" if word else NO_SUPPORT


def support(bans: float) -> str | None:
    """The scale's word for how strong the support is, for whichever proposition; None for a ratio near 1."""
    return next((word for ratio, word in reversed(SCALE) if abs(bans) >= np.log10(ratio)), None)


def times(bans: float) -> str:
    """How many times 1 a ratio is, or a part of 1, to be read."""
    ratio = 10 ** abs(bans)
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def decide(probabilities: Sequence[float] | Values) -> float:
    """The radius around 0.5 within which to say nothing, so that the whole set's expected C@1 is highest.

    From 0, nothing left out, to 0.5; undecided is what has `abs(p - 0.5) < radius`, and 0.5 itself always is. An
    answer is right with probability max(p, 1 - p), if the probabilities are calibrated.
    """
    chances = np.asarray(probabilities, np.float64)
    return best_radius(chances, np.maximum(chances, 1 - chances))


def best_radius(probabilities: Values, right: Values) -> float:
    """The radius with the highest C@1, if answering each problem is `right` (from 0 to 1); of equal ones the least."""
    distances = np.abs(probabilities - 0.5)
    order = np.argsort(distances, kind="stable")
    ordered, count = distances[order], len(distances)
    cuts = np.flatnonzero(np.diff(ordered, prepend=0))  # how many are undecided if it begins at a new distance
    if not len(cuts):
        return 0.0
    correct = right[order][::-1].cumsum()[::-1][cuts]
    values = correct * (1 + cuts / count)
    best = int(np.argmax(values >= values.max() - 1e-12 * count))  # sums of the same numbers may differ in the last bit
    return float(ordered[cuts[best]]) if best else 0.0
