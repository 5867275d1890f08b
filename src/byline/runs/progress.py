"""The events of a run, and how far it is: what is done of its trainings, and how long the rest may take."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from byline.engines.protocol import Progress
from byline.runs.plan import Plan

MIN_SHARE = 0.01
"""The share of the work that must be done before the rest can be estimated."""


@dataclass(frozen=True)
class Planned:
    """The plan is made. `kept` of its trainings are done already."""

    plan: Plan
    kept: int
    jobs: int


@dataclass(frozen=True)
class TrainingProgress:
    """How far a member is with one language."""

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
        """The share of the job's trainings that is done, from 0 to 1."""
        return (self.way + (self.progress.sub_epoch + self.progress.share) / self.progress.sub_epochs) / self.ways

    def ends(self) -> bool:
        """Return whether a sub-epoch ends."""
        return self.progress.share >= 1

    def to_values(self) -> dict[str, Any]:
        """Return plain values, to be sent."""
        return dataclasses.asdict(self)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> TrainingProgress:
        """Return the event that was sent."""
        return cls(**{**values, "progress": Progress(**values["progress"])})


@dataclass(frozen=True)
class Finished:
    """A member is done with one language."""

    place: int
    group: int
    language: str
    seconds: float
    bits: float | None
    """Bits per character in the last sub-epoch, or None if the engine does not learn step by step."""


Event = Planned | TrainingProgress | Finished
Report = Callable[[Event], None]
"""A function that is called with each event, from any thread."""


class ProgressTracker:
    """Count a run's events. Subclasses show them by overriding plan, advance and finish.

    Parameters
    ----------
    clock
        Returns seconds.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.begin = clock()
        self.jobs = 0
        self.members = 0
        self.languages = 1
        self.kept = 0
        self.done = 0
        self.shares: dict[tuple[int, int], float] = {}

    def hear(self, event: Event) -> None:
        """Count an event, then show it."""
        if isinstance(event, Planned):
            self.members, self.languages = len(event.plan.members), len(event.plan.groups)
            self.jobs, self.kept = event.jobs, event.kept
            self.plan(event)
        elif isinstance(event, TrainingProgress) and self.shares.get((event.place, event.group)) != 1.0:
            self.shares[event.place, event.group] = event.share
            self.advance(event)
        elif isinstance(event, Finished):
            self.shares[event.place, event.group] = 1.0
            self.done += 1
            self.finish(event)

    def plan(self, event: Planned) -> None:
        """Show that the plan is made."""

    def advance(self, event: TrainingProgress) -> None:
        """Show how far a training is."""

    def finish(self, event: Finished) -> None:
        """Show that a training is done."""

    @property
    def share(self) -> float:
        """The share of this process's work that is done, from 0 to 1."""
        return sum(self.shares.values()) / max(1, self.jobs - self.kept)

    @property
    def seconds_left(self) -> float | None:
        """Seconds that the rest takes at the same speed, or None if it is too early to tell."""
        return seconds_left(self._clock() - self.begin, self.share)

    def label(self, event: TrainingProgress | Finished) -> str:
        """Return the name of the training that an event is about."""
        language = f"{event.language}, " if self.languages > 1 else ""
        return f"{language}member {event.place + 1} of {self.members}"


def seconds_left(elapsed: float, done: float, rest: float | None = None) -> float | None:
    """Return the seconds that the rest takes at the same speed, or None if it is too early to tell.

    `done` and `rest` are shares of the work; the rest is all that is not done, unless it is given.
    """
    return None if done <= MIN_SHARE else elapsed / done * (1 - done if rest is None else rest)
