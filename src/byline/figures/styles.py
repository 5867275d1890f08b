"""How named things look: labels, colours that the colour-blind tell apart, and marks that are told apart in grey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
    group_colour: str = ""
    """That of the legend; what is shown may have a colour of its own."""
    place: int = 0
    """Of the group among all."""


def show(
    names: Sequence[str],
    looks: Looks,
    owners: Sequence[str] = (),
    suffixes: Sequence[str] = (),
    longest: int = 32,
    order: Sequence[str] = (),
) -> list[Shown]:
    """Each name as it is shown; those of one owner, or of one group of the looks, in one colour and with one mark.

    Groups of the looks get theirs in the order of the table, in every figure the same; then come owners, in the order
    given or as they occur. A name without either is in the palette's first colour, or in grey where others have one. An
    owner's look holds for what has none of its own. A file's .txt is left out.
    """
    owned = owners or ("",) * len(names)
    own = [looks.get(name, Look()) for name in names]
    theirs = [looks.get(owner, Look()) if owner else Look() for owner in owned]
    groups = [mine.group or _group_of(owner, looks) for mine, owner in zip(own, owned, strict=True)]
    known = [look.group for look in looks.values()] + [_group_of(owner, looks) for owner in order] + groups
    number_of = {group: number for number, group in enumerate(dict.fromkeys(filter(None, known)))}
    colours = _group_colours(looks, number_of)
    shown = []
    for place, name in enumerate(names):
        number = number_of.get(groups[place])
        its = PALETTE[0] if not number_of else GREY if number is None else colours[groups[place]]
        colour = own[place].colour or theirs[place].colour or its
        suffix = suffixes[place] if suffixes else ""
        label = plain(own[place].label or name.removesuffix(".txt"), longest - len(suffix)) + suffix
        group = plain(groups[place]) if groups[place] else ""
        marker = MARKERS[number % len(MARKERS)] if number is not None else "." if number_of else MARKERS[0]
        shown.append(Shown(label, colour, marker, group, its, number or 0))
    return shown


def _group_of(owner: str, looks: Looks) -> str:
    """What the texts of an owner are shown as."""
    look = looks.get(owner, Look()) if owner else Look()
    return look.group or look.label or owner


def _group_colours(looks: Looks, number_of: Mapping[str, int]) -> dict[str, str]:
    """The palette's colours, but where all that the table has of a group are to have one and the same."""
    said: dict[str, set[str]] = {}
    for name, look in looks.items():
        said.setdefault(look.group or look.label or name, set()).add(look.colour)
    found = {}
    for group, number in number_of.items():
        (colour,) = said[group] if len(said.get(group, ())) == 1 else ("",)
        found[group] = colour or PALETTE[number % len(PALETTE)]
    return found


def legend_of(shown: Sequence[Shown]) -> list[Shown]:
    """One of each group, in the group's own colour, in order."""
    first: dict[str, Shown] = {}
    for each in shown:
        if each.group:
            first.setdefault(each.group, replace(each, colour=each.group_colour))
    return sorted(first.values(), key=lambda each: each.place)
