"""How much the page takes: of bytes, of files, of time."""

from __future__ import annotations

from dataclasses import dataclass


class RefusedError(Exception):
    """A request that is not carried out: the HTTP status, and a line for the person who asked."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


@dataclass(frozen=True)
class Limits:
    """What a page may ask for."""

    file_bytes: int = 50_000_000
    """Of one file that comes in."""
    total_bytes: int = 200_000_000
    """Of a draft's files together, archives unpacked."""
    waiting_bytes: int = 1_000_000_000
    """Of all drafts."""
    files: int = 5_000
    """Of a draft."""
    drafts: int = 50
    """At once."""
    draft_seconds: float = 3_600
    """That a draft waits unused before it is removed."""
    jobs: int = 250
    """That wait at once."""
    message_bytes: int = 100_000
    """Of a request that is no file."""
    head_seconds: int = 20
    """For what comes before a request's body."""
    patience: float = 20
    """Seconds that a body may take beside what its bytes need."""
    slowest: float = 20_000
    """Bytes a second that are expected of one."""
    reading_seconds: float = 60
    """For making text of one file."""
    building_seconds: float = 900
    """For making a reference of many."""
    ratio: int = 200
    """How many times larger what a zip holds may be than the zip."""
