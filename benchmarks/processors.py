"""How far results differ on another processor: the plainest there is, with the plainest linear algebra.

    python benchmarks/processors.py            the built-in English problems, each engine as presets have it; stored
    python benchmarks/processors.py --table    print what is stored, run nothing

On another processor sums are added up in another order, in numba's code and in that of the linear algebra. Shown are
the largest differences of any cell of the matrix, of a problem's score by the usual interpretation, and of its answer.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from byline.corpora.problems import builtin_problems
from byline.runs.executor import Execution
from byline.runs.folder import RunOutput, read_members, read_plan
from byline.runs.request import JudgmentRequest
from byline.settings.settings import Pool, Settings
from byline.tasks.verify import verify
from stored import RESULTS, commit, save

STORED = RESULTS / "processors.json"
PLAIN = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "OPENBLAS_CORETYPE": "Prescott"}
ENGINES: Mapping[str, tuple[Settings, str]] = {
    "rnn, as usual": (Settings(), "relative"),
    "rnn, 139 hidden": (Settings(hidden=139), "relative"),
    "rnn, by rank": (Settings(), "rank"),
    "ngram": (Settings(engine="ngram"), "relative"),
    "vectors": (Settings(engine="vectors"), "relative"),
}


def results() -> dict[str, dict[str, list[float]]]:
    """Cells, scores and answers by each engine, on whichever processor this process believes to have."""
    found = {}
    for name, (settings, interpretation) in ENGINES.items():
        with builtin_problems("english") as problems, tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "run"
            pool = Pool(name, (settings,))
            given = verify(
                problems,
                pool,
                members=1,
                judgment=JudgmentRequest(interpret=interpretation),
                output=RunOutput(folder),
                execution=Execution(cautions=False),
            )  # type: ignore[arg-type]
            (record,) = read_members(folder, read_plan(folder))
        cells = np.concatenate([side.matrix.values.ravel() for side in record.sides])
        found[name] = {
            "cell": cells.tolist(),
            "score": [float(each.score or 0) for each in given.answers],
            "answer": [each.value for each in given.answers],
        }
    return found


def compare() -> list[dict[str, Any]]:
    """The largest differences, a row for each engine."""
    with tempfile.TemporaryDirectory() as cache:
        plain = {**os.environ, **PLAIN, "NUMBA_CACHE_DIR": cache}
        done = subprocess.run([sys.executable, __file__, "--here"], env=plain, stdout=subprocess.PIPE, check=True)
    there, here = json.loads(done.stdout), results()
    return [
        {"engine": name, **{
            kind: float(f"{np.abs(np.subtract(there[name][kind], here[name][kind])).max():.2g}") for kind in here[name]
        }}
        for name in here
    ]  # fmt: skip


def table(stored: Mapping[str, Any]) -> str:
    """What is stored, as the documentation has it."""
    lines = ["| engine | a cell of the matrix | a score | an answer |", "|---|---:|---:|---:|"]
    lines += [f"| {row['engine']} | {row['cell']:g} | {row['score']:g} | {row['answer']:g} |" for row in stored["runs"]]
    return "\n".join(lines)


def main() -> None:
    """Measure and store, or print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", action="store_true", help="print what is stored")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.here:
        print(json.dumps(results()))
        return
    if not asked.table:
        save(STORED, {"commit": commit(), "runs": compare()})
    print(table(json.loads(STORED.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
