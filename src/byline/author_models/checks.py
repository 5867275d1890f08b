"""Reasons not to trust what a model says of a text: it is short, or has unknown characters, or was learned."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from byline.corpora.documents import Document
from byline.engines.encoded_texts import require_length
from byline.errors import CorpusError, list_some, listing
from byline.judgment.checks.cautions import NAMES_SHOWN, SHORT
from byline.text.encoder import Symbols, TextEncoder, count_characters
from byline.text.shared_passages import PASSAGE, find_related

if TYPE_CHECKING:
    from byline.author_models.model import AuthorModel

log = logging.getLogger(__name__)

WARN_WHEN_TRAINING, WARN_WHEN_ASKED, REFUSE = 0.05, 0.2, 0.5
"""Shares of a text's characters that are missing from the alphabet."""
MAX_COMPARED = 2_000_000
"""Characters of all texts together in which shared passages are searched; more would take minutes."""
WEAK = f"; below {SHORT:,} the evidence is weak, whichever way it points"
TextCautions = tuple[str, ...]
"""Each is the end of a sentence that begins with the text's name."""


def find_unknown_characters(
    encoder: TextEncoder, documents: Sequence[Document], most: float
) -> dict[Document, tuple[int, int]]:
    """Find texts of whose characters more than the share `most` is unknown; count the known ones, and all."""
    found = {}
    for document in documents:
        counts = count_characters([encoder.normal(document.text)])
        known = sum(count for letter, count in counts.items() if letter in encoder.alphabet.symbols)
        if known < (1 - most) * counts.total():
            found[document] = (known, counts.total())
    return found


def encode_readable(encoder: TextEncoder, documents: Sequence[Document]) -> list[Symbols]:
    """Encode texts; raise one CorpusError that names all of which too little is left."""
    encoded = [encoder.encode(document.text) for document in documents]
    require_length(encoder, documents, map(len, encoded))
    errors = [
        CorpusError(f"only {known} of {whole} characters are known to the model", where=document.name)
        for document, (known, whole) in find_unknown_characters(encoder, documents, REFUSE).items()
    ]
    if errors:
        remedy = "Leave it out, or train a model on texts in its script"
        where = errors[0].where if len(errors) == 1 else None
        what = errors[0].what if where else listing(list(map(str, errors)), "these texts can't be used")
        raise CorpusError(what, where=where, remedy=remedy)
    return encoded


def require_readable(model: AuthorModel, documents: Sequence[Document]) -> None:
    """Raise CorpusError if the model can't judge some of the texts."""
    for encoder in model.encoders:
        encode_readable(encoder, documents)


def warn_of_rare_characters(encoder: TextEncoder, documents: Sequence[Document]) -> None:
    """Log which training text loses most characters because they are rare in all texts together."""
    found = find_unknown_characters(encoder, documents, WARN_WHEN_TRAINING)
    if found:
        document, (known, whole) = min(found.items(), key=lambda each: each[1][0] / each[1][1])
        log.warning(
            "%s: only %d of %d characters are learned, the others are too rare in all texts together%s",
            document.name, known, whole, f"; {len(found)} texts are affected" if len(found) > 1 else "",
        )  # fmt: skip


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
