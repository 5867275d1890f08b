"""The paper's engine: one multi-headed recurrent network is trained and then scores every document."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice

import numpy as np

from byline.engines.matrix import (
    Floats64,
    GainCollector,
    Ints32,
    Matrix,
    heads_by_text,
    matrix_from_bits,
    part_ends,
    sample_heads,
)
from byline.engines.protocol import EngineResult, Progress, Runtime
from byline.engines.questions import Questions
from byline.engines.rnn import kernels
from byline.engines.rnn.network import rules_of, start_weights
from byline.engines.rnn.schedule import plan_visits
from byline.engines.rnn.training import Arithmetic, Model, enroll_heads, train
from byline.errors import RunError
from byline.settings.settings import Settings

TRIAL_TEXT = 4_000
"""Characters of each text that a trial scores."""
TRIAL_SUB_EPOCHS = 8
"""Sub-epochs whose lengths are added up. Balanced ones differ, and the first is the shortest."""


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    arithmetic: Arithmetic = kernels,
) -> EngineResult:
    """Train a network on the heads' texts and score each document under its heads, in bits per character."""
    (apart,) = rng.spawn(1)  # the training does not depend on the sample of heads
    chosen = sample_heads(questions, settings.compared, apart)
    trace: list[Matrix] = []

    def score_model(model: Model, collector: GainCollector | None = None) -> Matrix:
        return score(model, questions, chosen, arithmetic, runtime.threads, runtime.proceed, collector)

    if questions.reference:
        model = _train_beside_reference(questions, settings, rng, runtime, arithmetic)
    else:
        keep = (lambda model: trace.append(score_model(model))) if runtime.trace else None
        model = train(questions, settings, rng, runtime.report, arithmetic, keep)
    collector = GainCollector(questions, chosen) if runtime.evidence else None
    matrix = score_model(model, collector) if collector or not trace else trace[-1]
    return EngineResult(matrix, tuple(trace), model.curve, collector.finish() if collector else (), model=model)


def _train_beside_reference(
    questions: Questions, settings: Settings, rng: np.random.Generator, runtime: Runtime, arithmetic: Arithmetic
) -> Model:
    """Train the recurrent layer on the reference alone; then enroll all heads alike, the reference's too."""
    alone = replace(
        questions,
        heads=questions.heads[questions.first_compared_head :],
        documents=(),
        questions=(),
        reference=None,
        excluded_pairs=frozenset(),
    )
    model = train(alone, settings, rng, runtime.report, arithmetic)
    sets = [[questions.texts[text] for text in head] for head in questions.heads]
    seed = int(rng.integers(2**32))
    weights = enroll_heads(model.weights, sets, settings, seed, arithmetic, runtime.threads, runtime.proceed)
    return Model(weights, settings, model.curve)


def score(
    model: Model,
    questions: Questions,
    chosen: Ints32,
    arithmetic: Arithmetic = kernels,
    threads: int = 1,
    proceed: Callable[[], None] | None = None,
    collector: GainCollector | None = None,
) -> Matrix:
    """Score each document under the heads `chosen` for it; each text is scored once.

    `proceed` is called before each text and may raise to stop; `collector` gets what each symbol costs.
    """
    settings = model.settings
    rules = rules_of(settings)
    backward = settings.direction == "backward"
    first = max(settings.skip, 1)
    lengths = [len(text) - first for text in questions.texts]
    asked = heads_by_text(questions, chosen)
    count = len(questions.heads)  # the neutral head, which may follow, scores nothing

    def score_text(number: int) -> Floats64:
        if proceed:
            proceed()
        text = questions.texts[number]
        symbols = text[::-1].copy() if backward else text
        heads = asked[number]
        ends = first + part_ends(lengths[number], backward)
        gains = collector if collector and collector.wants(number) else None
        found = []
        for block in gains.blocks(number) if gains else [slice(0, len(heads))]:
            own = slice(count) if len(heads[block]) == count else heads[block]  # a slice copies nothing
            weights = model.weights._replace(heads=model.weights.heads[own], head_bias=model.weights.head_bias[own])
            each = np.zeros((len(symbols), len(heads[block])) if gains else (0, 0), np.float32)
            found.append(arithmetic.score_text(weights, symbols, rules.skip, rules.activation, ends, each))
            if gains:
                gains.add(number, block, each[::-1] if backward else each)
        bits = np.concatenate(found, axis=1)
        return bits[::-1] if backward else bits

    longest_first = sorted(asked, key=lambda text: -lengths[text])  # no thread is left with the longest at the end
    with ThreadPoolExecutor(threads) as pool:
        bits = dict(zip(longest_first, pool.map(score_text, longest_first), strict=True))
    matrix = matrix_from_bits(questions, chosen, asked, bits, lengths)
    if not np.isfinite(matrix.values).all():
        raise RunError(
            f"scores became non-finite with rate={settings.rate}, noise={settings.noise}, hidden={settings.hidden},"
            f" activation={settings.activation}",
            remedy="Try a smaller rate",
        )
    return matrix


def estimate_seconds(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    seconds: float,
    clock: Callable[[], float],
    proceed: Callable[[], None],
) -> float:
    """Estimate how long training and scoring take, from a training of so many seconds and the scores of a few texts."""
    characters = _characters_to_learn(questions, settings, rng)
    training = characters / _characters_per_second(questions, settings, rng, seconds, clock)
    proceed()
    return training + _scoring_seconds(questions, settings, rng, clock)


def _characters_to_learn(questions: Questions, settings: Settings, rng: np.random.Generator) -> float:
    """Estimate how many characters a training learns in all."""
    looked_at = min(settings.sub_epochs, TRIAL_SUB_EPOCHS)
    lengths = [
        sum(len(questions.texts[visit.text]) for visit in visits)
        for visits in islice(plan_visits(questions, settings.handling, rng), looked_at)
    ]
    control = max((len(piece) for piece in questions.control.pieces), default=0)
    later = float(np.mean(lengths[looked_at // 2 :]))
    return sum(lengths) + (settings.sub_epochs - looked_at) * later + settings.sub_epochs * control


class _TrialTimeoutError(Exception):
    """The time of the trial is up."""


def _characters_per_second(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    seconds: float,
    clock: Callable[[], float],
) -> float:
    """Measure the speed of training, with the leakage of an average sub-epoch."""
    decay, epochs = settings.leakage_decay, settings.sub_epochs
    leakage = settings.leakage * float(np.mean(decay ** np.arange(epochs)))
    usual = settings.change({"leakage": leakage, "leakage_decay": 1.0, "sub_epochs": 100_000})
    begin, learned, speed = 0.0, 0, 1.0

    def report(progress: Progress) -> None:
        nonlocal begin, learned, speed
        if not learned:  # the time before is spent once
            begin, learned = clock(), progress.characters
            return
        elapsed = clock() - begin
        speed = (progress.characters - learned) / max(elapsed, 1e-6)
        if elapsed >= seconds:
            raise _TrialTimeoutError

    try:
        train(questions, usual, rng, report)
    except _TrialTimeoutError:
        return speed
    raise AssertionError("a trial ends by itself")


def _scoring_seconds(
    questions: Questions, settings: Settings, rng: np.random.Generator, clock: Callable[[], float]
) -> float:
    """Estimate the seconds to score all documents, from the first few thousand characters of some."""
    judged = sorted({text for document in questions.documents for text in document})
    some = judged[:: max(1, len(judged) // 4)][:4]
    short = {text: questions.texts[text][:TRIAL_TEXT] for text in some}
    part = replace(
        questions,
        texts=tuple(short.get(number, text) for number, text in enumerate(questions.texts)),
        documents=tuple((text,) for text in some),
        questions=(),
        excluded_pairs=frozenset(),
    )
    weights = start_weights(len(questions.heads) + 1, len(questions.alphabet), settings.hidden, "gaussian", rng)
    width = min(len(questions.heads), settings.compared)  # as many heads as a document of all of them is asked about
    chosen = np.tile(np.arange(width, dtype=np.int32), (len(some), 1))
    model = Model(weights, settings, ())
    begin = clock()
    score(model, part, chosen)
    seconds = clock() - begin
    return seconds * sum(len(questions.texts[text]) for text in judged) / sum(len(text) for text in short.values())
