"""Attributions -> what their report shows: who, why, and the texts of the author beside the one in question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from byline.attribution.attributing import Attribution, Attributions
from byline.attribution.evidence import Asked, head_levels, weigh_texts
from byline.attribution.likeness import PIECE, Piece, choose_pieces, weigh_pieces
from byline.attribution.model import AuthorModel
from byline.attribution.writings import NONE, Writings
from byline.cautions import SHORT
from byline.documents import Document
from byline.dossiers.models import CLOSED, SharingMarkings, feature_values, guess_source, model_origins, sureness
from byline.dossiers.origins import member_values, unique_names
from byline.dossiers.parts import DIGITS, LIMITS, finite, short_names
from byline.engines import Watch
from byline.evidence import Guesser
from byline.settings import ADDITIVE

ONE_AGAINST_ALL = (
    "Colours compare one author with all authors of the model on the average, not with the one who comes next; that"
    " comparison can be chosen above the text."
)
ORDERED = (
    "Authors are ordered by the sum of what all members say of them, and not by bits. Before it is added up, what a"
    " member says is made relative: how hard the text is for everyone, and how easy an author's head finds every text,"
    " are taken off. Bits are what the text costs the author's language models, with all that still in it"
)
AS_KEPT = (
    "The authors' texts are shown as the model keeps them: normalised, with 7 for every digit and without signs that"
    " are rare in all texts together."
)
AS_MASKED = "The model keeps the authors' texts with content words masked; they are shown so."
KNOWN_CHARACTERS, MOST_KNOWN = 300_000, 24_000
"""Of the authors' texts that a report shows, beside all documents together and beside one: bounds the page's size."""
MOST_RANKED = 50
"""Authors that a ranking shows."""
PARTS_SHOWN = 5


def attribution_dossier(
    model: AuthorModel,
    documents: Sequence[Document],
    found: Attributions,
    prior: float,
    about: Mapping[str, Any],
    watch: Watch = Watch(),  # noqa: B008 - frozen
    writings: Writings | None = None,
) -> dict[str, Any]:
    """What a report of attributions shows; `about` is what the report says of itself: source, made, provenance.

    `writings` are those that the model was trained on, where they are at hand: then the authors' texts are shown as
    they were written, and otherwise as the model keeps them.
    """
    names = unique_names(short_names([document.name for document in documents]))
    named = [replace(document, name=name) for document, name in zip(documents, names, strict=True)]
    sides = _Sides(model, named, found, watch, writings)
    levels = _levels(model, watch)
    rows = [
        {
            "name": document.name,
            "author": each.author,
            "probability": round(each.probability, DIGITS),
            "none": round(each.none, DIGITS),
            "ranking": _ranking(each, model, levels),
            "others": max(0, len(each.ranking) - MOST_RANKED),
            "parts": [
                [candidate.author, [round(part, 3) for part in candidate.parts]]
                for candidate in each.ranking[:PARTS_SHOWN]
                if candidate.parts
            ],
            "statement": _statement(each),
            "reasons": _reasons(each, model),
            "characters": len(document.text),
            **sides.known_values(row),
            "warnings": _warnings(document, each, sides.known_length(row)),
            "blob": sides.blob(row),
            "next": sides.against_next(row),
        }
        for row, (document, each) in enumerate(zip(named, found, strict=True))
    ]
    return {
        **about,
        "kind": "attribution",
        "conclusion": _conclusion(found, model, prior),
        "limits": [*LIMITS, ONE_AGAINST_ALL, sureness(model), *([] if prior else [CLOSED])],
        "warnings": [f"{row['name']}: {warning}" for row in rows for warning in row["warnings"]],
        "language": model.language,
        "authors": list(model.authors),
        "prior_none": prior,
        "none_line": {"middle": round(model.judge.middle, 2)} if prior and model.judge.slope else None,
        "known_as": None if writings is not None else kept_words(model),
        "documents": rows,
        "members": member_values(model.members, model.seed, model.judge.weights),
        "provenance": model_origins(
            about, model, {"asked about": documents, "by the authors": [] if writings is None else writings.documents},
            {"Prior of none of these": prior},
        ),
    }  # fmt: skip


def _conclusion(found: Attributions, model: AuthorModel, prior: float) -> str:
    if len(found) == 1:
        return f"1 text compared with {len(model.authors):,} authors. {_statement(found[0])}"
    nobody = sum(each.author is None for each in found)
    said = f", {nobody:,} of them more likely by none of these than by any one" if prior and nobody else ""
    return f"{len(found):,} texts compared with {len(model.authors):,} authors{said}."


def kept_words(model: AuthorModel) -> str:
    """What is to be said of texts that only the model has."""
    return AS_KEPT if any(view.mask == "none" for view in model.views) else AS_MASKED


class _Sides:
    """What speaks in each document for the first author, against all and against the next, and in his own texts."""

    def __init__(
        self,
        model: AuthorModel,
        documents: Sequence[Document],
        found: Attributions,
        watch: Watch,
        writings: Writings | None,
    ) -> None:
        self._model, self._documents, self._found, self._watch = model, documents, found, watch
        self._first = [model.authors.index(each.ranking[0].author) for each in found]
        second = [model.authors.index(each.ranking[1].author) for each in found if len(each.ranking) > 1]
        asked = [Asked(row, author) for authors in (self._first, second) for row, author in enumerate(authors)]
        self._evidence = weigh_texts(model, documents, asked, watch)
        self._guessers: dict[tuple[str, ...], Guesser] = {}
        self._sources = {author: guess_source(model, author, writings) for author in set(self._first)}
        self._pieces = self._choose(writings)

    def _choose(self, writings: Writings | None) -> dict[int, list[Piece]]:
        """By document the passages of the author's texts that stand beside it."""
        most = min(MOST_KNOWN, max(PIECE, KNOWN_CHARACTERS // max(1, len(self._documents))))
        found: dict[int, list[Piece]] = {}
        for author in sorted(set(self._first)):
            rows = [row for row, own in enumerate(self._first) if own == author]
            chosen = choose_pieces(self._model, author, [self._documents[row] for row in rows], most, writings)
            found |= dict(zip(rows, chosen, strict=True))
        return found

    def known_length(self, row: int) -> int:
        """Characters that the model has of the first author."""
        return sum(len(self._model.texts[0][number]) for number in self._model.texts_of(self._first[row]))

    def known_values(self, row: int) -> dict[str, Any]:
        """How much of the first author's texts is there, and how much of it is shown."""
        pieces = self._pieces[row]
        return {
            "known_characters": self.known_length(row),
            "known_texts": len(self._model.texts_of(self._first[row])),
            "known_shown": sum(len(piece.text) for piece in pieces),
            "known_whole": sum(len(piece.text) == piece.whole for piece in pieces)
            == len(self._model.texts_of(self._first[row])),
        }

    def blob(self, row: int) -> str:
        """The document beside passages of the first author's texts, with what speaks in them, packed."""
        document, pieces, own = self._documents[row], self._pieces[row], self._evidence[row]
        markings = SharingMarkings(self._guessers)
        markings.add("unknown", document, own.gains, self._sources[self._first[row]])
        weighed = weigh_pieces(self._model, document, self._first[row], pieces, self._watch)
        for piece, gains in zip(pieces, weighed, strict=True):
            markings.add_beside("known", Document(self._title(piece), piece.text), gains)
        return markings.blob([feature_values(each.member, each) for each in own.features if each.features])

    def _title(self, piece: Piece) -> str:
        title = self._model.titles[piece.number]
        if len(piece.text) == piece.whole:
            return title
        return f"{title}, characters {piece.begin:,} to {piece.end:,} of {piece.whole:,}"

    def against_next(self, row: int) -> dict[str, Any] | None:
        """The same of the document alone, against the next author; None where no member adds up, or nobody is next."""
        if len(self._found[row].ranking) < 2:
            return None
        mine, other = self._evidence[row].gains, self._evidence[len(self._documents) + row].gains
        if mine is None or other is None:
            return None
        markings = SharingMarkings(self._guessers)
        markings.add("unknown", self._documents[row], mine - other, ())
        return {"author": self._found[row].ranking[1].author, "blob": markings.blob()}


def _levels(model: AuthorModel, watch: Watch) -> dict[str, float]:
    """By author, how much easier than others his language models find texts by anybody, in bits a character."""
    adding = [number for number, member in enumerate(model.members) if member.engine in ADDITIVE]
    if not adding:
        return {}
    means = np.mean([head_levels(model, number, watch) for number in adding], axis=0)
    return dict(zip(model.authors, means.tolist(), strict=True))


def _ranking(found: Attribution, model: AuthorModel, levels: Mapping[str, float]) -> list[list[Any]]:
    """Author, probability, bits, bits gained beyond what is usual for the author, and the sum, of the first authors."""
    bits = [candidate.bits for candidate in found.ranking if candidate.bits is not None]
    usual = float(np.mean(bits)) if bits else None
    return [
        [
            candidate.author,
            round(candidate.probability, DIGITS),
            finite(candidate.bits),
            None
            if usual is None or candidate.bits is None
            else finite(usual - candidate.bits - levels.get(candidate.author, 0.0)),
            round(sum(candidate.parts), 3) if candidate.parts else None,
        ]
        for candidate in found.ranking[:MOST_RANKED]
    ]


def _reasons(found: Attribution, model: AuthorModel) -> list[str]:
    """Why the order is what it is, where bits would have another."""
    adding = sum(member.engine in ADDITIVE for member in model.members)
    if not adding:
        return ["No member of this model is a language model: there are no bits, and no colours in the text."]
    whole = len(model.members)
    said = [f"{ORDERED}; {adding} of {whole} members have them." if adding < whole else f"{ORDERED}."]
    first = found.ranking[0]
    cheapest = min(found.ranking, key=lambda candidate: candidate.bits if candidate.bits is not None else np.inf)
    if cheapest.author != first.author and cheapest.bits is not None and first.bits is not None:
        said.append(
            f"Here that matters: the text costs {cheapest.author}'s language models least ({cheapest.bits:.3f} bits a"
            f" character; {first.author}'s {first.bits:.3f}), and yet {first.author} comes first."
        )
    return said


def _statement(found: Attribution) -> str:
    first = found.ranking[0].author
    if found.author is None:
        return f"More likely by {NONE} ({found.probability:.3f}) than by any of the authors; the nearest is {first}."
    second = (
        f", before {found.ranking[1].author} ({found.ranking[1].probability:.3f})" if len(found.ranking) > 1 else ""
    )
    return f"Of these authors {found.author} is the most probable ({found.probability:.3f}){second}."


def _warnings(document: Document, found: Attribution, known: int) -> list[str]:
    """What is to be known of a document, in sentences."""
    said = [f"{caution[0].upper()}{caution[1:]}." for caution in (*found.cautions, *document.guesses)]
    if known < SHORT:
        said.append(
            f"The texts of {found.ranking[0].author} are short ({known:,} characters together): they carry little"
            " evidence."
        )
    return said
