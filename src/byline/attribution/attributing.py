"""Texts and a model of authors -> who is likely to have written each."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from byline.attribution.model import AuthorModel, encode_texts, fill_encoded
from byline.attribution.verdict import probabilities
from byline.documents import Document
from byline.engines import Watch
from byline.errors import SettingsError
from byline.frames import to_frame
from byline.passages import PASSAGE, find_related
from byline.settings import ADDITIVE
from byline.views import require_length

log = logging.getLogger(__name__)

USUAL_PRIOR = 0.1
"""How probable it is that it is none of them before anything is measured, where nothing is said."""
MOST_COMPARED = 2_000_000
"""Characters of all texts together among which shared passages are looked for; beyond, it would take minutes."""
LITTLE = 100
"""Characters below which a text is said to say little."""


@dataclass(frozen=True)
class Candidate:
    """An author, how probable he is, and how many bits a character the text costs him, where members tell."""

    author: str
    probability: float
    bits: float | None


@dataclass(frozen=True)
class Attribution:
    """Who is likely to have written a text."""

    document: str
    author: str | None
    """The most probable one; None where it is none of these."""
    probability: float
    """Of that."""
    none: float
    """How probable it is that it is none of these."""
    ranking: tuple[Candidate, ...]
    """All authors, the most probable first."""


class Attributions(tuple[Attribution, ...]):
    """The attributions of some documents, in their order."""

    __slots__ = ()

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each document and author, the most probable first."""
        rows = [
            {
                "document": found.document,
                "rank": rank,
                "author": candidate.author,
                "probability": candidate.probability,
                "bits": candidate.bits,
                "none": found.none,
            }
            for found in self
            for rank, candidate in enumerate(found.ranking, start=1)
        ]
        return to_frame(rows, ("document", "rank", "author", "probability", "bits", "none"))


def attribute(
    model: AuthorModel,
    documents: Sequence[Document],
    none: float = USUAL_PRIOR,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> Attributions:
    """The likely author of each document; `none` is the prior that it is none of them, 0 where it must be one.

    What is said of a text does not depend on which others are asked about beside it. Texts that the model has learnt,
    or that share passages with such a text, are named in a warning.
    """
    found = rank_authors(model, documents, none, watch)
    warn_of_known(model, documents)
    for document in documents:
        if (length := len(document.text)) < LITTLE:
            log.warning("%s: %d characters; so short a text says little of its author", document.name, length)
    return found


def rank_authors(model: AuthorModel, documents: Sequence[Document], none: float, watch: Watch) -> Attributions:
    """The same without a word on texts that the model knows."""
    if not 0 <= none < 1:
        raise SettingsError(f"the prior of none of these must be 0 or more and less than 1, got {none}")
    encoded = encode_texts(model, [document.text for document in documents])
    for view, seen in zip(model.views, encoded, strict=True):
        require_length(view, documents, map(len, seen))
    if not documents:
        return Attributions()
    tables = fill_encoded(model, encoded, None, watch)
    chances, nobody = probabilities(model.judge, tables, none)
    readable = [number for number, member in enumerate(model.members) if member.engine in ADDITIVE]
    bits = tables.values[readable][:, tables.asked].mean(axis=0) if readable else None
    found = []
    for row, document in enumerate(documents):
        order = sorted(range(len(model.authors)), key=lambda author: (-chances[row, author], model.authors[author]))
        ranking = tuple(
            Candidate(
                model.authors[author],
                float(chances[row, author]),
                None if bits is None else float(bits[row, author]),
            )
            for author in order
        )
        somebody = nobody[row] < ranking[0].probability or not none
        found.append(
            Attribution(
                document.name,
                ranking[0].author if somebody else None,
                float(np.clip(ranking[0].probability if somebody else nobody[row], 0, 1)),
                float(nobody[row]),
                ranking,
            )
        )
    return Attributions(found)


def warn_of_known(model: AuthorModel, documents: Sequence[Document]) -> None:
    """Say which documents the model has learnt, whole or in part: what it says of them is no evidence."""
    place = next((number for number, view in enumerate(model.views) if view.mask == "none"), None)
    if place is None:
        return
    view = model.views[place]
    learnt = [view.alphabet.decode(text) for text in model.texts[place]]
    plain = [view.alphabet.filter(view.normal(document.text)) for document in documents]
    if sum(map(len, learnt)) + sum(map(len, plain)) <= MOST_COMPARED:
        found = find_related(plain, learnt)
    else:  # only whole texts
        numbers = {text: number for number, text in enumerate(learnt)}
        found = [frozenset({numbers[text]} if text in numbers else ()) for text in plain]
    for document, text, related in zip(documents, plain, found, strict=True):
        if not related:
            continue
        other = min(related, key=lambda number: (learnt[number] != text, number))
        whose = f"{model.titles[other]} by {model.authors[model.owners[other]]}"
        if learnt[other] != text:
            log.warning(
                "%s: shares %d characters or more word for word with %s, which the model has learnt;"
                " what it says of them is no evidence", document.name, PASSAGE, whose,
            )  # fmt: skip
        elif model.owners.count(model.owners[other]) > 1:
            log.warning("%s: the same as %s, and judged as if the model had not learnt it", document.name, whose)
        else:
            log.warning("%s: the same as %s, his only text: he can't be judged", document.name, whose)
