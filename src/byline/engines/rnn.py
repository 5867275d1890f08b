"""The paper's engine: one multi-headed recurrent network, trained and then asked about every document."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from byline import kernels
from byline.engines import Filled, Watch
from byline.enrolment import enrol_heads
from byline.errors import RunError
from byline.gains import GainKeeper
from byline.network import Weights, rules_of
from byline.questions import Questions
from byline.scoring import Matrix, Places, Table, choose_heads, gather, heads_by_text, part_ends
from byline.settings import Settings
from byline.training import Arithmetic, Model, train


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch = Watch(),  # noqa: B008 - frozen
    arithmetic: Arithmetic = kernels,
) -> Filled:
    """Train a network on the heads' texts and score each document under its heads, in bits per character."""
    (apart,) = rng.spawn(1)  # what is trained does not depend on what is asked
    chosen = choose_heads(questions, settings.compared, apart)
    traced: list[Matrix] = []

    def look(model: Model) -> None:
        traced.append(score(model, questions, chosen, arithmetic, watch.threads, watch.proceed))

    if questions.reference:
        model = _train_beside_reference(questions, settings, rng, watch, arithmetic)
    else:
        model = train(questions, settings, rng, watch.report, arithmetic, look if watch.trace else None)
    keeper = GainKeeper(questions, chosen) if watch.evidence else None
    if traced and keeper is None:
        matrix = traced[-1]
    else:
        matrix = score(model, questions, chosen, arithmetic, watch.threads, watch.proceed, keeper)
    return Filled(matrix, model, tuple(traced), keeper.take() if keeper else ())


def _train_beside_reference(
    questions: Questions, settings: Settings, rng: np.random.Generator, watch: Watch, arithmetic: Arithmetic
) -> Model:
    """The recurrent layer learns the reference alone; then all heads, the reference's too, are enrolled alike."""
    population = questions.heads[-questions.reference :]
    alone = replace(questions, heads=population, documents=(), questions=(), reference=0, barred=frozenset())
    model = train(alone, settings, rng, watch.report, arithmetic)
    sets = [[questions.texts[text] for text in head] for head in questions.heads]
    seed = int(rng.integers(2**32))
    weights = enrol_heads(model.weights, sets, settings, seed, arithmetic, watch.threads, watch.proceed)
    return Model(weights, settings, model.curve)


def score(
    model: Model,
    questions: Questions,
    chosen: Places,
    arithmetic: Arithmetic = kernels,
    threads: int = 1,
    proceed: Callable[[], None] | None = None,
    keeper: GainKeeper | None = None,
) -> Matrix:
    """The matrix that a trained model gives, of the heads `chosen` for each document; each text is scored once.

    `proceed` is called before each text and may raise to stop; `keeper` is told what each symbol costs.
    """
    settings = model.settings
    rules = rules_of(settings)
    backward = settings.direction == "backward"
    first = max(settings.skip, 1)
    lengths = [len(text) - first for text in questions.texts]
    asked = heads_by_text(questions, chosen)
    count = len(questions.heads)  # control's head, which may follow, is not asked
    everyone = model.weights._replace(heads=model.weights.heads[:count], head_bias=model.weights.head_bias[:count])

    def score_text(number: int) -> Table:
        if proceed:
            proceed()
        text = questions.texts[number]
        symbols = text[::-1].copy() if backward else text
        heads = asked[number]
        ends = first + part_ends(lengths[number], backward)
        wanted = keeper is not None and keeper.wants(number)
        found = []
        for block in keeper.blocks(number) if wanted and keeper else [slice(0, len(heads))]:
            own = heads[block]
            weights = everyone if len(own) == count else _part(model.weights, own)
            each = np.zeros((len(symbols), len(own)) if wanted else (0, 0), np.float32)
            found.append(arithmetic.score_text(weights, symbols, rules.skip, rules.activation, ends, each))
            if wanted and keeper:
                keeper.add(number, block, each[::-1] if backward else each)
        bits = np.concatenate(found, axis=1)
        return bits[::-1] if backward else bits

    longest_first = sorted(asked, key=lambda text: -lengths[text])  # no thread is left with the longest at the end
    with ThreadPoolExecutor(threads) as pool:
        bits = dict(zip(longest_first, pool.map(score_text, longest_first), strict=True))
    matrix = gather(questions, chosen, asked, bits, lengths)
    if not np.isfinite(matrix.values).all():
        raise RunError(
            f"scores became non-finite with rate={settings.rate}, noise={settings.noise}, hidden={settings.hidden},"
            f" activation={settings.activation}; try a smaller rate"
        )
    return matrix


def _part(weights: Weights, heads: Places) -> Weights:
    """The weights with some of the heads only."""
    return weights._replace(heads=weights.heads[heads], head_bias=weights.head_bias[heads])
