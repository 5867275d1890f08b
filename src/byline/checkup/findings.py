"""What a check-up finds: findings, in sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

State = Literal["well", "note", "broken"]
Clock = Callable[[], float]
"""Seconds; passed in, for only commands look at the clock."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    said: str
    state: State = "well"
    remedy: str = ""
    """What to do, where it is not well."""


@dataclass(frozen=True)
class Section:
    """Findings of one kind, and for programs the figures behind them."""

    title: str
    findings: tuple[Finding, ...]
    figures: Mapping[str, Any] | None = None

    @property
    def broken(self) -> bool:
        """Whether something in it keeps Byline from working as it should."""
        return any(finding.state == "broken" for finding in self.findings)

    def to_values(self) -> dict[str, Any]:
        """As plain values."""
        values: dict[str, Any] = {"title": self.title, "findings": [asdict(finding) for finding in self.findings]}
        return {**values, "figures": dict(self.figures)} if self.figures is not None else values


def first_line(error: BaseException) -> str:
    """What kind of error it is, and the first line of what it says."""
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
