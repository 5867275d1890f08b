"""A linear classifier of n-gram profiles: what tells a head's texts from all others, learnt from all of them together.

With X the texts' profiles (one a row, TF-IDF, of length 1), Y 1 where a head has the text and -1 elsewhere, the least
squares with a penalty (ridge regression) are solved for the texts instead of the n-grams,
which are many more:

    A = (X X' + penalty I)^-1        (texts, texts)
    f(x) = x X' A Y                  (heads,)

A text that is judged by heads which learnt it is judged without it: then f = Y_i - (A Y)_i / A_ii, no further training.
An n-gram's weight for a head is a row of X' A Y: what a text has of it times that adds up to f over its n-grams.
The other engines look at a head by itself; this one sees what the others have too, and needs several texts a head.
"""

from __future__ import annotations

import numpy as np

from byline.engines import Feature, Filled, Watch
from byline.engines.vectors import weigh_texts, weighed_texts
from byline.gains import cohort_of
from byline.ngram_kernels import index_texts
from byline.ngrams import Index
from byline.questions import Questions
from byline.scoring import PARTS, Matrix, Table, choose_heads, seen_flags
from byline.settings import Settings

UNIT = "regression, 1 less what speaks for the head"
PENALTY = 0.1
MOST_TEXTS = 4_000
"""Texts that are learnt at the most: the time grows with the cube."""
FEATURES = 12
"""N-grams that are named for a head, and as many against it."""
BLOCK = 256
"""Documents that are multiplied with the texts at once: bounds the memory."""


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch = Watch(),  # noqa: B008 - frozen
    index: Index | None = None,
) -> Filled:
    """1 less what the regression gives each document for its heads; `index` as for engine vectors."""
    chosen = choose_heads(questions, settings.compared, rng)
    watch.proceed()
    if index is None:
        index = index_texts(questions.texts, settings.order)
    profiles = weigh_texts(index, weighed_texts(questions))
    learnt = _spread_out(questions)
    owned = np.full((len(learnt), len(questions.heads)), -1.0)
    row_of = {text: row for row, text in enumerate(learnt)}
    for head, texts in enumerate(questions.heads):
        owned[[row_of[text] for text in texts if text in row_of], head] = 1
    watch.proceed()
    known = profiles[learnt]
    inverse = np.linalg.inv((known @ known.T).toarray() + PENALTY * np.eye(len(learnt)))
    weights = inverse @ owned  # (texts, texts) @ (texts, heads)
    found: dict[int, Table] = {}
    asked = sorted({text for document in questions.documents for text in document})
    for start in range(0, len(asked), BLOCK):
        watch.proceed()
        block = asked[start : start + BLOCK]
        values = (profiles[block] @ known.T).toarray() @ weights
        for text, row in zip(block, values, strict=True):
            if text in row_of and questions.aside:
                place = row_of[text]
                row = owned[place] - weights[place] / inverse[place, place]
            found[text] = row
    means = np.array([np.mean([found[text] for text in document], axis=0) for document in questions.documents])
    values = 1 - np.take_along_axis(means, chosen.astype(np.int64), axis=1)
    matrix = Matrix(values, seen_flags(questions, chosen), chosen, UNIT, np.tile(values, (PARTS, 1, 1)))
    if not watch.evidence:
        return Filled(matrix)
    cohort, columns = cohort_of(questions, chosen), known.T.tocsr()
    named: list[tuple[Feature, ...]] = []
    for question in questions.questions:
        texts = questions.documents[question.document]
        if questions.aside and any(text in row_of for text in texts):  # without them only the whole is known
            named.append(())
            continue
        profile = np.asarray(profiles[list(texts)].mean(axis=0)).ravel()
        (grams,) = np.nonzero(profile)
        of_heads = columns[grams] @ weights  # (n-grams, texts) @ (texts, heads)
        among = chosen[question.document][cohort[question.document]]
        usual = of_heads[:, among].mean(axis=1) if len(among) else 0
        added = profile[grams] * (of_heads[:, question.head] - usual)
        order = np.argsort(added, kind="stable")
        strongest = dict.fromkeys([*order[::-1][:FEATURES].tolist(), *order[:FEATURES].tolist()])
        named.append(
            tuple(
                Feature(_spell(questions, index, texts, int(grams[place])), float(added[place]))
                for place in strongest
                if added[place]
            )
        )
    return Filled(matrix, features=tuple(named))


def _spell(questions: Questions, index: Index, texts: tuple[int, ...], gram: int) -> str:
    """The characters of an n-gram, from where it occurs in some texts."""
    for text in texts:
        lengths, places = np.nonzero(index.grams[:, index.starts[text] : index.starts[text + 1]] == gram)
        if len(places):
            end = int(places[0]) + 1
            return questions.alphabet.decode(questions.texts[text][end - int(lengths[0]) - 1 : end])
    raise ValueError(f"no text has the n-gram {gram}")


def _spread_out(questions: Questions) -> list[int]:
    """The texts of all heads; of very many as many from each head as may be."""
    texts = sorted({text for head in questions.heads for text in head})
    most = MOST_TEXTS
    while len(texts) > MOST_TEXTS:
        texts = sorted({text for head in questions.heads for text in head[:most]})
        most = most * 3 // 4
        if not most:
            return texts[:MOST_TEXTS]
    return texts
