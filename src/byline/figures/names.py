"""Names as they stand in a figure: plain, short, and no more of them than there is room for."""

from __future__ import annotations

import math

LONGEST = 32
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Can't be seen, but some scripts are not written right without them."""


def plain(name: str, longest: int = LONGEST) -> str:
    """A name in one line of printable characters; of a long one beginning and end."""
    shown = " ".join("".join(map(_visible, name)).split()) or "(no name)"
    if len(shown) <= longest:
        return shown
    end = longest // 3
    return shown[: longest - end - 1] + ELLIPSIS + shown[len(shown) - end :]


def thin_out(count: int, room: float) -> range:
    """Which of so many things in a row get a label, where there is room for `room` labels."""
    return range(0, count, max(1, math.ceil(count / max(1.0, room))))


def _visible(letter: str) -> str:
    if letter.isprintable() or letter in JOINERS:
        return letter
    return " " if letter.isspace() else UNKNOWN
