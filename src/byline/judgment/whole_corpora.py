"""Answer the problems of a corpus together: log-likelihood ratios from scores that are relative to each other.

A corpus has no cases whose truth is known, so the distribution of its own scores has to tell what a score means. Asked
pairs are by one author or by two; hardly any other pairs are by one author. The further asked pairs stand out from the
others, the better its authors are told apart. This is the *strength*, the mean of the scores of asked pairs over their
standard deviation. No truth is used. It decides two things:

1. How the norms of score_normalization.py are weighed. With strengths s and n problems, t = s * root n says how many
   standard errors the asked pairs stand out. The weights are proportional to exp(preference * t): a softmax.
2. What a score means. As in single_questions.py, log LR = slope * (score - midpoint). The logarithm of the slope is
   linear in the strength. The midpoint is linear in the median of the scores and in the middle of their range, between
   the quantiles 0.1 and 0.9.

The coefficients were fitted to corpora with known truth by benchmarks/fit_whole_corpora.py. This is unsupervised score
calibration (Brümmer and Garcia-Romero 2014) with a line instead of a mixture of distributions.

Brümmer, N., Garcia-Romero, D. (2014): Generative Modelling for Unsupervised Score Calibration. ICASSP, 1680-1684.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from byline.engines.matrix import ROUNDING, Table
from byline.errors import SettingsError
from byline.storage.files import read_checked_json

QUALITIES = ("constant", "strength", "median", "middle")
"""What slope and midpoint may depend on; see `measure_corpus`."""
RANGE = (0.1, 0.9)
"""The quantiles between which the middle lies."""
STRONGEST = 5.0
"""The greatest strength. Corpora that coefficients were fitted to have less; scores that are nearly equal have more."""
STEEPEST = 4.0
"""The greatest logarithm of a slope."""


@dataclass(frozen=True)
class CorpusCoefficients:
    """The coefficients of whole corpora; raise SettingsError if they are invalid."""

    preference: float
    """How much the norm with the greater strength is preferred; 0 weighs all alike."""
    slope: Mapping[str, float]
    """The coefficients of the logarithm of the slope, by quality."""
    midpoint: Mapping[str, float]
    """The coefficients of the midpoint, by quality."""
    corpora: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if strange := sorted({*self.slope, *self.midpoint} - set(QUALITIES)):
            raise SettingsError(f"no qualities are named {', '.join(strange)}")
        if not np.isfinite([self.preference, *self.slope.values(), *self.midpoint.values()]).all():
            raise SettingsError("all coefficients must be finite")
        if self.preference < 0:
            raise SettingsError(f"preference must be 0 or more, got {self.preference}")


@cache
def builtin_corpus_coefficients() -> CorpusCoefficients:
    """Return the coefficients that come with the package."""
    return read_corpus_coefficients(Path(str(files("byline.judgment") / "corpus_coefficients.json")))


def read_corpus_coefficients(path: Path) -> CorpusCoefficients:
    """Read coefficients; raise SettingsError if the file does not hold any."""
    values = read_checked_json(path)
    try:
        slope, midpoint = ({str(k): float(v) for k, v in values[name].items()} for name in ("slope", "midpoint"))
        return CorpusCoefficients(float(values["preference"]), slope, midpoint, tuple(map(str, values["corpora"])))
    except (KeyError, TypeError, ValueError, AttributeError, SettingsError) as error:
        raise SettingsError(f"is not a file of coefficients ({error})", where=path) from None


def corpus_coefficient_values(coefficients: CorpusCoefficients) -> dict[str, Any]:
    """Return coefficients as JSON values."""
    return asdict(coefficients)


@dataclass(frozen=True)
class CorpusScale:
    """What the scores of a corpus mean: log LR = slope * (score - midpoint)."""

    slope: float = 1.0
    midpoint: float = 0.0
    strength: float = 1.0

    def apply(self, scores: Table) -> Table:
        """Return natural log-likelihood ratios."""
        return self.slope * (scores - self.midpoint)


def measure_strength(scores: Table) -> float:
    """Return how far asked pairs stand out: their mean over their standard deviation; 0 without any.

    It is limited to `STRONGEST` on either side.
    """
    there = scores[~np.isnan(scores)]
    spread = float(there.std()) if len(there) > 1 else 0.0
    found = float(there.mean()) / spread if spread > ROUNDING else 0.0
    return min(max(found, -STRONGEST), STRONGEST)


def weigh_norms(scores: Table, coefficients: CorpusCoefficients | None = None) -> Table:
    """Return (norms,): weights that sum to 1, from (norms, problems) scores."""
    chosen = coefficients or builtin_corpus_coefficients()
    counts = (~np.isnan(scores)).sum(axis=1)
    standing = np.array([measure_strength(row) for row in scores]) * np.sqrt(counts)
    weights: Table = np.exp(chosen.preference * (standing - standing.max()))
    shares: Table = weights / weights.sum()
    return shares


def measure_corpus(scores: Table) -> dict[str, float]:
    """Return what is known of a corpus from its scores; NaN counts for nothing.

    constant    1
    strength    the mean over the standard deviation
    median      the median
    middle      the mean of the quantiles 0.1 and 0.9; it depends less than the median on how many answers are yes
    """
    there = scores[~np.isnan(scores)]
    if not len(there):
        return dict.fromkeys(QUALITIES, 0.0) | {"constant": 1.0}
    low, high = np.quantile(there, RANGE)
    return {
        "constant": 1.0,
        "strength": measure_strength(there),
        "median": float(np.median(there)),
        "middle": float(low + high) / 2,
    }


def rate_corpus(scores: Table, coefficients: CorpusCoefficients | None = None) -> CorpusScale:
    """Return what the scores of a corpus mean."""
    chosen = coefficients or builtin_corpus_coefficients()
    qualities = measure_corpus(scores)
    logarithm, midpoint = (
        sum(value * qualities[name] for name, value in terms.items()) for terms in (chosen.slope, chosen.midpoint)
    )
    return CorpusScale(float(np.exp(min(logarithm, STEEPEST))), midpoint, qualities["strength"])
