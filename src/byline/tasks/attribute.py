"""Attribution: which of a model's authors is likely to have written each text."""

from __future__ import annotations

import csv
import io
import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from byline.author_models.model import AuthorModel, encode_readable, find_unknown_characters, score_encoded
from byline.corpora.answers import to_frame
from byline.corpora.documents import Document
from byline.engines.matrix import Table
from byline.engines.protocol import Runtime
from byline.errors import SettingsError, list_some
from byline.judgment.candidates import normalize_values, probabilities
from byline.judgment.checks.cautions import NAMES_SHOWN, SHORT
from byline.settings.settings import ADDITIVE
from byline.text.encoder import Symbols
from byline.text.shared_passages import PASSAGE, find_related

log = logging.getLogger(__name__)

USUAL_PRIOR = 0.1
"""Default prior probability that none of the authors wrote a text."""
MOST_PARTS = 10
"""Number of authors, the most probable ones, whose scores are kept by member."""
WARN_WHEN_ASKED = 0.2
"""The share of a text's characters that are unknown to the model from which on it gets a caution."""
MAX_COMPARED = 2_000_000
"""Characters of all texts together in which shared passages are searched; more would take minutes."""
WEAK = f"; below {SHORT:,} the evidence is weak, whichever way it points"
TextCautions = tuple[str, ...]
"""Each is the end of a sentence that begins with the text's name."""


@dataclass(frozen=True)
class Candidate:
    """An author and how probable they are."""

    author: str
    probability: float
    bits: float | None
    """Bits per character that the text costs the author's head; None if no member adds up over characters."""
    parts: tuple[float, ...] = ()
    """Each member's weighted score, for the most probable authors only; higher is better."""


@dataclass(frozen=True)
class Attribution:
    """Who is likely to have written a text."""

    document: str
    author: str | None
    """The most probable author; None if it is more probable that none of them wrote it."""
    probability: float
    """The probability of `author`."""
    none: float
    """The probability that none of the authors wrote it."""
    ranking: tuple[Candidate, ...]
    """All authors, the most probable first."""
    cautions: TextCautions = ()
    """Reasons not to trust it: a short text, characters unknown to the model, passages that it has learned."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `byline attribute --json` prints them."""
        return {
            "document": self.document,
            "author": self.author,
            "probability": self.probability,
            "none": self.none,
            "cautions": list(self.cautions),
            "ranking": [
                {"author": each.author, "probability": each.probability, "bits": each.bits} for each in self.ranking
            ],
        }


class Attributions(tuple[Attribution, ...]):
    """The attributions of some documents, in their order."""

    __slots__ = ()

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with a row for each document and author, the most probable first."""
        columns = ("document", "rank", "author", "probability", "bits", "none")
        rows = [
            (found.document, rank, each.author, each.probability, each.bits, found.none)
            for found in self
            for rank, each in enumerate(found.ranking, start=1)
        ]
        return to_frame([dict(zip(columns, row, strict=True)) for row in rows], columns)

    def to_csv(self) -> str:
        """Return a line for each document and author, the most probable first; rank 0 is none of them."""
        table = io.StringIO()
        writer = csv.writer(table, lineterminator="\n")
        writer.writerow(["document", "rank", "author", "probability", "bits"])
        for found in self:
            if found.none:
                writer.writerow([found.document, 0, "", f"{found.none:.6f}", ""])
            for rank, each in enumerate(found.ranking, start=1):
                bits = "" if each.bits is None else f"{each.bits:.6f}"
                writer.writerow([found.document, rank, each.author, f"{each.probability:.6f}", bits])
        return table.getvalue()


def attribute(
    model: AuthorModel,
    documents: Sequence[Document],
    none: float = USUAL_PRIOR,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> Attributions:
    """Find the likely author of each document, whatever other documents are asked about.

    `none` is the prior probability that none of the authors wrote it; at 0 one of them must have. Raises CorpusError if
    most characters of a text are unknown to the model. Short texts, texts with many unknown characters, and texts that
    the model has learned get cautions, which are also logged.
    """
    encoded = [encode_readable(encoder, documents) for encoder in model.encoders]
    found = rank_authors(model, documents, encoded, none, runtime, MOST_PARTS)
    cautions = find_text_cautions(model, documents)
    log_cautions(documents, cautions)
    return Attributions(replace(each, cautions=own) for each, own in zip(found, cautions, strict=True))


def probability_table(found: Sequence[Attribution], authors: Sequence[str]) -> Table:
    """(documents, authors): return the probability of each author."""
    chances = [{each.author: each.probability for each in attribution.ranking} for attribution in found]
    return np.array([[own[author] for author in authors] for own in chances])


def rank_authors(
    model: AuthorModel,
    documents: Sequence[Document],
    encoded: Sequence[Sequence[Symbols]],
    none: float,
    runtime: Runtime,
    parts: int = 0,
) -> Attributions:
    """Attribute encoded documents without checks; the first `parts` candidates have the scores of each member."""
    if not 0 <= none < 1:
        raise SettingsError(f"must be 0 or more and less than 1, got {none}", where="none")
    if not documents:
        return Attributions()
    tables = score_encoded(model, encoded, None, runtime)
    scores = normalize_values(tables)
    chances, nobody = probabilities(model.calibration, tables, none, scores)
    added = np.array(model.calibration.weights)[:, None, None] * scores[:, tables.asked]  # (members, texts, authors)
    additive = [number for number, member in enumerate(model.members) if member.engine in ADDITIVE]
    bits = tables.values[additive][:, tables.asked].mean(axis=0) if additive else None
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
        best: str | None = ranking[0].author
        probability = ranking[0].probability
        if none and nobody[row] >= probability:
            best, probability = None, nobody[row]
        chance = float(np.clip(probability, 0, 1))
        found.append(Attribution(document.name, best, chance, float(nobody[row]), ranking))
    return Attributions(found)


def find_text_cautions(model: AuthorModel, documents: Sequence[Document], leave_out: bool = True) -> list[TextCautions]:
    """Find reasons not to trust what the model says of each document.

    `leave_out` tells whether a document that the model has learned whole is left out of its author's texts when it is
    judged. Parts of learned texts never are.
    """
    unknown = find_unknown_characters(model.encoders[0], documents, WARN_WHEN_ASKED)
    found = []
    for document, learned in zip(documents, _find_learned(model, documents, leave_out), strict=True):
        own = [] if learned is None else [learned]
        if document in unknown:
            own.append("only {} of {} characters are known to the model".format(*unknown[document]))
        if (length := len(document.text)) < SHORT:
            own.append(f"{length} characters{WEAK}")
        found.append(tuple(own))
    return found


def log_cautions(documents: Iterable[Document], cautions: Iterable[TextCautions]) -> None:
    """Log the cautions as warnings; many short texts share one."""
    pairs = [(document.name, caution) for document, own in zip(documents, cautions, strict=True) for caution in own]
    short = [name for name, caution in pairs if caution.endswith(WEAK)]
    many = len(short) > NAMES_SHOWN
    for name, caution in pairs:
        if not (many and caution.endswith(WEAK)):
            log.warning("%s: %s", name, caution)
    if many:
        log.warning("%d texts (%s) are short%s", len(short), list_some(short), WEAK)


def _find_learned(model: AuthorModel, documents: Sequence[Document], leave_out: bool) -> list[str | None]:
    """Find documents that the model has learned, whole or in part: what it says of them is no evidence."""
    view = next((number for number, encoder in enumerate(model.encoders) if encoder.mask == "none"), None)
    if view is None:
        return [None] * len(documents)
    encoder = model.encoders[view]
    learned = [encoder.alphabet.decode(text) for text in model.texts[view]]
    plain = [encoder.alphabet.filter(encoder.normal(document.text)) for document in documents]
    if sum(map(len, learned)) + sum(map(len, plain)) <= MAX_COMPARED:
        found = find_related(plain, learned)
    else:  # only whole texts
        numbers = {text: number for number, text in enumerate(learned)}
        found = [frozenset({numbers[text]} if text in numbers else ()) for text in plain]
    cautions: list[str | None] = []
    for text, related in zip(plain, found, strict=True):
        if not related:
            cautions.append(None)
            continue
        other = min(related, key=lambda number: (learned[number] != text, number))
        title = f"{model.titles[other]} by {model.authors[model.owners[other]]}"
        if learned[other] != text or not leave_out:
            cautions.append(
                f"shares {PASSAGE} characters or more word for word with {title}, which the model has learned;"
                " what it says of them is no evidence"
            )
        elif model.owners.count(model.owners[other]) > 1:
            cautions.append(f"the same as {title}, and judged as if the model had not learned it")
        else:
            cautions.append(f"the same as {title}, the author's only text: they can't be judged")
    return cautions
