"""How problems stand among the others of their language, and to the line between the sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from byline.answers import Answer
from byline.dossiers.parts import DIGITS, company, finite
from byline.errors import SettingsError
from byline.figures.sources import Run
from byline.figures.tables import ScoreTable, score_table

FEWEST_ROWS = 3
"""Texts of which a heat map shows anything."""
SHOWN = 2
"""Decimals of a heat map's values."""
LINE = "score that speaks for neither side"


def corpus_table(run: Run, language: str) -> ScoreTable | None:
    """All pairs of a language; none beside a reference, where problems are never compared with each other."""
    if run.plan.manner.interpretation == "cohort":
        return None
    try:
        return score_table(run, language)
    except SettingsError:  # too many for one table
        return None


def corpus_standings(table: ScoreTable | None, answers: Sequence[Answer], ranked: bool) -> list[dict[str, Any] | None]:
    """For each answer its own score among those of its text under other heads, and of other texts under its head.

    Its own is the very score that the answer is made of; of answers made of ranks, what is ranked.
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
        found.append({**company(others, own or 0.0), "used": not ranked} if there else None)
    return found


def heat_maps(run: Run, tables: Sequence[ScoreTable | None]) -> list[dict[str, Any]]:
    """A table for each language that has enough texts for one."""
    found = []
    for group, table in zip(run.plan.groups, tables, strict=True):
        if table is None or min(len(table.rows), len(table.columns)) < FEWEST_ROWS:
            continue
        rows, columns = (_with_others(names, table, side) for side, names in enumerate((table.rows, table.columns)))
        found.append(
            {
                "language": group.language,
                "rows": rows,
                "columns": columns,
                "row_title": table.row_title,
                "column_title": table.column_title,
                "values": [[finite(value, SHOWN) for value in row] for row in table.values.tolist()],
                "asked": [list(pair) for pair in table.asked],
            }
        )
    return found


def _with_others(names: Sequence[str], table: ScoreTable, side: int) -> list[str]:
    """Names of rows or columns, each with how many problems more have the same text."""
    counts = np.bincount([place[side] for place in table.places.values()], minlength=len(names))
    return [f"{name} +{count - 1}" if count > 1 else name for name, count in zip(names, counts.tolist(), strict=True)]


def decision_lines(run: Run, rows: Sequence[Mapping[str, Any]], calibrated: bool) -> list[dict[str, Any]]:
    """For each language the score that speaks for neither side, where there is one for all of its problems.

    A calibrated problem by itself has a line of its own: how far it is relied on moves it.
    """
    if run.plan.manner.interpretation == "cohort" and calibrated:
        return []
    lines = []
    for group, centre in zip(run.plan.groups, run.centres, strict=True):
        ids = set(group.ids)
        found = _even_score([row for row in rows if row["id"] in ids]) if calibrated else centre
        if found is not None:
            lines.append({"language": group.language, "centre": round(found, DIGITS), "label": LINE})
    return lines


def _even_score(rows: Sequence[Mapping[str, Any]]) -> float | None:
    """Where a line through the scores and their likelihood ratios says 0; None where it does not get there."""
    pairs = sorted((row["llr"], row["score"]) for row in rows if row["llr"] is not None)
    if not pairs or not pairs[0][0] <= 0 <= pairs[-1][0]:
        return None
    ratios, scores = np.array(pairs).T
    return float(np.interp(0, ratios, scores))
