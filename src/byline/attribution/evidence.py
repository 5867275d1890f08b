"""What speaks in a text for one of a model's authors, against the others: gains of characters, by member.

Only members that add up over characters tell (n-grams and networks). As in verification, a gain is taken beyond what is
usual for the author's head: its mean over texts by others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from byline.attribution.model import AuthorModel, encode_texts, questions_of, sample_texts
from byline.documents import Document
from byline.engines import Filled, Watch, ngram, rnn
from byline.gains import GainKeeper, mean_gains
from byline.places import spread_back
from byline.questions import Question, Questions
from byline.scoring import Matrix
from byline.settings import ADDITIVE

LEVEL_TEXTS = 60
"""Texts of the authors that tell how easy a head finds texts by others."""


def weigh_characters(
    model: AuthorModel,
    documents: Sequence[Document],
    authors: Sequence[str],
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> list[NDArray[np.float64] | None]:
    """For each document (members, characters): bits of the original's characters for the author that is named with it.

    None where no member adds up over characters.
    """
    encoded = encode_texts(model, [document.text for document in documents])
    level_texts = sample_texts(model, LEVEL_TEXTS)
    found: list[list[NDArray[np.float64]]] = [[] for _ in documents]
    for number, member in enumerate(model.members):
        if member.engine not in ADDITIVE:
            continue
        watch.proceed()
        place = model.view_of(member)
        plain = questions_of(model, member, level_texts, encoded[place])
        asked = tuple(
            Question(row, model.authors.index(author), len(level_texts) + row) for row, author in enumerate(authors)
        )
        questions = replace(plain, questions=asked, aside=member.engine != "rnn")
        filled = _fill(model, number, questions, watch)
        levels = _levels(model, questions, filled.matrix, level_texts)
        for row, (question, gains) in enumerate(zip(asked, filled.gains, strict=True)):
            beyond = np.where(gains != 0, gains - levels[question.head], 0)
            found[row].append(spread_back(model.views[place], documents[row].text, beyond))
    return [np.array(rows) if rows else None for rows in found]


def _fill(model: AuthorModel, number: int, questions: Questions, watch: Watch) -> Filled:
    member = model.members[number]
    if member.engine == "ngram":
        return ngram.fill_matrix(
            questions, member, np.random.default_rng([model.seed, number]), replace(watch, evidence=True)
        )
    chosen = np.tile(np.arange(len(model.authors), dtype=np.int32), (len(questions.documents), 1))
    keeper = GainKeeper(questions, chosen)
    network = model.networks[number]
    matrix = rnn.score(network, questions, chosen, threads=watch.threads, proceed=watch.proceed, keeper=keeper)
    return Filled(matrix, network, gains=keeper.gains())


def _levels(
    model: AuthorModel, questions: Questions, matrix: Matrix, level_texts: Sequence[int]
) -> NDArray[np.float64]:
    """(authors,): how much a symbol of texts by others usually speaks for each author's head."""
    gained = mean_gains(questions, matrix)[: len(level_texts)]
    owners = np.array([model.owners[text] for text in level_texts], np.int64)
    others = ~matrix.seen[: len(level_texts)] & (np.arange(len(model.authors)) != owners[:, None])
    levels: NDArray[np.float64] = np.where(others, gained, 0).sum(axis=0) / np.maximum(others.sum(axis=0), 1)
    return levels
