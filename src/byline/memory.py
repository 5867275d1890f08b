"""How much memory this machine has, and how much a job takes: what can't fit is refused before it begins."""

from __future__ import annotations

import contextlib
import logging
import os
from pathlib import Path

from byline.errors import RunError

log = logging.getLogger(__name__)

BASE = 300_000_000
"""Bytes that the program and its libraries take."""
SHARED, EACH = 45, 20
"""Bytes for each character of all texts, at the least: once, and for each member that is worked on at the same time."""
EVIDENCE = 1.75
"""So many times that, at the most, where evidence is kept."""
GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def require_memory(characters: int, workers: int, held: int | None = None) -> None:
    """Refuse texts that this machine can't hold even with one worker, and warn of those that it may not hold.

    `held` is what it can, in bytes.
    """
    held = memory_here() if held is None else held
    least, most = (BASE + characters * (SHARED + EACH * count) for count in (1, workers))
    if not held or most * EVIDENCE <= held:
        return
    here = f"and this machine has {held / 1e9:.1f}"
    if least > held:
        raise RunError(
            f"{characters:,} characters take {least / 1e9:.1f} GB of memory or more, {here};"
            " split the problems, or shorten the texts"
        )
    fewer = "go on with --resume and --workers 1" if workers > 1 else "split the problems"
    log.warning(
        "%s characters may take %.1f GB of memory, %s; if it is stopped for that, %s",
        f"{characters:,}", most * EVIDENCE / 1e9, here, fewer,
    )  # fmt: skip


def memory_here() -> int:
    """Bytes that all processes of this machine, or of the container it runs in, can have; 0 where nobody says."""
    limits = []
    with contextlib.suppress(AttributeError, ValueError, OSError):  # as on Windows
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for group in GROUPS:
        with contextlib.suppress(OSError, ValueError):  # "max" is no number: no limit
            limits.append(int(Path(group).read_text(encoding="ascii")))
    return max(0, min(limits, default=0))
