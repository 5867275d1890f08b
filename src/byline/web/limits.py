"""Limits on what the page accepts: bytes, files and time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The limits of one server."""

    file_bytes: int = 50_000_000
    """Size of one uploaded file."""
    total_bytes: int = 200_000_000
    """Size of all files of a draft, with archives unpacked."""
    waiting_bytes: int = 1_000_000_000
    """Size of all drafts."""
    files: int = 5_000
    """Files of a draft."""
    drafts: int = 50
    draft_seconds: float = 3_600
    """Time after which an unused draft is removed."""
    jobs: int = 250
    """Jobs that wait at the same time."""
    message_bytes: int = 100_000
    """Size of a request that is not a file."""
    keep_alive_seconds: int = 20
    """Time that a connection stays open after an answer."""
    body_seconds: float = 20
    """Time that a request's body may take, in addition to what its bytes need."""
    min_bytes_per_second: float = 20_000
    """Slowest accepted upload."""
    reading_seconds: float = 60
    """Time to extract the text of one file."""
    building_seconds: float = 900
    """Time to build a reference."""
    zip_ratio: int = 200
    """Largest allowed ratio between the contents of a zip and the zip itself."""
