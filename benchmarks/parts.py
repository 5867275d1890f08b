"""Where the time of training goes, and what was tried instead: microseconds a character, on one thread.

    python benchmarks/parts.py [--hidden 99] [--store]
    python benchmarks/parts.py --table          print what is stored, run nothing

Each part of kernels.py runs by itself on a mini-batch of 40 characters with half of the hidden units at zero, as they
are in training. An alternative does the work of the part above it in another way.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from byline.engines.compiling import compiler
from byline.engines.matrix import Floats32
from byline.engines.rnn import kernels, network
from byline.settings.settings import Settings
from speed import product_rate
from stored import RESULTS, commit

STORED = RESULTS / "parts.json"
BATCH, DEPTH, SYMBOLS, HEADS, REACH = 40, 70, 40, 100, 52  # REACH: steps of a pass, a quarter of the depth unused
compiled = compiler(Path(__file__), Path(kernels.__file__), Path(network.__file__))


@compiled
def steps(weights: Any, hidden: Any, symbols: Any, noise: Any, active: Any, times: int) -> None:
    size = hidden.shape[1]
    for _ in range(times):
        for t in range(DEPTH, DEPTH + BATCH):
            kernels._step(weights, hidden[t - 1], symbols[t], noise[t : t + size], hidden[t], 0, active)


@compiled
def head(weights: Any, sums: Any, rows: Any, targets: Any, learns: Any, errors: Any, scratch: Any, rules: Any, times: int) -> None:  # fmt: skip  # noqa: E501
    for _ in range(times):
        kernels._learn_head(weights, sums, rows, targets, 3, learns, True, errors, scratch, rules)


@compiled
def backward(hidden: Any, errors: Any, depth: int, scratch: Any, times: int) -> None:
    for _ in range(times):
        kernels._backward(hidden, errors, 0, depth, 0.0, 0, scratch)


@compiled
def product(a: Any, b: Any, c: Any, times: int) -> None:
    for _ in range(times):
        np.dot(a, b, c)


@compiled
def outer(a: Any, b: Any, c: Any, times: int) -> None:
    for _ in range(times):
        np.dot(a.T, b, c)


@compiled
def transpose(a: Any, b: Any, times: int) -> None:
    for _ in range(times):
        for i in range(len(a)):
            for j in range(len(a)):
                b[j, i] = a[i, j]


@compiled
def change(weights: Any, sums: Any, gradient: Any, times: int) -> None:
    for _ in range(times):
        kernels._adagrad(weights, sums, gradient, 0.03)


@compiled
def skip_one_by_one(matrix: Any, states: Any, out: Any, times: int) -> None:
    for k in range(times):
        factors = states[k % len(states)]  # another one each time, or the processor learns which units are at zero
        for i in range(len(factors)):
            if factors[i] != 0:
                for j in range(len(out)):
                    out[j] += factors[i] * matrix[i, j]


@compiled
def skip_four_at_a_time(matrix: Any, states: Any, out: Any, active: Any, times: int) -> None:
    for k in range(times):
        kernels._add_rows(out, matrix, states[k % len(states)], active)


@compiled
def polynomial(z: Any, powers: Any, times: int) -> None:
    for _ in range(times):
        for t in range(len(z)):
            kernels._exponentials(z[t], powers)


@compiled
def encoded_texts(z: Any, times: int) -> None:
    for _ in range(times):
        for t in range(len(z)):
            highest = z[t].max()
            for v in range(z.shape[1]):
                z[t, v] = np.exp(z[t, v] - highest)


def per_character(function: Callable[..., object], *arguments: object, characters: float = BATCH) -> float:
    """Microseconds, the best of seven."""
    function(*arguments, 1)
    times = 1_000
    best = np.inf
    for _ in range(7):
        begin = time.perf_counter()
        function(*arguments, times)
        best = min(best, time.perf_counter() - begin)
    return best / times / characters * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hidden", type=int, default=99)
    parser.add_argument("--store", action="store_true", help=f"keep the figures in {STORED.name}")
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    options = parser.parse_args()
    figures = json.loads(STORED.read_text(encoding="utf-8")) if options.table else measure(options.hidden)
    if options.store:
        STORED.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(f"{figures['hidden']} hidden units; matrix product at {figures['product_gflops']} GFLOP/s\n")
    print("| part | microseconds a character |\n|---|---|")
    for name, microseconds in figures["microseconds"].items():
        print(f"| {name} | {microseconds:.3f} |")


def measure(size: int) -> dict[str, Any]:
    """The figures, by part."""
    rng = np.random.default_rng(0)
    weights = network.start_weights(HEADS, SYMBOLS, size, "gaussian", rng)
    sums = network.start_accumulators(weights)
    rules = network.rules_of(Settings(hidden=size, rate=1e-9))
    scratch = kernels._make_scratch(rules, HEADS, size, SYMBOLS)

    def normal(*shape: int) -> Floats32:
        return rng.standard_normal(shape, dtype=np.float32)

    hidden = np.maximum(normal(DEPTH + BATCH, size), 0)
    symbols = rng.integers(0, SYMBOLS, DEPTH + BATCH).astype(np.int32)
    noise, errors = 0.2 * normal(2_000), 0.1 * normal(BATCH, size)
    learns = np.ones(BATCH, np.uint8)
    scratch.transposed[:] = weights.recurrent.T
    flat, square = normal(size * SYMBOLS), normal(size, size)
    state, out = hidden[-1].copy(), np.zeros(size, np.float32)
    states = np.maximum(normal(4_000, size), 0)

    def drawn(times: int) -> None:
        for _ in range(times):
            rng.standard_normal((BATCH, size), dtype=np.float32)

    def offsets(times: int) -> None:
        for _ in range(times):
            rng.integers(0, 60_000, 4_000, dtype=np.int32)

    with threadpool_limits(limits=1, user_api="blas"):
        lines = [
            ("recurrence forward", per_character(steps, weights, hidden.copy(), symbols, noise, scratch.active)),
            ("pass back through time", per_character(backward, hidden, errors, REACH, scratch)),
            ("recurrent gradient", per_character(outer, normal(REACH, size), normal(REACH, size), square)),
            ("recurrent weights turned round", per_character(transpose, square, square.copy())),
            ("recurrent weights changed", per_character(change, square.ravel(), np.abs(square.ravel()), flat[:1].repeat(size * size))),  # noqa: E501
            ("one head in play", per_character(head, weights, sums, hidden[DEPTH:], symbols[DEPTH:].copy(), learns, errors.copy(), scratch, rules)),  # noqa: E501
            ("    of it, products", per_character(product, hidden[DEPTH:], weights.heads[0], scratch.z) * 3),
            ("    of it, exponentials", per_character(polynomial, normal(BATCH, SYMBOLS), scratch.powers)),
            ("    of it, weights changed", per_character(change, flat, np.abs(flat), flat.copy())),
            ("noise: places in the table", per_character(offsets, characters=4_000)),
            ("tried: noise drawn anew", per_character(drawn)),
            ("tried: exponentials by numba's exp", per_character(encoded_texts, normal(BATCH, SYMBOLS))),
            ("one step's product, units at zero skipped, four at a time", per_character(skip_four_at_a_time, square, states, out, scratch.active, characters=1)),  # noqa: E501
            ("tried: skipped, one at a time", per_character(skip_one_by_one, square, states, out, characters=1)),
            ("tried: dense, by BLAS", per_character(product, state, square, out, characters=1)),
            *(
                (f"tried: {n} texts in step, by BLAS", per_character(product, normal(n, size), square, normal(n, size), characters=n))  # noqa: E501
                for n in (4, 8, 16, 32)
            ),
        ]  # fmt: skip
        rate = product_rate()
    return {
        "commit": commit(),
        "hidden": size,
        "product_gflops": round(rate / 1e9),
        "microseconds": {name: round(microseconds, 4) for name, microseconds in lines},
    }


if __name__ == "__main__":
    main()
