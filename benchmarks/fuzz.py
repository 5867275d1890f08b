"""Hostile bytes for everything that reads: coverage-guided cases (atheris), until each target has had its number.

    python benchmarks/fuzz.py                    a million cases in all, stored; finds go to a folder and are named
    python benchmarks/fuzz.py --cases 1000       fewer, and nothing stored
    python benchmarks/fuzz.py --target pairs     one target
    python benchmarks/fuzz.py --table            print what is stored, run nothing

Targets are in support/targets.py. A find is anything but an answer or a refusal, a case of more than 20 seconds, or one
that takes more than 2 GB. `make soak` installs atheris and runs this.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from stored import RESULTS, commit, save

TESTS = Path(__file__).parent.parent / "tests"
STORED = RESULTS / "fuzz.json"
CASES = 1_000_000
SEED = 6
LONGEST, SECONDS, MEGABYTES = 4_096, 20, 2_048
"""Bytes of a case, and what it may take."""
WEIGHTS = {"run": 0.1, "document .pdf": 0.3, "text": 0.5}
"""Of slow targets, among a million; the others weigh 1."""
FOREIGN = {"document .pdf": ["pypdf"], "document .md": ["markdown_it"]}
"""Libraries whose own ways through a case guide it too."""
COMPILED = [
    "byline.engines.rnn.kernels",
    "byline.engines.ngram.kernels",
    "byline.engines.compiling",
    "byline.engines.rnn.training",
    "byline.engines.rnn.network",
]
"""Not to be traced: a compiler reads these functions."""
_DONE = re.compile(r"^Done (\d+) runs", re.MULTILINE)
_LAST = re.compile(r"^#(\d+)\t", re.MULTILINE)


def target_names() -> list[str]:
    """Of all targets."""
    sys.path.insert(0, str(TESTS / "support"))
    from targets import targets

    return list(targets())


def shares(names: Sequence[str], cases: int) -> dict[str, int]:
    """How many cases each target gets."""
    whole = sum(WEIGHTS.get(name, 1) for name in names)
    return {name: math.ceil(cases * WEIGHTS.get(name, 1) / whole) for name in names}


def attack(name: str, cases: int, seed: int, finds: Path) -> dict[str, Any]:
    """Have a process try so many cases on a target; where it ends at a find, another goes on with the rest."""
    begin = time.perf_counter()
    done, found = 0, 0
    while done < cases and found < 5:
        word = [sys.executable, __file__, "--inside", name, "--cases", str(cases - done), "--seed", str(seed + found)]
        ended = subprocess.run(
            [*word, "--finds", str(finds)], capture_output=True, text=True, errors="replace", check=False
        )
        counts = _DONE.findall(ended.stderr) or _LAST.findall(ended.stderr)
        done += int(counts[-1]) if counts else 0
        if ended.returncode == 0:
            break
        found += 1
        said = ended.stdout[-9_000:] + ended.stderr[-9_000:]
        (finds / f"{name.replace(' ', '-')}-{found}.txt").write_text(said, encoding="utf-8")
        if not counts:
            break
    seconds = time.perf_counter() - begin
    return {"target": name, "cases": done, "finds": found, "seed": seed, "seconds": round(seconds, 1)}


def fuzz_inside(name: str, cases: int, seed: int, finds: Path) -> None:
    """Try cases on one target in this process, which atheris ends."""
    import atheris

    sys.path.insert(0, str(TESTS / "support"))
    with atheris.instrument_imports(include=["byline", *FOREIGN.get(name, [])], exclude=COMPILED):
        from targets import targets
    target = targets()[name]
    with tempfile.TemporaryDirectory() as corpus:
        for number, content in enumerate(target.seeds):
            (Path(corpus) / str(number)).write_bytes(content)
        options = [
            f"-runs={cases}", f"-seed={seed}", f"-max_len={max([LONGEST, *map(len, target.seeds)])}",
            f"-timeout={SECONDS}", f"-rss_limit_mb={MEGABYTES}", f"-artifact_prefix={finds}/{name.replace(' ', '-')}-",
            "-print_final_stats=1",
        ]  # fmt: skip
        atheris.Setup([sys.argv[0], *options, corpus], target.attack)
        atheris.Fuzz()


def table(stored: Mapping[str, Any]) -> str:
    """What is stored, as the documentation has it."""
    rows = stored["runs"]
    lines = ["| target | cases | finds left | seed |", "|---|---:|---:|---:|"]
    lines += [f"| {row['target']} | {row['cases']:,} | {row['finds']} | {row['seed']} |" for row in rows]
    whole = f"| **all** | {sum(row['cases'] for row in rows):,} | {sum(row['finds'] for row in rows)} | |"
    return "\n".join([*lines, whole])


def main() -> None:
    """Attack all targets, or one; or print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=CASES, help="of all targets together")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--target", help="only this one")
    parser.add_argument("--at-once", type=int, default=2, help="targets attacked side by side")
    parser.add_argument("--finds", type=Path, default=Path("finds"), help="where finds are kept")
    parser.add_argument("--table", action="store_true", help="print what is stored")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.inside:
        fuzz_inside(asked.inside, asked.cases, asked.seed, asked.finds)
        return
    if not asked.table:
        asked.finds.mkdir(parents=True, exist_ok=True)
        plan = shares([asked.target] if asked.target else target_names(), asked.cases)
        with ThreadPoolExecutor(asked.at_once) as pool:
            jobs = [pool.submit(attack, name, cases, asked.seed, asked.finds) for name, cases in plan.items()]
            rows = []
            for job in jobs:
                rows.append(job.result())
                print("{target}: {cases:,} cases, {finds} finds, {seconds} s".format(**rows[-1]), file=sys.stderr)
        found = {"commit": commit(), "runs": rows}
        if asked.cases >= CASES and not asked.target:
            save(STORED, found)
        print(table(found))
        sys.exit(any(row["finds"] for row in rows))
    print(table(json.loads(STORED.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main()
