"""The members of an ensemble, trained by workers."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import cpu_count

from byline.engines.protocol import EngineResult, Progress, Runtime, load_engine
from byline.engines.questions import Questions
from byline.runs.plan import Member, describe_environment
from byline.runs.progress import TrainingProgress
from byline.runs.workers import SendEvent, run_here, run_on_cluster


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
    return run_here(train_member, [dataclasses.replace(job, threads=threads) for job in jobs], cores, send)


def count_cores() -> int:
    """Return the number of cores that this process may use, also inside a container."""
    cores: int = cpu_count()
    return cores
