"""Read PDF files: lines and their positions by pypdf, within limits of work."""

from __future__ import annotations

import io
import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from byline.corpora.formats.extraction import (
    LARGEST_TEXT,
    SPLIT,
    TOO_LARGE,
    ExtractedText,
    Unreadable,
    left_out,
    require_library,
    silenced,
)
from byline.corpora.formats.page_layout import (
    TextLine,
    may_have_running_line,
    remove_contents,
    remove_page_numbers,
    remove_running_lines,
    set_paragraphs,
)

MAX_PAGES = 10_000
MAX_OPERATIONS = 3_000_000  # of drawing, over all pages; a long book has some hundred thousand
MAX_CONTENT = 20_000_000  # unpacked bytes of drawing instructions; a form counts each time it is drawn
MAX_FORMS = 1_000
MAX_RUN = 20_000  # letters shown without a new line: pypdf's time grows with the square of it
SHOWING = (b"Tj", b"TJ", b"'", b'"')
MAX_UNREADABLE = 0.05  # share of characters above which the fonts are taken not to name their letters
SCANNED = ("no text in it, perhaps a scan", "Have its text recognized first (OCR), or give the text itself")
DAMAGED = ("damaged, or no PDF", "Open it in a viewer and print it into a new PDF")
GARBLED = ("its fonts don't say which letters they show", "Save its text from where it was written")
LARGE = ("too large or too intricate to be read", "Split it, or save its text")
LOST = "\ufffd"
NO_EDGES = (-math.inf, math.inf)  # of a page whose size is unknown: nothing is near them
_LIGATURES = {
    ord(letter): unicodedata.normalize("NFKC", letter) for letter in "\ufb00\ufb01\ufb02\ufb03\ufb04\ufb05\ufb06"
}


def read_pdf(data: bytes, encoding: str | None = None) -> ExtractedText:
    """Read a PDF file in paragraphs, without the running heads, feet and page numbers that are found."""
    pypdf = require_library("pypdf")
    with silenced("pypdf") as complaints:
        try:
            sheets = _read_pages(pypdf, data)
        except (Unreadable, MemoryError):
            raise
        except pypdf.errors.LimitReachedError:
            raise Unreadable(*LARGE) from None
        except pypdf.errors.DependencyError:
            raise Unreadable("encrypted", "pip install 'byline[documents]', or save a copy that is not") from None
        except Exception:  # broken files make pypdf raise anything
            raise Unreadable(*DAMAGED) from None
    return _compose_text(sheets, bool(complaints))


class _Sheet(NamedTuple):
    """The lines of a page, the heights of its lower and upper edge, and whether it has rotated text."""

    lines: list[TextLine]
    span: tuple[float, float]
    rotated: bool = False


def _compose_text(sheets: list[_Sheet], complained: bool) -> ExtractedText:
    pages, spans = [sheet.lines for sheet in sheets], [sheet.span for sheet in sheets]
    whole = "".join(line.text for page in pages for line in page)
    if not whole.strip():
        raise Unreadable(*SCANNED)
    unreadable = whole.count(LOST)
    if unreadable > MAX_UNREADABLE * len(whole):
        raise Unreadable(*GARBLED)
    kept, removed = remove_running_lines(pages)
    kept, numbers = remove_page_numbers(kept, spans)
    doubtful = len(kept) == 1 and may_have_running_line(kept[0], spans[0])
    kept, listed = remove_contents(kept)
    text, joined = set_paragraphs(kept)
    notes, guesses = [], []
    if removed:
        notes.append(f"{removed + numbers:,} running heads, feet and page numbers are left out")
    elif numbers:
        notes.append("the page number is left out" if numbers == 1 else f"{numbers:,} page numbers are left out")
    if doubtful:
        notes.append("one page: a running head can't be told from the text; check with byline text whether it has one")
    if listed:
        notes.append(f"{listed:,} lines of a list of contents are left out")
    if any(sheet.rotated for sheet in sheets):
        notes += left_out(["text rotated against the rest of its page"])
    if joined:
        notes.append(f"{joined:,} words that were divided at the ends of lines are joined")
    if blank := sum(not page for page in pages):
        guesses.append(f"{blank:,} of {len(pages):,} pages have no text; if they are scans, it is missing")
    if unreadable:
        guesses.append(f"{unreadable:,} letters are left out, because its fonts don't say what they are")
    if complained:
        guesses.append("it has faults, and some of its text may be missing; compare it with what is printed")
    return ExtractedText(text.replace(LOST, ""), tuple(notes), tuple(guesses))


def _read_pages(pypdf: Any, data: bytes) -> list[_Sheet]:
    limits = {"xform_maximum_invocations_per_extraction": MAX_FORMS, "page_tree_maximum_entries": 2 * MAX_PAGES}
    with pypdf.apply_configuration(**limits):
        reader = pypdf.PdfReader(io.BytesIO(data), strict=False)
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable("protected by a password", "Save a copy without one")
        if len(reader.pages) > MAX_PAGES:
            raise Unreadable(f"more than {MAX_PAGES:,} pages", SPLIT)
        work = _Work()
        return [_read_page(page, work) for page in reader.pages]


class _Work:
    """The work done so far, which is limited."""

    def __init__(self) -> None:
        self.operations = self.content = self.letters = self.run = 0
        self.forms: dict[int, int] = {}

    def check(self) -> None:
        if self.operations > MAX_OPERATIONS or self.content > MAX_CONTENT or self.run > MAX_RUN:
            raise Unreadable(*LARGE)
        if self.letters > LARGEST_TEXT:
            raise Unreadable(TOO_LARGE, SPLIT)

    def size_forms(self, page: Any) -> dict[str, int]:
        """Return the bytes of the forms that a page may draw, directly or not; of equal names the largest."""
        found: dict[str, int] = {}
        todo, seen = [page.get("/Resources")], set()
        while todo:
            resources = _resolve(todo.pop())
            drawn = _resolve(resources.get("/XObject")) if isinstance(resources, dict) else None
            for name, value in drawn.items() if isinstance(drawn, dict) else ():
                number = getattr(value, "idnum", id(value))
                form = _resolve(value)
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
                if len(seen) > MAX_FORMS:
                    raise Unreadable(*LARGE)
        return found


def _resolve(value: Any) -> Any:
    return value.get_object() if hasattr(value, "get_object") else value


def _read_page(page: Any, work: _Work) -> _Sheet:
    contents = page.get_contents()
    if contents is None:
        return _Sheet([], NO_EDGES)
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
            pieces.append(_Piece(text, *_locate(around, own, size)))

    page.extract_text(visitor_operand_before=count, visitor_text=keep)
    work.check()  # pypdf catches what is raised in a form
    turn = _usual_turn(pieces)
    rotated = any(piece.turn != turn and piece.text.strip() for piece in pieces)
    return _Sheet(_join_lines(pieces, turn), _find_edges(page, turn), rotated)


def _find_edges(page: Any, turn: int) -> tuple[float, float]:
    """Return the heights of a page's lower and upper edge after rotating it so that its text is upright."""
    try:
        left, bottom, right, top = (float(edge) for edge in page.cropbox)
    except Exception:  # a page with a broken box can still be read
        return NO_EDGES
    low, high = ((bottom, top), (-right, -left), (-top, -bottom), (left, right))[turn]
    return (low, high) if math.isfinite(high - low) and low < high else NO_EDGES


class _Piece(NamedTuple):
    """A piece of text: where it begins after rotating the page so that it is upright, and its rotation."""

    text: str
    x: float
    y: float
    size: float
    turn: int  # quarters of a circle


def _locate(around: Sequence[float], own: Sequence[float], size: float) -> tuple[float, float, float, int]:
    """Return position, size and rotation of a text by its matrix and the one around it."""
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
    """Return the rotation of most of a page."""
    turns = Counter[int]()
    for piece in pieces:
        turns[piece.turn] += len(piece.text.strip())
    return max(turns, key=lambda turn: turns[turn], default=0)


def _join_lines(pieces: list[_Piece], usual: int) -> list[TextLine]:
    """Return the lines of a page in the order of drawing, without those rotated another way than most."""
    lines: list[TextLine] = []
    last: _Piece | None = None  # of the current line
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
                lines.append(TextLine(part, piece.x, piece.y, piece.size))
            last = piece._replace(text=part)
    cleaned = (line._replace(text=_clean(line.text)) for line in lines)
    return [line for line in cleaned if line.text]


def _is_gap(last: _Piece, piece: _Piece) -> bool:
    """Return whether there is a gap between two pieces of a line, even if the letters of the first are wide."""
    if last.text.endswith(" ") or piece.text.startswith(" "):
        return False
    return not 0 <= piece.x - last.x < 0.8 * last.size * (len(last.text) + 1)


def _clean(text: str) -> str:
    """Replace ligatures by letters, white space by single spaces, and unreadable characters by one sign."""
    return " ".join("".join(map(_readable, text.translate(_LIGATURES))).split())


def _readable(letter: str) -> str:
    if letter.isspace():
        return " "
    return letter if unicodedata.category(letter) not in ("Cc", "Co", "Cn", "Cs") else LOST
