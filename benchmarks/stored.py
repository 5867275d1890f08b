"""Where benchmarks keep their results, and of which commit those are."""

from __future__ import annotations

import subprocess
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def commit() -> str:
    """The commit that is checked out, marked where files were changed since."""
    called = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False, cwd=RESULTS.parent
    )
    return called.stdout.strip() or "unknown"
