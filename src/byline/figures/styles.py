"""How named things are drawn: labels, colors that the color-blind tell apart, and markers that differ in gray."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from byline.corpora.documents import decode, read_bytes
from byline.errors import CorpusError, listing

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colors, without the yellow, which is hard to see on white."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
LINES: tuple[Any, ...] = (
    "-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (5, 1.5, 1.2, 1.5)), (0, (2.5, 1)), (0, (5, 1, 1.2, 1, 1.2, 1)),
)  # fmt: skip
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----")
GRAY = "#7f7f7f"

MAX_LENGTH = 32
"""Characters of a name in a figure."""
UNKNOWN = "\N{REPLACEMENT CHARACTER}"
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"
JOINERS = "\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
"""Invisible, but some scripts need them."""

COLUMNS = ("name", "label", "color", "group")
SPELLINGS = {"colour": "color"}
MAX_FAULTS = 5
"""Lines that an error quotes."""


@dataclass(frozen=True)
class Style:
    """What a table says of a name; an empty string means the default."""

    label: str = ""
    color: str = ""
    group: str = ""


Styles = Mapping[str, Style]
"""By name."""


@dataclass(frozen=True)
class StyledName:
    """A name as it is drawn."""

    label: str
    color: str
    marker: str
    group: str
    """As it stands in the legend; empty for none."""
    group_color: str = ""
    """In the legend; the name may have a color of its own."""
    place: int = 0
    """Of the group among all groups."""


def style_names(
    names: Sequence[str],
    styles: Styles,
    owners: Sequence[str] = (),
    suffixes: Sequence[str] = (),
    longest: int = MAX_LENGTH,
    order: Sequence[str] = (),
) -> list[StyledName]:
    """Style each name. Names of one owner, or of one group of the table, share a color and a marker.

    Groups of the table come first, in its order, so that they look the same in every figure; then owners, in the order
    given or as they occur. A name without either has the palette's first color, or gray if others have a group. An
    owner's style holds for names without a style of their own. The suffix .txt is left out.
    """
    owned = owners or ("",) * len(names)
    own = [styles.get(name, Style()) for name in names]
    theirs = [styles.get(owner, Style()) if owner else Style() for owner in owned]
    groups = [mine.group or _group_of(owner, styles) for mine, owner in zip(own, owned, strict=True)]
    known = [style.group for style in styles.values()] + [_group_of(owner, styles) for owner in order] + groups
    number_of = {group: number for number, group in enumerate(dict.fromkeys(filter(None, known)))}
    colors = _group_colors(styles, number_of)
    styled = []
    for place, name in enumerate(names):
        number = number_of.get(groups[place])
        group_color = PALETTE[0] if not number_of else GRAY if number is None else colors[groups[place]]
        color = own[place].color or theirs[place].color or group_color
        suffix = suffixes[place] if suffixes else ""
        label = plain_name(own[place].label or name.removesuffix(".txt"), longest - len(suffix)) + suffix
        group = plain_name(groups[place]) if groups[place] else ""
        marker = MARKERS[number % len(MARKERS)] if number is not None else "." if number_of else MARKERS[0]
        styled.append(StyledName(label, color, marker, group, group_color, number or 0))
    return styled


def _group_of(owner: str, styles: Styles) -> str:
    style = styles.get(owner, Style()) if owner else Style()
    return style.group or style.label or owner


def _group_colors(styles: Styles, number_of: Mapping[str, int]) -> dict[str, str]:
    """Return the palette's color for each group, or the one that the table gives to all of its names."""
    given: dict[str, set[str]] = {}
    for name, style in styles.items():
        given.setdefault(style.group or style.label or name, set()).add(style.color)
    colors = {}
    for group, number in number_of.items():
        (color,) = given[group] if len(given.get(group, ())) == 1 else ("",)
        colors[group] = color or PALETTE[number % len(PALETTE)]
    return colors


def legend_entries(styled: Sequence[StyledName]) -> list[StyledName]:
    """Return one name of each group, in the group's own color, in order."""
    first: dict[str, StyledName] = {}
    for each in styled:
        if each.group:
            first.setdefault(each.group, replace(each, color=each.group_color))
    return sorted(first.values(), key=lambda each: each.place)


def plain_name(name: str, longest: int = MAX_LENGTH) -> str:
    """Return a name as one line of printable characters; of a long one the beginning and the end."""
    shown = " ".join("".join(map(_visible, name)).split()) or "(no name)"
    if len(shown) <= longest:
        return shown
    end = longest // 3
    return shown[: longest - end - 1] + ELLIPSIS + shown[len(shown) - end :]


def _visible(letter: str) -> str:
    if letter.isprintable() or letter in JOINERS:
        return letter
    return " " if letter.isspace() else UNKNOWN


def is_color(text: str) -> bool:
    """Return whether a text is a visible color: a name, or #rrggbb."""
    from matplotlib.colors import is_color_like

    return text.lower() != "none" and bool(is_color_like(text))


def read_styles(path: Path, known: Collection[str]) -> Styles:
    """Read styles from a CSV file with the columns name, label, color and group.

    Raise CorpusError for a name that is not `known` to the figure, and for a color that does not exist.
    """
    text = io.StringIO(decode(read_bytes(path), str(path)), newline="")
    rows = csv.DictReader(text, restkey="", restval="", strict=True)
    try:
        columns = [SPELLINGS.get(name, name) for name in (cell.strip().lower() for cell in rows.fieldnames or ())]
        if "name" not in columns or not set(columns) <= set(COLUMNS) or len(set(columns)) < len(columns):
            wrong = f"line 1: wrong columns {', '.join(columns)[:100]}" if columns else "is empty"
            remedy = f"Begin with a line of column names: name, and any of {', '.join(COLUMNS[1:])}"
            raise CorpusError(wrong, where=path, remedy=remedy)
        rows.fieldnames = columns
        lines = [(rows.line_num, "".join(row.pop("", ())), {key: row[key].strip() for key in columns}) for row in rows]
    except csv.Error as error:
        wrong = f"line {rows.reader.line_num} is no table ({error})"
        raise CorpusError(wrong, where=path, remedy="Save it as CSV") from None
    styles: dict[str, Style] = {}
    faults = []
    free = set(known) - {row["name"] for _, _, row in lines}
    for number, extra, row in lines:
        name, color = row.pop("name"), row.get("color")
        if extra.strip():
            faults.append(f"line {number}: more than {len(columns)} cells; put quotes around commas")
        elif not name and not any(row.values()):
            continue
        elif name not in known:
            faults.append(f"line {number}: no {name!r} in this figure; {_nearest(name, free or known)}")
        elif name in styles:
            faults.append(f"line {number}: {name!r} a second time; leave one of them out")
        elif color and not is_color(color):
            faults.append(f"line {number}: {color!r} is no color; write one like #0072b2 or navy")
        else:
            styles[name] = Style(**row)
    if faults:
        more = [f"and {len(faults) - MAX_FAULTS} more lines"] if len(faults) > MAX_FAULTS else []
        raise CorpusError(listing([*faults[:MAX_FAULTS], *more], "lines that can't be used"), where=path)
    return styles


def _nearest(name: str, known: Collection[str]) -> str:
    found = get_close_matches(name, sorted(known), 1)
    return f"is it {found[0]!r}?" if found else f"names are those of problems, texts or authors, like {min(known)!r}"
