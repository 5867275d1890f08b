"""Memory: how much this machine has and how much a run needs."""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from byline.errors import RunError

log = logging.getLogger(__name__)

BASE_BYTES = 300_000_000
"""Memory of the program and its libraries."""
SHARED_BYTES, MEMBER_BYTES = 45, 20
"""Least memory per character of all texts: once, and for each member that is trained at the same time."""
EVIDENCE_FACTOR = 1.75
"""The need may grow by this factor if evidence is kept."""
CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def require_memory(characters: int, workers: int, available: int | None = None) -> None:
    """Raise RunError if even one worker needs more memory than is available; warn if `workers` may need more."""
    available = available_memory() if available is None else available
    least, most = (BASE_BYTES + characters * (SHARED_BYTES + MEMBER_BYTES * count) for count in (1, workers))
    most = int(most * EVIDENCE_FACTOR)
    if not available or most <= available:
        return
    here = f"and this machine has {available / 1e9:.1f}"
    if least > available:
        raise RunError(
            f"{characters:,} characters need at least {least / 1e9:.1f} GB of memory, {here}",
            remedy="Split the problems or shorten the texts",
        )
    advice = "resume it with one worker" if workers > 1 else "split the problems"
    need = f"{characters:,} characters may need {most / 1e9:.1f} GB of memory"
    log.warning("%s, %s. If the run is killed for that, %s", need, here, advice)


def available_memory() -> int:
    """Return the bytes that this machine or its container can use, or 0 if that is unknown."""
    limits = []
    with contextlib.suppress(AttributeError, ValueError, OSError):  # as on Windows
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in CGROUP_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # the word "max" means no limit
            limits.append(int(Path(path).read_text(encoding="ascii")))
    return max(0, min(limits, default=0))
