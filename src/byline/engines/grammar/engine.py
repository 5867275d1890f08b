"""LambdaG's grammar models (Nini and others 2024): how well a head's model predicts the tokens of a document.

Meant for `mask = "topic"`, so that function words, punctuation and the places of content words are predicted. The
models are those of model.py. A document's value is the mean of its tokens' bits. Tokens that no background text has
are one token, unknown; a text is never in the background that scores it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from byline.engines.grammar import kernels
from byline.engines.grammar.kernels import BEGIN, END, FIRST, UNKNOWN
from byline.engines.grammar.model import BACKGROUND_ORDER
from byline.engines.matrix import (
    PARTS,
    Floats32,
    Floats64,
    GainCollector,
    heads_by_text,
    matrix_from_bits,
    part_ends,
    sample_heads,
)
from byline.engines.ngram.counts import Index, no_counts
from byline.engines.protocol import EngineResult, Feature, Runtime, run_in_threads, strongest_features
from byline.engines.questions import Questions
from byline.settings.settings import Settings
from byline.text.encoder import Symbols
from byline.text.tokens import split_sentences

UNIT = "bits per token"
NAMED = 3
"""Tokens of the longest sequence that is named as evidence."""
END_NAME = "¶"


def fill_matrix(
    questions: Questions,
    settings: Settings,
    rng: np.random.Generator,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> EngineResult:
    """Fit a model to each head and score each document under its heads, in bits per token."""
    chosen = sample_heads(questions, settings.compared, rng)
    asked = heads_by_text(questions, chosen)
    runtime.proceed()
    texts = _tokenize(questions)
    longest = kernels.index_sentences(texts.sentences, max(settings.grammar_order, BACKGROUND_ORDER))
    index = longest._replace(grams=longest.grams[: settings.grammar_order])
    shared = longest._replace(grams=longest.grams[:BACKGROUND_ORDER])
    given = _background(shared, questions.background_texts, list(asked), texts.vocabulary, runtime)
    lengths = [len(tokens) for tokens in texts.counted]
    ends = {text: part_ends(lengths[text]) for text in asked}
    bits = {text: np.zeros((PARTS, len(heads))) for text, heads in asked.items()}
    texts_of: list[list[int]] = [[] for _ in questions.heads]
    for text, heads in asked.items():
        for head in heads:
            texts_of[head].append(text)
    collector = GainCollector(replace(questions, texts=texts.counted), chosen) if runtime.evidence else None

    def score_heads(heads: Sequence[int]) -> None:
        counts = no_counts(index)
        space = np.zeros(max(lengths, default=0))
        for head in heads:
            runtime.proceed()
            for text in questions.heads[head]:
                kernels.count_head_text(index, counts, text)
            for text in texts_of[head]:
                place = int(np.searchsorted(asked[text], head))
                gains = collector if collector and collector.wants(text) else None
                each = space[: lengths[text] if gains else 0]
                bits[text][:, place] = kernels.surprisal(index, counts, text, given[text], ends[text], each)
                if gains:
                    gains.add_head(text, place, each)
            for text in questions.heads[head]:
                kernels.clear_text(index, counts, text)

    run_in_threads(score_heads, len(questions.heads), runtime.threads)
    matrix = replace(matrix_from_bits(questions, chosen, asked, bits, lengths), unit=UNIT)
    features = _name_features(questions, texts, collector.finish()) if collector else ()
    return EngineResult(matrix, features=features)


class _Texts(NamedTuple):
    """The tokens of all texts, numbered."""

    sentences: list[list[Symbols]]
    """Those of each text, with marks; tokens that no background text has are UNKNOWN."""
    counted: tuple[Symbols, ...]
    """The tokens and end marks of each text, none of them UNKNOWN."""
    names: list[str]
    """The token of each number."""
    vocabulary: int
    """The number of tokens that can be predicted: those of background texts, the end mark and UNKNOWN."""


def _tokenize(questions: Questions) -> _Texts:
    numbers: dict[str, int] = {}
    raw: list[list[Symbols]] = []
    for text in questions.texts:
        sentences = split_sentences(questions.alphabet.decode(text)) or [[]]
        raw.append(
            [
                np.array(
                    [BEGIN, *(numbers.setdefault(token, len(numbers) + FIRST) for token in sentence), END], np.int32
                )
                for sentence in sentences
            ]
        )
    known = np.zeros(len(numbers) + FIRST, np.bool_)
    known[:FIRST] = True
    for number in questions.background_texts:
        known[np.concatenate(raw[number])] = True
    mapped = np.where(known, np.arange(len(known)), UNKNOWN).astype(np.int32)
    return _Texts(
        [[mapped[sentence] for sentence in text] for text in raw],
        tuple(np.concatenate([sentence[1:] for sentence in text]) for text in raw),
        ["", END_NAME, "", *numbers],
        int(known[FIRST:].sum()) + 2,
    )


def _background(
    index: Index, learned: Sequence[int], judged: Sequence[int], vocabulary: int, runtime: Runtime
) -> dict[int, Floats64]:
    """Return, for each judged text, its tokens' probabilities under all learned texts but itself."""
    counts = no_counts(index)
    for text in learned:
        kernels.count_background_text(index, counts, text, 1)
    members = set(learned)
    chances: dict[int, Floats64] = {}
    for text in judged:
        runtime.proceed()
        if text in members:
            kernels.count_background_text(index, counts, text, -1)
        chances[text] = kernels.predict_background(index, counts, text, vocabulary)
        if text in members:
            kernels.count_background_text(index, counts, text, 1)
    return chances


def _name_features(questions: Questions, texts: _Texts, gains: Sequence[Floats32]) -> tuple[tuple[Feature, ...], ...]:
    """Name, for each question, the tokens that gain and lose most, each with the tokens before it in its sentence.

    The weights of all would add up to how far the document's value is below the mean of the cohort's.
    """
    found = []
    for question, values in zip(questions.questions, gains, strict=True):
        tokens = np.concatenate([texts.counted[text] for text in questions.documents[question.document]])
        weights: Counter[str] = Counter()
        sentence: list[str] = []
        for token, value in zip(tokens.tolist(), values.tolist(), strict=True):
            sentence.append(texts.names[token])
            weights[" ".join(sentence[-NAMED:])] += value / len(tokens)
            if token == END:
                sentence = []
        found.append(strongest_features(weights))
    return tuple(found)
