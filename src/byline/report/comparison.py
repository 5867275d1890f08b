"""A problem's score compared with others: the other problems of its language, or the reference population."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byline.corpora.answers import Answer
from byline.engines.matrix import Table
from byline.errors import SettingsError
from byline.figures.score_tables import ScoreTable, score_table
from byline.judgment.fusion import fuse_single_problems, mix_norms
from byline.judgment.interpretation import has_unit_scores
from byline.report.page import DIGITS, finite, rounded
from byline.runs.run import Run

MIN_ROWS = 3
"""Texts of a heat map."""
HEAT_DIGITS = 2
MAX_BARS = 40
"""Of a histogram."""
LINE = "score that speaks for neither side"


def position_among(values: Sequence[float] | NDArray[np.float64], own: float) -> dict[str, Any]:
    """Return the position of a value among others: how many are lower, their quartiles, and a histogram."""
    others = np.asarray(values, np.float64)
    bars = int(np.clip(np.ceil(2 * np.sqrt(len(others))), 8, MAX_BARS))
    counts = np.histogram(others, bars)[0] if len(others) else np.zeros(0, np.int64)
    return {
        "own": round(float(own), DIGITS),
        "count": len(others),
        "below": int((others < own).sum()),
        "quartiles": rounded(np.quantile(others, [0, 0.25, 0.5, 0.75, 1]).tolist()) if len(others) else [],
        "bars": counts.tolist(),
    }


def corpus_table(run: Run, language: str) -> ScoreTable | None:
    """Return the scores of all pairs of a language, or None if problems were only compared with a reference."""
    if run.plan.judgment.interpretation == "cohort":
        return None
    try:
        return score_table(run, language)
    except SettingsError:  # too many for one table
        return None


def positions_among_problems(
    table: ScoreTable | None, answers: Sequence[Answer], ranked: bool
) -> list[dict[str, Any] | None]:
    """Return the position of each answer's score among those of its text under other heads and of other texts under its
    head. For answers made of ranks, it is the position of the score that was ranked.
    """
    if table is None:
        return [None] * len(answers)
    aside = table.values.copy()
    aside[tuple(np.array(table.asked).T)] = np.nan  # other problems' pairs may be by one author
    found: list[dict[str, Any] | None] = []
    for answer in answers:
        row, column = table.places[answer.id]
        own = float(table.values[row, column]) if ranked else answer.score
        others = np.concatenate([aside[row], aside[:, column]])
        others = others[~np.isnan(others)]
        there = answer.score is not None and own is not None and not np.isnan(own) and len(others) > 0
        found.append({**position_among(others, own or 0.0), "used": not ranked} if there else None)
    return found


def heat_maps(run: Run, tables: Sequence[ScoreTable | None]) -> list[dict[str, Any]]:
    """Return a heat map for each language that has enough texts."""
    found = []
    for group, table in zip(run.plan.groups, tables, strict=True):
        if table is None or min(len(table.rows), len(table.columns)) < MIN_ROWS:
            continue
        rows, columns = (_with_others(names, table, side) for side, names in enumerate((table.rows, table.columns)))
        found.append(
            {
                "language": group.language,
                "rows": rows,
                "columns": columns,
                "row_title": table.row_title,
                "column_title": table.column_title,
                "values": [[finite(value, HEAT_DIGITS) for value in row] for row in table.values.tolist()],
                "asked": [list(pair) for pair in table.asked],
            }
        )
    return found


def _with_others(names: Sequence[str], table: ScoreTable, side: int) -> list[str]:
    """Return the names of rows or columns, with the number of further problems that have the same text."""
    counts = np.bincount([place[side] for place in table.places.values()], minlength=len(names))
    return [f"{name} +{count - 1}" if count > 1 else name for name, count in zip(names, counts.tolist(), strict=True)]


def decision_lines(run: Run, rows: Sequence[Mapping[str, Any]], calibrated: bool) -> list[dict[str, Any]]:
    """Return for each language the score that speaks for neither side, if the scores of its problems tell."""
    lines = []
    for group, verdicts in zip(run.plan.groups, run.verdicts, strict=True):
        ids = set(group.ids)
        found = _even_score([row for row in rows if row["id"] in ids]) if calibrated else verdicts.center
        if found is not None:
            lines.append({"language": group.language, "center": round(found, DIGITS), "label": LINE})
    return lines


def _even_score(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the score at which the interpolated log-likelihood ratio is 0, or None if there is none."""
    pairs = sorted((row["llr"], row["score"]) for row in rows if row["llr"] is not None)
    if not pairs or not pairs[0][0] <= 0 <= pairs[-1][0]:
        return None
    ratios, scores = np.array(pairs).T
    return float(np.interp(0, ratios, scores))


def member_scores(run: Run, group: int, answers: Sequence[Answer]) -> Table:
    """Return (members, problems): the score of each member, on the scale of the fused score.

    For problems answered by themselves, it is the log-likelihood ratio if there were no other member.
    """
    scores = run.group_scores(group)
    if has_unit_scores(run.plan.judgment.interpretation):
        return np.array([member.scores[0] for member in scores])
    if run.plan.judgment.interpretation == "relative":
        return np.array([mix_norms(member.scores, run.verdicts[group].weights) for member in scores])
    return np.array([fuse_single_problems([member]).scores for member in scores])


def positions_in_reference(run: Run, group: int) -> list[dict[str, Any] | None]:
    """Return each member's score of each problem of a language, compared with pairs of authors of the reference."""
    count = len(run.plan.groups[group].ids)
    if run.plan.judgment.interpretation != "cohort":
        return [None] * count
    found: list[list[dict[str, Any]]] = [[] for _ in range(count)]
    for record, member in zip(run.group_records(group), run.group_scores(group), strict=True):
        assert member.beside_reference is not None
        for cases in member.beside_reference.groups:
            different = cases.scores[~cases.same]
            for place in cases.problems.tolist():
                own = float(member.scores[0, place])
                if not np.isnan(own):
                    name = {"member": run.plan.places[record.member] + 1, "name": record.member.settings.engine_name}
                    found[place].append({**name, **position_among(different, own)})
    return [{"members": members} if members else None for members in found]
