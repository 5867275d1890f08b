"""The paper's engine: one multi-headed recurrent network, trained and then asked about every document."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from byline import kernels
from byline.errors import RunError
from byline.network import rules_of
from byline.questions import Questions
from byline.scoring import Matrix, gather
from byline.settings import Settings
from byline.training import Arithmetic, Model, Progress, train


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    report: Callable[[Progress], None] | None = None,
    arithmetic: Arithmetic = kernels,
    threads: int = 1,
    proceed: Callable[[], None] | None = None,
) -> Matrix:
    """Train a network on the heads' texts and score each document under each head, in bits per character."""
    model = train(questions, settings, rng, report, arithmetic)
    return score(model, questions, arithmetic, threads, proceed)


def score(
    model: Model,
    questions: Questions,
    arithmetic: Arithmetic = kernels,
    threads: int = 1,
    proceed: Callable[[], None] | None = None,
) -> Matrix:
    """The matrix that a trained model gives; each text is scored once, from the zero state.

    `proceed` is called before each text and may raise to stop.
    """
    settings = model.settings
    rules = rules_of(settings)
    first = max(settings.skip, 1)
    bits = np.zeros((len(questions.texts), len(model.weights.heads)))
    lengths = np.array([len(text) - first for text in questions.texts], dtype=np.int64)

    def score_text(number: int) -> None:
        if proceed:
            proceed()
        text = questions.texts[number]
        symbols = text[::-1].copy() if settings.direction == "backward" else text
        bits[number] = arithmetic.score_text(model.weights, symbols, rules.skip, rules.activation)

    judged = {text for document in questions.documents for text in document}
    with ThreadPoolExecutor(threads) as pool:  # longest first, so that no thread is left with the longest at the end
        list(pool.map(score_text, sorted(judged, key=lambda text: -lengths[text])))
    matrix = gather(questions, bits, lengths)
    if not np.isfinite(matrix.values).all():
        raise RunError(
            f"scores became non-finite with rate={settings.rate}, noise={settings.noise}, hidden={settings.hidden},"
            f" activation={settings.activation}; try a smaller rate"
        )
    return matrix
