"""An ensemble: its members trained by workers, and as many of them as fit a time budget (section 2.5)."""

from __future__ import annotations

import dataclasses
import heapq
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from byline.engines import Filled, Watch, engine_of, rnn
from byline.errors import RunError
from byline.network import start_weights
from byline.plans import Member
from byline.pools import Pool
from byline.questions import Questions
from byline.runs import maker
from byline.schedule import plan_visits
from byline.settings import Settings
from byline.training import Model, Progress, train
from byline.views import SHORTEST
from byline.workers import Tell, run_here, run_on_cluster

MOST_IN_BUDGET = 32
"""Members that a time budget buys at the most: beyond, answers hardly change any more."""
PROBE_SECONDS = 0.3
"""How long each of a pool's settings is tried in training; scoring a few thousand characters takes less."""
PROBE_TEXT = 4_000
"""Characters of each text that the probe scores."""
PROBE_SHARE = 1 / 16
"""Of each text, for engines whose time grows with the texts' lengths."""
PROBE_SUB_EPOCHS = 8
"""Sub-epochs whose texts are added up; balanced ones differ, the first being the shortest."""
MARGIN = 1.1
"""Estimates are this much longer than what the probe says: speeds vary."""


@dataclass(frozen=True)
class Job:
    """One member on the problems of one language."""

    member: Member
    place: int
    """Among the run's members, from 0."""
    group: int
    language: str
    sides: tuple[Questions, ...]
    trace: bool = False
    evidence: bool = False
    """Whether what speaks for and against in each text is wanted."""
    threads: int = 1
    """For scoring."""


@dataclass(frozen=True)
class Outcome:
    """What one member gave for one language."""

    member: Member
    group: int
    filled: tuple[Filled, ...]
    """One for each way of asking."""
    seconds: float
    made_by: Mapping[str, str]
    """The versions and the machine that made it, which on a cluster may be others than here."""


@dataclass(frozen=True)
class Advance:
    """How far a job is."""

    place: int
    group: int
    language: str
    way: int
    ways: int
    progress: Progress
    seconds: float
    """Since this way of asking began."""

    @property
    def share(self) -> float:
        """Of the job's trainings, from 0 to 1."""
        return (self.way + (self.progress.sub_epoch + self.progress.share) / self.progress.sub_epochs) / self.ways

    def ends(self) -> bool:
        """Whether it is the last of a sub-epoch."""
        return self.progress.share >= 1

    def to_values(self) -> dict[str, Any]:
        """Plain values, to be sent."""
        return dataclasses.asdict(self)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Advance:
        """From what was sent."""
        return cls(**{**values, "progress": Progress(**values["progress"])})


def train_member(job: Job, tell: Tell, proceed: Callable[[], None]) -> Outcome:
    """Train and score a member, one way of asking after the other; the same whatever runs beside it."""
    begin = time.perf_counter()
    filled = []
    for way, questions in enumerate(job.sides):
        way_began = time.perf_counter()

        def report(progress: Progress, way: int = way, began: float = way_began) -> None:
            proceed()
            seconds = time.perf_counter() - began
            tell(Advance(job.place, job.group, job.language, way, len(job.sides), progress, seconds))

        rng = np.random.default_rng([job.member.seed, job.member.number, questions.way])
        watch = Watch(report, proceed, job.threads, job.trace, evidence=job.evidence)
        filled.append(engine_of(job.member.settings.engine)(questions, job.member.settings, rng, watch))
    return Outcome(job.member, job.group, tuple(filled), time.perf_counter() - begin, maker())


def run_jobs(
    jobs: Sequence[Job], workers: int | None, cluster: str | None, tell: Tell
) -> Generator[Outcome, None, None]:
    """Outcomes as they come, from this machine's cores or from a cluster."""
    if cluster:
        return run_on_cluster(train_member, jobs, cluster, tell, Advance.to_values, Advance.from_values, Advance.ends)
    cores = workers or count_cores()
    # a lone member leaves room for another
    threads = max(1, cores // max(min(len(jobs), cores), 2))
    return run_here(train_member, [dataclasses.replace(job, threads=threads) for job in jobs], cores, tell)


def count_cores() -> int:
    """The cores that this process may use, also inside a container."""
    from joblib import cpu_count

    cores: int = cpu_count()
    return cores


@dataclass(frozen=True)
class Fit:
    """The members that fit a budget, and how that was found."""

    settings: tuple[Settings, ...]
    workers: int
    probe_seconds: float
    estimates: tuple[float, ...]
    """Seconds of each member's work on one core."""
    total: float
    """Seconds that all of them take."""


def check_budget(budget: float) -> None:
    """Refuse a time that can't be spent."""
    if not 0 < budget < float("inf"):
        raise RunError(f"the budget must be more than 0 seconds, got {budget:g}")


def fit_budget(
    pool: Pool,
    budget: float,
    seed: int,
    sides_of: Callable[[Settings], Sequence[Sequence[Questions]]],
    workers: int | None = None,
    slots: int | None = None,
) -> Fit:
    """The members, in the order that they are taken, that can be done in `budget` seconds, but at least one.

    A probe on these very texts tells how long each of the pool's settings takes; `sides_of` gives the sides of each
    language for a setting. A cluster does `slots` trainings at once; the probe runs here all the same, its machines are
    taken to be as fast as this one.
    """
    check_budget(budget)
    begin = time.perf_counter()
    count = slots or workers or count_cores()
    costs = _probe(pool, sides_of, workers or count_cores(), budget)
    elapsed = time.perf_counter() - begin
    offered = pool.take(min(MOST_IN_BUDGET, pool.most), seed)
    busy = [0.0] * count
    fitting: list[tuple[Settings, float]] = []
    for settings in offered:
        trial = list(busy)
        for cost in costs[settings]:
            heapq.heapreplace(trial, trial[0] + cost)
        # one that doesn't fit may be followed by one that does; beside a first that overruns there is time to spare
        if not fitting or max(trial) <= max(budget - elapsed, max(busy)):
            busy = trial
            fitting.append((settings, sum(costs[settings])))
    chosen, estimates = zip(*fitting, strict=True)
    return Fit(chosen, count, elapsed, estimates, max(busy))


def _probe(
    pool: Pool,
    sides_of: Callable[[Settings], Sequence[Sequence[Questions]]],
    workers: int,
    budget: float,
) -> Mapping[Settings, list[float]]:
    """The seconds that each setting takes for each language, found with all cores at work, as they will be."""
    distinct = list(dict.fromkeys(pool.rows))
    jobs = [(settings, number) for settings in distinct for number in range(len(sides_of(settings)))]
    seconds = min(PROBE_SECONDS, 0.1 * budget * workers / (2 * len(jobs)))

    def estimate(job: tuple[Settings, int], _tell: Tell, proceed: Callable[[], None]) -> tuple[Settings, int, float]:
        settings, number = job
        sides = sides_of(settings)[number]
        return settings, number, MARGIN * sum(_estimate(questions, settings, seconds, proceed) for questions in sides)

    def warm_up(questions: Questions, _tell: Tell, _proceed: Callable[[], None]) -> None:
        # compiled code is loaded here, or made
        for settings in {row.engine: row for row in distinct}.values():
            _estimate(questions, settings, 0.0, _proceed)

    list(run_here(warm_up, [sides_of(distinct[0])[0][0]], 1, lambda _: None))
    rehearsed = jobs * -(-workers // len(jobs))
    costs = {settings: [0.0] * len(sides_of(settings)) for settings in distinct}
    for settings, number, cost in run_here(estimate, rehearsed, workers, lambda _: None):
        costs[settings][number] = max(cost, costs[settings][number])
    return costs


def _estimate(questions: Questions, settings: Settings, seconds: float, proceed: Callable[[], None]) -> float:
    """Seconds to train and score one side."""
    proceed()
    rng = np.random.default_rng(0)
    if settings.engine != "rnn":
        part, share = _beginnings(questions)
        begin = time.perf_counter()
        engine_of(settings.engine)(part, settings, rng, Watch(proceed=proceed))
        return (time.perf_counter() - begin) / share
    training = _characters_to_learn(questions, settings, rng) / _characters_per_second(
        questions, settings, rng, seconds
    )
    proceed()
    return training + _scoring_seconds(questions, settings, rng)


def _beginnings(questions: Questions) -> tuple[Questions, float]:
    """The same questions with the beginnings of the texts only, and what share of all characters those are."""
    texts = tuple(text[: max(SHORTEST, round(PROBE_SHARE * len(text)))] for text in questions.texts)
    share = sum(map(len, texts)) / sum(map(len, questions.texts))
    return dataclasses.replace(questions, texts=texts, control=()), share


def _characters_to_learn(questions: Questions, settings: Settings, rng: np.random.Generator) -> float:
    """About how many characters a training learns in all."""
    looked_at = min(settings.sub_epochs, PROBE_SUB_EPOCHS)
    lengths = [
        sum(len(questions.texts[visit.text]) for visit in visits)
        for visits in islice(plan_visits(questions, settings.handling, rng), looked_at)
    ]
    control = max((len(piece) for piece in questions.control), default=0)
    later = float(np.mean(lengths[looked_at // 2 :]))
    return sum(lengths) + (settings.sub_epochs - looked_at) * later + settings.sub_epochs * control


class _EnoughError(Exception):
    """The probe has seen enough."""


def _characters_per_second(questions: Questions, settings: Settings, rng: np.random.Generator, seconds: float) -> float:
    """Speed of training, with the leakage of an average sub-epoch."""
    decay, epochs = settings.leakage_decay, settings.sub_epochs
    leakage = settings.leakage * float(np.mean(decay ** np.arange(epochs)))
    usual = settings.change({"leakage": leakage, "leakage_decay": 1.0, "sub_epochs": 100_000})
    begin, learnt, speed = 0.0, 0, 1.0

    def report(progress: Progress) -> None:
        nonlocal begin, learnt, speed
        if not learnt:  # what comes before is done once
            begin, learnt = time.perf_counter(), progress.characters
            return
        elapsed = time.perf_counter() - begin
        speed = (progress.characters - learnt) / max(elapsed, 1e-6)
        if elapsed >= seconds:
            raise _EnoughError

    try:
        train(questions, usual, rng, report)
    except _EnoughError:
        return speed
    raise AssertionError("a probe ends by itself")


def _scoring_seconds(questions: Questions, settings: Settings, rng: np.random.Generator) -> float:
    """Seconds to score all documents, from the first few thousand characters of some."""
    judged = sorted({text for document in questions.documents for text in document})
    some = judged[:: max(1, len(judged) // 4)][:4]
    short = {text: questions.texts[text][:PROBE_TEXT] for text in some}
    part = dataclasses.replace(
        questions,
        texts=tuple(short.get(number, text) for number, text in enumerate(questions.texts)),
        documents=tuple((text,) for text in some),
        questions=(),
    )
    weights = start_weights(len(questions.heads) + 1, len(questions.alphabet), settings.hidden, "gaussian", rng)
    width = min(len(questions.heads), settings.compared)  # as many heads as a document of all of them is asked about
    chosen = np.tile(np.arange(width, dtype=np.int32), (len(some), 1))
    model = Model(weights, settings, ())
    begin = time.perf_counter()
    rnn.score(model, part, chosen)
    seconds = time.perf_counter() - begin
    return seconds * sum(len(questions.texts[text]) for text in judged) / sum(len(text) for text in short.values())


def parse_duration(words: str) -> float:
    """Seconds from 90, 90s, 10m, 1.5h or 1h30m."""
    units = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
    number, total, rest = "", 0.0, words.strip().lower()
    rest += "" if rest.endswith(tuple(units)) else "s"
    try:
        for letter in rest:
            if letter in units:
                total, number = total + float(number) * units[letter], ""
            else:
                number += letter
    except ValueError:
        total = 0.0
    if not 0 < total < float("inf"):
        raise RunError(f"{words!r} is no time; write 90s, 10m or 1h30m")
    return total
