"""Training: questions and settings -> a trained Model (section 2.4), and heads enrolled on a trained Model later."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import NamedTuple, Protocol

import numpy as np

from byline.engines.matrix import Floats32, Floats64, Ints32
from byline.engines.protocol import Progress
from byline.engines.questions import Questions
from byline.engines.rnn import kernels
from byline.engines.rnn.network import (
    Learners,
    Memory,
    Noise,
    Rules,
    TrainingTotals,
    Weights,
    rules_of,
    start_accumulators,
    start_memory,
    start_weights,
)
from byline.engines.rnn.schedule import Visit, plan_visits
from byline.errors import RunError
from byline.settings.settings import Settings
from byline.text.encoder import Symbols

STRETCH = 4_000
"""Characters of a long text that are learned in one call: bounds the memory, and keeps an interruption prompt."""
NOISE_TABLE = 65_536
"""Gaussians that a training draws once; each step takes a run of them from a random place."""
NO_LEAKS = 1e-9
"""Expected number of leaks in a stretch below which none is drawn."""
MOST_BITS = 1_000.0
"""Bits per character beyond which a training has failed (a uniform guess among 40 symbols needs 5.3)."""


class Arithmetic(Protocol):
    """The functions that network.py defines and kernels.py computes fast."""

    def train_text(
        self,
        weights: Weights,
        accumulators: Weights,
        memory: Memory,
        symbols: Ints32,
        learners: Learners,
        noise: Noise,
        rules: Rules,
    ) -> TrainingTotals:
        """Learn one text, in place."""

    def score_text(
        self, weights: Weights, symbols: Ints32, skip: int, activation: int, ends: Ints32, each: Floats32
    ) -> Floats64:
        """Compute the bits that each head needs for each part of a text, and for each character."""


@dataclass(frozen=True)
class Model:
    """A trained network: head number n of the weights is head number n of the questions; a neutral one may follow."""

    weights: Weights
    settings: Settings
    curve: tuple[float, ...]
    """Bits per character by sub-epoch, of the heads that learn a text (the neutral one too), before they learn it."""


def train(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    report: Callable[[Progress], None] | None = None,
    arithmetic: Arithmetic = kernels,
    after_sub_epoch: Callable[[Model], None] | None = None,
) -> Model:
    """Train one network on all heads' texts.

    `report` is called every few thousand characters and may raise to stop; `after_sub_epoch` gets the model, whose
    weights the next sub-epoch changes in place.
    """
    trainer = _Trainer(questions, settings, rng, arithmetic)
    curve: list[float] = []
    characters = 0
    schedule = plan_visits(questions, settings.handling, rng)
    for sub_epoch in range(settings.sub_epochs):
        texts = trainer.order_texts(next(schedule), sub_epoch)
        length = sum(len(text.symbols) - 1 for text in texts)
        done, bits, counted = 0, 0.0, 0
        for text in texts:
            for learned, totals in trainer.learn(text, sub_epoch):
                bits, counted = bits + totals.bits, counted + totals.characters
                done += learned
                if report:
                    so_far = bits / max(counted, 1)
                    report(Progress(sub_epoch, settings.sub_epochs, done / length, characters + done, so_far))
        characters += done
        curve.append(bits / max(counted, 1))
        _require_finite(trainer.weights, curve, settings)
        if after_sub_epoch:
            after_sub_epoch(Model(trainer.weights, settings, tuple(curve)))
    return Model(trainer.weights, settings, tuple(curve))


class _TrainingText(NamedTuple):
    """A text and the heads that learn it."""

    symbols: Symbols
    own: tuple[int, ...]
    """The heads that learn all of it."""
    judged: bool
    """Whether some head scores this text: then it must leave no trace that could favor or harm that head."""


class _Trainer:
    """The state of one training."""

    def __init__(
        self, questions: Questions, settings: Settings, rng: np.random.Generator, arithmetic: Arithmetic
    ) -> None:
        self.questions, self.settings, self.rng, self.arithmetic = questions, settings, rng, arithmetic
        judged = {text for question in questions.questions for text in questions.documents[question.document]}
        self.judged = judged & {text for head in questions.heads for text in head}
        self.neutral = len(questions.heads)  # the head for the control corpus and for texts that are judged
        self.head_count = len(questions.heads) + bool(questions.control.pieces or self.judged)
        self.weights = start_weights(self.head_count, len(questions.alphabet), settings.hidden, settings.start, rng)
        self.accumulators = start_accumulators(self.weights)
        self.memory = start_memory(settings.hidden, settings.depth)
        self.rules = rules_of(settings)
        self.noise_table = _draw_noise_table(settings, rng)

    def order_texts(self, visits: list[Visit], sub_epoch: int) -> list[_TrainingText]:
        """Return the sub-epoch's texts in order, with one piece of the control corpus, in turn, among them."""
        texts = [_TrainingText(self.questions.texts[text], heads, text in self.judged) for text, heads in visits]
        if pieces := self.questions.control.pieces:
            piece = _TrainingText(pieces[sub_epoch % len(pieces)], (self.neutral,), judged=False)
            texts.insert(int(self.rng.integers(len(texts) + 1)), piece)
        return texts

    def learn(self, text: _TrainingText, sub_epoch: int) -> Iterator[tuple[int, TrainingTotals]]:
        """Learn one text in stretches; yield the steps and totals of each.

        A text that some head judges trains the heads that it belongs to, and the recurrent layer by way of the
        neutral head only; it does not leak. So all heads that are compared on it have seen nothing of it.
        """
        own = np.array([*text.own, *((self.neutral,) if text.judged else ())], dtype=np.int32)
        carry = np.ones(self.head_count, dtype=np.uint8)
        if text.judged:
            carry[: self.neutral] = 0
        for symbols, rules in _cut_stretches(text.symbols, self.settings, self.rules):
            steps = len(symbols) - 1
            leaked, starts, span = self._draw_leaks(steps, 0.0 if text.judged else self._leak_chance(sub_epoch))
            learners = Learners(own, carry, leaked, starts, span)
            noise = _draw_noise(self.noise_table, self.settings, steps, self.rng)
            totals = self.arithmetic.train_text(
                self.weights, self.accumulators, self.memory, symbols, learners, noise, rules
            )
            yield steps, totals

    def _leak_chance(self, sub_epoch: int) -> float:
        settings = self.settings
        return min(1.0, settings.leakage * settings.leakage_decay**sub_epoch / self.head_count)

    def _draw_leaks(self, steps: int, chance: float) -> tuple[Ints32, Ints32, int]:
        """Draw `leaked`, `starts` and `span` of Learners: each head in each row with the same chance.

        The gaps between one leak and the next are drawn, so that heads which nothing leaks to cost nothing.
        """
        span = 1 if self.settings.leakage_draw == "character" else self.settings.batch
        rows = -(-steps // span)
        cells = rows * self.head_count
        leaks = np.zeros(0, np.int64)
        if chance * cells > NO_LEAKS:
            end = -1
            parts = []
            while end < cells:
                left = (cells - end) * chance
                gaps = self.rng.geometric(chance, int(left + 4 * np.sqrt(left) + 4))
                parts.append(end + gaps.cumsum())
                end = int(parts[-1][-1])
            leaks = np.concatenate(parts)
            leaks = leaks[: np.searchsorted(leaks, cells)]
        starts = np.searchsorted(leaks, np.arange(rows + 1) * self.head_count)
        return (leaks % self.head_count).astype(np.int32), starts.astype(np.int32), span


def _cut_stretches(symbols: Symbols, settings: Settings, rules: Rules) -> Iterator[tuple[Ints32, Rules]]:
    """Cut a text into stretches that are learned in one call each; only the text's first characters are skipped."""
    if settings.direction == "backward":
        symbols = symbols[::-1].copy()
    length = max(1, STRETCH // settings.batch) * settings.batch
    for begin in range(0, len(symbols) - 1, length):
        # the last character of a stretch is a target only, and the first input of the next
        yield symbols[begin : begin + length + 1], rules if begin == 0 else rules._replace(skip=0)


def _draw_noise_table(settings: Settings, rng: np.random.Generator) -> Floats32:
    """Draw the Gaussians of a training; none where there is no noise."""
    noisy = settings.noise > 0 and settings.hidden > 0
    table = rng.standard_normal(NOISE_TABLE if noisy else 0, dtype=np.float32)
    table *= np.float32(settings.noise)
    return table


def _draw_noise(table: Floats32, settings: Settings, steps: int, rng: np.random.Generator) -> Noise:
    """Draw where in the table each step's run of Gaussians begins."""
    return Noise(table, rng.integers(0, max(1, len(table) - settings.hidden), steps, dtype=np.int32))


def _require_finite(weights: Weights, curve: list[float], settings: Settings) -> None:
    finite = np.isfinite(curve[-1]) and all(np.isfinite(array).all() for array in weights)
    if finite and curve[-1] < MOST_BITS:
        return
    values = asdict(settings)
    steep = ", ".join(f"{name}={values[name]}" for name in ("rate", "noise", "hidden", "activation", "leakage"))
    what = f"reached {curve[-1]:.0f} bits per character" if finite else "became non-finite"
    raise RunError(
        f"the training {what} in sub-epoch {len(curve)} with {steep}", remedy="Try a smaller rate or less noise"
    )


def enroll_heads(
    weights: Weights,
    sets: Sequence[Sequence[Symbols]],
    settings: Settings,
    seed: int,
    arithmetic: Arithmetic = kernels,
    threads: int = 1,
    proceed: Callable[[], None] = lambda: None,
) -> Weights:
    """Train a head for each set of texts on a trained recurrent layer, which stays as it is.

    The new heads replace those of `weights`, which must be the ones that the layer was trained with. A new head starts
    as their mean, which is common to all authors. Nothing leaks, and the random stream depends on the head's texts
    alone: a head is the same whichever others are enrolled.
    """
    common = weights._replace(
        heads=weights.heads.mean(axis=0, keepdims=True), head_bias=weights.head_bias.mean(axis=0, keepdims=True)
    )

    def enroll(texts: Sequence[Symbols]) -> Weights:
        proceed()
        return _enroll_head(common, texts, settings, seed, arithmetic)

    with ThreadPoolExecutor(threads) as pool:
        enrolled = list(pool.map(enroll, sets))
    return weights._replace(
        heads=np.concatenate([each.heads for each in enrolled]),
        head_bias=np.concatenate([each.head_bias for each in enrolled]),
    )


def _enroll_head(
    common: Weights, texts: Sequence[Symbols], settings: Settings, seed: int, arithmetic: Arithmetic
) -> Weights:
    digest = hashlib.sha256(b"".join(text.tobytes() for text in texts)).digest()
    rng = np.random.default_rng([seed, int.from_bytes(digest[:8], "little")])
    own = Weights(*(array.copy() for array in common))
    accumulators, memory = start_accumulators(own), start_memory(settings.hidden, settings.depth)
    table = _draw_noise_table(settings, rng)
    for _ in range(settings.sub_epochs):
        for place in rng.permutation(len(texts)):
            for symbols, rules in _cut_stretches(texts[place], settings, rules_of(settings)):
                steps = len(symbols) - 1
                starts = np.zeros(-(-steps // settings.batch) + 1, np.int32)
                # the only head learns; its errors don't go on to the recurrent layer
                learners = Learners(
                    np.zeros(1, np.int32), np.zeros(1, np.uint8), np.zeros(0, np.int32), starts, settings.batch
                )
                noise = _draw_noise(table, settings, steps, rng)
                arithmetic.train_text(own, accumulators, memory, symbols, learners, noise, rules)
    return own
