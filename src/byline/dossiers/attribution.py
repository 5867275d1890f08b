"""Attributions, and a text seen passage by passage -> what their reports show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from byline.attribution.attributing import Attribution, Attributions
from byline.attribution.evidence import weigh_characters
from byline.attribution.model import AuthorModel
from byline.attribution.rolling import Rolling
from byline.attribution.writings import NONE
from byline.documents import Document
from byline.dossiers.parts import DIGITS, LIMITS, SHORT, Markings, finite
from byline.engines import Watch

CLOSED = "Each text is taken to be by one of the authors. If someone else wrote it, that can't be seen here."
LEARNT = "How sure to be was learnt from {} of the authors' own texts, each judged as if it were not known."
COSTLY = "A change of hand is taken to be improbable: one or two passages alone do not make one."
GUESSED = "How sure to be is a guess: no text of the authors could be held out."


def attribution_dossier(
    model: AuthorModel,
    documents: Sequence[Document],
    found: Attributions,
    prior: float,
    about: dict[str, Any],
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> dict[str, Any]:
    """What a report of attributions shows; `about` is what the report says of itself: source, made, provenance."""
    first = [each.ranking[0].author for each in found]
    weighed = weigh_characters(model, documents, first, watch) if documents else []
    rows = []
    for document, each, author, gains in zip(documents, found, first, weighed, strict=True):
        markings = Markings()
        markings.add("unknown", document, gains, ())
        rows.append(
            {
                "name": each.document,
                "author": each.author,
                "probability": round(each.probability, DIGITS),
                "none": round(each.none, DIGITS),
                "ranking": [
                    [candidate.author, round(candidate.probability, DIGITS), finite(candidate.bits)]
                    for candidate in each.ranking
                ],
                "statement": _statement(each, author),
                "warnings": [f"The text is short ({len(document.text):,} characters): it carries little evidence"]
                if len(document.text) < SHORT
                else [],
                "blob": markings.blob(),
            }
        )
    texts = "1 text" if len(rows) == 1 else f"{len(rows):,} texts"
    nobody = sum(each.author is None for each in found)
    said = f", {nobody} of them more likely by none of these" if prior else ""
    return {
        **about,
        "kind": "attribution",
        "conclusion": f"{texts} compared with {len(model.authors):,} authors{said}.",
        "limits": [*LIMITS, _sureness(model), *([] if prior else [CLOSED])],
        "warnings": [],
        "authors": list(model.authors),
        "prior_none": prior,
        "documents": rows,
    }


def _sureness(model: AuthorModel) -> str:
    return LEARNT.format(model.judge.held_out) if model.judge.held_out else GUESSED


def _statement(found: Attribution, first: str) -> str:
    if found.author is None:
        return f"More likely by {NONE} ({found.probability:.3f}) than by any of the authors; the nearest is {first}."
    second = (
        f", before {found.ranking[1].author} ({found.ranking[1].probability:.3f})" if len(found.ranking) > 1 else ""
    )
    return f"Of these authors {found.author} is the most probable ({found.probability:.3f}){second}."


def rolling_dossier(model: AuthorModel, document: Document, found: Rolling, about: dict[str, Any]) -> dict[str, Any]:
    """What a report of a text seen passage by passage shows."""
    count = len(found.changes)
    hands = "no change of hand" if not count else "1 change of hand" if count == 1 else f"{count:,} changes of hand"
    return {
        **about,
        "kind": "rolling",
        "conclusion": f"{len(document.text):,} characters in {len(found.passages):,} passages: {hands}.",
        "limits": [*LIMITS, _sureness(model), CLOSED, COSTLY],
        "warnings": [
            f"{found.dissenting:,} of {len(found.passages):,} passages look, by themselves, like another author's than"
            " that of the stretch they are in. Look at the passages, or let changes be more probable (--changes)."
        ]
        if found.dissenting
        else [],
        "document": found.document,
        "length": len(document.text),
        "authors": list(model.authors),
        "passages": [
            {
                "begin": passage.begin,
                "end": passage.end,
                "author": passage.attribution.author,
                "ranking": [
                    [each.author, round(each.probability, DIGITS)] for each in passage.attribution.ranking[:10]
                ],
            }
            for passage in found.passages
        ],
        "stretches": [
            {
                "begin": stretch.begin,
                "end": stretch.end,
                "author": stretch.author,
                "probability": round(stretch.probability, DIGITS),
            }
            for stretch in found.stretches
        ],
        "changes": list(found.changes),
        "text": document.text,
    }
