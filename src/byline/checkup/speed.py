"""How fast this machine is, beside what is documented."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from byline.alphabet import Alphabet
from byline.builtin import builtin_problems
from byline.checkup.findings import Clock, Finding, Section
from byline.checkup.selftest import TESTS
from byline.engines import rnn
from byline.network import start_weights
from byline.problems import read_problems
from byline.questions import Questions, prepare_questions
from byline.scoring import choose_heads
from byline.settings import Settings
from byline.training import Model, train
from byline.verification import verify


@dataclass(frozen=True)
class Documented:
    """A speed in characters a second, measured where a matrix product ran at so many GFLOP/s on one thread."""

    title: str
    speed: float
    product: float


SPEEDS = {
    "train": Documented("training, 99 hidden units, 100 heads", 374_705, 99.5),
    "score": Documented("scoring, 99 hidden units, 100 heads", 82_258, 94.7),
    "ngram": Documented("n-grams, built-in texts", 640_672, 103),
    "vectors": Documented("vectors, built-in texts", 449_141, 103),
}
"""The first two stand in docs/performance.md, the others in docs/installing.md."""
REPEATS = 2
"""Of which the better counts: before the first, code may have to be loaded."""
FAR_BELOW = 0.5
"""Of what is documented."""
SLOW_PRODUCT = 20.0
"""GFLOP/s."""
HINT = (
    "close what else computes, see that the processor is not throttled (heat, battery, a container's share), and have"
    " no more threads of BLAS than cores (OPENBLAS_NUM_THREADS)"
)


def measure_speed(clock: Clock) -> Section:
    """Characters a second on one thread, beside what is documented, scaled by the rate of a matrix product."""
    from threadpoolctl import threadpool_limits

    works = {"train": _training(), "score": _scoring(), "ngram": _verifying("ngram"), "vectors": _verifying("vectors")}
    speeds: dict[str, float] = {}
    products = []
    # more threads would wait for each other where something else computes; all that has any was loaded above
    with threadpool_limits(limits=1, user_api="blas"):
        for name, work in works.items():
            products.append(_product(clock))
            speeds[name] = max(_speed(work, clock) for _ in range(REPEATS))
        products.append(_product(clock))
    # the best of each: what else runs on the machine only ever takes away
    product = max(products)
    return Section("Speed", (judge_product(product), *judge_speeds(speeds, product)), {"product": product, **speeds})


def judge_product(product: float) -> Finding:
    """The rate of a matrix product in GFLOP/s, which all figures are scaled by."""
    said = f"{product:.0f} GFLOP/s on one thread"
    if product < SLOW_PRODUCT:
        remedy = f"have a NumPy with OpenBLAS or MKL, as pip's; or {HINT}"
        return Finding("matrix product", said, "note", remedy)
    return Finding("matrix product", said)


def judge_speeds(speeds: Mapping[str, float], product: float) -> Iterator[Finding]:
    """Each speed, and a hint where it is far below what is documented."""
    for name, speed in speeds.items():
        told = SPEEDS[name]
        share = speed / product / (told.speed / told.product)
        said = f"{speed:,.0f} characters a second, {share:.1f} of the documented"
        yield Finding(told.title, said, "note", HINT) if share < FAR_BELOW else Finding(told.title, said)


def _speed(work: Callable[[], int], clock: Clock) -> float:
    """Characters a second."""
    begin = clock()
    characters = work()
    return characters / max(clock() - begin, 1e-9)


def _product(clock: Clock) -> float:
    """GFLOP/s of a 512 x 512 float32 matrix product, the best of a few."""
    a, b, c = (np.ones((512, 512), np.float32) for _ in range(3))
    best = np.inf
    for _ in range(20):
        begin = clock()
        np.dot(a, b, c)
        best = min(best, max(clock() - begin, 1e-9))
    return float(2 * 512**3 / best / 1e9)


HEADS, SYMBOLS = 100, 40


def make_stretches(heads: int, text: int) -> Questions:
    """Each head learns a stretch of the built-in texts joined, and each stretch is a document."""
    with builtin_problems("english") as folder:
        built_in = prepare_questions(read_problems(folder).problems, Settings()).sides[0]
    alphabet = Alphabet((built_in.alphabet.symbols + "0123456789")[:SYMBOLS])
    joined = np.concatenate(built_in.texts)
    joined = joined[joined < SYMBOLS]
    rng = np.random.default_rng(0)
    texts = tuple(np.resize(np.roll(joined, -rng.integers(len(joined))), text + 1) for _ in range(heads))
    for each in texts:
        each.setflags(write=False)  # as texts of problems are: others would be compiled for anew
    own = tuple((number,) for number in range(heads))
    return Questions(alphabet, texts, own, own, ())


def _training() -> Callable[[], int]:
    """A whole schedule on short texts."""
    length = 120
    questions = make_stretches(HEADS, length)
    settings = Settings(hidden=99, rate=0.2, noise=0.2, leakage=5, leakage_decay=0.7, sub_epochs=20, depth=70, batch=40)

    def work() -> int:
        train(questions, settings, np.random.default_rng(0))
        return HEADS * length * settings.sub_epochs

    return work


def _scoring() -> Callable[[], int]:
    """Every head on every stretch."""
    length = 300
    questions = make_stretches(HEADS, length)
    rng = np.random.default_rng(0)
    weights = start_weights(HEADS, SYMBOLS, 99, "gaussian", rng)
    weights.heads[:] = rng.normal(0, 0.3, weights.heads.shape)
    model = Model(weights, Settings(hidden=99), ())
    every = choose_heads(questions, HEADS, rng)

    def work() -> int:
        rnn.score(model, questions, every, threads=1)
        return HEADS * length

    return work


def _verifying(engine: str) -> Callable[[], int]:
    """The built-in problems, answered by one engine."""
    with builtin_problems("english") as folder:
        problems = read_problems(folder)
    characters = sum(len(text.text) for each in problems.problems for text in (*each.known, each.unknown))

    def work() -> int:
        verify(problems, Settings(**TESTS[engine][0]), workers=1, cautions=False)
        return characters

    return work
