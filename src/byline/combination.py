"""Finished members -> answers; runs of the same problems, made by different machines or seeds, joined into one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from byline.answers import Answer
from byline.errors import RunError
from byline.interpret import answer_problems, problem_scores
from byline.plans import Member, Plan, differences
from byline.runs import (
    Record,
    RunFolder,
    clear,
    copy_member,
    find_run,
    hold,
    read_members,
    read_plan,
    require_vacant,
    write_plan,
)
from byline.scoring import Table

Scores = Mapping[tuple[Member, int], Table]
"""(problems,) of each member and language that is done."""


def score_record(record: Record, plan: Plan) -> Table:
    """(problems,): what a member says of the problems of one language."""
    return problem_scores(record.sides, len(plan.groups[record.group].ids), record.member.settings.ranking)


def members_done(plan: Plan, scores: Scores, group: int) -> list[Member]:
    """The members that are done with a language, in the plan's order."""
    return [member for member in plan.members if (member, group) in scores]


def answer_plan(plan: Plan, scores: Scores) -> tuple[list[Answer], list[float]]:
    """The answers by id, and for each language the score that became 0.5; skipped problems are answered 0.5."""
    answers = {problem_id: Answer(problem_id, 0.5) for problem_id, _ in plan.skipped}
    centres = []
    for number, group in enumerate(plan.groups):
        tables = [scores[member, number] for member in members_done(plan, scores, number)]
        given, centre = answer_problems(group.ids, tables, plan.radius)
        answers |= {answer.id: answer for answer in given}
        centres.append(centre)
    return [answers[name] for name in sorted(answers)], centres


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
    plans = [read_plan(source) for source in sources]
    for source, plan in zip(sources, plans, strict=True):
        _require_same(sources[0], plans[0], source, plan)
    homes: dict[tuple[Member, int], Path] = {}
    scores: dict[tuple[Member, int], Table] = {}
    repeated: set[tuple[int, Member]] = set()
    for number, (source, plan) in enumerate(zip(sources, plans, strict=True)):
        done = 0
        for record in read_members(source, plan):
            done += 1
            key = record.member, record.group
            if key in homes:
                repeated.add((number, record.member))
                continue
            homes[key] = RunFolder(source, plan).path(*key)
            scores[key] = score_record(record, plan)
        if not done:
            raise RunError(f"{source}: no member is finished; go on with it by byline verify --resume, or leave it out")
    plan = _joint_plan(sources, plans, dict.fromkeys(member for member, _ in homes))
    for number, group in enumerate(plan.groups):
        if not members_done(plan, scores, number):
            raise RunError(f"{sources[0]}: no member is finished for {group.language}; go on by byline verify --resume")
    with hold(folder):
        if not overwrite:
            require_vacant(folder, "; choose another folder, or give --overwrite")
        clear(folder)
        joined = RunFolder(folder, plan)
        for key, home in homes.items():
            copy_member(home, joined.path(*key))
        write_plan(folder, plan)  # last: before all members are there it is no run
    return Combination(tuple(answer_plan(plan, scores)[0]), plan, len(repeated))


def _joint_plan(sources: Sequence[Path], plans: Sequence[Plan], members: Iterable[Member]) -> Plan:
    first = plans[0]
    request: dict[str, Any] = {"combined": [str(source) for source in sources]}
    request |= {key: first.request.get(key) for key in ("problems", "control")}
    return Plan(
        "combined", tuple(members), first.groups, first.layout, first.radius, request, skipped=first.skipped
    )  # fmt: skip


def _require_same(first: Path, plan: Plan, other: Path, its: Plan) -> None:
    """Refuse runs that answer other problems, or answer them otherwise."""
    skipped = [[name for name, _ in each.skipped] for each in (plan, its)]
    if plan.layout != its.layout or plan.groups != its.groups or skipped[0] != skipped[1]:
        raise RunError(f"{first} and {other} answer different problems; only runs of the same can be joined")
    if changed := differences(plan.request.get("problems") or {}, its.request.get("problems") or {}):
        raise RunError(f"{first} and {other} answer problems of the same names with different texts ({changed[0]})")
    if plan.request.get("control") != its.request.get("control"):
        raise RunError(f"{first} and {other} were made with different control corpora; they can't be joined")
    if plan.radius != its.radius:
        raise RunError(f"{first} has radius {plan.radius:g}, {other} {its.radius:g}; they can't be joined")
