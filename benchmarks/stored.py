"""Where and how benchmarks keep their results, and of which commit those are."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


def commit() -> str:
    """The commit that is checked out, marked where files other than results were changed since."""
    described = _git("describe", "--always").stdout.strip()
    changed = _git("status", "--porcelain", "--", ":/", f":!{RESULTS.name}").stdout.strip()
    return f"{described or 'unknown'}{'-dirty' if changed else ''}"


def save(path: Path, stored: dict[str, Any]) -> None:
    """Write results whole or not at all, a line for each run."""
    path.parent.mkdir(exist_ok=True)
    runs = ",\n    ".join(json.dumps(row) for row in stored["runs"])
    head = json.dumps({key: value for key, value in stored.items() if key != "runs"}, indent=2)[:-2]
    part = path.with_suffix(".part")
    part.write_text(f'{head},\n  "runs": [\n    {runs}\n  ]\n}}\n', encoding="utf-8")
    part.replace(path)


def _git(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=False, cwd=RESULTS.parent)
