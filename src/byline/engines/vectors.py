"""Vectors of character n-grams: how far a document's profile is from a head's, by the cosine.

A head's profile counts all its texts together. Counts are damped (1 + ln c) and weighted by how few of the different
texts have the n-gram (TF-IDF). Unlike the language models it does not look at what follows what, but at all that a text
is made of, with rare n-grams weighing most.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from byline.alphabet import Symbols
from byline.engines import Filled, Watch
from byline.questions import Questions
from byline.scoring import PARTS, Matrix, Places, Table, choose_heads, part_ends, seen_flags
from byline.settings import Settings

UNIT = "cosine distance"
SHORTER = 2
"""N-grams of up to so many characters less than the order count too."""
BLOCK = 256
"""Documents that are multiplied with the heads at once: bounds the memory."""


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> Filled:
    """1 less the cosine of the angle between each document's profile and its heads'."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    chosen = choose_heads(questions, settings.compared, rng)
    watch.proceed()
    decode = questions.alphabet.decode
    counter = CountVectorizer(analyzer=partial(_ngrams, order=settings.order), dtype=np.float64)
    counts = counter.fit_transform([decode(text) for text in questions.texts])
    watch.proceed()
    weighed = sorted(questions.shared) if questions.reference else range(len(questions.texts))
    weigh = TfidfTransformer(sublinear_tf=True).fit(counts[weighed])
    heads = weigh.transform(_together(questions.heads, counts))
    totals = _together(questions.documents, counts)
    values = _distances(weigh.transform(totals), heads, chosen, watch)
    without = np.zeros((PARTS, *chosen.shape))
    for part in range(PARTS):
        pieces = [decode(_part(text, part)) for text in questions.texts]
        left = totals - _together(questions.documents, counter.transform(pieces))
        without[part] = _distances(weigh.transform(left), heads, chosen, watch)
    return Filled(Matrix(values, seen_flags(questions, chosen), chosen, UNIT, without))


def _ngrams(text: str, order: int) -> list[str]:
    """All n-grams of a text, every character as it is; scikit-learn's own would join white space."""
    lengths = range(max(1, order - SHORTER), order + 1)
    return [text[start : start + length] for length in lengths for start in range(len(text) - length + 1)]


def _part(text: Symbols, part: int) -> Symbols:
    """One of a text's parts; the others keep the n-grams that reach across a border."""
    ends = part_ends(len(text))
    return text[ends[part - 1] if part else 0 : ends[part]]


def _distances(documents: Any, heads: Any, chosen: Places, watch: Watch) -> Table:
    """(documents, K): 1 less the cosines, of the heads that are asked about each document."""
    values = np.zeros(chosen.shape)
    for start in range(0, len(values), BLOCK):
        watch.proceed()
        rows = slice(start, start + BLOCK)
        cosines = (documents[rows] @ heads.T).toarray()
        values[rows] = 1 - np.take_along_axis(cosines, chosen[rows].astype(np.int64), axis=1)
    return values


def _together(sets: Sequence[tuple[int, ...]], counts: Any) -> Any:
    """(sets, n-grams): the counts of each set's texts, added up."""
    from scipy.sparse import csr_array

    members = [text for texts in sets for text in texts]
    owners = [number for number, texts in enumerate(sets) for _ in texts]
    chooser = csr_array((np.ones(len(members)), (owners, members)), shape=(len(sets), counts.shape[0]))
    return chooser @ counts
