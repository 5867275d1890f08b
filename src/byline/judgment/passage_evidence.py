"""Locate the evidence in a text: its words, its strongest passages and a curve along it, with the members' agreement.

Everything is computed from gains (engines/matrix.py): the bits by which each character favors the same author, by
member. A word's bits are those of its characters and of what follows up to the next word, so words add up to the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from byline.text.normalize import UNSEGMENTED

Gains = NDArray[np.float64]
"""(members, characters): bits."""

LONGEST_WORD = 40
"""Longer sequences of characters are split."""
WORD = re.compile(rf"[{UNSEGMENTED}]|[^\s{UNSEGMENTED}]{{1,{LONGEST_WORD}}}")
"""In scripts without spaces between words, each character counts as a word."""
PASSAGE = 180
"""The greatest number of characters in a passage: two or three lines."""
MOST_PASSAGES = 5
"""The number of passages that are shown for the same author, and against."""
CHANCE = 0.5
"""More than this share of the members must favor a passage's side."""
SMOOTH = 150
"""The standard deviation, in characters, of the kernel that smooths the curve."""
POINTS = 240
"""The greatest number of points of a curve."""
ORDER = 5
"""The greatest number of characters before the predicted one."""
GUESSES = 3


class WeighedSpan(NamedTuple):
    """A word or passage of the original, with its evidence."""

    begin: int
    end: int
    bits: float
    """The mean over members; positive bits favor the same author."""
    agreement: float
    """The share of members on the same side."""


def weigh_words(text: str, gains: Gains) -> tuple[WeighedSpan, ...]:
    """Return the words of a text with their evidence."""
    spans = [match.span() for match in WORD.finditer(text)]
    if not spans:
        return ()
    borders = [0, *(begin for begin, _ in spans[1:]), len(text)]
    sums = np.add.reduceat(np.concatenate([gains, np.zeros((len(gains), 1))], axis=1), borders[:-1], axis=1)
    means = sums.mean(axis=0)
    agreed = (np.sign(sums) == np.sign(means)).mean(axis=0)
    return tuple(
        WeighedSpan(begin, end, bits, share)
        for (begin, end), bits, share in zip(spans, means.tolist(), agreed.tolist(), strict=True)
    )


def find_passages(
    text: str, gains: Gains, most: int = MOST_PASSAGES, words: Sequence[WeighedSpan] | None = None
) -> tuple[WeighedSpan, ...]:
    """Return the strongest passages for the same author, then the strongest against.

    Stronger passages are taken first, whichever side they favor. None overlaps another, and more than half of the
    members agree on each. The first passages do not depend on `most`. `words` are the text's, if already weighed.
    """
    words = weigh_words(text, gains) if words is None else words
    if not words:
        return ()
    ends: list[int] = []  # the word after the last of each word's window
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
    sides: dict[bool, list[WeighedSpan]] = {True: [], False: []}
    taken = np.zeros(len(words), np.bool_)
    for first in able[np.argsort(-np.abs(means[able]), kind="stable")].tolist():
        last, side = ends[first], sides[means[first] > 0]
        if taken[first] or taken[last - 1]:  # no window lies within another
            continue
        taken[first:last] = True
        if len(side) < most:
            span = words[first].begin, words[last - 1].end
            side.append(WeighedSpan(*span, float(means[first]), float(agreed[first])))
        elif all(len(each) == most for each in sides.values()):
            break
    return (*sides[True], *sides[False])


class HasBits(Protocol):
    """Anything with bits for or against the same author."""

    @property
    def bits(self) -> float: ...  # noqa: D102


Chosen = TypeVar("Chosen", bound=HasBits)


def choose_strongest(passages: Iterable[Chosen], most: int = MOST_PASSAGES) -> list[Chosen]:
    """Return the strongest passages of several texts for the same author, then the strongest against."""
    ordered = sorted(passages, key=lambda each: -abs(each.bits))
    supporting, opposing = ([each for each in ordered if side * each.bits > 0] for side in (1, -1))
    return [*supporting[:most], *opposing[:most]]


def smooth_curve(gains: Gains) -> tuple[tuple[int, float], ...]:
    """Return the smoothed bits per character along a text: positions and values."""
    values = gains.mean(axis=0)
    if not len(values):
        return ()
    width = min(SMOOTH, max(1, len(values) // 10))
    kernel = np.exp(-0.5 * (np.arange(-3 * width, 3 * width + 1) / width) ** 2)
    smooth = _convolve(values, kernel) / _convolve(np.ones(len(values)), kernel)
    positions = np.unique(np.linspace(0, len(values) - 1, min(POINTS, len(values))).round().astype(np.int64))
    return tuple((int(position), float(smooth[position])) for position in positions)


def _convolve(values: Gains, kernel: Gains) -> Gains:
    from scipy.signal import fftconvolve  # slow to import

    half = len(kernel) // 2
    found: Gains = fftconvolve(values, kernel)[half : half + len(values)]
    return found


class Guesser:
    """Predict the next character from the n-grams of some texts, with Witten-Bell interpolation.

    It shows a reader what one side's texts would continue with. It is not a member and knows no other authors.
    """

    def __init__(self, texts: Iterable[str], order: int = ORDER) -> None:
        whole = list(texts)
        self.order = order
        self._signs = sorted(set().union(*whole))
        # by length of the context: counts of each continuation, of all, and of different ones
        self._counts = [Counter(_ngrams(whole, length + 1)) for length in range(order + 1)]
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
        """Return the most probable next characters with their probabilities."""
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
        for context in seen[::-1][:2]:  # shorter contexts hardly change which are most probable
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


def _ngrams(texts: Iterable[str], length: int) -> Iterator[str]:
    """Yield all n-grams of a length."""
    return (text[begin : begin + length] for text in texts for begin in range(len(text) - length + 1))


def strongest_characters(gains: Gains, words: Sequence[WeighedSpan]) -> list[int]:
    """Return the position of the strongest character of each word, on either side."""
    sizes = np.abs(gains.mean(axis=0))
    return [word.begin + int(sizes[word.begin : word.end].argmax()) for word in words]


def color_scale(words: Sequence[WeighedSpan]) -> float:
    """Return the bits at which a word has its full color: few words have more."""
    return float(np.quantile([abs(word.bits) for word in words], 0.95)) if words else 1.0
