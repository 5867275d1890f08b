"""A model of authors: the texts they wrote, as members see them, and what turns members' values into probabilities.

Members whose engines count n-grams are the texts themselves: they are counted anew when something is asked, and a new
author is a few more texts. A network is trained once; a further author's head is enrolled on its recurrent layer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from byline.alphabet import Symbols
from byline.attribution.letters import encode_readable, warn_of_losses
from byline.attribution.verdict import Judge, Tables, fit_judge
from byline.attribution.writings import NONE, Writings, plain_name
from byline.engines import Watch, engine_of, rnn
from byline.enrolment import enrol_heads
from byline.errors import CorpusError, SettingsError, TooLittleText
from byline.ngram_kernels import index_texts, number_texts
from byline.ngrams import Index, Numbering, index_further
from byline.questions import Questions
from byline.settings import ENGINES as KINDS
from byline.settings import Settings
from byline.training import Model, train
from byline.views import View, learn_view

FEWEST_AUTHORS = 2
MOST_HELD_OUT = 400
"""Texts of the authors that are judged while learning, each as if it were not known, to learn how sure to be."""
MOST_KEPT = 3_000_000
"""Characters of a model whose index is kept between two questions: some 20 bytes a character for each view."""
LEVEL_TEXTS = 150
"""Of these, those that tell how easy each author's head finds texts by others."""
ENGINES = (*(name for name, kind in KINDS.items() if kind.attributes), "rnn")
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
    trained: int = 0
    """Authors, the first ones, whom its networks were trained on; others were enrolled. 0 stands for all."""
    kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What was counted of its own texts when something was first asked, to be used again. Another model has its own."""

    def __post_init__(self) -> None:
        """Where nothing is said, nobody was enrolled."""
        object.__setattr__(self, "trained", self.trained or len(self.authors))

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


def draft_model(writings: Writings, members: Sequence[Settings], seed: int = 0) -> AuthorModel:
    """The model before anything is trained: whatever is wrong with the texts or members is found here."""
    if odd := sorted({member.engine for member in members} - set(ENGINES)):
        raise SettingsError(f"the engine {odd[0]} can't attribute; there are {', '.join(ENGINES)}")
    names = writings.names
    if len(names) < FEWEST_AUTHORS:
        raise TooLittleText(f"{len(names)} author, {FEWEST_AUTHORS} are needed; add texts by others")
    _require_names(names)
    kinds = dict.fromkeys((member.text_rules, member.mask) for member in members)
    plain = [document.text for document in writings.documents]
    views = tuple(learn_view(plain, writings.language, rules, mask) for rules, mask in kinds)
    model = AuthorModel(
        names,
        tuple(names.index(author) for author in writings.authors),
        tuple(document.name for document in writings.documents),
        views,
        tuple(tuple(encode_readable(view, writings.documents)) for view in views),
        tuple(members),
        Judge.usual(members),
        seed,
    )
    _require_owners(model.texts[0], model.owners, names, model.titles)
    return model


def train_authors(
    writings: Writings,
    members: Sequence[Settings],
    seed: int = 0,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> AuthorModel:
    """A model of the authors of some texts."""
    model = draft_model(writings, members, seed)
    warn_of_losses(model.views[0], writings.documents)
    networks = {}
    for number, member in enumerate(members):
        if member.engine == "rnn":
            watch.stage(f"training member {number + 1} of {len(members)}, {member.engine_name}")
            rng = np.random.default_rng([seed, number])
            networks[number] = train(questions_of(model, member, (), ()), member, rng, watch.report)
    model = replace(model, networks=networks)
    held_out = sample_texts(model, MOST_HELD_OUT)
    tables = fill_tables(model, (), held_out, watch)
    watch.stage("how sure to be")
    return replace(model, judge=fit_judge(tables, members, watch.proceed))


def enrol_authors(model: AuthorModel, writings: Writings, watch: Watch = Watch()) -> AuthorModel:  # noqa: B008 - frozen
    """The model with further authors; what it learnt of how sure to be stays as it is."""
    there = {plain_name(author) for author in model.authors}
    if again := [name for name in writings.names if plain_name(name) in there]:
        raise SettingsError(f"{again[0]} is in the model already; give new authors another name, or train anew")
    _require_names(writings.names)
    first = len(model.authors)
    texts = tuple(
        (*old, *encode_readable(view, writings.documents)) for view, old in zip(model.views, model.texts, strict=True)
    )
    owners = tuple(first + writings.names.index(author) for author in writings.authors)
    titles = (*model.titles, *(document.name for document in writings.documents))
    _require_owners(texts[0], (*model.owners, *owners), (*model.authors, *writings.names), titles)
    warn_of_losses(model.views[0], writings.documents)
    networks = {}
    for number, network in model.networks.items():
        own = texts[model.view_of(model.members[number])][len(model.owners) :]
        sets = [[text for text, owner in zip(own, owners, strict=True) if owner == first + author]
                for author in range(len(writings.names))]  # fmt: skip
        layer = network.weights._replace(
            heads=network.weights.heads[: model.trained], head_bias=network.weights.head_bias[: model.trained]
        )
        new = enrol_heads(layer, sets, network.settings, model.seed, threads=watch.threads)
        weights = network.weights._replace(
            heads=np.concatenate([network.weights.heads[:first], new.heads]),
            head_bias=np.concatenate([network.weights.head_bias[:first], new.head_bias]),
        )
        networks[number] = replace(network, weights=weights)
    return replace(
        model,
        authors=(*model.authors, *writings.names),
        owners=(*model.owners, *owners),
        titles=titles,
        texts=texts,
        networks=networks,
        trained=model.trained if networks else 0,
    )


def _require_names(names: Sequence[str]) -> None:
    """Refuse a name that answers would be mistaken for."""
    if odd := next((name for name in names if name.casefold() == NONE), None):
        raise CorpusError(
            f"an author can't be called {odd!r}: that is said where it is none of them; rename the author"
        )


def _require_owners(
    texts: Sequence[Symbols], owners: Sequence[int], authors: Sequence[str], titles: Sequence[str]
) -> None:
    """Refuse a text that two authors have, as the first member sees it."""
    first: dict[bytes, int] = {}
    for number, text in enumerate(texts):
        other = first.setdefault(text.tobytes(), number)
        if owners[other] != owners[number]:
            raise CorpusError(
                f"{titles[number]}: {authors[owners[number]]} and {authors[owners[other]]} ({titles[other]}) have the"
                " same text; leave it with the one who wrote it"
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
    if held_out is not None:
        return _fill(model, encoded, held_out, watch)
    levels, new = level_tables(model, watch), _fill(model, encoded, (), watch)
    return Tables(
        np.concatenate([levels.values, new.values], axis=1),
        np.concatenate([levels.seen, new.seen], axis=1),
        np.concatenate([levels.owners, new.owners]),
    )


def level_tables(model: AuthorModel, watch: Watch = Watch()) -> Tables:  # noqa: B008 - frozen
    """What each member says of a sample of the authors' own texts: they hang on nothing that is asked, and are kept."""
    if "levels" not in model.kept:
        model.kept["levels"] = _fill(model, [()] * len(model.views), sample_texts(model, LEVEL_TEXTS), watch)
    found: Tables = model.kept["levels"]
    return found


def _fill(model: AuthorModel, encoded: Sequence[Sequence[Symbols]], own: Sequence[int], watch: Watch) -> Tables:
    values, seen = [], []
    indices: dict[tuple[int, int], Index] = {}
    for number, member in enumerate(model.members):
        watch.proceed()
        watch.stage(f"member {number + 1} of {len(model.members)}, {member.engine_name}")
        place = model.view_of(member)
        questions = questions_of(model, member, own, encoded[place])
        rng = np.random.default_rng([model.seed, number])
        if member.engine == "rnn":
            chosen = np.tile(np.arange(len(model.authors), dtype=np.int32), (len(questions.documents), 1))
            plain = replace(questions, aside=False)
            matrix = rnn.score(model.networks[number], plain, chosen, threads=watch.threads, proceed=watch.proceed)
        else:
            if (place, member.order) not in indices and member.direction == "forward":
                indices[place, member.order] = index_questions(model, member, questions)
            index = indices.get((place, member.order)) if member.direction == "forward" else None
            matrix = engine_of(member.engine)(questions, member, rng, watch, index=index).matrix
        values.append(matrix.values)
        seen.append(matrix.seen)
    owners = np.array([*(model.owners[text] for text in own), *([-1] * len(encoded[0]))], np.int64)
    return Tables(np.array(values), np.array(seen), owners)


def index_questions(model: AuthorModel, member: Settings, questions: Questions) -> Index:
    """The index of the model's texts and of further ones behind them; that of its own is kept, unless it is large."""
    place = model.view_of(member)
    known = len(model.texts[place])
    if model.characters > MOST_KEPT:
        return index_texts(questions.texts, member.order)
    name = f"numbering {place} {member.order}"
    if name not in model.kept:
        symbols = len(model.views[place].alphabet)
        model.kept[name] = number_texts(questions.texts[:known], member.order, symbols)
    numbering: Numbering = model.kept[name]
    return index_further(numbering, questions.texts[known:])


def questions_of(model: AuthorModel, member: Settings, own: Sequence[int], new: Sequence[Symbols]) -> Questions:
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


def sample_texts(model: AuthorModel, most: int) -> list[int]:
    """Texts of the authors, evenly from each, the same ones every time."""

    def digest(number: int) -> bytes:
        return hashlib.sha256(model.texts[0][number].tobytes()).digest()

    by_author = [sorted(model.texts_of(author), key=digest) for author in range(len(model.authors))]
    rounds = [[own[turn] for own in by_author if turn < len(own)] for turn in range(max(map(len, by_author)))]
    return [number for each in rounds for number in sorted(each, key=digest)][:most]
