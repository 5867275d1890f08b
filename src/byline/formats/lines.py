"""Lines on pages -> paragraphs: running heads, feet and contents go, lines join, divided words are made whole."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

EDGE = 3
"""Rows at the top and at the bottom of a page that may be running heads and feet."""
APART = 1.3
"""Lines this many times as far from each other as usual are of two paragraphs."""
RESIZED = 1.1
"""Letters this many times larger or smaller are of another paragraph."""
FULL = 0.8
"""A line that has room for the next word, if this share of the usual width is filled, ends a paragraph."""
_NUMBER = re.compile(r"\d+|\b[ivxlc]{1,7}\b", re.IGNORECASE)
_LEADERS = re.compile(r"(?:\. ?){5,}\s*(?:\d{1,5}|[ivxlc]{1,7})$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]++[-\u2010][^\W\d_]++")
_HYPHENS = ("-", "\u2010", "\u00ad")


class Line(NamedTuple):
    """A line, where it begins (x to the right, y upwards) and the size of its letters, in points."""

    text: str
    x: float
    y: float
    size: float


Page = Sequence[Line]


def remove_running_lines(pages: Sequence[Page]) -> tuple[list[list[Line]], int]:
    """The pages without what recurs at their tops and bottoms, numbers apart, and how many lines went."""
    usual = _usual_gaps(pages)
    rows = [_rows(page) for page in pages]
    seen = Counter(
        key
        for page in rows
        for key in {_key(line, top) for top in (True, False) for row in _edge(page, top) for line in row}
    )
    enough = 2 if len(pages) < 5 else 3
    kept = []
    for page, own in zip(pages, rows, strict=True):
        gone: set[int] = set()
        for top in (True, False):
            edge = _edge(own, top)
            running = 0
            while running < len(edge) and all(seen[_key(line, top)] >= enough for line in edge[running]):
                running += 1
            while running and not _is_apart(edge, running, usual):
                running -= 1
            gone |= {id(line) for row in edge[:running] for line in row}
        kept.append([line for line in page if id(line) not in gone])
    removed = sum(map(len, pages)) - sum(map(len, kept))
    return (kept, removed) if any(kept) else ([list(page) for page in pages], 0)


def remove_contents(pages: Sequence[Page]) -> tuple[list[list[Line]], int]:
    """The pages without lines that lead by dots to a page's number, and how many those were."""
    kept = [[line for line in page if not _LEADERS.search(line.text)] for page in pages]
    removed = sum(map(len, pages)) - sum(map(len, kept))
    return (kept, removed) if any(kept) else ([list(page) for page in pages], 0)


def _rows(page: Page) -> list[list[Line]]:
    """Lines of about one height together, from top to bottom."""
    rows: list[list[Line]] = []
    for line in sorted(page, key=lambda line: -line.y):
        if rows and rows[-1][0].y - line.y < 0.3 * max(line.size, 1):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _edge(rows: list[list[Line]], top: bool) -> list[list[Line]]:
    """The outermost rows, and the one that they are set apart from, from the edge inwards."""
    return rows[: EDGE + 1] if top else rows[: -EDGE - 2 : -1]


def _key(line: Line, top: bool) -> tuple[bool, int, str]:
    """What is the same of a running line on all its pages: its height and its words."""
    return top, round(line.y / 5), " ".join(_NUMBER.sub("#", line.text.casefold()).split())


def _is_apart(edge: list[list[Line]], running: int, usual: dict[int, float]) -> bool:
    """Whether the outermost rows are set apart from what comes next, by room or by size."""
    if running == len(edge):
        return running <= EDGE
    outer, inner = edge[running - 1][0], edge[running][0]
    gap = abs(outer.y - inner.y)
    return running <= EDGE and (gap > APART * _gap(inner, usual) or not _is_alike(outer, inner))


def _usual_gaps(pages: Sequence[Page]) -> dict[int, float]:
    """How far lines usually are from each other, by the size of their letters."""
    gaps: dict[int, Counter[float]] = {}
    for page in pages:
        for one, other in pairwise(page):
            if one.y > other.y and _is_alike(one, other):
                gaps.setdefault(round(one.size), Counter())[round(one.y - other.y, 1)] += 1
    return {size: min(found, key=lambda gap: (-found[gap], gap)) for size, found in gaps.items()}


def _gap(line: Line, usual: dict[int, float]) -> float:
    return usual.get(round(line.size), 1.2 * line.size)


def _is_alike(one: Line, other: Line) -> bool:
    small, large = sorted((max(one.size, 0.1), max(other.size, 0.1)))
    return large <= RESIZED * small


def set_paragraphs(pages: Sequence[Page]) -> tuple[str, int]:
    """The text, a line for each paragraph, and how many divided words were joined."""
    lines = [(number, line) for number, page in enumerate(pages) for line in page]
    if not lines:
        return "", 0
    setting = _Setting(pages)
    pieces, joined = [lines[0][1].text], 0
    for (page, before), (other, line) in pairwise(lines):
        if setting.is_new(before, line, page, other):
            pieces.append("\n")
        else:
            between, cut = setting.joint(before.text, line.text)
            if cut:
                joined += 1
                pieces[-1] = pieces[-1][:-1]
            pieces.append(between)
        pieces.append(line.text)
    return "".join(pieces).replace("\u00ad", "") + "\n", joined


class _Setting:
    """How a document is set: its margins, widths and words."""

    def __init__(self, pages: Sequence[Page]) -> None:
        self.usual = _usual_gaps(pages)
        lengths: dict[int, list[int]] = {}
        self.margins = []
        for page in pages:
            counts = Counter(round(line.x) for line in page)
            self.margins.append({x for x, count in counts.items() if count >= max(2, 0.2 * len(page))})
            for line in page:
                lengths.setdefault(round(line.size), []).append(len(line.text))
        self.widths = {size: sorted(found)[int(0.9 * (len(found) - 1))] for size, found in lengths.items()}
        texts = [line.text for page in pages for line in page]
        self.words = {word.casefold() for text in texts for word in _inner_words(text)}
        self.compounds = {word.casefold() for text in texts for word in _COMPOUND.findall(text)}

    def is_new(self, before: Line, line: Line, page: int, other: int) -> bool:
        """Whether a line begins a paragraph."""
        if not _is_alike(before, line):
            return True
        if _divided(before.text):
            return False
        short = self._is_short(before, line)
        if page != other or line.y >= before.y:  # the next page, or the next column
            return short or (self._is_indented(line, other) and before.text.endswith((".", "!", "?", '"', "”", "’")))
        if before.y - line.y > APART * _gap(line, self.usual):
            return True
        deeper = line.x - before.x > 0.5 * line.size
        return short or (self._is_indented(line, other) and deeper)

    def _is_short(self, before: Line, line: Line) -> bool:
        width = self.widths.get(round(before.size), 0)
        word = line.text.split(" ", 1)[0]
        return len(before.text) + 1 + len(word) < FULL * width

    def _is_indented(self, line: Line, page: int) -> bool:
        """Whether it begins a little to the right of where lines on its page do."""
        return any(0.5 * line.size < line.x - margin < 6 * line.size for margin in self.margins[page])

    def joint(self, before: str, after: str) -> tuple[str, bool]:
        """What stands between two lines of a paragraph, and whether the hyphen at the end of the first goes."""
        if before.endswith("\u00ad"):
            return "", True
        if before.endswith(_HYPHENS):
            first, second = _last_word(before[:-1]), _WORD.match(after)
            if not first:  # a dash
                return (" " if before.rstrip("-")[-1:].isspace() and not after.startswith("-") else ""), False
            if second is None or not second[0][0].islower():
                return "", False
            apart = f"{first}-{second[0]}".casefold()
            return "", (first + second[0]).casefold() in self.words and apart not in self.compounds
        return ("" if _is_wide(before[-1:]) and _is_wide(after[:1]) else " "), False


def _inner_words(text: str) -> list[str]:
    """The words of a line but for those at its ends, which may be parts."""
    return _WORD.findall(text)[1:-1]


def _divided(text: str) -> bool:
    return text.endswith(_HYPHENS) and bool(_last_word(text[:-1]))


def _last_word(text: str) -> str:
    found = re.search(r"[^\W\d_]+$", text[-60:])
    return found[0] if found else ""


def _is_wide(letter: str) -> bool:
    """Whether it is of a script that needs no spaces, such as Chinese."""
    return letter != "" and unicodedata.east_asian_width(letter) in "WF"
