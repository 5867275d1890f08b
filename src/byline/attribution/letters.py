"""Letters that a model of authors does not know: texts that lose many of them are named, or refused."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from byline.alphabet import Symbols, count_characters
from byline.documents import Document
from byline.errors import CorpusError, listing
from byline.views import View, require_length

log = logging.getLogger(__name__)

MOST_LOST_LEARNT, MOST_LOST, TOO_MUCH_LOST = 0.05, 0.2, 0.5
"""Shares of a text's characters, those outside the alphabet: said when it is learnt, said when it is asked, refused."""


def encode_readable(view: View, documents: Sequence[Document]) -> list[Symbols]:
    """Texts as members see them; those of which too little is left are refused, all at once."""
    encoded = [view.encode(document.text) for document in documents]
    require_length(view, documents, map(len, encoded))
    offences = [
        f"{document.name}: only {known} of {whole} characters are ones that the model knows;"
        " leave it out, or put it beside texts in its own script"
        for document, known, whole in find_losses(view, documents, TOO_MUCH_LOST)
    ]
    if offences:
        raise CorpusError(listing(offences, "these can't be used"))
    return encoded


def warn_of_losses(view: View, documents: Sequence[Document]) -> None:
    """Say which text that is learnt loses most letters because they are rare in all texts together."""
    lost = sorted(find_losses(view, documents, MOST_LOST_LEARNT), key=lambda each: each[1] / each[2])
    if lost:
        document, known, whole = lost[0]
        log.warning(
            "%s: only %d of %d characters are learnt, the others are too rare in all texts together%s",
            document.name, known, whole, f"; so it is with {len(lost)} texts" if len(lost) > 1 else "",
        )  # fmt: skip


def find_losses(view: View, documents: Sequence[Document], most: float) -> list[tuple[Document, int, int]]:
    """Texts that lose more than such a share of their characters to the alphabet: what is left, and the whole."""
    found = []
    for document in documents:
        counts = count_characters([view.normal(document.text)])
        known = sum(count for letter, count in counts.items() if letter in view.alphabet.symbols)
        if known < (1 - most) * counts.total():
            found.append((document, known, counts.total()))
    return found
