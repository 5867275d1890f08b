"""The fast twin equals the definition."""

from __future__ import annotations

import numpy as np
import pytest

from byline.engines.matrix import Floats64, Ints32
from byline.engines.rnn import kernels, network
from byline.engines.rnn.network import Memory, TrainingTotals, Weights
from byline.engines.rnn.training import Arithmetic
from byline.settings.settings import Settings
from network_inputs import learners_of, noise_of

CASES = {
    "the paper's": {},
    "odd sizes": {"hidden": 17, "symbols": 7, "heads": 3},
    "one hidden unit": {"hidden": 1},
    "no hidden units": {"hidden": 0},
    "shallow": {"depth": 4},
    "shallow and odd": {"depth": 10, "batch": 7, "hidden": 5},
    "depth one": {"depth": 1},
    "batch one": {"batch": 1, "length": 40},
    "relu": {"activation": "relu"},
    "tanh": {"activation": "tanh"},
    "leakage by character": {"span": 1},
    "no noise": {"noise": 0.0},
    "zero start": {"start": "zero"},
    "zero start, no noise": {"start": "zero", "noise": 0.0},
    "fan-in start": {"start": "fan-in"},
    "shortest text": {"length": 12},
    "no skip": {"skip": 0},
    "input brake": {"noise": 50.0, "length": 41, "rate": 0.01},
    "error brakes": {"scale": 15.0, "length": 41, "rate": 0.01},
}


def train_three_texts(
    arithmetic: Arithmetic,
    *,
    heads: int = 6,
    symbols: int = 11,
    hidden: int = 13,
    length: int = 150,
    span: int | None = None,
    scale: float = 1.0,
    **values: object,
) -> tuple[Weights, Weights, Memory, list[TrainingTotals], np.ndarray]:
    settings = Settings().change({"hidden": hidden, **values})
    rules = network.rules_of(settings)
    rng = np.random.default_rng(3)
    weights = network.start_weights(heads, symbols, hidden, settings.start, rng)
    if settings.start != "zero":
        weights.heads[:] = rng.normal(0, 0.2, weights.heads.shape)
    for array in weights:
        array *= np.float32(scale)
    accumulators = network.start_accumulators(weights)
    memory = network.start_memory(hidden, settings.depth)
    span = span or settings.batch
    tallies = []
    for number in range(3):
        text = rng.integers(0, symbols, length).astype(np.int32)
        leaks = (rng.random((-(-(length - 1) // span), heads)) < 0.3).astype(np.uint8)
        noise = noise_of(np.zeros((length - 1, 0), np.float32))
        if settings.noise and hidden:
            noise = noise_of(rng.normal(0, settings.noise, (length - 1, hidden)).astype(np.float32))
        own = np.array([number % heads, (number + 2) % heads], dtype=np.int32)
        carry = (np.arange(heads) != number % heads).astype(np.uint8)  # one own head's errors stay where they are
        tallies.append(
            arithmetic.train_text(
                weights, accumulators, memory, text, learners_of(own, carry, leaks, span), noise, rules
            )
        )
    return weights, accumulators, memory, tallies, score(arithmetic, weights, text, rules.skip, rules.activation)


NOTHING = np.zeros((0, 0), np.float32)


def score(arithmetic: Arithmetic, weights: Weights, text: Ints32, skip: int = 10, activation: int = 0) -> Floats64:
    """(1, heads): the bits of a whole text."""
    return arithmetic.score_text(weights, text, skip, activation, np.array([len(text)], np.int32), NOTHING)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_training_and_scoring_agree_with_the_definition(case: dict[str, object]) -> None:
    weights, accumulators, memory, tallies, bits = train_three_texts(network, **case)
    fast_weights, fast_accumulators, fast_memory, fast_tallies, fast_bits = train_three_texts(kernels, **case)
    for name, plain, fast in zip(Weights._fields, weights, fast_weights, strict=True):
        np.testing.assert_allclose(fast, plain, rtol=1e-4, atol=1e-4 * np.abs(plain).max(initial=1e-3), err_msg=name)
    for name, plain, fast in zip(Weights._fields, accumulators, fast_accumulators, strict=True):
        np.testing.assert_allclose(fast, plain, rtol=1e-4, err_msg=name)
    np.testing.assert_allclose(fast_memory.hidden, memory.hidden, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(fast_memory.symbols, memory.symbols)
    assert fast_memory.filled == memory.filled
    if case.get("hidden") != 0:
        np.testing.assert_allclose(fast_memory.threshold, memory.threshold)
    for plain, fast in zip(tallies, fast_tallies, strict=True):
        assert fast.bits == pytest.approx(plain.bits, rel=1e-4)
        assert fast.characters == plain.characters
    np.testing.assert_allclose(fast_bits, bits, rtol=1e-4)


def test_the_parts_of_a_text_add_up_to_the_whole() -> None:
    rng = np.random.default_rng(0)
    weights = network.start_weights(3, 9, 8, "gaussian", rng)
    weights.heads[:] = rng.normal(0, 1, weights.heads.shape)
    text = rng.integers(0, 9, 2 * kernels._SCORE_ROWS + 5).astype(np.int32)
    each, plain = (np.zeros((len(text), 3), np.float32) for _ in range(2))
    ends = np.array([3, 40, 40, 90, len(text)], np.int32)  # the first is skipped whole, the third is empty
    parts = kernels.score_text(weights, text, 10, 0, ends, each)
    np.testing.assert_allclose(parts, network.score_text(weights, text, 10, 0, ends, plain), rtol=1e-5)
    np.testing.assert_allclose(parts.sum(axis=0), score(kernels, weights, text)[0], rtol=1e-9)
    assert (parts[[0, 2]] == 0).all()
    np.testing.assert_allclose(each, plain, rtol=1e-4, atol=1e-5)  # and so do its characters
    np.testing.assert_allclose(each[40:90].sum(axis=0, dtype=np.float64), parts[3], rtol=1e-5)
    assert (each[:10] == 0).all()
    assert (parts[[1, 3, 4]] > 0).all()


def test_exponentials_are_exact_enough_over_the_whole_range() -> None:
    z = np.linspace(-120, 0, 5_001, dtype=np.float32)
    wanted = np.exp(np.maximum(z.astype(np.float64), -87))
    total, highest = kernels._exponentials(z, np.empty(len(z), np.int32))
    assert highest == 0
    assert total == pytest.approx(wanted.sum(), rel=1e-5)
    np.testing.assert_allclose(z, wanted, rtol=1e-6)
