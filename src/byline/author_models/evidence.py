"""Evidence in a text for one of a model's authors, and the passages of that author that are most similar to it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.author_models.model import (
    AuthorModel,
    Indices,
    encode_texts,
    enroll_texts,
    fill_matrix,
    make_questions,
    sample_texts,
    score_own_texts,
)
from byline.corpora.author_corpus import AuthorCorpus
from byline.corpora.documents import Document
from byline.engines.matrix import mean_gains
from byline.engines.ngram.kernels import index_texts
from byline.engines.profiles.engine import profile_texts
from byline.engines.protocol import Feature, Runtime
from byline.engines.questions import Question, Questions, ReferencePart
from byline.engines.rnn.training import Model
from byline.settings.settings import ADDITIVE, Settings
from byline.text.encoder import SHORTEST, Symbols, values_by_character
from byline.text.normalize import CAPITAL

Gains = NDArray[np.float64]
"""(members, characters): bits."""


class AuthorQuestion(NamedTuple):
    """The number of a document, and that of the author who is asked about."""

    document: int
    author: int


class MemberFeatures(NamedTuple):
    """Features for and against an author that a member names, with weights in its unit."""

    member: str
    unit: str
    features: tuple[Feature, ...]


@dataclass(frozen=True)
class Evidence:
    """Evidence in a document for an author, against all authors of the model."""

    gains: Gains | None
    """Of the original's characters; None if no member adds up over characters."""
    features: tuple[MemberFeatures, ...]


def explain_attributions(
    model: AuthorModel,
    documents: Sequence[Document],
    asked: Sequence[AuthorQuestion],
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    additive: bool | None = None,
) -> list[Evidence]:
    """Return the evidence for each question; `additive` asks only members that do, or don't, add up."""
    encoded = encode_texts(model, [document.text for document in documents])
    gains: list[list[NDArray[np.float64]]] = [[] for _ in asked]
    features: list[list[MemberFeatures]] = [[] for _ in asked]
    indices: Indices = {}
    for number, member in enumerate(model.members):
        adds = member.engine in ADDITIVE
        if not asked or additive not in (None, adds):
            continue
        runtime.proceed()
        runtime.stage(f"evidence of member {number + 1} of {len(model.members)}, {member.engine_name}")
        place = model.encoder_of(member)
        questions = replace(
            make_questions(model, member, (), encoded[place]),
            questions=tuple(Question(row, each.author, each.document) for row, each in enumerate(asked)),
        )
        filled = fill_matrix(model, number, questions, indices, replace(runtime, evidence=True))
        if adds:
            levels = head_levels(model, number, runtime)
            for row, each in enumerate(asked):
                beyond = np.where(filled.gains[row] != 0, filled.gains[row] - levels[each.author], 0)
                gains[row].append(values_by_character(model.encoders[place], documents[each.document].text, beyond))
        else:
            for row, found in enumerate(filled.features):
                features[row].append(MemberFeatures(member.engine_name, filled.matrix.unit, found))
    return [Evidence(np.array(own) if own else None, tuple(named)) for own, named in zip(gains, features, strict=True)]


def head_levels(model: AuthorModel, number: int, runtime: Runtime = Runtime()) -> NDArray[np.float64]:  # noqa: B008 - frozen
    """(authors,): return each head's mean gain over texts by others, in bits per symbol, for one member."""
    tables = score_own_texts(model, runtime)
    values, able = tables.values[number], ~tables.seen[number]
    usual = np.where(able, values, 0).sum(axis=1) / np.maximum(able.sum(axis=1), 1)
    others = able & (np.arange(len(model.authors)) != tables.owners[:, None])
    gained = np.where(others, usual[:, None] - values, 0).sum(axis=0)
    levels: NDArray[np.float64] = gained / np.maximum(others.sum(axis=0), 1)
    return levels


PASSAGE_LENGTH = 3_000
"""Characters of a passage, about; a text of up to half as many more is one passage."""
MAX_SEARCHED = 1_000_000
"""Characters of an author's texts that are searched; of longer texts, evenly spaced passages are."""
ORDER = 4
"""Passages are compared by n-grams of up to so many characters."""
LEVEL_PASSAGES, LEVEL_LENGTH = 12, 1_000
"""Passages by others from which the head's mean gain is taken, and symbols of each."""


class AuthorPassage(NamedTuple):
    """A passage of an author's text, from its first character to the one after its last."""

    text: str
    number: int
    """The number of the text in the model."""
    begin: int
    end: int
    whole: int
    """Characters of the whole text."""


def readable_text(model: AuthorModel, number: int) -> str:
    """Return a text as the model stores it, with its capitals and accents; digits are 7.

    Characters that are too rare for the alphabet are missing, and so are words if all members mask topic.
    """
    place = next((place for place, encoder in enumerate(model.encoders) if encoder.mask == "none"), 0)
    return restore(model.encoders[place].alphabet.decode(model.texts[place][number]))


def restore(text: str) -> str:
    """Put capitals and accents back on their letters."""
    pieces = text.split(CAPITAL)
    whole = pieces[0] + "".join(piece[:1].upper() + piece[1:] for piece in pieces[1:])
    return unicodedata.normalize("NFC", whole)


def author_passages(model: AuthorModel, author: int, author_corpus: AuthorCorpus | None = None) -> list[AuthorPassage]:
    """Cut an author's texts into passages: the originals if the corpus is given, or else as the model stores them."""
    return [
        passage
        for number in model.texts_of(author)
        for passage in cut_passages(
            number, readable_text(model, number) if author_corpus is None else author_corpus.documents[number].text
        )
    ]


def cut_passages(number: int, text: str) -> list[AuthorPassage]:
    """Cut a text into passages of about the same length, between words where possible."""
    count = max(1, round(len(text) / PASSAGE_LENGTH))
    cuts = [0]
    for place in range(1, count):
        about = len(text) * place // count
        blank = re.compile(r"\s").search(text, about, min(len(text), about + PASSAGE_LENGTH // 10))
        cuts.append(blank.end() if blank else about)
    cuts.append(len(text))
    return [AuthorPassage(text[begin:end], number, begin, end, len(text)) for begin, end in pairwise(cuts)]


def choose_passages(
    model: AuthorModel,
    author: int,
    documents: Sequence[Document],
    most: int,
    author_corpus: AuthorCorpus | None = None,
) -> list[list[AuthorPassage]]:
    """For each document, choose the most similar passages of an author's texts, about `most` characters of them.

    The most similar come first, and neighbors are joined. At least one is chosen, even if it is longer.
    """
    passages = author_passages(model, author, author_corpus)
    step = -(-sum(len(passage.text) for passage in passages) // MAX_SEARCHED)
    passages = [passage for passage in passages[::step] if passage.text.strip()]
    found = []
    for order in _rank_by_similarity(passages, documents, model):
        chosen: list[AuthorPassage] = []
        left = most
        for number in order.tolist():
            length = len(passages[number].text)
            if chosen and length / 2 > left:
                break
            chosen.append(passages[number])
            left -= length
        found.append(join_neighbors(chosen))
    return found


def _rank_by_similarity(
    passages: Sequence[AuthorPassage], documents: Sequence[Document], model: AuthorModel
) -> NDArray[np.int64]:
    """(documents, passages): for each document, number the passages from the most similar on.

    Similarity is the cosine of n-gram counts, damped and weighted by how few of these texts have the n-gram. A passage
    that is the document itself comes last.
    """
    encoder = next((encoder for encoder in model.encoders if encoder.mask == "none"), model.encoders[0])
    encoded = [encoder.encode(text) for text in (*(each.text for each in documents), *(each.text for each in passages))]
    profiles = profile_texts(index_texts(encoded, ORDER))
    similar = (profiles[: len(documents)] @ profiles[len(documents) :].T).toarray()
    for row, document in enumerate(encoded[: len(documents)]):
        for column, passage in enumerate(encoded[len(documents) :]):
            if np.array_equal(document, passage):
                similar[row, column] = -1
    order: NDArray[np.int64] = np.argsort(-similar, axis=1, kind="stable")
    return order


def join_neighbors(passages: Sequence[AuthorPassage]) -> list[AuthorPassage]:
    """Join passages that follow each other in a text, in the place of the first of them."""
    joined = list(passages)
    for passage in passages:
        before = next((each for each in joined if (each.number, each.end) == (passage.number, passage.begin)), None)
        own = next((each for each in joined if (each.number, each.begin) == (passage.number, passage.begin)), None)
        if before is None or own is None:
            continue
        place = min(joined.index(before), joined.index(own))
        both = before._replace(text=before.text + own.text, end=own.end)
        joined = [each for each in joined if each not in (before, own)]
        joined.insert(place, both)
    return joined


def explain_passages(
    model: AuthorModel,
    document: Document,
    author: int,
    passages: Sequence[AuthorPassage],
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> list[Gains | None]:
    """Return the gains of each passage for the writer of the document; None if no member gives them."""
    found: list[list[NDArray[np.float64]]] = [[] for _ in passages]
    for number, member in enumerate(model.members):
        if member.engine not in ADDITIVE:
            continue
        runtime.proceed()
        encoder = model.encoders[model.encoder_of(member)]
        encoded = [encoder.encode(passage.text) for passage in passages]
        able = [row for row, text in enumerate(encoded) if len(text) >= SHORTEST]
        own = encoder.encode(document.text)
        if not able or len(own) < SHORTEST:
            continue
        questions = _make_questions(model, member, own, [encoded[row] for row in able], author)
        network = _enroll_document(model, number, own, runtime) if member.engine == "rnn" else None
        filled = fill_matrix(model, number, questions, {}, replace(runtime, evidence=True), network)
        gained = mean_gains(questions, filled.matrix)[len(able) :, 0]
        level = float(gained.mean()) if len(gained) else 0.0
        for row, gains in zip(able, filled.gains, strict=True):
            found[row].append(values_by_character(encoder, passages[row].text, np.where(gains != 0, gains - level, 0)))
    return [np.array(rows) if rows else None for rows in found]


def _make_questions(
    model: AuthorModel, member: Settings, own: Symbols, passages: Sequence[Symbols], author: int
) -> Questions:
    """Make the document a head before those of the authors; the passages, and some by others, are the documents."""
    place = model.encoder_of(member)
    plain = make_questions(model, member, (), [own])
    ((document,),) = plain.documents
    others = [number for number in sample_texts(model, len(model.owners)) if model.owners[number] != author]
    judged = [(passage, author) for passage in passages]
    judged += [(model.texts[place][other][:LEVEL_LENGTH], model.owners[other]) for other in others[:LEVEL_PASSAGES]]
    return replace(
        plain,
        texts=(*plain.texts, *(text for text, _ in judged)),
        heads=((document,), *plain.heads),
        documents=tuple((len(plain.texts) + row,) for row in range(len(judged))),
        questions=tuple(Question(row, 0, row) for row in range(len(passages))),
        reference=ReferencePart(1, len(passages)),
        excluded_pairs=frozenset((row, 1 + owner) for row, (_, owner) in enumerate(judged)),
        leave_one_out=False,
    )


def _enroll_document(model: AuthorModel, number: int, own: Symbols, runtime: Runtime) -> Model:
    """Return the network with a head for the document before those of the authors."""
    network, count = model.networks[number], len(model.authors)
    weights, new = network.weights, enroll_texts(model, number, [[own]], runtime)
    return replace(
        network,
        weights=weights._replace(
            heads=np.concatenate([new.heads, weights.heads[:count]]),
            head_bias=np.concatenate([new.head_bias, weights.head_bias[:count]]),
        ),
    )
