"""How far a run is: what is done of its trainings, and how long the rest may take."""

from __future__ import annotations

from collections.abc import Callable

from byline.ensemble import Advance
from byline.execution import Event, Finished, Planned

EARLY = 0.01
"""Before so much is done, nothing can be said of the rest."""


class Tally:
    """Keeps count of a run's events; `clock` gives seconds. Whoever shows them overrides plan, advance and finish."""

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
        elif isinstance(event, Advance) and self.shares.get((event.place, event.group)) != 1.0:
            self.shares[event.place, event.group] = event.share
            self.advance(event)
        elif isinstance(event, Finished):
            self.shares[event.place, event.group] = 1.0
            self.done += 1
            self.finish(event)

    def plan(self, event: Planned) -> None:
        """Show that the plan is settled."""

    def advance(self, event: Advance) -> None:
        """Show how far a training is."""

    def finish(self, event: Finished) -> None:
        """Show that a training is done."""

    @property
    def share(self) -> float:
        """Of all that this process has to do, from 0 to 1."""
        return sum(self.shares.values()) / max(1, self.jobs - self.kept)

    @property
    def seconds_left(self) -> float | None:
        """What the rest takes if it goes on like this; None where that can't be told yet."""
        return seconds_left(self._clock() - self.begin, self.share)

    def label(self, event: Advance | Finished) -> str:
        """Which training an event is about."""
        language = f"{event.language}, " if self.languages > 1 else ""
        return f"{language}member {event.place + 1} of {self.members}"


def seconds_left(elapsed: float, done: float, rest: float | None = None) -> float | None:
    """What the rest, if not all that is not done, takes if it goes on like this; None, too early to tell."""
    return None if done <= EARLY else elapsed / done * (1 - done if rest is None else rest)
