"""A time budget: the speed of each kind of member is measured, and as many members are chosen as fit."""

from __future__ import annotations

import dataclasses
import heapq
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice

import numpy as np

from byline.engines.protocol import Progress, Runtime, load_engine
from byline.engines.questions import ControlTexts, Questions
from byline.errors import RunError
from byline.runs.ensemble import count_cores
from byline.runs.plan import BudgetEstimate
from byline.runs.workers import SendEvent, run_here
from byline.settings.settings import Pool, Settings
from byline.text.encoder import SHORTEST

MOST_IN_BUDGET = 32
"""The most members that a time budget is spent on. More of them hardly change the answers."""
PROBE_SECONDS = 0.3
"""Seconds of training that each of a pool's settings is tried for. Scoring a few thousand characters takes less."""
PROBE_TEXT = 4_000
"""Characters of each text that the probe scores."""
PROBE_SHARE = 1 / 16
"""The share of each text that is used to probe engines whose time is proportional to the texts' lengths."""
PROBE_SUB_EPOCHS = 8
"""Sub-epochs whose lengths are added up. Balanced ones differ, and the first is the shortest."""
MARGIN = 1.1
"""Estimates are this much longer than measured, because speeds vary."""


def require_budget(budget: float) -> None:
    """Raise RunError if a budget is not a positive number of seconds."""
    if not 0 < budget < float("inf"):
        raise RunError(f"must be more than 0 seconds, got {budget:g}", where="budget")


def choose_members(
    pool: Pool,
    budget: float,
    seed: int,
    sides_of: Callable[[Settings], Sequence[Sequence[Questions]]],
    workers: int | None = None,
    slots: int | None = None,
) -> tuple[tuple[Settings, ...], BudgetEstimate]:
    """Return the settings of the pool's first members that fit a budget, at least one, and the time they take.

    A probe on the same texts measures how long each of the pool's settings takes.

    Parameters
    ----------
    sides_of
        Returns the sides of each language for a setting.
    slots
        The number of trainings that a cluster does at once. The probe still runs here, so its machines are assumed to
        be as fast as this one.
    """
    require_budget(budget)
    begin = time.perf_counter()
    count = slots or workers or count_cores()
    costs = _probe(pool, sides_of, workers or count_cores(), budget)
    elapsed = time.perf_counter() - begin
    busy = [0.0] * count
    chosen: list[Settings] = []
    for settings in pool.take(min(MOST_IN_BUDGET, pool.max_members), seed):
        trial = list(busy)
        for cost in costs[settings]:
            heapq.heapreplace(trial, trial[0] + cost)
        # One that doesn't fit may be followed by one that does. If the first one overruns, other workers have time.
        if not chosen or max(trial) <= max(budget - elapsed, max(busy)):
            busy = trial
            chosen.append(settings)
    seconds = tuple(round(sum(costs[settings]), 3) for settings in chosen)
    return tuple(chosen), BudgetEstimate(budget, count, round(elapsed, 3), seconds, round(max(busy), 3))


def _probe(
    pool: Pool,
    sides_of: Callable[[Settings], Sequence[Sequence[Questions]]],
    workers: int,
    budget: float,
) -> Mapping[Settings, list[float]]:
    """Measure the seconds that each setting takes for each language, with all cores at work, as they will be."""
    distinct = list(dict.fromkeys(pool.rows))
    jobs = [(settings, number) for settings in distinct for number in range(len(sides_of(settings)))]
    seconds = min(PROBE_SECONDS, 0.1 * budget * workers / (2 * len(jobs)))

    def estimate(job: tuple[Settings, int], _: SendEvent, proceed: Callable[[], None]) -> tuple[Settings, int, float]:
        settings, number = job
        sides = sides_of(settings)[number]
        return settings, number, MARGIN * sum(_estimate(questions, settings, seconds, proceed) for questions in sides)

    def warm_up(questions: Questions, _: SendEvent, proceed: Callable[[], None]) -> None:
        # loads or compiles the code
        for settings in {row.engine: row for row in distinct}.values():
            _estimate(questions, settings, 0.0, proceed)

    list(run_here(warm_up, [sides_of(distinct[0])[0][0]], 1, lambda _: None))
    repeated = jobs * -(-workers // len(jobs))
    costs = {settings: [0.0] * len(sides_of(settings)) for settings in distinct}
    for settings, number, cost in run_here(estimate, repeated, workers, lambda _: None):
        costs[settings][number] = max(cost, costs[settings][number])
    return costs


def _estimate(questions: Questions, settings: Settings, seconds: float, proceed: Callable[[], None]) -> float:
    """Estimate the seconds to train and score one side."""
    proceed()
    rng = np.random.default_rng(0)
    if settings.engine != "rnn":
        part, share = _shorten(questions)
        begin = time.perf_counter()
        load_engine(settings.engine)(part, settings, rng, Runtime(proceed=proceed))
        return (time.perf_counter() - begin) / share
    training = _characters_to_learn(questions, settings, rng) / _characters_per_second(
        questions, settings, rng, seconds
    )
    proceed()
    return training + _scoring_seconds(questions, settings, rng)


def _shorten(questions: Questions) -> tuple[Questions, float]:
    """Return the questions with the beginnings of their texts only, and the share of characters that is left."""
    texts = tuple(text[: max(SHORTEST, round(PROBE_SHARE * len(text)))] for text in questions.texts)
    share = sum(map(len, texts)) / sum(map(len, questions.texts))
    return dataclasses.replace(questions, texts=texts, control=ControlTexts()), share


def _characters_to_learn(questions: Questions, settings: Settings, rng: np.random.Generator) -> float:
    """Estimate how many characters a training learns in all."""
    from byline.engines.rnn.schedule import plan_visits  # compiles, so it is loaded only for networks

    looked_at = min(settings.sub_epochs, PROBE_SUB_EPOCHS)
    lengths = [
        sum(len(questions.texts[visit.text]) for visit in visits)
        for visits in islice(plan_visits(questions, settings.handling, rng), looked_at)
    ]
    control = max((len(piece) for piece in questions.control.pieces), default=0)
    later = float(np.mean(lengths[looked_at // 2 :]))
    return sum(lengths) + (settings.sub_epochs - looked_at) * later + settings.sub_epochs * control


class _ProbeTimeoutError(Exception):
    """The probe's time is up."""


def _characters_per_second(questions: Questions, settings: Settings, rng: np.random.Generator, seconds: float) -> float:
    """Measure the speed of training, with the leakage of an average sub-epoch."""
    from byline.engines.rnn.training import train  # compiles, so it is loaded only for networks

    decay, epochs = settings.leakage_decay, settings.sub_epochs
    leakage = settings.leakage * float(np.mean(decay ** np.arange(epochs)))
    usual = settings.change({"leakage": leakage, "leakage_decay": 1.0, "sub_epochs": 100_000})
    begin, learned, speed = 0.0, 0, 1.0

    def report(progress: Progress) -> None:
        nonlocal begin, learned, speed
        if not learned:  # the time before is spent once
            begin, learned = time.perf_counter(), progress.characters
            return
        elapsed = time.perf_counter() - begin
        speed = (progress.characters - learned) / max(elapsed, 1e-6)
        if elapsed >= seconds:
            raise _ProbeTimeoutError

    try:
        train(questions, usual, rng, report)
    except _ProbeTimeoutError:
        return speed
    raise AssertionError("a probe ends by itself")


def _scoring_seconds(questions: Questions, settings: Settings, rng: np.random.Generator) -> float:
    """Estimate the seconds to score all documents, from the first few thousand characters of some."""
    from byline.engines.rnn import engine as rnn  # compiles, so it is loaded only for networks
    from byline.engines.rnn.network import start_weights
    from byline.engines.rnn.training import Model

    judged = sorted({text for document in questions.documents for text in document})
    some = judged[:: max(1, len(judged) // 4)][:4]
    short = {text: questions.texts[text][:PROBE_TEXT] for text in some}
    part = dataclasses.replace(
        questions,
        texts=tuple(short.get(number, text) for number, text in enumerate(questions.texts)),
        documents=tuple((text,) for text in some),
        questions=(),
        excluded_pairs=frozenset(),
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
    """Return the seconds in a duration such as 90, 90s, 10m, 1.5h or 1h30m."""
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
        raise RunError(f"{words!r} is not a duration", remedy="Write it as 90s, 10m or 1h30m")
    return total
