"""Text generation: what an author's head has learned, made visible. It is not the author's text, and proves nothing."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from byline.author_models.evidence import restore
from byline.author_models.model import AuthorModel
from byline.engines.rnn.network import ACTIVATIONS, predict, run
from byline.errors import SettingsError
from byline.text.encoder import Symbols
from byline.text.normalize import CAPITAL

LENGTH = 500
MAX_LENGTH = 100_000
MAX_TEMPERATURE = 10
BACKGROUND = 300_000
"""Characters by other authors that an n-gram head falls back on for contexts that its own texts lack."""

Probabilities = NDArray[np.float64]
Predictor = Callable[[Sequence[int]], Probabilities]
"""Given the symbols since the last call, returns the probability of each symbol to come next."""


def generate(model: AuthorModel, author: str, length: int = LENGTH, seed: int = 0, temperature: float = 1.0) -> str:
    """Generate text from an author's head, with capitals and accents.

    It is drawn from the model's network, or, without one, from n-grams. At a lower temperature probable characters are
    drawn more often.
    """
    if author not in model.authors:
        more = " ..." * (len(model.authors) > 10)
        remedy = f"Choose among {', '.join(model.authors[:10])}{more}"
        raise SettingsError(f"no author has the name {author!r}", where="author", remedy=remedy)
    if not 1 <= length <= MAX_LENGTH:
        raise SettingsError(f"must be from 1 to {MAX_LENGTH:,}, got {length}", where="length")
    if not 0 < temperature <= MAX_TEMPERATURE:
        raise SettingsError(
            f"must be more than 0 and at most {MAX_TEMPERATURE}, got {temperature}", where="temperature"
        )
    if seed < 0:
        raise SettingsError(f"must be 0 or more, got {seed}", where="seed")
    number = _choose_member(model)
    head = model.authors.index(author)
    encoder = model.encoder_of(model.members[number])
    predictor = _network(model, number, head) if number in model.networks else _ngrams(model, number, head)
    rng = np.random.default_rng([seed, head])
    symbols = model.encoders[encoder].alphabet.symbols
    new = model.texts[encoder][model.texts_of(head)[0]][:1].tolist()
    written: list[int] = []
    shown = 0
    while shown < length and len(written) < 4 * length + 100:  # marks become part of the letters beside them
        chances = np.asarray(predictor(new), np.float64)
        chances = (chances / chances.max()) ** (1 / temperature)  # the greatest stays 1 at any temperature
        new = [int(rng.choice(len(chances), p=chances / chances.sum()))]
        written += new
        shown += not (symbols[written[-1]] == CAPITAL or unicodedata.combining(symbols[written[-1]]))
    return restore("".join(symbols[symbol] for symbol in written))[:length]


def _choose_member(model: AuthorModel) -> int:
    """Return the first network that predicts plain characters forward, or else the first n-gram member that does."""
    for engine in ("rnn", "ngram"):
        for number, member in enumerate(model.members):
            if (member.engine, member.mask, member.direction) == (engine, "none", "forward"):
                return number
    raise SettingsError(
        "the model has no member that predicts characters forward",
        remedy="Train it with the engine ngram or rnn too ({engines})",
    )


def _ngrams(model: AuthorModel, number: int, head: int) -> Predictor:
    """Predict from the author's n-grams, interpolated (Witten-Bell) with those of some texts by the others."""
    member = model.members[number]
    place = model.encoder_of(member)
    size = len(model.encoders[place].alphabet)
    own = [model.texts[place][text] for text in model.texts_of(head)]
    others: list[Symbols] = []
    length = 0
    for text, owner in zip(model.texts[place], model.owners, strict=True):
        if owner != head and length < BACKGROUND:
            others.append(text)
            length += len(text)
    tables = [_count(texts, member.order) for texts in (others, own)]
    context: deque[int] = deque(maxlen=member.order - 1)  # no n-gram reaches further back

    def predict_next(new: Sequence[int]) -> Probabilities:
        context.extend(new)
        before = tuple(context)
        chances: Probabilities = np.full(size, 1 / size)
        for table in tables:
            for width in range(len(before) + 1):
                counts = table.get(before[len(before) - width :])
                if counts is None:
                    break
                kinds, total = len(counts), sum(counts.values())
                chances = chances * (kinds / (total + kinds))
                for symbol, count in counts.items():
                    chances[symbol] += count / (total + kinds)
        return chances

    return predict_next


def _count(texts: Sequence[Symbols], order: int) -> dict[tuple[int, ...], Counter[int]]:
    found: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for text in texts:
        symbols = text.tolist()
        for place, symbol in enumerate(symbols):
            for width in range(min(order, place + 1)):
                found[tuple(symbols[place - width : place])][symbol] += 1
    return dict(found)


def _network(model: AuthorModel, number: int, head: int) -> Predictor:
    """Predict from the network, whose recurrent state is carried on from character to character."""
    network = model.networks[number]
    hidden, activation = network.settings.hidden, ACTIVATIONS[network.settings.activation]
    state = np.zeros(hidden, np.float32)
    none = np.zeros((1, hidden), np.float32)

    def predict_next(new: Sequence[int]) -> Probabilities:
        nonlocal state
        for symbol in new:
            state = run(network.weights, np.array([symbol], np.int32), state, none, activation)[-1]
        chances: Probabilities = np.exp(predict(network.weights, state[None], head)[0].astype(np.float64))
        return chances

    return predict_next
