"""Answer each question by itself: a log-likelihood ratio from scores that a reference population normalizes.

The score of a question is the mean over the engines of its centered norm (see reference_scores.py). If scores of texts
by one author and by two were normal with the same deviation s and the means m + d/2 and m - d/2, the natural
log-likelihood ratio of a score x would be (d / s^2) (x - m). So

    log LR = slope * (x - midpoint)

Slope and midpoint depend on what is known of the question: how well the reference's own cases are separated at these
lengths, whether those cases are halves of texts, the lengths themselves, and whether the reference fits the texts. The
logarithm of the slope and the midpoint are linear in these qualities. Their coefficients were fitted to cases of many
corpora, so that the ratios are calibrated (Brümmer and du Preez 2006). Because the separation is one of the qualities,
the ratios adapt to each reference.

Brümmer, N., du Preez, J. (2006): Application-independent Evaluation of Speaker Detection. Computer Speech and Language
20, 230-275.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from byline.engines.matrix import PARTS, ROUNDING, Flags, Table
from byline.errors import SettingsError
from byline.judgment.metrics import cllr
from byline.judgment.reference_scores import (
    CaseGroup,
    EngineMeans,
    Indices,
    ReferenceScores,
    average_reference_scores,
)
from byline.storage.files import read_checked_json

QUALITIES = ("constant", "length", "separation", "halves", "excess", "own")
"""What slope and midpoint may depend on; see `measure_qualities`."""
TYPICAL_LENGTH, TYPICAL_SEPARATION = 4_000, 2.0
"""Where the qualities `length` and `separation` are 0. A fit with other values gives the same answers."""
LEAST_SEPARATION = 0.1
"""A smaller separation counts as this, since its logarithm is taken."""
STEEPEST = 4.0
"""The greatest logarithm of a slope."""


class Bounds(NamedTuple):
    """The greatest ratios that held-out cases support, in bans, at some slopes.

    They are interpolated in between, and constant below the lowest and above the highest slope.
    """

    slopes: tuple[float, ...]
    """Natural logarithms, in order."""
    same: tuple[float, ...]
    different: tuple[float, ...]

    def at(self, slopes: Table) -> tuple[Table, Table]:
        """Return (problems,), (problems,): the bounds for the same author and for different authors.

        Slopes are given as natural logarithms.
        """
        same, different = (np.interp(slopes, self.slopes, values) for values in (self.same, self.different))
        return same, different


@dataclass(frozen=True)
class Coefficients:
    """The coefficients of slope and midpoint, and the bounds of ratios; raise SettingsError if they are invalid.

    benchmarks/fit_single_questions.py fits them to cases of many corpora.
    """

    slope: Mapping[str, float]
    """The coefficients of the logarithm of the slope, by quality."""
    midpoint: Mapping[str, float]
    """The coefficients of the midpoint, by quality."""
    covariance: tuple[tuple[float, ...], ...]
    """Of the coefficients of slope, then midpoint: how far they vary from one kind of corpora to another."""
    bounds: Bounds
    corpora: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if strange := sorted({*self.slope, *self.midpoint} - set(QUALITIES)):
            raise SettingsError(f"no qualities are named {', '.join(strange)}")
        count = len(self.slope) + len(self.midpoint)
        if [len(row) for row in self.covariance] != [count] * count:
            raise SettingsError(f"covariance must be a table of {count} rows and columns")
        if not len(self.bounds.slopes) == len(self.bounds.same) == len(self.bounds.different) > 0:
            raise SettingsError("bounds must have three lists of one length")
        if list(self.bounds.slopes) != sorted(self.bounds.slopes):
            raise SettingsError("the slopes of bounds must be in order")


@cache
def builtin_coefficients() -> Coefficients:
    """Return the coefficients that come with the package."""
    return read_coefficients(Path(str(files("byline.judgment") / "coefficients.json")))


def read_coefficients(path: Path) -> Coefficients:
    """Read coefficients; raise SettingsError if the file does not hold any."""
    values = read_checked_json(path)
    try:
        slope, midpoint = ({str(k): float(v) for k, v in values[name].items()} for name in ("slope", "midpoint"))
        covariance = tuple(tuple(map(float, row)) for row in values["covariance"])
        bounds = Bounds(*(tuple(map(float, values["bounds"][name])) for name in Bounds._fields))
        return Coefficients(slope, midpoint, covariance, bounds, tuple(values["corpora"]))
    except (KeyError, TypeError, ValueError, AttributeError, SettingsError) as error:
        raise SettingsError(f"is not a file of coefficients ({error})", where=path) from None


def coefficient_values(coefficients: Coefficients) -> dict[str, Any]:
    """Return coefficients as JSON values."""
    return {**asdict(coefficients), "bounds": coefficients.bounds._asdict()}


@dataclass(frozen=True)
class LearnedFromCases:
    """What the cases of a reference say about texts of certain lengths."""

    lengths: tuple[int, int]
    """Characters of the known and the unknown texts of the cases."""
    authors: int
    same: int
    """Cases by one author."""
    different: int
    halves: int
    """Cases by one author whose texts are halves of one text."""
    separation: float
    """Difference of the mean scores of cases by one author and by two, in standard deviations."""
    cllr: float | None
    """Of the cases, answered as the questions are; None if there are cases of one kind only."""


class FusedRatios(NamedTuple):
    """The log-likelihood ratios of problems."""

    ratios: Table  # (problems,): natural logarithms; NaN if no member can assess a problem
    errors: Table  # (problems,): standard errors: of the coefficients, and over parts of the texts
    bounds: Table  # (problems, 2): the greatest ratios for the same author and for different authors, in bans
    slopes: Table  # (problems,): what a deviation of the score adds to the ratio
    learned: tuple[LearnedFromCases | None, ...]
    """For each problem."""


def fuse_reference_scores(
    members: Sequence[tuple[str, ReferenceScores]], coefficients: Coefficients | None = None
) -> FusedRatios:
    """Return the ratio of each problem, from the normalized scores of members.

    Cases of authors who are related to a problem do not count for it.

    Parameters
    ----------
    members
        The scores of each member, with the name of its engine. Every engine has the same weight.
    coefficients
        Those that come with the package by default.
    """
    chosen = coefficients or builtin_coefficients()
    _, first = members[0]
    count = len(first.scores)
    ratios, errors, slopes = (np.full(count, np.nan) for _ in range(3))
    bounds = np.full((count, 2), np.nan)
    learned: list[LearnedFromCases | None] = [None] * count
    for number in range(len(first.groups)):
        all_related: Flags = np.any([scores.groups[number].related for _, scores in members], axis=0)
        for related in np.unique(all_related, axis=0):
            asked = np.flatnonzero((all_related == related).all(axis=1))
            means = average_reference_scores(members, number, related)
            found = rate_scores(means, asked, chosen)
            numbers = means.group.problems[asked]
            ratios[numbers], errors[numbers] = found.ratios, found.errors
            bounds[numbers], slopes[numbers] = found.bounds, found.slopes
            for place in numbers.tolist():
                learned[place] = found.learned
    return FusedRatios(ratios.round(9), errors, bounds, slopes, tuple(learned))


class RatedScores(NamedTuple):
    """The ratios of some problems of a group, as in `FusedRatios`."""

    ratios: Table
    errors: Table
    bounds: Table
    slopes: Table
    learned: LearnedFromCases


def rate_scores(means: EngineMeans, asked: Indices, coefficients: Coefficients) -> RatedScores:
    """Return the ratios of the problems at the given places of the group, and what its cases say."""
    group = means.group
    qualities = measure_qualities(group, means.own[asked])
    scores = means.scores[asked]
    slopes, midpoints = _predict(qualities, coefficients)
    ratios = slopes * (scores - midpoints)
    errors = _coefficient_errors(qualities, slopes, scores - midpoints, coefficients)
    if means.parts is not None:
        without = slopes * (means.parts[:, asked] - midpoints)
        errors = np.hypot(errors, np.sqrt((PARTS - 1) * without.var(axis=0)))
    bounds = np.stack(coefficients.bounds.at(np.log(slopes)), axis=1)
    return RatedScores(ratios, errors, bounds, slopes, _learn(group, coefficients))


def measure_qualities(group: CaseGroup, own: Table) -> dict[str, Table]:
    """Return what is known of some questions besides their scores, (questions,) each.

    constant      1
    length        the logarithm of the length of the shorter side, relative to a typical one
    separation    the same of the separation of the cases (see `LearnedFromCases`)
    halves        the share of the cases by one author in which both sides are halves of one text
    own           the mean score of own pairs, which are by one author; of cases by one author if there are none
    excess        how far `own` is above the mean score of cases by one author, or 0 if it is below: the higher, the
                  less alike in kind are texts and reference

    Parameters
    ----------
    own
        (questions,): the mean scores of their own pairs; NaN without own pairs.
    """
    count = len(own)
    separation, level = _separate(group)
    found = np.where(np.isnan(own), level, own)
    return {
        "constant": np.ones(count),
        "length": np.full(count, np.log(min(group.lengths) / TYPICAL_LENGTH)),
        "separation": np.full(count, np.log(max(separation, LEAST_SEPARATION) / TYPICAL_SEPARATION)),
        "halves": np.full(count, group.halves[group.same].mean() if group.same.any() else 0.0),
        "excess": np.maximum(found - level, 0),
        "own": found,
    }


def _separate(group: CaseGroup) -> tuple[float, float]:
    """Return the separation of the cases, and the mean score of those by one author; 0 and 0 without both kinds."""
    same, different = group.scores[group.same], group.scores[~group.same]
    if not len(same) or not len(different):
        return 0.0, 0.0
    spread = np.sqrt((same.var() + different.var()) / 2)
    return float((same.mean() - different.mean()) / max(spread, ROUNDING)), float(same.mean())


def _predict(qualities: Mapping[str, Table], coefficients: Coefficients) -> tuple[Table, Table]:
    """Return slopes and midpoints."""
    logarithms, midpoints = np.zeros((2, len(qualities["constant"])))
    for name, value in coefficients.slope.items():
        logarithms += value * qualities[name]
    for name, value in coefficients.midpoint.items():
        midpoints += value * qualities[name]
    return np.exp(np.minimum(logarithms, STEEPEST)), midpoints


def _coefficient_errors(
    qualities: Mapping[str, Table], slopes: Table, distances: Table, coefficients: Coefficients
) -> Table:
    """Return the standard errors of the ratios that follow from those of the coefficients, by the delta method.

    `distances` are those of scores from midpoints.
    """
    gradient = np.stack(
        [
            *(slopes * distances * qualities[name] for name in coefficients.slope),
            *(-slopes * qualities[name] for name in coefficients.midpoint),
        ],
        axis=1,
    )
    variances = np.einsum("pi,ij,pj->p", gradient, np.array(coefficients.covariance), gradient)
    errors: Table = np.sqrt(np.maximum(variances, 0))
    return errors


def rate_cases(group: CaseGroup, coefficients: Coefficients) -> Table:
    """Return (cases,): the natural log-likelihood ratios of the reference's cases, answered as questions are.

    Cases have no own pairs: the reference is of their kind.
    """
    qualities = measure_qualities(group, np.full(len(group.scores), np.nan))
    slopes, midpoints = _predict(qualities, coefficients)
    ratios: Table = slopes * (group.scores - midpoints)
    return ratios


def _learn(group: CaseGroup, coefficients: Coefficients) -> LearnedFromCases:
    same = group.same
    both = bool(same.any() and not same.all())
    return LearnedFromCases(
        group.lengths,
        group.authors,
        int(same.sum()),
        int((~same).sum()),
        int(group.halves[same].sum()),
        _separate(group)[0],
        cllr(same.tolist(), rate_cases(group, coefficients)) if both else None,
    )
