"""How far the members of a run agree, and what each adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from byline.answers import match_truth
from byline.combination import members_done, reading_of
from byline.errors import AnswersError, RunError
from byline.fusion import Reading, average_members
from byline.interpret import answer_problems
from byline.metrics import measure
from byline.plans import Group, Manner, Member, Plan
from byline.runs import find_run, read_members, read_plan
from byline.scoring import Table


@dataclass(frozen=True)
class MemberStanding:
    """One member beside the others, over the problems of one language."""

    place: int
    """In the run, from 0."""
    language: str
    member: Member
    seconds: float
    bits: float | None
    """Per character, in the last sub-epoch; None where the engine has no such thing."""
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
    plan = read_plan(folder)
    readings: dict[tuple[Member, int], Reading] = {}
    costs: dict[tuple[Member, int], tuple[float, float | None]] = {}
    for record in read_members(folder, plan):
        key = record.member, record.group
        readings[key] = reading_of(record, plan)
        costs[key] = record.seconds, record.bits
    if not readings:
        raise RunError(f"{folder}: no member is finished yet; go on with byline verify --resume")
    if truth is not None:  # an id that the truth does not know is refused
        ids = [*(name for group in plan.groups for name in group.ids), *(name for name, _ in plan.skipped)]
        match_truth(dict.fromkeys(ids, 0.5), truth, str(folder))
    rows: list[MemberStanding] = []
    products: dict[str, float] = {}
    for number, group in enumerate(plan.groups):
        done = members_done(plan, readings, number)
        said = [readings[member, number] for member in done]
        whole = _product(group, said, plan.manner, truth)
        if whole is not None:
            products[group.language] = whole
        for index, member in enumerate(done):
            others = said[:index] + said[index + 1 :]
            without = _product(group, others, plan.manner, truth)
            rows.append(
                MemberStanding(
                    plan.places[member],
                    group.language,
                    member,
                    *costs[member, number],
                    _agreement(said[index].scores[0], [other.scores[0] for other in others]),
                    _product(group, [said[index]], plan.manner, truth),
                    whole - without if whole is not None and without is not None else None,
                )
            )
    return Standing(plan, tuple(rows), products)


def _product(
    group: Group, readings: Sequence[Reading], manner: Manner, truth: Mapping[str, bool] | None
) -> float | None:
    """AUC x C@1 of some members' answers to the problems of one language, if that can be measured."""
    if truth is None or not readings:
        return None
    given = {answer.id: answer.rounded for answer in answer_problems(group.ids, readings, manner).answers}
    try:
        return measure(*match_truth(given, {name: truth[name] for name in group.ids}, group.language)).product
    except AnswersError:  # only one kind of truth
        return None


def _agreement(scores: Table, others: Sequence[Table]) -> float | None:
    if not others:
        return None
    rest = average_members(others)
    there = ~(np.isnan(scores) | np.isnan(rest))
    mine, theirs = rankdata(scores[there]), rankdata(rest[there])
    if len(mine) < 2 or not mine.std() or not theirs.std():
        return None
    return float(np.corrcoef(mine, theirs)[0, 1])
