"""The fast twin of network.py, in numba: the same functions with the same results.

It is fast because: one call learns a stretch of text without Python; only heads that learn are computed, as matrix
products; hidden units at zero are skipped both ways, the others taken four at a time; exponentials are polynomials,
which vectorize; the outer products of a pass back through time are one matrix product; noise is read from a table; no
lock is held, so that members train in threads. docs/performance.md has the measurements.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.linalg  # noqa: F401 - numba's matrix products use its BLAS, which must be loaded to limit its threads

from byline.engines.compiling import compiler
from byline.engines.matrix import Bytes, Floats32, Floats64, Ints32, Ints64
from byline.engines.rnn import network
from byline.engines.rnn.network import (
    ERROR_LIMIT,
    GROWTH_LIMIT,
    INPUT_LIMIT,
    THRESHOLD_STEP,
    UNUSED,
    Learners,
    Memory,
    Noise,
    Rules,
    TrainingTotals,
    Weights,
)

_compile = compiler(Path(__file__), Path(network.__file__))

_F0, _F1, _HALF = np.float32(0), np.float32(1), np.float32(0.5)
_LOWEST = np.float32(-87)  # e to this is just above the least normal float32
_LOG2E = np.float32(1.4426950408889634)
_LN2_HIGH, _LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)
# e^r on [-ln2/2, ln2/2] by its Taylor series, off by less than 4e-8: terms from r^2 on
_E2, _E3, _E4, _E5, _E6 = (np.float32(1 / math.factorial(n)) for n in range(2, 7))
_SCORE_ROWS = 96  # steps scored at a time: bounds the memory; BLAS is quickest at products about this small


@_compile
def _copy(source: Ints32 | Floats32, target: Ints32 | Floats32) -> None:
    """Set target[:] = source without numba's error message for that, which takes longer to compile than a kernel."""
    for place in range(len(source)):
        target[place] = source[place]


@_compile
def _copy_rows(source: Floats32, target: Floats32) -> None:
    """Set target[:, :] = source, likewise."""
    for row in range(len(source)):
        for column in range(source.shape[1]):
            target[row, column] = source[row, column]


@_compile
def _soften(vector: Floats32, limit: float) -> None:
    total = _F0
    for j in range(len(vector)):
        total += abs(vector[j])
    if total > limit:
        scale = np.float32(limit * (1 + np.log(total / limit)) / total)
        for j in range(len(vector)):
            vector[j] *= scale


@_compile
def _add_rows(out: Floats32, matrix: Floats32, factors: Floats32, active: Ints64) -> None:
    """Add factors (I,) @ matrix (I, H) to `out` (H,), skipping factors of zero; `active` (I + 1,) is scratch."""
    count = 0
    for i in range(len(factors)):
        active[count] = i
        count += factors[i] != 0
    for k in range(0, count - 3, 4):
        i0, i1, i2, i3 = active[k], active[k + 1], active[k + 2], active[k + 3]
        f0, f1, f2, f3 = factors[i0], factors[i1], factors[i2], factors[i3]
        row0, row1, row2, row3 = matrix[i0], matrix[i1], matrix[i2], matrix[i3]
        for j in range(len(out)):
            out[j] += f0 * row0[j] + f1 * row1[j] + f2 * row2[j] + f3 * row3[j]
    for k in range(count // 4 * 4, count):
        factor, row = factors[active[k]], matrix[active[k]]
        for j in range(len(out)):
            out[j] += factor * row[j]


@_compile
def _step(
    weights: Weights, state: Floats32, x: int, noise: Floats32, out: Floats32, activation: int, active: Ints64
) -> None:
    """Compute one step of the recurrence: `out` (H,) from `state` (H,) and symbol x; `noise` is (H,) or empty."""
    size = len(out)
    from_symbol = weights.input[x]
    if len(noise):
        for j in range(size):
            out[j] = weights.bias[j] + from_symbol[j] + noise[j]
    else:
        for j in range(size):
            out[j] = weights.bias[j] + from_symbol[j]
    _add_rows(out, weights.recurrent, state, active)
    _soften(out, INPUT_LIMIT * size)
    if activation == 0:
        for j in range(size):
            out[j] = np.sqrt(max(out[j], _F0) + _F1) - _F1
    elif activation == 1:
        for j in range(size):
            out[j] = max(out[j], _F0)
    else:
        for j in range(size):
            out[j] = np.tanh(out[j])


@_compile
def _slope(h: np.float32, activation: int) -> np.float32:
    if activation == 0:
        return _HALF / (h + _F1) if h > 0 else _F0
    if activation == 1:
        return _F1 if h > 0 else _F0
    return _F1 - h * h


@_compile
def _predict(weights: Weights, hidden: Floats32, head: int, z: Floats32) -> None:
    """Fill z (T, V) with the head's inputs to its softmax."""
    if hidden.shape[1]:
        np.dot(hidden, weights.heads[head], z)  # (T, H) @ (H, V) -> (T, V)
    else:
        z[:] = 0
    for t in range(len(z)):
        for v in range(z.shape[1]):
            z[t, v] += weights.head_bias[head, v]


@_compile
def _exponentials(z: Floats32, powers: Ints32) -> tuple[np.float32, np.float32]:
    """Replace z (V,) by e^(z - max z) and return their sum and that maximum; `powers` (V,) is scratch."""
    highest = z[0]
    for v in range(len(z)):
        highest = max(highest, z[v])
    for v in range(len(z)):
        # e^x = 2^k e^r, with 2^k made by writing k into a float's exponent bits
        x = max(z[v] - highest, _LOWEST)
        k = np.floor(x * _LOG2E + _HALF)
        r = x - k * _LN2_HIGH - k * _LN2_LOW
        z[v] = _F1 + r * (_F1 + r * (_E2 + r * (_E3 + r * (_E4 + r * (_E5 + r * _E6)))))
        powers[v] = (np.int32(k) + np.int32(127)) << np.int32(23)
    total = _F0
    two_to = powers.view(np.float32)
    for v in range(len(z)):
        z[v] *= two_to[v]
        total += z[v]
    return total, highest


@_compile
def _adagrad(weights: Floats32, accumulators: Floats32, gradient: Floats32, rate: float) -> None:
    """Take one step on flattened weights."""
    scale = np.float32(rate)
    for j in range(len(weights)):
        g = gradient[j]
        a = accumulators[j] + g * g
        accumulators[j] = a
        weights[j] += scale * g / np.sqrt(a)


class _Scratch(NamedTuple):
    """Arrays that all mini-batches of a text reuse."""

    z: Floats32  # (batch, V): softmax inputs, then errors of a head's outputs
    powers: Ints32  # (V,)
    errors: Floats32  # (batch, H): errors reaching the hidden layer
    share: Floats32  # (batch, H): one head's part of them
    head_gradient: Floats32  # (H, V)
    head_bias_gradient: Floats32  # (V,)
    transposed: Floats32  # (H, H): the recurrent weights, from column to row
    deltas: Floats32  # (depth, H): filled from the end, newest last
    traveling: Floats32  # (H,)
    active: Ints64  # (H + 1,)
    part: Floats32  # (H, H): one pass's part of the recurrent gradient
    recurrent_gradient: Floats32  # (H, H)
    input_gradient: Floats32  # (V, H)
    bias_gradient: Floats32  # (H,)
    slots: Ints32  # (N,): the place of a head in `learning`, or -1
    learning: Ints32  # (N,): the heads that learn
    learns: Bytes  # (N, batch): by slot, the steps that it learns from


@_compile
def _make_scratch(rules: Rules, heads: int, size: int, alphabet: int) -> _Scratch:
    return _Scratch(
        np.empty((rules.batch, alphabet), np.float32),
        np.empty(alphabet, np.int32),
        np.empty((rules.batch, size), np.float32),
        np.empty((rules.batch, size), np.float32),
        np.empty((size, alphabet), np.float32),
        np.empty(alphabet, np.float32),
        np.empty((size, size), np.float32),
        np.empty((rules.depth, size), np.float32),
        np.empty(size, np.float32),
        np.empty(size + 1, np.int64),
        np.empty((size, size), np.float32),
        np.empty((size, size), np.float32),
        np.empty((alphabet, size), np.float32),
        np.empty(size, np.float32),
        np.full(heads, -1, np.int32),
        np.empty(heads, np.int32),
        np.empty((heads, rules.batch), np.uint8),
    )


@_compile
def _find_learning(learners: Learners, begin: int, end: int, scratch: _Scratch) -> int:
    """Fill `learning` and `learns` for a mini-batch, own heads first; return the number of heads that learn."""
    count = 0
    for head in learners.own:
        scratch.slots[head] = count
        scratch.learning[count] = head
        scratch.learns[count, : end - begin] = 1
        count += 1
    for row in range(begin // learners.span, (end - 1) // learners.span + 1):
        first, last = max(row * learners.span, begin), min((row + 1) * learners.span, end)
        for k in range(learners.starts[row], learners.starts[row + 1]):
            head = learners.leaked[k]
            slot = scratch.slots[head]
            if slot < 0:
                slot = scratch.slots[head] = count
                scratch.learning[count] = head
                scratch.learns[count, : end - begin] = 0
                count += 1
            scratch.learns[slot, first - begin : last - begin] = 1
    for k in range(count):
        scratch.slots[scratch.learning[k]] = -1
    return count


@_compile
def _learn_head(
    weights: Weights,
    accumulators: Weights,
    rows: Floats32,
    targets: Ints32,
    head: int,
    learns: Bytes,
    carry: bool,
    errors: Floats32,
    scratch: _Scratch,
    rules: Rules,
) -> float:
    """Train one head on a mini-batch, add its part to `errors` (B, H) and return its bits."""
    count, size = rows.shape
    z = scratch.z[:count]
    bias_gradient = scratch.head_bias_gradient
    bias_gradient[:] = 0
    _predict(weights, rows, head, z)
    bits = 0.0
    for t in range(count):
        if not learns[t]:
            z[t] = 0
            continue
        at_target = z[t, targets[t]]
        total, highest = _exponentials(z[t], scratch.powers)
        bits += (np.log(total) + highest - at_target) / math.log(2)
        scale = -_F1 / total
        for v in range(z.shape[1]):
            z[t, v] *= scale
        z[t, targets[t]] += _F1
        for v in range(z.shape[1]):
            bias_gradient[v] += z[t, v]
    if size:
        if carry:
            np.dot(z, weights.heads[head].T, scratch.share[:count])  # (B, V) @ (V, H) -> (B, H)
            for t in range(count):
                for j in range(size):
                    errors[t, j] += scratch.share[t, j]
        np.dot(rows.T, z, scratch.head_gradient)  # (H, B) @ (B, V) -> (H, V)
        _adagrad(
            weights.heads[head].ravel(), accumulators.heads[head].ravel(), scratch.head_gradient.ravel(), rules.rate
        )
    _adagrad(weights.head_bias[head], accumulators.head_bias[head], bias_gradient, rules.rate)
    return bits


@_compile
def _backward(
    hidden: Floats32,
    errors: Floats32,
    oldest: int,
    depth: int,
    threshold: float,
    activation: int,
    scratch: _Scratch,
) -> int:
    """Fill scratch.deltas[-S:] with the deltas of the last S rows of `hidden`, and return S."""
    size = hidden.shape[1]
    newest = len(hidden) - 1
    first = len(hidden) - len(errors)
    deltas, traveling = scratch.deltas, scratch.traveling
    traveling[:] = 0
    put_in = _F0
    used = 0
    for t in range(newest, max(newest - depth, oldest - 1), -1):
        if t >= first:
            for j in range(size):
                traveling[j] += errors[t - first, j]
                put_in += abs(errors[t - first, j])
        delta = deltas[depth - 1 - used]
        squared = _F0
        for j in range(size):
            delta[j] = traveling[j] * _slope(hidden[t, j], activation)
            squared += delta[j] * delta[j]
        if t < first and squared < threshold:
            break
        used += 1
        traveling[:] = 0
        _add_rows(traveling, scratch.transposed, delta, scratch.active)
        if _absolute_sum(traveling) > GROWTH_LIMIT * put_in:
            if t <= first:
                break
            traveling[:] = 0
    total = _absolute_sum(traveling)
    if total > put_in:
        scale = np.float32(put_in / total)
        for s in range(depth - used, depth):
            for j in range(size):
                deltas[s, j] *= scale
    return used


@_compile
def _absolute_sum(vector: Floats32) -> np.float32:
    total = _F0
    for j in range(len(vector)):
        total += abs(vector[j])
    return total


@_compile
def _learn_recurrent(
    weights: Weights,
    accumulators: Weights,
    memory: Memory,
    hidden: Floats32,
    inputs: Ints32,
    errors: Floats32,
    scratch: _Scratch,
    rules: Rules,
) -> None:
    """Send the errors of a mini-batch back through time, in chunks, and change the recurrent weights."""
    size = hidden.shape[1]
    gradient, input_gradient, bias_gradient = scratch.recurrent_gradient, scratch.input_gradient, scratch.bias_gradient
    gradient[:] = 0
    input_gradient[:] = 0
    bias_gradient[:] = 0
    for i in range(size):
        for j in range(size):
            scratch.transposed[j, i] = weights.recurrent[i, j]
    for t in range(len(errors)):
        _soften(errors[t], ERROR_LIMIT * size)
    chunk = min(rules.batch, -(-4 * rules.depth // 7))
    oldest = len(memory.hidden) - memory.filled[0]
    start = len(hidden) - len(errors)
    for first in range(start, len(hidden), chunk):
        last = min(first + chunk, len(hidden))
        threshold = memory.threshold[0]
        used = _backward(
            hidden[:last], errors[first - start : last - start], oldest, rules.depth, threshold, rules.activation,
            scratch,
        )  # fmt: skip
        if threshold > 0:
            few = rules.depth - used < UNUSED * rules.depth
            memory.threshold[0] = min(
                max(threshold * THRESHOLD_STEP if few else threshold / THRESHOLD_STEP, 1e-20), 1e6
            )
        deltas = scratch.deltas[rules.depth - used :]
        np.dot(hidden[last - used - 1 : last - 1].T, deltas, scratch.part)  # (H, S) @ (S, H) -> (H, H)
        for i in range(size):
            for j in range(size):
                gradient[i, j] += scratch.part[i, j]
        for s in range(used):
            row = input_gradient[inputs[last - used + s]]
            for j in range(size):
                row[j] += deltas[s, j]
                bias_gradient[j] += deltas[s, j]
    _adagrad(weights.recurrent.ravel(), accumulators.recurrent.ravel(), gradient.ravel(), rules.rate)
    _adagrad(weights.input.ravel(), accumulators.input.ravel(), input_gradient.ravel(), rules.rate)
    _adagrad(weights.bias, accumulators.bias, bias_gradient, rules.rate)


@_compile
def score_text(weights: Weights, symbols: Ints32, skip: int, activation: int, ends: Ints32, each: Floats32) -> Floats64:
    """Compute (P, N): the bits that each head needs for each part of a text; see network.score_text.

    Steps lie along the last axis of `z`, so that each operation of a softmax covers many steps.
    """
    heads, size, alphabet = weights.heads.shape
    bits = np.zeros((len(ends), heads), np.float64)
    hidden = np.zeros((_SCORE_ROWS + 1, size), np.float32)  # row 0 is the state before the block
    space = np.empty(alphabet * _SCORE_ROWS, np.float32)
    powers = np.empty(_SCORE_ROWS, np.int32)
    sums = np.empty((3, _SCORE_ROWS), np.float32)
    active = np.empty(size + 1, np.int64)
    no_noise = np.empty(0, np.float32)
    part, begin = 0, 0
    while part < len(ends):
        rows = min(_SCORE_ROWS, ends[part] - 1 - begin)  # prediction t is of character t + 1
        if rows <= 0:
            part += 1
            continue
        for t in range(rows):
            _step(weights, hidden[t], symbols[begin + t], no_noise, hidden[t + 1], activation, active)
        first = max(skip - 1 - begin, 0)  # the first step in this block that counts
        if first < rows:
            z = space[: alphabet * (rows - first)].reshape(alphabet, rows - first)
            targets = symbols[begin + first + 1 : begin + rows + 1]
            for head in range(heads):
                if size:
                    np.dot(weights.heads[head].T, hidden[first + 1 : rows + 1].T, z)  # (V, H) @ (H, T) -> (V, T)
                else:
                    z[:] = 0
                bits[part, head] += _surprisal(z, weights.head_bias[head], targets, sums, powers)
                if len(each):
                    for t in range(rows - first):
                        each[begin + first + 1 + t, head] = sums[0, t]
        _copy(hidden[rows], hidden[0])
        begin += rows
    return bits


@_compile
def _surprisal(z: Floats32, bias: Floats32, targets: Ints32, sums: Floats32, powers: Ints32) -> float:
    """Return the bits of `targets` (T,) under softmax inputs z (V, T) without their bias (V,); overwrites z.

    The bits of each target are left in the first row of `sums`; `powers` is scratch.
    """
    highest, totals, at_target = sums[0, : len(targets)], sums[1, : len(targets)], sums[2, : len(targets)]
    for v in range(len(z)):
        row, constant = z[v], bias[v]
        if v == 0:
            for t in range(len(row)):
                row[t] += constant
                highest[t] = row[t]
        else:
            for t in range(len(row)):
                row[t] += constant
                highest[t] = max(highest[t], row[t])
    for t in range(len(targets)):
        at_target[t] = z[targets[t], t] - highest[t]
    totals[:] = 0
    two_to = powers.view(np.float32)
    for v in range(len(z)):
        row = z[v]
        for t in range(len(row)):
            x = max(row[t] - highest[t], _LOWEST)
            k = np.floor(x * _LOG2E + _HALF)
            r = x - k * _LN2_HIGH - k * _LN2_LOW
            row[t] = _F1 + r * (_F1 + r * (_E2 + r * (_E3 + r * (_E4 + r * (_E5 + r * _E6)))))
            powers[t] = (np.int32(k) + np.int32(127)) << np.int32(23)
        for t in range(len(row)):
            totals[t] += row[t] * two_to[t]
    nats = 0.0
    for t in range(len(targets)):
        own = np.log(totals[t]) - at_target[t]
        nats += own
        highest[t] = own / math.log(2)
    return nats / math.log(2)


@_compile
def train_text(
    weights: Weights,
    accumulators: Weights,
    memory: Memory,
    symbols: Ints32,
    learners: Learners,
    noise: Noise,
    rules: Rules,
) -> TrainingTotals:
    """Learn one text, in place; see network.train_text."""
    heads, size, alphabet = weights.heads.shape
    past = len(memory.hidden)
    steps = len(symbols) - 1
    batch = rules.batch
    hidden = np.empty((past + steps, size), np.float32)
    _copy_rows(memory.hidden, hidden[:past])
    inputs = np.empty(past + steps, np.int32)
    _copy(memory.symbols, inputs[:past])
    _copy(symbols[:-1], inputs[past:])
    scratch = _make_scratch(rules, heads, size, alphabet)
    bits, characters = 0.0, 0
    for begin in range(0, steps, batch):
        end = min(begin + batch, steps)
        for t in range(begin, end):
            offset = noise.offsets[t]
            _step(
                weights, hidden[past + t - 1], inputs[past + t], noise.table[offset : offset + size], hidden[past + t],
                rules.activation, scratch.active,
            )  # fmt: skip
        first = max(rules.skip - 1, begin)  # prediction t is of character t + 1
        if first >= end:  # nothing in this batch counts
            continue
        rows = hidden[past + begin : past + end]
        targets = symbols[begin + 1 : end + 1]
        errors = scratch.errors[: end - begin]
        errors[:] = 0
        for place in range(_find_learning(learners, begin, end, scratch)):
            head = scratch.learning[place]
            scratch.learns[place, : first - begin] = 0
            head_bits = _learn_head(
                weights, accumulators, rows, targets, head, scratch.learns[place], learners.carry[head] != 0, errors,
                scratch, rules,
            )  # fmt: skip
            if place < len(learners.own):
                bits += head_bits
                characters += end - first
        if size:
            _learn_recurrent(weights, accumulators, memory, hidden[: past + end], inputs, errors, scratch, rules)
    memory.filled[0] = min(memory.filled[0] + steps, past)
    _copy_rows(hidden[len(hidden) - past :], memory.hidden)
    _copy(inputs[len(inputs) - past :], memory.symbols)
    return TrainingTotals(bits, characters)
