"""Character n-grams with a shared background: each head's counts, interpolated with those of all heads' texts.

The background of a judged text never counts that text itself, even where some head learns it: that a text recurs must
not make it easier for all other heads.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from byline import ngram_kernels
from byline.engines import Filled, Watch
from byline.gains import GainKeeper
from byline.ngram_kernels import index_texts
from byline.ngrams import Chances, Index, NgramArithmetic, no_counts
from byline.questions import Questions
from byline.scoring import PARTS, Table, choose_heads, gather, heads_by_text, part_ends
from byline.settings import Settings


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch = Watch(),  # noqa: B008 - frozen
    arithmetic: NgramArithmetic = ngram_kernels,
    index: Index | None = None,
) -> Filled:
    """Count each head's n-grams and score each document under its heads, in bits per character.

    `index` is that of all texts, forward and with these settings' order, where it is at hand already.
    """
    chosen = choose_heads(questions, settings.compared, rng)
    asked = heads_by_text(questions, chosen)
    skip = max(settings.skip, 1)
    backward = settings.direction == "backward"
    step = -1 if backward else 1
    texts = [np.ascontiguousarray(text[::step]) for text in (*questions.texts, *questions.control)]
    if index is None or backward:
        index = index_texts(texts, settings.order)
    control = range(len(questions.texts), len(texts))
    given = _background(index, [*questions.shared, *control], list(asked), len(questions.alphabet), watch, arithmetic)
    texts_of: list[list[int]] = [[] for _ in questions.heads]
    for text, heads in asked.items():
        for head in heads:
            texts_of[head].append(text)
    bits = {text: np.zeros((PARTS, len(heads))) for text, heads in asked.items()}
    lengths = [len(text) - skip for text in questions.texts]
    ends = {text: skip + part_ends(lengths[text], backward) for text in asked}
    keeper = GainKeeper(questions, chosen) if watch.evidence else None

    def score_heads(heads: Sequence[int]) -> None:
        counts = no_counts(index)
        space = np.zeros(max(map(len, questions.texts), default=0))
        for head in heads:
            watch.proceed()
            for text in questions.heads[head]:
                arithmetic.count_text(index, counts, text, 1)
            own = set(questions.heads[head]) if questions.aside else set()
            for text in texts_of[head]:
                place = int(np.searchsorted(asked[text], head))
                if text in own:
                    arithmetic.count_text(index, counts, text, -1)
                wanted = keeper is not None and keeper.wants(text)
                each = space[: len(questions.texts[text]) if wanted else 0]
                parts = arithmetic.surprise(index, counts, text, given[text], skip, ends[text], each)
                bits[text][:, place] = parts[::step]
                if wanted and keeper:
                    keeper.add_head(text, place, each[::step])
                if text in own:
                    arithmetic.count_text(index, counts, text, 1)
            for text in questions.heads[head]:
                arithmetic.count_text(index, counts, text, -1)

    with ThreadPoolExecutor(watch.threads) as pool:
        everyone = range(len(questions.heads))
        list(pool.map(score_heads, [everyone[part :: watch.threads] for part in range(watch.threads)]))
    return Filled(gather(questions, chosen, asked, bits, lengths), gains=keeper.take() if keeper else ())


def _background(
    index: Index,
    learnt: Sequence[int],
    judged: Sequence[int],
    symbols: int,
    watch: Watch,
    arithmetic: NgramArithmetic,
) -> dict[int, Chances]:
    """For each judged text its characters' chances under all learnt texts but itself."""
    counts = no_counts(index)
    for text in learnt:
        arithmetic.count_text(index, counts, text, 1)
    members = set(learnt)
    chances: dict[int, Table] = {}
    for text in judged:
        watch.proceed()
        even = np.full(index.starts[text + 1] - index.starts[text], 1 / symbols)
        if text in members:
            arithmetic.count_text(index, counts, text, -1)
        chances[text] = arithmetic.predict_text(index, counts, text, even)
        if text in members:
            arithmetic.count_text(index, counts, text, 1)
    return chances
