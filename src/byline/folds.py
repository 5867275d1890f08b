"""Problems that share texts: which belong together, how many are independent, and folds that hold whole groups out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import DisjointSet

from byline.calibration import FoldsBy
from byline.errors import TooLittleText

Flags = NDArray[np.bool_]
Places = NDArray[np.int64]
Values = NDArray[np.float64]

FOLDS = 10


@dataclass(frozen=True)
class Trials:
    """Problems with their scores, the truth, what each weighs and the texts they hold."""

    scores: Values
    same: Flags
    weights: Values
    texts: tuple[frozenset[Hashable], ...]
    """Known and unknown, or whatever is equal for equal texts."""
    unknown: tuple[Hashable, ...]

    def at(self, places: Places) -> Trials:
        """Some of the problems."""
        texts, unknown = (self.texts[place] for place in places), (self.unknown[place] for place in places)
        return Trials(self.scores[places], self.same[places], self.weights[places], tuple(texts), tuple(unknown))

    def independent(self) -> tuple[int, int]:
        """How many yes problems, and how many no problems, can be picked of which no two share a text."""
        yes, no = (self.at(np.flatnonzero(kind)).texts for kind in (self.same, ~self.same))
        return count_independent(yes), count_independent(no)


def text_groups(keys: Sequence[Collection[Hashable]]) -> list[int]:
    """Each problem's group, numbered from 0: problems that share a text, be it by way of others, are together."""
    joined = DisjointSet(range(len(keys)))
    first: dict[Hashable, int] = {}
    for place, held in enumerate(keys):
        for key in held:
            joined.merge(place, first.setdefault(key, place))
    numbers: dict[int, int] = {}
    return [numbers.setdefault(joined[place], len(numbers)) for place in range(len(keys))]


def count_independent(texts: Sequence[Collection[Hashable]]) -> int:
    """How many problems can be picked of which no two share a text; those with the rarest texts are picked first."""
    uses = Counter(key for held in texts for key in held)
    taken: set[Hashable] = set()
    count = 0
    for held in sorted(texts, key=lambda held: sum(uses[key] for key in held)):
        if taken.isdisjoint(held):
            taken.update(held)
            count += 1
    return count


def fold_groups(trials: Trials) -> tuple[list[int], FoldsBy]:
    """What a fold takes whole: problems that share any text; if over half of the yes or no do, the unknown text's."""
    groups = text_groups(trials.texts)
    numbers = np.array(groups)
    if all(np.bincount(numbers[kind]).max() <= kind.sum() / 2 for kind in (trials.same, ~trials.same)):
        return groups, "texts"
    return text_groups([{key} for key in trials.unknown]), "unknown"


def deal_folds(groups: Sequence[int], same: Flags) -> Iterator[tuple[Places, Places]]:
    """For each fold the places to fit on and those to hold out; groups are dealt whole, the large ones first."""
    sizes = np.array([np.bincount(groups, weights=kind) for kind in (same, ~same)]).T  # (groups, 2)
    folds = np.zeros((min(FOLDS, len(sizes)), 2))
    fold_of = np.zeros(len(sizes), np.int64)
    for group in np.argsort(-sizes.sum(axis=1), kind="stable"):
        fold_of[group] = np.argmin(folds @ sizes[group])  # where there is the least of what the group brings
        folds[fold_of[group]] += sizes[group]
    if (folds.sum(axis=0) - folds).min() == 0:
        raise TooLittleText(
            "too many problems share texts: once some are held out, only yes or only no is left to fit on;"
            " give more problems, of other texts"
        )
    of_problem = fold_of[np.asarray(groups)]
    for fold in range(len(folds)):
        yield np.flatnonzero(of_problem != fold), np.flatnonzero(of_problem == fold)
