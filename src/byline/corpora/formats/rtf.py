"""Read RTF: the body without notes, headers, comments, deletions and hidden text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from byline.corpora.formats.encodings import declarable
from byline.corpora.formats.extraction import SYMBOLS, ExtractedText, Paragraphs, Unreadable, is_listing, left_out

MAX_DEPTH = 1_000  # groups within one another
MAX_TOKENS = 5_000_000
_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)", re.DOTALL
)
# Groups that hold no text of the body. Those that begin with \* are skipped too, except for those in _READ.
SKIPPED = frozenset((
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
# The names that a note gives to groups that are left out.
NOTES = {
    "annotation": "comments", "footnote": "footnotes and endnotes",
    "header": "page headers", "headerf": "page headers", "headerl": "page headers", "headerr": "page headers",
    "footer": "page footers", "footerf": "page footers", "footerl": "page footers", "footerr": "page footers",
}  # fmt: skip
_READ = ("shpinst",)
CHARACTERS = {
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
MAX_INSTRUCTION = 100  # characters of a field's instruction that are kept
SYMBOL_CHARSET = 2  # the character set of fonts whose characters are no letters


def read_rtf(data: bytes, encoding: str | None = None) -> ExtractedText:
    """Read an RTF file."""
    if not data.lstrip().startswith(b"{\\rtf"):
        raise Unreadable("no RTF file, whatever its name says", "Open it where it was written and save it again")
    body = _Body()
    body.read(data)
    lost = body.lost
    guesses = (f"{lost:,} of its characters can't be decoded in the encoding that it names",) if lost else ()
    return ExtractedText(body.found.to_text(), left_out(body.left), guesses)


@dataclass
class _Field:
    """A field, whose instruction says what it shows."""

    instruction: str = ""


@dataclass(frozen=True)
class _State:
    """The state of a group, which inner groups inherit."""

    skipped: bool = False
    kind: str = ""  # of what is skipped, for the note
    hidden: bool = False
    deleted: bool = False
    fallback: int = 1  # characters after a Unicode one that replace it in old programs
    font: int = -1
    in_fonts: bool = False  # in the table of fonts
    twice: bool = False  # has the same text twice, for old programs and in Unicode
    field: _Field = field(default_factory=_Field)  # the innermost that has begun
    in_instruction: bool = False


class _Body:
    """Reads groups and control words and collects the paragraphs."""

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
        """Read a file up to the end of its outermost group."""
        place, tokens = 0, 0
        while found := _TOKEN.match(data, place):  # to the end, or to a backslash that is the last byte
            tokens += 1
            if tokens > MAX_TOKENS:
                raise Unreadable(f"more than {MAX_TOKENS // 1_000_000} million control words", "Save it again as .docx")
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
                    self._apply(name, int(number) if number else None)
            elif sign is not None:
                self._apply_symbol(sign)
            elif brace is not None and not self._enter_or_leave(brace):
                break
        self._flush()

    def _enter_or_leave(self, brace: bytes) -> bool:
        """Begin or end a group; return whether a group is still open."""
        self._flush()
        self.skip, self.starred = 0, False
        if brace == b"{":
            if len(self.outer) >= MAX_DEPTH:
                raise Unreadable(f"its groups are nested more than {MAX_DEPTH:,} deep", "Save it again as .docx")
            self.outer.append(self.state)
            if self.state.twice:  # until the one in Unicode begins
                self.state = replace(self.state, twice=False, skipped=True)
        elif self.outer:
            self.state = self.outer.pop()
        return bool(self.outer)

    def _apply(self, name: str, number: int | None) -> None:
        if name == "u" and number is not None:
            self._add_unit(number)
            return
        if name in CHARACTERS and self.skip:
            self.skip -= 1
            return
        self._flush_bytes()
        starred, self.starred = self.starred, False
        if name == "ud" and self.outer and self.outer[-1].twice:
            self.state = replace(self.outer[-1], twice=False)
            return
        if self.state.skipped and not self.state.in_fonts:
            return
        if name == "fonttbl":
            self.state = replace(self.state, skipped=True, in_fonts=True)
        elif name == "upr":
            self.state = replace(self.state, twice=True)
        elif name == "field":
            self.state = replace(self.state, field=_Field(), in_instruction=False)
        elif name == "fldinst":
            self.state = replace(self.state, skipped=True, kind="", in_instruction=True)
        elif name == "fldrslt":
            if is_listing(self.state.field.instruction):
                self.state = replace(self.state, skipped=True, kind="lists of contents")
        elif name in SKIPPED or (starred and name not in _READ):
            self.state = replace(self.state, skipped=True, kind=NOTES.get(name, ""))
        elif name in ("f", "deff"):
            self.state = replace(self.state, font=number or 0)
        elif name == "fcharset" and self.state.in_fonts:
            self.charsets[self.state.font] = number or 0
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
        elif name in CHARACTERS:
            self.found.add(CHARACTERS[name])

    def _apply_symbol(self, sign: bytes) -> None:
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
        return self.state.skipped or self.state.hidden or self.state.deleted

    def _leave_out(self) -> None:
        """Note the kind of the text that is skipped."""
        inner = "hidden text" if self.state.hidden else "deleted text"
        if kind := self.state.kind if self.state.skipped else inner:
            self.left[kind] = None

    def _add_bytes(self, more: bytes) -> None:
        if self.skip:
            count = min(self.skip, len(more))
            self.skip -= count
            more = more[count:]
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
        if self.state.in_instruction:
            instruction = self.state.field.instruction + content.decode("latin-1")
            self.state.field.instruction = instruction[:MAX_INSTRUCTION]
        elif self._is_silent():
            if content.strip():
                self._leave_out()
        elif charset == SYMBOL_CHARSET:
            if content.strip():
                self.left[SYMBOLS] = None
        else:
            text = content.decode(CHARSETS.get(charset, self.encoding), "replace")
            self.lost += text.count("\ufffd")
            self.found.add(text)

    def _flush_units(self) -> None:
        if self.units:
            text = b"".join(unit.to_bytes(2, "little") for unit in self.units).decode("utf-16-le", "replace")
            self.units.clear()
            self.found.add(text)
