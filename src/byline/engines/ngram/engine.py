"""Character n-grams with a shared background: each head's counts, interpolated with those of all heads' texts.

The background of a scored text never counts that text itself, even where some head learns it: that a text recurs must
not make it easier for all other heads.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byline.engines.matrix import (
    PARTS,
    Floats64,
    GainCollector,
    heads_by_text,
    matrix_from_bits,
    part_ends,
    sample_heads,
)
from byline.engines.ngram import kernels
from byline.engines.ngram.counts import Index, NgramArithmetic, no_counts
from byline.engines.protocol import EngineResult, Runtime, run_in_threads
from byline.engines.questions import Questions
from byline.settings.settings import Settings


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    arithmetic: NgramArithmetic = kernels,
    index: Index | None = None,
) -> EngineResult:
    """Count each head's n-grams and score each document under its heads, in bits per character.

    `index` is that of all texts, forward and with these settings' order, if the caller has it already.
    """
    chosen = sample_heads(questions, settings.compared, rng)
    asked = heads_by_text(questions, chosen)
    skip = max(settings.skip, 1)
    backward = settings.direction == "backward"
    step = -1 if backward else 1
    texts = [np.ascontiguousarray(text[::step]) for text in (*questions.texts, *questions.control.pieces)]
    if index is None or backward:
        index = kernels.index_texts(texts, settings.order)
    control = range(len(questions.texts), len(texts))
    given = _background(
        index, [*questions.background_texts, *control], list(asked), len(questions.alphabet), runtime, arithmetic
    )
    texts_of: list[list[int]] = [[] for _ in questions.heads]
    for text, heads in asked.items():
        for head in heads:
            texts_of[head].append(text)
    bits = {text: np.zeros((PARTS, len(heads))) for text, heads in asked.items()}
    lengths = [len(text) - skip for text in questions.texts]
    ends = {text: skip + part_ends(lengths[text], backward) for text in asked}
    collector = GainCollector(questions, chosen) if runtime.evidence else None

    def score_heads(heads: Sequence[int]) -> None:
        counts = no_counts(index)
        space = np.zeros(max(map(len, questions.texts), default=0))
        for head in heads:
            runtime.proceed()
            for text in questions.heads[head]:
                arithmetic.count_text(index, counts, text, 1)
            own = set(questions.heads[head]) if questions.leave_one_out else set()
            for text in texts_of[head]:
                place = int(np.searchsorted(asked[text], head))
                if text in own:
                    arithmetic.count_text(index, counts, text, -1)
                gains = collector if collector and collector.wants(text) else None
                each = space[: len(questions.texts[text]) if gains else 0]
                parts = arithmetic.surprisal(index, counts, text, given[text], skip, ends[text], each)
                bits[text][:, place] = parts[::step]
                if gains:
                    gains.add_head(text, place, each[::step])
                if text in own:
                    arithmetic.count_text(index, counts, text, 1)
            for text in questions.heads[head]:
                arithmetic.count_text(index, counts, text, -1)

    run_in_threads(score_heads, len(questions.heads), runtime.threads)
    matrix = matrix_from_bits(questions, chosen, asked, bits, lengths)
    return EngineResult(matrix, gains=collector.finish() if collector else ())


def _background(
    index: Index,
    learned: Sequence[int],
    judged: Sequence[int],
    symbols: int,
    runtime: Runtime,
    arithmetic: NgramArithmetic,
) -> dict[int, Floats64]:
    """Return, for each judged text, its characters' probabilities under all learned texts but itself."""
    counts = no_counts(index)
    for text in learned:
        arithmetic.count_text(index, counts, text, 1)
    members = set(learned)
    chances: dict[int, Floats64] = {}
    for text in judged:
        runtime.proceed()
        even = np.full(index.starts[text + 1] - index.starts[text], 1 / symbols)
        if text in members:
            arithmetic.count_text(index, counts, text, -1)
        chances[text] = arithmetic.predict_text(index, counts, text, even)
        if text in members:
            arithmetic.count_text(index, counts, text, 1)
    return chances
