"""PDF -> text: lines with their places on the page, by pypdf, within limits of work."""

from __future__ import annotations

import io
import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from byline.formats.lines import (
    Line,
    has_head,
    remove_contents,
    remove_page_numbers,
    remove_running_lines,
    set_paragraphs,
)
from byline.formats.reading import LARGEST_TEXT, TOO_LARGE, Reading, Unreadable, hushed, left_out, require_library

MOST_PAGES = 10_000
MOST_OPERATIONS = 3_000_000
"""Of drawing, over all pages: a long book has some hundred thousand."""
MOST_CONTENT = 20_000_000
"""Bytes of instructions for drawing, unpacked, over all pages; a form counts each time that it is drawn."""
MOST_FORMS = 1_000
LONGEST_RUN = 20_000
"""Letters that are shown without a new line: pypdf takes the square of that."""
SHOWING = (b"Tj", b"TJ", b"'", b'"')
MOST_UNREADABLE = 0.05
"""Of the characters of a text: with more, its fonts don't say what letters they have."""
LOCKED = "protected by a password; save a copy without one"
SCANNED = "no text in it, perhaps a scan; have its text recognised first (OCR), or give the text itself"
DAMAGED = "damaged, or no PDF; open it in a viewer and print it into a new PDF"
GARBLED = "its fonts don't say which letters they show; save its text from where it was written"
LOST = "\ufffd"
NOWHERE = (-math.inf, math.inf)
"""The edges of a page that has none: nothing is near them."""
LARGE = "too large or too intricate to be read; split it, or save its text"
_LIGATURES = {
    ord(letter): unicodedata.normalize("NFKC", letter) for letter in "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
}


class _TooMuch(Exception):  # noqa: N818 - it never leaves this module
    """The limits of work are reached."""


def read_pdf(data: bytes, encoding: str | None = None) -> Reading:
    """The text of a PDF file in paragraphs; running heads, feet and page numbers are left out where they are found."""
    pypdf = require_library("pypdf")
    with hushed("pypdf") as complaints:
        try:
            sheets = _read_pages(pypdf, data)
        except (Unreadable, MemoryError):
            raise
        except _TooMuch:
            raise Unreadable(LARGE) from None
        except pypdf.errors.LimitReachedError:
            raise Unreadable(LARGE) from None
        except pypdf.errors.DependencyError:
            raise Unreadable("encrypted; pip install 'byline[documents]', or save a copy that is not") from None
        except Exception:  # whatever a broken file makes of a reader
            raise Unreadable(DAMAGED) from None
    return _compose(sheets, bool(complaints))


class _Sheet(NamedTuple):
    """The lines of a page, the heights of its edges, and whether it has text that is turned another way."""

    lines: list[Line]
    span: tuple[float, float]
    turned: bool = False


def _compose(sheets: list[_Sheet], complained: bool) -> Reading:
    pages, spans = [sheet.lines for sheet in sheets], [sheet.span for sheet in sheets]
    whole = "".join(line.text for page in pages for line in page)
    if not whole.strip():
        raise Unreadable(SCANNED)
    unreadable = whole.count(LOST)
    if unreadable > MOST_UNREADABLE * len(whole):
        raise Unreadable(GARBLED)
    kept, removed = remove_running_lines(pages)
    kept, numbers = remove_page_numbers(kept, spans)
    alone = len(kept) == 1 and has_head(kept[0], spans[0])
    kept, listed = remove_contents(kept)
    text, joined = set_paragraphs(kept)
    notes, guesses = [], []
    if removed:
        notes.append(f"{removed + numbers:,} running heads, feet and page numbers are left out")
    elif numbers:
        notes.append("the page number is left out" if numbers == 1 else f"{numbers:,} page numbers are left out")
    if alone:
        notes.append("one page: a running head can't be told from the text; look with byline text whether it has one")
    if listed:
        notes.append(f"{listed:,} lines of a list of contents are left out")
    if any(sheet.turned for sheet in sheets):
        notes += left_out(["text turned another way than the rest of its page"])
    if joined:
        notes.append(f"{joined:,} words that were divided at the ends of lines are joined")
    if blank := sum(not page for page in pages):
        guesses.append(f"{blank:,} of {len(pages):,} pages have no text; if they are scans, it is missing")
    if unreadable:
        guesses.append(
            f"{unreadable:,} letters can't be read, for its fonts don't say what they are; they are left out"
        )
    if complained:
        guesses.append("it has faults, and some of its text may be missing; compare it with what is printed")
    return Reading(text.replace(LOST, ""), tuple(notes), tuple(guesses))


def _read_pages(pypdf: Any, data: bytes) -> list[_Sheet]:
    limits = {"xform_maximum_invocations_per_extraction": MOST_FORMS, "page_tree_maximum_entries": 2 * MOST_PAGES}
    with pypdf.apply_configuration(**limits):
        reader = pypdf.PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable(LOCKED)
        if len(reader.pages) > MOST_PAGES:
            raise Unreadable(f"more than {MOST_PAGES:,} pages; split it")
        work = _Work()
        return [_read_page(page, work) for page in reader.pages]


class _Work:
    """What has been done so far, and how much is too much."""

    def __init__(self) -> None:
        self.operations = self.content = self.letters = self.run = 0
        self.forms: dict[int, int] = {}

    def check(self) -> None:
        if self.operations > MOST_OPERATIONS or self.content > MOST_CONTENT or self.run > LONGEST_RUN:
            raise _TooMuch
        if self.letters > LARGEST_TEXT:
            raise Unreadable(TOO_LARGE)

    def size_forms(self, page: Any) -> dict[str, int]:
        """Bytes of the forms that a page may draw, by name; forms within forms too, and of one name the largest."""
        found: dict[str, int] = {}
        todo, seen = [page.get("/Resources")], set()
        while todo:
            drawn = _entry(_resolved(todo.pop()), "/XObject")
            for name, value in drawn.items() if isinstance(drawn, dict) else ():
                number = getattr(value, "idnum", id(value))
                form = _resolved(value)
                if not isinstance(form, dict) or form.get("/Subtype") != "/Form":
                    continue
                if number not in self.forms:
                    self.forms[number] = len(form.get_data())  # type: ignore[attr-defined]
                    self.content += self.forms[number]
                    self.check()
                found[name] = max(found.get(name, 0), self.forms[number])
                if number not in seen:
                    seen.add(number)
                    todo.append(form.get("/Resources"))
                if len(seen) > MOST_FORMS:
                    raise _TooMuch
        return found


def _resolved(value: Any) -> Any:
    return value.get_object() if hasattr(value, "get_object") else value


def _entry(value: Any, name: str) -> Any:
    return _resolved(value.get(name)) if isinstance(value, dict) else None


def _read_page(page: Any, work: _Work) -> _Sheet:
    contents = page.get_contents()
    if contents is None:
        return _Sheet([], NOWHERE)
    work.content += len(contents.get_data())
    forms = work.size_forms(page)
    work.check()
    pieces: list[_Piece] = []

    def count(operator: bytes, operands: Any, *matrices: Any) -> None:
        work.operations += 1
        if operator == b"Do" and operands:
            work.content += forms.get(str(operands[0]), 0)
        elif operator in SHOWING:
            work.run += sum(len(each) for each in operands if isinstance(each, str | bytes | list))
        work.check()

    def keep(text: str, around: Any, own: Any, font: Any, size: Any) -> None:
        work.run = 0
        if text:
            work.letters += len(text)
            work.check()
            pieces.append(_Piece(text, *_place(around, own, size)))

    page.extract_text(visitor_operand_before=count, visitor_text=keep)
    work.check()  # what is raised in a form, pypdf keeps to itself
    turn = _usual_turn(pieces)
    turned = any(piece.turn != turn and piece.text.strip() for piece in pieces)
    return _Sheet(_set_lines(pieces, turn), _span(page, turn), turned)


def _span(page: Any, turn: int) -> tuple[float, float]:
    """The heights of a page's lower and upper edge once it is turned so that its text stands upright."""
    try:
        left, bottom, right, top = (float(edge) for edge in page.cropbox)
    except Exception:  # a broken box is no reason not to read the page
        return NOWHERE
    low, high = ((bottom, top), (-right, -left), (-top, -bottom), (left, right))[turn]
    return (low, high) if math.isfinite(high - low) and low < high else NOWHERE


class _Piece(NamedTuple):
    """Some text in one go: where it begins once the page is turned so that it stands upright, and how it was turned."""

    text: str
    x: float
    y: float
    size: float
    turn: int
    """Quarters of a circle."""


def _place(around: Sequence[float], own: Sequence[float], size: float) -> tuple[float, float, float, int]:
    """Place, size and turn of a text by its matrix and the one around it."""
    a = own[0] * around[0] + own[1] * around[2]
    b = own[0] * around[1] + own[1] * around[3]
    c = own[2] * around[0] + own[3] * around[2]
    d = own[2] * around[1] + own[3] * around[3]
    x = own[4] * around[0] + own[5] * around[2] + around[4]
    y = own[4] * around[1] + own[5] * around[3] + around[5]
    if not all(map(math.isfinite, (a, b, c, d, x, y, size))):
        return 0.0, 0.0, 1.0, 0
    turn = round(2 * math.atan2(b, a) / math.pi) % 4
    x, y = ((x, y), (y, -x), (-x, -y), (-y, x))[turn]
    return x, y, abs(size) * math.hypot(c, d), turn


def _usual_turn(pieces: list[_Piece]) -> int:
    """How most of a page is turned."""
    turns = Counter[int]()
    for piece in pieces:
        turns[piece.turn] += len(piece.text.strip())
    return max(turns, key=lambda turn: turns[turn], default=0)


def _set_lines(pieces: list[_Piece], usual: int) -> list[Line]:
    """The lines of a page in the order in which they are drawn, without those that are turned another way than most."""
    lines: list[Line] = []
    last: _Piece | None = None  # of the line that is not whole yet
    for piece in pieces:
        if piece.turn != usual:
            continue
        for number, part in enumerate(piece.text.split("\n")):
            if number:
                last = None
            if not part.strip() and (last is None or not part):
                continue
            if last is not None and abs(last.y - piece.y) < 0.5 * max(last.size, piece.size, 1.0):
                gap = " " if _is_gap(last, piece) else ""
                lines[-1] = lines[-1]._replace(text=lines[-1].text + gap + part, size=max(lines[-1].size, piece.size))
            else:
                lines.append(Line(part, piece.x, piece.y, piece.size))
            last = piece._replace(text=part)
    cleaned = (line._replace(text=_clean(line.text)) for line in lines)
    return [line for line in cleaned if line.text]


def _is_gap(last: _Piece, piece: _Piece) -> bool:
    """Whether there must be room between two pieces of a line, even if the letters of the first are wide."""
    if last.text.endswith(" ") or piece.text.startswith(" "):
        return False
    return not 0 <= piece.x - last.x < 0.8 * last.size * (len(last.text) + 1)


def _clean(text: str) -> str:
    """Ligatures as letters, single spaces, and one sign for all that is no letter."""
    return " ".join("".join(map(_readable, text.translate(_LIGATURES))).split())


def _readable(letter: str) -> str:
    if letter.isspace():
        return " "
    return letter if unicodedata.category(letter) not in ("Cc", "Co", "Cn", "Cs") else LOST
