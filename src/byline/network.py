"""The multi-headed recurrent network in plain NumPy: the definition, to be read beside the paper.

Axes, here and in kernels.py: T steps of a text, H hidden units, V symbols, N heads.

    a_t = h_{t-1} W + X[x_t] + b (+ noise)         the hidden layer's input (section 1.1; presynaptic noise, Table 1)
    h_t = f(a_t),  f(a) = sqrt(a + 1) - 1 or 0     ReSQRT (section 2.3)
    y_n = softmax(h_t U_n + c_n)                   head n's distribution over the next symbol (section 2.2)
    bits = -log2 y_n[x_{t+1}]                      cross entropy (section 1.1)

Training climbs the log likelihood of the heads in play: a character's own heads, and those it leaks to
(section 2.4). kernels.py holds the fast twin, function by function; a test keeps the two equal.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.settings import Activation, Settings, Start

Floats = NDArray[np.float32]
Ints = NDArray[np.int32]
Flags = NDArray[np.uint8]

ACTIVATIONS: dict[Activation, int] = {"resqrt": 0, "relu": 1, "tanh": 2}

ADAGRAD_START = 100.0
"""What Adagrad's accumulators begin with."""
INPUT_LIMIT = 16.0
"""Brake: a hidden input whose absolute sum exceeds this times H is scaled down."""
ERROR_LIMIT = 2.0
"""Brake: an error reaching the hidden layer whose absolute sum exceeds this times H is scaled down."""
GROWTH_LIMIT = 2.0
"""Brake: an error that grows beyond this times what was put in stops its pass."""
FIRST_THRESHOLD = 1e-6
"""Squared error under which a pass back through time first stops; it adapts."""
THRESHOLD_STEP = 1.02
"""By how much a pass makes the threshold adapt."""
UNUSED = 0.25
"""The share of the depth that the threshold aims to leave unused."""


class Weights(NamedTuple):
    """All weights of a network, or anything shaped like them, such as Adagrad's accumulators."""

    input: Floats  # X (V, H)
    recurrent: Floats  # W (H, H), from row to column
    bias: Floats  # b (H,)
    heads: Floats  # U (N, H, V)
    head_bias: Floats  # c (N, V)


class Memory(NamedTuple):
    """What is carried from text to text while training; the state is never reset."""

    hidden: Floats  # (depth, H): the latest hidden states, newest last
    symbols: Ints  # (depth,): the input symbols that led to them
    filled: NDArray[np.int64]  # (1,): how many of them are real
    threshold: NDArray[np.float64]  # (1,): the squared error under which a pass stops early


class Rules(NamedTuple):
    """The settings that the arithmetic of one text needs."""

    rate: float
    depth: int
    batch: int
    skip: int
    activation: int


class Play(NamedTuple):
    """Which heads learn a text."""

    own: Ints  # the heads that learn every character
    carry: Flags  # (N,): the heads whose errors go on to the hidden layer
    leaked: Ints  # the heads that are leaked to, row after row
    starts: Ints  # (R + 1,): where each row begins in `leaked`
    span: int  # how many predictions a row holds for: row t // span for the one made at step t


class Noise(NamedTuple):
    """Presynaptic noise: at step t the H numbers of `table` from `offsets[t]` on; an empty table is none."""

    table: Floats  # at least H Gaussians
    offsets: Ints  # (T,)


class Tally(NamedTuple):
    """Bits that the own heads needed for a text before learning from it, and how many characters that were."""

    bits: float
    characters: int


def rules_of(settings: Settings) -> Rules:
    """The part of the settings that train_text needs."""
    return Rules(settings.rate, settings.depth, settings.batch, settings.skip, ACTIVATIONS[settings.activation])


def start_weights(heads: int, symbols: int, hidden: int, start: Start, rng: np.random.Generator) -> Weights:
    """New weights; biases and heads begin at zero whatever the start: no head begins with a style of its own."""
    weights = Weights(
        np.zeros((symbols, hidden), np.float32),
        np.zeros((hidden, hidden), np.float32),
        np.zeros(hidden, np.float32),
        np.zeros((heads, hidden, symbols), np.float32),
        np.zeros((heads, symbols), np.float32),
    )
    if hidden and start != "zero":
        fill = _fan_in if start == "fan-in" else _sparse_uniform
        fill(weights.input, rng)
        fill(weights.recurrent, rng)
    return weights


def _sparse_uniform(weights: Floats, rng: np.random.Generator) -> None:
    """Uniform with variance 2/H, each with probability 0.7 replaced by zero."""
    bound = np.sqrt(3 * 2 / weights.shape[1])  # a uniform of that half-width has variance 2/H
    drawn = rng.uniform(-bound, bound, weights.shape)
    weights[:] = np.where(rng.random(weights.shape) < 0.7, 0.0, drawn)


def _fan_in(weights: Floats, rng: np.random.Generator) -> None:
    """Each unit (column) gets random inputs until their absolute sum is about 3, no draw over 0.3 of what is left."""
    inputs, units = weights.shape
    for unit in range(units):
        left = 3.0
        while left > 0.1:  # each draw takes 15% of what is left on average, so the end is never far
            size = rng.uniform(0.0, 0.3 * left)
            weights[rng.integers(inputs), unit] += size * rng.choice((-1.0, 1.0))
            left -= size


def start_accumulators(weights: Weights) -> Weights:
    """Adagrad's sums of squared gradients, at the beginning."""
    return Weights(*(np.full_like(array, ADAGRAD_START) for array in weights))


def start_memory(hidden: int, depth: int) -> Memory:
    """An empty memory: a zero state and no history."""
    return Memory(
        np.zeros((depth, hidden), np.float32),
        np.zeros(depth, np.int32),
        np.zeros(1, np.int64),
        np.full(1, FIRST_THRESHOLD),
    )


def activate(a: Floats, activation: int) -> Floats:
    """f(a), one of ReSQRT (section 2.3), ReLU and tanh."""
    if activation == 2:
        return np.tanh(a)
    rectified = np.maximum(a, 0)
    return np.sqrt(rectified + 1) - 1 if activation == 0 else rectified


def slope(h: Floats, activation: int) -> Floats:
    """f'(a) in terms of h = f(a)."""
    if activation == 2:
        return 1 - h * h
    rising = (h > 0).astype(h.dtype)
    return rising / (2 * (h + 1)) if activation == 0 else rising


def soften(vector: Floats, limit: float) -> Floats:
    """The vector, scaled down if its absolute sum exceeds `limit`: the sum then grows only as a logarithm."""
    total = float(np.abs(vector).sum())
    if total <= limit:
        return vector
    return vector * vector.dtype.type(limit * (1 + np.log(total / limit)) / total)


def run(weights: Weights, symbols: Ints, state: Floats, noise: Floats, activation: int) -> Floats:
    """The hidden states (T, H) along `symbols`, from `state` on; `noise` is (T, H), or (0, 0) for none."""
    hidden = np.zeros((len(symbols), len(weights.bias)), weights.bias.dtype)
    for t, x in enumerate(symbols):
        a = weights.bias + weights.input[x] + state @ weights.recurrent  # (H,) @ (H, H) -> (H,)
        if len(noise):
            a = a + noise[t]
        state = hidden[t] = activate(soften(a, INPUT_LIMIT * len(a)), activation)
    return hidden


def log_softmax(z: Floats) -> Floats:
    """Natural logarithms of the softmax over the last axis."""
    z = z - z.max(axis=-1, keepdims=True)
    logarithm: Floats = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return logarithm


def predict(weights: Weights, hidden: Floats, head: int) -> Floats:
    """(T, V): natural log probabilities of the next symbol under one head."""
    return log_softmax(hidden @ weights.heads[head] + weights.head_bias[head])  # (T, H) @ (H, V) -> (T, V)


def score_text(
    weights: Weights, symbols: Ints, skip: int, activation: int, ends: Ints, each: Floats
) -> NDArray[np.float64]:
    """(P, N): the bits that each head needs for a text from its character number `skip` on, from the zero state.

    Apart for each of the text's parts; `ends` (P,) is the number of the character after each, in order. Those of each
    character are put into `each` (T, N), if it has any rows.
    """
    nothing = np.zeros((0, 0), weights.bias.dtype)
    hidden = run(weights, symbols[:-1], np.zeros_like(weights.bias), nothing, activation)
    first = max(skip, 1)
    targets = symbols[first:]
    rows = np.arange(len(targets))
    surprises = np.array(
        [
            -predict(weights, hidden[first - 1 :], head)[rows, targets].astype(np.float64) / np.log(2)
            for head in range(len(weights.heads))
        ]
    ).reshape(len(weights.heads), len(targets))
    if len(each):
        each[first:] = surprises.T
    borders = np.clip(np.concatenate([[first], ends]) - first, 0, len(targets))
    return np.array([surprises[:, begin:end].sum(axis=1) for begin, end in pairwise(borders)])


def heads_in_play(play: Play, begin: int, end: int) -> dict[int, NDArray[np.bool_]]:
    """The heads that learn something of the predictions from `begin` to `end`, and which of them (B,) each learns."""
    learns = {int(head): np.ones(end - begin, np.bool_) for head in play.own}
    for t in range(begin, end):
        row = t // play.span
        for head in play.leaked[play.starts[row] : play.starts[row + 1]]:
            learns.setdefault(int(head), np.zeros(end - begin, np.bool_))[t - begin] = True
    return learns


def draw_noise(noise: Noise, begin: int, end: int, size: int) -> Floats:
    """(B, size) noise of the steps from `begin` to `end`, or (0, 0) for none."""
    if not len(noise.table):
        return np.zeros((0, 0), noise.table.dtype)
    rows: Floats = noise.table[noise.offsets[begin:end, None] + np.arange(size)]
    return rows


def adagrad(weights: Floats, accumulators: Floats, gradient: Floats, rate: float) -> None:
    """One step uphill, in place: the rate at which a weight can change falls with what it has changed already."""
    accumulators += gradient * gradient
    weights += weights.dtype.type(rate) * gradient / np.sqrt(accumulators)


def chunk_length(depth: int, batch: int) -> int:
    """How many characters share a pass back through time.

    A pass reaches back `depth` steps from its last character. Four sevenths make the paper's 40 characters at
    depth 70 one pass, and leave every character at least three sevenths of the depth.
    """
    return min(batch, -(-4 * depth // 7))


def backward(
    weights: Weights, hidden: Floats, errors: Floats, oldest: int, depth: int, threshold: float, activation: int
) -> Floats:
    """Deltas (S, H) of one pass back through time, for the last S rows of `hidden`, newest first.

    `errors` (C, H) belong to the last C rows of `hidden`; the pass goes on into older rows, no further than row
    `oldest` and no deeper than `depth`, until the squared error falls under `threshold`.
    """
    newest = len(hidden) - 1
    first = len(hidden) - len(errors)
    deltas: list[Floats] = []
    put_in = 0.0
    travelling = np.zeros_like(weights.bias)
    for t in range(newest, max(newest - depth, oldest - 1), -1):
        if t >= first:
            travelling = travelling + errors[t - first]
            put_in += float(np.abs(errors[t - first]).sum())
        delta = travelling * slope(hidden[t], activation)
        if t < first and float((delta * delta).sum()) < threshold:
            break
        deltas.append(delta)
        travelling = weights.recurrent @ delta  # (H, H) @ (H,): error of row t - 1
        if float(np.abs(travelling).sum()) > GROWTH_LIMIT * put_in:
            if t <= first:
                break
            travelling = np.zeros_like(travelling)
    total = float(np.abs(travelling).sum())
    if total > put_in:
        deltas = [delta * delta.dtype.type(put_in / total) for delta in deltas]
    return np.array(deltas, weights.bias.dtype).reshape(len(deltas), len(weights.bias))


def adapt(threshold: float, used: int, depth: int) -> float:
    """The threshold for the next pass: higher if less than a quarter of the depth was left unused, else lower."""
    wanted = threshold * THRESHOLD_STEP if depth - used < UNUSED * depth else threshold / THRESHOLD_STEP
    return min(max(wanted, 1e-20), 1e6) if threshold > 0 else 0.0


def train_text(
    weights: Weights, accumulators: Weights, memory: Memory, symbols: Ints, play: Play, noise: Noise, rules: Rules
) -> Tally:
    """Learn one text, in place: the own heads every character from number `skip` on, others those that leak to them."""
    rate, _, batch, skip, activation = rules
    past = len(memory.hidden)
    steps = len(symbols) - 1
    # rows 0 .. past - 1 are memory, the text's steps follow
    hidden = np.concatenate([memory.hidden, np.zeros((steps, len(weights.bias)), weights.bias.dtype)])
    inputs = np.concatenate([memory.symbols, symbols[:-1]])
    bits, characters = 0.0, 0
    for begin in range(0, steps, batch):
        end = min(begin + batch, steps)
        rows = slice(past + begin, past + end)
        noise_rows = draw_noise(noise, begin, end, len(weights.bias))
        hidden[rows] = run(weights, inputs[rows], hidden[past + begin - 1], noise_rows, activation)
        # prediction t is of character t + 1
        counted = np.arange(begin, end) + 1 >= skip
        if not counted.any():
            continue
        targets = symbols[begin + 1 : end + 1]
        errors = np.zeros_like(hidden[rows])
        head_gradients = {}
        for head, learns in heads_in_play(play, begin, end).items():
            learns &= counted
            if not learns.any():
                continue
            logarithms = predict(weights, hidden[rows], head)  # (B, V)
            error = -np.exp(logarithms)
            error[np.arange(end - begin), targets] += 1
            error *= learns[:, None]
            if head in play.own:
                bits -= float(logarithms[np.arange(end - begin), targets][learns].sum()) / np.log(2)
                characters += int(learns.sum())
            if play.carry[head]:
                errors += error @ weights.heads[head].T  # (B, V) @ (V, H) -> (B, H)
            head_gradients[head] = hidden[rows].T @ error, error.sum(axis=0)  # (H, B) @ (B, V) -> (H, V)
        _learn_recurrent(weights, accumulators, memory, hidden[: past + end], inputs[: past + end], errors, rules)
        for head, (gradient, bias_gradient) in head_gradients.items():
            adagrad(weights.heads[head], accumulators.heads[head], gradient, rate)
            adagrad(weights.head_bias[head], accumulators.head_bias[head], bias_gradient, rate)
    memory.filled[0] = min(memory.filled[0] + steps, past)
    memory.hidden[:] = hidden[len(hidden) - past :]
    memory.symbols[:] = inputs[len(inputs) - past :]
    return Tally(bits, characters)


def _learn_recurrent(
    weights: Weights,
    accumulators: Weights,
    memory: Memory,
    hidden: Floats,
    inputs: Ints,
    errors: Floats,
    rules: Rules,
) -> None:
    """Send the errors of a mini-batch back through time, in chunks, and change the recurrent weights."""
    errors = np.array([soften(error, ERROR_LIMIT * len(error)) for error in errors])
    gradients = np.zeros_like(weights.input), np.zeros_like(weights.recurrent), np.zeros_like(weights.bias)
    for_input, for_recurrent, for_bias = gradients
    chunk = chunk_length(rules.depth, rules.batch)
    oldest = len(memory.hidden) - int(memory.filled[0])
    start = len(hidden) - len(errors)
    for first in range(start, len(hidden), chunk):
        last = min(first + chunk, len(hidden))
        threshold = float(memory.threshold[0])
        deltas = backward(
            weights, hidden[:last], errors[first - start : last - start], oldest, rules.depth, threshold,
            rules.activation,
        )  # fmt: skip
        memory.threshold[0] = adapt(threshold, len(deltas), rules.depth)
        for row, delta in zip(range(last - 1, -1, -1), deltas, strict=False):
            for_recurrent += np.outer(hidden[row - 1], delta)
            for_input[inputs[row]] += delta
            for_bias += delta
    for array, accumulator, gradient in zip(weights[:3], accumulators[:3], gradients, strict=True):
        adagrad(array, accumulator, gradient, rules.rate)
