"""How far the members of a run agree, and what each adds to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import rankdata

from byline.corpora.answers import match_truth
from byline.engines.matrix import Table
from byline.errors import AnswersError
from byline.judgment.fusion import MemberScores, average_members
from byline.judgment.interpretation import JudgmentOptions, answer_problems
from byline.judgment.metrics import measure
from byline.runs.plan import Group, Member, Plan
from byline.runs.run import Run


@dataclass(frozen=True)
class MemberAgreement:
    """One member compared with the others, over the problems of one language."""

    place: int
    """In the run, from 0."""
    language: str
    member: Member
    seconds: float
    bits: float | None
    """Per character, in the last sub-epoch; None if the engine does not learn in sub-epochs."""
    agreement: float | None
    """Rank correlation of its scores with the mean of the others'; None if there are no others."""
    product: float | None = None
    """AUC x C@1 of its own answers, if the truth is known."""
    adds: float | None = None
    """The product of the whole run minus that of the run without it, if the truth is known."""


@dataclass(frozen=True)
class RunAgreement:
    """The members of a run, and the quality of its answers."""

    plan: Plan
    members: tuple[MemberAgreement, ...]
    products: Mapping[str, float]
    """AUC x C@1 of the run by language, if the truth is known."""

    @property
    def mean_adds(self) -> float | None:
        """The mean of what the members add."""
        adds = [row.adds for row in self.members if row.adds is not None]
        return float(np.mean(adds)) if adds else None


def examine_run(run: Run | Path | str, truth: Mapping[str, bool] | None = None) -> RunAgreement:
    """Compare the members of a run, opened or in a folder, with each other and, if it is given, with the truth."""
    run = run if isinstance(run, Run) else Run.open(run)
    plan = run.plan
    if truth is not None:  # raises if it lacks one of the problems
        ids = [*(name for group in plan.groups for name in group.ids), *(name for name, _ in plan.skipped)]
        match_truth(dict.fromkeys(ids, 0.5), truth, str(run.folder))
    rows: list[MemberAgreement] = []
    products: dict[str, float] = {}
    for number, group in enumerate(plan.groups):
        records = run.group_records(number)
        scores = run.group_scores(number)
        whole = _product(group, scores, plan.judgment, truth)
        if whole is not None:
            products[group.language] = whole
        for index, record in enumerate(records):
            others = scores[:index] + scores[index + 1 :]
            without = _product(group, others, plan.judgment, truth)
            rows.append(
                MemberAgreement(
                    plan.places[record.member],
                    group.language,
                    record.member,
                    record.seconds,
                    record.bits,
                    _agreement(scores[index].scores[0], [other.scores[0] for other in others]),
                    _product(group, [scores[index]], plan.judgment, truth),
                    whole - without if whole is not None and without is not None else None,
                )
            )
    return RunAgreement(plan, tuple(rows), products)


def _product(
    group: Group, scores: Sequence[MemberScores], judgment: JudgmentOptions, truth: Mapping[str, bool] | None
) -> float | None:
    """Return AUC x C@1 of some members' answers to the problems of one language, if it can be measured."""
    if truth is None or not scores:
        return None
    given = {answer.id: answer.rounded for answer in answer_problems(group.ids, scores, judgment).answers}
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
