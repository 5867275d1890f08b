"""Bytes -> text: the byte-order mark, what the file says of itself, UTF-8, or a guess that is said to be one."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from byline.formats.guessing import guess_encoding, guess_wide
from byline.formats.reading import Unreadable

# Longest first: UTF-32's mark begins with UTF-16's.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# As browsers do: what is called by the first name is written in the second, which has all of it and more.
WIDER = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
}
DECLARED = frozenset((
    "ascii", "big5", "big5hkscs", "cp1125", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp1255", "cp1256",
    "cp1257", "cp1258", "cp437", "cp720", "cp737", "cp775", "cp850", "cp852", "cp855", "cp857", "cp858", "cp860",
    "cp861", "cp862", "cp863", "cp864", "cp865", "cp866", "cp869", "cp874", "cp932", "cp949", "cp950", "euc_jis_2004",
    "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "iso2022_jp", "iso8859-1", "iso8859-10", "iso8859-11",
    "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "iso8859-2", "iso8859-3", "iso8859-4", "iso8859-5",
    "iso8859-6", "iso8859-7", "iso8859-8", "iso8859-9", "johab", "koi8-r", "koi8-t", "koi8-u", "kz1048",
    "mac-croatian", "mac-cyrillic", "mac-greek", "mac-iceland", "mac-latin2", "mac-roman", "mac-romanian",
    "mac-turkish", "ptcp154", "shift_jis", "shift_jis_2004", "tis-620", "utf-8", "utf-8-sig",
))  # fmt: skip
"""What a file may say that it is in, as Python calls it: what browsers know, and the pages of DOS and Mac."""
BROWSERS = {
    "cn-big5": "big5", "dos-874": "cp874", "iso-8859-8-i": "iso8859-8", "koi": "koi8-r", "koi8": "koi8-r",
    "koi8-ru": "koi8-u", "logical": "iso8859-8", "unicode-1-1-utf-8": "utf-8", "windows-31j": "cp932",
    "windows-874": "cp874", "windows-949": "cp949", "x-euc-jp": "euc_jp", "x-gbk": "gbk",
    "x-mac-cyrillic": "mac-cyrillic", "x-mac-roman": "mac-roman", "x-sjis": "cp932", "x-x-big5": "big5",
}  # fmt: skip
"""Names that browsers know and Python does not."""
NO_TEXTS = frozenset(("charmap", "idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"))
"""What Python can decode though no text file is in it; some take the square of its size."""
_SPELT = {"cp932": "Shift-JIS", "big5hkscs": "Big5", "cp949": "EUC-KR", "mac-roman": "Mac Roman"}
REMEDY = "save it as UTF-8; byline text FILE --encoding NAME -o DIR writes such a copy"


class Decoded(NamedTuple):
    """A text and what was guessed to get it."""

    text: str
    guesses: tuple[str, ...] = ()


def decode(data: bytes, declared: str | None = None, said: str | None = None) -> Decoded:
    """The text of bytes, line ends made plain.

    `declared` is what the file says of its encoding, which may be wrong; `said` is what the user says, which counts.
    """
    mark = next((encoding for mark, encoding in MARKS if data.startswith(mark)), None)
    if said:
        return Decoded(_plain(_decode_as(data, said)).removeprefix("\ufeff"))
    if mark:
        return Decoded(_plain(_decode_as(data, mark)))
    if declared is not None and (found := _decode_declared(data, declared)):
        return found
    if wide := guess_wide(data):
        return _guessed(*wide)
    try:
        return Decoded(_plain(data.decode("utf-8")), _doubt(declared))
    except UnicodeDecodeError as error:
        where = f"not UTF-8 (byte {error.start})"
    if _is_nearly_utf8(data):
        raise Unreadable(f"{where}, though most of it is; repair it there")
    guessed = guess_encoding(data)
    if guessed is None:
        raise Unreadable(f"{where}, and what else is not sure; {REMEDY}")
    return _guessed(*guessed)


def _guessed(encoding: str, text: str) -> Decoded:
    return Decoded(_plain(text), (f"read as {spell(encoding)}, a guess; if letters are wrong, {REMEDY}",))


def _doubt(declared: str | None) -> tuple[str, ...]:
    """What to say of a text in UTF-8 that says that it is in something that no text is in."""
    if declared is None or declarable(declared) or _is_wide(known_encoding(declared.strip())):
        return ()
    return (f"says that it is {declared.strip()!a}, no encoding of texts; read as UTF-8, a guess",)


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def known_encoding(name: str) -> str:
    """An encoding by any of its names, as Python calls it, or nothing where there is no such."""
    try:
        found = codecs.lookup(name)
        "".encode(found.name)  # some are no encodings of text
    except (LookupError, ValueError):  # or a name that can be none
        return ""
    return "" if found.name.replace("_", "-") in NO_TEXTS else found.name


def declarable(name: str) -> str:
    """An encoding that a file may say that it is in, as Python calls it, or nothing."""
    name = name.strip().lower()
    found = known_encoding(BROWSERS.get(name, name))
    return found if found in DECLARED else ""


def spell(encoding: str) -> str:
    """An encoding as people call it."""
    usual = re.sub(r"^CP(?=125|874)", "Windows-", encoding.upper().removesuffix("-SIG").replace("_", "-"))
    return _SPELT.get(encoding, usual.replace("ISO8859", "ISO-8859"))


def _decode_as(data: bytes, encoding: str) -> str:
    if not known_encoding(encoding):
        raise Unreadable(f"there is no encoding {encoding!a}; name one such as cp1252 or utf-16")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"not {spell(encoding)} (byte {error.start}); save it as UTF-8") from None
    except UnicodeError:
        raise Unreadable(f"not {spell(encoding)}; save it as UTF-8") from None


def _decode_declared(data: bytes, declared: str) -> Decoded | None:
    """The text by what the file says, or nothing where that can't be."""
    encoding = declarable(declared)
    if not encoding:
        return None
    try:
        text = data.decode(WIDER.get(encoding, encoding))
    except UnicodeError:
        return None
    doubtful = encoding != "utf-8" and not data.isascii() and _is_utf8(data)
    said = f"says that it is {spell(encoding)}, but could be UTF-8; read as it says: look whether its letters are right"
    return Decoded(_plain(text), (said,) if doubtful else ())


def _is_wide(encoding: str) -> bool:
    """Whether letters have two bytes or four in it; what can be read as ASCII does not say so rightly."""
    return encoding.startswith(("utf-16", "utf-32"))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _is_nearly_utf8(data: bytes) -> bool:
    """Whether most of what is not ASCII is UTF-8: a guess would spoil all of it for a few bytes."""
    kept = data.decode("utf-8", "ignore").encode()
    return 2 * _count_high(kept) > _count_high(data)


def _count_high(data: bytes) -> int:
    return len(data) - len(data.translate(None, bytes(range(0x80, 0x100))))
