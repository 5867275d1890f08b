"""Answer each question by itself: scores normalized by a reference population, fused by coefficients that it teaches.

Every engine's matrix gives a question four normalized scores (see cohort_norms.py), and their means over the engines
are fused by logistic regression. The reference is also a training set of the right kind: its authors' texts, cut to the
lengths of the question, make *cases* by one author and by two, which are scored like the question. The general
coefficients, fitted on many corpora, are the prior of a Gaussian, and the cases of the reference update them (maximum
a posteriori). The sum is a natural log-likelihood ratio, since same-author and different-author cases weigh the same.

Brümmer, N., du Preez, J. (2006): Application-independent Evaluation of Speaker Detection. Computer Speech and Language
20, 230-275.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from byline.engines.matrix import PARTS, Flags, Side, Table
from byline.errors import SettingsError
from byline.judgment.cohort_norms import centered_score, cross_cohort_norm, profile_correlation, s_norm
from byline.storage.files import read_checked_json

Indices = NDArray[np.int64]

NORMS = ("s_norm", "centered", "cross_cohort", "correlation")
"""The normalized scores, in the order of columns."""
CENTERED = NORMS.index("centered")
DIFFERENT_CASES = 6
"""Cases by two authors for each author of the reference."""


class CaseGroup(NamedTuple):
    """Problems that are compared with the same cuts of the reference's texts, and the cases made of these."""

    problems: Indices  # (problems,): their numbers
    norms: Table  # (cases, NORMS)
    known: Indices  # (cases,): the number of the author of the known part
    unknown: Indices  # (cases,): of the unknown part; the same number if it is a case by one author
    related: Flags  # (problems, authors): who may have written a text of the problem, and is left out

    @property
    def same(self) -> Flags:
        """Which cases are by one author."""
        flags: Flags = self.known == self.unknown
        return flags


@dataclass(frozen=True)
class ReferenceScores:
    """The normalized scores of one member, for problems and for cases of the reference."""

    norms: Table  # (problems, NORMS): NaN if the member cannot assess a problem
    groups: tuple[CaseGroup, ...]
    parts: Table | None = None  # (PARTS, problems, NORMS): without each part of the texts


def score_beside_reference(sides: Sequence[Side], problems: int) -> ReferenceScores:
    """Normalize the scores of one member: the means over the ways of asking."""
    grouped: dict[tuple[int, ...], list[Side]] = {}
    for side in sides:
        grouped.setdefault(tuple(question.problem for question in side.questions), []).append(side)
    norms = np.full((problems, len(NORMS)), np.nan)
    parts = np.full((PARTS, problems, len(NORMS)), np.nan)
    groups = []
    for asked, ways in grouped.items():
        numbers = np.array(asked, np.int64)
        found = [_score_side(side) for side in ways]
        norms[numbers] = np.mean([each.norms for each in found], axis=0)
        parts[:, numbers] = np.mean([each.parts for each in found], axis=0)
        cases = np.mean([each.cases for each in found], axis=0)
        groups.append(CaseGroup(numbers, cases, found[0].known, found[0].unknown, found[0].related))
    whole = all(side.matrix.parts is not None for side in sides)
    return ReferenceScores(norms, tuple(groups), parts if whole else None)


class _ScoredSide(NamedTuple):
    norms: Table
    parts: Table
    cases: Table
    known: Indices
    unknown: Indices
    related: Flags


def _score_side(side: Side) -> _ScoredSide:
    """Score the problems of one side and the cases of its reference."""
    first = len(side.questions)
    scores, excluded = -side.matrix.values, side.matrix.excluded
    cohort, aside = scores[first:, first:], excluded[first:, first:]  # (documents, heads) of the reference
    related = excluded[:first, first:] | excluded[first:, :first].T
    places = np.arange(first)
    rows, own = scores[first:, :first].T, scores[places, places]
    asked = _normalize(own, rows, scores[:first, first:], ~related)
    comparable = np.array([question not in side.incomparable for question in side.questions], np.bool_)
    asked[~comparable] = np.nan
    without = side.matrix.parts if side.matrix.parts is not None else np.array([side.matrix.values] * PARTS)
    parts = np.array([_normalize(-part[places, places], rows, -part[:first, first:], ~related) for part in without])
    known, unknown = _draw_cases(aside)
    heads, documents = (unknown, known) if side.way == 1 else (known, unknown)
    counted = ~aside[:, heads].T & ~aside[documents]
    cases = _normalize(cohort[documents, heads], cohort[:, heads].T, cohort[documents], counted)
    return _ScoredSide(asked, parts, cases, known, unknown, related)


def _normalize(scores: Table, rows: Table, columns: Table, counted: Flags) -> Table:
    """Return (trials, NORMS)."""
    return np.stack(
        [
            s_norm(scores, rows, columns, counted),
            centered_score(scores, rows, columns, counted),
            cross_cohort_norm(scores, rows, columns, counted),
            profile_correlation(rows, columns, counted),
        ],
        axis=1,
    )


def _draw_cases(aside: Flags) -> tuple[Indices, Indices]:
    """Return the authors of the known and of the unknown part of each case: all with themselves, then with others."""
    count = len(aside)
    authors = np.arange(count)
    known, unknown = [authors], [authors]
    for step in range(1, min(DIFFERENT_CASES, count - 1) + 1):
        others = (authors + step) % count
        different = ~(aside[others, authors] | aside[authors, others])
        known.append(authors[different])
        unknown.append(others[different])
    return np.concatenate(known), np.concatenate(unknown)


@dataclass(frozen=True)
class Coefficients:
    """The general coefficients, fitted to cases of many corpora by benchmarks/fit_single_questions.py."""

    units: Mapping[str, float]
    """By engine, the usual standard deviation of centered scores of texts by two authors."""
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    """Of the normalized scores in the fit, which are standardized by them."""
    weights: tuple[float, ...]
    """One for each normalized score, and the offset."""
    variance: float
    """Of a coefficient around the general one, from reference to reference."""
    case_weight: float
    """How much evidence the cases of each author of a reference are, in independent cases."""
    corpora: tuple[str, ...] = ()


@cache
def builtin_coefficients() -> Coefficients:
    """Return the coefficients that come with the package."""
    return read_coefficients(Path(str(files("byline.judgment") / "coefficients.json")))


def read_coefficients(path: Path) -> Coefficients:
    """Read coefficients; raise SettingsError if the file does not hold any."""
    values = read_checked_json(path)
    try:
        means, deviations, weights = (tuple(map(float, values[name])) for name in ("means", "deviations", "weights"))
        units = {str(name): float(unit) for name, unit in values["units"].items()}
        variance, case_weight = float(values["variance"]), float(values["case_weight"])
        return Coefficients(units, means, deviations, weights, variance, case_weight, tuple(values["corpora"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SettingsError(f"is not a file of coefficients ({error})", where=path) from None


def coefficient_values(coefficients: Coefficients) -> dict[str, Any]:
    """Return coefficients as JSON values."""
    return asdict(coefficients)


class FusedRatios(NamedTuple):
    """The log-likelihood ratios of problems."""

    ratios: Table  # (problems,): natural logarithms; NaN if no member can assess a problem
    errors: Table  # (problems,): standard errors, of the coefficients and over parts of the texts


def fuse_reference_scores(
    members: Sequence[tuple[str, ReferenceScores]], coefficients: Coefficients | None = None
) -> FusedRatios:
    """Fuse the normalized scores of members, given by the name of their engine.

    The coefficients are updated by the cases of each group of problems. Authors who are related to a problem are left
    out of its cases.
    """
    general = coefficients or builtin_coefficients()
    _, first = members[0]
    ratios = np.full(len(first.norms), np.nan)
    errors = np.full(len(first.norms), np.nan)
    for number in range(len(first.groups)):
        all_related: Flags = np.any([scores.groups[number].related for _, scores in members], axis=0)
        for related in np.unique(all_related, axis=0):
            asked = np.flatnonzero((all_related == related).all(axis=1))
            group, problems, cases, parts = average_engines(members, number, general.units, related)
            learned = learn_from_cases(cases, group.same, int((~related).sum()), general)
            numbers = group.problems[asked]
            ratios[numbers] = learned.ratio(problems[asked])
            errors[numbers] = learned.error(problems[asked])
            if parts is not None:
                without = np.array([learned.ratio(part[asked]) for part in parts])
                jackknife = np.sqrt((PARTS - 1) * without.var(axis=0))
                errors[numbers] = np.hypot(errors[numbers], jackknife)
    return FusedRatios(ratios.round(9), errors)


class LearnedCoefficients(NamedTuple):
    """Coefficients for one reference: the general ones after they have learned from its cases."""

    weights: Table  # (NORMS + 1,): of standardized scores, and the offset
    covariance: Table  # (NORMS + 1, NORMS + 1): of the weights (Laplace's approximation)
    general: Coefficients

    def ratio(self, norms: Table) -> Table:
        """Return (problems,): the natural log-likelihood ratios of (problems, NORMS)."""
        ratios: Table = _standardize(norms, self.general) @ self.weights
        return ratios

    def error(self, norms: Table) -> Table:
        """Return (problems,): the standard errors of the ratios, as far as they depend on the coefficients."""
        inputs = _standardize(norms, self.general)
        variances: Table = np.einsum("pi,ij,pj->p", inputs, self.covariance, inputs)
        return np.sqrt(variances)


def learn_from_cases(norms: Table, same: Flags, authors: int, general: Coefficients) -> LearnedCoefficients:
    """Update the general coefficients by the cases of a reference."""
    weights = np.array(general.weights)
    precision = np.full(len(weights), 1 / general.variance)
    if same.any() and not same.all():
        total = general.case_weight * authors
        importance = np.where(same, total / 2 / same.sum(), total / 2 / (~same).sum())
        inputs = _standardize(norms, general)
        weights = fit_logistic(inputs, same, importance, weights, precision)
        chances = expit(inputs @ weights)
        hessian = (inputs.T * (importance * chances * (1 - chances))) @ inputs + np.diag(precision)
    else:
        hessian = np.diag(precision)
    return LearnedCoefficients(weights, np.linalg.inv(hessian), general)


def fit_logistic(inputs: Table, same: Flags, importance: Table, prior: Table, precision: Table) -> Table:
    """Fit a logistic regression with a Gaussian prior on the coefficients; return its mode."""
    signs = np.where(same, 1.0, -1.0)

    def cost(weights: Table) -> tuple[float, Table]:
        margins = signs * (inputs @ weights)
        apart = weights - prior
        gradient = inputs.T @ (-importance * signs * expit(-margins)) + precision * apart
        return float(importance @ np.logaddexp(0, -margins) + (precision * apart**2).sum() / 2), gradient

    found: Table = minimize(cost, prior, jac=True, method="L-BFGS-B", options={"ftol": 1e-12, "gtol": 1e-8}).x
    return found


def _standardize(norms: Table, general: Coefficients) -> Table:
    """Return (problems, NORMS + 1): standardized scores and a column of ones."""
    found = (norms - np.array(general.means)) / np.array(general.deviations)
    return np.concatenate([found, np.ones((len(found), 1))], axis=1)


class EngineMeans(NamedTuple):
    """Normalized scores of a group: the means over engines."""

    group: CaseGroup
    """With the cases that count."""
    problems: Table  # (problems, NORMS)
    cases: Table  # (cases, NORMS)
    parts: Table | None  # (PARTS, problems, NORMS); None unless all members scored parts


def average_engines(
    members: Sequence[tuple[str, ReferenceScores]],
    number: int,
    units: Mapping[str, float],
    left_out: Flags | None = None,
) -> EngineMeans:
    """Return the means over engines for one group of problems, without the cases of authors who are left out.

    Engines have different scales. So centered scores are taken relative to those of different authors of the
    reference, in the engine's unit, or in their standard deviation for an engine that has no unit.
    """
    names = [name for name, _ in members]
    groups = _align_groups([scores.groups[number] for _, scores in members], left_out)
    problems, cases, parts = [], [], []
    for (name, scores), group in zip(members, groups, strict=True):
        different = group.norms[~group.same, CENTERED]
        shift, scale = np.zeros(len(NORMS)), np.ones(len(NORMS))
        if len(different):
            shift[CENTERED] = different.mean()
            scale[CENTERED] = units.get(name) or different.std() or 1.0
        problems.append((scores.norms[group.problems] - shift) / scale)
        cases.append((group.norms - shift) / scale)
        if scores.parts is not None:
            parts.append((scores.parts[:, group.problems] - shift) / scale)
    whole = len(parts) == len(members)
    return EngineMeans(
        groups[0],
        _mean_by_engine(names, problems),
        _mean_by_engine(names, cases),
        _mean_by_engine(names, parts) if whole else None,
    )


def _align_groups(groups: Sequence[CaseGroup], left_out: Flags | None) -> list[CaseGroup]:
    """Keep the cases that all members have, without authors who are left out.

    To members that mask different words, texts of two authors may be the same text.
    """
    pairs = [list(zip(group.known.tolist(), group.unknown.tolist(), strict=True)) for group in groups]
    common = set(pairs[0]).intersection(*pairs[1:])
    found = []
    for group, own in zip(groups, pairs, strict=True):
        kept = np.array([pair in common for pair in own], np.bool_)
        if left_out is not None:
            kept &= ~(left_out[group.known] | left_out[group.unknown])
        found.append(group._replace(norms=group.norms[kept], known=group.known[kept], unknown=group.unknown[kept]))
    return found


def _mean_by_engine(names: Sequence[str], tables: Iterable[Table]) -> Table:
    """Return the mean over engines, each the mean of its members; NaN where no member has a score."""
    by_engine: dict[str, list[Table]] = {}
    for name, table in zip(names, tables, strict=True):
        by_engine.setdefault(name, []).append(table)
    return _mean_there([_mean_there(found) for found in by_engine.values()])


def _mean_there(tables: Sequence[Table]) -> Table:
    """Return the mean of the tables where they have a value."""
    stacked = np.array(tables)
    there = ~np.isnan(stacked)
    sums, counts = np.where(there, stacked, 0).sum(axis=0), there.sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
