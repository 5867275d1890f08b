"""Relative scores of several corpora -> calibrated answers, each corpus with what was fitted on the others only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata

from byline.fitting import Line, fit_line, weigh_corpora
from byline.fusion import Reading
from byline.interpret import standing_values
from byline.likelihood import best_radius, decide, probability
from byline.metrics import measure
from byline.plans import Plan
from byline.settings import Interpretation

Rows = Sequence[dict[str, Any]]
Truths = Mapping[str, Sequence[bool]]
"""By corpus, in the order of the problems' ids."""

CAP = 2.0
"""Bans: each calibration rests on several hundred problems that share no text."""
BELIEVED, BELIEVED_ALONE = 0.9, 0.6
"""The share of a log-likelihood ratio that is kept where it was calibrated on other corpora."""
DIGITS = 5


def calibrate(rows: Rows, truths: Truths) -> None:
    """Give each row with `values` its answers and measures; lines are fitted on the other corpora of the same seed."""
    for seed in sorted({row["seed"] for row in rows}):
        same = [row for row in rows if row["seed"] == seed]
        for row in same:
            others = [other for other in same if other["corpus"] != row["corpus"]]
            if others:
                line = doubt(fit(others, truths), bool(row.get("alone")))
                radius = learn_radius(others, truths, line) if row.get("alone") else None
                row.update(judge(row["values"], truths[row["corpus"]], line, radius))


def doubt(line: Line, alone: bool) -> Line:
    """What is believed of a line that was fitted on other corpora: they differ in more than it knows.

    Least for problems by themselves, whose scores hang on how well the reference fits.
    """
    share = BELIEVED_ALONE if alone else BELIEVED
    return Line(share * line.slope, share * line.offset)


def fit(rows: Rows, truths: Truths) -> Line:
    """The line of some corpora's values, each corpus counting alike."""
    values = np.concatenate([numbers(row["values"]) for row in rows])
    same = np.concatenate([np.asarray(truths[row["corpus"]], np.bool_) for row in rows])
    names = [row["corpus"] for row in rows for _ in row["values"]]
    there = ~np.isnan(values)
    weights = weigh_corpora(names, same.tolist())
    return fit_line(values[there], same[there], weights[there])


def learn_radius(rows: Rows, truths: Truths, line: Line) -> float:
    """The radius of undecided answers with the highest C@1 over some corpora: problems by themselves have no other."""
    chances = np.concatenate([probability(bans_of(row["values"], line)) for row in rows])
    same = np.concatenate([np.asarray(truths[row["corpus"]], np.bool_) for row in rows])
    return best_radius(chances, ((chances > 0.5) == same).astype(np.float64))


def bans_of(values: Sequence[float | None], line: Line) -> np.ndarray[Any, np.dtype[np.float64]]:
    scores = numbers(values)
    return np.where(np.isnan(scores), 0, np.clip((line.offset + line.slope * scores) / np.log(10), -CAP, CAP))


def judge(
    values: Sequence[float | None], truth: Sequence[bool], line: Line, radius: float | None = None
) -> dict[str, Any]:
    """Answers to the problems of one corpus, and their measures; undecided as byline verify does it."""
    scores = numbers(values)
    chances = probability(bans_of(values, line))
    there = ~np.isnan(scores)
    near = np.abs(chances - 0.5) < (decide(chances[there]) if radius is None else radius)
    answers = np.where(near | ~there, 0.5, chances)
    given = [round(float(answer), 3) for answer in answers]
    measures = measure(truth, given)
    figures = {key: round(getattr(measures, key), 4) for key in ("auc", "c_at_1", "product", "cllr")}
    return {"relative": figures, "answers": given, "order": halve(scores, truth)}


def halve(scores: np.ndarray[Any, np.dtype[np.float64]], truth: Sequence[bool]) -> dict[str, float]:
    """What order alone is worth: the AUC, and the product if the upper half is called yes, as rivals are measured."""
    there = np.where(np.isnan(scores), np.nanmedian(scores), scores)
    measures = measure(truth, ((rankdata(there) - 0.5) / len(there)).tolist())
    return {key: round(getattr(measures, key), 4) for key in ("auc", "product")}


def values_by_id(
    plan: Plan, readings: Sequence[Reading], way: Interpretation, ids: Sequence[str]
) -> list[float | None]:
    """What a calibration is fitted to, for each of the ids; None where a problem was not answered."""
    (group,) = plan.groups
    found = dict(zip(group.ids, plain(standing_values(readings, way)), strict=True))
    return [found.get(name) for name in ids]


def numbers(values: Sequence[float | None]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(problems,): JSON has no NaN."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


def plain(values: np.ndarray[Any, np.dtype[np.float64]]) -> list[float | None]:
    """The same as JSON has it."""
    return [None if np.isnan(value) else round(float(value), DIGITS) for value in values]
