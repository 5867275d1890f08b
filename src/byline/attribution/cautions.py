"""What is to be known of a text before what a model says of it is believed: that it is short, that the model does not
know its letters, or that the model has learnt it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from byline.attribution.letters import MOST_LOST, encode_readable, find_losses
from byline.attribution.model import AuthorModel
from byline.cautions.values import NAMES_SHOWN, SHORT, list_some
from byline.documents import Document
from byline.passages import PASSAGE, find_related

log = logging.getLogger(__name__)

MOST_COMPARED = 2_000_000
"""Characters of all texts together among which shared passages are looked for; beyond, it would take minutes."""

WEAK = f"; below {SHORT:,} the evidence is weak, whichever way it points"
Cautions = tuple[str, ...]
"""Each is the end of a sentence that begins with the text's name."""


def require_readable(model: AuthorModel, documents: Sequence[Document]) -> None:
    """Refuse texts that the model can't judge, all at once."""
    for view in model.views:
        encode_readable(view, documents)


def find_cautions(model: AuthorModel, documents: Sequence[Document], aside: bool = True) -> list[Cautions]:
    """For each document what speaks against believing what the model says of it; mostly nothing.

    `aside` says whether a whole text that was learnt is judged as if it had not been; parts of one never are.
    """
    lost = {document: (known, whole) for document, known, whole in find_losses(model.views[0], documents, MOST_LOST)}
    found = []
    for document, learnt in zip(documents, _find_learnt(model, documents, aside), strict=True):
        own = [] if learnt is None else [learnt]
        if document in lost:
            own.append("only {} of {} characters are ones that the model knows".format(*lost[document]))
        if (length := len(document.text)) < SHORT:
            own.append(f"{length} characters{WEAK}")
        found.append(tuple(own))
    return found


def say_cautions(documents: Iterable[Document], cautions: Iterable[Cautions]) -> None:
    """Put them into the log, as warnings."""
    pairs = [(document.name, caution) for document, own in zip(documents, cautions, strict=True) for caution in own]
    short = [name for name, caution in pairs if caution.endswith(WEAK)]
    many = len(short) > NAMES_SHOWN
    for name, caution in pairs:
        if not (many and caution.endswith(WEAK)):
            log.warning("%s: %s", name, caution)
    if many:
        log.warning("%d texts (%s) are short%s", len(short), list_some(short), WEAK)


def _find_learnt(model: AuthorModel, documents: Sequence[Document], aside: bool) -> list[str | None]:
    """Which documents the model has learnt, whole or in part: what it says of them is no evidence."""
    place = next((number for number, view in enumerate(model.views) if view.mask == "none"), None)
    if place is None:
        return [None] * len(documents)
    view = model.views[place]
    learnt = [view.alphabet.decode(text) for text in model.texts[place]]
    plain = [view.alphabet.filter(view.normal(document.text)) for document in documents]
    if sum(map(len, learnt)) + sum(map(len, plain)) <= MOST_COMPARED:
        found = find_related(plain, learnt)
    else:  # only whole texts
        numbers = {text: number for number, text in enumerate(learnt)}
        found = [frozenset({numbers[text]} if text in numbers else ()) for text in plain]
    said: list[str | None] = []
    for text, related in zip(plain, found, strict=True):
        if not related:
            said.append(None)
            continue
        other = min(related, key=lambda number: (learnt[number] != text, number))
        whose = f"{model.titles[other]} by {model.authors[model.owners[other]]}"
        if learnt[other] != text or not aside:
            said.append(
                f"shares {PASSAGE} characters or more word for word with {whose}, which the model has learnt;"
                " what it says of them is no evidence"
            )
        elif model.owners.count(model.owners[other]) > 1:
            said.append(f"the same as {whose}, and judged as if the model had not learnt it")
        else:
            said.append(f"the same as {whose}, his only text: he can't be judged")
    return said
