"""A linear classifier of n-gram profiles: what distinguishes a head's texts from all others, learned jointly.

With X the texts' profiles (one a row, TF-IDF, of length 1) and Y 1 where a head has the text and -1 elsewhere, ridge
regression is solved for the texts instead of the n-grams, which are many more:

    A = (X X' + penalty I)^-1        (texts, texts)
    f(x) = x X' A Y                  (heads,)

Heads that learned a text score it without itself: f = Y_i - (A Y)_i / A_ii, with no further training.
An n-gram's weight for a head is a row of X' A Y; times its value in a text's profile, it adds up to f over n-grams.
Unlike the other engines, this one compares each head with the others, and needs several texts per head.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from byline.engines.matrix import PARTS, Floats64, Ints64, Matrix, flag_cohort, flag_excluded, sample_heads
from byline.engines.ngram.counts import Index
from byline.engines.ngram.kernels import index_texts
from byline.engines.profiles.engine import name_features, profile_texts, rarity_texts
from byline.engines.protocol import EngineResult, Runtime
from byline.engines.questions import Questions
from byline.settings.settings import Settings

UNIT = "regression, 1 less what speaks for the head"
PENALTY = 0.1
MOST_TEXTS = 4_000
"""Texts that are learned at the most: the time grows with the cube."""
BLOCK = 256
"""Documents that are multiplied with the texts at a time: bounds the memory."""


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    index: Index | None = None,
) -> EngineResult:
    """Compute 1 - f for each document and its heads; `index` as for profiles."""
    chosen = sample_heads(questions, settings.compared, rng)
    runtime.proceed()
    if index is None:
        index = index_texts(questions.texts, settings.order)
    profiles = profile_texts(index, rarity_texts(questions))
    learned = _choose_texts(questions)
    owned = np.full((len(learned), len(questions.heads)), -1.0)
    row_of = {text: row for row, text in enumerate(learned)}
    for head, texts in enumerate(questions.heads):
        owned[[row_of[text] for text in texts if text in row_of], head] = 1
    runtime.proceed()
    known = profiles[learned]
    inverse = np.linalg.inv((known @ known.T).toarray() + PENALTY * np.eye(len(learned)))
    weights = inverse @ owned  # (texts, texts) @ (texts, heads)
    found: dict[int, Floats64] = {}
    asked = sorted({text for document in questions.documents for text in document})
    for start in range(0, len(asked), BLOCK):
        runtime.proceed()
        block = asked[start : start + BLOCK]
        values = (profiles[block] @ known.T).toarray() @ weights
        for text, row in zip(block, values, strict=True):
            if text in row_of and questions.leave_one_out:
                place = row_of[text]
                row = owned[place] - weights[place] / inverse[place, place]
            found[text] = row
    means = np.array([np.mean([found[text] for text in document], axis=0) for document in questions.documents])
    values = 1 - np.take_along_axis(means, chosen.astype(np.int64), axis=1)
    matrix = Matrix(values, flag_excluded(questions, chosen), chosen, UNIT, np.tile(values, (PARTS, 1, 1)))
    if not runtime.evidence:
        return EngineResult(matrix)
    cohort, columns = flag_cohort(questions, chosen), known.T.tocsr()

    def weigh_grams() -> Iterator[tuple[Ints64, Floats64]]:
        """Yield, for each question, the n-grams of its document and how much each speaks for the head."""
        for question in questions.questions:
            texts = questions.documents[question.document]
            if questions.leave_one_out and any(text in row_of for text in texts):  # only the sum is known then
                yield np.zeros(0, np.int64), np.zeros(0)
                continue
            profile = np.asarray(profiles[list(texts)].mean(axis=0)).ravel()
            (grams,) = np.nonzero(profile)
            of_heads = columns[grams] @ weights  # (n-grams, texts) @ (texts, heads)
            among = chosen[question.document][cohort[question.document]]
            usual = of_heads[:, among].mean(axis=1) if len(among) else 0
            yield grams, profile[grams] * (of_heads[:, question.head] - usual)

    return EngineResult(matrix, features=name_features(questions, index, weigh_grams(), least=0))


def _choose_texts(questions: Questions) -> list[int]:
    """Return the texts of all heads; of very many, equally many from each head where possible."""
    texts = sorted({text for head in questions.heads for text in head})
    most = MOST_TEXTS
    while len(texts) > MOST_TEXTS:
        texts = sorted({text for head in questions.heads for text in head[:most]})
        most = most * 3 // 4
        if not most:
            return texts[:MOST_TEXTS]
    return texts
