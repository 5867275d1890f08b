"""Does a gated recurrent unit help? The paper's plain recurrence and a GRU, with everything else the same, in PyTorch.

    BYLINE_DATA=folder-of-corpora python benchmarks/gru.py
    python benchmarks/gru.py --cells resqrt,tanh,gru --hidden 80 --seeds 1 --corpora pan15
    python benchmarks/gru.py --rate 0.1         the same rate for all cells, in place of those chosen
    python benchmarks/gru.py --table            print the stored results again, run nothing; with --rate, those with it
    python benchmarks/gru.py --check            compare gradients with numerical ones, run nothing

The cells: `resqrt` and `tanh` are the plain recurrence, `gru` the gated one, all with --hidden units; `resqrt-wide` is
the plain one with as many units as give its recurrent layer the number of weights that the GRU's has. Most weights are
in the heads, so that with equal units the numbers of all weights are nearly equal too.

Before a cell's first run its rate is chosen from RATES, on CHOOSERS: heads learn all but the ends of their texts, and
the rate with which they need the fewest bits for the ends is taken. No truth is looked at. Then each corpus, cell and
seed is trained, scored, ranked and measured like a member in benchmarks/pan.py, and stored in
benchmarks/results/gru.json as soon as it is done. What is stored is not run again; remove it to begin anew. Seconds are
the processor's.

What differs from the program's own training: many texts are learnt in step, so that the recurrent layer changes once
for a window of each of them; an error travels back to the beginning of its window; the state is zero when a text
begins; and there are no brakes. As there, all learn by Adagrad from sums over a window, characters leak to other heads,
and a text that some head judges changes the recurrent layer by way of a neutral head only. Noise is added to what goes
into a hidden unit; in the GRU to what goes into its candidate, not into its gates.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from byline.alphabet import Symbols
from byline.answers import match_truth
from byline.interpret import centre, rank_scores, stretch
from byline.metrics import measure
from byline.network import ADAGRAD_START, start_weights
from byline.problems import read_problems
from byline.questions import Prepared, Questions, prepare_questions
from byline.schedule import Visit, plan_visits
from byline.scoring import Matrix
from byline.settings import Settings
from byline.truth import read_truth
from pan import save
from stored import RESULTS, commit

CELLS = {"resqrt": 1, "tanh": 1, "gru": 3}
"""How many products of the state, each with H columns of weights, a cell makes in a step."""
WIDE = "-wide"
RATES = (0.1, 0.2, 0.4, 0.8)
CHOOSERS = ("pan14-train-du_reviews", "pan15-train-english", "pan15-train-spanish")
KEPT_BACK = 0.1
"""The share of each text, at its end, that a rate is chosen on."""
SHARED = ("noise", "leakage", "leakage_decay", "skip", "handling", "train_on", "text_rules", "ranking", "radius")
"""The settings that matter here and are not options: the program's defaults."""
EPOCHS = 12
"""With 20, the program's default, heads need about as many bits for the ends of English texts."""
WINDOW = 70
"""Characters between two changes of the weights, and the most steps that an error travels back."""
STEPS = 100
"""Changes of the recurrent layer in a sub-epoch; there are more where MOST_STREAMS asks for it."""
FEWEST_STREAMS, MOST_STREAMS = 8, 128
"""How many texts are learnt in step."""
NOTHING = -1
"""A target that isn't learnt."""
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
        travelling = torch.zeros_like(errors[0])
        sequences = [each.unbind() for each in (errors, errors.unsqueeze(2), slopes, deltas, flat)]
        for t in range(steps - 1, -1, -1):
            error, spread, slope, delta, row = (each[t] for each in sequences)
            error.add_(travelling)
            torch.mul(spread, slope, out=delta)
            torch.mm(row, back, out=travelling)  # (S, G H) @ (G H, H)
            if gated:
                travelling.addcmul_(error, kept[t])
        for_inputs = torch.cat((flat[..., : 2 * hidden], errors * rising), 2) if gated else flat
        for_weights = old.reshape(-1, hidden).t() @ flat.reshape(steps * streams, -1)
        return for_inputs, None, None, for_weights, flat.sum((0, 1)), None


class Prediction(torch.autograd.Function):
    """(P, T): the losses, in nats, of P heads that predict targets (P, T) from states (P, T, H)."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, heads: Tensor, bias: Tensor, targets: Tensor) -> Tensor:
        """The losses; 0 where nothing is to be learnt."""
        expected = torch.baddbmm(bias[:, None], states, heads).softmax(2)  # (P, T, H) @ (P, H, V)
        learnt = targets >= 0
        place = targets.clamp(min=0)[..., None]
        losses = -expected.gather(2, place)[..., 0].log() * learnt
        ctx.save_for_backward(states, heads, expected, place, learnt)
        return losses

    @staticmethod
    def backward(ctx: Any, weights: Tensor) -> tuple[Tensor | None, ...]:
        """What the states, heads and biases are to change by."""
        states, heads, expected, place, learnt = ctx.saved_tensors
        errors = expected.scatter_add(2, place, expected.new_full((1, 1, 1), -1.0).expand(place.shape))
        errors *= (weights * learnt)[..., None]
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
    """All texts, cut into windows; their first `skip` characters are not learnt."""
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
    optimiser = torch.optim.Adagrad(network.parameters(), lr=rate, initial_accumulator_value=ADAGRAD_START)
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
            optimiser.zero_grad()
            losses.sum().backward()
            optimiser.step()
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


def start(name: str, questions: Questions, settings: Settings, rng: np.random.Generator) -> Network:
    """The untrained network of a cell."""
    cell = name.removesuffix(WIDE)
    symbols = len(questions.alphabet)
    hidden = settings.hidden
    if name.endswith(WIDE):  # h (V + 1 + h) = 3 H (V + 1 + H), solved for h
        wanted = CELLS["gru"] * hidden * (symbols + 1 + hidden)
        hidden = round((np.sqrt((symbols + 1) ** 2 + 4 * wanted) - symbols - 1) / 2)
    return Network(cell, hidden, symbols, assign(questions).own.shape[1], rng)


def prepare(folder: Path, settings: Settings) -> Prepared:
    torch.set_num_threads(1)
    return prepare_questions(list(read_problems(folder).problems), settings)


def try_rate(folder: Path, name: str, settings: Settings, rate: float) -> float:
    """Bits a character that heads need for the ends of their own texts, which they didn't learn; on one side only."""
    questions = prepare(folder, settings).sides[-1]
    ends = [round(len(text) * (1 - KEPT_BACK)) for text in questions.texts]
    shorter = tuple(text[:end] for text, end in zip(questions.texts, ends, strict=True))
    rng = np.random.default_rng([0, 0])
    network = start(name, questions, settings, rng)
    train(network, dataclasses.replace(questions, texts=shorter), settings, rate, rng)
    pairs = [(text, head) for head, texts in enumerate(questions.heads) for text in texts]
    learnt = sorted({text for text, _ in pairs})
    place = {text: number for number, text in enumerate(learnt)}
    bits = score(network, [questions.texts[t] for t in learnt], [ends[t] for t in learnt], len(questions.heads))
    needed = sum(bits[place[text], head] for text, head in pairs)
    mean = needed / sum(len(questions.texts[text]) - ends[text] for text, _ in pairs)
    return round(float(mean), 4) if np.isfinite(mean) else float("inf")


def run(folder: Path, name: str, settings: Settings, rate: float, seed: int) -> dict[str, object]:
    """One corpus, cell and seed: what it needed, and its measures."""
    prepared = prepare(folder, settings)
    begin = time.process_time()
    matrices: list[Matrix] = []
    bits: list[float] = []
    for number, questions in enumerate(prepared.sides):
        rng = np.random.default_rng([seed, number])
        network = start(name, questions, settings, rng)
        bits.append(train(network, questions, settings, rate, rng))
        matrices.append(fill_matrix(network, questions, settings.skip))
    seconds = time.process_time() - begin
    scores = np.zeros(len(prepared.problems))
    ways = np.zeros(len(prepared.problems))
    for matrix, questions in zip(matrices, prepared.sides, strict=True):
        for question, rank in zip(
            questions.questions, rank_scores(matrix, questions.questions, settings.ranking), strict=True
        ):
            scores[question.problem] += rank
            ways[question.problem] += 1
    scores = np.round(scores / ways, 9)
    values = stretch(scores, centre(scores), settings.radius)
    answers = {problem.id: float(value) for problem, value in zip(prepared.problems, values, strict=True)}
    measures = measure(*match_truth(answers, read_truth(folder), folder.name))
    recurrent, parameters = network.sizes()
    return {
        "corpus": folder.name,
        "cell": name,
        "hidden": settings.hidden,
        "units": network.hidden,
        "recurrent": recurrent,
        "parameters": parameters,
        "seed": seed,
        "epochs": settings.sub_epochs,
        "rate": rate,
        "seconds": round(seconds, 1),
        "bits": round(float(np.mean(bits)), 4),
        **{key: round(getattr(measures, key), 4) for key in ("auc", "c_at_1", "product")},
    }


def choose_rate(pool: ProcessPoolExecutor, data: Path, name: str, settings: Settings, stored: dict[str, Any]) -> float:
    """The rate with which a cell needs the fewest bits for the ends of texts; what is missing is tried and stored."""
    tried = stored["rates"].setdefault(f"{name} {settings.hidden} {settings.sub_epochs}", {})
    jobs = {
        pool.submit(try_rate, data / corpus, name, settings, rate): (corpus, rate)
        for corpus in CHOOSERS
        for rate in RATES
        if str(rate) not in tried.get(corpus, {})
    }
    for job in as_completed(jobs):
        corpus, rate = jobs[job]
        tried.setdefault(corpus, {})[str(rate)] = job.result()
        save(RESULTS / "gru.json", stored)
        print(f"{name} rate {rate} {corpus}: {job.result():.3f} bits", file=sys.stderr, flush=True)
    return best_rate(tried)


def best_rate(tried: dict[str, dict[str, float]]) -> float:
    """From corpus -> rate -> bits, as far as there are any."""
    return min(RATES, key=lambda rate: sum(tried.get(corpus, {}).get(str(rate), 0.0) for corpus in CHOOSERS))


def load(path: Path, settings: Settings) -> dict[str, Any]:
    """What is stored."""
    shared = {key: getattr(settings, key) for key in SHARED}
    if not path.exists():
        return {"settings": shared, "rates": {}, "runs": []}
    stored: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if stored["settings"] != shared:
        sys.exit(f"{path} holds results of other settings; remove it")
    return stored


def identity(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[key] for key in ("cell", "hidden", "epochs", "rate", "corpus", "seed"))


def main() -> None:
    options = parse_options()
    path = RESULTS / "gru.json"
    if options.check:
        check_gradients()
        return
    if options.table:
        print_tables(json.loads(path.read_text(encoding="utf-8")), options.rate)
        return
    cells = options.cells.split(",")
    if unknown := [cell for cell in cells if cell.removesuffix(WIDE) not in CELLS]:
        sys.exit(f"no such cell: {', '.join(unknown)}; there are {', '.join(CELLS)}, and each of them with {WIDE}")
    settings = Settings(hidden=options.hidden, sub_epochs=options.epochs)
    stored = load(path, settings)
    data = Path(os.environ.get("BYLINE_DATA") or sys.exit("set BYLINE_DATA to the folder that holds the corpora"))
    corpora = sorted(child.name for child in data.iterdir() if (child / "truth.txt").exists())
    if options.corpora:
        corpora = [corpus for corpus in corpora if any(part in corpus for part in options.corpora.split(","))]
    with ProcessPoolExecutor(options.jobs) as pool:
        made_by = commit()
        rates = {cell: options.rate or choose_rate(pool, data, cell, settings, stored) for cell in cells}
        done = {identity(row) for row in stored["runs"]}
        jobs = [
            pool.submit(run, data / corpus, cell, settings, rates[cell], seed)
            for seed in range(options.seeds)
            for corpus in corpora
            for cell in cells
            if (cell, settings.hidden, settings.sub_epochs, rates[cell], corpus, seed) not in done
        ]
        for job in as_completed(jobs):
            row = {**job.result(), "commit": made_by}
            stored["runs"].append(row)
            save(path, stored)
            print(
                f"{row['corpus']} {row['cell']} seed {row['seed']}: {row['product']:.3f}, {row['seconds']} s",
                file=sys.stderr,
                flush=True,
            )
    print_tables(stored, options.rate)


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cells", default="resqrt,resqrt-wide,gru", help="joined by commas (default: %(default)s)")
    parser.add_argument("--hidden", type=int, default=Settings().hidden, help="units (default: %(default)s)")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="sub-epochs (default: %(default)s)")
    parser.add_argument("--rate", type=float, help="for all cells; by default the one chosen for each")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--corpora", help="parts of corpus names, joined by commas")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--table", action="store_true", help="print what is stored, run nothing")
    parser.add_argument("--check", action="store_true", help="compare gradients with numerical ones, run nothing")
    return parser.parse_args()


def check_gradients() -> None:
    """Raise unless the derivatives written by hand are those of the functions, and the GRU is PyTorch's."""
    torch.manual_seed(0)
    steps, streams, hidden, symbols = 5, 3, 4, 6

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, dtype=torch.float64, requires_grad=True)

    noise, state = draw(steps, streams, hidden).detach(), torch.rand(streams, hidden, dtype=torch.float64)
    for cell, products in CELLS.items():
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


def print_tables(stored: dict[str, Any], rate: float | None) -> None:
    """By corpus and cell, then by cell: the runs with the rates that were chosen, or with this one."""
    chosen = {} if rate else {name: best_rate(tried) for name, tried in stored["rates"].items()}
    runs = [
        row
        for row in stored["runs"]
        if row["rate"] == (rate or chosen.get(f"{row['cell']} {row['hidden']} {row['epochs']}"))
    ]
    if not runs:
        sys.exit("nothing is stored that could be printed")
    order = [*CELLS, *(cell + WIDE for cell in CELLS)]
    columns = sorted({identity(row)[:4] for row in runs}, key=lambda column: (column[1:], order.index(column[0])))
    of = {column: [row for row in runs if identity(row)[:4] == column] for column in columns}
    names = {column: f"{of[column][0]['cell']} {_span(of[column], 'units')}, rate {column[3]}" for column in columns}
    corpora = sorted({row["corpus"] for row in runs})
    print(f"| corpus | {' | '.join(f'{names[column]}: AUC | product | bits' for column in columns)} |")
    print("|---|" + "---|---|---|" * len(columns))
    for corpus in corpora:
        means = [_mean(of[column], corpus, key) for column in columns for key in ("auc", "product", "bits")]
        print(f"| {corpus} | {' | '.join(means)} |")
    common = [corpus for corpus in corpora if all(any(r["corpus"] == corpus for r in rows) for rows in of.values())]
    if not common:
        return
    print(
        f"\nMeans over the corpora that all have ({len(common)}), and the product less that of {names[columns[0]]}:\n"
    )
    print(
        "| cell | sub-epochs | recurrent weights | all weights | AUC | C@1 | product | less | s.e. | bits | seconds |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    first = _by_corpus(of[columns[0]], common, "product")
    for column in columns:
        rows = [row for row in of[column] if row["corpus"] in common]
        keys = ("auc", "c_at_1", "product", "bits", "seconds")
        auc, c_at_1, product, bits, seconds = (float(_by_corpus(rows, common, key).mean()) for key in keys)
        less = _by_corpus(rows, common, "product") - first
        error = f"{less.std(ddof=1) / np.sqrt(len(less)):.3f}" if len(less) > 1 else ""
        sizes = f"{_span(rows, 'recurrent')} | {_span(rows, 'parameters')}"
        print(
            f"| {names[column]} | {column[2]} | {sizes} | {auc:.3f} | {c_at_1:.3f} | {product:.3f}"
            f" | {less.mean():+.3f} | {error} | {bits:.3f} | {seconds:.0f} |"
        )


def _by_corpus(rows: list[dict[str, Any]], corpora: list[str], key: str) -> NDArray[np.float64]:
    return np.array([np.mean([row[key] for row in rows if row["corpus"] == corpus]) for corpus in corpora])


def _mean(rows: list[dict[str, Any]], corpus: str, key: str) -> str:
    values = [row[key] for row in rows if row["corpus"] == corpus]
    return f"{np.mean(values):.3f}" if values else ""


def _span(rows: list[dict[str, Any]], key: str) -> str:
    """The values, least to greatest: what depends on the alphabet or the heads differs between corpora."""
    values = sorted({row[key] for row in rows})
    return f"{values[0]}-{values[-1]}" if len(values) > 1 else str(values[0])


if __name__ == "__main__":
    main()
