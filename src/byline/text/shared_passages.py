"""Passages that texts share: a quotation, a chapter stored twice, the heading of a website.

Two texts share a passage if a window of PASSAGE characters is the same in both. Each window is marked by the least
hash of the shorter windows in it (winnowing: Schleimer, Wilkerson and Aiken 2003), so that equal windows have equal
marks and a text has few different ones. Only windows whose mark occurs in several texts are compared, and equal hashes
are verified in the texts. All functions expect texts in their plain form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from byline.text.normalize import cut_runs, normalize

PASSAGE = 100
"""Characters after normalizing. Two writers hardly ever write as many alike by chance."""
WINDOW = 50
"""Characters of the shorter windows, whose hashes mark the longer ones."""
FEW_SHARE = 5
"""Texts depend on each other if no more than this many, or a tenth of all, share a passage."""
MIN_DISTINCT = 10
"""A passage with fewer different characters is a line of dots, not language."""

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.intp]
Windows = tuple[Numbers, Numbers, Numbers]
"""For each window: the group of equal windows it is in, the number of its text, its position."""

_BASE = 0x9E3779B97F4A7C15  # odd, and so it has an inverse modulo 2**64
_INVERSE = pow(_BASE, -1, 2**64)


class Span(NamedTuple):
    """A part of a text, from `begin` up to but not including `end`."""

    begin: int
    end: int


class Borrowing(NamedTuple):
    """The number of the text that a passage is borrowed from, and the first PASSAGE characters of it."""

    source: int
    passage: str


def plain_form(text: str, language: str) -> str:
    """Return a text as texts are compared: normalized for its language, with long runs cut."""
    return cut_runs(normalize(text, language))


def find_borrowed(texts: Sequence[str], authors: Sequence[int]) -> dict[int, Borrowing]:
    """Find texts that share a passage with an earlier text of another author; nobody borrows from those in turn."""
    groups, number_of, place_of = _common_windows(texts)
    first = np.full(int(groups.max(initial=-1)) + 1, -1)  # by group, its first window
    author_of = np.asarray(authors, dtype=np.intp)
    bounds = np.searchsorted(number_of, np.arange(len(texts) + 1))
    found: dict[int, Borrowing] = {}
    for number in range(len(texts)):
        own = np.arange(bounds[number], bounds[number + 1])
        earlier = first[groups[own]]
        of_others = (earlier >= 0) & (author_of[number_of[earlier]] != author_of[number])
        for here, there in zip(own[of_others], earlier[of_others], strict=True):
            passage = _window(texts[number], place_of[here])
            if passage and passage == _window(texts[number_of[there]], place_of[there]):
                found[number] = Borrowing(int(number_of[there]), passage)
                break
        else:
            new = own[earlier < 0]
            first[groups[new]] = new
    return found


def find_related(texts: Sequence[str], others: Sequence[str]) -> list[frozenset[int]]:
    """Return, for each text, the numbers of the `others` that share a passage with it."""
    border = len(texts)
    related: list[set[int]] = [set() for _ in texts]
    every = [*texts, *others]
    for numbers in _sharing(every, _common_windows(every), lambda numbers: bool(numbers[0] < border <= numbers[-1])):
        right = [int(number) - border for number in numbers[numbers >= border]]
        for number in numbers[numbers < border]:
            related[number].update(right)
    return [frozenset(found) for found in related]


def find_pairs(texts: Sequence[str]) -> frozenset[tuple[int, int]]:
    """Return the pairs of texts that share a passage, by number, the smaller number first.

    A passage of many texts is a heading or a common phrase and makes no pairs. Nor does a passage that overlaps with
    one, because some texts continue with the same letters by chance.
    """
    windows = _leave_out_headings(*_common_windows(texts), max(FEW_SHARE, len(texts) // 10))
    groups = _sharing(texts, windows, lambda numbers: len(numbers) > 1)
    return frozenset(pair for numbers in groups for pair in combinations(numbers.tolist(), 2))


def find_shared_spans(texts: Sequence[str]) -> dict[tuple[int, int], tuple[list[Span], list[Span]]]:
    """Return, for each pair of texts that share passages (smaller number first), where these are in both texts."""
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


def _join_windows(places: Numbers) -> list[Span]:
    """Return the spans that windows beginning at these places cover."""
    (cuts,) = np.nonzero(np.diff(places) > PASSAGE)
    begins, ends = places[np.concatenate([[0], cuts + 1])], places[np.concatenate([cuts, [-1]])]
    return [Span(int(begin), int(end) + PASSAGE) for begin, end in zip(begins, ends, strict=True)]


def _leave_out_headings(groups: Numbers, number_of: Numbers, place_of: Numbers, most: int) -> Windows:
    """Drop the windows that overlap with one that more than `most` texts have."""
    text_counts = np.bincount(np.unique(np.stack([groups, number_of]), axis=1)[0])  # by group
    offsets = number_of * (place_of.max(initial=0) + 2 * PASSAGE) + place_of  # as if all texts were one, with gaps
    headings = offsets[text_counts[groups] > most]
    near = np.searchsorted(headings, offsets - PASSAGE, "right") < np.searchsorted(headings, offsets + PASSAGE)
    return groups[~near], number_of[~near], place_of[~near]


def _sharing(texts: Sequence[str], among: Windows, wanted: Callable[[Numbers], bool]) -> Iterator[Numbers]:
    """Yield the sorted numbers of the texts that share a window, for each set of texts that is `wanted`."""
    groups, number_of, place_of = among
    done: set[bytes] = set()  # neighboring windows are shared by the same texts
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
    """Return the passage that begins at a place of a text, or an empty string if it is not language."""
    passage = text[place : place + PASSAGE]
    return passage if len(set(passage)) >= MIN_DISTINCT else ""


def _common_windows(texts: Sequence[str]) -> Windows:
    """Return the windows whose marks occur in several texts, in the order of texts and places."""
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
    """Return the members of each group that has several."""
    (several,) = np.nonzero(np.bincount(groups)[groups] > 1)
    order = several[np.argsort(groups[several], kind="stable")]
    return iter(np.split(order, np.flatnonzero(np.diff(groups[order])) + 1) if len(order) else ())


def _marks(text: str) -> Hashes:
    """Return the mark of each long window: the least hash of the short windows in it."""
    least, width = _hashes(text, WINDOW), 1
    wanted = PASSAGE - WINDOW + 1
    while len(least) and width < wanted:
        step = min(width, wanted - width)
        least, width = np.minimum(least[:-step], least[step:]), width + step
    return least


def _hashes(text: str, length: int) -> Hashes:
    """Return a rolling hash of each window of `length` characters; none if the text is shorter than a passage."""
    if len(text) < PASSAGE:
        return np.zeros(0, np.uint64)
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint64)
    codes = (codes + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9)
    codes ^= codes >> np.uint64(31)
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(codes * _powers(_BASE, len(codes)))])
    windows: Hashes = (sums[length:] - sums[:-length]) * _powers(_INVERSE, len(codes) - length + 1)
    windows ^= windows >> np.uint64(29)  # the low bits of a product vary little
    return windows


def _powers(base: int, count: int) -> Hashes:
    """Return the powers 0, 1, 2 ... of a base modulo 2**64."""
    factors = np.full(count, base, np.uint64)
    factors[0] = 1
    return np.cumprod(factors)
