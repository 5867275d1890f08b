"""Scores of several corpora -> calibrated answers, each corpus with what was fitted on the others only.

Problems that were compared with each other have values by norm, which fit_whole_corpora.py turns into ratios. Others
have one value each, from which a line makes a ratio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from byline.corpora.answers import read_truth
from byline.judgment.calibration import MAX_FLOAT, Caps, apply_caps, line_bans
from byline.judgment.calibration_fitting import CalibrationLine, empirical_bounds, fit_line, weigh_corpora
from byline.judgment.fusion import MemberScores, average_norms
from byline.judgment.interpretation import calibration_scores
from byline.judgment.likelihood_ratio import Values, best_radius, choose_radius, probability
from byline.judgment.metrics import Flags, measure
from byline.judgment.whole_corpora import CorpusCoefficients
from byline.runs.plan import Plan
from byline.settings.settings import Interpretation
from fit_whole_corpora import fit_coefficients, rate

Rows = Sequence[dict[str, Any]]
Truths = Mapping[str, Sequence[bool]]
"""By corpus, in the order of the problems' ids."""
Stored = Sequence[float | None] | Sequence[Sequence[float | None]]
"""A value for each problem, or for each norm and problem; JSON has no NaN."""

UNBOUND = Caps(MAX_FLOAT, MAX_FLOAT)
BELIEVED, BELIEVED_ALONE = 0.9, 0.6
"""The share of a log-likelihood ratio by a line that is kept where it was calibrated on other corpora."""
DIGITS = 5


class Learned(NamedTuple):
    """What some corpora teach of others' scores: a calibration, in short."""

    line: CalibrationLine
    """Of ratios, if there are coefficients; of values otherwise."""
    caps: Caps
    radius: float | None
    """Of undecided answers, where problems are by themselves; where they are not, their own answers tell it."""
    coefficients: CorpusCoefficients | None = None
    """Of values by norm."""


def calibrate(rows: Rows, truths: Truths) -> None:
    """Give each row with `values` its answers and measures, by what the other corpora teach."""
    for corpus in sorted({row["corpus"] for row in rows}):
        others = [row for row in rows if row["corpus"] != corpus]
        for row in (row for row in rows if row["corpus"] == corpus):
            if any(other["seed"] == row["seed"] for other in others):
                learned = learn(others, truths, bool(row.get("alone")), row["seed"])
                row.update(judge(row["values"], truths[corpus], learned))


def learn(rows: Rows, truths: Truths, alone: bool, seed: int = 0) -> Learned:
    """Line and radius of some corpora's values of one seed, and the greatest ratios that all seeds bear out."""
    own = of_seed(rows, seed)
    learned = learn_ratios(own, truths, alone)._replace(caps=learn_caps(rows, truths, alone))
    return learned._replace(radius=learn_radius(own, truths, learned)) if alone else learned


def learn_ratios(rows: Rows, truths: Truths, alone: bool) -> Learned:
    """What makes ratios of some corpora's values, without bounds."""
    if all(is_by_norm(row["values"]) for row in rows):
        return Learned(CalibrationLine(1.0, 0.0), UNBOUND, None, fit_coefficients(tables_of(rows), truths))
    return Learned(doubt(fit(rows, truths), alone), UNBOUND, None)


def learn_caps(rows: Rows, truths: Truths, alone: bool) -> Caps:
    """The greatest ratios that corpora bear out which took no part in the line; no bounds if there is only one.

    A problem's ratio is the mean over the seeds with which all corpora were run; there must be one.
    """
    if len({row["corpus"] for row in rows}) < 2:
        return UNBOUND
    bans, same = mean_held_out(rows, truths, alone)
    return empirical_bounds(same, bans)


def mean_held_out(rows: Rows, truths: Truths, alone: bool) -> tuple[Values, Flags]:
    """(problems of all corpora): the mean over seeds of what `held_out` gives, and the truth."""
    corpora = sorted({row["corpus"] for row in rows})
    seeds = [seed for seed in sorted({row["seed"] for row in rows}) if len(of_seed(rows, seed)) == len(corpora)]
    same = np.concatenate([np.asarray(truths[corpus], np.bool_) for corpus in corpora])
    return np.mean([held_out(of_seed(rows, seed), truths, alone) for seed in seeds], axis=0), same


def held_out(rows: Rows, truths: Truths, alone: bool) -> Values:
    """(problems of all corpora, by name): ratios in bans without bound, each by a line fitted on the other corpora."""
    found = []
    for row in sorted(rows, key=lambda row: str(row["corpus"])):
        others = [other for other in rows if other["corpus"] != row["corpus"]]
        found.append(bans_of(row["values"], learn_ratios(others, truths, alone)))
    return np.concatenate(found)


def of_seed(rows: Rows, seed: int) -> Rows:
    return [row for row in rows if row["seed"] == seed]


def doubt(line: CalibrationLine, alone: bool) -> CalibrationLine:
    """What is believed of a line that was fitted on other corpora: they differ in more than it knows.

    Least for problems by themselves, whose scores hang on how well the reference fits.
    """
    share = BELIEVED_ALONE if alone else BELIEVED
    return CalibrationLine(share * line.slope, share * line.offset)


def fit(rows: Rows, truths: Truths) -> CalibrationLine:
    """The line of some corpora's values, each corpus counting alike."""
    values = np.concatenate([numbers(row["values"]) for row in rows])
    same = np.concatenate([np.asarray(truths[row["corpus"]], np.bool_) for row in rows])
    names = [row["corpus"] for row in rows for _ in row["values"]]
    there = ~np.isnan(values)
    weights = weigh_corpora(names, same.tolist())
    return fit_line(values[there], same[there], weights[there])


def learn_radius(rows: Rows, truths: Truths, learned: Learned) -> float:
    """The radius of undecided answers with the highest C@1 over some corpora: problems by themselves have no other."""
    chances = np.concatenate([probability(bans_of(row["values"], learned)) for row in rows])
    same = np.concatenate([np.asarray(truths[row["corpus"]], np.bool_) for row in rows])
    return best_radius(chances, ((chances > 0.5) == same).astype(np.float64))


def bans_of(values: Stored, learned: Learned) -> Values:
    scores = scores_of(values, learned)
    return np.where(np.isnan(scores), 0, apply_caps(line_bans(scores, *learned.line), *learned.caps))


def judge(values: Stored, truth: Sequence[bool], learned: Learned) -> dict[str, Any]:
    """Answers to the problems of one corpus, and their measures; undecided as byline verify does it."""
    scores = scores_of(values, learned)
    chances = probability(bans_of(values, learned))
    there = ~np.isnan(scores)
    near = np.abs(chances - 0.5) < (choose_radius(chances[there]) if learned.radius is None else learned.radius)
    answers = np.where(near | ~there, 0.5, chances)
    given = [round(float(answer), 3) for answer in answers]
    measures = measure(truth, given)
    figures = {key: round(getattr(measures, key), 4) for key in ("auc", "c_at_1", "product", "cllr")}
    return {"relative": figures, "answers": given, "order": halve(scores, truth)}


def halve(scores: Values, truth: Sequence[bool]) -> dict[str, float]:
    """What order alone is worth: the AUC, and the product if the upper half is called yes, as rivals are measured."""
    there = np.where(np.isnan(scores), np.nanmedian(scores), scores)
    measures = measure(truth, ((rankdata(there) - 0.5) / len(there)).tolist())
    return {key: round(getattr(measures, key), 4) for key in ("auc", "product")}


def values_by_id(plan: Plan, readings: Sequence[MemberScores], way: Interpretation, ids: Sequence[str]) -> Stored:
    """What ratios are fitted to, for each of the ids; None where a problem was not answered."""
    (group,) = plan.groups
    tables = average_norms(readings) if way == "relative" else calibration_scores(readings, way)[None]
    found = [dict(zip(group.ids, plain(row), strict=True)) for row in tables]
    by_id = [[each.get(name) for name in ids] for each in found]
    return by_id if way == "relative" else by_id[0]


def is_by_norm(values: Stored) -> bool:
    return any(isinstance(value, list) for value in values)


def scores_of(values: Stored, learned: Learned) -> Values:
    """(problems,): values, or the ratios of values by norm."""
    return numbers(values) if learned.coefficients is None else rate(table_of(values), learned.coefficients)


def table_of(values: Stored) -> NDArray[np.float64]:
    """(norms, problems)"""
    return np.array([numbers(row) for row in values])


def tables_of(rows: Rows) -> dict[str, NDArray[np.float64]]:
    """By corpus, the values of the first of its rows."""
    return {str(row["corpus"]): table_of(row["values"]) for row in reversed(rows)}


def truths_by_corpus(rows: Rows, data: Path) -> dict[str, list[bool]]:
    """By corpus, in the order of the problems' ids."""
    truths = {corpus: read_truth(data / corpus) for corpus in sorted({row["corpus"] for row in rows})}
    return {corpus: [truth[name] for name in sorted(truth)] for corpus, truth in truths.items()}


def numbers(values: Stored) -> Values:
    """(problems,): JSON has no NaN."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


def plain(values: Values) -> list[float | None]:
    """The same as JSON has it."""
    return [None if np.isnan(value) else round(float(value), DIGITS) for value in values]
