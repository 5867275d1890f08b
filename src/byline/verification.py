"""From problems to answers: the whole way through the house in one function."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from byline.answers import Answer, format_answers
from byline.documents import Document
from byline.ensemble import Advance, Fit, Job, fit_budget, run_jobs
from byline.errors import RunError
from byline.groups import LanguageGroup, lay_out_groups
from byline.interpret import answer_problems, problem_scores
from byline.pools import Pool, pool_of, read_pool
from byline.problems import Layout, Offence, ProblemSet, read_problems, read_texts
from byline.runs import (
    Group,
    Member,
    Outcome,
    Plan,
    RunFolder,
    differences,
    fingerprint,
    fingerprint_texts,
    hold,
    is_run,
    read_plan,
    start,
)
from byline.scoring import Side, Table
from byline.settings import Settings
from byline.workers import versions

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
    """Sets of texts that the first member learnt, both ways together."""
    documents: int
    """Sets of texts that the first member judged or compared with, both ways together."""
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
    if members is not None:
        pool.take(members, seed)  # refuses what can't be
    if isinstance(problems, Path | str):
        problems = read_problems(Path(problems), language)
    if isinstance(control, Path | str):
        control = read_texts(Path(control))
    groups, offences = lay_out_groups(problems, pool.rows, control, skip_bad)
    count = members if members is not None else None if budget is not None else pool.members
    request = _request(pool, count, budget, seed, groups, control)

    def settle() -> Plan:
        fit = None
        if count is None:
            assert budget is not None
            fit = fit_budget(
                pool, budget, seed, lambda s: [g.prepared(s).sides for g in groups], workers=workers, cluster=cluster
            )
        settings = fit.settings if fit else pool.take(count or 1, seed)
        return Plan(
            pool.name,
            tuple(Member(number, seed, row) for number, row in enumerate(settings)),
            tuple(Group(group.language, tuple(problem.id for problem in group.problems)) for group in groups),
            problems.layout,
            pool.radius,
            request,
            _budget_values(budget, fit) if fit and budget is not None else None,
            tuple((offence.id, offence.message) for offence in offences if offence.id is not None),
        )

    if keep is None:
        return _Verifier(settle(), groups, offences, None, report).run(workers, cluster)
    with hold(keep.folder):
        if is_run(keep.folder) and keep.resume:
            plan = read_plan(keep.folder)
            if changed := differences(plan.request, request):
                raise RunError(_cant_resume(keep.folder, changed))
        elif is_run(keep.folder) and not keep.overwrite:
            raise RunError(
                f"{keep.folder}: holds a run already; go on with it by --resume, or replace it by --overwrite"
            )
        else:
            plan = settle()
            start(keep.folder, plan)
        folder = RunFolder(keep.folder, plan, keep.models)
        return _Verifier(plan, groups, offences, folder, report, keep.trace).run(workers, cluster)


class _Verifier:
    """A plan being carried out."""

    def __init__(
        self,
        plan: Plan,
        groups: Sequence[LanguageGroup],
        offences: Sequence[Offence],
        folder: RunFolder | None,
        report: Report | None,
        trace: bool = False,
    ) -> None:
        self.plan, self.groups, self.offences, self.folder = plan, groups, offences, folder
        self.report = report or (lambda event: None)
        self.trace = trace
        self.scores: dict[tuple[int, int], Table] = {}
        """By the member's place and the group's number."""

    def run(self, workers: int | None, cluster: str | None) -> Verification:
        jobs = []
        for place, member in enumerate(self.plan.members):
            for number, group in enumerate(self.groups):
                record = self.folder.load(member, number) if self.folder else None
                if record:
                    self.scores[place, number] = self._score(record.sides, member, number)
                else:
                    sides = group.prepared(member.settings).sides
                    jobs.append(Job(member, place, number, group.language, sides, self.trace))
        self.report(Planned(self.plan, len(self.scores), len(self.scores) + len(jobs)))
        outcomes = run_jobs(jobs, workers, cluster, self.report) if jobs else iter(())
        try:
            for outcome in outcomes:
                self._take(outcome)
        except KeyboardInterrupt:
            raise Interrupted(self._result()) from None
        finally:
            if hasattr(outcomes, "close"):
                outcomes.close()
        result = self._result()
        assert result is not None
        return result

    def _take(self, outcome: Outcome) -> None:
        """Keep what a member gave."""
        member, number = outcome.member, outcome.group
        group = self.groups[number]
        questions = group.prepared(member.settings).sides
        sides = [Side.of(filled.matrix, side) for filled, side in zip(outcome.filled, questions, strict=True)]
        if self.folder:
            self.folder.save(outcome, questions, self._trace(outcome) if self.trace else {})
        place = self.plan.members.index(member)
        self.scores[place, number] = self._score(sides, member, number)
        bits = float(np.mean([filled.model.curve[-1] for filled in outcome.filled]))
        self.report(Finished(place, number, group.language, outcome.seconds, bits))

    def _score(self, sides: Sequence[Side], member: Member, number: int) -> Table:
        return problem_scores(sides, len(self.groups[number].problems), member.settings.ranking)

    def _trace(self, outcome: Outcome) -> dict[str, bytes]:
        """The member's own answers after each sub-epoch, as files by name."""
        group = self.groups[outcome.group]
        questions = group.prepared(outcome.member.settings).sides
        suffix = "jsonl" if self.plan.layout == "pairs" else "txt"
        files = {}
        for number, matrices in enumerate(zip(*(filled.trace for filled in outcome.filled), strict=True), start=1):
            sides = [Side.of(matrix, side) for matrix, side in zip(matrices, questions, strict=True)]
            scores = self._score(sides, outcome.member, outcome.group)
            answers, _ = answer_problems([problem.id for problem in group.problems], [scores], self.plan.radius)
            files[f"sub-epoch-{number:02d}.{suffix}"] = format_answers(answers, self.plan.layout).encode()
        return files

    def _result(self) -> Verification | None:
        """The answers of the members that are done, or None where a language has none."""
        answers: list[Answer] = []
        runs: list[LanguageRun] = []
        for number, group in enumerate(self.groups):
            places = sorted(place for place, of in self.scores if of == number)
            if not places:
                return None
            ids = [problem.id for problem in group.problems]
            given, middle = answer_problems(ids, [self.scores[place, number] for place in places], self.plan.radius)
            answers += given
            runs.append(_summary(group, self.plan.members[0].settings, middle, len(places)))
        without = {offence.id for offence in self.offences if offence.id is not None} - {a.id for a in answers}
        answers += [Answer(problem_id, 0.5) for problem_id in without]
        ordered = tuple(sorted(answers, key=lambda answer: answer.id))
        return Verification(ordered, self.plan.layout, self.plan, tuple(runs), tuple(self.offences))


def _as_pool(preset: str | Path | Pool | Settings) -> Pool:
    if isinstance(preset, Pool):
        return preset
    return pool_of(preset) if isinstance(preset, Settings) else read_pool(preset)


def _request(
    pool: Pool,
    members: int | None,
    budget: float | None,
    seed: int,
    groups: Sequence[LanguageGroup],
    control: Sequence[Document],
) -> dict[str, object]:
    """All that the answers depend on, in plain values."""
    request = {
        "byline": versions()["byline"],
        "seed": seed,
        "members": members,
        "budget": budget,
        "draw": pool.draw,
        "member": [asdict(row) for row in pool.rows],
        "control": fingerprint_texts(control),
        "problems": {name: digest for g in groups for name, digest in fingerprint(g.problems).items()},
    }
    plain: dict[str, object] = json.loads(json.dumps(request))
    return plain


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


def _summary(group: LanguageGroup, settings: Settings, middle: float, members: int) -> LanguageRun:
    prepared = group.prepared(settings)
    asked: Mapping[int, int] = Counter(question.problem for side in prepared.sides for question in side.questions)
    return LanguageRun(
        group.language,
        len(group.problems),
        members,
        prepared.sides[0].alphabet.symbols,
        max(asked.values(), default=1),
        sum(len(side.heads) for side in prepared.sides),
        sum(len(side.documents) for side in prepared.sides),
        prepared.control,
        prepared.repeated_control,
        middle,
    )
