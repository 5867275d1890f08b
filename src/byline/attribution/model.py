"""A model of authors: the texts they wrote, as members see them, and what turns members' values into probabilities.

Members whose engines count n-grams are the texts themselves: they are counted anew when something is asked, and a new
author is a few more texts. A network is trained once; a further author's head is enrolled on its recurrent layer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from byline.alphabet import Symbols
from byline.attribution.verdict import Judge, Tables, fit_judge
from byline.attribution.writings import Writings
from byline.engines import Filled, Watch, linear, ngram, rnn, vectors
from byline.enrolment import enrol_heads
from byline.errors import SettingsError, TooLittleText
from byline.ngrams import Index, index_texts
from byline.questions import Questions
from byline.settings import Settings
from byline.training import Model, train
from byline.views import View, learn_view, require_length

FEWEST_AUTHORS = 2
MOST_HELD_OUT = 400
"""Texts of the authors that are judged while learning, each as if it were not known, to learn how sure to be."""
LEVEL_TEXTS = 150
"""Of these, those that tell how easy each author's head finds texts by others."""
_COUNTING: dict[str, Callable[..., Filled]] = {
    "ngram": ngram.fill_matrix,
    "vectors": vectors.fill_matrix,
    "linear": linear.fill_matrix,
}
ENGINES = (*_COUNTING, "rnn")
"""Those that can attribute."""


@dataclass(frozen=True)
class AuthorModel:
    """Authors, their texts, and how a text is attributed to one of them."""

    authors: tuple[str, ...]
    owners: tuple[int, ...]
    """The author of each text, by number."""
    titles: tuple[str, ...]
    """What each text was called."""
    views: tuple[View, ...]
    texts: tuple[tuple[Symbols, ...], ...]
    """By view, in the same order as owners."""
    members: tuple[Settings, ...]
    judge: Judge
    seed: int = 0
    networks: Mapping[int, Model] = field(default_factory=dict)
    """Of members that have one, by number; its heads are the authors."""

    @property
    def language(self) -> str:
        """Of the texts."""
        return self.views[0].language

    @property
    def characters(self) -> int:
        """Of all texts, as the first member sees them."""
        return sum(len(text) for text in self.texts[0])

    def texts_of(self, author: int) -> list[int]:
        """The numbers of an author's texts."""
        return [number for number, owner in enumerate(self.owners) if owner == author]

    def view_of(self, settings: Settings) -> int:
        """The number of the view that a member has."""
        return next(
            number
            for number, view in enumerate(self.views)
            if (view.rules, view.mask) == (settings.text_rules, settings.mask)
        )


def train_authors(
    writings: Writings,
    members: Sequence[Settings],
    seed: int = 0,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> AuthorModel:
    """A model of the authors of some texts."""
    if odd := sorted({member.engine for member in members} - set(ENGINES)):
        raise SettingsError(f"the engine {odd[0]} can't attribute; there are {', '.join(ENGINES)}")
    names = writings.names
    if len(names) < FEWEST_AUTHORS:
        raise TooLittleText(f"{len(names)} author, {FEWEST_AUTHORS} are needed; add texts by others")
    kinds = dict.fromkeys((member.text_rules, member.mask) for member in members)
    plain = [document.text for document in writings.documents]
    views = tuple(learn_view(plain, writings.language, rules, mask) for rules, mask in kinds)
    model = AuthorModel(
        names,
        tuple(names.index(author) for author in writings.authors),
        tuple(document.name for document in writings.documents),
        views,
        tuple(tuple(_encode(view, writings)) for view in views),
        tuple(members),
        Judge.usual(members),
        seed,
    )
    networks = {
        number: train(_questions(model, member, (), ()), member, np.random.default_rng([seed, number]), watch.report)
        for number, member in enumerate(members)
        if member.engine == "rnn"
    }
    model = replace(model, networks=networks)
    held_out = _sample(model, MOST_HELD_OUT)
    tables = fill_tables(model, (), held_out, watch)
    return replace(model, judge=fit_judge(tables, members))


def enrol_authors(model: AuthorModel, writings: Writings, watch: Watch = Watch()) -> AuthorModel:  # noqa: B008 - frozen
    """The model with further authors; what it learnt of how sure to be stays as it is."""
    if again := sorted(set(writings.names) & set(model.authors)):
        raise SettingsError(f"{again[0]} is in the model already; give new authors another name, or train anew")
    first = len(model.authors)
    texts = tuple((*old, *_encode(view, writings)) for view, old in zip(model.views, model.texts, strict=True))
    owners = tuple(first + writings.names.index(author) for author in writings.authors)
    networks = {}
    for number, network in model.networks.items():
        own = texts[model.view_of(model.members[number])][len(model.owners) :]
        sets = [[text for text, owner in zip(own, owners, strict=True) if owner == first + author]
                for author in range(len(writings.names))]  # fmt: skip
        new = enrol_heads(network.weights, sets, network.settings, model.seed, threads=watch.threads)
        weights = network.weights._replace(
            heads=np.concatenate([network.weights.heads[:first], new.heads]),
            head_bias=np.concatenate([network.weights.head_bias[:first], new.head_bias]),
        )
        networks[number] = replace(network, weights=weights)
    return replace(
        model,
        authors=(*model.authors, *writings.names),
        owners=(*model.owners, *owners),
        titles=(*model.titles, *(document.name for document in writings.documents)),
        texts=texts,
        networks=networks,
    )


def fill_tables(
    model: AuthorModel,
    texts: Sequence[str],
    held_out: Sequence[int] | None = None,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> Tables:
    """What each member says of texts, and of texts of the authors, judged as if they were not known."""
    return fill_encoded(model, encode_texts(model, texts), held_out, watch)


def encode_texts(model: AuthorModel, texts: Sequence[str]) -> list[list[Symbols]]:
    """By view, each text as members see it."""
    return [[view.encode(text) for text in texts] for view in model.views]


def fill_encoded(
    model: AuthorModel, encoded: Sequence[Sequence[Symbols]], held_out: Sequence[int] | None, watch: Watch
) -> Tables:
    """The same of texts that are encoded already."""
    own = _sample(model, LEVEL_TEXTS) if held_out is None else held_out
    values, seen = [], []
    indices: dict[tuple[int, int], Index] = {}
    for number, member in enumerate(model.members):
        watch.proceed()
        watch.stage(f"member {number + 1} of {len(model.members)}, {member.engine_name}")
        place = model.view_of(member)
        questions = _questions(model, member, own, encoded[place])
        rng = np.random.default_rng([model.seed, number])
        if member.engine == "rnn":
            chosen = np.tile(np.arange(len(model.authors), dtype=np.int32), (len(questions.documents), 1))
            plain = replace(questions, aside=False)
            matrix = rnn.score(model.networks[number], plain, chosen, threads=watch.threads, proceed=watch.proceed)
        else:
            if (place, member.order) not in indices and member.direction == "forward":
                indices[place, member.order] = index_texts(questions.texts, member.order)
            index = indices.get((place, member.order)) if member.direction == "forward" else None
            matrix = _COUNTING[member.engine](questions, member, rng, watch, index=index).matrix
        values.append(matrix.values)
        seen.append(matrix.seen)
    owners = np.array([*(model.owners[text] for text in own), *([-1] * len(encoded[0]))], np.int64)
    return Tables(np.array(values), np.array(seen), owners)


def _questions(model: AuthorModel, member: Settings, own: Sequence[int], new: Sequence[Symbols]) -> Questions:
    """Authors as heads; some of their texts, and new ones, as documents. A new text that is known is the known one."""
    place = model.view_of(member)
    known = model.texts[place]
    number_of = {text.tobytes(): number for number, text in enumerate(known)}
    texts, documents = list(known), [(number,) for number in own]
    for text in new:
        number = number_of.setdefault(text.tobytes(), len(texts))
        if number == len(texts):
            texts.append(text)
        documents.append((number,))
    heads = tuple(tuple(model.texts_of(author)) for author in range(len(model.authors)))
    return Questions(model.views[place].alphabet, tuple(texts), heads, tuple(documents), (), aside=True)


def _sample(model: AuthorModel, most: int) -> list[int]:
    """Texts of the authors, evenly from each, the same ones every time."""

    def digest(number: int) -> bytes:
        return hashlib.sha256(model.texts[0][number].tobytes()).digest()

    by_author = [sorted(model.texts_of(author), key=digest) for author in range(len(model.authors))]
    rounds = [[own[turn] for own in by_author if turn < len(own)] for turn in range(max(map(len, by_author)))]
    return [number for each in rounds for number in sorted(each, key=digest)][:most]


def _encode(view: View, writings: Writings) -> list[Symbols]:
    encoded = [view.encode(document.text) for document in writings.documents]
    require_length(view, writings.documents, map(len, encoded))
    return encoded
