"""Where benchmarks keep their results, and of which commit those are."""

from __future__ import annotations

import subprocess
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def commit() -> str:
    """The commit that is checked out, marked where files other than results were changed since."""
    described = _git("describe", "--always").stdout.strip()
    changed = _git("status", "--porcelain", "--", ":/", f":!{RESULTS.name}").stdout.strip()
    return f"{described or 'unknown'}{'-dirty' if changed else ''}"


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=False, cwd=RESULTS.parent)
