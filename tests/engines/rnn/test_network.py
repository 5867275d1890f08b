from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from byline.engines.matrix import Floats64, Ints32
from byline.engines.rnn import network
from byline.engines.rnn.network import ACTIVATIONS, Memory, Rules, Weights
from byline.settings.settings import Activation
from network_inputs import learners_of, noise_of

NO_NOISE = np.zeros((0, 0))


def make(heads: int, symbols: int, hidden: int, seed: int = 0) -> Weights:
    """Dense weights in double precision, so that numerical gradients are exact enough."""
    rng = np.random.default_rng(seed)
    shapes = [(symbols, hidden), (hidden, hidden), (hidden,), (heads, hidden, symbols), (heads, symbols)]
    return Weights(*(rng.normal(0, 0.4, shape) for shape in shapes))


def memory_in_double(hidden: int, depth: int, threshold: float = 0.0) -> Memory:
    memory = network.start_memory(hidden, depth)
    memory.threshold[0] = threshold
    return memory._replace(hidden=memory.hidden.astype(np.float64))


def score(weights: Weights, text: Ints32, skip: int = 0) -> Floats64:
    """The bits of a whole text."""
    return network.score_text(weights, text, skip, 0, np.array([len(text)], np.int32), np.zeros((0, 0), np.float32))[0]


def test_resqrt_and_its_derivative_are_the_papers() -> None:
    x = np.array([-2.0, 0.0, 3.0, 8.0])
    np.testing.assert_allclose(network.activate(x, 0), [0, 0, 1, 2])
    # 1 / (2 sqrt(x + 1)) for x > 0, otherwise 0
    np.testing.assert_allclose(network.slope(network.activate(x, 0), 0), [0, 0, 1 / 4, 1 / 6])


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_slopes_agree_with_differences(activation: Activation) -> None:
    kind = ACTIVATIONS[activation]
    x = np.array([-1.3, -0.2, 0.4, 1.7])
    numerical = (network.activate(x + 1e-6, kind) - network.activate(x - 1e-6, kind)) / 2e-6
    np.testing.assert_allclose(network.slope(network.activate(x, kind), kind), numerical, atol=1e-6)


def test_figure_2s_worked_entropy() -> None:
    """After c the model gives a 55%, after a it gives t 20%: 0.86 and 2.32 bits, 1.59 on the mean."""
    c, a, t = 0, 1, 2
    weights = Weights(
        np.eye(3) * 3,  # after symbol i, hidden unit i is sqrt(3 + 1) - 1 = 1 and the others are 0
        np.zeros((3, 3)),
        np.zeros(3),
        np.log([[[0.25, 0.55, 0.20], [0.30, 0.50, 0.20], [1 / 3, 1 / 3, 1 / 3]]]),
        np.zeros((1, 3)),
    )
    bits = score(weights, np.array([c, a, t], dtype=np.int32))
    first = score(weights, np.array([c, a], dtype=np.int32))
    assert first[0] == pytest.approx(0.86, abs=0.005)
    assert bits[0] - first[0] == pytest.approx(2.32, abs=0.005)
    assert bits[0] / 2 == pytest.approx(1.59, abs=0.005)


def test_a_softmax_is_a_distribution_even_for_large_inputs() -> None:
    logs = network.log_softmax(np.array([[1000.0, 1001.0, 0.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_allclose(np.exp(logs).sum(axis=1), 1)


def test_the_first_characters_do_not_count() -> None:
    weights = make(2, 5, 4)
    text = np.array([0, 1, 2, 3, 4, 0, 2, 4, 1, 3, 0, 1, 2], dtype=np.int32)
    whole, head = score(weights, text), score(weights, text[:10])
    np.testing.assert_allclose(score(weights, text, skip=10), whole - head)


def log_likelihood(
    weights: Weights, text: np.ndarray, own: list[int], leaks: np.ndarray, noise: np.ndarray, skip: int, kind: int
) -> float:
    """What training climbs, computed plainly: the log probabilities of all characters under the learning heads."""
    hidden = network.run(weights, text[:-1], np.zeros(len(weights.bias)), noise, kind)
    total = 0.0
    for head in range(len(weights.heads)):
        logs = network.predict(weights, hidden, head)
        for t in range(len(text) - 1):
            if t + 1 >= skip and (head in own or leaks[t, head]):
                total += logs[t, text[t + 1]]
    return total


def numerical_gradient(function: Callable[[], float], array: np.ndarray) -> np.ndarray:
    """The gradient of a function with respect to an array that it reads."""
    gradient = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        kept, ends = array[place], []
        for nudge in (1e-6, -1e-6):
            array[place] = kept + nudge
            ends.append(function())
        array[place] = kept
        gradient[place] = (ends[0] - ends[1]) / 2e-6
    return gradient


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("leaky", [False, True])
def test_gradients_agree_with_numerical_ones(activation: Activation, leaky: bool) -> None:
    heads, symbols, hidden, length, skip = 3, 4, 5, 14, 3
    kind = ACTIVATIONS[activation]
    rng = np.random.default_rng(7)
    weights = make(heads, symbols, hidden)
    text = rng.integers(0, symbols, length).astype(np.int32)
    leaks = (rng.random((length - 1, heads)) < 0.4 if leaky else np.zeros((length - 1, heads))).astype(np.uint8)
    noise = rng.normal(0, 0.2, (length - 1, hidden))

    numerical = [
        numerical_gradient(lambda: log_likelihood(weights, text, [1], leaks, noise, skip, kind), array)
        for array in weights
    ]
    before = Weights(*(array.copy() for array in weights))
    # one mini-batch holds the whole text, so each weight makes one Adagrad step
    rules = Rules(rate=1.0, depth=50, batch=40, skip=skip, activation=kind)
    own = np.array([1], dtype=np.int32)
    accumulators = network.start_accumulators(weights)
    carry = np.ones(heads, dtype=np.uint8)
    learners = learners_of(own, carry, leaks, 1)
    network.train_text(weights, accumulators, memory_in_double(hidden, 50), text, learners, noise_of(noise), rules)
    for name, old, new, wanted in zip(Weights._fields, before, weights, numerical, strict=True):
        step = new - old  # g / sqrt(100 + g^2), so g = 10 step / sqrt(1 - step^2)
        np.testing.assert_allclose(10 * step / np.sqrt(1 - step**2), wanted, rtol=1e-4, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("batch", [1, 5, 7])
def test_gradients_reach_across_batches_and_texts(batch: int) -> None:
    """Two texts in small batches, weights frozen by a rate of 1e-9: the steps add up to the whole gradient."""
    heads, symbols, hidden = 2, 4, 5
    rng = np.random.default_rng(1)
    weights = make(heads, symbols, hidden)
    before = Weights(*(array.copy() for array in weights))
    accumulators = Weights(*(np.full_like(array, 1e30) for array in weights))  # keeps steps proportional to gradients
    memory, carry, leaks = memory_in_double(hidden, 90), np.ones(heads, np.uint8), np.zeros((30, heads), np.uint8)
    rules = Rules(rate=1e9, depth=90, batch=batch, skip=0, activation=2)
    texts = [rng.integers(0, symbols, length).astype(np.int32) for length in (11, 9)]
    for number, text in enumerate(texts):
        own = np.array([number], dtype=np.int32)
        learners = learners_of(own, carry, leaks, 1)
        network.train_text(weights, accumulators, memory, text, learners, noise_of(np.zeros((20, 0))), rules)
    steps = [(new - old) * 1e6 for old, new in zip(before, weights, strict=True)]  # 1e9 / sqrt(1e30) = 1e-6

    def likelihood(trial: Weights) -> float:
        inputs = np.concatenate([text[:-1] for text in texts])
        states = network.run(trial, inputs, np.zeros(hidden), NO_NOISE, 2)
        first = len(texts[0]) - 1
        total = network.predict(trial, states[:first], 0)[np.arange(first), texts[0][1:]].sum()
        return float(
            total + network.predict(trial, states[first:], 1)[np.arange(len(texts[1]) - 1), texts[1][1:]].sum()
        )

    for name, old, step in zip(("input", "recurrent", "bias"), before, steps, strict=False):
        numerical = numerical_gradient(lambda: likelihood(before), old)
        np.testing.assert_allclose(step, numerical, rtol=1e-3, atol=1e-4, err_msg=name)


def test_a_pass_back_through_time_stops_at_its_depth_its_threshold_and_the_beginning() -> None:
    weights = make(1, 3, 4)
    hidden = network.run(weights, np.array([0, 1, 2, 0, 1], dtype=np.int32), np.zeros(4), NO_NOISE, 2)
    hidden = np.concatenate([np.zeros((1, 4)), hidden])
    errors = np.ones((1, 4))
    deep = network.backward(weights, hidden, errors, oldest=1, depth=70, threshold=0.0, activation=2)
    shallow = network.backward(weights, hidden, errors, oldest=1, depth=2, threshold=0.0, activation=2)
    assert len(deep) == 5
    assert len(shallow) == 2
    np.testing.assert_array_equal(deep[:2], shallow)
    assert len(network.backward(weights, hidden, errors, 1, 70, threshold=1e9, activation=2)) == 1


def test_the_threshold_adapts_towards_a_quarter_of_the_depth_unused() -> None:
    assert network.adapt_threshold(1.0, used=70, depth=70) > 1
    assert network.adapt_threshold(1.0, used=40, depth=70) < 1
    assert network.adapt_threshold(0.0, used=70, depth=70) == 0


class TestBrakes:
    def test_small_vectors_are_left_alone_and_large_ones_scaled_down(self) -> None:
        small = np.array([1.0, -2.0])
        assert network.soften(small, 3.0) is small
        large = network.soften(np.array([3000.0, -3000.0]), 3.0)
        assert 3.0 < np.abs(large).sum() < 40.0
        assert large[0] == -large[1]

    def test_an_error_that_grows_stops_its_pass(self) -> None:
        weights = make(1, 3, 4)._replace(recurrent=np.eye(4) * 100)
        hidden = np.ones((10, 4))
        deltas = network.backward(weights, hidden, np.ones((1, 4)), oldest=1, depth=9, threshold=0.0, activation=1)
        assert len(deltas) == 1
        assert np.abs(deltas).max() < 1


@pytest.mark.parametrize("depth", [1, 4, 10, 35, 70, 500])
def test_a_pass_is_shared_by_as_many_characters_as_leaves_each_some_depth(depth: int) -> None:
    chunk = network.chunk_length(depth, 40)
    assert 1 <= chunk <= min(depth, 40)
    assert network.chunk_length(70, 40) == 40
    assert depth - chunk + 1 >= 3 * depth / 7


class TestStart:
    def test_gaussian_is_sparse_with_variance_two_over_hidden(self) -> None:
        weights = network.start_weights(3, 40, 200, "gaussian", np.random.default_rng(0))
        assert not weights.heads.any()  # no head begins with a style of its own
        for array in (weights.input, weights.recurrent):
            kept = array[array != 0]
            assert len(kept) / array.size == pytest.approx(0.3, abs=0.02)
            assert kept.var() == pytest.approx(2 / 200, rel=0.1)

    def test_fan_in_gives_each_unit_inputs_of_about_three_in_all(self) -> None:
        weights = network.start_weights(1, 40, 50, "fan-in", np.random.default_rng(0))
        sums = np.abs(weights.recurrent).sum(axis=0)
        assert np.all(sums < 3.01)
        assert sums.mean() > 2.3
        assert (weights.recurrent == 0).mean() > 0.3
