"""A model of authors: the texts they wrote, as members see them, and what turns members' values into probabilities.

Members whose engines count n-grams are the texts themselves: they are counted anew when something is asked, and a new
author is a few more texts. A network is trained once; a further author's head is enrolled on its recurrent layer.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from byline.alphabet import Symbols, count_characters
from byline.attribution.verdict import Judge, Tables, fit_judge
from byline.attribution.writings import NONE, Writings, plain_name
from byline.documents import Document
from byline.engines import Filled, Watch, linear, ngram, rnn, vectors
from byline.enrolment import enrol_heads
from byline.errors import CorpusError, SettingsError, TooLittleText, listing
from byline.ngrams import Index, index_texts
from byline.questions import Questions
from byline.settings import Settings
from byline.training import Model, train
from byline.views import View, learn_view, require_length

log = logging.getLogger(__name__)

FEWEST_AUTHORS = 2
MOST_HELD_OUT = 400
"""Texts of the authors that are judged while learning, each as if it were not known, to learn how sure to be."""
MOST_LOST_LEARNT, MOST_LOST, TOO_MUCH_LOST = 0.05, 0.2, 0.5
"""Shares of a text's characters, those outside the alphabet: said when it is learnt, said when it is asked, refused."""
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
    trained: int = 0
    """Authors, the first ones, whom its networks were trained on; others were enrolled. 0 stands for all."""

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
        tuple(tuple(_encode(view, writings.documents)) for view in views),
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
    _warn_of_losses(model.views[0], writings.documents)
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
        (*old, *_encode(view, writings.documents)) for view, old in zip(model.views, model.texts, strict=True)
    )
    owners = tuple(first + writings.names.index(author) for author in writings.authors)
    titles = (*model.titles, *(document.name for document in writings.documents))
    _require_owners(texts[0], (*model.owners, *owners), (*model.authors, *writings.names), titles)
    _warn_of_losses(model.views[0], writings.documents)
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
    own = sample_texts(model, LEVEL_TEXTS) if held_out is None else held_out
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
                indices[place, member.order] = index_texts(questions.texts, member.order)
            index = indices.get((place, member.order)) if member.direction == "forward" else None
            matrix = _COUNTING[member.engine](questions, member, rng, watch, index=index).matrix
        values.append(matrix.values)
        seen.append(matrix.seen)
    owners = np.array([*(model.owners[text] for text in own), *([-1] * len(encoded[0]))], np.int64)
    return Tables(np.array(values), np.array(seen), owners)


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


def check_texts(model: AuthorModel, documents: Sequence[Document]) -> None:
    """Refuse texts that the model can't judge; say of which texts it sees only a part."""
    for view in model.views:
        _encode(view, documents)
    for document, known, whole in _losses(model.views[0], documents, MOST_LOST):
        log.warning("%s: only %d of %d characters are ones that the model knows", document.name, known, whole)


def _encode(view: View, documents: Sequence[Document]) -> list[Symbols]:
    """Texts as members see them; those of which too little is left are refused, all at once."""
    encoded = [view.encode(document.text) for document in documents]
    require_length(view, documents, map(len, encoded))
    offences = [
        f"{document.name}: only {known} of {whole} characters are ones that the model knows;"
        " leave it out, or put it beside texts in its own script"
        for document, known, whole in _losses(view, documents, TOO_MUCH_LOST)
    ]
    if offences:
        raise CorpusError(listing(offences, "these can't be used"))
    return encoded


def _warn_of_losses(view: View, documents: Sequence[Document]) -> None:
    """Say which text that is learnt loses most letters because they are rare in all texts together."""
    lost = sorted(_losses(view, documents, MOST_LOST_LEARNT), key=lambda each: each[1] / each[2])
    if lost:
        document, known, whole = lost[0]
        log.warning(
            "%s: only %d of %d characters are learnt, the others are too rare in all texts together%s",
            document.name, known, whole, f"; so it is with {len(lost)} texts" if len(lost) > 1 else "",
        )  # fmt: skip


def _losses(view: View, documents: Sequence[Document], most: float) -> list[tuple[Document, int, int]]:
    """Texts that lose more than such a share of their characters to the alphabet: what is left, and the whole."""
    found = []
    for document in documents:
        counts = count_characters([view.normal(document.text)])
        known = sum(count for letter, count in counts.items() if letter in view.alphabet.symbols)
        if known < (1 - most) * counts.total():
            found.append((document, known, counts.total()))
    return found
