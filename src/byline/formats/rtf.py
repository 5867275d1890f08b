"""RTF -> text: the body, without notes, headers, comments, deletions and hidden text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from byline.formats.encodings import declarable
from byline.formats.reading import SIGNS as SYMBOL_SIGNS
from byline.formats.reading import Paragraphs, Reading, Unreadable, is_listing, left_out

DEEPEST = 1_000
"""Groups within one another."""
MOST_TOKENS = 5_000_000
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.DOTALL
)
# Groups that hold no text of the body. All that begin with \* are passed over too, but for those in _READ.
PASSED = frozenset((
    "aftncn", "aftnsep", "aftnsepc", "annotation", "atnauthor", "atndate", "atnid", "atrfend", "atrfstart",
    "author", "background", "bkmkend", "bkmkstart", "blipuid", "buptim", "category", "colortbl", "comment",
    "company", "creatim", "datafield", "do", "doccomm", "docvar", "falt", "fontemb", "fontfile",
    "footer", "footerf", "footerl", "footerr", "footnote", "formfield", "ftncn", "ftnsep", "ftnsepc", "generator",
    "header", "headerf", "headerl", "headerr", "hlinkbase", "info", "keywords", "latentstyles", "listoverridetable",
    "listtable", "listtext", "manager", "mmathPr", "nextfile", "nonshppict", "objalias", "objclass", "objdata",
    "objname", "operator", "panose", "pict", "pntext", "pntxta", "pntxtb", "printim", "private", "revtbl", "revtim",
    "rsidtbl", "rxe", "shprslt", "sn", "sp", "staticval", "stylesheet", "subject", "sv", "tc", "template",
    "themedata", "title", "txe", "userprops", "xe", "xmlnstbl",
))  # fmt: skip
LEFT = {
    "annotation": "comments", "footnote": "footnotes and endnotes",
    "header": "page headers", "headerf": "page headers", "headerl": "page headers", "headerr": "page headers",
    "footer": "page footers", "footerf": "page footers", "footerl": "page footers", "footerr": "page footers",
}  # fmt: skip
"""What a note calls that which is left out."""
_READ = ("shpinst",)
SIGNS = {
    "tab": "\t", "emdash": "\u2014", "endash": "\u2013", "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005",
    "bullet": "\u2022", "lquote": "\u2018", "rquote": "\u2019", "ldblquote": "\u201c", "rdblquote": "\u201d",
    "zwj": "\u200d", "zwnj": "\u200c",
}  # fmt: skip
ENDS = frozenset(("par", "sect", "page", "column", "cell", "nestcell", "row", "nestrow"))
FAMILIES = {"ansi": "cp1252", "mac": "mac_roman", "pc": "cp437", "pca": "cp850"}
CHARSETS = {
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "big5hkscs", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
LONGEST_INSTRUCTION = 100
"""Characters of what a field shall show that are looked at."""
SYMBOLS = 2
"""The character set of fonts whose characters are no letters."""


def read_rtf(data: bytes, encoding: str | None = None) -> Reading:
    """The text of an RTF file."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise Unreadable("no RTF file, whatever its name says; open it where it was written and save it again")
    body = _Body()
    body.read(data)
    lost = body.lost
    guesses = (f"{lost:,} characters of it can't be read in the encoding that it names",) if lost else ()
    return Reading(body.found.to_text(), left_out(body.left), guesses)


@dataclass
class _Field:
    """What a field shall show."""

    instruction: str = ""


@dataclass(frozen=True)
class _State:
    """What a group begins with from the one around it."""

    passed: bool = False
    kind: str = ""
    """Of what is passed over, as notes call it."""
    hidden: bool = False
    deleted: bool = False
    fallback: int = 1
    """Characters after a Unicode one that stand for it in old programs."""
    font: int = -1
    fonts: bool = False
    """In the table of fonts."""
    twice: bool = False
    """Has the same text twice, for old programs and in Unicode."""
    field: _Field = field(default_factory=_Field)
    """The innermost that has begun."""
    instructs: bool = False
    """In what the field shall show."""


class _Body:
    """Reads groups and control words and gathers the paragraphs."""

    def __init__(self) -> None:
        self.found = Paragraphs(collapse=False)
        self.lost = 0
        self.left: dict[str, None] = {}
        self.state = _State()
        self.outer: list[_State] = []
        self.encoding = "cp1252"
        self.charsets: dict[int, int] = {}
        self.pending = bytearray()
        self.units: list[int] = []
        self.skip = 0
        self.starred = False

    def read(self, data: bytes) -> None:
        """All of a file, or up to the end of its outermost group."""
        place, tokens = 0, 0
        while found := _TOKEN.match(data, place):  # to the end, or to a backslash that is the last byte
            tokens += 1
            if tokens > MOST_TOKENS:
                raise Unreadable(f"more than {MOST_TOKENS // 1_000_000} million control words; save it again as .docx")
            place = found.end()
            word, number, code, sign, brace, plain = found.groups()
            if plain is not None:
                self._add_bytes(plain)
            elif code is not None:
                self._add_bytes(bytes((int(code, 16),)))
            elif word is not None:
                name = word.decode("ascii")
                if name == "bin":
                    place += max(0, int(number or 0))
                else:
                    self._obey(name, int(number) if number else None)
            elif sign is not None:
                self._show(sign)
            elif brace is not None and not self._turn(brace):
                break
        self._flush()

    def _turn(self, brace: bytes) -> bool:
        """Begin or end a group; whether there is more to come."""
        self._flush()
        self.skip, self.starred = 0, False
        if brace == b"{":
            if len(self.outer) >= DEEPEST:
                raise Unreadable(f"its groups are nested more than {DEEPEST:,} deep; save it again as .docx")
            self.outer.append(self.state)
            if self.state.twice:  # until it shows that this is the one in Unicode
                self.state = replace(self.state, twice=False, passed=True)
        elif self.outer:
            self.state = self.outer.pop()
        return bool(self.outer)

    def _obey(self, name: str, number: int | None) -> None:
        if name == "u" and number is not None:
            self._add_unit(number)
            return
        if name in SIGNS and self.skip:
            self.skip -= 1
            return
        self._flush_bytes()
        starred, self.starred = self.starred, False
        if name == "ud" and self.outer and self.outer[-1].twice:
            self.state = replace(self.outer[-1], twice=False)
            return
        if self.state.passed and not self.state.fonts:
            return
        if name == "fonttbl":
            self.state = replace(self.state, passed=True, fonts=True)
        elif name == "upr":
            self.state = replace(self.state, twice=True)
        elif name == "field":
            self.state = replace(self.state, field=_Field(), instructs=False)
        elif name == "fldinst":
            self.state = replace(self.state, passed=True, kind="", instructs=True)
        elif name == "fldrslt":
            if is_listing(self.state.field.instruction):
                self.state = replace(self.state, passed=True, kind="lists of contents")
        elif name in PASSED or (starred and name not in _READ):
            self.state = replace(self.state, passed=True, kind=LEFT.get(name, ""))
        elif name == "f":
            self.state = replace(self.state, font=number or 0)
        elif name == "fcharset" and self.state.fonts:
            self.charsets[self.state.font] = number or 0
        elif name == "deff":
            self.state = replace(self.state, font=number or 0)
        elif name == "uc":
            self.state = replace(self.state, fallback=max(0, min(number or 0, 100)))
        elif name == "v":
            self.state = replace(self.state, hidden=number != 0)
        elif name == "deleted":
            self.state = replace(self.state, deleted=number != 0)
        elif name == "plain":
            self.state = replace(self.state, hidden=False, deleted=False)
        elif name in FAMILIES:
            self.encoding = FAMILIES[name]
        elif name == "ansicpg":
            named = "utf-8" if number == 65001 else declarable(f"cp{number}")
            self.encoding = named or self.encoding
        else:
            self._write(name)

    def _write(self, name: str) -> None:
        self._flush()
        if self._is_silent():
            return
        if name in ENDS:
            self.found.end()
        elif name in ("line", "softline"):
            self.found.break_line()
        elif name in SIGNS:
            self.found.add(SIGNS[name])

    def _show(self, sign: bytes) -> None:
        """A control symbol."""
        if sign == b"*":
            self.starred = True
        elif sign in b"\\{}":
            self._add_bytes(sign)
        elif sign in b"\r\n":
            self._write("par")
        elif sign in (b"~", b"_"):
            if self.skip:
                self.skip -= 1
                return
            self._flush()
            if not self._is_silent():
                self.found.add("\u00a0" if sign == b"~" else "\u2011")

    def _is_silent(self) -> bool:
        return self.state.passed or self.state.hidden or self.state.deleted

    def _leave_out(self) -> None:
        """Text is passed over: of what kind?"""
        inner = "hidden text" if self.state.hidden else "deleted text"
        if kind := self.state.kind if self.state.passed else inner:
            self.left[kind] = None

    def _add_bytes(self, more: bytes) -> None:
        if self.skip:
            passed = min(self.skip, len(more))
            self.skip -= passed
            more = more[passed:]
        if more:
            self._flush_units()
            self.pending += more

    def _add_unit(self, number: int) -> None:
        self._flush_bytes()
        self.starred = False
        if self._is_silent():
            self._leave_out()
        else:
            self.units.append(number & 0xFFFF)
        self.skip = self.state.fallback

    def _flush(self) -> None:
        self.skip = 0
        self._flush_bytes()
        self._flush_units()

    def _flush_bytes(self) -> None:
        if not self.pending:
            return
        content = bytes(self.pending)
        self.pending.clear()
        charset = self.charsets.get(self.state.font, 0)
        if self.state.instructs:
            instruction = self.state.field.instruction + content.decode("latin-1")
            self.state.field.instruction = instruction[:LONGEST_INSTRUCTION]
        elif self._is_silent():
            if content.strip():
                self._leave_out()
        elif charset == SYMBOLS:
            if content.strip():
                self.left[SYMBOL_SIGNS] = None
        else:
            text = content.decode(CHARSETS.get(charset, self.encoding), "replace")
            self.lost += text.count("\ufffd")
            self.found.add(text)

    def _flush_units(self) -> None:
        if self.units:
            text = b"".join(unit.to_bytes(2, "little") for unit in self.units).decode("utf-16-le", "replace")
            self.units.clear()
            self.found.add(text)
