"""What a run is asked to do: problems, members or a budget, and how answers are made. A request becomes a plan."""

from __future__ import annotations

import heapq
import json
import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from byline.corpora.documents import Document
from byline.corpora.problems import BadProblem, Layout, require_sound
from byline.engines.language_groups import LanguageGroup
from byline.engines.protocol import estimate_seconds
from byline.engines.questions import Questions
from byline.errors import RunError, SettingsError
from byline.judgment.calibration import Calibration, require_matching_scores
from byline.judgment.interpretation import JudgmentOptions, judgment_values
from byline.judgment.likelihood_ratio import EVEN
from byline.runs.plan import (
    BudgetEstimate,
    Group,
    Member,
    Plan,
    PlanRequest,
    choose_calibration,
    find_differences,
    hash_documents,
    hash_problems,
    package_versions,
)
from byline.runs.workers import SendEvent, count_cores, run_here
from byline.settings.settings import Interpretation, Pool, Settings, kinds_of, require_members

MOST_IN_BUDGET = 32
"""The most members that a time budget is spent on. More of them hardly change the answers."""
PROBE_SECONDS = 0.3
"""Seconds of training that each of a pool's settings is tried for. Scoring a few thousand characters takes less."""
MARGIN = 1.1
"""Estimates are this much longer than measured, because speeds vary."""
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
"""Seconds in each unit of a duration."""
MOST_CHANGES = 6
"""The number of differences that a message lists."""


@dataclass(frozen=True)
class Ensemble:
    """The members that are asked for: a number of them from a pool, or as many as fit a time budget."""

    pool: Pool
    members: int | None = None
    """The number of members (default: set by the pool, unless there is a budget)."""
    budget: float | None = None
    """Seconds."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise an error if a value is invalid."""
        if self.members is not None and self.budget is not None:
            raise SettingsError(
                "members and a budget exclude each other", remedy="Give {members} or {budget}, not both"
            )
        if self.seed < 0:
            raise SettingsError(f"must be 0 or more, got {self.seed}", where="seed")
        if self.budget is not None and not 0 < self.budget < float("inf"):
            raise SettingsError(f"must be more than 0 seconds, got {self.budget:g}", where="budget")
        if self.count is not None:
            require_members(self.count)

    @property
    def count(self) -> int | None:
        """The number of members, or None if it depends on the budget."""
        return self.members if self.members is not None or self.budget is not None else self.pool.members

    @property
    def candidates(self) -> tuple[Settings, ...]:
        """The settings that members may have."""
        return self.pool.rows if self.count is None else self.pool.take(self.count, self.seed)


@dataclass(frozen=True)
class JudgmentRequest:
    """How scores become answers. What is left out is set by the preset."""

    interpret: Interpretation | None = None
    """How the matrices are read (default: `cohort` with a reference population, otherwise set by the preset)."""
    prior: float = EVEN
    """The probability of the same author before the texts are considered."""
    calibration: Calibration | None = None
    """What turns scores into likelihood ratios (default: the built-in calibration, if there is one)."""

    def resolve(self, ensemble: Ensemble, with_reference: bool) -> JudgmentOptions:
        """Return the options for an ensemble. Raise SettingsError if the calibration does not fit its members."""
        interpretation = self.interpret or ("cohort" if with_reference else ensemble.pool.interpret)
        judgment = JudgmentOptions(interpretation, ensemble.pool.radius, self.prior, self.calibration)
        resolve_calibration(judgment, ensemble.candidates)
        return judgment


@dataclass(frozen=True)
class Request:
    """What is to be done. With a budget, the number of members is not known yet."""

    ensemble: Ensemble
    judgment: JudgmentOptions
    """As asked for. Which built-in calibration is added depends on the members."""
    layout: Layout
    groups: Sequence[LanguageGroup]
    offences: Sequence[BadProblem]
    control: Sequence[Document]
    reference: str | None
    """A hash of the reference population: its texts and their authors."""
    skip_bad: bool
    mask_shared: bool = False
    """Whether the problems are without the passages that their sides share."""

    @cached_property
    def plan_request(self) -> PlanRequest:
        """Everything that the answers depend on, with hashes in place of texts."""
        ensemble = self.ensemble
        request = PlanRequest(
            {name: digest for g in self.groups for name, digest in hash_problems(g.problems).items()},
            hash_documents(self.control),
            self.reference,
            self.mask_shared,
            seed=ensemble.seed,
            members=ensemble.count,
            budget=ensemble.budget,
            draw=ensemble.pool.draw,
            settings=tuple(asdict(row) for row in ensemble.pool.rows),
            judgment=judgment_values(self.judgment),
            skipped=dict(self.skipped),
            versions=package_versions(),
        )
        return PlanRequest.from_values(json.loads(json.dumps(asdict(request))))  # as plan.json gives it back

    @property
    def skipped(self) -> tuple[tuple[str, str], ...]:
        """The ids of problems that can't be used, and the reasons."""
        return tuple((offence.id, offence.message) for offence in self.offences if offence.id is not None)

    def require_same(self, plan: Plan, folder: Path) -> None:
        """Raise RunError if the plan in a folder was made for another request, so that it can't be resumed."""
        if plan.request.combined:
            raise RunError("was combined from other runs", where=folder, remedy="Resume one of those runs instead")
        changed = find_differences(asdict(plan.request), asdict(self.plan_request))
        if not changed and plan.groups != self._groups:
            changed = ["groups changed"]
        if changed:
            more = f" and {len(changed) - MOST_CHANGES} more" if len(changed) > MOST_CHANGES else ""
            command = f" ({shlex.join(plan.command)})" if plan.command else ""
            raise RunError(
                f"not the same run ({'; '.join(changed[:MOST_CHANGES])}{more})",
                where=folder,
                remedy=f"Resume it as it was begun{command}, or replace it with {{overwrite}}",
            )

    def make_plan(self, workers: int | None, slots: int | None) -> Plan:
        """Return the plan, with as many members as asked for, or as fit the budget."""
        ensemble, estimate = self.ensemble, None
        if ensemble.budget is None:
            settings = ensemble.candidates
        else:
            settings, estimate = choose_members(
                ensemble.pool, ensemble.budget, ensemble.seed, self._sides, workers, slots
            )
        if not self.skip_bad:
            require_sound(self.unanswerable_problems(settings))
        return Plan(
            ensemble.pool.name,
            tuple(Member(number, ensemble.seed, row) for number, row in enumerate(settings)),
            self._groups,
            self.layout,
            resolve_calibration(self.judgment, settings),
            self.plan_request,
            estimate,
            self.skipped,
        )

    def unanswerable_problems(self, settings: Sequence[Settings]) -> list[BadProblem]:
        """Return problems that no member of these settings can answer, though others of the pool could."""
        known = {offence.id for offence in self.offences}
        interpretation = self.judgment.interpretation
        found = (offence for group in self.groups for offence in group.incomparable(settings, interpretation))
        return [offence for offence in found if offence.id not in known]

    @property
    def _groups(self) -> tuple[Group, ...]:
        return tuple(Group(group.language, tuple(problem.id for problem in group.problems)) for group in self.groups)

    def _sides(self, settings: Settings) -> list[tuple[Questions, ...]]:
        return [group.prepared(settings).sides for group in self.groups]


def resolve_calibration(judgment: JudgmentOptions, members: Sequence[Settings]) -> JudgmentOptions:
    """Return options with the calibration for such members. Raise SettingsError if a given value has no effect."""
    if judgment.calibration is not None:
        require_matching_scores(judgment.calibration, judgment.interpretation, kinds_of(members))
    found = choose_calibration(judgment, members)
    if found.prior != judgment.prior:
        raise SettingsError("has an effect on calibrated answers only", where="prior", remedy="Give a {calibration}")
    return found


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
        sides, clock = sides_of(settings)[number], time.perf_counter
        costs = [estimate_seconds(questions, settings, seconds, clock, proceed) for questions in sides]
        return settings, number, MARGIN * sum(costs)

    def warm_up(questions: Questions, _: SendEvent, proceed: Callable[[], None]) -> None:
        # loads or compiles the code
        for settings in {row.engine: row for row in distinct}.values():
            estimate_seconds(questions, settings, 0.0, time.perf_counter, proceed)

    list(run_here(warm_up, [sides_of(distinct[0])[0][0]], 1, lambda _: None))
    repeated = jobs * -(-workers // len(jobs))
    costs = {settings: [0.0] * len(sides_of(settings)) for settings in distinct}
    for settings, number, cost in run_here(estimate, repeated, workers, lambda _: None):
        costs[settings][number] = max(cost, costs[settings][number])
    return costs


def parse_duration(words: str) -> float:
    """Return the seconds in a duration such as 90, 90s, 10m, 1.5h or 1h30m."""
    text = words.strip().lower()
    text += "" if text.endswith(tuple(UNITS)) else "s"
    parts = re.findall(r"(\d+\.?\d*|\.\d+)([smhd])", text)
    total = sum(float(number) * UNITS[unit] for number, unit in parts)
    if "".join(number + unit for number, unit in parts) != text or not 0 < total < float("inf"):
        raise SettingsError(f"{words!r} is not a duration", remedy="Write it as 90s, 10m or 1h30m")
    return total
