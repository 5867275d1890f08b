"""Sub-epochs, leakage, noise and control: questions and settings -> a trained Model (section 2.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from byline import kernels
from byline.alphabet import Symbols
from byline.errors import RunError
from byline.network import (
    Ints,
    Memory,
    Noise,
    Play,
    Rules,
    Tally,
    Weights,
    rules_of,
    start_accumulators,
    start_memory,
    start_weights,
)
from byline.questions import Questions
from byline.schedule import Visit, plan_visits
from byline.settings import Settings

STRETCH = 4_000
"""Characters of a long text that are learnt in one call: bounds memory, and keeps an interruption prompt."""

NOISE_TABLE = 65_536
"""Gaussians that a training draws once; each step takes a run of them from a random place."""

NEVER = 1e-9
"""Leaks expected in a stretch that are as good as none."""

ABSURD = 1_000.0
"""Bits a character that no sane network needs (a uniform guess among 40 symbols needs 5.3)."""


class Arithmetic(Protocol):
    """What network.py defines and kernels.py does fast."""

    def train_text(
        self,
        weights: Weights,
        accumulators: Weights,
        memory: Memory,
        symbols: Ints,
        play: Play,
        noise: Noise,
        rules: Rules,
    ) -> Tally:
        """Learn one text, in place."""

    def score_text(
        self, weights: Weights, symbols: Ints, skip: int, activation: int, ends: Ints, each: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Bits that each head needs for each part of a text, and for each character."""


@dataclass(frozen=True)
class Progress:
    """How far a training is; `bits` are per character, of own heads, in the sub-epoch so far."""

    sub_epoch: int
    sub_epochs: int
    share: float
    """Of this sub-epoch, from 0 to 1."""
    characters: int
    """Learnt since the beginning."""
    bits: float


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
    watch: Callable[[Model], None] | None = None,
) -> Model:
    """Train one network on all heads' texts.

    `report` is called every few thousand characters and may raise to stop; `watch` gets the model after each
    sub-epoch, to look at before the next one changes it.
    """
    trainer = _Trainer(questions, settings, rng, arithmetic)
    curve: list[float] = []
    characters = 0
    schedule = plan_visits(questions, settings.handling, rng)
    for sub_epoch in range(settings.sub_epochs):
        lessons = trainer.lessons(next(schedule), sub_epoch)
        length = sum(len(lesson.symbols) - 1 for lesson in lessons)
        done, bits, counted = 0, 0.0, 0
        for lesson in lessons:
            for learnt, tally in trainer.learn(lesson, sub_epoch):
                bits, counted = bits + tally.bits, counted + tally.characters
                done += learnt
                if report:
                    so_far = bits / max(counted, 1)
                    report(Progress(sub_epoch, settings.sub_epochs, done / length, characters + done, so_far))
        characters += done
        curve.append(bits / max(counted, 1))
        _require_finite(trainer.weights, curve, settings)
        if watch:
            watch(Model(trainer.weights, settings, tuple(curve)))
    return Model(trainer.weights, settings, tuple(curve))


class _Lesson(NamedTuple):
    """A text and how it is learnt."""

    symbols: Symbols
    own: tuple[int, ...]
    """The heads that learn all of it."""
    judged: bool
    """Whether some head judges this text: then it must leave no trace that could favour or harm its judge."""


class _Trainer:
    """The state of one training."""

    def __init__(
        self, questions: Questions, settings: Settings, rng: np.random.Generator, arithmetic: Arithmetic
    ) -> None:
        self.questions, self.settings, self.rng, self.arithmetic = questions, settings, rng, arithmetic
        judged = {text for question in questions.questions for text in questions.documents[question.document]}
        self.judged = judged & {text for head in questions.heads for text in head}
        self.neutral = len(questions.heads)  # the head for the control corpus and for texts that are judged
        self.head_count = len(questions.heads) + bool(questions.control or self.judged)
        self.weights = start_weights(self.head_count, len(questions.alphabet), settings.hidden, settings.start, rng)
        self.accumulators = start_accumulators(self.weights)
        self.memory = start_memory(settings.hidden, settings.depth)
        self.rules = rules_of(settings)
        self.noise_table = noise_table(settings, rng)

    def lessons(self, visits: list[Visit], sub_epoch: int) -> list[_Lesson]:
        """The sub-epoch's texts in order, and one piece of the control corpus, in turn, somewhere among them."""
        lessons = [_Lesson(self.questions.texts[text], heads, text in self.judged) for text, heads in visits]
        if pieces := self.questions.control:
            piece = _Lesson(pieces[sub_epoch % len(pieces)], (self.neutral,), judged=False)
            lessons.insert(int(self.rng.integers(len(lessons) + 1)), piece)
        return lessons

    def learn(self, lesson: _Lesson, sub_epoch: int) -> Iterator[tuple[int, Tally]]:
        """Learn one text, in stretches, each giving its steps and tally; only the text's first characters are skipped.

        A text that some head judges trains the heads that it belongs to, and the recurrent layer by way of the
        neutral head only; it does not leak. All heads that are compared on it have then seen nothing of it.
        """
        symbols = lesson.symbols[::-1].copy() if self.settings.direction == "backward" else lesson.symbols
        own = np.array([*lesson.own, *((self.neutral,) if lesson.judged else ())], dtype=np.int32)
        carry = np.ones(self.head_count, dtype=np.uint8)
        if lesson.judged:
            carry[: self.neutral] = 0
        batch = self.settings.batch
        stretch = max(1, STRETCH // batch) * batch
        for begin in range(0, len(symbols) - 1, stretch):
            # the last character of a stretch is a target only, and the first input of the next
            part = symbols[begin : begin + stretch + 1]
            steps = len(part) - 1
            rules = self.rules if begin == 0 else self.rules._replace(skip=0)
            leaked, starts, span = self._draw_leaks(steps, 0.0 if lesson.judged else self._leak_chance(sub_epoch))
            play = Play(own, carry, leaked, starts, span)
            noise = draw_noise(self.noise_table, self.settings, steps, self.rng)
            yield (
                steps,
                self.arithmetic.train_text(self.weights, self.accumulators, self.memory, part, play, noise, rules),
            )

    def _leak_chance(self, sub_epoch: int) -> float:
        settings = self.settings
        return min(1.0, settings.leakage * settings.leakage_decay**sub_epoch / self.head_count)

    def _draw_leaks(self, steps: int, chance: float) -> tuple[Ints, Ints, int]:
        """`leaked`, `starts` and `span` of network.Play: each head in each row with the same chance.

        What is drawn are the gaps between one leak and the next, so that heads which nothing leaks to cost nothing.
        """
        span = 1 if self.settings.leakage_draw == "character" else self.settings.batch
        rows = -(-steps // span)
        cells = rows * self.head_count
        leaks = np.zeros(0, np.int64)
        if chance * cells > NEVER:
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


def noise_table(settings: Settings, rng: np.random.Generator) -> NDArray[np.float32]:
    """The Gaussians that a training draws once; none where there is no noise."""
    noisy = settings.noise > 0 and settings.hidden > 0
    table = rng.standard_normal(NOISE_TABLE if noisy else 0, dtype=np.float32)
    table *= np.float32(settings.noise)
    return table


def draw_noise(table: NDArray[np.float32], settings: Settings, steps: int, rng: np.random.Generator) -> Noise:
    """Where in the table each step's run of Gaussians begins."""
    offsets = rng.integers(0, max(1, len(table) - settings.hidden), steps, dtype=np.int32)
    return Noise(table, offsets)


def _require_finite(weights: Weights, curve: list[float], settings: Settings) -> None:
    finite = np.isfinite(curve[-1]) and all(np.isfinite(array).all() for array in weights)
    if finite and curve[-1] < ABSURD:
        return
    steep = ", ".join(
        f"{name}={asdict(settings)[name]}" for name in ("rate", "noise", "hidden", "activation", "leakage")
    )
    what = f"reached {curve[-1]:.0f} bits a character" if finite else "became non-finite"
    raise RunError(f"training {what} in sub-epoch {len(curve)} with {steep}; try a smaller rate or less noise")
