"""The encoding of bytes that don't say theirs: what chardet finds, among what people's files are in, if it is sure."""

from __future__ import annotations

import codecs
import functools
import re
import unicodedata

from byline.formats.reading import hushed

# The pages of Windows, those that were usual beside them, DOS and Mac; the more usual first, as chardet names them.
CANDIDATES = (
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874", "cp932",
    "gb18030", "big5hkscs", "cp949", "euc_jis_2004", "koi8-r", "koi8-u", "iso8859-7", "iso8859-2", "mac-roman",
    "utf-16-le", "utf-16-be", "cp850", "cp437", "cp852", "cp857", "cp866", "cp737", "iso8859-5", "mac-cyrillic",
    "mac-greek",
)  # fmt: skip
_NAMES = {"euc_jis_2004": "euc_jp"}
"""How Python calls them, where that is not the same."""
SHORTEST = 300
"""Bytes that a guess needs."""
SAMPLE = 200_000
"""Bytes that it is made from, at the most."""
NEAR = 0.98
"""Candidates of this share of the best one's confidence are looked at."""
DIGITS = 4
"""To these digits of that share two fit alike, and what reads better or is more usual is taken."""
FEW = 3
"""With no more bytes than these that are not ASCII, what fits best must also be what is most usual."""
WIDE, FEWEST_WIDE = 0.5, 8
"""With this share of every other byte zero, and so many, a text has two bytes a letter."""
MOST_ODD = 0.05
"""Of what is not ASCII: with more of it odd, no reading is sure."""


def guess_encoding(data: bytes) -> tuple[str, str] | None:
    """The encoding of bytes, as Python calls it, and their text; None where it is not sure."""
    if len(data) < SHORTEST:
        return None
    import chardet  # hardly ever needed

    samples = {name: text for name in CANDIDATES if (text := _sample(data, name)) is not None}
    with hushed("chardet"):
        rows = chardet.detect_all(
            data, include_encodings=CANDIDATES, compat_names=False, max_bytes=SAMPLE, no_match_encoding="ascii"
        )
    best = max((row["confidence"] for row in rows), default=0.0)
    if best <= 0:
        return None
    found = []
    for row in rows:
        name, share = row["encoding"], row["confidence"] / best
        if name in samples and share >= NEAR and (odd := _oddity(samples[name])) <= MOST_ODD:
            found.append((-round(share, DIGITS), odd, CANDIDATES.index(name), name))
    if not found:
        return None
    chosen = samples[min(found)[-1]]
    usual = samples[min(found, key=lambda row: row[1:])[-1]]
    if chosen != usual and sum(byte > 0x7F for byte in data[:SAMPLE]) <= FEW:
        return None
    name = next(name for name, text in samples.items() if text == chosen)  # the most usual of those that read the same
    encoding = _NAMES.get(name, name)
    try:
        return encoding, data.decode(encoding)
    except UnicodeError:
        return None


def guess_wide(data: bytes) -> tuple[str, str] | None:
    """UTF-16 without its mark, as Python calls it, and the text, if every other byte shows it.

    Of Latin letters one of two bytes is zero, the same of each; all of it can be UTF-8 as well.
    """
    sample = data[:SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if max(even, odd) < max(FEWEST_WIDE, WIDE * (len(sample) // 2)) or min(even, odd) > 0.01 * len(sample):
        return None
    encoding = "utf-16-le" if odd > even else "utf-16-be"
    try:
        text = data.decode(encoding)
    except UnicodeError:
        return None
    return None if _has_controls(text[:SAMPLE]) else (encoding, text)


def _has_controls(text: str) -> bool:
    """Whether there is what no text has."""
    return any(unicodedata.category(letter) in ("Cc", "Co", "Cn", "Cs") for letter in set(text) - set("\t\n\r\f\x1a"))


def _sample(data: bytes, name: str) -> str | None:
    try:
        return codecs.getincrementaldecoder(_NAMES.get(name, name))().decode(data[:SAMPLE])
    except UnicodeError:
        return None


def _oddity(text: str) -> float:
    """How much of what is not ASCII is odd, from 0 to 1; with controls, all of it."""
    if _has_controls(text):
        return 1.0
    strange = sum(len(found[0]) for found in _oddities().finditer(text))
    return strange / max(1, len(text) - len(text.encode("ascii", "ignore")))


@functools.cache
def _oddities() -> re.Pattern[str]:
    """A sign within or before a word, a capital after a small letter, a word of accented letters alone."""
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
