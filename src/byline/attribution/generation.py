"""Text from a head: a window into what it learnt. It is nobody's text, and proves nothing."""

from __future__ import annotations

import unicodedata
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from byline.alphabet import Symbols
from byline.attribution.model import AuthorModel
from byline.errors import SettingsError
from byline.network import ACTIVATIONS, predict, run
from byline.normalise import CAPITAL

LENGTH = 500
MOST_LENGTH = 100_000
HOTTEST = 10
BACKGROUND = 300_000
"""Characters by the other authors that an n-gram head falls back on, where its own texts have nothing."""

Chances = NDArray[np.float64]
Predictor = Callable[[Sequence[int]], Chances]
"""Told which symbols came since it was last asked: the chances of each to come next."""


def generate(model: AuthorModel, author: str, length: int = LENGTH, seed: int = 0, temperature: float = 1.0) -> str:
    """So many characters as an author's head would go on, capitals and accents restored.

    Drawn from the network, where the model has one, or from the n-grams. A lower temperature keeps to what is usual.
    """
    if author not in model.authors:
        near = ", ".join(model.authors[:10])
        raise SettingsError(f"no author is named {author!r}; there are {near}{' ...' * (len(model.authors) > 10)}")
    if not 1 <= length <= MOST_LENGTH:
        raise SettingsError(f"length must be from 1 to {MOST_LENGTH:,}, got {length}")
    if not 0 < temperature <= HOTTEST:
        raise SettingsError(f"temperature must be more than 0 and at the most {HOTTEST}, got {temperature}")
    if seed < 0:
        raise SettingsError(f"seed must be 0 or more, got {seed}")
    number = next(
        (
            number
            for engine in ("rnn", "ngram")
            for number, member in enumerate(model.members)
            if member.engine == engine and member.mask == "none" and member.direction == "forward"
        ),
        None,
    )
    if number is None:
        raise SettingsError(
            "the model has no member that predicts characters forward;"
            " train it with engine ngram or rnn too (--engines)"
        )
    head = model.authors.index(author)
    view = model.view_of(model.members[number])
    predictor = _network(model, number, head) if number in model.networks else _ngrams(model, number, head)
    rng = np.random.default_rng([seed, head])
    symbols = model.views[view].alphabet.symbols
    new = model.texts[view][model.texts_of(head)[0]][:1].tolist()
    written: list[int] = []
    shown = 0
    while shown < length and len(written) < 4 * length + 100:  # marks show on the letters beside them
        chances = np.asarray(predictor(new), np.float64)
        chances = (chances / chances.max()) ** (1 / temperature)  # the greatest stays 1, however low it is
        new = [int(rng.choice(len(chances), p=chances / chances.sum()))]
        written += new
        shown += not (symbols[written[-1]] == CAPITAL or unicodedata.combining(symbols[written[-1]]))
    return restore("".join(symbols[symbol] for symbol in written))[:length]


def restore(text: str) -> str:
    """Marked letters as capitals, accents on their letters."""
    pieces = text.split(CAPITAL)
    whole = pieces[0] + "".join(piece[:1].upper() + piece[1:] for piece in pieces[1:])
    return unicodedata.normalize("NFC", whole)


def _ngrams(model: AuthorModel, number: int, head: int) -> Predictor:
    """Counts of the author's n-grams, interpolated as in ngrams.py, on those of some texts by the others."""
    member = model.members[number]
    place = model.view_of(member)
    size = len(model.views[place].alphabet)
    own = [model.texts[place][text] for text in model.texts_of(head)]
    others: list[Symbols] = []
    length = 0
    for text, owner in zip(model.texts[place], model.owners, strict=True):
        if owner != head and length < BACKGROUND:
            others.append(text)
            length += len(text)
    tables = [_count(texts, member.order) for texts in (others, own)]
    last: deque[int] = deque(maxlen=member.order - 1)  # no n-gram reaches further back

    def chances_after(new: Sequence[int]) -> Chances:
        last.extend(new)
        before = tuple(last)
        chances: Chances = np.full(size, 1 / size)
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

    return chances_after


def _count(texts: Sequence[Symbols], order: int) -> dict[tuple[int, ...], Counter[int]]:
    found: defaultdict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
    for text in texts:
        symbols = text.tolist()
        for place, symbol in enumerate(symbols):
            for width in range(min(order, place + 1)):
                found[tuple(symbols[place - width : place])][symbol] += 1
    return dict(found)


def _network(model: AuthorModel, number: int, head: int) -> Predictor:
    """The recurrent state is carried on from character to character."""
    network = model.networks[number]
    hidden, activation = network.settings.hidden, ACTIVATIONS[network.settings.activation]
    state = np.zeros(hidden, np.float32)
    none = np.zeros((1, hidden), np.float32)

    def chances_after(new: Sequence[int]) -> Chances:
        nonlocal state
        for symbol in new:
            state = run(network.weights, np.array([symbol], np.int32), state, none, activation)[-1]
        chances: Chances = np.exp(predict(network.weights, state[None], head)[0].astype(np.float64))
        return chances

    return chances_after
