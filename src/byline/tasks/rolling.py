"""Rolling attribution: who is likely to have written each window of a long text, and where the author changes.

Each window is attributed by itself. The Viterbi algorithm then finds the most probable path through the authors for the
whole text, in which a change of author costs as much as it is improbable. Windows overlap, so each counts only as much
as what is new in it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import compress
from typing import Any

import numpy as np

from byline.author_models.model import AuthorModel, encode_texts, require_readable
from byline.corpora.answers import to_frame
from byline.corpora.documents import Document
from byline.engines.matrix import Table
from byline.engines.protocol import Runtime
from byline.errors import SettingsError, TooLittleText
from byline.tasks.attribute import (
    Attribution,
    TextCautions,
    find_text_cautions,
    log_cautions,
    probability_table,
    rank_authors,
)
from byline.text.encoder import SHORTEST

WINDOW, STEP = 3_000, 1_000
"""Characters of a window, and between the beginnings of two windows."""
MIN_WINDOW = 200
CHANGES = 0.1
"""Prior probability that the author changes at a step."""
STANDS_OUT = 0.5
"""The author of a stretch who is less probable than this does not stand out from the others."""
MAX_WINDOWS = 5_000


@dataclass(frozen=True)
class RollingWindow:
    """A window of the text, in characters, and who is likely to have written it."""

    begin: int
    end: int
    attribution: Attribution


@dataclass(frozen=True)
class AuthorStretch:
    """A part of the text by one author, as the whole text suggests."""

    begin: int
    end: int
    author: str
    probability: float
    """The author's mean probability over the windows of the stretch."""

    @property
    def stands_out(self) -> bool:
        """Whether the author is more probable than all others together."""
        return self.probability >= STANDS_OUT


@dataclass(frozen=True)
class Rolling:
    """The windows of a text with their likely authors, and the stretches that they make up."""

    document: str
    passages: tuple[RollingWindow, ...]
    stretches: tuple[AuthorStretch, ...]
    cautions: TextCautions = ()
    """Reasons not to trust it: characters unknown to the model, passages that it has learned."""

    @property
    def changes(self) -> tuple[int, ...]:
        """The characters at which the author seems to change."""
        return tuple(stretch.begin for stretch in self.stretches[1:])

    @property
    def dissenting(self) -> int:
        """The number of windows whose own likely author is not that of the stretch that holds their middle."""
        count = 0
        for passage in self.passages:
            middle = (passage.begin + passage.end) / 2
            own = next(each.author for each in self.stretches if middle <= each.end)
            count += passage.attribution.author != own
        return count

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as `byline rolling --json` prints them."""
        return {
            "document": self.document,
            "cautions": list(self.cautions),
            "changes": list(self.changes),
            "stretches": [asdict(stretch) for stretch in self.stretches],
            "passages": [
                {
                    "begin": passage.begin,
                    "end": passage.end,
                    "author": passage.attribution.author,
                    "probability": passage.attribution.probability,
                    "ranking": [
                        {"author": each.author, "probability": each.probability} for each in passage.attribution.ranking
                    ],
                }
                for passage in self.passages
            ],
        }

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with a row for each window and author, the most probable first."""
        columns = ("begin", "end", "rank", "author", "probability")
        rows = [
            (passage.begin, passage.end, rank, each.author, each.probability)
            for passage in self.passages
            for rank, each in enumerate(passage.attribution.ranking, start=1)
        ]
        return to_frame([dict(zip(columns, row, strict=True)) for row in rows], columns)


def roll(
    model: AuthorModel,
    document: Document,
    window: int = WINDOW,
    step: int = STEP,
    changes: float = CHANGES,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
) -> Rolling:
    """Attribute windows of a text to the model's authors, and join them into stretches; blank windows are left out.

    Raises CorpusError if most characters of the text are unknown to the model. A text with many unknown characters, or
    one that shares passages with texts that the model has learned, gets cautions, which are also logged.
    """
    begins = _window_begins(document, window, step)
    if not 0 < changes < 1:
        raise SettingsError(f"must be more than 0 and less than 1, got {changes}", where="changes")
    pieces = [document.text[begin : begin + window] for begin in begins]
    encoded = encode_texts(model, pieces)
    left = [min(map(len, views)) >= SHORTEST for views in zip(*encoded, strict=True)]
    if not any(left):
        remedy = "Give a text in the language of the model"
        raise TooLittleText("hardly any character is known to the model", where=document.name, remedy=remedy)
    require_readable(model, [document])
    named = [Document(f"{document.name}:{begin}", piece) for begin, piece in zip(begins, pieces, strict=True)]
    begins, named = list(compress(begins, left)), list(compress(named, left))
    found = rank_authors(model, named, [list(compress(texts, left)) for texts in encoded], 0, runtime)
    (cautions,) = find_text_cautions(model, [document], leave_out=False)
    log_cautions([document], [cautions])
    passages = tuple(RollingWindow(begin, begin + window, each) for begin, each in zip(begins, found, strict=True))
    chances = probability_table(found, model.authors)
    path = most_probable_path(chances, step / window, changes)
    return Rolling(document.name, passages, _stretches(model, passages, chances, path, len(document.text)), cautions)


def _window_begins(document: Document, window: int, step: int) -> list[int]:
    """Return the first characters of the windows, the last of which ends with the text."""
    if window < MIN_WINDOW:
        raise SettingsError(f"must be {MIN_WINDOW} or more, got {window}", where="window")
    if not 1 <= step <= window:
        raise SettingsError(f"must be from 1 to {window}, the length of a window, got {step}", where="step")
    length = len(document.text)
    if length < window:
        what = f"{length:,} characters, fewer than a window of {window:,}"
        raise TooLittleText(what, where=document.name, remedy="Choose a smaller window with {window}")
    begins = list(range(0, length - window + 1, step))
    if begins[-1] + window < length:
        begins.append(length - window)
    if len(begins) > MAX_WINDOWS:
        what = f"{len(begins):,} windows, {MAX_WINDOWS:,} at most"
        raise SettingsError(what, where=document.name, remedy="Choose a larger step with {step}")
    return begins


def most_probable_path(chances: Table, share: float, changes: float) -> list[int]:
    """Return the authors of the windows on the most probable path; each window counts the share that is new in it.

    All changes cost the same, so an author is entered from the best of the others: a step takes time proportional to
    the number of authors, not to its square.
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
    model: AuthorModel, passages: tuple[RollingWindow, ...], chances: Table, path: list[int], length: int
) -> tuple[AuthorStretch, ...]:
    """Join windows by one author; a change is half-way between the middles of the windows before and after it."""
    stretches: list[AuthorStretch] = []
    middles = [(passage.begin + passage.end) / 2 for passage in passages]
    first = 0
    for number in range(1, len(path) + 1):
        if number < len(path) and path[number] == path[first]:
            continue
        begin = 0 if first == 0 else round((middles[first - 1] + middles[first]) / 2)
        end = length if number == len(path) else round((middles[number - 1] + middles[number]) / 2)
        mean = float(chances[first:number, path[first]].mean())
        stretches.append(AuthorStretch(begin, end, model.authors[path[first]], mean))
        first = number
    return tuple(stretches)
