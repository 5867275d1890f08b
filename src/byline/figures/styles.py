"""How named things look: labels, colours that the colour-blind tell apart, and marks that are told apart in grey."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from byline.figures.metadata import Look, Looks
from byline.figures.names import plain

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colours, without the yellow, which is hard to see on white."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
LINES: tuple[Any, ...] = (
    "-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)), (0, (2.5, 1)), (0, (5, 1, 1.2, 1, 1.2, 1)),
)  # fmt: skip
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----")
GREY = "#7f7f7f"


@dataclass(frozen=True)
class Shown:
    """One thing as it is shown."""

    label: str
    colour: str
    marker: str
    group: str
    """As it stands in the legend; empty for none."""


def show(
    names: Sequence[str], looks: Looks, owners: Sequence[str] = (), suffixes: Sequence[str] = (), longest: int = 32
) -> list[Shown]:
    """Each name as it is shown; those of one owner, or of one group of the looks, in one colour and with one mark.

    A name without either is in the palette's first colour, or in grey where others have one. An owner's look holds for
    what has none of its own. A file's .txt is left out.
    """
    owned = owners or ("",) * len(names)
    own = [looks.get(name, Look()) for name in names]
    theirs = [looks.get(owner, Look()) if owner else Look() for owner in owned]
    groups = [
        mine.group or his.group or his.label or owner for mine, his, owner in zip(own, theirs, owned, strict=True)
    ]
    number_of = {group: number for number, group in enumerate(dict.fromkeys(group for group in groups if group))}
    shown = []
    for place, name in enumerate(names):
        number = number_of.get(groups[place])
        usual = PALETTE[0] if not number_of else GREY if number is None else PALETTE[number % len(PALETTE)]
        colour = own[place].colour or theirs[place].colour or usual
        suffix = suffixes[place] if suffixes else ""
        label = plain(own[place].label or name.removesuffix(".txt"), longest - len(suffix)) + suffix
        group = plain(groups[place]) if groups[place] else ""
        marker = MARKERS[number % len(MARKERS)] if number is not None else "." if number_of else MARKERS[0]
        shown.append(Shown(label, colour, marker, group))
    return shown


def legend_of(shown: Sequence[Shown]) -> list[Shown]:
    """The first of each group, in order."""
    first: dict[str, Shown] = {}
    for each in shown:
        if each.group:
            first.setdefault(each.group, each)
    return list(first.values())
