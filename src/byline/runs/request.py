"""What a run is asked to do: problems, members or a budget, and how answers are made. A request becomes a plan."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

from byline.corpora.documents import Document
from byline.corpora.problems import BadProblem, Layout, require_sound
from byline.engines.language_groups import LanguageGroup
from byline.engines.questions import Questions
from byline.errors import RunError, SettingsError
from byline.judgment.calibration import Calibration, builtin_calibration, require_matching_scores
from byline.judgment.interpretation import JudgmentOptions, judgment_values
from byline.judgment.likelihood_ratio import EVEN
from byline.runs.budget import choose_members, require_budget
from byline.runs.plan import (
    Group,
    Member,
    Plan,
    PlanRequest,
    find_differences,
    hash_documents,
    hash_problems,
    package_versions,
)
from byline.settings.settings import Interpretation, Pool, Settings, kinds_of, require_members

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
            raise RunError("members and a budget exclude each other", remedy="Give {members} or {budget}, not both")
        if self.seed < 0:
            raise RunError(f"must be 0 or more, got {self.seed}", where="seed")
        if self.budget is not None:
            require_budget(self.budget)
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
        add_calibration(judgment, ensemble.candidates)
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
        return PlanRequest.from_values(json.loads(json.dumps(request.to_values())))  # as plan.json gives it back

    @property
    def skipped(self) -> tuple[tuple[str, str], ...]:
        """The ids of problems that can't be used, and the reasons."""
        return tuple((offence.id, offence.message) for offence in self.offences if offence.id is not None)

    def require_same(self, plan: Plan, folder: Path) -> None:
        """Raise RunError if the plan in a folder was made for another request, so that it can't be resumed."""
        if plan.request.combined:
            raise RunError("was combined from other runs", where=folder, remedy="Resume one of those runs instead")
        changed = find_differences(plan.request.to_values(), self.plan_request.to_values())
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
            add_calibration(self.judgment, settings),
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


def add_calibration(judgment: JudgmentOptions, settings: Sequence[Settings]) -> JudgmentOptions:
    """Return options with a calibration for members of these settings: the given one, or the built-in one if any."""
    kinds = kinds_of(settings)
    if judgment.calibration is not None:
        require_matching_scores(judgment.calibration, judgment.interpretation, kinds)
        return judgment
    found = builtin_calibration(judgment.interpretation, kinds)
    if found is None and judgment.prior != EVEN:
        raise SettingsError("has an effect on calibrated answers only", where="prior", remedy="Give a {calibration}")
    return replace(judgment, calibration=found)
