"""A finished run, read from its folder: plan, members, their answers, and how far the members agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from byline.corpora.answers import Answer, match_truth
from byline.corpora.problems import Problem
from byline.engines.matrix import BITS, Table
from byline.errors import AnswersError, RunError, SettingsError
from byline.judgment.checks.cautions import Cautions
from byline.judgment.fusion import MemberScores, average_members
from byline.judgment.interpretation import JudgmentOptions, Verdicts, answer_problems, score_sides
from byline.judgment.metrics import measure
from byline.judgment.passage_evidence import Gains
from byline.runs.folder import PLAN, RunFolder, find_run, read_cautions, read_members, read_plan, read_problem_file
from byline.runs.member_files import ProblemEvidence, Record, read_evidence
from byline.runs.plan import Group, Member, Plan, choose_calibration
from byline.storage.files import read_checked_json

ScoresByMember = Mapping[tuple[Member, int], MemberScores]
"""The scores of each member and language that is done."""
FINISH = "Finish the run with {resume}"


class MemberEvidence(NamedTuple):
    """What one member kept for one problem."""

    name: str
    """Of its engine."""
    unit: str
    kept: ProblemEvidence


@dataclass(frozen=True, eq=False)
class Run:
    """A run in a folder. Its parts are read when they are first used, and only once."""

    folder: Path
    plan: Plan

    @classmethod
    def open(cls, path: Path | str) -> Run:
        """Open a run folder, or the one in a folder of answers."""
        folder = find_run(Path(path))
        return cls(folder, read_plan(folder))

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The members that are done, in the plan's order. Raise RunError if there are none."""
        records = tuple(read_members(self.folder, self.plan))
        if not records:
            raise RunError("no member is finished yet", where=self.folder, remedy=FINISH)
        return records

    def group_records(self, group: int) -> list[Record]:
        """Return the members that are done with one language."""
        return [record for record in self.records if record.group == group]

    @cached_property
    def scores(self) -> ScoresByMember:
        """The scores of each member that is done."""
        with threadpool_limits(limits=1, user_api="blas"):  # many small products: two threads take twice as long
            return {(record.member, record.group): scores_of_record(record, self.plan) for record in self.records}

    def group_scores(self, group: int) -> list[MemberScores]:
        """Return the scores of the same members."""
        return [self.scores[record.member, group] for record in self.group_records(group)]

    @cached_property
    def _answered(self) -> tuple[list[Answer], list[Verdicts]]:
        for number, group in enumerate(self.plan.groups):
            if not members_done(self.plan, self.scores, number):
                raise RunError(f"no member is finished for {group.language}", where=self.folder, remedy=FINISH)
        return answer_plan(self.plan, self.scores)

    @cached_property
    def answers(self) -> tuple[Answer, ...]:
        """The answers by id, as the members that are done give them."""
        return tuple(self._answered[0])

    @property
    def verdicts(self) -> Sequence[Verdicts]:
        """What the answers of each language rest on."""
        return self._answered[1]

    @cached_property
    def problems(self) -> dict[str, Problem]:
        """The problems with their texts, by id."""
        return read_problem_file(self.folder, self.plan)

    @cached_property
    def cautions(self) -> Cautions | None:
        """What speaks against believing the answers, or None if that was not kept."""
        return read_cautions(self.folder, self.plan)

    @cached_property
    def evidence(self) -> Mapping[tuple[int, int], Sequence[MemberEvidence]]:
        """What the members kept, by the numbers of language and problem.

        Gains of language models are bits per character, others are bits of the likelihood ratio, which can't be added
        up. If there are language models, only they have gains.
        """
        modeled = any(record.sides[0].matrix.unit == BITS for record in self.records)
        found: dict[tuple[int, int], list[MemberEvidence]] = {}
        folder = RunFolder(self.folder, self.plan)
        for record in self.records:
            name, unit = record.member.settings.engine_name, record.sides[0].matrix.unit
            slopes = self.verdicts[record.group].slopes if unit != BITS else None
            for kept in read_evidence(folder.path(record.member, record.group)):
                if modeled and unit != BITS:
                    kept = replace(kept, gains={})
                elif slopes is not None and kept.gains:
                    kept = _to_bits(kept, float(slopes[kept.problem]))
                found.setdefault((record.group, kept.problem), []).append(MemberEvidence(name, unit, kept))
        return found

    @cached_property
    def version(self) -> str:
        """The version of Byline that began the run."""
        return str(read_checked_json(self.folder / PLAN).get("byline", "unknown"))

    def find_group(self, language: str | None) -> int:
        """Return the number of a language, which may be left out if there is only one."""
        names = [group.language for group in self.plan.groups]
        if language is None and len(names) == 1:
            return 0
        if language not in names:
            wrong = f"no problems in {language}" if language else "problems of different languages are never compared"
            raise SettingsError(wrong, where=self.folder, remedy=f"Give {{language}}: {', '.join(names)}")
        return names.index(language)


def _to_bits(kept: ProblemEvidence, slope: float) -> ProblemEvidence:
    """Return evidence whose gains are bits of the likelihood ratio instead of deviations of a score."""
    factor = np.float16(0 if np.isnan(slope) else slope / np.log(2))
    return replace(kept, gains={document: gains * factor for document, gains in kept.gains.items()})


def stack_gains(evidence: Sequence[MemberEvidence], document: int, length: int) -> Gains | None:
    """(members, characters): the gains that additive members kept for one of a problem's documents, 0 the unknown."""
    rows = [each.kept.gains[document] for each in evidence if document in each.kept.gains]
    rows = [row for row in rows if len(row) == length]
    return np.array(rows, np.float64) if rows else None


def scores_of_record(record: Record, plan: Plan) -> MemberScores:
    """Return the scores that a member gives the problems of one language."""
    problems = len(plan.groups[record.group].ids)
    return score_sides(record.sides, problems, record.member.settings, plan.judgment.interpretation)


def judgment_for(plan: Plan, members: Sequence[Member]) -> JudgmentOptions:
    """Return a plan's options for some of its members, without a calibration of other engines."""
    return (
        choose_calibration(plan.judgment, [each.settings for each in members])
        if plan.judgment.calibration
        else plan.judgment
    )


def members_done(plan: Plan, scores: ScoresByMember, group: int) -> list[Member]:
    """Return the members that are done with a language, in the plan's order."""
    return [member for member in plan.members if (member, group) in scores]


def answer_plan(plan: Plan, scores: ScoresByMember) -> tuple[list[Answer], list[Verdicts]]:
    """Return the answers by id, and what those of each language rest on. Skipped problems are answered 0.5."""
    answers = {problem_id: Answer(problem_id, 0.5) for problem_id, _ in plan.skipped}
    verdicts = []
    for number, group in enumerate(plan.groups):
        members = members_done(plan, scores, number)
        own = [scores[member, number] for member in members]
        verdicts.append(answer_problems(group.ids, own, judgment_for(plan, members)))
        answers |= {answer.id: answer for answer in verdicts[-1].answers}
    return [answers[name] for name in sorted(answers)], verdicts


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
    from scipy.stats import rankdata  # slow to import

    if not others:
        return None
    rest = average_members(others)
    there = ~(np.isnan(scores) | np.isnan(rest))
    mine, theirs = rankdata(scores[there]), rankdata(rest[there])
    if len(mine) < 2 or not mine.std() or not theirs.std():
        return None
    return float(np.corrcoef(mine, theirs)[0, 1])
