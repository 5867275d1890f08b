"""A text seen passage by passage -> what its report shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from byline.attribution.evidence import Asked, weigh_texts
from byline.attribution.model import AuthorModel
from byline.attribution.rolling import Rolling, Stretch
from byline.attribution.writings import Writings
from byline.documents import Document
from byline.dossiers.models import CLOSED, SharingMarkings, feature_values, guess_source, model_origins, sureness
from byline.dossiers.origins import member_values
from byline.dossiers.parts import DIGITS, LIMITS, finite
from byline.engines import Watch
from byline.evidence import MOST_PASSAGES, Gains, Guesser, find_passages

COSTLY = (
    "A change of hand is taken to be improbable: a passage or two do not make one, and about half of all changes are"
    " not found."
)
AGAINST_ALL = (
    "Colours compare the author of a stretch with all authors of the model on the average. They show what the language"
    " models among the members say; how probable an author is comes from all members."
)
NAMED_STRETCHES = 12
"""Stretches, the longest, whose strongest passages are shown and in which members that don't add up name features."""
LONG = 600_000
"""Characters beyond which only words that say much are coloured: a page can't hold all of them."""
STRONG = 0.5
"""What these say at the least, in parts of the bits of full colour."""
SHORTEST_NAMED = 200
"""Characters that such a stretch has."""


def rolling_dossier(
    model: AuthorModel,
    document: Document,
    found: Rolling,
    about: Mapping[str, Any],
    watch: Watch = Watch(),  # noqa: B008 - frozen
    writings: Writings | None = None,
    asked: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """What a report of a text seen passage by passage shows; `asked` are window, step and the like, in words."""
    gains = weigh_stretches(model, document, found, watch)
    dissenting = [
        f"{found.dissenting:,} of {len(found.passages):,} passages look, by themselves, like another author's than"
        " that of the stretch they are in: there may be changes that are passed over. Larger --changes sees more"
        " of them, and more that are none."
    ]
    return {
        **about,
        "kind": "rolling",
        "conclusion": _conclude(document, found),
        "limits": [*LIMITS, *([AGAINST_ALL] if gains is not None else []), sureness(model), CLOSED, COSTLY],
        "warnings": [*(f"{found.document}: {caution}." for caution in (*found.cautions, *document.guesses)),
                     *(dissenting if found.dissenting else [])],
        "language": model.language,
        "thinned": len(document.text) > LONG,
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
                "bits": None
                if gains is None
                else finite(float(gains[:, stretch.begin : stretch.end].mean(axis=0).sum()), 1),
            }
            for stretch in found.stretches
        ],
        "changes": list(found.changes),
        "strongest": [] if gains is None else _strongest(document, found, gains),
        "blob": _blob(model, document, found, gains, watch, writings),
        "members": member_values(model.members, model.seed, model.judge.weights),
        "provenance": model_origins(
            about, model, {"asked about": [document], "by the authors": [] if writings is None else writings.documents},
            asked or {},
        ),
    }  # fmt: skip


def _conclude(document: Document, found: Rolling) -> str:
    """What was found, in a sentence with its reserves."""
    count, stretches = len(found.changes), len(found.stretches)
    said = (
        "no change of hand found" if not count else "1 change of hand" if count == 1 else f"{count:,} changes of hand"
    )
    if faint := sum(not stretch.stands_out for stretch in found.stretches):
        said += "; no author stands out" + ("" if faint == stretches else f" in {faint:,} of {stretches:,} stretches")
    if found.dissenting:
        said += f"; {found.dissenting:,} passages look like somebody else's"
    return f"{len(document.text):,} characters in {len(found.passages):,} passages: {said}."


def weigh_stretches(model: AuthorModel, document: Document, found: Rolling, watch: Watch) -> Gains | None:
    """(members, characters): bits that each character speaks for the author of the stretch that it is in.

    The whole text is read, so that no stretch begins anew. None where no member adds up.
    """
    authors = list(dict.fromkeys(stretch.author for stretch in found.stretches))
    asked = [Asked(0, model.authors.index(author)) for author in authors]
    weighed = {
        author: each.gains
        for author, each in zip(authors, weigh_texts(model, [document], asked, watch, additive=True), strict=True)
    }
    parts = []
    for stretch in found.stretches:
        own = weighed[stretch.author]
        if own is None:
            return None
        parts.append(own[:, stretch.begin : stretch.end])
    return np.concatenate(parts, axis=1)


def _strongest(document: Document, found: Rolling, gains: Gains) -> list[dict[str, Any]]:
    """The passages that speak most for the author of each stretch, and most against, in the order of the text."""
    most = MOST_PASSAGES if len(found.stretches) == 1 else 2
    rows = []
    for number, stretch in enumerate(found.stretches):
        if stretch not in _longest(found):
            continue
        text, own = document.text[stretch.begin : stretch.end], gains[:, stretch.begin : stretch.end]
        rows += [
            {"document": number, **each._asdict(), "bits": round(each.bits, 2), "agreement": round(each.agreement, 2)}
            for each in find_passages(text, own, most)
        ]
    return rows


def _longest(found: Rolling) -> list[Stretch]:
    return sorted(found.stretches, key=lambda stretch: stretch.begin - stretch.end)[:NAMED_STRETCHES]


def _blob(
    model: AuthorModel,
    document: Document,
    found: Rolling,
    gains: Gains | None,
    watch: Watch,
    writings: Writings | None,
) -> str:
    """The text by its stretches, with what speaks in them, packed."""
    guessers: dict[tuple[str, ...], Guesser] = {}
    sources = {
        stretch.author: guess_source(model, model.authors.index(stretch.author), writings)
        for stretch in found.stretches
    }
    markings = SharingMarkings(guessers)
    for stretch in found.stretches:
        piece = Document(found.document, document.text[stretch.begin : stretch.end])
        own = None if gains is None else gains[:, stretch.begin : stretch.end]
        markings.add("stretch", piece, own, sources[stretch.author])
    if len(document.text) > LONG:
        markings.thin(STRONG)
    return markings.blob(_features(model, document, found, watch))


def _features(model: AuthorModel, document: Document, found: Rolling, watch: Watch) -> list[dict[str, Any]]:
    """What members that don't add up name in the longest stretches, each by itself."""
    longest = _longest(found)
    chosen = [each for each in found.stretches if each in longest and each.end - each.begin >= SHORTEST_NAMED]
    pieces = [Document(found.document, document.text[stretch.begin : stretch.end]) for stretch in chosen]
    asked = [Asked(row, model.authors.index(stretch.author)) for row, stretch in enumerate(chosen)]
    return [
        feature_values(f"{each.member}: {stretch.author}, characters {stretch.begin:,} to {stretch.end:,}", each)
        for stretch, own in zip(chosen, weigh_texts(model, pieces, asked, watch, additive=False), strict=True)
        for each in own.features
        if each.features
    ]
