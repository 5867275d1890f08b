"""Passages that texts share: a quotation, a chapter kept twice, a heading that a web page puts above everything.

Two texts share a passage where a window of PASSAGE characters is the same in both. Each window is marked by the least
hash of the shorter windows in it, so that equal windows have equal marks and a text has few different ones. Only
windows whose mark occurs in more than one text are looked at, and what their hashes say is checked in the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from byline.normalise import cut_runs, normalise

PASSAGE = 100
"""Characters after normalising. Two writers hardly ever hit upon as many in the same order."""
WINDOW = 50
"""Characters of the shorter windows, whose hashes mark the longer ones."""
FEW_SHARE = 5
"""A passage that no more texts than this, or a tenth of them, share makes them depend on each other."""
VARIED = 10
"""A passage with fewer different characters than this is a line of dots, not language."""

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.intp]
Windows = tuple[Numbers, Numbers, Numbers]
"""Which windows are the same one, the numbers of their texts, their places."""

_BASE = 0x9E3779B97F4A7C15  # odd, so that it can be divided by
_INVERSE = pow(_BASE, -1, 2**64)


class Stretch(NamedTuple):
    """A part of a text, by places of its characters."""

    begin: int
    end: int


@dataclass(frozen=True)
class Shared:
    """A text shares a passage with another one."""

    other: int
    """The number of the other text."""
    passage: str
    """The first PASSAGE characters of it."""


def plain_form(text: str, language: str) -> str:
    """A text as texts are compared: normalised by the language's rules, white space collapsed, long runs cut."""
    return cut_runs(normalise(text, language))


def find_borrowed(texts: Sequence[str], owners: Sequence[int]) -> dict[int, Shared]:
    """The texts that share a passage with an earlier one of another owner, and with which; those don't count further.

    The texts are in their plain form.
    """
    groups, number_of, place_of = _common_windows(texts)
    count = int(groups.max()) + 1 if len(groups) else 0
    first = np.full(count, -1)  # where each window was first met, among the texts that count
    owned_by = np.asarray(owners, dtype=np.intp)
    bounds = np.searchsorted(number_of, np.arange(len(texts) + 1))
    found: dict[int, Shared] = {}
    for number in range(len(texts)):
        mine = np.arange(bounds[number], bounds[number + 1])
        met = first[groups[mine]]
        strange = (met >= 0) & (owned_by[number_of[met]] != owned_by[number])
        for here, there in zip(mine[strange], met[strange], strict=True):
            passage = _window(texts[number], place_of[here])
            if passage and passage == _window(texts[number_of[there]], place_of[there]):
                found[number] = Shared(int(number_of[there]), passage)
                break
        else:
            new = mine[met < 0]
            first[groups[new]] = new
    return found


def find_related(texts: Sequence[str], others: Sequence[str]) -> list[frozenset[int]]:
    """For each text, the numbers of the other ones with which it shares a passage; all are in their plain form."""
    border = len(texts)
    related: list[set[int]] = [set() for _ in texts]
    every = [*texts, *others]
    for numbers in _sharing(every, _common_windows(every), lambda numbers: bool(numbers[0] < border <= numbers[-1])):
        right = [int(number) - border for number in numbers[numbers >= border]]
        for number in numbers[numbers < border]:
            related[number].update(right)
    return [frozenset(found) for found in related]


def find_pairs(texts: Sequence[str]) -> frozenset[tuple[int, int]]:
    """The numbers of texts, all in their plain form, that share a passage, the lesser first.

    A passage in many of the texts is a heading or a phrase that everybody uses, and makes nobody depend on another; nor
    does what overlaps with one, for some texts go on with the same letters by chance.
    """
    windows = _leave_out_headings(*_common_windows(texts), max(FEW_SHARE, len(texts) // 10))
    groups = _sharing(texts, windows, lambda numbers: len(numbers) > 1)
    return frozenset(pair for numbers in groups for pair in combinations(numbers.tolist(), 2))


def find_overlaps(texts: Sequence[str]) -> dict[tuple[int, int], tuple[list[Stretch], list[Stretch]]]:
    """For every two texts that share passages, the lesser number first, where in each of them; all in plain form."""
    groups, number_of, place_of = _common_windows(texts)
    bounds = np.searchsorted(number_of, np.arange(len(texts) + 1))
    windows = {number: slice(*bounds[number : number + 2]) for number in np.unique(number_of).tolist()}
    found = {}
    for one, other in combinations(windows, 2):
        mine, theirs = windows[one], windows[other]
        both, here, there = np.intersect1d(groups[mine], groups[theirs], return_indices=True)
        pairs = zip(place_of[mine][here], place_of[theirs][there], strict=True)
        same = [_window(texts[one], place) == _window(texts[other], its) != "" for place, its in pairs]
        if any(same):
            begins = [place_of[each][np.isin(groups[each], both[same])] for each in (mine, theirs)]
            found[one, other] = _join_windows(begins[0]), _join_windows(begins[1])
    return found


def _join_windows(places: Numbers) -> list[Stretch]:
    """The stretches that windows which begin at some places, in order, cover."""
    (cuts,) = np.nonzero(np.diff(places) > PASSAGE)
    begins, ends = places[np.concatenate([[0], cuts + 1])], places[np.concatenate([cuts, [-1]])]
    return [Stretch(int(begin), int(end) + PASSAGE) for begin, end in zip(begins, ends, strict=True)]


def _leave_out_headings(groups: Numbers, number_of: Numbers, place_of: Numbers, most: int) -> Windows:
    """The windows that overlap with none that more texts than `most` have."""
    having = np.bincount(np.unique(np.stack([groups, number_of]), axis=1)[0])  # texts, by group
    line = number_of * (place_of.max(initial=0) + 2 * PASSAGE) + place_of  # the texts in a row, with room in between
    headings = line[having[groups] > most]
    near = np.searchsorted(headings, line - PASSAGE, "right") < np.searchsorted(headings, line + PASSAGE)
    return groups[~near], number_of[~near], place_of[~near]


def _sharing(texts: Sequence[str], among: Windows, wanted: Callable[[Numbers], bool]) -> Iterator[Numbers]:
    """The numbers of texts that share one of some windows, in order, for each set of texts that is wanted and does."""
    groups, number_of, place_of = among
    done: set[bytes] = set()  # neighbouring windows are shared by the same texts
    for members in _split(groups):
        numbers, firsts = np.unique(number_of[members], return_index=True)
        if not wanted(numbers) or (key := numbers.tobytes()) in done:
            continue
        windows = [
            _window(texts[number], place) for number, place in zip(numbers, place_of[members[firsts]], strict=True)
        ]
        if windows[0] and all(window == windows[0] for window in windows):
            done.add(key)
            yield numbers


def _window(text: str, place: int) -> str:
    """The passage that begins at a place of a text, or an empty string where it is no language."""
    passage = text[place : place + PASSAGE]
    return passage if len(set(passage)) >= VARIED else ""


def _common_windows(texts: Sequence[str]) -> Windows:
    """Windows whose marks occur in several texts: which are the same one, the numbers of their texts, their places.

    In the order of texts and places.
    """
    marks = [np.unique(_marks(text)) for text in texts]
    different, counts = np.unique(np.concatenate([*marks, np.zeros(0, np.uint64)]), return_counts=True)
    common = different[counts > 1]
    hashes, numbers, places = [np.zeros(0, np.uint64)], [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
    for number, text in enumerate(texts):
        if np.isin(marks[number], common).any():
            (chosen,) = np.nonzero(np.isin(_marks(text), common))
            hashes.append(_hashes(text, PASSAGE)[chosen])
            numbers.append(np.full(len(chosen), number))
            places.append(chosen)
    _, groups = np.unique(np.concatenate(hashes), return_inverse=True)
    return groups, np.concatenate(numbers), np.concatenate(places)


def _split(groups: Numbers) -> Iterator[Numbers]:
    """The members of each group that has several, in order."""
    (several,) = np.nonzero(np.bincount(groups)[groups] > 1)
    order = several[np.argsort(groups[several], kind="stable")]
    return iter(np.split(order, np.flatnonzero(np.diff(groups[order])) + 1) if len(order) else ())


def _marks(text: str) -> Hashes:
    """The mark of each long window: the least hash of the short ones in it."""
    least, width = _hashes(text, WINDOW), 1
    wanted = PASSAGE - WINDOW + 1
    while len(least) and width < wanted:
        step = min(width, wanted - width)
        least, width = np.minimum(least[:-step], least[step:]), width + step
    return least


def _hashes(text: str, length: int) -> Hashes:
    """A hash of each window of so many characters; none where the text is shorter."""
    if len(text) < PASSAGE:
        return np.zeros(0, np.uint64)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    codes = (codes + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9)
    codes ^= codes >> np.uint64(31)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(codes * _powers(_BASE, len(codes)))])
    windows: Hashes = (sums[length:] - sums[:-length]) * _powers(_INVERSE, len(codes) - length + 1)
    windows ^= windows >> np.uint64(29)  # the low bits of a product say little
    return windows


def _powers(base: int, count: int) -> Hashes:
    """The base to the power of 0, 1, 2 ..., modulo 2**64."""
    factors = np.full(count, base, np.uint64)
    factors[0] = 1
    return np.cumprod(factors)
