"""What each member says of a problem, and what it would say with texts of the reference population in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from byline.alone import average_kind, count_reading, count_scores
from byline.answers import Answer
from byline.dossiers.parts import company, finite
from byline.figures.sources import Run
from byline.figures.tables import mean_there
from byline.fusion import Reading
from byline.interpret import is_plain
from byline.relative import REACHES, reference_scores
from byline.runs import Record
from byline.scoring import Table

NOBODY: Table = np.zeros(0)


def member_scores(run: Run, group: int, readings: Sequence[Reading], answers: Sequence[Answer]) -> Table:
    """(members, problems): what each member says, on the scale of the score that they make up together.

    Of problems by themselves, the score if all members of its kind (relative, or of an own scale) said what it says;
    NaN for the only one of its kind beside others, of which that would say nothing.
    """
    if is_plain(run.plan.manner.interpretation):
        return np.array([reading.scores[0] for reading in readings])
    if run.plan.manner.interpretation == "relative":
        reach = REACHES.index(run.reaches[group])
        return np.array([reading.scores[min(reach, len(reading.scores) - 1)] for reading in readings])
    together = np.array([np.nan if answer.score is None else answer.score for answer in answers])
    kinds = {own: [reading for reading in readings if reading.own == own] for own in (False, True)}
    silent = np.full(len(together), np.nan)
    return np.array(
        [
            together + count_reading(reading) - average_kind(kinds[reading.own]).scores
            if len(kinds[reading.own]) > 1 or len(readings) == 1
            else silent
            for reading in readings
        ]
    )


def reference_standings(
    run: Run, group: int, records: Sequence[Record], readings: Sequence[Reading]
) -> list[dict[str, Any] | None]:
    """For each problem of a language what members add to its score, and what they would with texts of the reference.

    In place of the known texts, or of the unknown one, stands each of the reference's sets in turn. That is done member
    by member: in the eyes of members that mask other words sets have other numbers, and can't be matched.
    """
    count = len(run.plan.groups[group].ids)
    if run.plan.manner.interpretation != "cohort":
        return [None] * count
    added = [count_reading(reading) for reading in readings]
    others = [scores_beside(record, reading.own) for record, reading in zip(records, readings, strict=True)]
    parts = {
        name: average_kind(kind).scores
        for name, own in (("relative", False), ("own", True))
        if (kind := [reading for reading in readings if reading.own == own])
    }
    found: list[dict[str, Any] | None] = []
    for place in range(count):
        members = [
            {
                "member": run.plan.places[record.member] + 1,
                "name": record.member.settings.engine_name,
                "own_scale": reading.own,
                **company(beside.get(place, NOBODY), values[place]),
            }
            for record, reading, values, beside in zip(records, readings, added, others, strict=True)
            if not np.isnan(values[place])
        ]
        sums = {name: finite(scores[place]) for name, scores in parts.items()}
        found.append({"members": members, "parts": sums, "even": finite(run.centres[group])} if members else None)
    return found


def scores_beside(record: Record, own: bool) -> dict[int, Table]:
    """By problem, what a member would add for its texts with the reference's, the ways of asking averaged."""
    ways: dict[int, list[tuple[Table, Table]]] = {}
    for side in record.sides:
        assert side.reference is not None
        scores = np.where(side.matrix.seen, np.nan, -side.matrix.values if own else reference_scores(side))
        heads, documents = side.reference.heads, side.reference.documents
        for question in side.questions:
            if question not in side.lonely:
                done = ways.setdefault(question.problem, [])
                judged, learnt = scores[question.document, heads], scores[documents, question.head]
                done.append((learnt, judged) if len(done) % 2 else (judged, learnt))  # the other way it is turned round
    found = {}
    for problem, pairs in ways.items():
        means = np.concatenate([mean_there([pair[text] for pair in pairs]) for text in (0, 1)])
        found[problem] = count_scores(means[~np.isnan(means)], own)
    return found
