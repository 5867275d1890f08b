"""What it costs to keep evidence: processor time and room of a run with it and without, and how memory grows.

    BYLINE_DATA=folder-of-corpora python benchmarks/evidence.py     measure both and store them, up to an hour
    python benchmarks/evidence.py --only growth                     only how memory grows; the rest stays as stored
    python benchmarks/evidence.py --table                           print what is stored, run nothing

Cost: members of the preset best on one core, run by turns without evidence and with it in one process; the smallest of
each counts, since other work on the machine only adds. Reading the corpus and compiling don't count, writing does. The
answers of both must be the same. Growth: made-up pairs of two texts of 2,000 characters, one n-gram member, a
process of its own for each run; then `byline explain` of one of the problems, in another.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from byline.corpora.problems import ProblemSet, read_problems
from byline.report.wording import explain_problem
from byline.runs.executor import Execution
from byline.runs.folder import RunOutput
from byline.settings.settings import Pool, read_pool
from byline.tasks.verify import verify
from sampling import make_pair
from stored import RESULTS, commit

STORED = RESULTS / "evidence.json"
CORPORA = ("pan15-train-dutch", "pan15-train-english")
KINDS = ("ngram", "vectors", "rnn", "best")
PROBLEMS = (1_000, 10_000)
FEW = 6
"""Problems with which compiled code is loaded beforehand."""


def main() -> None:
    options = parse_options()
    if not options.table and options.only != "growth":
        data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
        for name in CORPORA:
            for kind in KINDS:
                store("costs", ("corpus", "members"), weigh(data / name, kind, options.repeats))
    if not options.table and options.only != "costs":
        for count in options.problems:
            for row in grow(count):
                store("growth", ("problems", "work", "evidence"), row)
    print_tables(read_stored())


def read_stored() -> dict[str, Any]:
    if not STORED.exists():
        return {"commit": "", "costs": [], "growth": []}
    stored: dict[str, Any] = json.loads(STORED.read_text(encoding="utf-8"))
    return stored


def store(part: str, keys: Sequence[str], row: dict[str, Any]) -> None:
    """Keep a row, in place of the one that was measured of the same before."""
    stored = read_stored()
    same = [each for each in stored[part] if [each[key] for key in keys] == [row[key] for key in keys]]
    rows = [row if each in same else each for each in stored[part]] + ([] if same else [row])
    STORED.write_text(json.dumps({**stored, part: rows, "commit": commit()}, indent=1) + "\n", encoding="utf-8")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("costs", "growth"), help="measure one of the two; the other stays as stored")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each kind, of which the quickest counts")
    parser.add_argument("--problems", type=int, nargs="*", default=PROBLEMS, help="made-up problems")
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    return parser.parse_args()


def pool_of(kind: str) -> Pool:
    """The preset's members of one engine, of networks the first; or all of its usual members."""
    best = read_pool("best")
    if kind == "best":
        return best
    own = best.only([kind])
    return replace(own, members=1) if kind == "rnn" else own


def weigh(corpus: Path, kind: str, repeats: int) -> dict[str, Any]:
    """Processor seconds of a corpus without evidence and with it, and the bytes that it takes."""
    problems, pool = read_problems(corpus), pool_of(kind)
    print(f"{corpus.name}, {kind} ...", file=sys.stderr, flush=True)
    run(replace(problems, problems=problems.problems[:FEW]), pool, True)
    seconds: dict[bool, list[float]] = {False: [], True: []}
    answers, size = [], 0
    for evidence in (False, True) * repeats:
        took, given, size = run(problems, pool, evidence)
        seconds[evidence].append(took)
        answers.append(given)
    assert all(given == answers[0] for given in answers)
    without, with_it = min(seconds[False]), min(seconds[True])
    return {
        "corpus": corpus.name,
        "members": kind,
        "count": pool.members,
        "seconds_without": round(without, 2),
        "seconds_with": round(with_it, 2),
        "more": round(with_it / without - 1, 3),
        "evidence_bytes": size,
        "characters": sum(len(d.text) for problem in problems.problems for d in (*problem.known, problem.unknown)),
    }


def run(problems: ProblemSet, pool: Pool, evidence: bool) -> tuple[float, list[float], int]:
    """Processor seconds, the answers, and the bytes of evidence."""
    with tempfile.TemporaryDirectory() as scratch:
        begin = time.process_time()
        found = verify(
            problems, pool, output=RunOutput(Path(scratch) / "run", evidence=evidence), execution=Execution(workers=1)
        )
        seconds = time.process_time() - begin
        size = sum(file.stat().st_size for file in Path(scratch).rglob("evidence.*"))
    return seconds, [answer.value for answer in found.answers], size


def grow(count: int) -> Iterator[dict[str, Any]]:
    """Seconds and peak memory of so many problems without evidence and with it, and of explaining one."""
    context = multiprocessing.get_context("spawn")
    with (
        tempfile.TemporaryDirectory() as scratch,
        ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as processes,
    ):
        for kept, evidence in (("not kept", False), ("kept", True)):
            print(f"{count:,} problems, evidence {kept} ...", file=sys.stderr, flush=True)
            row = processes.submit(answer, count, evidence, Path(scratch) / kept).result()
            yield {"problems": count, "work": "verify", "evidence": kept, **row}
        row = processes.submit(explain, Path(scratch) / "kept", f"p{count // 2}").result()
        yield {"problems": count, "work": "explain", "evidence": "read", **row}


def answer(count: int, evidence: bool, folder: Path) -> dict[str, Any]:
    """One n-gram member on so many made-up problems."""
    rng = np.random.default_rng(0)
    pairs = ProblemSet(tuple(make_pair(number, 2_000, rng) for number in range(count)), "pairs")
    begin = time.process_time()
    verify(
        pairs,
        replace(pool_of("ngram"), members=1),
        output=RunOutput(folder / "run", evidence=evidence),
        execution=Execution(workers=1),
    )
    return measured(begin)


def explain(folder: Path, name: str) -> dict[str, Any]:
    """One of the problems."""
    begin = time.process_time()
    assert explain_problem(folder, name, 3).passages
    return measured(begin)


def measured(begin: float) -> dict[str, Any]:
    """Seconds since then, and the process's peak memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": round(time.process_time() - begin, 1), "peak_mb": round(peak)}


def print_tables(stored: dict[str, Any]) -> None:
    print("| corpus | members | seconds without | with evidence | more | bytes a character and member |")
    print("|---|---|---|---|---|---|")
    for row in stored["costs"]:
        share = row["evidence_bytes"] / row["characters"] / row["count"]
        named = f"{row['count']} {row['members']}"
        print(f"| {row['corpus']} | {named} | {row['seconds_without']:.1f} | {row['seconds_with']:.1f}"
              f" | {row['more']:+.0%} | {share:.1f} |")  # fmt: skip
    print()
    print("| problems | work | evidence | seconds | peak MB |")
    print("|---|---|---|---|---|")
    for row in stored["growth"]:
        print(
            f"| {row['problems']:,} | {row['work']} | {row['evidence']} | {row['seconds']:,.1f} | {row['peak_mb']:,} |"
        )


if __name__ == "__main__":
    main()
