"""Finished members -> answers; runs of the same problems, made by different machines or seeds, joined into one."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isinf
from pathlib import Path
from typing import Any

from byline.answers import Answer
from byline.calibration import builtin_calibration
from byline.cautions.file import read_cautions
from byline.errors import RunError
from byline.fusion import Reading
from byline.interpret import Verdicts, answer_problems, read_sides
from byline.keepsakes import read_kept_problems
from byline.likelihood import EVEN
from byline.memberfiles import copy_member, read_own
from byline.plans import Manner, Member, Plan, differences, manner_values
from byline.runs import (
    CAUTIONS,
    TEXTS,
    Record,
    RunFolder,
    aside,
    find_run,
    hold,
    read_members,
    read_plan,
    refuse_links,
    require_vacant,
    start,
)
from byline.settings import Interpretation, Settings, kinds_of

log = logging.getLogger(__name__)

Readings = Mapping[tuple[Member, int], Reading]
"""Of each member and language that is done."""


def reading_of(record: Record, plan: Plan) -> Reading:
    """What a member says of the problems of one language."""
    problems = len(plan.groups[record.group].ids)
    return read_sides(record.sides, problems, record.member.settings, plan.manner.interpretation)


def manner_for(manner: Manner, rows: Sequence[Settings]) -> Manner:
    """The manner in which members of these settings are read: without a calibration that is of other engines."""
    kinds = kinds_of(rows)
    if manner.calibration is None or set(manner.calibration.engines) == set(kinds):
        return manner
    return replace(manner, calibration=builtin_calibration(manner.interpretation, kinds))


def members_done(plan: Plan, readings: Readings, group: int) -> list[Member]:
    """The members that are done with a language, in the plan's order."""
    return [member for member in plan.members if (member, group) in readings]


def answer_plan(plan: Plan, readings: Readings) -> tuple[list[Answer], list[Verdicts]]:
    """The answers by id, and what those of each language rest on; skipped problems are answered 0.5."""
    answers = {problem_id: Answer(problem_id, 0.5) for problem_id, _ in plan.skipped}
    verdicts = []
    for number, group in enumerate(plan.groups):
        members = members_done(plan, readings, number)
        manner = manner_for(plan.manner, [member.settings for member in members])
        verdicts.append(answer_problems(group.ids, [readings[member, number] for member in members], manner))
        answers |= {answer.id: answer for answer in verdicts[-1].answers}
    return [answers[name] for name in sorted(answers)], verdicts


@dataclass(frozen=True)
class Combination:
    """What came of joining runs."""

    answers: tuple[Answer, ...]
    plan: Plan
    repeated: int
    """Members that a run shares with one before it, and that count once."""
    reaches: tuple[float | None, ...]
    """How closely cohorts were matched, for each language; None, not at all."""
    unfinished: tuple[tuple[Path, int, int], ...] = ()
    """Runs that were stopped: the folder, how many members are done, and how many were planned."""


def combine_runs(
    paths: Sequence[Path],
    folder: Path,
    overwrite: bool = False,
    interpret: Interpretation | None = None,
    answered: bool = False,
) -> Combination:
    """Answers from all members of all runs, read as they were or in another way, and a run folder that holds them.

    What the folder holds stays until all members are copied; where it is `answered`, so do the answers in the folder
    around.
    """
    sources = [find_run(path) for path in paths]
    for source in (source.resolve() for source in sources):
        if folder.resolve() == source:
            raise RunError(f"{folder}: is one of the runs to be joined; choose another folder")
        if source in folder.resolve().parents:
            raise RunError(f"{folder}: lies in one of the runs to be joined; choose another folder")
    plans = [read_plan(source) for source in sources]
    if interpret is not None:
        plans = [_read_otherwise(source, plan, interpret) for source, plan in zip(sources, plans, strict=True)]
    for source, plan in zip(sources, plans, strict=True):
        _require_same(sources[0], plans[0], source, plan)
    homes: dict[tuple[Member, int], Path] = {}
    readings: dict[tuple[Member, int], Reading] = {}
    repeated: set[tuple[int, Member]] = set()
    unfinished: list[tuple[Path, int, int]] = []
    for number, (source, plan) in enumerate(zip(sources, plans, strict=True)):
        done: Counter[Member] = Counter()
        refuse_links(source, plan)
        for record in read_members(source, plan):
            done[record.member] += 1
            key = record.member, record.group
            if key in homes:
                repeated.add((number, record.member))
                continue
            homes[key] = RunFolder(source, plan).path(*key)
            readings[key] = reading_of(record, plan)
        if not done:
            raise RunError(f"{source}: no member is finished; go on with it by byline verify --resume, or leave it out")
        whole = sum(count == len(plan.groups) for count in done.values())
        if whole < len(plan.members):
            unfinished.append((source, whole, len(plan.members)))
    plan = _joint_plan(sources, plans, dict.fromkeys(member for member, _ in homes))
    for number, group in enumerate(plan.groups):
        if not members_done(plan, readings, number):
            raise RunError(f"{sources[0]}: no member is finished for {group.language}; go on by byline verify --resume")
    with hold(folder), aside(folder) as made:
        if not overwrite:
            require_vacant(folder, "; choose another folder, or give --overwrite")
        joined = RunFolder(made, plan)
        for key, home in homes.items():
            copy_member(home, joined.path(*key))
        texts = _read_texts(sources, plans)
        start(folder, plan, texts, made, answered)
    answers, verdicts = answer_plan(plan, readings)
    reaches = tuple(None if isinf(each.reach) else each.reach for each in verdicts)
    return Combination(tuple(answers), plan, len(repeated), reaches, tuple(unfinished))


def _read_texts(sources: Sequence[Path], plans: Sequence[Plan]) -> dict[str, bytes]:
    """The problems with their texts, and the cautions, each from the first run that has it undamaged."""
    files: dict[str, bytes] = {}
    readers: dict[str, Callable[[Path, Plan], object]] = {TEXTS: read_kept_problems, CAUTIONS: read_cautions}
    for name, read in readers.items():
        for source, plan in zip(sources, plans, strict=True):
            if name in files or not os.path.lexists(source / name):
                continue
            content = read_own(source / name)
            try:
                read(source, plan)
                files[name] = content
            except RunError as error:
                log.warning("%s; it is left out", error)
    return files


def _read_otherwise(source: Path, plan: Plan, interpret: Interpretation) -> Plan:
    """The plan with its members read in another way, calibrated where there is a calibration for it."""
    was = plan.manner.interpretation
    if interpret == was:
        return plan
    if "cohort" in (interpret, was):
        raise RunError(f"{source}: members that were trained for {was} can't be read as {interpret}")
    calibration = builtin_calibration(interpret, kinds_of(member.settings for member in plan.members))
    prior = plan.manner.prior if calibration else EVEN
    return replace(plan, manner=Manner(interpret, plan.manner.radius, prior, calibration))


def _joint_plan(sources: Sequence[Path], plans: Sequence[Plan], members: Iterable[Member]) -> Plan:
    first = plans[0]
    request: dict[str, Any] = {"combined": [str(source) for source in sources]}
    request |= {key: first.request.get(key) for key in ("problems", "control", "reference")}
    request |= {"mask_shared": True} if any(plan.request.get("mask_shared") for plan in plans) else {}
    return Plan(
        "combined", tuple(members), first.groups, first.layout, first.manner, request, skipped=first.skipped
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
    if plan.request.get("reference") != its.request.get("reference"):
        raise RunError(f"{first} and {other} were made with different reference populations; they can't be joined")
    if changed := differences(manner_values(plan.manner), manner_values(its.manner)):
        ways = {plan.manner.interpretation, its.manner.interpretation}
        remedy = "--interpret reads both in one way"
        if len(ways) == 1 or "cohort" in ways:  # they differ in radius, prior or calibration, or can't be read anew
            remedy = "make them with the same preset, --prior and --calibration"
        raise RunError(f"{first} and {other} are read otherwise ({changed[0]}); {remedy}")
