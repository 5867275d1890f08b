"""Turn lines on pages into paragraphs: remove running lines and contents, join lines and divided words."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

EDGE = 3  # rows at the top and at the bottom of a page that may be running lines
WIDE_GAP = 1.3  # times the usual distance of lines: between paragraphs
OTHER_SIZE = 1.1  # times the size of letters: of another paragraph
FULL = 0.8  # share of the usual width: a line that ends before it, with room for the next word, ends a paragraph
MARGIN, TOP_MARGIN = 0.15, 0.08  # shares of a page's height with page numbers; the second for a bare number at the top
MIN_CONTENTS = 3  # lines of a list of contents: fewer may be prose with dots that ends with a number, or with I
MAX_BETWEEN_CONTENTS = 3  # lines without a number between two of them
SEPARATE = 1.1  # times the largest distance within the text: outside the text
_NUMBER = re.compile(r"\d+|\b[ivxlc]{1,7}\b", re.IGNORECASE)
_LEADERS = re.compile(r"(?:\. ?){5,}\s*(?:(\d{1,4})|([ivxlc]{1,7}|[IVXLC]{1,7}))$")
_ROMAN = re.compile(r"c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_WORD = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"(?<![^\W\d_])[^\W\d_]++[-\u2010][^\W\d_]++")
_HYPHENS = ("-", "\u2010", "\u00ad")
_PAGE = (
    "page|pg|p|seite|s|página|pagina|pàgina|pág|pag|bladzijde|blz|σελίδα|σελ|sida|side|sivu|strona|str|страница|стр"
    "|sayfa"
)
_OF = r"/|\||of|von|de|di|van|από|av|af|z|из"
_WORDED = re.compile(rf"(?:{_PAGE})\.?\s*\d{{1,5}}(?:\s*(?:{_OF})\s*\d{{1,5}})?|\d{{1,5}}\s*(?:{_OF})\s*\d{{1,5}}")
_BARE = re.compile(r"\d{1,3}|[ivxl]{1,6}")
_ORNAMENTS = " -\u2010\u2011\u2012\u2013\u2014\u2212()[]|~\u00b7\u2022*"


class TextLine(NamedTuple):
    """A line of text, where it begins (x to the right, y upwards) and the size of its letters, in points."""

    text: str
    x: float
    y: float
    size: float


PageLines = Sequence[TextLine]


def remove_running_lines(pages: Sequence[PageLines]) -> tuple[list[list[TextLine]], int]:
    """Remove lines that recur at the top or bottom of pages, apart from numbers; also return how many."""
    usual = _usual_gaps(pages)
    rows = [_rows(page) for page in pages]
    seen = Counter(
        key
        for page in rows
        for key in {_key(line, top) for top in (True, False) for row in _edge(page, top) for line in row}
    )
    enough = 2 if len(pages) < 5 else 3
    gone: set[int] = set()
    for own in rows:
        for top in (True, False):
            edge = _edge(own, top)
            running = 0
            while running < len(edge) and all(seen[_key(line, top)] >= enough for line in edge[running]):
                running += 1
            while running and not _is_apart(edge, running, usual):
                running -= 1
            if running == 1 and len(pages) < 5 and _is_stanza(edge, own):
                running = 0
            gone |= {id(line) for row in edge[:running] for line in row}
    return _remove(pages, gone)


def _remove(pages: Sequence[PageLines], gone: set[int]) -> tuple[list[list[TextLine]], int]:
    """Remove lines by their ids, unless nothing would be left; return the pages and the number of lines removed."""
    kept = [[line for line in page if id(line) not in gone] for page in pages]
    if not any(kept):
        return [list(page) for page in pages], 0
    return kept, sum(map(len, pages)) - sum(map(len, kept))


def remove_page_numbers(
    pages: Sequence[PageLines], spans: Sequence[tuple[float, float]]
) -> tuple[list[list[TextLine]], int]:
    """Remove page numbers in margins; `spans` are the bottom and top of each page.

    A bare number must also be farther from the text than any two lines of the text are from each other, or begin at
    another x: a text may end with a number.
    """
    usual = _usual_gaps(pages)
    gone: set[int] = set()
    for page, span in zip(pages, spans, strict=True):
        rows = _rows(page)
        numbers: set[int] = set()
        for top in (True, False):
            ordered = rows if top else rows[::-1]
            if len(rows) > 1 and _is_apart(ordered, 1, usual) and _is_page_number(ordered, top, span, usual):
                numbers |= {id(line) for line in ordered[0]}
        if len(numbers) < len(page):  # a page of nothing else keeps them
            gone |= numbers
    return _remove(pages, gone)


def may_have_running_line(page: PageLines, span: tuple[float, float]) -> bool:
    """Return whether a line at the top or bottom is set apart from the text and might be a running head or foot."""
    rows, usual = _rows(page), _usual_gaps([page])
    return any(
        _stands_off(rows, top, usual)
        or (len(rows) > 1 and _is_apart(rows if top else rows[::-1], 1, usual) and _depth(row[0], top, span) < MARGIN)
        for top, row in ((True, rows[0]), (False, rows[-1]))
    )


def _stands_off(rows: list[list[TextLine]], top: bool, usual: dict[int, float]) -> bool:
    """Return whether the outermost row is farther from the next than any two others are from each other."""
    if len(rows) < 2:
        return False
    outer, inner = (rows[0][0], rows[1][0]) if top else (rows[-1][0], rows[-2][0])
    between = [one[0].y - other[0].y for one, other in pairwise(rows[1:-1])]
    return abs(outer.y - inner.y) > max(WIDE_GAP * _gap(inner, usual), SEPARATE * max(between, default=0.0))


def _is_page_number(
    ordered: list[list[TextLine]], top: bool, span: tuple[float, float], usual: dict[int, float]
) -> bool:
    """Return whether the first of the rows, which are ordered from an edge inwards, is a page number."""
    row = ordered[0]
    whole = unicodedata.normalize("NFC", " ".join(line.text for line in row)).casefold()
    text = whole.strip(_ORNAMENTS)
    depth = _depth(row[0], top, span)
    between = whole[:1] in _ORNAMENTS and whole[-1:] in _ORNAMENTS
    if _WORDED.fullmatch(text) or (between and _BARE.fullmatch(text)):
        return depth < MARGIN
    if not _BARE.fullmatch(text) or depth >= (TOP_MARGIN if top else MARGIN):
        return False
    begins = [line.x for other in ordered[1:] for line in other]
    elsewhere = min(abs(row[0].x - x) for x in begins) > 6 * row[0].size
    return elsewhere or _stands_off(ordered if top else ordered[::-1], top, usual)


def _depth(line: TextLine, top: bool, span: tuple[float, float]) -> float:
    """Return the distance of a line from the edge of its page, as a share of the height."""
    bottom, upper = span
    return (upper - line.y if top else line.y - bottom) / max(upper - bottom, 1.0)


def _is_stanza(edge: list[list[TextLine]], rows: list[list[TextLine]]) -> bool:
    """Return whether the outermost row has the distance of a stanza and no number, as a refrain has."""
    gap = abs(edge[0][0].y - edge[1][0].y) if len(edge) > 1 else 0.0
    alike = sum(abs(one[0].y - other[0].y - gap) < 0.5 for one, other in pairwise(rows))
    return alike > 2 and _is_alike(edge[0][0], edge[1][0]) and not any(re.search(r"\d", line.text) for line in edge[0])


def remove_contents(pages: Sequence[PageLines]) -> tuple[list[list[TextLine]], int]:
    """Remove lists of lines that lead by dots to page numbers, which don't fall and are not all one Roman number."""
    lists: list[list[_ContentsLine]] = []
    lines = [line for page in pages for line in page]
    for place, line in enumerate(lines):
        if (number := _listed_page(line.text)) is None:
            continue
        listed = _ContentsLine(place, number)
        if lists and lists[-1][-1].may_precede(listed):
            lists[-1].append(listed)
        else:
            lists.append([listed])
    return _remove(pages, {id(lines[listed.place]) for found in lists if _is_contents(found) for listed in found})


class _ContentsLine(NamedTuple):
    """A possible line of a list of contents: its place among all lines, and its page, Roman numbers first."""

    place: int
    page: tuple[bool, int]

    def may_precede(self, other: _ContentsLine) -> bool:
        return other.place - self.place <= MAX_BETWEEN_CONTENTS + 1 and self.page <= other.page


def _is_contents(found: list[_ContentsLine]) -> bool:
    return len(found) >= MIN_CONTENTS and (found[-1].page[0] or found[0].page != found[-1].page)


def _listed_page(text: str) -> tuple[bool, int] | None:
    """Return the page that a line leads to by dots: whether it is in Arabic figures, and its number."""
    found = _LEADERS.search(text)
    if found is None:
        return None
    if found[1]:
        return True, int(found[1])
    roman = found[2].lower()
    if not _ROMAN.fullmatch(roman):
        return None
    values = [_VALUES[letter] for letter in roman]
    return False, sum(-one if one < other else one for one, other in pairwise([*values, 0]))


def _rows(page: PageLines) -> list[list[TextLine]]:
    """Group lines of about the same height, from top to bottom."""
    rows: list[list[TextLine]] = []
    for line in sorted(page, key=lambda line: -line.y):
        if rows and rows[-1][0].y - line.y < 0.3 * max(line.size, 1):
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _edge(rows: list[list[TextLine]], top: bool) -> list[list[TextLine]]:
    """Return the outermost rows and the next one, from the edge inwards."""
    return rows[: EDGE + 1] if top else rows[: -EDGE - 2 : -1]


def _key(line: TextLine, top: bool) -> tuple[bool, int, str]:
    """Return what a running line has in common on all pages: its height and its words."""
    return top, round(line.y / 5), " ".join(_NUMBER.sub("#", line.text.casefold()).split())


def _is_apart(edge: list[list[TextLine]], running: int, usual: dict[int, float]) -> bool:
    """Return whether the outermost rows are set apart from the next, by distance or by size."""
    if running == len(edge):
        return running <= EDGE
    outer, inner = edge[running - 1][0], edge[running][0]
    gap = abs(outer.y - inner.y)
    return running <= EDGE and (gap > WIDE_GAP * _gap(inner, usual) or not _is_alike(outer, inner))


def _usual_gaps(pages: Sequence[PageLines]) -> dict[int, float]:
    """Return the usual distance of lines, by the size of their letters."""
    gaps: dict[int, Counter[float]] = {}
    for page in pages:
        for one, other in pairwise(page):
            if one.y > other.y and _is_alike(one, other):
                gaps.setdefault(round(one.size), Counter())[round(one.y - other.y, 1)] += 1
    return {size: min(found, key=lambda gap: (-found[gap], gap)) for size, found in gaps.items()}


def _gap(line: TextLine, usual: dict[int, float]) -> float:
    return usual.get(round(line.size), 1.2 * line.size)


def _is_alike(one: TextLine, other: TextLine) -> bool:
    small, large = sorted((max(one.size, 0.1), max(other.size, 0.1)))
    return large <= OTHER_SIZE * small


def set_paragraphs(pages: Sequence[PageLines]) -> tuple[str, int]:
    """Return the text, one line per paragraph, and the number of divided words that were joined."""
    lines = [(number, line) for number, page in enumerate(pages) for line in page]
    if not lines:
        return "", 0
    layout = _Layout(pages)
    pieces, joined = [lines[0][1].text], 0
    for (page, before), (other, line) in pairwise(lines):
        if layout.begins_paragraph(before, line, page, other):
            pieces.append("\n")
        else:
            between, cut = layout.join_lines(before.text, line.text)
            if cut:
                joined += 1
                pieces[-1] = pieces[-1][:-1]
            pieces.append(between)
        pieces.append(line.text)
    return "".join(pieces).replace("\u00ad", "") + "\n", joined


class _Layout:
    """The margins, line widths and words of a document."""

    def __init__(self, pages: Sequence[PageLines]) -> None:
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

    def begins_paragraph(self, before: TextLine, line: TextLine, page: int, other: int) -> bool:
        """Return whether a line begins a paragraph."""
        if not _is_alike(before, line):
            return True
        if _is_divided(before.text):
            return False
        short = self._is_short(before, line)
        if page != other or line.y >= before.y:  # the next page, or the next column
            return short or (self._is_indented(line, other) and before.text.endswith((".", "!", "?", '"', "”", "’")))
        if before.y - line.y > WIDE_GAP * _gap(line, self.usual):
            return True
        deeper = line.x - before.x > 0.5 * line.size
        return short or (self._is_indented(line, other) and deeper)

    def _is_short(self, before: TextLine, line: TextLine) -> bool:
        width = self.widths.get(round(before.size), 0)
        word = line.text.split(" ", 1)[0]
        return len(before.text) + 1 + len(word) < FULL * width

    def _is_indented(self, line: TextLine, page: int) -> bool:
        """Return whether a line begins a little to the right of a margin of its page."""
        return any(0.5 * line.size < line.x - margin < 6 * line.size for margin in self.margins[page])

    def join_lines(self, before: str, after: str) -> tuple[str, bool]:
        """Return what to put between two lines of a paragraph, and whether to remove the hyphen of the first."""
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
    """Return the words of a line without the first and the last, which may be parts of words."""
    return _WORD.findall(text)[1:-1]


def _is_divided(text: str) -> bool:
    return text.endswith(_HYPHENS) and bool(_last_word(text[:-1]))


def _last_word(text: str) -> str:
    found = re.search(r"[^\W\d_]+$", text[-60:])
    return found[0] if found else ""


def _is_wide(letter: str) -> bool:
    """Return whether a letter is of a script without spaces, such as Chinese."""
    return letter != "" and unicodedata.east_asian_width(letter) in "WF"
