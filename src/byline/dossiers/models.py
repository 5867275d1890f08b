"""What reports of attributions and of rolled texts share: the model they come from, guesses, features and markings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from byline.attribution.evidence import Named
from byline.attribution.file import author_model_bytes
from byline.attribution.likeness import cut_pieces, texts_of
from byline.attribution.model import AuthorModel
from byline.attribution.writings import Writings
from byline.documents import Document
from byline.dossiers.origins import origin_values
from byline.dossiers.parts import Markings, finite
from byline.evidence import Gains, Guesser, scale_of
from byline.storage import sha256

CLOSED = "Each text is taken to be by one of the authors. If someone else wrote it, that can't be seen here."
LEARNT = "How sure to be was learnt from {} of the authors' own texts, each judged as if it were not known."
GUESSED = "How sure to be is a guess: no text of the authors could be held out."
GUESSED_FROM = 60_000
"""Characters of an author's texts that guesses are made from."""


def model_origins(
    about: Mapping[str, Any], model: AuthorModel, texts: Mapping[str, Sequence[Document]], facts: Mapping[str, object]
) -> dict[str, Any]:
    """Where figures that a model of authors gave come from; its hash is that of the file it makes."""
    said = {"Language": model.language, "Authors": len(model.authors), "Their texts": len(model.owners), **facts}
    found = origin_values(about, model.members, model.seed, texts, said)
    return {"files": {"the model, as a file": sha256(author_model_bytes(model))}, **found}


def sureness(model: AuthorModel) -> str:
    """What probabilities were learnt from."""
    return LEARNT.format(model.judge.held_out) if model.judge.held_out else GUESSED


def guess_source(model: AuthorModel, author: int, writings: Writings | None) -> list[Document]:
    """As much of an author's texts, evenly from all of them, as guesses are made from."""
    pieces = [piece for number, text in texts_of(model, author, writings).items() for piece in cut_pieces(number, text)]
    step = -(-sum(len(piece.text) for piece in pieces) // GUESSED_FROM)
    return [Document(model.titles[piece.number], piece.text) for piece in pieces[::step]]


def feature_values(title: str, named: Named) -> dict[str, Any]:
    """What a member names, as reports show it."""
    return {
        "member": title,
        "unit": named.unit.split(",")[0].removesuffix(" distance"),
        "for": [[name, finite(weight, 6)] for name, weight in named.features if weight > 0],
        "against": [[name, finite(weight, 6)] for name, weight in named.features if weight < 0],
    }


class SharingMarkings(Markings):
    """Markings that share what guesses are made from with those of other entries."""

    def __init__(self, guessers: dict[tuple[str, ...], Guesser]) -> None:
        super().__init__()
        self._guessers = guessers

    def add_beside(self, role: str, document: Document, gains: Gains | None) -> None:
        """A document that is not in question: a scale of its own, no guesses, no part in the strongest passages."""
        passages, words = list(self._passages), list(self._words)
        self.add(role, document, gains, ())
        own = self._words[len(words) :]
        self._passages, self._words = passages, words
        if own:
            self.documents[-1]["scale"] = round(scale_of(own), 2)

    def thin(self, share: float) -> None:
        """Leave out the words that say less than such a part of the bits of full colour."""
        least = share * scale_of(self._words)
        for document in self.documents:
            document["words"] = [row for row in document["words"] or () if abs(row[2]) >= least]
