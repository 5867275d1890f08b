"""Commands that write, stopped at random moments and at each of their writes; what the tests counted is stored.

    python benchmarks/faults.py            the long form of the tests of faults: some twenty minutes
    python benchmarks/faults.py --table    print what is stored, run nothing

Each stop is a test of its own (test_faults.py): what was there is as it was or replaced as a whole, nothing
half-written is left, and the same command given again ends as if nothing had been. SIGKILL, SIGTERM and SIGINT come at
random moments of a process's life, some of which end before; at each write, the process ends by itself, in the middle
of a file, or before something gets another name or is removed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stored import RESULTS, commit, save

STORED = RESULTS / "faults.json"
TESTS = Path(__file__).parent.parent / "tests"
FILES = (
    "robustness/test_faults.py", "robustness/test_survival.py", "storage/test_replacement.py", "storage/test_files.py",
)  # fmt: skip
WAYS = ("SIGKILL", "SIGTERM", "SIGINT", "too late", "at a write")
TIMES = 10


def soak(times: int) -> list[dict[str, Any]]:
    """Run the tests; how often each command was stopped in each way, all of them well."""
    with tempfile.TemporaryDirectory() as place:
        tally = Path(place) / "tally"
        settings = {**os.environ, "BYLINE_SOAK": str(times), "BYLINE_TALLY": str(tally)}
        command = [sys.executable, "-m", "pytest", "--dist=load", *(str(TESTS / name) for name in FILES)]
        subprocess.run(command, env=settings, check=True, cwd=TESTS.parent)
        counts = Counter(tally.read_text(encoding="utf-8").splitlines())
    names = dict.fromkeys(line.partition("\t")[0] for line in sorted(counts))
    return [{"command": name, **{way: counts[f"{name}\t{way}"] for way in WAYS}} for name in names]


def table(stored: Mapping[str, Any]) -> str:
    """What is stored, as the documentation has it."""
    rows = stored["runs"]
    whole = {"command": "**all**", **{way: sum(row[way] for row in rows) for way in WAYS}}
    lines = [f"| command | {' | '.join(WAYS)} |", f"|---|{'---:|' * len(WAYS)}"]
    lines += [f"| {row['command']} | {' | '.join(f'{row[way]:,}' for way in WAYS)} |" for row in [*rows, whole]]
    return "\n".join(lines)


def main() -> None:
    """Stop everything many times and store how often, or print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=TIMES, help="for each command and signal")
    parser.add_argument("--table", action="store_true", help="print what is stored")
    asked = parser.parse_args()
    if not asked.table:
        save(STORED, {"commit": commit(), "times": asked.times, "runs": soak(asked.times)})
    print(table(json.loads(STORED.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
