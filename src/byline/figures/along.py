"""A rolled text as lines along it: the authors that count, and all others together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from byline.attribution.rolling import Rolling
from byline.scoring import Table

MOST_LINES = 6
"""Authors with a line of their own; more can't be told apart."""
LEAST = 0.1
"""The probability that an author without a stretch must reach somewhere to have one."""


@dataclass(frozen=True)
class Lines:
    """How probable each author is along a text."""

    middles: Table  # (windows,): the middle of each, in characters
    authors: tuple[str, ...]
    """Those with a line of their own: the authors of stretches first, then the most probable ones."""
    chances: Table  # (authors, windows)
    others: Table  # (windows,): of all other authors together
    further: int
    """How many these are."""


def probability_lines(rolling: Rolling, most: int = MOST_LINES) -> Lines:
    """The lines of a rolled text."""
    names = sorted(each.author for each in rolling.passages[0].attribution.ranking)
    found = [{each.author: each.probability for each in passage.attribution.ranking} for passage in rolling.passages]
    chances = np.array([[passage[name] for passage in found] for name in names])  # (all authors, windows)
    spans: dict[str, int] = {}
    for stretch in rolling.stretches:
        spans[stretch.author] = spans.get(stretch.author, 0) + stretch.end - stretch.begin
    means = chances.mean(axis=1)
    order = sorted(range(len(names)), key=lambda number: (-spans.get(names[number], 0), -means[number], names[number]))
    able = [number for number in order if names[number] in spans or chances[number].max() >= LEAST]
    own = able[:most]
    rest = [number for number in order if number not in own]
    middles = np.array([(passage.begin + passage.end) / 2 for passage in rolling.passages])
    others = chances[rest].sum(axis=0) if rest else np.zeros(len(middles))
    return Lines(middles, tuple(names[number] for number in own), chances[own], others, len(rest))
