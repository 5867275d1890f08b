"""What speaks in a text for one of a model's authors, against the others: gains of characters, and features.

Members that add up over characters (n-grams and networks) give gains. As in verification a gain is how much less a
character costs the author's head than all authors' heads on the average, beyond what is usual for that head: its mean
over texts by others. The difference of two authors' gains is what speaks for one of them against the other. Members
that don't add up name features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.attribution.model import AuthorModel, encode_texts, index_questions, level_tables, questions_of
from byline.documents import Document
from byline.engines import Feature, Filled, Watch, engine_of, rnn
from byline.gains import GainKeeper
from byline.ngrams import Index
from byline.places import spread_back
from byline.questions import Question, Questions
from byline.settings import ADDITIVE

Gains = NDArray[np.float64]
"""(members, characters): bits."""


class Asked(NamedTuple):
    """The number of a document, and that of the author who is asked about it."""

    document: int
    author: int


class Named(NamedTuple):
    """What a member that does not add up over characters names for and against, in its unit."""

    member: str
    unit: str
    features: tuple[Feature, ...]


@dataclass(frozen=True)
class Evidence:
    """What speaks in a document for an author, against all authors of the model."""

    gains: Gains | None
    """Of the original's characters, beyond what is usual for the author; None where no member adds up."""
    features: tuple[Named, ...]


def weigh_texts(
    model: AuthorModel,
    documents: Sequence[Document],
    asked: Sequence[Asked],
    watch: Watch = Watch(),  # noqa: B008 - frozen
    additive: bool | None = None,
) -> list[Evidence]:
    """What speaks in each document that is asked about for the author; `additive` asks one kind of members only."""
    encoded = encode_texts(model, [document.text for document in documents])
    gains: list[list[NDArray[np.float64]]] = [[] for _ in asked]
    features: list[list[Named]] = [[] for _ in asked]
    indices: dict[tuple[int, int], Index] = {}
    for number, member in enumerate(model.members):
        adds = member.engine in ADDITIVE
        if not asked or additive not in (None, adds):
            continue
        watch.proceed()
        watch.stage(f"evidence of member {number + 1} of {len(model.members)}, {member.engine_name}")
        place = model.view_of(member)
        questions = replace(
            questions_of(model, member, (), encoded[place]),
            questions=tuple(Question(row, each.author, each.document) for row, each in enumerate(asked)),
        )
        if (place, member.order) not in indices and member.engine != "rnn" and member.direction == "forward":
            indices[place, member.order] = index_questions(model, member, questions)
        filled = _fill(model, number, questions, indices.get((place, member.order)), watch)
        if adds:
            levels = head_levels(model, number, watch)
            for row, each in enumerate(asked):
                beyond = np.where(filled.gains[row] != 0, filled.gains[row] - levels[each.author], 0)
                gains[row].append(spread_back(model.views[place], documents[each.document].text, beyond))
        elif filled.features:
            for row, found in enumerate(filled.features):
                features[row].append(Named(member.engine_name, filled.matrix.unit, found))
    return [Evidence(np.array(own) if own else None, tuple(named)) for own, named in zip(gains, features, strict=True)]


def _fill(model: AuthorModel, number: int, questions: Questions, index: Index | None, watch: Watch) -> Filled:
    member = model.members[number]
    if member.engine != "rnn":
        rng = np.random.default_rng([model.seed, number])
        known = index if member.direction == "forward" else None
        return engine_of(member.engine)(questions, member, rng, replace(watch, evidence=True), index=known)
    plain = replace(questions, aside=False)
    chosen = np.tile(np.arange(len(model.authors), dtype=np.int32), (len(questions.documents), 1))
    keeper, network = GainKeeper(plain, chosen), model.networks[number]
    matrix = rnn.score(network, plain, chosen, threads=watch.threads, proceed=watch.proceed, keeper=keeper)
    return Filled(matrix, network, gains=keeper.take())


def head_levels(model: AuthorModel, number: int, watch: Watch = Watch()) -> NDArray[np.float64]:  # noqa: B008 - frozen
    """(authors,): how much a symbol of texts by others usually speaks for each author's head, in a member's eyes."""
    tables = level_tables(model, watch)
    values, able = tables.values[number], ~tables.seen[number]
    usual = np.where(able, values, 0).sum(axis=1) / np.maximum(able.sum(axis=1), 1)
    others = able & (np.arange(len(model.authors)) != tables.owners[:, None])
    gained = np.where(others, usual[:, None] - values, 0).sum(axis=0)
    levels: NDArray[np.float64] = gained / np.maximum(others.sum(axis=0), 1)
    return levels
