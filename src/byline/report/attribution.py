"""The report of attributions: who, why, and the texts of the author next to the one in question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from byline.author_models.evidence import (
    PASSAGE_LENGTH,
    AuthorPassage,
    AuthorQuestion,
    author_passages,
    choose_passages,
    explain_attributions,
    explain_passages,
    head_levels,
)
from byline.author_models.model import AuthorModel
from byline.corpora.author_corpus import NONE, AuthorCorpus
from byline.corpora.documents import Document
from byline.engines.protocol import Runtime
from byline.judgment.checks.cautions import SHORT
from byline.judgment.passage_evidence import Guesser
from byline.report.common import DIGITS, LIMITS, MarkedTexts, feature_values, finite, short_names, unique_names
from byline.report.provenance import member_values, model_provenance
from byline.settings.settings import ADDITIVE
from byline.tasks.attribute import Attribution, Attributions

CLOSED = "Each text is taken to be by one of the authors. If someone else wrote it, that can't be seen here."
LEARNED = "Probabilities were calibrated on {} of the authors' own texts, each judged as if it were not known."
GUESSED = "How sure to be is a guess: no text of the authors could be held out."
GUESS_CHARACTERS = 60_000
"""Of an author's texts that guesses are made from."""
ONE_AGAINST_ALL = (
    "Colors compare one author with all authors of the model on the average, not with the one who comes next; that"
    " comparison can be chosen above the text."
)
ORDERED = (
    "Authors are ordered by the sum of what all members say of them, and not by bits. Before it is added up, what a"
    " member says is made relative: how hard the text is for everyone, and how easy an author's head finds every text,"
    " are taken off. Bits are what the text costs the author's language models, with all that still in it"
)
AS_KEPT = (
    "The authors' texts are shown as the model keeps them: normalized, with 7 for every digit and without signs that"
    " are rare in all texts together."
)
AS_MASKED = "The model keeps the authors' texts with content words masked; they are shown so."
KNOWN_CHARACTERS, MOST_KNOWN = 300_000, 24_000
"""Of the authors' texts that a report shows, for all documents together and for one: bounds the page's size."""
MOST_RANKED = 50
"""Authors that a ranking shows."""
PARTS_SHOWN = 5


def attribution_report(
    model: AuthorModel,
    documents: Sequence[Document],
    found: Attributions,
    prior: float,
    about: Mapping[str, Any],
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    author_corpus: AuthorCorpus | None = None,
) -> dict[str, Any]:
    """Return what a report of attributions shows, as plain values.

    Parameters
    ----------
    about
        What the report says of itself, see page.describe_report.
    author_corpus
        The texts that the model was trained on, to show the authors' texts as they were written; otherwise they are
        shown as the model keeps them.
    """
    names = unique_names(short_names([document.name for document in documents]))
    named = [replace(document, name=name) for document, name in zip(documents, names, strict=True)]
    evidence = _Evidence(model, named, found, runtime, author_corpus)
    levels = _author_levels(model, runtime)
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
            **evidence.known_values(row),
            "warnings": _warnings(document, each, evidence.known_length(row)),
            "packed": evidence.pack_texts(row),
            "next": evidence.against_next(row),
        }
        for row, (document, each) in enumerate(zip(named, found, strict=True))
    ]
    known = author_corpus.documents if author_corpus else []
    return {
        **about,
        "kind": "attribution",
        "conclusion": _conclusion(found, model, prior),
        "limits": [*LIMITS, ONE_AGAINST_ALL, describe_confidence(model), *([] if prior else [CLOSED])],
        "warnings": [f"{row['name']}: {warning}" for row in rows for warning in row["warnings"]],
        "language": model.language,
        "authors": list(model.authors),
        "prior_none": prior,
        "none_line": {"middle": round(model.calibration.middle, 2)} if prior and model.calibration.slope else None,
        "known_as": None if author_corpus is not None else kept_words(model),
        "documents": rows,
        "members": member_values(model.members, model.seed, model.calibration.weights),
        "provenance": model_provenance(
            about, model, {"asked about": documents, "by the authors": known},
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
    """Say how texts are shown that only the model has."""
    return AS_KEPT if any(encoder.mask == "none" for encoder in model.encoders) else AS_MASKED


def describe_confidence(model: AuthorModel) -> str:
    """Say what probabilities were learned from."""
    return LEARNED.format(model.calibration.held_out) if model.calibration.held_out else GUESSED


def sample_author(model: AuthorModel, author: int, author_corpus: AuthorCorpus | None) -> list[Document]:
    """Return passages of an author's texts, evenly from all of them, that guesses are made from."""
    pieces = author_passages(model, author, author_corpus)
    step = -(-sum(len(piece.text) for piece in pieces) // GUESS_CHARACTERS)
    return [Document(model.titles[piece.number], piece.text) for piece in pieces[::step]]


class _Evidence:
    """The evidence in each document for the first author, against all and against the next, and in their own texts."""

    def __init__(
        self,
        model: AuthorModel,
        documents: Sequence[Document],
        found: Attributions,
        runtime: Runtime,
        author_corpus: AuthorCorpus | None,
    ) -> None:
        self._model, self._documents, self._found, self._runtime = model, documents, found, runtime
        self._first = [model.authors.index(each.ranking[0].author) for each in found]
        second = [model.authors.index(each.ranking[1].author) for each in found if len(each.ranking) > 1]
        asked = [AuthorQuestion(row, author) for authors in (self._first, second) for row, author in enumerate(authors)]
        self._evidence = explain_attributions(model, documents, asked, runtime)
        self._guessers: dict[tuple[str, ...], Guesser] = {}
        self._samples = {author: sample_author(model, author, author_corpus) for author in set(self._first)}
        self._pieces = self._choose(author_corpus)

    def _choose(self, author_corpus: AuthorCorpus | None) -> dict[int, list[AuthorPassage]]:
        """Choose for each document the passages of the author's texts that are shown with it."""
        most = min(MOST_KNOWN, max(PASSAGE_LENGTH, KNOWN_CHARACTERS // max(1, len(self._documents))))
        found: dict[int, list[AuthorPassage]] = {}
        for author in sorted(set(self._first)):
            rows = [row for row, own in enumerate(self._first) if own == author]
            chosen = choose_passages(self._model, author, [self._documents[row] for row in rows], most, author_corpus)
            found |= dict(zip(rows, chosen, strict=True))
        return found

    def known_length(self, row: int) -> int:
        """Return the number of characters that the model has of the first author."""
        return sum(len(self._model.texts[0][number]) for number in self._model.texts_of(self._first[row]))

    def known_values(self, row: int) -> dict[str, Any]:
        """Return how much text there is by the first author, and how much of it is shown."""
        pieces = self._pieces[row]
        return {
            "known_characters": self.known_length(row),
            "known_texts": len(self._model.texts_of(self._first[row])),
            "known_shown": sum(len(piece.text) for piece in pieces),
            "known_whole": sum(len(piece.text) == piece.whole for piece in pieces)
            == len(self._model.texts_of(self._first[row])),
        }

    def pack_texts(self, row: int) -> str:
        """Return the document and passages of the first author's texts, with the evidence in them, packed."""
        document, pieces, own = self._documents[row], self._pieces[row], self._evidence[row]
        marked = MarkedTexts(self._guessers)
        marked.add("unknown", document, own.gains, self._samples[self._first[row]])
        weighed = explain_passages(self._model, document, self._first[row], pieces, self._runtime)
        for piece, gains in zip(pieces, weighed, strict=True):
            marked.add_known(Document(self._title(piece), piece.text), gains)
        return marked.pack([feature_values(each.member, each) for each in own.features if each.features])

    def _title(self, piece: AuthorPassage) -> str:
        title = self._model.titles[piece.number]
        if len(piece.text) == piece.whole:
            return title
        return f"{title}, characters {piece.begin:,} to {piece.end:,} of {piece.whole:,}"

    def against_next(self, row: int) -> dict[str, Any] | None:
        """Return the evidence against the next author; None if no member is additive, or there is no next author."""
        if len(self._found[row].ranking) < 2:
            return None
        mine, other = self._evidence[row].gains, self._evidence[len(self._documents) + row].gains
        if mine is None or other is None:
            return None
        marked = MarkedTexts(self._guessers)
        marked.add("unknown", self._documents[row], mine - other, ())
        return {"author": self._found[row].ranking[1].author, "packed": marked.pack()}


def _author_levels(model: AuthorModel, runtime: Runtime) -> dict[str, float]:
    """Return by author how much easier than others their models find texts by anybody, in bits per character."""
    adding = [number for number, member in enumerate(model.members) if member.engine in ADDITIVE]
    if not adding:
        return {}
    means = np.mean([head_levels(model, number, runtime) for number in adding], axis=0)
    return dict(zip(model.authors, means.tolist(), strict=True))


def _ranking(found: Attribution, model: AuthorModel, levels: Mapping[str, float]) -> list[list[Any]]:
    """Return author, probability, bits, bits gained beyond the author's usual, and the sum, of the first authors."""
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
    """Explain the order of the authors, and where bits would have another."""
    adding = sum(member.engine in ADDITIVE for member in model.members)
    if not adding:
        return ["No member of this model is a language model: there are no bits, and no colors in the text."]
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
    """Return the cautions of a document as sentences."""
    said = [f"{caution[0].upper()}{caution[1:]}." for caution in (*found.cautions, *document.guesses)]
    if known < SHORT:
        said.append(
            f"The texts of {found.ranking[0].author} are short ({known:,} characters together): they carry little"
            " evidence."
        )
    return said
