"""A plan carried out: members trained, kept, read, and made into answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from byline.answers import Answer, format_answers
from byline.cautions import Cautions
from byline.combination import answer_plan, manner_for, members_done, reading_of
from byline.ensemble import Advance, Job, Outcome, run_jobs
from byline.frames import to_frame
from byline.fusion import Reading
from byline.groups import LanguageGroup
from byline.interpret import Verdicts, answer_problems
from byline.modelfile import model_bytes
from byline.plans import Member, Plan
from byline.problems import Layout, Offence, Problem
from byline.requests import Request
from byline.runs import Record, RunFolder
from byline.scoring import Side
from byline.settings import Settings
from byline.testimony import evidence_files


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
    bits: float | None
    """Per character, in its last sub-epoch; None where the engine has no such thing."""


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
    evidence: bool = True
    """The texts, and what speaks for and against in them."""
    command: tuple[str, ...] | None = None
    """The words by which the run is begun, for its report."""
    answered: bool = False
    """Its answers stand in the folder around, and go with it where it is replaced."""


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
    strength: float
    """How far asked pairs stand out from others: their mean score over its standard deviation."""
    reach: float | None
    """How closely cohorts were matched; None, not at all."""


@dataclass(frozen=True)
class Verification:
    """The answers, and how they came about."""

    answers: tuple[Answer, ...]
    layout: Layout
    plan: Plan
    runs: tuple[LanguageRun, ...]
    skipped: tuple[Offence, ...] = ()
    """Problems that could not be used and were answered 0.5."""
    problems: tuple[Problem, ...] = ()
    """Those that were answered."""
    cautions: Cautions | None = None
    """What speaks against believing the answers; None where it was not looked for."""

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each answer."""
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
    """Ctrl-C, with the answers of the members that were done, if each language has one."""

    def __init__(self, result: Verification | None) -> None:
        super().__init__("interrupted")
        self.result = result


class Execution:
    """A plan being carried out."""

    def __init__(
        self,
        plan: Plan,
        request: Request,
        keep: Keep | None,
        report: Report | None,
        cautions: Cautions | None = None,
    ) -> None:
        self.plan, self.groups, self.keep, self.cautions = plan, request.groups, keep, cautions
        self.offences = [*request.offences, *request.lonely([member.settings for member in plan.members])]
        self.folder = RunFolder(keep.folder, plan) if keep else None
        self.report = report or (lambda event: None)
        self.readings: dict[tuple[Member, int], Reading] = {}
        """By the member and the group's number."""

    def run(self, workers: int | None, cluster: str | None) -> Verification:
        """Do what is not done yet, and answer."""
        jobs = []
        for place, member in enumerate(self.plan.members):
            for number, group in enumerate(self.groups):
                if not self._is_done(member, number):
                    sides = group.prepared(member.settings).sides
                    trace, evidence = (self.keep.trace, self.keep.evidence) if self.keep else (False, False)
                    jobs.append(Job(member, place, number, group.language, sides, trace, evidence))
        outcomes = run_jobs(jobs, workers, cluster, self.report)
        try:
            self.report(Planned(self.plan, len(self.readings), len(self.readings) + len(jobs)))
            for outcome in outcomes:
                self._take(outcome)
        except KeyboardInterrupt:
            for job in jobs:  # one may have been kept and not been counted yet
                self._is_done(job.member, job.group)
            raise Interrupted(self._result()) from None
        finally:
            outcomes.close()
        result = self._result()
        assert result is not None
        return result

    def _is_done(self, member: Member, number: int) -> bool:
        """Whether a member is done with a group; what only the folder knows is read there."""
        if (member, number) not in self.readings and self.folder and self.keep:
            record = self.folder.load(member, number, self.keep.evidence)
            if record:
                self.readings[member, number] = reading_of(record, self.plan)
        return (member, number) in self.readings

    def _take(self, outcome: Outcome) -> None:
        """Keep what a member gave."""
        member, number = outcome.member, outcome.group
        group = self.groups[number]
        questions = group.prepared(member.settings).sides
        sides = tuple(Side.of(filled.matrix, side) for filled, side in zip(outcome.filled, questions, strict=True))
        curves = tuple(filled.curve for filled in outcome.filled)
        record = Record(member, number, sides, outcome.seconds, curves, self.plan.inputs, outcome.made_by)
        if self.folder:
            self.folder.save(record, self._files(outcome, record))
        self.readings[member, number] = reading_of(record, self.plan)
        bits = record.bits
        self.report(Finished(self.plan.places[member], number, group.language, outcome.seconds, bits))

    def _files(self, outcome: Outcome, record: Record) -> dict[str, bytes]:
        """What is kept of a member beside its matrix: models, and its own answers after each sub-epoch."""
        assert self.keep
        group, member = self.groups[outcome.group], outcome.member
        questions = group.prepared(member.settings).sides
        files = evidence_files(outcome.filled, group.prepared(member.settings))
        for way, (filled, side) in enumerate(zip(outcome.filled, questions, strict=True), start=1):
            if self.keep.models and filled.model:
                files[f"model-{way}.safetensors"] = model_bytes(filled.model, side.alphabet)
        suffix = "jsonl" if self.plan.layout == "pairs" else "txt"
        width = max(2, len(str(member.settings.sub_epochs)))
        for number, matrices in enumerate(zip(*(filled.trace for filled in outcome.filled), strict=True), start=1):
            sides = tuple(replace(side, matrix=matrix) for side, matrix in zip(record.sides, matrices, strict=True))
            reading = reading_of(replace(record, sides=sides), self.plan)
            manner = manner_for(self.plan.manner, [member.settings])
            answers = answer_problems(self.plan.groups[outcome.group].ids, [reading], manner).answers
            files[f"trace/sub-epoch-{number:0{width}d}.{suffix}"] = format_answers(answers, self.plan.layout).encode()
        return files

    def _result(self) -> Verification | None:
        """The answers of the members that are done, or None where a language has none."""
        done = [len(members_done(self.plan, self.readings, number)) for number in range(len(self.groups))]
        if not all(done):
            return None
        answers, verdicts = answer_plan(self.plan, self.readings)
        rows = [member.settings for member in self.plan.members]
        runs = [_summary(*each, rows) for each in zip(self.groups, verdicts, done, strict=True)]
        problems = tuple(problem for group in self.groups for problem in group.problems)
        return Verification(
            tuple(answers), self.plan.layout, self.plan, tuple(runs), tuple(self.offences), problems, self.cautions
        )


def _summary(group: LanguageGroup, verdicts: Verdicts, members: int, rows: Sequence[Settings]) -> LanguageRun:
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
        verdicts.centre,
        verdicts.strength,
        None if np.isinf(verdicts.reach) else verdicts.reach,
    )
