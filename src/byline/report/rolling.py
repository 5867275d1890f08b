"""The report of a text attributed passage by passage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from byline.author_models.evidence import AuthorQuestion, explain_attributions
from byline.author_models.model import AuthorModel
from byline.corpora.author_corpus import AuthorCorpus
from byline.corpora.documents import Document
from byline.engines.protocol import Runtime
from byline.judgment.passage_evidence import MOST_PASSAGES, Gains, find_passages
from byline.report.attribution import CLOSED, describe_confidence, sample_author
from byline.report.common import DIGITS, LIMITS, MarkedTexts, feature_values, finite
from byline.report.provenance import member_values, model_provenance
from byline.tasks.rolling import AuthorStretch, Rolling

COSTLY = (
    "A change of hand is taken to be improbable: a passage or two do not make one, and about half of all changes are"
    " not found."
)
AGAINST_ALL = (
    "Colors compare the author of a stretch with all authors of the model on the average. They show what the language"
    " models among the members say; how probable an author is comes from all members."
)
NAMED_STRETCHES = 12
"""Longest stretches whose strongest passages and features are shown."""
LONG = 600_000
"""Characters beyond which only strong words are colored, because a page can't hold all of them."""
STRONG = 0.5
"""Least bits of a strong word, in parts of the bits of full color."""
SHORTEST_NAMED = 200
"""Characters of a stretch with features."""


def rolling_report(
    model: AuthorModel,
    document: Document,
    found: Rolling,
    about: Mapping[str, Any],
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    author_corpus: AuthorCorpus | None = None,
    asked: Mapping[str, object] | None = None,
) -> dict[str, Any]:
    """Return what a report of a rolled text shows; `asked` are window, step and the like, in words."""
    gains = weigh_stretches(model, document, found, runtime)
    dissenting = [
        f"{found.dissenting:,} of {len(found.passages):,} passages look, by themselves, like another author's than"
        " that of the stretch they are in: there may be changes that are passed over. If changes are taken to be"
        " more probable, more of them are found, and more that are none."
    ]
    known = author_corpus.documents if author_corpus else []
    return {
        **about,
        "kind": "rolling",
        "conclusion": _conclude(document, found),
        "limits": [*LIMITS, *([AGAINST_ALL] if gains is not None else []), describe_confidence(model), CLOSED, COSTLY],
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
        "packed": _pack_text(model, document, found, gains, runtime, author_corpus),
        "members": member_values(model.members, model.seed, model.calibration.weights),
        "provenance": model_provenance(
            about, model, {"asked about": [document], "by the authors": known},
            asked or {},
        ),
    }  # fmt: skip


def _conclude(document: Document, found: Rolling) -> str:
    """Summarize the result in a sentence, with its reservations."""
    count, stretches = len(found.changes), len(found.stretches)
    said = (
        "no change of hand found" if not count else "1 change of hand" if count == 1 else f"{count:,} changes of hand"
    )
    if faint := sum(not stretch.stands_out for stretch in found.stretches):
        said += "; no author stands out" + ("" if faint == stretches else f" in {faint:,} of {stretches:,} stretches")
    if found.dissenting:
        said += f"; {found.dissenting:,} passages look like somebody else's"
    return f"{len(document.text):,} characters in {len(found.passages):,} passages: {said}."


def weigh_stretches(model: AuthorModel, document: Document, found: Rolling, runtime: Runtime) -> Gains | None:
    """(members, characters): bits of each character for the author of its stretch. None if no member is additive.

    The whole text is read at once, so that each stretch has what comes before it as context.
    """
    authors = list(dict.fromkeys(stretch.author for stretch in found.stretches))
    asked = [AuthorQuestion(0, model.authors.index(author)) for author in authors]
    weighed = {
        author: each.gains
        for author, each in zip(
            authors, explain_attributions(model, [document], asked, runtime, additive=True), strict=True
        )
    }
    parts = []
    for stretch in found.stretches:
        own = weighed[stretch.author]
        if own is None:
            return None
        parts.append(own[:, stretch.begin : stretch.end])
    return np.concatenate(parts, axis=1)


def _strongest(document: Document, found: Rolling, gains: Gains) -> list[dict[str, Any]]:
    """Return the strongest passages for and against the author of each stretch, in the order of the text."""
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


def _longest(found: Rolling) -> list[AuthorStretch]:
    return sorted(found.stretches, key=lambda stretch: stretch.begin - stretch.end)[:NAMED_STRETCHES]


def _pack_text(
    model: AuthorModel,
    document: Document,
    found: Rolling,
    gains: Gains | None,
    runtime: Runtime,
    author_corpus: AuthorCorpus | None,
) -> str:
    """Return the text by its stretches, with the evidence in them, packed."""
    samples = {
        stretch.author: sample_author(model, model.authors.index(stretch.author), author_corpus)
        for stretch in found.stretches
    }
    marked = MarkedTexts()
    for stretch in found.stretches:
        piece = Document(found.document, document.text[stretch.begin : stretch.end])
        own = None if gains is None else gains[:, stretch.begin : stretch.end]
        marked.add("stretch", piece, own, samples[stretch.author])
    if len(document.text) > LONG:
        marked.drop_weak_words(STRONG)
    return marked.pack(_features(model, document, found, runtime))


def _features(model: AuthorModel, document: Document, found: Rolling, runtime: Runtime) -> list[dict[str, Any]]:
    """Return the features that members which are not additive name in the longest stretches."""
    longest = _longest(found)
    chosen = [each for each in found.stretches if each in longest and each.end - each.begin >= SHORTEST_NAMED]
    pieces = [Document(found.document, document.text[stretch.begin : stretch.end]) for stretch in chosen]
    asked = [AuthorQuestion(row, model.authors.index(stretch.author)) for row, stretch in enumerate(chosen)]
    return [
        feature_values(f"{each.member}: {stretch.author}, characters {stretch.begin:,} to {stretch.end:,}", each)
        for stretch, own in zip(
            chosen, explain_attributions(model, pieces, asked, runtime, additive=False), strict=True
        )
        for each in own.features
        if each.features
    ]
