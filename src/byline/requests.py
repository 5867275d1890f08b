"""What is asked for: problems, members or a budget, and the manner of reading; settled into a plan."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from byline.calibration import builtin_calibration, require_fit
from byline.documents import Document
from byline.ensemble import Fit, fit_budget
from byline.errors import SettingsError
from byline.groups import LanguageGroup
from byline.likelihood import EVEN
from byline.plans import Group, Manner, Member, Plan, differences, fingerprint, fingerprint_texts, manner_values
from byline.pools import Pool
from byline.problems import Layout, Offence, require_sound
from byline.questions import Questions
from byline.runs import versions
from byline.settings import Settings, kinds_of

MOST_CHANGES = 6
"""Differences that are listed before the rest is counted."""


@dataclass(frozen=True)
class Request:
    """What is to be done, before it is settled by how many members."""

    pool: Pool
    manner: Manner
    """As is asked for; which calibration is built in for it depends on the members."""
    members: int | None
    budget: float | None
    seed: int
    layout: Layout
    groups: Sequence[LanguageGroup]
    offences: Sequence[Offence]
    control: Sequence[Document]
    reference: str | None
    """A hash of the reference population, its texts and who wrote which."""
    skip_bad: bool
    mask_shared: bool = False
    """The problems are without the passages that their sides shared."""

    @cached_property
    def values(self) -> dict[str, Any]:
        """All that the answers depend on, in plain values."""
        values = {
            "seed": self.seed,
            "members": self.members,
            "budget": self.budget,
            "draw": self.pool.draw,
            "member": [asdict(row) for row in self.pool.rows],
            "manner": manner_values(self.manner),
            "control": fingerprint_texts(self.control),
            "reference": self.reference,
            "problems": {name: digest for g in self.groups for name, digest in fingerprint(g.problems).items()},
            "skipped": dict(self.skipped),
            "version of": versions(),
            **({"mask_shared": True} if self.mask_shared else {}),  # plans of before have no word of it
        }
        plain: dict[str, Any] = json.loads(json.dumps(values))
        return plain

    @property
    def skipped(self) -> tuple[tuple[str, str], ...]:
        """Problems that can't be used, by id, and why."""
        return tuple((offence.id, offence.message) for offence in self.offences if offence.id is not None)

    def differences(self, plan: Plan) -> list[str]:
        """What was asked for otherwise when a plan was made."""
        return differences(plan.request, self.values) or ([] if plan.groups == self._groups else ["groups changed"])

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
            calibrated(self.manner, settings),
            self.values,
            _budget_values(self.budget, fit) if fit and self.budget is not None else None,
            self.skipped,
        )

    def lonely(self, rows: Sequence[Settings]) -> list[Offence]:
        """Problems that some of the pool's members could answer, but none with these settings."""
        known = {offence.id for offence in self.offences}
        found = (offence for group in self.groups for offence in group.lonely(rows, self.manner.interpretation))
        return [offence for offence in found if offence.id not in known]

    @property
    def _groups(self) -> tuple[Group, ...]:
        return tuple(Group(group.language, tuple(problem.id for problem in group.problems)) for group in self.groups)

    def _sides(self, settings: Settings) -> list[tuple[Questions, ...]]:
        return [group.prepared(settings).sides for group in self.groups]


def calibrated(manner: Manner, rows: Sequence[Settings]) -> Manner:
    """The manner with a calibration that holds for members of these settings: as given, or one that is built in."""
    kinds = kinds_of(rows)
    if manner.calibration is not None:
        require_fit(manner.calibration, manner.interpretation, kinds)
        return manner
    found = builtin_calibration(manner.interpretation, kinds)
    if found is None and manner.prior != EVEN:
        raise SettingsError("a prior makes probabilities of calibrated answers only; give --calibration FILE")
    return replace(manner, calibration=found)


def cant_resume(folder: Path, plan: Plan, changed: Sequence[str]) -> str:
    """Why a run can't go on: what was asked for otherwise, and by which command it was begun, where that is known."""
    shown = "; ".join(changed[:MOST_CHANGES]) + (
        f" and {more} more" if (more := len(changed) - MOST_CHANGES) > 0 else ""
    )
    begun = f" ({shlex.join(plan.command)})" if plan.command else ""
    return f"{folder}: not the same run ({shown}); give what it was begun with{begun}, or replace it by --overwrite"


def _budget_values(budget: float, fit: Fit) -> dict[str, object]:
    return {
        "seconds": budget,
        "workers": fit.workers,
        "probe_seconds": round(fit.probe_seconds, 3),
        "member_seconds": [round(seconds, 3) for seconds in fit.estimates],
        "estimate_seconds": round(fit.total, 3),
    }
