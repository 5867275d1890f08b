"""Reports of attributions: of whole texts, with texts of the author next to them, and along one long text."""

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
from byline.author_models.model_file import author_model_bytes
from byline.corpora.author_corpus import NONE, AuthorCorpus
from byline.corpora.documents import Document
from byline.engines.protocol import Runtime
from byline.judgment.checks.cautions import SHORT
from byline.judgment.passage_evidence import MOST_PASSAGES, Gains, Guesser, find_passages
from byline.report.page import DIGITS, LIMITS, MarkedTexts, feature_values, finite, short_names, unique_names
from byline.report.provenance import member_values, texts_provenance
from byline.settings.settings import ADDITIVE
from byline.storage.files import sha256
from byline.tasks.attribute import Attribution, Attributions, Candidate
from byline.tasks.rolling import Rolling

CLOSED = "Each text is assumed to be by one of the authors. A text by anyone else is attributed to one of them."
LEARNED = "Probabilities were calibrated on {} of the authors' own texts, each judged as if it were not known."
GUESSED = "Probabilities are a guess: no text of the authors could be held out to calibrate them."
ONE_AGAINST_ALL = (
    "Colors compare one author with the average of all authors of the model, not with the next author. That comparison"
    " can be chosen above the text."
)
ORDERED = (
    "Authors are ordered by the sum of the members' scores, not by bits. Scores are relative: how hard the text is for"
    " all authors, and how easy an author's model finds every text, are subtracted. Bits are what the text costs the"
    " author's language models, with nothing subtracted"
)
AS_KEPT = (
    "The authors' texts are shown as the model keeps them: normalized, with 7 for every digit and without characters"
    " that are rare in all texts together."
)
AS_MASKED = "The authors' texts are shown as the model keeps them: with content words masked."
COSTLY = (
    "A change of author is assumed to be improbable: one or two passages do not make a change, and about half of all"
    " changes are missed."
)
AGAINST_ALL = (
    "Colors compare the author of a stretch with the average of all authors of the model. They show what the language"
    " models among the members say; probabilities come from all members."
)
GUESS_CHARACTERS = 60_000
"""Of an author's texts that guesses are made from."""
KNOWN_CHARACTERS, MOST_KNOWN = 300_000, 24_000
"""Of the authors' texts that a report shows, for all documents together and for one: bounds the page's size."""
MOST_RANKED = 50
"""Authors that a ranking shows."""
PARTS_SHOWN = 5
"""Authors whose parts of the sum are shown."""
NAMED_STRETCHES = 12
"""Longest stretches whose strongest passages and features are shown."""
LONG = 600_000
"""Characters beyond which only strong words are colored, because a page can't hold all of them."""
STRONG = 0.5
"""Least bits of a strong word, in parts of the bits of full color."""
SHORTEST_NAMED = 200
"""Characters of a stretch with features."""


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
    masked = all(encoder.mask != "none" for encoder in model.encoders)
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
            **(known := evidence.known_values(row)),
            "warnings": _warnings(document, each, known["known_characters"]),
            "packed": evidence.pack_texts(row),
            "next": evidence.against_next(row, each.ranking),
        }
        for row, (document, each) in enumerate(zip(named, found, strict=True))
    ]
    return {
        **_model_values(about, model, documents, author_corpus, {"Prior of none of these": prior}),
        "kind": "attribution",
        "conclusion": _conclusion(found, model, prior),
        "limits": [*LIMITS, ONE_AGAINST_ALL, _describe_confidence(model), *([] if prior else [CLOSED])],
        "warnings": [f"{row['name']}: {warning}" for row in rows for warning in row["warnings"]],
        "prior_none": prior,
        "none_line": {"middle": round(model.calibration.middle, 2)} if prior and model.calibration.slope else None,
        "known_as": None if author_corpus is not None else AS_MASKED if masked else AS_KEPT,
        "documents": rows,
    }


def _model_values(
    about: Mapping[str, Any],
    model: AuthorModel,
    documents: Sequence[Document],
    author_corpus: AuthorCorpus | None,
    facts: Mapping[str, object],
) -> dict[str, Any]:
    """Return what a report says of itself and of the model."""
    texts = {"asked about": documents, "by the authors": author_corpus.documents if author_corpus else ()}
    facts = {"Language": model.language, "Authors": len(model.authors), "Their texts": len(model.owners), **facts}
    return {
        **about,
        "language": model.language,
        "authors": list(model.authors),
        "members": member_values(model.members, model.seed, model.calibration.weights),
        "provenance": {
            "files": {"the model, as a file": sha256(author_model_bytes(model))},
            **texts_provenance(about, model.members, model.seed, texts, facts),
        },
    }


def _conclusion(found: Attributions, model: AuthorModel, prior: float) -> str:
    if len(found) == 1:
        return f"1 text compared with {len(model.authors):,} authors. {_statement(found[0])}"
    nobody = sum(each.author is None for each in found)
    said = f", {nobody:,} of them more likely by none of these than by any one" if prior and nobody else ""
    return f"{len(found):,} texts compared with {len(model.authors):,} authors{said}."


def _describe_confidence(model: AuthorModel) -> str:
    """Say what probabilities were learned from."""
    return LEARNED.format(model.calibration.held_out) if model.calibration.held_out else GUESSED


def _sample_author(model: AuthorModel, author: int, author_corpus: AuthorCorpus | None) -> list[Document]:
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
        self._model, self._documents, self._runtime = model, documents, runtime
        first_two = [[model.authors.index(each.author) for each in own.ranking[:2]] for own in found]
        asked = [AuthorQuestion(row, author) for row, authors in enumerate(first_two) for author in authors]
        explained = iter(explain_attributions(model, documents, asked, runtime))
        self._evidence = [[next(explained) for _ in authors] for authors in first_two]
        self._first = [authors[0] for authors in first_two]
        self._guessers: dict[tuple[str, ...], Guesser] = {}
        self._samples = {author: _sample_author(model, author, author_corpus) for author in set(self._first)}
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

    def known_values(self, row: int) -> dict[str, Any]:
        """Return how much text there is by the first author, and how much of it is shown."""
        pieces, texts = self._pieces[row], self._model.texts_of(self._first[row])
        return {
            "known_characters": sum(len(self._model.texts[0][number]) for number in texts),
            "known_texts": len(texts),
            "known_shown": sum(len(piece.text) for piece in pieces),
            "known_whole": sum(len(piece.text) == piece.whole for piece in pieces) == len(texts),
        }

    def pack_texts(self, row: int) -> str:
        """Return the document and passages of the first author's texts, with the evidence in them, packed."""
        document, pieces, own = self._documents[row], self._pieces[row], self._evidence[row][0]
        marked = MarkedTexts(self._guessers)
        marked.add("unknown", document, own.gains, self._samples[self._first[row]])
        weighed = explain_passages(self._model, document, self._first[row], pieces, self._runtime)
        for piece, gains in zip(pieces, weighed, strict=True):
            marked.add_known(Document(self._title(piece), piece.text), gains)
        return marked.pack([feature_values(*each) for each in own.features if each.features])

    def _title(self, piece: AuthorPassage) -> str:
        title = self._model.titles[piece.number]
        if len(piece.text) == piece.whole:
            return title
        return f"{title}, characters {piece.begin:,} to {piece.end:,} of {piece.whole:,}"

    def against_next(self, row: int, ranking: Sequence[Candidate]) -> dict[str, Any] | None:
        """Return the evidence against the next author; None if no member is additive, or there is no next author."""
        gains = [each.gains for each in self._evidence[row] if each.gains is not None]
        if len(gains) < 2:
            return None
        marked = MarkedTexts(self._guessers)
        marked.add("unknown", self._documents[row], gains[0] - gains[1], ())
        return {"author": ranking[1].author, "packed": marked.pack()}


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
    pieces = [Document(found.document, document.text[each.begin : each.end]) for each in found.stretches]
    gains = _weigh_stretches(model, document, found, runtime)
    weighed = [own for own in gains if own is not None]
    dissenting = [
        f"{found.dissenting:,} of {len(found.passages):,} passages look, by themselves, like another author's than"
        " that of the stretch they are in: some changes may be missed. If changes are assumed to be more probable,"
        " more of them are found, and more of those are false."
    ]
    return {
        **_model_values(about, model, [document], author_corpus, asked or {}),
        "kind": "rolling",
        "conclusion": _conclude(document, found),
        "limits": [*LIMITS, *([AGAINST_ALL] if weighed else []), _describe_confidence(model), CLOSED, COSTLY],
        "warnings": [
            *(f"{found.document}: {caution}." for caution in (*found.cautions, *document.guesses)),
            *(dissenting if found.dissenting else []),
        ],
        "thinned": len(document.text) > LONG,
        "document": found.document,
        "length": len(document.text),
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
                "bits": None if own is None else finite(float(own.mean(axis=0).sum()), 1),
            }
            for stretch, own in zip(found.stretches, gains, strict=True)
        ],
        "changes": list(found.changes),
        "strongest": _strongest(found, pieces, gains),
        "packed": _pack_stretches(model, found, pieces, gains, runtime, author_corpus),
    }


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


def _weigh_stretches(model: AuthorModel, document: Document, found: Rolling, runtime: Runtime) -> list[Gains | None]:
    """(members, characters) of each stretch: bits of each character for its author. None if no member is additive.

    The whole text is read at once, so that each stretch has what comes before it as context.
    """
    authors = list(dict.fromkeys(stretch.author for stretch in found.stretches))
    asked = [AuthorQuestion(0, model.authors.index(author)) for author in authors]
    weighed = explain_attributions(model, [document], asked, runtime, additive=True)
    gains_of = {author: each.gains for author, each in zip(authors, weighed, strict=True)}
    return [
        None if (own := gains_of[stretch.author]) is None else own[:, stretch.begin : stretch.end]
        for stretch in found.stretches
    ]


def _longest(found: Rolling) -> list[int]:
    """Return the numbers of the longest stretches, in the order of the text."""
    lengths = [stretch.end - stretch.begin for stretch in found.stretches]
    return sorted(sorted(range(len(lengths)), key=lambda number: -lengths[number])[:NAMED_STRETCHES])


def _strongest(found: Rolling, pieces: Sequence[Document], gains: Sequence[Gains | None]) -> list[dict[str, Any]]:
    """Return the strongest passages for and against the author of each long stretch, in the order of the text."""
    most = MOST_PASSAGES if len(pieces) == 1 else 2
    return [
        {"document": number, **each._asdict(), "bits": round(each.bits, 2), "agreement": round(each.agreement, 2)}
        for number in _longest(found)
        if (own := gains[number]) is not None
        for each in find_passages(pieces[number].text, own, most)
    ]


def _pack_stretches(
    model: AuthorModel,
    found: Rolling,
    pieces: Sequence[Document],
    gains: Sequence[Gains | None],
    runtime: Runtime,
    author_corpus: AuthorCorpus | None,
) -> str:
    """Return the text by its stretches, packed, with the evidence in them and the features that members name."""
    authors = [model.authors.index(stretch.author) for stretch in found.stretches]
    samples = {author: _sample_author(model, author, author_corpus) for author in authors}
    marked = MarkedTexts()
    for piece, own, author in zip(pieces, gains, authors, strict=True):
        marked.add("stretch", piece, own, samples[author])
    if sum(len(piece.text) for piece in pieces) > LONG:
        marked.drop_weak_words(STRONG)
    chosen = [number for number in _longest(found) if len(pieces[number].text) >= SHORTEST_NAMED]
    asked = [AuthorQuestion(row, authors[number]) for row, number in enumerate(chosen)]
    named = explain_attributions(model, [pieces[number] for number in chosen], asked, runtime, additive=False)
    features = []
    for number, evidence in zip(chosen, named, strict=True):
        stretch = found.stretches[number]
        where = f"{stretch.author}, characters {stretch.begin:,} to {stretch.end:,}"
        features += [
            feature_values(f"{each.member}: {where}", each.unit, each.features)
            for each in evidence.features
            if each.features
        ]
    return marked.pack(features)
