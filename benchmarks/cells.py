"""The cells that benchmarks/gru.py compares, in PyTorch: the plain recurrence and the gated one, trained and scored.

What differs from the program's own training: many texts are learned in step, so that the recurrent layer changes once
for a window of each of them; an error travels back to the beginning of its window; the state is zero when a text
begins; and there are no brakes. As there, all learn by Adagrad from sums over a window, characters leak to other heads,
and a text that some head judges changes the recurrent layer by way of a neutral head only. Noise is added to what goes
into a hidden unit; in the GRU to what goes into its candidate, not into its gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from byline.engines.matrix import Matrix
from byline.engines.questions import Questions
from byline.engines.rnn.network import ADAGRAD_START, start_weights
from byline.engines.rnn.schedule import Visit, plan_visits
from byline.settings.settings import Settings
from byline.text.encoder import Symbols

PRODUCTS = {"resqrt": 1, "tanh": 1, "gru": 3}
"""How many products of the state, each with H columns of weights, a cell makes in a step."""
WINDOW = 70
"""Characters between two changes of the weights, and the most steps that an error travels back."""
STEPS = 100
"""Changes of the recurrent layer in a sub-epoch; there are more where MOST_STREAMS asks for it."""
FEWEST_STREAMS, MOST_STREAMS = 8, 128
"""How many texts are learned in step."""
NOTHING = -1
"""A target that isn't learned."""
BLOCK = 100
"""Characters of each document that are read before they are scored."""
CHUNK = 64
"""Characters that are scored under all heads at a time: few, to stay in the cache."""


class Recurrence(torch.autograd.Function):
    """The states (T, S, H) of S streams, from inputs (T, S, G * H), G being the cell's number of products."""

    @staticmethod
    def forward(
        ctx: Any, inputs: Tensor, noise: Tensor | None, state: Tensor, weights: Tensor, bias: Tensor, cell: str
    ) -> Tensor:
        """The states, one step after another."""
        steps, streams, hidden = len(inputs), *state.shape
        states = inputs.new_empty(steps + 1, streams, hidden)
        states[0] = state
        ctx.cell = cell
        if cell == "gru":
            gates = inputs[..., : 2 * hidden].contiguous()  # reset and update
            candidate = inputs[..., 2 * hidden :] + (0 if noise is None else noise)
            products = torch.empty_like(inputs)
            sequences = (states[:-1], states[1:], gates, *gates.chunk(2, 2), candidate)
            for old, new, gate, reset, update, unit, product in zip(
                *(each.unbind() for each in (*sequences, products)), strict=True
            ):
                torch.addmm(bias, old, weights, out=product)  # (S, H) @ (H, 3 H)
                for_gate, for_unit = product.split((2 * hidden, hidden), 1)
                gate.add_(for_gate).sigmoid_()
                unit.addcmul_(reset, for_unit).tanh_()
                torch.lerp(unit, old, update, out=new)
            ctx.save_for_backward(states, weights, gates, candidate, products[..., 2 * hidden :])
        else:
            inputs = inputs + (bias if noise is None else noise + bias)
            for old, new, step in zip(states[:-1].unbind(), states[1:].unbind(), inputs.unbind(), strict=True):
                torch.addmm(step, old, weights, out=new)  # (S, H) @ (H, H)
                if cell == "tanh":
                    new.tanh_()
                else:
                    new.clamp_(min=0).add_(1).sqrt_().sub_(1)
            ctx.save_for_backward(states, weights)
        return states[1:]

    @staticmethod
    def backward(ctx: Any, errors: Tensor) -> tuple[Tensor | None, ...]:
        """What the inputs, weights and bias are to change by, from the errors of the states."""
        states, weights, *gated = ctx.saved_tensors
        steps, streams, hidden = errors.shape
        old, new = states[:-1], states[1:]
        if gated:
            gates, candidate, product = gated
            reset, update = gates.chunk(2, 2)
            rising = (1 - update) * (1 - candidate * candidate)
            by_reset = rising * product * reset * (1 - reset)
            by_update = (old - candidate) * update * (1 - update)
            slopes = torch.stack((by_reset, by_update, rising * reset), 2)
            kept = update.unbind()
        else:
            slopes = (1 - new * new if ctx.cell == "tanh" else (new > 0) / (2 * (new + 1))).unsqueeze(2)
        errors = errors.clone()
        deltas = torch.empty_like(slopes)  # (T, S, G, H): errors of the products with the state
        flat = deltas.flatten(2)
        back = weights.t().contiguous()
        traveling = torch.zeros_like(errors[0])
        sequences = [each.unbind() for each in (errors, errors.unsqueeze(2), slopes, deltas, flat)]
        for t in range(steps - 1, -1, -1):
            error, spread, slope, delta, row = (each[t] for each in sequences)
            error.add_(traveling)
            torch.mul(spread, slope, out=delta)
            torch.mm(row, back, out=traveling)  # (S, G H) @ (G H, H)
            if gated:
                traveling.addcmul_(error, kept[t])
        for_inputs = torch.cat((flat[..., : 2 * hidden], errors * rising), 2) if gated else flat
        for_weights = old.reshape(-1, hidden).t() @ flat.reshape(steps * streams, -1)
        return for_inputs, None, None, for_weights, flat.sum((0, 1)), None


class Prediction(torch.autograd.Function):
    """(P, T): the losses, in nats, of P heads that predict targets (P, T) from states (P, T, H)."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, heads: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """The losses; 0 where nothing is to be learned."""
        expected = torch.baddbmm(bias[:, None], states, heads).softmax(2)  # (P, T, H) @ (P, H, V)
        learned = targets >= 0
        place = targets.clamp(min=0)[..., None]
        losses = -expected.gather(2, place)[..., 0].log() * learned
        ctx.save_for_backward(states, heads, expected, place, learned)
        return losses

    @staticmethod
    def backward(ctx: Any, weights: Tensor) -> tuple[Tensor | None, ...]:
        """What the states, heads and biases are to change by."""
        states, heads, expected, place, learned = ctx.saved_tensors
        errors = expected.scatter_add(2, place, expected.new_full((1, 1, 1), -1.0).expand(place.shape))
        errors *= (weights * learned)[..., None]
        return errors @ heads.transpose(1, 2), states.transpose(1, 2) @ errors, errors.sum(1), None


class Network(torch.nn.Module):
    """A recurrent layer and, on its state, one softmax a head."""

    def __init__(self, cell: str, hidden: int, symbols: int, heads: int, rng: np.random.Generator) -> None:
        super().__init__()
        self.cell, self.hidden = cell, hidden
        if cell == "gru":  # as PyTorch begins one
            bound = 1 / np.sqrt(hidden)
            table = rng.uniform(-bound, bound, (symbols, 3 * hidden)).astype(np.float32)
            weights = rng.uniform(-bound, bound, (hidden, 3 * hidden)).astype(np.float32)
        else:  # as the program begins
            begun = start_weights(heads, symbols, hidden, "gaussian", rng)
            table, weights = begun.input, begun.recurrent
        self.table = torch.nn.Parameter(torch.from_numpy(table))
        self.weights = torch.nn.Parameter(torch.from_numpy(weights))
        self.bias = torch.nn.Parameter(torch.zeros(self.weights.shape[1]))
        self.heads = torch.nn.Parameter(torch.zeros(heads, hidden, symbols))
        self.head_bias = torch.nn.Parameter(torch.zeros(heads, symbols))

    def run(self, symbols: Tensor, state: Tensor, noise: Tensor | None = None) -> Tensor:
        """The states (T, S, H) along symbols (T, S)."""
        states: Tensor = Recurrence.apply(
            functional.embedding(symbols, self.table), noise, state, self.weights, self.bias, self.cell
        )
        return states

    def predict(self, states: Tensor, pairs: Pairs, targets: Tensor) -> Tensor:
        """(P, T): what each pair's head loses on its stream's targets (P, T)."""
        by_stream = states.transpose(0, 1)
        carrying, still = pairs.stream[: pairs.carrying], pairs.stream[pairs.carrying :]
        seen = by_stream.index_select(0, carrying)  # (P, T, H)
        if len(still):
            seen = torch.cat((seen, by_stream.detach().index_select(0, still)))
        heads, bias = (each.index_select(0, pairs.head) for each in (self.heads, self.head_bias))
        losses: Tensor = Prediction.apply(seen, heads, bias, targets)
        return losses

    def sizes(self) -> tuple[int, int]:
        """Weights of the recurrent layer, and of all."""
        recurrent = self.table.numel() + self.weights.numel() + self.bias.numel()
        return recurrent, sum(parameter.numel() for parameter in self.parameters())


class Pieces(NamedTuple):
    """The windows of all texts; one more, the last, is empty."""

    symbols: Tensor  # (K, WINDOW)
    targets: Tensor  # (K, WINDOW)
    text: Tensor  # (K,)
    begins: Tensor  # (K,): whether a text begins here
    of_text: list[range]


def cut(texts: Sequence[Symbols], skip: int) -> Pieces:
    """All texts, cut into windows; their first `skip` characters are not learned."""
    counts = [-(-(len(text) - 1) // WINDOW) for text in texts]
    ends = np.cumsum([0, *counts])
    symbols = np.zeros((ends[-1] + 1, WINDOW), np.int64)
    targets = np.full_like(symbols, NOTHING)
    for text, begin in zip(texts, ends, strict=False):
        symbols[begin:].reshape(-1)[: len(text) - 1] = text[:-1]
        targets[begin:].reshape(-1)[: len(text) - 1] = text[1:]
        targets[begin, : max(skip - 1, 0)] = NOTHING  # the first target is character number 1
    begins = np.zeros(len(symbols), np.bool_)
    begins[ends] = True
    return Pieces(
        torch.from_numpy(symbols),
        torch.from_numpy(targets),
        torch.from_numpy(np.repeat(np.arange(len(texts) + 1), [*counts, 1])),
        torch.from_numpy(begins),
        [range(begin, end) for begin, end in pairwise(ends)],
    )


class Roles(NamedTuple):
    """Who learns what; text number -1 is the empty piece's."""

    own: Tensor  # (texts + 1, N): the heads that learn all of a text
    judged: Tensor  # (texts + 1,): the texts that some head learns and some head judges
    neutral: int


def assign(questions: Questions) -> Roles:
    """The heads of each text; those that are judged have the neutral head, which is the last, besides their own."""
    learners = questions.learners
    asked = {text for question in questions.questions for text in questions.documents[question.document]}
    both = [text for text in sorted(asked) if learners[text]]
    neutral = len(questions.heads)
    own = torch.zeros(len(learners) + 1, neutral + bool(both), dtype=torch.bool)
    judged = torch.zeros(len(learners) + 1, dtype=torch.bool)
    for text, heads in enumerate(learners):
        own[text, list(heads)] = True
    if both:
        judged[both] = True
        own[both, neutral] = True
    return Roles(own, judged, neutral)


def lay_out(pieces: Pieces, visits: Sequence[Visit]) -> Tensor:
    """(steps, S) numbers of pieces: all visits, one after the other, cut into S streams of equal length."""
    sequence = [piece for visit in visits for piece in pieces.of_text[visit.text]]
    streams = min(max(len(sequence) // STEPS, FEWEST_STREAMS), MOST_STREAMS)
    steps = -(-len(sequence) // streams)
    empty = len(pieces.symbols) - 1
    sequence += [empty] * (streams * steps - len(sequence))
    return torch.tensor(sequence).view(streams, steps).t()


class Pairs(NamedTuple):
    """P times a stream and a head that learns it; those whose errors go on to the recurrent layer come first."""

    stream: Tensor  # (P,)
    head: Tensor  # (P,)
    carrying: int
    own: Tensor  # (P,): not leaked to, nor neutral


def draw_pairs(roles: Roles, texts: Tensor, chance: float) -> Pairs:
    """Each stream with its own heads, and with each other head by `chance` unless its text is judged."""
    own, judged = roles.own[texts], roles.judged[texts]
    leaks = (torch.rand(own.shape) < chance) & (own.any(1) & ~judged)[:, None]
    stream, head = (own | leaks).nonzero(as_tuple=True)
    still = judged[stream] & (head != roles.neutral)
    order = still.int().argsort(stable=True)
    stream, head = stream[order], head[order]
    return Pairs(stream, head, int((~still).sum()), own[stream, head] & (head != roles.neutral))


def train(network: Network, questions: Questions, settings: Settings, rate: float, rng: np.random.Generator) -> float:
    """Train on all heads' texts; what comes back are the bits a character of own heads in the last sub-epoch."""
    torch.manual_seed(int(rng.integers(2**31)))
    pieces, roles = cut(questions.texts, settings.skip), assign(questions)
    optimizer = torch.optim.Adagrad(network.parameters(), lr=rate, initial_accumulator_value=ADAGRAD_START)
    schedule = plan_visits(questions, settings.handling, rng)
    bits = 0.0
    for sub_epoch in range(settings.sub_epochs):
        chance = settings.leakage * settings.leakage_decay**sub_epoch / roles.own.shape[1]
        layout = lay_out(pieces, next(schedule))
        state = torch.zeros(layout.shape[1], network.hidden)
        total, counted = 0.0, 0
        for now in layout:
            state = state.masked_fill(pieces.begins[now, None], 0)
            noise = settings.noise * torch.randn(WINDOW, *state.shape)
            states = network.run(pieces.symbols[now].t(), state, noise)
            state = states[-1].detach()
            pairs = draw_pairs(roles, pieces.text[now], chance)
            targets = pieces.targets[now[pairs.stream]]
            losses = network.predict(states, pairs, targets)
            optimizer.zero_grad()
            losses.sum().backward()
            optimizer.step()
            total += float(losses.detach()[pairs.own].sum())
            counted += int((targets[pairs.own] != NOTHING).sum())
        bits = total / counted / np.log(2)
    return float(bits)


@torch.inference_mode()
def score(network: Network, texts: Sequence[Symbols], firsts: Sequence[int], heads: int) -> NDArray[np.float64]:
    """(texts, heads): bits for each text from its character number `firsts` on, from the zero state."""
    longest = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
    symbols = np.zeros((len(texts[longest[0]]), len(texts)), np.int32)
    for column, number in enumerate(longest):
        symbols[: len(texts[number]), column] = texts[number]
    lengths = torch.tensor([len(texts[number]) for number in longest])
    first = torch.tensor([max(firsts[number], 1) for number in longest])
    outputs = network.heads[:heads].transpose(0, 1).reshape(network.hidden, -1)  # (H, N V)
    bias = network.head_bias[:heads].reshape(-1)
    state = torch.zeros(len(texts), network.hidden)
    totals = torch.zeros(len(texts), heads, dtype=torch.float64)
    for begin in range(0, len(symbols) - 1, BLOCK):
        going = int((lengths > begin + 1).sum())
        block = torch.from_numpy(symbols[begin : begin + BLOCK + 1, :going]).long()
        states = network.run(block[:-1], state[:going])
        state = states[-1]
        character = torch.arange(begin + 1, begin + len(block))[:, None]
        step, text = ((character >= first[:going]) & (character < lengths[:going])).nonzero(as_tuple=True)
        rows, targets = states[step, text], block[step + 1, text]
        for some in (slice(at, at + CHUNK) for at in range(0, len(rows), CHUNK)):
            expected = torch.addmm(bias, rows[some], outputs).unflatten(1, (heads, -1)).log_softmax(2)
            right = expected.gather(2, targets[some, None, None].expand(-1, heads, 1))[..., 0]
            totals.index_add_(0, text[some], right.double())
    bits = np.empty(totals.shape)
    bits[longest] = -totals.numpy() / np.log(2)
    return bits


def fill_matrix(network: Network, questions: Questions, skip: int) -> Matrix:
    """The matrix that a trained network gives: every document under every head."""
    first = max(skip, 1)
    numbers = sorted({text for document in questions.documents for text in document})
    texts = [questions.texts[number] for number in numbers]
    place = {number: row for row, number in enumerate(numbers)}
    bits = score(network, texts, [first] * len(texts), len(questions.heads))
    if not np.isfinite(bits).all():
        raise FloatingPointError(f"scores of {network.cell} became non-finite; give it a smaller rate")
    lengths = np.array([len(text) - first for text in texts])
    learners = questions.learners
    values = np.zeros((len(questions.documents), len(questions.heads)))
    seen = np.zeros(values.shape, np.bool_)
    for number, document in enumerate(questions.documents):
        rows = [place[text] for text in document]
        values[number] = bits[rows].sum(axis=0) / lengths[rows].sum()
        seen[number, [head for text in document for head in learners[text]]] = True
    return Matrix(values, seen)


def start(cell: str, questions: Questions, settings: Settings, rng: np.random.Generator, wide: bool = False) -> Network:
    """The untrained network of a cell; a wide one has as many recurrent weights as a GRU of the settings' size."""
    torch.set_num_threads(1)
    symbols = len(questions.alphabet)
    hidden = settings.hidden
    if wide:  # h (V + 1 + h) = 3 H (V + 1 + H), solved for h
        wanted = PRODUCTS["gru"] * hidden * (symbols + 1 + hidden)
        hidden = round((np.sqrt((symbols + 1) ** 2 + 4 * wanted) - symbols - 1) / 2)
    return Network(cell, hidden, symbols, assign(questions).own.shape[1], rng)


def check_gradients() -> None:
    """Raise unless the derivatives written by hand are those of the functions, and the GRU is PyTorch's."""
    torch.manual_seed(0)
    steps, streams, hidden, symbols = 5, 3, 4, 6

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, requires_grad=True)

    noise, state = draw(steps, streams, hidden).detach(), torch.rand(streams, hidden, dtype=torch.float64)
    for cell, products in PRODUCTS.items():
        width = products * hidden
        given = draw(steps, streams, width), draw(hidden, width), draw(width)
        torch.autograd.gradcheck(lambda x, w, b, cell=cell: Recurrence.apply(x, noise, state, w, b, cell), given)
    targets = torch.randint(NOTHING, symbols, (streams, steps))
    given = draw(streams, steps, hidden), draw(streams, hidden, symbols), draw(streams, symbols)
    torch.autograd.gradcheck(lambda x, w, b: Prediction.apply(x, w, b, targets), given)

    inputs, weights, bias = draw(steps, streams, 3 * hidden), draw(hidden, 3 * hidden), draw(3 * hidden)
    theirs = torch.nn.GRU(3 * hidden, hidden, dtype=torch.float64)
    values = torch.eye(3 * hidden), weights.t(), torch.zeros(3 * hidden), bias
    for parameter, value in zip(theirs.parameters(), values, strict=True):
        parameter.data.copy_(value)
    torch.testing.assert_close(
        Recurrence.apply(inputs, None, state, weights, bias, "gru"), theirs(inputs, state[None])[0]
    )
    print("gradients are right")
