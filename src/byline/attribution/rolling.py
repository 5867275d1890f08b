"""Who seems to write each passage along a long text, and where the hand changes.

Each window of the text is attributed by itself. A path through the authors is then found for the whole text (Viterbi):
the one that makes the windows most probable, where every change of author costs as much as it is improbable. Windows
overlap, so each counts only as much as what is new in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from byline.attribution.attributing import Attribution, rank_authors
from byline.attribution.cautions import Cautions, find_cautions, require_readable, say_cautions
from byline.attribution.model import AuthorModel, encode_texts
from byline.documents import Document
from byline.engines import Watch
from byline.errors import SettingsError, TooLittleText
from byline.frames import to_frame
from byline.scoring import Table
from byline.views import SHORTEST

WINDOW, STEP = 3_000, 1_000
"""Characters of a window, and between the beginnings of two."""
LEAST_WINDOW = 200
CHANGES = 0.1
"""How probable it is that the next step is by another author."""
STANDS_OUT = 0.5
"""A stretch's author who is less probable than this does not stand out from the others."""
MOST_WINDOWS = 5_000


@dataclass(frozen=True)
class Passage:
    """A window of the text, in characters, and who seems to have written it."""

    begin: int
    end: int
    attribution: Attribution


@dataclass(frozen=True)
class Stretch:
    """A part of the text by one author, as the whole text suggests."""

    begin: int
    end: int
    author: str
    probability: float
    """Of this author, the mean over the stretch's windows."""

    @property
    def stands_out(self) -> bool:
        """Whether the author is more probable than all others together; who is not can't be named without a reserve."""
        return self.probability >= STANDS_OUT


@dataclass(frozen=True)
class Rolling:
    """A text seen window by window."""

    document: str
    passages: tuple[Passage, ...]
    stretches: tuple[Stretch, ...]
    cautions: Cautions = ()
    """What speaks against believing it: letters that the model lacks, passages that it has learnt."""

    @property
    def changes(self) -> tuple[int, ...]:
        """The characters at which the hand seems to change."""
        return tuple(stretch.begin for stretch in self.stretches[1:])

    @property
    def dissenting(self) -> int:
        """Passages that by themselves look like another author's than the stretch's that holds their middle."""
        count = 0
        for passage in self.passages:
            middle = (passage.begin + passage.end) / 2
            own = next(each.author for each in self.stretches if middle <= each.end)
            count += passage.attribution.author != own
        return count

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with a row for each passage and author, the most probable first."""
        rows = [
            {
                "begin": passage.begin,
                "end": passage.end,
                "rank": rank,
                "author": each.author,
                "probability": each.probability,
            }
            for passage in self.passages
            for rank, each in enumerate(passage.attribution.ranking, start=1)
        ]
        return to_frame(rows, ("begin", "end", "rank", "author", "probability"))


def roll(
    model: AuthorModel,
    document: Document,
    window: int = WINDOW,
    step: int = STEP,
    changes: float = CHANGES,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> Rolling:
    """Windows of a text attributed to the model's authors, and the stretches that they make up; blank ones are none.

    A text whose letters the model does not know is refused. One that loses many of them, or that shares passages with
    what the model has learnt, is named in a warning and in the result's cautions.
    """
    if window < LEAST_WINDOW:
        raise SettingsError(f"a window must have {LEAST_WINDOW} characters or more, got {window}")
    if not 1 <= step <= window:
        raise SettingsError(f"a step must have from 1 to {window} characters, those of a window, got {step}")
    if not 0 < changes < 1:
        raise SettingsError(f"the probability of a change must be more than 0 and less than 1, got {changes}")
    length = len(document.text)
    if length < window:
        raise TooLittleText(
            f"{document.name}: {length:,} characters, fewer than a window of {window:,};"
            " choose a smaller window (--window)"
        )
    begins = list(range(0, length - window + 1, step))
    if begins[-1] + window < length:
        begins.append(length - window)
    if len(begins) > MOST_WINDOWS:
        raise SettingsError(
            f"{document.name}: {len(begins):,} windows, {MOST_WINDOWS:,} at the most; choose a larger step (--step)"
        )
    pieces = [document.text[begin : begin + window] for begin in begins]
    left = [min(map(len, seen)) >= SHORTEST for seen in zip(*encode_texts(model, pieces), strict=True)]
    if not any(left):
        raise TooLittleText(f"{document.name}: hardly any character that the model knows; give a text of its language")
    require_readable(model, [document])
    begins, pieces = list(compress(begins, left)), list(compress(pieces, left))
    named = [Document(f"{document.name}:{begin}", piece) for begin, piece in zip(begins, pieces, strict=True)]
    found = rank_authors(model, named, 0, watch)
    (cautions,) = find_cautions(model, [document], aside=False)
    say_cautions([document], [cautions])
    passages = tuple(Passage(begin, begin + window, each) for begin, each in zip(begins, found, strict=True))
    chances = chance_table(found, model.authors)
    path = most_probable_path(chances, step / window, changes)
    return Rolling(document.name, passages, _stretches(model, passages, chances, path, length), cautions)


def chance_table(found: Sequence[Attribution], authors: Sequence[str]) -> Table:
    """(windows, authors): how probable each author is."""
    place_of = {author: place for place, author in enumerate(authors)}
    chances: Table = np.zeros((len(found), len(authors)))
    for row, each in zip(chances, found, strict=True):
        for candidate in each.ranking:
            row[place_of[candidate.author]] = candidate.probability
    return chances


def most_probable_path(chances: Table, share: float, changes: float) -> list[int]:
    """The authors of the windows, taken together.

    All changes are alike, so whoever does not stay comes from the best of the others: a step costs as much as there
    are authors, not its square.
    """
    logs = np.log(np.maximum(chances, 1e-12)) * share
    count = chances.shape[1]
    stay, go = np.log(1 - changes), np.log(changes / max(count - 1, 1))
    best, back = logs[0], np.zeros(chances.shape, np.int64)
    everyone = np.arange(count)
    for number in range(1, len(logs)):
        second, first = np.argpartition(best, count - 2)[-2:] if count > 1 else (0, 0)
        others = np.where(everyone == first, second, first)  # the best author who is not this one
        staying, coming = best + stay, best[others] + go
        back[number] = np.where(staying >= coming, everyone, others)
        best = np.maximum(staying, coming) + logs[number]
    path = [int(best.argmax())]
    for number in range(len(logs) - 1, 0, -1):
        path.append(int(back[number, path[-1]]))
    return path[::-1]


def _stretches(
    model: AuthorModel, passages: tuple[Passage, ...], chances: Table, path: list[int], length: int
) -> tuple[Stretch, ...]:
    """Windows in a row by one author; a change is half-way between the middles of the windows before and after it."""
    stretches: list[Stretch] = []
    middles = [(passage.begin + passage.end) / 2 for passage in passages]
    first = 0
    for number in range(1, len(path) + 1):
        if number < len(path) and path[number] == path[first]:
            continue
        begin = 0 if first == 0 else round((middles[first - 1] + middles[first]) / 2)
        end = length if number == len(path) else round((middles[number - 1] + middles[number]) / 2)
        mean = float(chances[first:number, path[first]].mean())
        stretches.append(Stretch(begin, end, model.authors[path[first]], mean))
        first = number
    return tuple(stretches)
