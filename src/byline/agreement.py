"""How far the members of a run agree, and what each adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from byline.answers import match_truth
from byline.combination import answers_of, scores_of
from byline.errors import RunError
from byline.metrics import measure
from byline.runs import Member, Plan, Record, find_run, read_records
from byline.scoring import Table


@dataclass(frozen=True)
class MemberStanding:
    """One member beside the others, over the problems of one language."""

    place: int
    """In the run, from 0."""
    language: str
    member: Member
    seconds: float
    bits: float
    """Per character, in the last sub-epoch."""
    agreement: float | None
    """Rank correlation of its scores with the mean of the others'; None where there are no others."""
    product: float | None = None
    """AUC x C@1 of its own answers, where the truth is known."""
    adds: float | None = None
    """The whole run's product less that of the run without it, where the truth is known."""


@dataclass(frozen=True)
class Standing:
    """A run: its members, and what all of them come to."""

    plan: Plan
    members: tuple[MemberStanding, ...]
    products: Mapping[str, float]
    """The run's product by language, where the truth is known."""

    @property
    def mean_adds(self) -> float | None:
        """The mean of what members add, over all of them."""
        adds = [row.adds for row in self.members if row.adds is not None]
        return float(np.mean(adds)) if adds else None


def examine_run(path: Path, truth: Mapping[str, bool] | None = None) -> Standing:
    """The members of a run, their agreement, and with the truth their worth."""
    folder = find_run(path)
    plan, records = read_records(folder)
    if not records:
        raise RunError(f"{folder}: no member is finished yet; go on with byline verify --resume")
    rows: list[MemberStanding] = []
    products: dict[str, float] = {}
    if truth is not None:  # an id that the truth does not know is refused
        match_truth({answer.id: answer.rounded for answer in answers_of(plan, records)}, truth, str(folder))
    for number, group in enumerate(plan.groups):
        done = [record for record in records if record.group == number]
        if not done:
            continue
        known = {name: truth[name] for name in group.ids} if truth is not None else None
        whole = _product(plan, done, number, known)
        if whole is not None:
            products[group.language] = whole
        scores = scores_of(plan, done, number)
        for index, record in enumerate(done):
            others = [other for other in done if other is not record]
            without = _product(plan, others, number, known) if others else None
            rows.append(
                MemberStanding(
                    plan.members.index(record.member),
                    group.language,
                    record.member,
                    record.seconds,
                    float(np.mean([curve[-1] for curve in record.curves])),
                    _agreement(scores[index], [other for place, other in enumerate(scores) if place != index]),
                    _product(plan, [record], number, known),
                    whole - without if whole is not None and without is not None else None,
                )
            )
    return Standing(plan, tuple(rows), products)


def _product(plan: Plan, records: Sequence[Record], group: int, truth: Mapping[str, bool] | None) -> float | None:
    """AUC x C@1 of some members' answers to the problems of one language."""
    if truth is None:
        return None
    ids = set(plan.groups[group].ids)
    given = {answer.id: answer.rounded for answer in answers_of(plan, records) if answer.id in ids}
    return measure(*match_truth(given, truth, "run")).product


def _agreement(scores: Table, others: Sequence[Table]) -> float | None:
    if not others:
        return None
    rest = np.mean(others, axis=0)
    there = ~(np.isnan(scores) | np.isnan(rest))
    mine, theirs = rankdata(scores[there]), rankdata(rest[there])
    if len(mine) < 2 or not mine.std() or not theirs.std():
        return None
    return float(np.corrcoef(mine, theirs)[0, 1])
