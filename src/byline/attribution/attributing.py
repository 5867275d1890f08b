"""Texts and a model of authors -> who is likely to have written each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from byline.alphabet import Symbols
from byline.attribution.cautions import Cautions, find_cautions, say_cautions
from byline.attribution.letters import encode_readable
from byline.attribution.model import AuthorModel, encode_texts, fill_encoded
from byline.attribution.verdict import probabilities, relative
from byline.documents import Document
from byline.engines import Watch
from byline.errors import SettingsError
from byline.frames import to_frame
from byline.settings import ADDITIVE
from byline.views import require_length

USUAL_PRIOR = 0.1
"""How probable it is that it is none of them before anything is measured, where nothing is said."""
MOST_PARTS = 10
"""Authors, the most probable ones, of whom what each member adds is kept."""


@dataclass(frozen=True)
class Candidate:
    """An author, how probable he is, and how many bits a character the text costs him, where members tell."""

    author: str
    probability: float
    bits: float | None
    parts: tuple[float, ...] = ()
    """What each member adds to the sum of which probabilities are made, of the first few; the higher the better."""


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
    cautions: Cautions = ()
    """What speaks against believing it: a short text, letters that the model lacks, passages that it has learnt."""


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

    What is said of a text does not depend on which others are asked about beside it. Texts whose letters the model does
    not know are refused. Short texts, those that lose many letters, and those that the model has learnt, whole or in
    part, are named in a warning and in the attribution's cautions.
    """
    encoded = [encode_readable(view, documents) for view in model.views]
    found = _rank(model, documents, encoded, none, watch, MOST_PARTS)
    cautions = find_cautions(model, documents)
    say_cautions(documents, cautions)
    return Attributions(replace(each, cautions=own) for each, own in zip(found, cautions, strict=True))


def rank_authors(model: AuthorModel, documents: Sequence[Document], none: float, watch: Watch) -> Attributions:
    """The same without a word on what the texts are like."""
    encoded = encode_texts(model, [document.text for document in documents])
    for view, seen in zip(model.views, encoded, strict=True):
        require_length(view, documents, map(len, seen))
    return _rank(model, documents, encoded, none, watch, 0)


def _rank(
    model: AuthorModel,
    documents: Sequence[Document],
    encoded: Sequence[Sequence[Symbols]],
    none: float,
    watch: Watch,
    parts: int,
) -> Attributions:
    """The attributions; of the first few authors with what each member adds."""
    if not 0 <= none < 1:
        raise SettingsError(f"the prior of none of these must be 0 or more and less than 1, got {none}")
    if not documents:
        return Attributions()
    tables = fill_encoded(model, encoded, None, watch)
    scores = relative(tables)
    chances, nobody = probabilities(model.judge, tables, none, scores)
    added = np.array(model.judge.weights)[:, None, None] * scores[:, tables.asked]  # (members, texts, authors)
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
                tuple(added[:, row, author].tolist()) if rank < parts else (),
            )
            for rank, author in enumerate(order)
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
