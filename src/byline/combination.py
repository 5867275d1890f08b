"""Runs of the same problems, made by different machines or seeds, joined into one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from byline.answers import Answer
from byline.errors import RunError
from byline.interpret import answer_problems, problem_scores
from byline.runs import (
    Member,
    Plan,
    Record,
    RunFolder,
    copy_member,
    differences,
    find_run,
    hold,
    is_run,
    read_records,
    start,
)
from byline.scoring import Table


@dataclass(frozen=True)
class Combination:
    """What came of joining runs."""

    answers: tuple[Answer, ...]
    plan: Plan
    repeated: int
    """Members that a run shares with one before it, and that count once."""


def combine_runs(paths: Sequence[Path], folder: Path, overwrite: bool = False) -> Combination:
    """Answers from all members of all runs, and a run folder that holds them."""
    sources = [find_run(path) for path in paths]
    if folder.resolve() in [source.resolve() for source in sources]:
        raise RunError(f"{folder}: is one of the runs to be joined; choose another folder")
    runs = [read_records(source) for source in sources]
    plans = [plan for plan, _ in runs]
    for source, plan, (_, records) in zip(sources, plans, runs, strict=True):
        _require_same(sources[0], plans[0], source, plan)
        if not records:
            raise RunError(f"{source}: no member is finished; go on with it by byline verify --resume, or leave it out")
    homes: dict[Member, tuple[Path, RunFolder]] = {}
    found: dict[tuple[Member, int], tuple[Path, Record]] = {}
    repeated = 0
    for source, (plan, records) in zip(sources, runs, strict=True):
        run = RunFolder(source, plan)
        repeated += sum(record.group == 0 and (record.member, 0) in found for record in records)
        for record in records:
            homes.setdefault(record.member, (source, run))
            found.setdefault((record.member, record.group), (run.path(record.member, record.group), record))
    first = plans[0]
    plan = Plan(
        "combined",
        tuple(homes),
        first.groups,
        first.layout,
        first.radius,
        {"combined": [str(source) for source in sources], "problems": first.request.get("problems")},
        skipped=first.skipped,
    )
    with hold(folder):
        if is_run(folder) and not overwrite:
            raise RunError(f"{folder}: holds a run already; choose another folder, or give --overwrite")
        start(folder, plan)
        joined = RunFolder(folder, plan)
        for (member, group), (path, _) in found.items():
            copy_member(path, joined.path(member, group))
    return Combination(tuple(answers_of(plan, [record for _, record in found.values()])), plan, repeated)


def scores_of(plan: Plan, records: Sequence[Record], group: int) -> list[Table]:
    """(problems,) of each member that is done with a group, in the plan's order."""
    problems = len(plan.groups[group].ids)
    done = {record.member: record for record in records if record.group == group}
    present = [done[member] for member in plan.members if member in done]
    return [problem_scores(record.sides, problems, record.member.settings.ranking) for record in present]


def answers_of(plan: Plan, records: Sequence[Record]) -> list[Answer]:
    """The answers that finished members give, by id; skipped problems are answered 0.5."""
    answers = [Answer(problem_id, 0.5) for problem_id, _ in plan.skipped]
    for number, group in enumerate(plan.groups):
        if scores := scores_of(plan, records, number):
            answers += answer_problems(group.ids, scores, plan.radius)[0]
    return sorted({answer.id: answer for answer in answers}.values(), key=lambda answer: answer.id)


def _require_same(first: Path, plan: Plan, other: Path, its: Plan) -> None:
    """Refuse runs that answer other problems, or answer them otherwise."""
    if plan.layout != its.layout or plan.groups != its.groups:
        raise RunError(f"{first} and {other} answer different problems; only runs of the same can be joined")
    if changed := differences(plan.request.get("problems") or {}, its.request.get("problems") or {}):
        raise RunError(f"{first} and {other} answer problems of the same names with different texts ({changed[0]})")
    if plan.radius != its.radius:
        raise RunError(f"{first} has radius {plan.radius:g}, {other} {its.radius:g}; they can't be joined")
