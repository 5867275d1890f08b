"""The multi-headed recurrent network in plain NumPy: the definition, to be read beside the paper.

Axes, here and in kernels.py: T steps of a text, H hidden units, V symbols, N heads.

    a_t = h_{t-1} W + X[x_t] + b (+ noise)         the hidden layer's input (section 1.1; presynaptic noise, Table 1)
    h_t = f(a_t),  f(a) = sqrt(a + 1) - 1 or 0     ReSQRT (section 2.3)
    y_n = softmax(h_t U_n + c_n)                   head n's distribution over the next symbol (section 2.2)
    bits = -log2 y_n[x_{t+1}]                      cross entropy (section 1.1)

Training climbs the log likelihood of the heads that learn a character: its own heads, and those it leaks to
(section 2.4). kernels.py holds the fast twin, function by function; tests compare the two.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from byline.engines.matrix import Bytes, Flags, Floats32, Floats64, Ints32, Ints64
from byline.settings.settings import Activation, Settings, Start

ACTIVATIONS: dict[Activation, int] = {"resqrt": 0, "relu": 1, "tanh": 2}

ADAGRAD_START = 100.0
"""The value that Adagrad's accumulators start with."""
INPUT_LIMIT = 16.0
"""Brake: a hidden input whose absolute sum exceeds this times H is scaled down."""
ERROR_LIMIT = 2.0
"""Brake: an error reaching the hidden layer whose absolute sum exceeds this times H is scaled down."""
GROWTH_LIMIT = 2.0
"""Brake: an error that grows beyond this times what was put in stops its pass."""
FIRST_THRESHOLD = 1e-6
"""Squared error under which a pass back through time first stops; it adapts."""
THRESHOLD_STEP = 1.02
"""The factor by which the threshold changes after a pass."""
UNUSED = 0.25
"""The share of the depth that the threshold aims to leave unused."""


class Weights(NamedTuple):
    """All weights of a network, or anything shaped like them, such as Adagrad's accumulators."""

    input: Floats32  # X (V, H)
    recurrent: Floats32  # W (H, H), from row to column
    bias: Floats32  # b (H,)
    heads: Floats32  # U (N, H, V)
    head_bias: Floats32  # c (N, V)


class Memory(NamedTuple):
    """The state that training carries from text to text; it is never reset."""

    hidden: Floats32  # (depth, H): the latest hidden states, newest last
    symbols: Ints32  # (depth,): the input symbols that led to them
    filled: Ints64  # (1,): how many of them are real
    threshold: Floats64  # (1,): the squared error under which a pass stops early


class Rules(NamedTuple):
    """The settings that the arithmetic of one text needs."""

    rate: float
    depth: int
    batch: int
    skip: int
    activation: int


class Learners(NamedTuple):
    """The heads that learn a text. Leaks are drawn for rows of `span` predictions: step t belongs to row t // span."""

    own: Ints32  # the heads that learn every character
    carry: Bytes  # (N,): 1 for heads whose errors go on to the hidden layer
    leaked: Ints32  # the heads that are leaked to, row after row
    starts: Ints32  # (R + 1,): where each row begins in `leaked`
    span: int


class Noise(NamedTuple):
    """Presynaptic noise: at step t the H numbers of `table` from `offsets[t]` on; an empty table is none."""

    table: Floats32  # at least H Gaussians
    offsets: Ints32  # (T,)


class TrainingTotals(NamedTuple):
    """The bits that the own heads needed for a text before learning from it, and the number of characters."""

    bits: float
    characters: int


def rules_of(settings: Settings) -> Rules:
    """Return the settings that train_text needs."""
    return Rules(settings.rate, settings.depth, settings.batch, settings.skip, ACTIVATIONS[settings.activation])


def start_weights(heads: int, symbols: int, hidden: int, start: Start, rng: np.random.Generator) -> Weights:
    """Make new weights. Biases and heads always start at zero: no head starts with a style of its own."""
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


def _sparse_uniform(weights: Floats32, rng: np.random.Generator) -> None:
    """Draw uniform weights with variance 2/H, each replaced by zero with probability 0.7."""
    bound = np.sqrt(3 * 2 / weights.shape[1])  # a uniform of that half-width has variance 2/H
    drawn = rng.uniform(-bound, bound, weights.shape)
    weights[:] = np.where(rng.random(weights.shape) < 0.7, 0.0, drawn)


def _fan_in(weights: Floats32, rng: np.random.Generator) -> None:
    """Give each unit (column) random inputs until their absolute sum is about 3, none over 0.3 of what is left."""
    inputs, units = weights.shape
    for unit in range(units):
        left = 3.0
        while left > 0.1:  # each draw takes 15% of what is left on average, so the end is never far
            size = rng.uniform(0.0, 0.3 * left)
            weights[rng.integers(inputs), unit] += size * rng.choice((-1.0, 1.0))
            left -= size


def start_accumulators(weights: Weights) -> Weights:
    """Make Adagrad's sums of squared gradients, as they start."""
    return Weights(*(np.full_like(array, ADAGRAD_START) for array in weights))


def start_memory(hidden: int, depth: int) -> Memory:
    """Make an empty memory: a zero state and no history."""
    return Memory(
        np.zeros((depth, hidden), np.float32),
        np.zeros(depth, np.int32),
        np.zeros(1, np.int64),
        np.full(1, FIRST_THRESHOLD),
    )


def activate(a: Floats32, activation: int) -> Floats32:
    """Compute f(a): ReSQRT (section 2.3), ReLU or tanh."""
    if activation == 2:
        return np.tanh(a)
    rectified = np.maximum(a, 0)
    return np.sqrt(rectified + 1) - 1 if activation == 0 else rectified


def slope(h: Floats32, activation: int) -> Floats32:
    """Compute f'(a) from h = f(a)."""
    if activation == 2:
        return 1 - h * h
    rising = (h > 0).astype(h.dtype)
    return rising / (2 * (h + 1)) if activation == 0 else rising


def soften(vector: Floats32, limit: float) -> Floats32:
    """Scale a vector down if its absolute sum exceeds `limit`: the sum then grows only logarithmically."""
    total = float(np.abs(vector).sum())
    if total <= limit:
        return vector
    return vector * vector.dtype.type(limit * (1 + np.log(total / limit)) / total)


def run(weights: Weights, symbols: Ints32, state: Floats32, noise: Floats32, activation: int) -> Floats32:
    """Compute the hidden states (T, H) along `symbols`, from `state` on; `noise` is (T, H), or (0, 0) for none."""
    hidden = np.zeros((len(symbols), len(weights.bias)), weights.bias.dtype)
    for t, x in enumerate(symbols):
        a = weights.bias + weights.input[x] + state @ weights.recurrent  # (H,) @ (H, H) -> (H,)
        if len(noise):
            a = a + noise[t]
        state = hidden[t] = activate(soften(a, INPUT_LIMIT * len(a)), activation)
    return hidden


def log_softmax(z: Floats32) -> Floats32:
    """Compute natural logarithms of the softmax over the last axis."""
    z = z - z.max(axis=-1, keepdims=True)
    logarithm: Floats32 = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    return logarithm


def predict(weights: Weights, hidden: Floats32, head: int) -> Floats32:
    """Compute (T, V): natural log probabilities of the next symbol under one head."""
    return log_softmax(hidden @ weights.heads[head] + weights.head_bias[head])  # (T, H) @ (H, V) -> (T, V)


def score_text(weights: Weights, symbols: Ints32, skip: int, activation: int, ends: Ints32, each: Floats32) -> Floats64:
    """Compute (P, N): the bits that each head needs for each part of a text, from the zero state.

    Characters before number `skip` don't count; `ends` (P,) is the number of the character after each part. The bits
    of each character are put into `each` (T, N), if it has any rows.
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


def learning_heads(learners: Learners, begin: int, end: int) -> dict[int, Flags]:
    """Return the heads that learn from the predictions `begin` to `end`, and which of these (B,) each learns from."""
    learns = {int(head): np.ones(end - begin, np.bool_) for head in learners.own}
    for t in range(begin, end):
        row = t // learners.span
        for head in learners.leaked[learners.starts[row] : learners.starts[row + 1]]:
            learns.setdefault(int(head), np.zeros(end - begin, np.bool_))[t - begin] = True
    return learns


def noise_rows(noise: Noise, begin: int, end: int, size: int) -> Floats32:
    """Return the noise (B, size) of the steps from `begin` to `end`, or (0, 0) for none."""
    if not len(noise.table):
        return np.zeros((0, 0), noise.table.dtype)
    rows: Floats32 = noise.table[noise.offsets[begin:end, None] + np.arange(size)]
    return rows


def adagrad(weights: Floats32, accumulators: Floats32, gradient: Floats32, rate: float) -> None:
    """Take one step uphill, in place; a weight's rate falls with how much it has changed before."""
    accumulators += gradient * gradient
    weights += weights.dtype.type(rate) * gradient / np.sqrt(accumulators)


def chunk_length(depth: int, batch: int) -> int:
    """Return the number of characters that share a pass back through time.

    A pass reaches back `depth` steps from its last character. Four sevenths make the paper's 40 characters at
    depth 70 one pass, and leave every character at least three sevenths of the depth.
    """
    return min(batch, -(-4 * depth // 7))


def backward(
    weights: Weights, hidden: Floats32, errors: Floats32, oldest: int, depth: int, threshold: float, activation: int
) -> Floats32:
    """Compute the deltas (S, H) of one pass back through time, for the last S rows of `hidden`, newest first.

    `errors` (C, H) belong to the last C rows of `hidden`; the pass goes on into older rows, no further than row
    `oldest` and no deeper than `depth`, until the squared error falls under `threshold`.
    """
    newest = len(hidden) - 1
    first = len(hidden) - len(errors)
    deltas: list[Floats32] = []
    put_in = 0.0
    traveling = np.zeros_like(weights.bias)
    for t in range(newest, max(newest - depth, oldest - 1), -1):
        if t >= first:
            traveling = traveling + errors[t - first]
            put_in += float(np.abs(errors[t - first]).sum())
        delta = traveling * slope(hidden[t], activation)
        if t < first and float((delta * delta).sum()) < threshold:
            break
        deltas.append(delta)
        traveling = weights.recurrent @ delta  # (H, H) @ (H,): error of row t - 1
        if float(np.abs(traveling).sum()) > GROWTH_LIMIT * put_in:
            if t <= first:
                break
            traveling = np.zeros_like(traveling)
    total = float(np.abs(traveling).sum())
    if total > put_in:
        deltas = [delta * delta.dtype.type(put_in / total) for delta in deltas]
    return np.array(deltas, weights.bias.dtype).reshape(len(deltas), len(weights.bias))


def adapt_threshold(threshold: float, used: int, depth: int) -> float:
    """Return the threshold for the next pass: higher if less than a quarter of the depth was unused, else lower."""
    wanted = threshold * THRESHOLD_STEP if depth - used < UNUSED * depth else threshold / THRESHOLD_STEP
    return min(max(wanted, 1e-20), 1e6) if threshold > 0 else 0.0


def train_text(
    weights: Weights,
    accumulators: Weights,
    memory: Memory,
    symbols: Ints32,
    learners: Learners,
    noise: Noise,
    rules: Rules,
) -> TrainingTotals:
    """Learn one text, in place: own heads every character from number `skip` on, others those that leak to them."""
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
        drawn = noise_rows(noise, begin, end, len(weights.bias))
        hidden[rows] = run(weights, inputs[rows], hidden[past + begin - 1], drawn, activation)
        # prediction t is of character t + 1
        counted = np.arange(begin, end) + 1 >= skip
        if not counted.any():
            continue
        targets = symbols[begin + 1 : end + 1]
        errors = np.zeros_like(hidden[rows])
        head_gradients = {}
        for head, learns in learning_heads(learners, begin, end).items():
            learns &= counted
            if not learns.any():
                continue
            logarithms = predict(weights, hidden[rows], head)  # (B, V)
            error = -np.exp(logarithms)
            error[np.arange(end - begin), targets] += 1
            error *= learns[:, None]
            if head in learners.own:
                bits -= float(logarithms[np.arange(end - begin), targets][learns].sum()) / np.log(2)
                characters += int(learns.sum())
            if learners.carry[head]:
                errors += error @ weights.heads[head].T  # (B, V) @ (V, H) -> (B, H)
            head_gradients[head] = hidden[rows].T @ error, error.sum(axis=0)  # (H, B) @ (B, V) -> (H, V)
        _learn_recurrent(weights, accumulators, memory, hidden[: past + end], inputs[: past + end], errors, rules)
        for head, (gradient, bias_gradient) in head_gradients.items():
            adagrad(weights.heads[head], accumulators.heads[head], gradient, rate)
            adagrad(weights.head_bias[head], accumulators.head_bias[head], bias_gradient, rate)
    memory.filled[0] = min(memory.filled[0] + steps, past)
    memory.hidden[:] = hidden[len(hidden) - past :]
    memory.symbols[:] = inputs[len(inputs) - past :]
    return TrainingTotals(bits, characters)


def _learn_recurrent(
    weights: Weights,
    accumulators: Weights,
    memory: Memory,
    hidden: Floats32,
    inputs: Ints32,
    errors: Floats32,
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
        memory.threshold[0] = adapt_threshold(threshold, len(deltas), rules.depth)
        for row, delta in zip(range(last - 1, -1, -1), deltas, strict=False):
            for_recurrent += np.outer(hidden[row - 1], delta)
            for_input[inputs[row]] += delta
            for_bias += delta
    for array, accumulator, gradient in zip(weights[:3], accumulators[:3], gradients, strict=True):
        adagrad(array, accumulator, gradient, rules.rate)
