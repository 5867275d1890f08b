"""A model of authors: their texts as each member sees them, trained networks, and how scores become probabilities.

Members whose engines count n-grams need no training: they count the texts anew when something is asked, so enrolling
an author adds texts. A network is trained once, and further authors' heads are enrolled on its recurrent layer.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from byline.corpora.author_corpus import NONE, AuthorCorpus, plain_name
from byline.corpora.documents import Document
from byline.engines.matrix import GainCollector
from byline.engines.ngram.counts import Index, Numbering, extend_index
from byline.engines.ngram.kernels import index_texts, number_texts
from byline.engines.protocol import EngineResult, Runtime, load_engine
from byline.engines.questions import Questions, require_length
from byline.engines.rnn import engine as rnn
from byline.engines.rnn.network import Weights
from byline.engines.rnn.training import Model, enroll_heads, train
from byline.errors import CorpusError, SettingsError, TooLittleText, listing
from byline.judgment.candidates import CandidateCalibration, Tables, calibrate_candidates
from byline.settings.settings import ENGINES as KINDS
from byline.settings.settings import Settings
from byline.text.encoder import Symbols, TextEncoder, count_characters, fit_encoder

log = logging.getLogger(__name__)

MIN_AUTHORS = 2
MOST_HELD_OUT = 400
"""Texts of the authors that are held out in training to calibrate probabilities."""
MAX_CACHED = 3_000_000
"""Characters of a model whose index is cached between two questions: some 20 bytes a character for each encoder."""
LEVEL_TEXTS = 150
"""Texts of the authors that tell how easy each author's head finds texts by others."""
ENGINES = (*(name for name, kind in KINDS.items() if kind.attributes), "rnn")
"""Engines that can attribute."""
WARN_WHEN_TRAINING, REFUSE = 0.05, 0.5
"""Shares of a text's characters that are missing from the alphabet."""
Indices = dict[tuple[int, int], Index]
"""By number of the encoder and order, the index of the texts that are asked about."""


@dataclass(frozen=True)
class AuthorModel:
    """Authors, their texts, and how a text is attributed to one of them."""

    authors: tuple[str, ...]
    owners: tuple[int, ...]
    """The number of each text's author."""
    titles: tuple[str, ...]
    encoders: tuple[TextEncoder, ...]
    """One for each way in which members see texts: text rules and mask."""
    texts: tuple[tuple[Symbols, ...], ...]
    """By encoder, in the order of `owners`."""
    members: tuple[Settings, ...]
    calibration: CandidateCalibration
    seed: int = 0
    networks: Mapping[int, Model] = field(default_factory=dict)
    """By number of the member; heads are in the order of the authors."""
    trained: int = 0
    """Number of authors, the first ones, on whom networks were trained; the others were enrolled. 0 stands for all."""
    cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """Counts and scores of the model's own texts, which do not depend on what is asked."""

    def __post_init__(self) -> None:
        """Set `trained` to all authors if it is 0."""
        object.__setattr__(self, "trained", self.trained or len(self.authors))

    @property
    def language(self) -> str:
        """The language of the texts."""
        return self.encoders[0].language

    @property
    def characters(self) -> int:
        """The length of all texts together, as the first member sees them."""
        return sum(len(text) for text in self.texts[0])

    def texts_of(self, author: int) -> list[int]:
        """Return the numbers of an author's texts."""
        return [number for number, owner in enumerate(self.owners) if owner == author]

    def encoder_of(self, settings: Settings) -> int:
        """Return the number of the encoder that a member sees texts through."""
        return next(
            number
            for number, encoder in enumerate(self.encoders)
            if (encoder.rules, encoder.mask) == (settings.text_rules, settings.mask)
        )


def make_untrained_model(author_corpus: AuthorCorpus, members: Sequence[Settings], seed: int = 0) -> AuthorModel:
    """Return the model before training. Raise an error if the texts or members can't be used."""
    if odd := sorted({member.engine for member in members} - set(ENGINES)):
        raise SettingsError("can't attribute", where=f"engine {odd[0]}", remedy=f"Choose among {', '.join(ENGINES)}")
    names = author_corpus.names
    if len(names) < MIN_AUTHORS:
        raise TooLittleText(f"{len(names)} author, {MIN_AUTHORS} are needed", remedy="Add texts by other authors")
    _require_names(names)
    views = dict.fromkeys((member.text_rules, member.mask) for member in members)
    plain = [document.text for document in author_corpus.documents]
    encoders = tuple(fit_encoder(plain, author_corpus.language, rules, mask) for rules, mask in views)
    model = AuthorModel(
        names,
        tuple(names.index(author) for author in author_corpus.authors),
        tuple(document.name for document in author_corpus.documents),
        encoders,
        tuple(tuple(encode_readable(encoder, author_corpus.documents)) for encoder in encoders),
        tuple(members),
        CandidateCalibration.default(members),
        seed,
    )
    _require_one_owner(model.texts[0], model.owners, names, model.titles)
    return model


def train_authors(
    author_corpus: AuthorCorpus,
    members: Sequence[Settings],
    seed: int = 0,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> AuthorModel:
    """Train a model of the authors of some texts."""
    model = make_untrained_model(author_corpus, members, seed)
    warn_of_rare_characters(model.encoders[0], author_corpus.documents)
    networks = {}
    for number, member in enumerate(members):
        if member.engine == "rnn":
            runtime.stage(f"training member {number + 1} of {len(members)}, {member.engine_name}")
            rng = np.random.default_rng([seed, number])
            networks[number] = train(make_questions(model, member, (), ()), member, rng, runtime.report)
    model = replace(model, networks=networks)
    tables = score_texts(model, (), sample_texts(model, MOST_HELD_OUT), runtime)
    runtime.stage("how sure to be")
    return replace(model, calibration=calibrate_candidates(tables, members, runtime.proceed))


def enroll_authors(model: AuthorModel, author_corpus: AuthorCorpus, runtime: Runtime = Runtime()) -> AuthorModel:  # noqa: B008 - frozen
    """Return the model with further authors. Their texts don't change its calibration."""
    there = {plain_name(author) for author in model.authors}
    if again := [name for name in author_corpus.names if plain_name(name) in there]:
        remedy = "Give the new author another name, or train a new model"
        raise SettingsError("is in the model already", where=again[0], remedy=remedy)
    _require_names(author_corpus.names)
    first = len(model.authors)
    texts = tuple(
        (*old, *encode_readable(encoder, author_corpus.documents))
        for encoder, old in zip(model.encoders, model.texts, strict=True)
    )
    authors = (*model.authors, *author_corpus.names)
    new_owners = tuple(first + author_corpus.names.index(author) for author in author_corpus.authors)
    owners = (*model.owners, *new_owners)
    titles = (*model.titles, *(document.name for document in author_corpus.documents))
    _require_one_owner(texts[0], owners, authors, titles)
    warn_of_rare_characters(model.encoders[0], author_corpus.documents)
    networks = {}
    for number, network in model.networks.items():
        own = texts[model.encoder_of(model.members[number])][len(model.owners) :]
        sets = [
            [text for text, owner in zip(own, new_owners, strict=True) if owner == author]
            for author in range(first, len(authors))
        ]
        weights, new = network.weights, enroll_texts(model, number, sets, runtime)
        weights = weights._replace(
            heads=np.concatenate([weights.heads[:first], new.heads]),
            head_bias=np.concatenate([weights.head_bias[:first], new.head_bias]),
        )
        networks[number] = replace(network, weights=weights)
    trained = model.trained if networks else 0
    return replace(
        model, authors=authors, owners=owners, titles=titles, texts=texts, networks=networks, trained=trained
    )


def enroll_texts(model: AuthorModel, number: int, sets: Sequence[Sequence[Symbols]], runtime: Runtime) -> Weights:
    """Enroll a head for each set of texts on the recurrent layer of a member's network, beside the trained heads."""
    network = model.networks[number]
    layer = network.weights._replace(
        heads=network.weights.heads[: model.trained], head_bias=network.weights.head_bias[: model.trained]
    )
    return enroll_heads(layer, sets, network.settings, model.seed, threads=runtime.threads, proceed=runtime.proceed)


def _require_names(names: Sequence[str]) -> None:
    """Raise CorpusError if an author is called what an answer calls none of the authors."""
    if odd := next((name for name in names if name.casefold() == NONE), None):
        raise CorpusError("an author can't have this name: it stands for none of them", where=odd, remedy="Rename them")


def _require_one_owner(
    texts: Sequence[Symbols], owners: Sequence[int], authors: Sequence[str], titles: Sequence[str]
) -> None:
    """Raise CorpusError if two authors have the same text, as the first member sees it."""
    first: dict[bytes, int] = {}
    for number, text in enumerate(texts):
        other = first.setdefault(text.tobytes(), number)
        if owners[other] != owners[number]:
            raise CorpusError(
                f"{authors[owners[number]]} and {authors[owners[other]]} ({titles[other]}) have the same text",
                where=titles[number], remedy="Leave it with the author who wrote it",
            )  # fmt: skip


def score_texts(
    model: AuthorModel,
    texts: Sequence[str],
    held_out: Sequence[int] | None = None,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> Tables:
    """Score held-out texts of the authors, and then other texts, under all heads; see score_encoded."""
    return score_encoded(model, encode_texts(model, texts), held_out, runtime)


def encode_texts(model: AuthorModel, texts: Sequence[str]) -> list[list[Symbols]]:
    """Encode texts with each of the model's encoders."""
    return [[encoder.encode(text) for text in texts] for encoder in model.encoders]


def score_encoded(
    model: AuthorModel, encoded: Sequence[Sequence[Symbols]], held_out: Sequence[int] | None, runtime: Runtime
) -> Tables:
    """Score held-out texts of the authors, and then encoded texts, under all heads with each member.

    A text that the model has learned is scored without what its author's head learned from it, if the member can do
    that. Without `held_out`, these are the texts of `score_own_texts`.
    """
    if held_out is not None:
        return _score(model, encoded, held_out, runtime)
    own, new = score_own_texts(model, runtime), _score(model, encoded, (), runtime)
    return Tables(
        np.concatenate([own.values, new.values], axis=1),
        np.concatenate([own.seen, new.seen], axis=1),
        np.concatenate([own.owners, new.owners]),
    )


def score_own_texts(model: AuthorModel, runtime: Runtime = Runtime()) -> Tables:  # noqa: B008 - frozen
    """Score a sample of the authors' own texts, held out; the scores are cached."""
    if "levels" not in model.cache:
        model.cache["levels"] = _score(model, [()] * len(model.encoders), sample_texts(model, LEVEL_TEXTS), runtime)
    found: Tables = model.cache["levels"]
    return found


def _score(model: AuthorModel, encoded: Sequence[Sequence[Symbols]], own: Sequence[int], runtime: Runtime) -> Tables:
    indices: Indices = {}
    matrices = []
    for number, member in enumerate(model.members):
        runtime.proceed()
        runtime.stage(f"member {number + 1} of {len(model.members)}, {member.engine_name}")
        questions = make_questions(model, member, own, encoded[model.encoder_of(member)])
        matrices.append(fill_matrix(model, number, questions, indices, runtime).matrix)
    owners = np.array([*(model.owners[text] for text in own), *([-1] * len(encoded[0]))], np.int64)
    return Tables(np.array([each.values for each in matrices]), np.array([each.excluded for each in matrices]), owners)


def fill_matrix(
    model: AuthorModel,
    number: int,
    questions: Questions,
    indices: Indices,
    runtime: Runtime,
    network: Model | None = None,
) -> EngineResult:
    """Fill a member's matrix of documents x heads, with gains or features if `runtime` wants evidence.

    `network` replaces the member's own, if it has one.
    """
    member = model.members[number]
    if member.engine != "rnn":
        key, index = (model.encoder_of(member), member.order), None
        if member.direction == "forward":
            if key not in indices:
                indices[key] = _index_questions(model, member, questions)
            index = indices[key]
        rng = np.random.default_rng([model.seed, number])
        return load_engine(member.engine)(questions, member, rng, runtime, index=index)
    network = network or model.networks[number]
    questions = replace(questions, leave_one_out=False)
    heads = np.tile(np.arange(len(questions.heads), dtype=np.int32), (len(questions.documents), 1))
    collector = GainCollector(questions, heads) if runtime.evidence else None
    matrix = rnn.score(network, questions, heads, threads=runtime.threads, proceed=runtime.proceed, collector=collector)
    return EngineResult(matrix, gains=collector.finish() if collector else ())


def _index_questions(model: AuthorModel, member: Settings, questions: Questions) -> Index:
    """Index the model's texts, and further ones behind them; that of its own is cached, unless it is large."""
    place = model.encoder_of(member)
    known = len(model.texts[place])
    if model.characters > MAX_CACHED:
        return index_texts(questions.texts, member.order)
    name = f"numbering {place} {member.order}"
    if name not in model.cache:
        symbols = len(model.encoders[place].alphabet)
        model.cache[name] = number_texts(questions.texts[:known], member.order, symbols)
    numbering: Numbering = model.cache[name]
    return extend_index(numbering, questions.texts[known:])


def make_questions(model: AuthorModel, member: Settings, own: Sequence[int], new: Sequence[Symbols]) -> Questions:
    """Make authors heads, and some of their texts and new ones documents. A new text that is known is the known one."""
    place = model.encoder_of(member)
    known = model.texts[place]
    number_of = {text.tobytes(): number for number, text in enumerate(known)}
    texts, documents = list(known), [(number,) for number in own]
    for text in new:
        number = number_of.setdefault(text.tobytes(), len(texts))
        if number == len(texts):
            texts.append(text)
        documents.append((number,))
    heads = tuple(tuple(model.texts_of(author)) for author in range(len(model.authors)))
    return Questions(model.encoders[place].alphabet, tuple(texts), heads, tuple(documents), (), leave_one_out=True)


def sample_texts(model: AuthorModel, most: int) -> list[int]:
    """Return the numbers of at most so many texts, evenly from each author; it depends on the texts alone."""

    def digest(number: int) -> bytes:
        return hashlib.sha256(model.texts[0][number].tobytes()).digest()

    by_author = [sorted(model.texts_of(author), key=digest) for author in range(len(model.authors))]
    rounds = [[own[turn] for own in by_author if turn < len(own)] for turn in range(max(map(len, by_author)))]
    return [number for each in rounds for number in sorted(each, key=digest)][:most]


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
