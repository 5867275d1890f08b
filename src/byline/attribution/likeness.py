"""The passages of an author's texts that are most like another text, and what speaks in them for its writer.

The text is made a head beside the authors' (counted, or enrolled on a network's layer), and judges passages of theirs:
a character's gain there is how much less it costs that head than the heads of the other authors on the average, beyond
what is usual for it. So both sides are coloured, as in verification where problems are asked both ways.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from byline.alphabet import Symbols
from byline.attribution.evidence import Gains
from byline.attribution.model import AuthorModel, index_questions, questions_of, sample_texts
from byline.attribution.writings import Writings
from byline.documents import Document
from byline.engines import Filled, Watch, ngram, rnn
from byline.engines.vectors import weigh_texts
from byline.enrolment import enrol_heads
from byline.gains import GainKeeper, mean_gains
from byline.ngram_kernels import index_texts
from byline.normalise import CAPITAL
from byline.places import spread_back
from byline.questions import Question, Questions
from byline.settings import ADDITIVE, Settings
from byline.views import SHORTEST

PIECE = 3_000
"""Characters of a passage, about; a text of up to half as many more is one."""
MOST_LOOKED = 1_000_000
"""Characters of an author's texts among which passages are looked for; of more an even part of them."""
ORDER = 4
"""Passages are compared by n-grams of up to so many characters."""
LEVEL_PIECES, LEVEL_LENGTH = 12, 1_000
"""Passages by others that tell what is usual for a text's head, and symbols of each."""

_CAPITAL = re.compile(f"{CAPITAL}(.)", re.DOTALL)


class Piece(NamedTuple):
    """A passage of a text, from its first character to the one after its last."""

    text: str
    number: int
    """The text's, in the model."""
    begin: int
    end: int
    whole: int
    """Characters of the whole text."""


def kept_text(model: AuthorModel, number: int) -> str:
    """A text as the model keeps it, made readable: capitals and accents where they were; digits are 7.

    What was too rare for the alphabet is missing, and where all members mask topic, so are words.
    """
    place = next((place for place, view in enumerate(model.views) if view.mask == "none"), 0)
    plain = model.views[place].alphabet.decode(model.texts[place][number])
    return unicodedata.normalize("NFC", _CAPITAL.sub(lambda found: found[1].upper(), plain))


def texts_of(model: AuthorModel, author: int, writings: Writings | None = None) -> dict[int, str]:
    """By number, an author's texts: the originals, where they are at hand, or else as the model keeps them."""
    return {
        number: kept_text(model, number) if writings is None else writings.documents[number].text
        for number in model.texts_of(author)
    }


def cut_pieces(number: int, text: str) -> list[Piece]:
    """A text in passages of about the same length, cut between words where it can be."""
    count = max(1, round(len(text) / PIECE))
    cuts = [0]
    for place in range(1, count):
        about = len(text) * place // count
        blank = re.compile(r"\s").search(text, about, min(len(text), about + PIECE // 10))
        cuts.append(blank.end() if blank else about)
    cuts.append(len(text))
    return [Piece(text[begin:end], number, begin, end, len(text)) for begin, end in pairwise(cuts)]


def find_likest(pieces: Sequence[Piece], documents: Sequence[Document], model: AuthorModel) -> NDArray[np.int64]:
    """(documents, pieces): the numbers of the passages, those most like each document first.

    Likeness is the cosine of n-gram counts, damped and weighted by how few of these texts have the n-gram; a passage
    that is the document itself comes last.
    """
    view = next((view for view in model.views if view.mask == "none"), model.views[0])
    encoded = [view.encode(text) for text in (*(each.text for each in documents), *(each.text for each in pieces))]
    profiles = weigh_texts(index_texts(encoded, ORDER))
    alike = (profiles[: len(documents)] @ profiles[len(documents) :].T).toarray()
    for row, document in enumerate(encoded[: len(documents)]):
        for column, piece in enumerate(encoded[len(documents) :]):
            if np.array_equal(document, piece):
                alike[row, column] = -1
    order: NDArray[np.int64] = np.argsort(-alike, axis=1, kind="stable")
    return order


def choose_pieces(
    model: AuthorModel,
    author: int,
    documents: Sequence[Document],
    most: int,
    writings: Writings | None = None,
) -> list[list[Piece]]:
    """For each document the passages of an author's texts that are most like it, about so many characters of them.

    The most like come first; neighbours are put together. One at least is chosen, be it longer.
    """
    pieces = [piece for number, text in texts_of(model, author, writings).items() for piece in cut_pieces(number, text)]
    step = -(-sum(len(piece.text) for piece in pieces) // MOST_LOOKED)
    pieces = [piece for piece in pieces[::step] if piece.text.strip()]
    found = []
    for order in find_likest(pieces, documents, model):
        chosen: list[Piece] = []
        left = most
        for number in order.tolist():
            length = len(pieces[number].text)
            if chosen and length / 2 > left:
                break
            chosen.append(pieces[number])
            left -= length
        found.append(join_neighbours(chosen))
    return found


def join_neighbours(pieces: Sequence[Piece]) -> list[Piece]:
    """Passages of which one goes on where another ends become one, in the place of the first."""
    joined = list(pieces)
    for piece in pieces:
        before = next((each for each in joined if (each.number, each.end) == (piece.number, piece.begin)), None)
        own = next((each for each in joined if each.number == piece.number and each.begin == piece.begin), None)
        if before is None or own is None:
            continue
        place = min(joined.index(before), joined.index(own))
        both = before._replace(text=before.text + own.text, end=own.end)
        joined = [each for each in joined if each not in (before, own)]
        joined.insert(place, both)
    return joined


def weigh_pieces(
    model: AuthorModel,
    document: Document,
    author: int,
    pieces: Sequence[Piece],
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> list[Gains | None]:
    """For each passage (members, characters): bits that it speaks for the writer of the document, or None."""
    found: list[list[NDArray[np.float64]]] = [[] for _ in pieces]
    for number, member in enumerate(model.members):
        if member.engine not in ADDITIVE:
            continue
        watch.proceed()
        place = model.view_of(member)
        view = model.views[place]
        encoded = [view.encode(piece.text) for piece in pieces]
        able = [row for row, text in enumerate(encoded) if len(text) >= SHORTEST]
        own = view.encode(document.text)
        if not able or len(own) < SHORTEST:
            continue
        questions = _lay_out(model, member, own, [encoded[row] for row in able], author)
        filled = _fill(model, number, questions, own, watch)
        gained = mean_gains(questions, filled.matrix)[len(able) :, 0]
        level = float(gained.mean()) if len(gained) else 0.0
        for row, gains in zip(able, filled.gains, strict=True):
            found[row].append(spread_back(view, pieces[row].text, np.where(gains != 0, gains - level, 0)))
    return [np.array(rows) if rows else None for rows in found]


def _lay_out(model: AuthorModel, member: Settings, own: Symbols, pieces: Sequence[Symbols], author: int) -> Questions:
    """A head for the document before those of the authors; documents are the passages, and others' to compare with."""
    place = model.view_of(member)
    plain = questions_of(model, member, (), [own])
    ((document,),) = plain.documents
    texts = list(plain.texts)
    others = [number for number in sample_texts(model, len(model.owners)) if model.owners[number] != author]
    judged = [(piece, author) for piece in pieces]
    judged += [(model.texts[place][other][:LEVEL_LENGTH], model.owners[other]) for other in others[:LEVEL_PIECES]]
    texts += [text for text, _ in judged]
    barred = {(row, 1 + owner) for row, (_, owner) in enumerate(judged)}
    documents = tuple((len(plain.texts) + row,) for row in range(len(judged)))
    asked = tuple(Question(row, 0, row) for row in range(len(pieces)))
    return replace(
        plain, texts=tuple(texts), heads=((document,), *plain.heads), documents=documents, questions=asked,
        reference=len(model.authors), barred=frozenset(barred), aside=False,
    )  # fmt: skip


def _fill(model: AuthorModel, number: int, questions: Questions, own: Symbols, watch: Watch) -> Filled:
    member = model.members[number]
    if member.engine == "ngram":
        index = index_questions(model, member, questions) if member.direction == "forward" else None
        rng = np.random.default_rng([model.seed, number])
        return ngram.fill_matrix(questions, member, rng, replace(watch, evidence=True), index=index)
    network = model.networks[number]
    weights = network.weights
    layer = weights._replace(heads=weights.heads[: model.trained], head_bias=weights.head_bias[: model.trained])
    new = enrol_heads(layer, [[own]], network.settings, model.seed, threads=watch.threads, proceed=watch.proceed)
    count = len(model.authors)
    weights = weights._replace(
        heads=np.concatenate([new.heads, weights.heads[:count]]),
        head_bias=np.concatenate([new.head_bias, weights.head_bias[:count]]),
    )
    chosen = np.tile(np.arange(1 + count, dtype=np.int32), (len(questions.documents), 1))
    keeper, enlarged = GainKeeper(questions, chosen), replace(network, weights=weights)
    matrix = rnn.score(enlarged, questions, chosen, threads=watch.threads, proceed=watch.proceed, keeper=keeper)
    return Filled(matrix, enlarged, gains=keeper.take())
