"""Answers from finished members, and runs of the same problems combined into one."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from byline.corpora.answers import Answer, write_answers
from byline.errors import RunError
from byline.judgment.fusion import MemberScores
from byline.judgment.interpretation import judgment_values
from byline.runs.folder import (
    CAUTIONS,
    TEXTS,
    RunFolder,
    find_run,
    lock_run,
    prepare_run,
    read_cautions,
    read_members,
    read_plan,
    read_problem_file,
    replace_run,
    require_run_folder,
)
from byline.runs.member_files import copy_member, read_own, require_no_links
from byline.runs.plan import Member, Plan, PlanRequest, choose_calibration, find_differences
from byline.runs.run import answer_plan, members_done, scores_of_record
from byline.settings.settings import Interpretation
from byline.storage.files import write_files

log = logging.getLogger(__name__)

ANOTHER_FOLDER = "Choose another folder"
FINISH = "Finish it with {resume}"


@dataclass(frozen=True)
class Combination:
    """The result of combining runs."""

    answers: tuple[Answer, ...]
    plan: Plan
    repeated: int
    """The number of members that a run shares with one before it. They count once."""
    matched: tuple[float | None, ...]
    """For each language, the weight of the norm with matched cohorts, or None if there is no such norm."""
    unfinished: tuple[tuple[Path, int, int], ...] = ()
    """Runs that were stopped: the folder, the number of members that are done, and the number of planned ones."""


def combine_runs(
    paths: Sequence[Path],
    folder: Path,
    overwrite: bool = False,
    interpret: Interpretation | None = None,
    answers: bool = False,
) -> Combination:
    """Combine the members of runs of the same problems in a new run folder, and answer with all of them.

    What the folder holds stays until all members are copied.

    Parameters
    ----------
    interpret
        How the matrices are read (default: as in the runs).
    answers
        Write the answers into the folder around the run folder.
    """
    sources = [find_run(path) for path in paths]
    for source in (source.resolve() for source in sources):
        if source == folder.resolve() or source in folder.resolve().parents:
            raise RunError("is one of the runs to be combined, or inside one", where=folder, remedy=ANOTHER_FOLDER)
    plans = [read_plan(source) for source in sources]
    if interpret is not None:
        plans = [_reinterpret(source, plan, interpret) for source, plan in zip(sources, plans, strict=True)]
    for source, plan in zip(sources, plans, strict=True):
        _require_same(sources[0], plans[0], source, plan)
    homes: dict[tuple[Member, int], Path] = {}
    scores: dict[tuple[Member, int], MemberScores] = {}
    repeated: set[tuple[int, Member]] = set()
    unfinished: list[tuple[Path, int, int]] = []
    for number, (source, plan) in enumerate(zip(sources, plans, strict=True)):
        done: Counter[Member] = Counter()
        require_no_links(source)
        for record in read_members(source, plan):
            done[record.member] += 1
            key = record.member, record.group
            if key in homes:
                repeated.add((number, record.member))
                continue
            homes[key] = RunFolder(source, plan).path(*key)
            scores[key] = scores_of_record(record, plan)
        if not done:
            raise RunError("no member is finished", where=source, remedy=FINISH)
        complete = sum(count == len(plan.groups) for count in done.values())
        if complete < len(plan.members):
            unfinished.append((source, complete, len(plan.members)))
    plan = _combine_plans(sources, plans, dict.fromkeys(member for member, _ in homes))
    for number, group in enumerate(plan.groups):
        if not members_done(plan, scores, number):
            raise RunError(f"no member is finished for {group.language}", where=sources[0], remedy=FINISH)
    with lock_run(folder):
        require_run_folder(folder, overwrite, f"{ANOTHER_FOLDER}, or replace it with {{overwrite}}")
        with prepare_run(folder, plan) as new:
            for key, home in homes.items():
                copy_member(home, new.path(*key))
            write_files(new.folder, _read_problem_files(sources, plans))
            replace_run(folder, answers)
        given, verdicts = answer_plan(plan, scores)
        if answers:
            write_answers(folder.parent, given, plan.layout)
    matched = tuple(each.matched for each in verdicts)
    return Combination(tuple(given), plan, len(repeated), matched, tuple(unfinished))


def _read_problem_files(sources: Sequence[Path], plans: Sequence[Plan]) -> dict[str, bytes]:
    """Return the files of texts and cautions, each from the first run where it is undamaged."""
    files: dict[str, bytes] = {}
    readers: dict[str, Callable[[Path, Plan], object]] = {TEXTS: read_problem_file, CAUTIONS: read_cautions}
    for name, read in readers.items():
        for source, plan in zip(sources, plans, strict=True):
            if name in files or not os.path.lexists(source / name):
                continue
            content = read_own(source / name)
            try:
                read(source, plan)
                files[name] = content
            except RunError as error:
                log.warning("%s: %s. It is left out", source / name, error.what)
    return files


def _reinterpret(source: Path, plan: Plan, interpret: Interpretation) -> Plan:
    """Return the plan with its members read in another way, calibrated if there is a calibration for it."""
    before = plan.judgment.interpretation
    if interpret == before:
        return plan
    if "cohort" in (interpret, before):
        raise RunError(f"members that were trained for {before} can't be read as {interpret}", where=source)
    judgment = replace(plan.judgment, interpretation=interpret, calibration=None)
    return replace(plan, judgment=choose_calibration(judgment, [member.settings for member in plan.members]))


def _combine_plans(sources: Sequence[Path], plans: Sequence[Plan], members: Iterable[Member]) -> Plan:
    first, asked = plans[0], plans[0].request
    request = PlanRequest(
        asked.problems, asked.control, asked.reference,
        mask_shared=any(plan.request.mask_shared for plan in plans), combined=tuple(map(str, sources)),
    )  # fmt: skip
    return Plan("combined", tuple(members), first.groups, first.layout, first.judgment, request, skipped=first.skipped)


def _require_same(first: Path, plan: Plan, other: Path, its: Plan) -> None:
    """Raise RunError if two runs answer different problems, or in different ways."""
    both = f"{first} and {other}"
    skipped = [[name for name, _ in each.skipped] for each in (plan, its)]
    if plan.layout != its.layout or plan.groups != its.groups or skipped[0] != skipped[1]:
        raise RunError("answer different problems", where=both, remedy="Combine runs of the same problems")
    if changed := find_differences(plan.request.problems, its.request.problems):
        raise RunError(f"answer problems of the same names with different texts ({changed[0]})", where=both)
    if plan.request.control != its.request.control:
        raise RunError("were made with different control corpora", where=both)
    if plan.request.reference != its.request.reference:
        raise RunError("were made with different reference populations", where=both)
    if changed := find_differences(judgment_values(plan.judgment), judgment_values(its.judgment)):
        interpretations = {plan.judgment.interpretation, its.judgment.interpretation}
        remedy = "Read both in one way with {interpret}"
        if len(interpretations) == 1 or "cohort" in interpretations:  # radius, prior or calibration differ
            remedy = "Make them with the same preset, {prior} and {calibration}"
        raise RunError(f"are read in different ways ({changed[0]})", where=both, remedy=remedy)
