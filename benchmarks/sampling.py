"""Many problems: what scoring under a sample of the heads does to the answers, and how time grows with the problems.

    BYLINE_DATA=folder-of-corpora python benchmarks/sampling.py     measure both and store them
    python benchmarks/sampling.py --runs DIR                        the same with members trained by pan.py --runs DIR
    python benchmarks/sampling.py --table                           print what is stored, run nothing

Effect: for each corpus one member of the default settings is scored under all heads; then, from that very
matrix, samples of K heads a document are drawn as the program draws them, ten times each, and the answers compared with
those of the full matrix. Growth: made-up pairs of two texts of 2,000 characters, one short training, all steps timed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from byline.corpora.answers import match_truth, read_truth
from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet, read_problems
from byline.engines.matrix import Matrix, Side, Table, sample_heads
from byline.engines.questions import Questions
from byline.judgment.fusion import MemberScores
from byline.judgment.interpretation import JudgmentOptions, answer_problems, score_sides
from byline.judgment.metrics import measure
from byline.runs.executor import Execution
from byline.runs.folder import RunOutput, read_members, read_plan
from byline.settings.settings import Settings
from byline.tasks.verify import verify
from byline.text.encoder import Alphabet
from stored import RESULTS, commit

STORED = RESULTS / "sampling.json"
SAMPLES = (10, 20, 40, 80)
DRAWS = 10
PROBLEMS = (500, 1_000, 2_000)
SHORT = Settings(hidden=10, sub_epochs=2)
LETTERS = "etaoinshrdlu ,."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=Path, metavar="DIR", help="run folders of preset rnn, seed 0")
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    options = parser.parse_args()
    if not options.table:
        data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
        corpora = sorted(child for child in data.iterdir() if (child / "truth.txt").exists())
        with ProcessPoolExecutor(1) as pool:  # a process of its own for each step, whose memory is its own
            growth = [pool.submit(grow, count).result() for count in PROBLEMS]
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            folders = [options.runs and options.runs / f"{corpus.name}-0" for corpus in corpora]
            effect = [row for rows in pool.map(sample, corpora, folders) for row in rows]
        stored = {"commit": commit(), "growth": growth, "effect": effect}
        STORED.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print_tables(json.loads(STORED.read_text(encoding="utf-8")))


def sample(folder: Path, run: Path | None) -> list[dict[str, Any]]:
    """One corpus: the full answers, and for each size of the sample how answers of several draws differ from them."""
    with tempfile.TemporaryDirectory() as scratch:
        if run is None:
            run = Path(scratch) / "run"
            verify(
                read_problems(folder), Settings(), skip_bad=True, execution=Execution(workers=1), output=RunOutput(run)
            )
        plan = read_plan(run)
        record = next(read_members(run, plan))
    (group,) = plan.groups
    truth = read_truth(folder)
    rng = np.random.default_rng(0)

    def judge(scores: Table) -> tuple[float, Table]:
        answers = answer_problems(group.ids, [MemberScores("rnn", scores[None])], JudgmentOptions()).answers
        given = {answer.id: answer.value for answer in answers}
        return measure(*match_truth(given, truth, folder.name)).product, np.array(list(given.values()))

    whole = score_sides(record.sides, len(group.ids), Settings(), "rank").scores[0]
    product, answers = judge(whole)
    heads = [int(side.matrix.heads.max()) + 1 for side in record.sides]
    rows = [{"corpus": folder.name, "heads": max(heads), "sample": None, "product": product}]
    for size in SAMPLES:
        if size >= max(heads):
            continue
        drawn = [thin(record.sides, size, rng, len(group.ids)) for _ in range(DRAWS)]
        judged = [judge(scores) for scores in drawn]
        rows.append(
            {
                "corpus": folder.name,
                "heads": max(heads),
                "sample": size,
                "product": float(np.mean([own for own, _ in judged])),
                "change": float(np.mean([np.abs(given - answers).mean() for _, given in judged])),
                "correlation": float(np.mean([spearmanr(scores, whole).statistic for scores in drawn])),
            }
        )
    return rows


def thin(sides: Sequence[Side], size: int, rng: np.random.Generator, problems: int) -> Table:
    """The scores that come of a sample of the heads, out of full matrices."""
    thinned = []
    for side in sides:
        documents, heads = side.matrix.values.shape
        shape = Questions(Alphabet(""), (), ((),) * heads, ((),) * documents, side.questions)
        chosen = sample_heads(shape, size, rng)
        values, seen = (
            np.take_along_axis(table, chosen, axis=1) for table in (side.matrix.values, side.matrix.excluded)
        )
        thinned.append(Side(Matrix(values, seen, chosen), side.questions, side.incomparable))
    return score_sides(thinned, problems, Settings(), "rank").scores[0]


def grow(problems: int) -> dict[str, Any]:
    """Seconds for so many pairs of 2,000 characters, reading not counted, and the process's peak memory."""
    import resource

    rng = np.random.default_rng(0)
    verify(ProblemSet(tuple(make_pair(number, 200, rng) for number in range(5)), "pairs"), SHORT)  # compiled code loads
    pairs = tuple(make_pair(number, 2_000, rng) for number in range(problems))
    begin = time.perf_counter()
    verify(ProblemSet(pairs, "pairs"), SHORT, execution=Execution(workers=1))
    seconds = time.perf_counter() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"problems": problems, "seconds": round(seconds, 1), "peak_mb": round(peak)}


def make_pair(number: int, length: int, rng: np.random.Generator) -> Problem:
    """Two texts of one invented author: letters in a proportion of his own."""
    shares = rng.dirichlet(np.full(len(LETTERS), 8.0))
    first, second = ("".join(rng.choice(list(LETTERS), length, p=shares)) for _ in range(2))
    return Problem(f"p{number}", (Document("a", first),), Document("b", second), "english", symmetric=True)


def print_tables(stored: dict[str, Any]) -> None:
    full = {row["corpus"]: row for row in stored["effect"] if row["sample"] is None}
    heads = [row["heads"] for row in full.values()]
    print(
        f"| heads asked, of {min(heads)} to {max(heads)} | corpora | product less that of all | change | correlation |"
    )
    print("|---|---|---|---|---|")
    for size in SAMPLES[::-1]:
        rows = [row for row in stored["effect"] if row["sample"] == size]
        less = np.mean([row["product"] - full[row["corpus"]]["product"] for row in rows])
        change, correlation = (np.mean([row[key] for row in rows]) for key in ("change", "correlation"))
        print(f"| {size} | {len(rows)} | {less:+.3f} | {change:.3f} | {correlation:.3f} |")
    print()
    print("| problems | seconds | seconds a thousand problems | peak MB |")
    print("|---|---|---|---|")
    for row in stored["growth"]:
        each = 1_000 * row["seconds"] / row["problems"]
        print(f"| {row['problems']:,} | {row['seconds']:.1f} | {each:.1f} | {row['peak_mb']:,} |")


if __name__ == "__main__":
    main()
