"""Execution of a plan: members are trained, stored, and made into answers."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from byline.corpora.answers import Answer, format_answers, to_frame
from byline.corpora.problems import BadProblem, Layout, Problem
from byline.engines.language_groups import LanguageGroup
from byline.engines.matrix import Side
from byline.engines.protocol import EngineResult, Progress, Runtime, load_engine
from byline.engines.questions import PreparedQuestions, Questions
from byline.judgment.checks.cautions import Cautions
from byline.judgment.fusion import MemberScores
from byline.judgment.interpretation import Verdicts, answer_problems
from byline.judgment.single_questions import LearnedFromCases
from byline.runs.folder import RunFolder, RunOutput
from byline.runs.member_files import Record, evidence_files
from byline.runs.plan import Member, Plan, describe_environment
from byline.runs.request import Request
from byline.runs.run import answer_plan, judgment_for, members_done, scores_of_record
from byline.runs.workers import (
    Finished,
    Planned,
    Report,
    SendEvent,
    TrainingProgress,
    count_cores,
    run_here,
    run_on_cluster,
)
from byline.settings.settings import Settings


@dataclass(frozen=True)
class Execution:
    """How a run is executed. The answers do not depend on it."""

    workers: int | None = None
    """The number of this machine's cores that are used (default: all)."""
    cluster: str | None = None
    """The address of a Dask scheduler whose workers train the members instead."""
    report: Report | None = None
    """Called with each event of the run, from any thread."""
    cautions: bool = True
    """Look for reasons not to trust the answers, which takes some seconds with a large reference population."""


@dataclass(frozen=True)
class LanguageRun:
    """How the problems of one language were answered."""

    language: str
    problems: int
    members: int
    """The number of members whose answers were averaged."""
    alphabet: str
    ways: int
    """2 if the problems were asked both ways."""
    heads: int
    """Sets of texts that a member learned, both ways together, for the member with most of them."""
    documents: int
    """Sets of texts that this member scored, both ways together."""
    control: str
    """How the control corpus was used, in words."""
    control_repeats: int
    """Control texts left out because the problems hold them."""
    center: float
    """The score that became 0.5."""
    strength: float
    """How far asked pairs stand out from others: their mean score divided by its standard deviation."""
    matched: float | None
    """The weight of the norm with matched cohorts, from 0 to 1, or None if there is no such norm."""
    learned: tuple[LearnedFromCases, ...] = ()
    """What the cases of the reference say, for each pair of lengths and set of authors."""


@dataclass(frozen=True)
class Verification:
    """The answers, and how they were made."""

    answers: tuple[Answer, ...]
    layout: Layout
    plan: Plan
    runs: tuple[LanguageRun, ...]
    skipped: tuple[BadProblem, ...] = ()
    """Problems that could not be used and were answered 0.5."""
    problems: tuple[Problem, ...] = ()
    """The problems that were answered."""
    cautions: Cautions | None = None
    """Reasons not to trust the answers, or None if they were not looked for."""

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with a row for each answer."""
        rows = [
            {
                "id": answer.id,
                "answer": answer.value,
                "score": answer.score,
                "llr": answer.llr,
                "low": answer.interval[0] if answer.interval else None,
                "high": answer.interval[1] if answer.interval else None,
                "probability": answer.probability,
            }
            for answer in self.answers
        ]
        return to_frame(rows, ("id", "answer", "score", "llr", "low", "high", "probability"))


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, with the answers of the members that are done, if there is one for each language."""

    def __init__(self, result: Verification | None) -> None:
        super().__init__("interrupted")
        self.result = result


@dataclass(frozen=True)
class MemberJob:
    """One member on the problems of one language."""

    member: Member
    place: int
    """Its place in the plan, from 0."""
    group: int
    language: str
    sides: tuple[Questions, ...]
    trace: bool = False
    evidence: bool = False
    """Whether the evidence in each text is wanted."""
    threads: int = 1
    """Threads for scoring."""


@dataclass(frozen=True)
class MemberOutcome:
    """The result of one member for one language."""

    member: Member
    group: int
    filled: tuple[EngineResult, ...]
    """One for each way of asking."""
    seconds: float
    made_by: Mapping[str, str]
    """The versions and the kind of machine, which may differ on a cluster."""


def train_member(job: MemberJob, send: SendEvent, proceed: Callable[[], None]) -> MemberOutcome:
    """Train and score a member, one way of asking after the other. Jobs that run at the same time have no effect."""
    begin = time.perf_counter()
    filled = []
    for way, questions in enumerate(job.sides):
        way_began = time.perf_counter()

        def report(progress: Progress, way: int = way, began: float = way_began) -> None:
            proceed()
            seconds = time.perf_counter() - began
            send(TrainingProgress(job.place, job.group, job.language, way, len(job.sides), progress, seconds))

        rng = np.random.default_rng([job.member.seed, job.member.number, questions.way])
        runtime = Runtime(report, proceed, job.threads, job.trace, evidence=job.evidence)
        filled.append(load_engine(job.member.settings.engine)(questions, job.member.settings, rng, runtime))
    return MemberOutcome(job.member, job.group, tuple(filled), time.perf_counter() - begin, describe_environment())


def run_jobs(
    jobs: Sequence[MemberJob], workers: int | None, cluster: str | None, send: SendEvent
) -> Generator[MemberOutcome, None, None]:
    """Yield outcomes as they come, from this machine's cores or from a cluster."""
    if cluster:
        return run_on_cluster(train_member, jobs, cluster, send)
    cores = workers or count_cores()
    threads = max(1, cores // max(min(len(jobs), cores), 2))  # a single job leaves half of the cores free
    return run_here(train_member, [replace(job, threads=threads) for job in jobs], cores, send)


class RunExecutor:
    """Executes a plan."""

    def __init__(
        self, plan: Plan, request: Request, output: RunOutput | None, execution: Execution, cautions: Cautions | None
    ) -> None:
        self.plan, self.groups, self.execution, self.cautions = plan, request.groups, execution, cautions
        self.output = output
        self.offences = [
            *request.offences,
            *request.unanswerable_problems([member.settings for member in plan.members]),
        ]
        self.folder = RunFolder(output.folder, plan) if output else None
        self.report = execution.report or (lambda event: None)
        self.scores: dict[tuple[Member, int], MemberScores] = {}
        """By member and number of the language."""

    def run(self) -> Verification:
        """Train the members that are not done yet, and answer."""
        trace, evidence = (self.output.trace, self.output.evidence) if self.output else (False, False)
        jobs = [
            MemberJob(member, place, number, group.language, self._prepared(member, number).sides, trace, evidence)
            for place, member in enumerate(self.plan.members)
            for number, group in enumerate(self.groups)
            if not self._is_done(member, number)
        ]
        outcomes = run_jobs(jobs, self.execution.workers, self.execution.cluster, self.report)
        try:
            self.report(Planned(self.plan, len(self.scores), len(self.scores) + len(jobs)))
            for outcome in outcomes:
                self._take(outcome)
        except KeyboardInterrupt:
            for job in jobs:  # one may be stored and not counted yet
                self._is_done(job.member, job.group)
            raise Interrupted(self._result()) from None
        finally:
            outcomes.close()
        result = self._result()
        assert result is not None
        return result

    def _prepared(self, member: Member, number: int) -> PreparedQuestions:
        return self.groups[number].prepared(member.settings)

    def _is_done(self, member: Member, number: int) -> bool:
        """Return whether a member is done with a language, here or in the folder."""
        if (member, number) not in self.scores and self.folder and self.output:
            record = self.folder.load(member, number, self.output.evidence)
            if record:
                self.scores[member, number] = scores_of_record(record, self.plan)
        return (member, number) in self.scores

    def _take(self, outcome: MemberOutcome) -> None:
        """Store the result of a member."""
        member, number = outcome.member, outcome.group
        prepared = self._prepared(member, number)
        sides = tuple(Side.of(filled.matrix, side) for filled, side in zip(outcome.filled, prepared.sides, strict=True))
        curves = tuple(filled.curve for filled in outcome.filled)
        record = Record(member, number, sides, outcome.seconds, curves, self.plan.inputs, outcome.made_by)
        if self.folder:
            self.folder.save(record, {**evidence_files(outcome.filled, prepared), **self._trace_files(outcome, record)})
        self.scores[member, number] = scores_of_record(record, self.plan)
        language = self.groups[number].language
        self.report(Finished(self.plan.places[member], number, language, outcome.seconds, record.bits))

    def _trace_files(self, outcome: MemberOutcome, record: Record) -> dict[str, bytes]:
        """Return the member's own answers after each sub-epoch, if they are wanted."""
        files: dict[str, bytes] = {}
        suffix = "jsonl" if self.plan.layout == "pairs" else "txt"
        width = max(2, len(str(record.member.settings.sub_epochs)))
        for number, matrices in enumerate(zip(*(filled.trace for filled in outcome.filled), strict=True), start=1):
            sides = tuple(replace(side, matrix=matrix) for side, matrix in zip(record.sides, matrices, strict=True))
            scores = scores_of_record(replace(record, sides=sides), self.plan)
            judgment = judgment_for(self.plan, [record.member])
            answers = answer_problems(self.plan.groups[record.group].ids, [scores], judgment).answers
            files[f"trace/sub-epoch-{number:0{width}d}.{suffix}"] = format_answers(answers, self.plan.layout).encode()
        return files

    def _result(self) -> Verification | None:
        """Return the answers of the members that are done, or None if a language has none."""
        done = [len(members_done(self.plan, self.scores, number)) for number in range(len(self.groups))]
        if not all(done):
            return None
        answers, verdicts = answer_plan(self.plan, self.scores)
        settings = [member.settings for member in self.plan.members]
        runs = [_summarize(*each, settings) for each in zip(self.groups, verdicts, done, strict=True)]
        problems = tuple(problem for group in self.groups for problem in group.problems)
        return Verification(
            tuple(answers), self.plan.layout, self.plan, tuple(runs), tuple(self.offences), problems, self.cautions
        )


def _summarize(group: LanguageGroup, verdicts: Verdicts, members: int, rows: Sequence[Settings]) -> LanguageRun:
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
        verdicts.center,
        verdicts.strength,
        verdicts.matched,
        tuple(dict.fromkeys(found for found in verdicts.learned if found is not None)),
    )
