"""Bytes -> text: the byte-order mark, what the file says of itself, UTF-8, or a guess that is said to be one."""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

from byline.formats.guessing import guess_encoding
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
_SPELT = {"cp932": "Shift-JIS", "big5hkscs": "Big5", "cp949": "EUC-KR", "mac-roman": "Mac Roman"}
REMEDY = "save it as UTF-8, or say what it is with byline text --encoding"


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
    try:
        return Decoded(_plain(data.decode("utf-8")))
    except UnicodeDecodeError as error:
        where = f"not UTF-8 (byte {error.start})"
    if _is_nearly_utf8(data):
        raise Unreadable(f"{where}, though most of it is; repair it there")
    guessed = guess_encoding(data)
    if guessed is None:
        raise Unreadable(f"{where}, and what else is not sure; {REMEDY}")
    encoding, text = guessed
    return Decoded(_plain(text), (f"read as {spell(encoding)}, a guess; if letters are wrong, {REMEDY}",))


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def known_encoding(name: str) -> str:
    """An encoding by any of its names, as Python calls it, or nothing where there is no such."""
    try:
        found = codecs.lookup(name)
        "".encode(found.name)  # some are no encodings of text
    except (LookupError, ValueError):  # or a name that can be none
        return ""
    return found.name


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
    encoding = known_encoding(declared.strip())
    if not encoding or encoding.startswith(("utf-16", "utf-32")):  # which its own declaration is not in
        return None
    try:
        text = data.decode(WIDER.get(encoding, encoding))
    except UnicodeError:
        return None
    doubtful = encoding != "utf-8" and not data.isascii() and _is_utf8(data)
    said = f"says that it is {spell(encoding)}, but could be UTF-8; read as it says: look whether its letters are right"
    return Decoded(_plain(text), (said,) if doubtful else ())


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
