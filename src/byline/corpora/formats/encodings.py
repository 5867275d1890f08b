"""Decode bytes: by a byte-order mark, the encoding that the file declares, UTF-8, or a reported guess."""

from __future__ import annotations

import codecs
import functools
import re
import unicodedata
from typing import NamedTuple

from byline.corpora.formats.extraction import Unreadable, silenced

# Longest first: the mark of UTF-32 begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# As browsers do: a file that declares the first is decoded as the second, which contains it.
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
# Encodings that a file may declare, under Python's names: those of browsers, and the code pages of DOS and Mac.
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
# Names that browsers know and Python does not.
BROWSERS = {
    "cn-big5": "big5", "dos-874": "cp874", "iso-8859-8-i": "iso8859-8", "koi": "koi8-r", "koi8": "koi8-r",
    "koi8-ru": "koi8-u", "logical": "iso8859-8", "unicode-1-1-utf-8": "utf-8", "windows-31j": "cp932",
    "windows-874": "cp874", "windows-949": "cp949", "x-euc-jp": "euc_jp", "x-gbk": "gbk",
    "x-mac-cyrillic": "mac-cyrillic", "x-mac-roman": "mac-roman", "x-sjis": "cp932", "x-x-big5": "big5",
}  # fmt: skip
# Python's codecs that no text file is in; some take time that grows with the square of the size.
NOT_FOR_TEXTS = frozenset(("charmap", "idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7"))
_COMMON_NAMES = {"cp932": "Shift-JIS", "big5hkscs": "Big5", "cp949": "EUC-KR", "mac-roman": "Mac Roman"}
REMEDY = "save it as UTF-8; byline text writes such a copy, given its encoding"
SAVE_AS_UTF8 = "Save it as UTF-8; byline text writes such a copy, given its encoding"

# Code pages of Windows, others of their time, DOS and Mac; the more usual first, under chardet's names.
CANDIDATES = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "cp932",
    "gb18030", "big5hkscs", "cp949", "euc_jis_2004", "koi8-r", "koi8-u", "iso8859-7", "iso8859-2", "mac-roman",
    "utf-16-le", "utf-16-be", "cp850", "cp437", "cp852", "cp857", "cp866", "cp737", "iso8859-5", "mac-cyrillic",
    "mac-greek",
)  # fmt: skip
_PYTHON_NAMES = {"euc_jis_2004": "euc_jp"}  # where Python's name differs from chardet's
MIN_BYTES = 300  # that a guess needs
SAMPLE = 200_000  # bytes that a guess is made from, at most
MIN_SHARE = 0.98  # of the best candidate's confidence: candidates below it are ignored
DIGITS = 4  # to which shares are compared; of equal ones the less odd or more usual encoding is taken
FEW_BYTES = 3  # with no more bytes outside ASCII, the best candidate must also be the most usual one
MIN_ZEROS, MIN_ZERO_SHARE = 8, 0.5  # of every other byte, in a text with two bytes per character
MAX_ODDITY = 0.05  # share of odd characters outside ASCII above which a candidate is rejected


class Decoded(NamedTuple):
    """A text and the guesses that were made to decode it."""

    text: str
    guesses: tuple[str, ...] = ()


def decode(data: bytes, declared: str | None = None, given: str | None = None) -> Decoded:
    """Decode bytes and normalize line ends to LF.

    `declared` is the encoding that the file states, which may be wrong; `given` is the user's, which is followed.
    """
    if given:
        return Decoded(_normalize_line_ends(_decode_as(data, given)).removeprefix("\ufeff"))
    if mark := next((encoding for mark, encoding in MARKS if data.startswith(mark)), None):
        return Decoded(_normalize_line_ends(_decode_as(data, mark)))
    if declared is not None and (found := _decode_declared(data, declared)):
        return found
    if wide := guess_utf16(data):
        return _report_guess(*wide)
    try:
        return Decoded(_normalize_line_ends(data.decode("utf-8")), _doubt(declared))
    except UnicodeDecodeError as error:
        what = f"not UTF-8 (byte {error.start})"
    if _is_nearly_utf8(data):
        raise Unreadable(f"{what}, though most of it is", "Repair it there")
    guessed = guess_encoding(data)
    if guessed is None:
        raise Unreadable(f"{what}, and no other encoding is certain", SAVE_AS_UTF8)
    return _report_guess(*guessed)


def _report_guess(encoding: str, text: str) -> Decoded:
    guess = f"read as {spell(encoding)}, a guess; if letters are wrong, {REMEDY}"
    return Decoded(_normalize_line_ends(text), (guess,))


def _doubt(declared: str | None) -> tuple[str, ...]:
    """Return the remark on a text in UTF-8 that declares an encoding that no text is in."""
    if declared is None or declarable(declared) or _is_wide(known_encoding(declared.strip())):
        return ()
    return (f"declares {declared.strip()!a}, which is no encoding of texts; read as UTF-8, a guess",)


def _normalize_line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def known_encoding(name: str) -> str:
    """Return Python's name of an encoding, or an empty string if there is no such encoding of texts."""
    try:
        found = codecs.lookup(name)
        "".encode(found.name)  # fails for codecs that are not from text to bytes
    except (LookupError, ValueError):
        return ""
    return "" if found.name.replace("_", "-") in NOT_FOR_TEXTS else found.name


def declarable(name: str) -> str:
    """Return Python's name of an encoding that a file may declare, or an empty string."""
    name = name.strip().lower()
    found = known_encoding(BROWSERS.get(name, name))
    return found if found in DECLARED else ""


def spell(encoding: str) -> str:
    """Return the usual name of an encoding, such as Windows-1252."""
    usual = re.sub(r"^CP(?=125|874)", "Windows-", encoding.upper().removesuffix("-SIG").replace("_", "-"))
    return _COMMON_NAMES.get(encoding, usual.replace("ISO8859", "ISO-8859"))


def _decode_as(data: bytes, encoding: str) -> str:
    if not known_encoding(encoding):
        raise Unreadable(f"there is no encoding {encoding!a}", "Name one such as cp1252 or utf-16")
    try:
        return data.decode(encoding)
    except UnicodeError as error:
        place = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
        raise Unreadable(f"not {spell(encoding)}{place}", "Save it as UTF-8") from None


def _decode_declared(data: bytes, declared: str) -> Decoded | None:
    """Decode bytes as the file declares, or return None if that is impossible."""
    encoding = declarable(declared)
    if not encoding:
        return None
    text = _try_decode(data, WIDER.get(encoding, encoding))
    if text is None:
        return None
    doubtful = encoding != "utf-8" and not data.isascii() and _try_decode(data, "utf-8") is not None
    guess = f"declares {spell(encoding)}, but could be UTF-8; read as declared: check that its letters are right"
    return Decoded(_normalize_line_ends(text), (guess,) if doubtful else ())


def _is_wide(encoding: str) -> bool:
    """Return whether characters have two or four bytes; a file that declares it in ASCII is wrong."""
    return encoding.startswith(("utf-16", "utf-32"))


def _try_decode(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeError:
        return None


def _is_nearly_utf8(data: bytes) -> bool:
    """Return whether most bytes outside ASCII are UTF-8: a guess would spoil all of them for a few bad ones."""
    kept = data.decode("utf-8", "ignore").encode()
    return 2 * _count_non_ascii(kept) > _count_non_ascii(data)


def _count_non_ascii(data: bytes) -> int:
    return len(data) - len(data.translate(None, bytes(range(0x80, 0x100))))


def guess_encoding(data: bytes) -> tuple[str, str] | None:
    """Return the likely encoding of bytes, under Python's name, and their text; None if it is uncertain."""
    if len(data) < MIN_BYTES:
        return None
    import chardet  # rarely needed, and would add a fifth to the start of every command

    samples = {name: text for name in CANDIDATES if (text := _decode_sample(data, name)) is not None}
    with silenced("chardet"):
        rows = chardet.detect_all(
            data, include_encodings=CANDIDATES, compat_names=False, max_bytes=SAMPLE, no_match_encoding="ascii"
        )
    best = max((row["confidence"] for row in rows), default=0.0)
    if best <= 0:
        return None
    found = []
    for row in rows:
        name, share = row["encoding"], row["confidence"] / best
        if name in samples and share >= MIN_SHARE and (oddity := _oddity(samples[name])) <= MAX_ODDITY:
            found.append((-round(share, DIGITS), oddity, CANDIDATES.index(name), name))
    if not found:
        return None
    chosen = samples[min(found)[-1]]
    usual = samples[min(found, key=lambda row: row[1:])[-1]]
    if chosen != usual and sum(byte > 0x7F for byte in data[:SAMPLE]) <= FEW_BYTES:
        return None
    name = next(name for name, text in samples.items() if text == chosen)  # the most usual of those that read the same
    encoding = _PYTHON_NAMES.get(name, name)
    text = _try_decode(data, encoding)
    return None if text is None else (encoding, text)


def guess_utf16(data: bytes) -> tuple[str, str] | None:
    """Return the byte order of UTF-16 without a mark, as Python's encoding, and the text; None if it is not UTF-16.

    One of the two bytes of a Latin letter is zero, always the same one. Such bytes can be valid UTF-8 too.
    """
    sample = data[:SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) < max(MIN_ZEROS, MIN_ZERO_SHARE * (len(sample) // 2)) or min(even, odd) > 0.01 * len(sample):
        return None
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    text = _try_decode(data, encoding)
    return None if text is None or _has_controls(text[:SAMPLE]) else (encoding, text)


def _has_controls(text: str) -> bool:
    """Return whether there are characters that no text has."""
    return any(unicodedata.category(letter) in ("Cc", "Co", "Cn", "Cs") for letter in set(text) - set("\t\n\r\f\x1a"))


def _decode_sample(data: bytes, name: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(_PYTHON_NAMES.get(name, name))().decode(data[:SAMPLE])
    except UnicodeError:
        return None


def _oddity(text: str) -> float:
    """Return the share of odd characters among those outside ASCII; 1 if there are control characters."""
    if _has_controls(text):
        return 1.0
    odd = sum(len(found[0]) for found in _odd_pattern().finditer(text))
    return odd / max(1, len(text) - len(text.encode("ascii", "ignore")))


@functools.cache
def _odd_pattern() -> re.Pattern[str]:
    """Match a sign within or before a word, a capital after a small letter, a word of accented letters alone."""
    letters = [chr(code) for code in range(0x80, 0x3000)]
    kinds = {letter: unicodedata.category(letter) for letter in letters if letter not in "\u00b7\u2019"}
    signs = "\u00b6" + "".join(re.escape(each) for each, kind in kinds.items() if kind[0] == "S" or kind == "No")
    marks = "".join(re.escape(each) for each, kind in kinds.items() if kind in ("Po", "Pi"))
    capitals = "".join(letter for letter in letters if letter.isupper())
    small = "a-z" + "".join(letter for letter in letters if letter.islower())
    accented = "\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f"
    return re.compile(
        rf"(?<=[^\W\d_])[{signs}{marks}](?=[^\W\d_])|(?<!\w)[{signs}](?=[{small}])"
        rf"|(?<=[{small}])[{capitals}]|(?<!\w)[{accented}]{{3,}}(?!\w)"
    )
