"""From problems to answers: the whole way through the house in one function."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from byline.answers import Answer, format_answers
from byline.combination import answer_plan, members_done, score_record
from byline.documents import Document
from byline.ensemble import Advance, Fit, Job, Outcome, check_budget, fit_budget, run_jobs
from byline.errors import RunError
from byline.groups import LanguageGroup, lay_out_groups
from byline.interpret import answer_problems
from byline.modelfile import model_bytes
from byline.plans import Group, Member, Plan, differences, fingerprint, fingerprint_texts
from byline.pools import Pool, pool_of, read_pool, require_members
from byline.problems import Layout, Offence, ProblemSet, read_problems, read_texts, require_sound
from byline.questions import Questions
from byline.runs import Record, RunFolder, hold, is_run, read_plan, require_vacant, start, versions
from byline.scoring import Side, Table
from byline.settings import Settings
from byline.workers import cluster_size

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Planned:
    """The plan is settled; `kept` of its trainings are done already."""

    plan: Plan
    kept: int
    jobs: int


@dataclass(frozen=True)
class Finished:
    """A member is done with one language."""

    place: int
    group: int
    language: str
    seconds: float
    bits: float
    """Per character, in its last sub-epoch."""


Event = Planned | Advance | Finished
Report = Callable[[Event], None]
"""Called with whatever happens, from any thread."""


@dataclass(frozen=True)
class Keep:
    """What is kept of a run, and where."""

    folder: Path
    """The run folder."""
    resume: bool = False
    """Go on with the run that is there."""
    overwrite: bool = False
    """Replace the run that is there."""
    models: bool = True
    trace: bool = False
    """Each member's answers after each sub-epoch too."""


@dataclass(frozen=True)
class LanguageRun:
    """What was done for the problems of one language."""

    language: str
    problems: int
    members: int
    """Whose answers were averaged."""
    alphabet: str
    ways: int
    """2 where the problems were asked both ways."""
    heads: int
    """Sets of texts that a member learnt, both ways together: the one with most of them."""
    documents: int
    """Sets of texts that this member judged or compared with, both ways together."""
    control: str
    """What became of the control corpus, in words."""
    control_repeats: int
    """Control texts left out because the problems hold them."""
    centre: float
    """The score that became 0.5."""


@dataclass(frozen=True)
class Verification:
    """The answers, and how they came about."""

    answers: tuple[Answer, ...]
    layout: Layout
    plan: Plan
    runs: tuple[LanguageRun, ...]
    skipped: tuple[Offence, ...] = ()
    """Problems that could not be used and were answered 0.5."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with the answers of the members that were done, if each language has one."""

    def __init__(self, result: Verification | None) -> None:
        super().__init__("interrupted")
        self.result = result


def verify(
    problems: ProblemSet | Path | str,
    preset: str | Path | Pool | Settings = "default",
    *,
    members: int | None = None,
    budget: float | None = None,
    seed: int = 0,
    control: Sequence[Document] | Path | str = (),
    language: str | None = None,
    skip_bad: bool = False,
    keep: Keep | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    report: Report | None = None,
) -> Verification:
    """Answer all problems with an ensemble: train, score, rank, average, and make the median 0.5.

    The ensemble's members come from a preset, a pool of one's own, or one setting; how many is said by `members`, or
    found to fit `budget` seconds. Problems of different languages are answered apart; `language` overrides what a
    corpus says of itself when `problems` is a path. With `skip_bad`, problems that can't be used are answered 0.5;
    otherwise they raise, all named at once. `keep` writes a run folder; members are trained by `workers` of this
    machine's cores or by the Dask cluster at an address, with the same result.
    """
    pool = _as_pool(preset)
    if members is not None and budget is not None:
        raise RunError("give members or a budget, not both")
    if seed < 0:
        raise RunError(f"seed must be 0 or more, got {seed}")
    if budget is not None:
        check_budget(budget)
    count = members if members is not None or budget is not None else pool.members
    if count is not None:
        require_members(count)
    if isinstance(problems, Path | str):
        problems = read_problems(Path(problems), language)
    if isinstance(control, Path | str):
        control = read_texts(Path(control))
    groups, offences = lay_out_groups(problems, pool.rows, control, skip_bad)
    for group in groups:
        for side in group.prepared(pool.rows[0]).sides:
            log.info("%s: %d heads, %d documents", group.language, len(side.heads), len(side.documents))
    slots = cluster_size(cluster) if cluster else None  # one that can't work is refused before anything is written
    asked = _Asked(pool, count, budget, seed, problems.layout, groups, offences, control, skip_bad)
    if keep is None:
        return _Verifier(asked.settle(workers, slots), asked, None, report).run(workers, cluster)
    with hold(keep.folder):
        if is_run(keep.folder) and keep.resume:
            plan = read_plan(keep.folder)
            if "combined" in plan.request:
                raise RunError(f"{keep.folder}: was joined from other runs by byline combine; go on with one of those")
            if changed := asked.differences(plan):
                raise RunError(_cant_resume(keep.folder, changed))
        else:
            if not keep.overwrite:
                require_vacant(keep.folder, "; go on with it by --resume, or replace it by --overwrite")
            if keep.resume:
                log.warning("%s: there is no run to go on with; a new one begins", keep.folder)
            plan = asked.settle(workers, slots)
            start(keep.folder, plan)
        return _Verifier(plan, asked, keep, report).run(workers, cluster)


@dataclass(frozen=True)
class _Asked:
    """What is to be done, before it is settled by how many members."""

    pool: Pool
    members: int | None
    budget: float | None
    seed: int
    layout: Layout
    groups: Sequence[LanguageGroup]
    offences: Sequence[Offence]
    control: Sequence[Document]
    skip_bad: bool

    @cached_property
    def request(self) -> dict[str, Any]:
        """All that the answers depend on, in plain values."""
        request = {
            "seed": self.seed,
            "members": self.members,
            "budget": self.budget,
            "draw": self.pool.draw,
            "member": [asdict(row) for row in self.pool.rows],
            "control": fingerprint_texts(self.control),
            "problems": {name: digest for g in self.groups for name, digest in fingerprint(g.problems).items()},
            "skipped": dict(self.skipped),
            "version of": versions(),
        }
        plain: dict[str, Any] = json.loads(json.dumps(request))
        return plain

    @property
    def skipped(self) -> tuple[tuple[str, str], ...]:
        return tuple((offence.id, offence.message) for offence in self.offences if offence.id is not None)

    def differences(self, plan: Plan) -> list[str]:
        """What was asked for otherwise when a plan was made."""
        return differences(plan.request, self.request) or ([] if plan.groups == self._groups else ["groups changed"])

    @property
    def _groups(self) -> tuple[Group, ...]:
        return tuple(Group(group.language, tuple(problem.id for problem in group.problems)) for group in self.groups)

    def settle(self, workers: int | None, slots: int | None) -> Plan:
        """The plan: so many members, or as many as fit the budget."""
        fit = None
        if self.budget is not None:
            fit = fit_budget(self.pool, self.budget, self.seed, self._sides, workers, slots)
        settings = fit.settings if fit else self.pool.take(self.members or 1, self.seed)
        if not self.skip_bad:
            require_sound(self.lonely(settings))
        return Plan(
            self.pool.name,
            tuple(Member(number, self.seed, row) for number, row in enumerate(settings)),
            self._groups,
            self.layout,
            self.pool.radius,
            self.request,
            _budget_values(self.budget, fit) if fit and self.budget is not None else None,
            self.skipped,
        )

    def lonely(self, rows: Sequence[Settings]) -> list[Offence]:
        """Problems that some of the pool's members could answer, but none with these settings."""
        known = {offence.id for offence in self.offences}
        return [offence for group in self.groups for offence in group.lonely(rows) if offence.id not in known]

    def _sides(self, settings: Settings) -> list[tuple[Questions, ...]]:
        return [group.prepared(settings).sides for group in self.groups]


class _Verifier:
    """A plan being carried out."""

    def __init__(self, plan: Plan, asked: _Asked, keep: Keep | None, report: Report | None) -> None:
        self.plan, self.groups, self.keep = plan, asked.groups, keep
        self.offences = [*asked.offences, *asked.lonely([member.settings for member in plan.members])]
        self.folder = RunFolder(keep.folder, plan) if keep else None
        self.report = report or (lambda event: None)
        self.scores: dict[tuple[Member, int], Table] = {}
        """By the member and the group's number."""

    def run(self, workers: int | None, cluster: str | None) -> Verification:
        """Do what is not done yet, and answer."""
        jobs = []
        for place, member in enumerate(self.plan.members):
            for number, group in enumerate(self.groups):
                record = self.folder.load(member, number) if self.folder else None
                if record:
                    self.scores[member, number] = score_record(record, self.plan)
                else:
                    sides = group.prepared(member.settings).sides
                    jobs.append(Job(member, place, number, group.language, sides, bool(self.keep and self.keep.trace)))
        outcomes = run_jobs(jobs, workers, cluster, self.report)
        try:
            self.report(Planned(self.plan, len(self.scores), len(self.scores) + len(jobs)))
            for outcome in outcomes:
                self._take(outcome)
        except KeyboardInterrupt:
            raise Interrupted(self._result()) from None
        finally:
            outcomes.close()
        result = self._result()
        assert result is not None
        return result

    def _take(self, outcome: Outcome) -> None:
        """Keep what a member gave."""
        member, number = outcome.member, outcome.group
        group = self.groups[number]
        questions = group.prepared(member.settings).sides
        sides = tuple(Side.of(filled.matrix, side) for filled, side in zip(outcome.filled, questions, strict=True))
        curves = tuple(filled.model.curve for filled in outcome.filled)
        record = Record(member, number, sides, outcome.seconds, curves, self.plan.inputs, outcome.made_by)
        if self.folder:
            self.folder.save(record, self._files(outcome, record))
        self.scores[member, number] = score_record(record, self.plan)
        bits = float(np.mean([curve[-1] for curve in curves]))
        self.report(Finished(self.plan.places[member], number, group.language, outcome.seconds, bits))

    def _files(self, outcome: Outcome, record: Record) -> dict[str, bytes]:
        """What is kept of a member beside its matrix: models, and its own answers after each sub-epoch."""
        assert self.keep
        group, member = self.groups[outcome.group], outcome.member
        questions = group.prepared(member.settings).sides
        files: dict[str, bytes] = {}
        for way, (filled, side) in enumerate(zip(outcome.filled, questions, strict=True), start=1):
            if self.keep.models:
                files[f"model-{way}.safetensors"] = model_bytes(filled.model, side.alphabet)
        suffix = "jsonl" if self.plan.layout == "pairs" else "txt"
        width = max(2, len(str(member.settings.sub_epochs)))
        for number, matrices in enumerate(zip(*(filled.trace for filled in outcome.filled), strict=True), start=1):
            sides = tuple(replace(side, matrix=matrix) for side, matrix in zip(record.sides, matrices, strict=True))
            scores = score_record(replace(record, sides=sides), self.plan)
            answers, _ = answer_problems(self.plan.groups[outcome.group].ids, [scores], self.plan.radius)
            files[f"trace/sub-epoch-{number:0{width}d}.{suffix}"] = format_answers(answers, self.plan.layout).encode()
        return files

    def _result(self) -> Verification | None:
        """The answers of the members that are done, or None where a language has none."""
        done = [len(members_done(self.plan, self.scores, number)) for number in range(len(self.groups))]
        if not all(done):
            return None
        answers, centres = answer_plan(self.plan, self.scores)
        rows = [member.settings for member in self.plan.members]
        runs = [_summary(*each, rows) for each in zip(self.groups, centres, done, strict=True)]
        return Verification(tuple(answers), self.plan.layout, self.plan, tuple(runs), tuple(self.offences))


def _as_pool(preset: str | Path | Pool | Settings) -> Pool:
    if isinstance(preset, Pool):
        return preset
    return pool_of(preset) if isinstance(preset, Settings) else read_pool(preset)


MOST_CHANGES = 6
"""Differences that are listed before the rest is counted."""


def _cant_resume(folder: Path, changed: Sequence[str]) -> str:
    shown = "; ".join(changed[:MOST_CHANGES]) + (
        f" and {more} more" if (more := len(changed) - MOST_CHANGES) > 0 else ""
    )
    return f"{folder}: not the same run ({shown}); give what it was begun with, or replace it by --overwrite"


def _budget_values(budget: float, fit: Fit) -> dict[str, object]:
    return {
        "seconds": budget,
        "workers": fit.workers,
        "probe_seconds": round(fit.probe_seconds, 3),
        "member_seconds": [round(seconds, 3) for seconds in fit.estimates],
        "estimate_seconds": round(fit.total, 3),
    }


def _summary(group: LanguageGroup, middle: float, members: int, rows: Sequence[Settings]) -> LanguageRun:
    prepared = max((group.prepared(row) for row in rows), key=lambda each: sum(len(side.heads) for side in each.sides))
    placed = dict.fromkeys(group.prepared(row).control for row in rows)
    control = " or ".join(word for word in placed if word != "none" or len(placed) == 1)
    asked: Mapping[int, int] = Counter(question.problem for side in prepared.sides for question in side.questions)
    return LanguageRun(
        group.language,
        len(group.problems),
        members,
        prepared.sides[0].alphabet.symbols,
        max(asked.values(), default=1),
        sum(len(side.heads) for side in prepared.sides),
        sum(len(side.documents) for side in prepared.sides),
        control,
        prepared.repeated_control,
        middle,
    )
