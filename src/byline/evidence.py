"""What speaks for and against in a text: words, passages, a curve along it, and how far members agree.

All of it comes from gains: what each character of the original speaks for the same author, in bits, by member
(gains.py, testimony.py). Bits of a word are those of its characters and of what follows up to the next word, so that
words add up to the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from byline.masking import UNPARTED

Gains = NDArray[np.float64]
"""(members, characters): bits."""

LONGEST_WORD = 40
"""Characters; what has more is no word, and is taken apart."""
WORD = re.compile(rf"[{UNPARTED}]|[^\s{UNPARTED}]{{1,{LONGEST_WORD}}}")
"""Where a script does not part words, a character is one."""
PASSAGE = 180
"""Characters of a passage, about: two or three lines."""
MOST_PASSAGES = 5
"""Passages that are named for the same author, and as many against."""
CHANCE = 0.5
"""The share of members on a passage's side that may be by chance: what stands out has more."""
SMOOTH = 150
"""Characters either side over which the curve is smoothed (the standard deviation of the bell)."""
POINTS = 240
"""Points of a curve, at the most."""
ORDER = 5
"""Characters before the one that is guessed, at the most."""
GUESSES = 3


class Word(NamedTuple):
    """A word of the original, from its first character to the one after its last."""

    begin: int
    end: int
    bits: float
    """The mean over members; more than 0 speaks for the same author."""
    agreement: float
    """The share of members that say the same of it, for or against."""


class Passage(NamedTuple):
    """Words in a row, likewise."""

    begin: int
    end: int
    bits: float
    agreement: float


def weigh_words(text: str, gains: Gains) -> tuple[Word, ...]:
    """The words of a text with what they speak for the same author."""
    spans = [match.span() for match in WORD.finditer(text)]
    if not spans:
        return ()
    borders = [0, *(begin for begin, _ in spans[1:]), len(text)]
    sums = np.add.reduceat(np.concatenate([gains, np.zeros((len(gains), 1))], axis=1), borders[:-1], axis=1)
    means = sums.mean(axis=0)
    agreed = (np.sign(sums) == np.sign(means)).mean(axis=0)
    return tuple(
        Word(begin, end, bits, share)
        for (begin, end), bits, share in zip(spans, means.tolist(), agreed.tolist(), strict=True)
    )


def find_passages(
    text: str, gains: Gains, most: int = MOST_PASSAGES, words: Sequence[Word] | None = None
) -> tuple[Passage, ...]:
    """The passages that stand out: those that speak most for the same author, then those that speak most against.

    Those that say most, whichever way, are taken first; none overlaps another, and more than half of the members are on
    the side of each. Of many passages the first are the same as of few. `words` are those of the text, if they are
    weighed already.
    """
    words = weigh_words(text, gains) if words is None else words
    if not words:
        return ()
    ends: list[int] = []  # of each word's window, the word after its last
    for first, word in enumerate(words):
        last = max(ends[-1] if ends else 0, first + 1)
        while last < len(words) and words[last].end - word.begin <= PASSAGE:
            last += 1
        ends.append(last)
    borders = np.array([*(word.begin for word in words), len(text)])
    totals = np.concatenate([np.zeros((len(gains), 1)), np.cumsum(gains, axis=1)], axis=1)[:, borders]
    sums = totals[:, ends] - totals[:, :-1]  # (members, windows)
    means = sums.mean(axis=0)
    agreed = (np.sign(sums) == np.sign(means)).mean(axis=0)
    able = np.flatnonzero((means != 0) & (agreed > CHANCE))
    sides: dict[bool, list[Passage]] = {True: [], False: []}
    taken = np.zeros(len(words), np.bool_)
    for first in able[np.argsort(-np.abs(means[able]), kind="stable")].tolist():
        last, side = ends[first], sides[means[first] > 0]
        if taken[first] or taken[last - 1]:  # no window lies within another
            continue
        taken[first:last] = True
        if len(side) < most:
            side.append(Passage(words[first].begin, words[last - 1].end, float(means[first]), float(agreed[first])))
        elif all(len(each) == most for each in sides.values()):
            break
    return (*sides[True], *sides[False])


class Speaking(Protocol):
    """Whatever has bits."""

    @property
    def bits(self) -> float: ...  # noqa: D102


Chosen = TypeVar("Chosen", bound=Speaking)


def choose_strongest(passages: Iterable[Chosen], most: int = MOST_PASSAGES) -> list[Chosen]:
    """Of passages of several texts those that say most, for and then against, each side's strongest first."""
    ordered = sorted(passages, key=lambda each: -abs(each.bits))
    supporting, opposing = ([each for each in ordered if side * each.bits > 0] for side in (1, -1))
    return [*supporting[:most], *opposing[:most]]


def smooth_curve(gains: Gains) -> tuple[tuple[int, float], ...]:
    """Bits a character along a text, smoothed: places and values."""
    values = gains.mean(axis=0)
    if not len(values):
        return ()
    width = min(SMOOTH, max(1, len(values) // 10))
    reach = np.arange(-3 * width, 3 * width + 1)
    bell = np.exp(-0.5 * (reach / width) ** 2)
    smooth = _convolve(values, bell) / _convolve(np.ones(len(values)), bell)
    places = np.unique(np.linspace(0, len(values) - 1, min(POINTS, len(values))).round().astype(np.int64))
    return tuple((int(place), float(smooth[place])) for place in places)


def _convolve(values: Gains, bell: Gains) -> Gains:
    from scipy.signal import fftconvolve

    half = len(bell) // 2
    found: Gains = fftconvolve(values, bell)[half : half + len(values)]
    return found


class Guesser:
    """What some texts would go on with: character n-grams of theirs, interpolated (as in ngrams.py), nothing else.

    It is no member: it has seen one side's texts alone, as they are written, and knows nothing of other authors.
    """

    def __init__(self, texts: Iterable[str], order: int = ORDER) -> None:
        whole = list(texts)
        self.order = order
        self._signs = sorted(set().union(*whole))
        # by the length of the context: how often what follows it does, how often anything does, and in how many ways
        self._counts = [Counter(_pieces(whole, length + 1)) for length in range(order + 1)]
        self._totals: list[Counter[str]] = []
        self._kinds: list[Counter[str]] = []
        for counts in self._counts:
            totals: Counter[str] = Counter()
            for gram, count in counts.items():
                totals[gram[:-1]] += count
            self._totals.append(totals)
            self._kinds.append(Counter(gram[:-1] for gram in counts))
        self._found: dict[str, tuple[tuple[str, float], ...]] = {}

    def guess(self, before: str) -> tuple[tuple[str, float], ...]:
        """The likeliest characters after some, with their chances."""
        before = before[-self.order :] if self.order else ""
        if before not in self._found:
            self._found[before] = self._guess(before)
        return self._found[before]

    def _guess(self, before: str) -> tuple[tuple[str, float], ...]:
        contexts = [before[len(before) - length :] for length in range(len(before) + 1)]
        seen = [context for context in contexts if context in self._totals[len(context)]]
        if not seen:
            return ()
        candidates: set[str] = set()
        for context in seen[::-1][:2]:  # what is likeliest after few characters is hardly so after many
            counts = self._counts[len(context)]
            following = [(-counts[context + sign], sign) for sign in self._signs if context + sign in counts]
            candidates |= {sign for _, sign in sorted(following)[:GUESSES]}
        chances = dict.fromkeys(candidates, 1 / len(self._signs))
        for context in seen:
            length = len(context)
            total, kinds = self._totals[length][context], self._kinds[length][context]
            for sign in chances:
                chances[sign] = (self._counts[length][context + sign] + kinds * chances[sign]) / (total + kinds)
        ordered = sorted(chances.items(), key=lambda each: (-each[1], each[0]))
        return tuple(ordered[:GUESSES])


def _pieces(texts: Iterable[str], length: int) -> Iterator[str]:
    """All pieces of so many characters."""
    return (text[place : place + length] for text in texts for place in range(len(text) - length + 1))


def turning_points(gains: Gains, words: Sequence[Word]) -> list[int]:
    """The character of each word that says most, either way."""
    sizes = np.abs(gains.mean(axis=0))
    return [word.begin + int(sizes[word.begin : word.end].argmax()) for word in words]


def scale_of(words: Sequence[Word]) -> float:
    """The bits at which a word has its full colour: few words have more."""
    return float(np.quantile([abs(word.bits) for word in words], 0.95)) if words else 1.0
