"""Speed: characters a second in training and scoring, beside the reference engine, the hardware's floor and PyTorch.

    python benchmarks/speed.py              the whole table, some minutes
    python benchmarks/speed.py --quick      the main rows on shorter texts, within 40 seconds
    python benchmarks/speed.py --json       the rows as a list of objects
    python benchmarks/speed.py --store      keep the rows in benchmarks/results/speed.json
    python benchmarks/speed.py --table      print the stored rows again, run nothing

Every row is measured in a process of its own, together with the rate of a 512 x 512 float32 matrix product on one
thread just before and after, so that a slower machine shifts both; other work on the machine shifts them unevenly. The
texts are the built-in ones, cut anew for each head. Training counts a whole schedule of 20 sub-epochs, in which leakage
decays; where only one is run, to show growth, it has the schedule's mean leakage. Neither counts reading or compiling.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import json
import multiprocessing
import platform
import resource
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from byline import __version__
from byline.corpora.problems import builtin_problems, read_problems
from byline.engines.matrix import sample_heads
from byline.engines.questions import Questions, prepare_questions
from byline.engines.rnn import engine as rnn
from byline.engines.rnn import kernels
from byline.engines.rnn.network import start_weights
from byline.engines.rnn.training import Model, train
from byline.settings.settings import Settings
from byline.text.encoder import Alphabet
from stored import RESULTS, commit

STORED = RESULTS / "speed.json"
# The author's own C engine on one core, characters a second by hidden size at 100 heads and 40 symbols, measured
# where the matrix product ran at REFERENCE_PRODUCT operations a second.
REFERENCE = {"train": {79: 28_000, 99: 24_000, 139: 12_000}, "score": {99: 25_000}}
REFERENCE_PRODUCT = 84e9
# What the reference was measured with.
SCHEDULE = Settings(rate=0.2, noise=0.2, leakage=5, leakage_decay=0.7, sub_epochs=20, depth=70, batch=40)


SYMBOLS = 40


def make_stretches(heads: int, text: int) -> Questions:
    """Each head learns a stretch of the joined built-in texts, and each stretch is a document."""
    with builtin_problems("english") as folder:
        built_in = prepare_questions(read_problems(folder).problems, Settings()).sides[0]
    alphabet = Alphabet((built_in.alphabet.symbols + "0123456789")[:SYMBOLS])
    joined = np.concatenate(built_in.texts)
    joined = joined[joined < SYMBOLS]
    rng = np.random.default_rng(0)
    texts = tuple(np.resize(np.roll(joined, -rng.integers(len(joined))), text + 1) for _ in range(heads))
    for each in texts:
        each.setflags(write=False)  # as the texts of problems are; writable ones would be compiled for separately
    own = tuple((number,) for number in range(heads))
    return Questions(alphabet, texts, own, own, ())


@dataclasses.dataclass(frozen=True)
class Row:
    """One measurement to make."""

    work: str
    hidden: int
    heads: int = 100
    text: int = 1_000
    """Characters of each head's text, or of each text that is scored."""
    whole: bool = True
    """A whole schedule of 20 sub-epochs, or one sub-epoch at the schedule's mean leakage."""
    threads: int = 1
    pytorch: bool = False
    repeats: int = 3


def rows_of(quick: bool) -> list[Row]:
    """What is measured."""
    if quick:
        train_rows = [Row("train", hidden, text=400, repeats=1, pytorch=hidden == 99) for hidden in (79, 99, 139)]
        return [*train_rows, *(Row("score", 99, text=2_000, threads=n, repeats=1, pytorch=n == 1) for n in (1, 2))]
    return [
        *(Row("train", hidden, pytorch=True) for hidden in (79, 99, 139)),
        Row("train", 20),
        *(Row("train", 99, heads=heads, text=1_000_000 // heads, whole=False) for heads in (10, 100, 1_000)),
        *(Row("train", 99, text=text, whole=False) for text in (1_000, 100_000)),
        Row("train", 99, threads=2),
        *(Row("score", hidden, text=4_000, pytorch=True) for hidden in (79, 99, 139)),
        Row("score", 99, text=4_000, threads=2),
        *(Row("score", 99, heads=heads, text=4_000) for heads in (10, 500, 1_000)),
        Row("score", 20, heads=500, text=5_000_000, repeats=1),
    ]


def main() -> None:
    options = parse_options()
    if options.table:
        show(json.loads(STORED.read_text(encoding="utf-8"))["rows"], options.json)
        return
    measured = []
    # a process for each row, so that its peak memory is its own
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1) as pool:
        for row in rows_of(options.quick):
            threads = ", two threads" if row.threads > 1 else ""
            print(f"{row.work}, {row.hidden} hidden, {row.heads} heads{threads} ...", file=sys.stderr, flush=True)
            measured.append(pool.submit(measure, row).result())
    if options.store:
        settings = {"version": __version__, "commit": commit(), "machine": platform.processor() or platform.machine()}
        lines = ",\n    ".join(json.dumps(row) for row in measured)
        head = json.dumps(settings, indent=2)[:-2]
        STORED.write_text(f'{head},\n  "rows": [\n    {lines}\n  ]\n}}\n', encoding="utf-8")
    show(measured, options.json)


def show(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print(json.dumps(rows, indent=2))
    else:
        print_table(rows)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="only the main rows, on shorter texts")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    parser.add_argument("--store", action="store_true", help=f"keep the rows in {STORED.name}")
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing; with --json too")
    return parser.parse_args()


def measure(row: Row) -> dict[str, Any]:
    """The row's figures; the best of its repeats, each set against the matrix product of the same moment."""
    work = {"train": prepare_training, "score": prepare_scoring}[row.work](row)
    best: dict[str, float] = {}
    with threadpool_limits(limits=1, user_api="blas"):
        for _ in range(row.repeats):
            before = product_rate()
            begin = time.perf_counter()
            characters = work()
            seconds = time.perf_counter() - begin
            product = (before + product_rate()) / 2
            relative = characters / seconds / product
            if relative > best.get("relative", 0):
                best = {"relative": relative, "seconds": seconds, "characters": characters, "product": product}
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        pytorch = pytorch_speed(row) if row.pytorch else None
    per_second = best["characters"] / best["seconds"]
    comparable = row.heads == 100 and row.whole and row.threads == 1
    reference = REFERENCE[row.work].get(row.hidden) if comparable else None
    return {
        "work": row.work,
        "hidden": row.hidden,
        "heads": row.heads,
        "threads": row.threads,
        "schedule": "" if row.work == "score" else "whole" if row.whole else "one sub-epoch",
        "characters": int(best["characters"]),
        "seconds": round(best["seconds"], 2),
        "characters_per_second": round(per_second),
        "product_gflops": round(best["product"] / 1e9, 1),
        "times_reference": reference and round(best["relative"] / (reference / REFERENCE_PRODUCT), 1),
        "share_of_floor": round(best["relative"] * operations(row) / row.threads, 3),
        "pytorch_characters_per_second": pytorch and round(pytorch),
        "times_pytorch": pytorch and round(per_second / pytorch, 1),
        "peak_megabytes": round(peak / 1024),
    }


def product_rate() -> float:
    """Operations a second of a 512 x 512 float32 matrix product on one thread, the best of a few."""
    a, b, c = (np.ones((512, 512), np.float32) for _ in range(3))
    best = np.inf
    for _ in range(20):
        begin = time.perf_counter()
        np.dot(a, b, c)
        best = min(best, time.perf_counter() - begin)
    return 2 * 512**3 / best


def operations(row: Row) -> float:
    """Multiplications and additions that a character can't do without.

    Scoring: each head's product. Training: forward, backward and gradient of the heads in play, own and leaked to, and
    of the recurrence, whose passes back go about 0.75 x 70 steps for 40 characters.
    """
    head = 2 * row.hidden * SYMBOLS
    if row.work == "score":
        return head * row.heads
    passes = 0.75 * SCHEDULE.depth / SCHEDULE.batch
    return 3 * head * (1 + mean_leakage()) + 2 * row.hidden**2 * (1 + 2 * passes)


def mean_leakage() -> float:
    """Heads that a character leaks to, on average over a schedule."""
    decay, sub_epochs = SCHEDULE.leakage_decay, SCHEDULE.sub_epochs
    return SCHEDULE.leakage * (1 - decay**sub_epochs) / (1 - decay) / sub_epochs


def prepare_training(row: Row) -> Callable[[], int]:
    questions = make_stretches(row.heads, row.text)
    settings = dataclasses.replace(SCHEDULE, hidden=row.hidden)
    if not row.whole:
        settings = dataclasses.replace(settings, sub_epochs=1, leakage=mean_leakage())
    train(make_stretches(5, 100), dataclasses.replace(settings, sub_epochs=1), np.random.default_rng(0))  # compiles

    def one(seed: int) -> None:
        train(questions, settings, np.random.default_rng(seed))

    def work() -> int:
        if row.threads == 1:
            one(0)
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(row.threads) as pool:
                list(pool.map(one, range(row.threads)))
        return row.heads * row.text * settings.sub_epochs * row.threads

    return work


def prepare_scoring(row: Row) -> Callable[[], int]:
    texts = max(row.threads, 40_000 // row.text)
    small = make_stretches(texts, row.text)
    rng = np.random.default_rng(0)
    weights = start_weights(row.heads, SYMBOLS, row.hidden, "gaussian", rng)
    weights.heads[:] = rng.normal(0, 0.3, weights.heads.shape)
    questions = dataclasses.replace(small, heads=tuple((0,) for _ in range(row.heads)))
    model = Model(weights, Settings(hidden=row.hidden), ())
    kernels.score_text(
        weights, np.zeros(50, np.int32), 10, 0, np.full(1, 50, np.int32), np.zeros((0, 0), np.float32)
    )  # compiles
    every = sample_heads(questions, row.heads, rng)

    def work() -> int:
        rnn.score(model, questions, every, threads=row.threads)
        return texts * row.text

    return work


def pytorch_speed(row: Row) -> float | None:
    """Characters a second of the same work in PyTorch on one thread, or None where it is not installed."""
    if importlib.util.find_spec("torch") is None:
        return None
    from in_pytorch import score_speed, train_speed

    if row.work == "train":
        return train_speed(dataclasses.replace(SCHEDULE, hidden=row.hidden), row.heads, SYMBOLS, row.repeats)
    return score_speed(row.hidden, row.heads, SYMBOLS, row.repeats)


def print_table(rows: list[dict[str, Any]]) -> None:
    titles = "work|schedule|hidden|heads|threads|characters|a second|x reference|of the floor|x PyTorch|GFLOP/s|peak MB"
    print(f"| {titles.replace('|', ' | ')} |")
    print("|---" * (titles.count("|") + 1) + "|")
    for row in rows:
        cells = (
            row["work"], row["schedule"], row["hidden"], f"{row['heads']:,}", row["threads"], f"{row['characters']:,}",
            f"{row['characters_per_second']:,}", row["times_reference"] or "", f"{row['share_of_floor']:.0%}",
            row["times_pytorch"] or "", row["product_gflops"], row["peak_megabytes"],
        )  # fmt: skip
        print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
