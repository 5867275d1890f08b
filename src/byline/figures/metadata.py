"""Labels and colours from a table: columns name, and label, colour or group where there are any."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from byline.documents import decode, read_bytes
from byline.errors import CorpusError, listing

COLUMNS = ("name", "label", "colour", "group")
SPELLINGS = {"color": "colour"}
LONGEST_CELL = 1_000_000
MOST_NAMED = 5
"""Lines that an error quotes."""


@dataclass(frozen=True)
class Look:
    """How something named is shown; what is empty keeps its default."""

    label: str = ""
    colour: str = ""
    group: str = ""


Looks = Mapping[str, Look]
"""By name."""


def read_looks(path: Path, known: Collection[str], is_colour: Callable[[str], bool]) -> Looks:
    """The looks in a CSV file; a name that the figure does not have, or a colour that is none, is refused."""
    rows = csv.reader(io.StringIO(decode(read_bytes(path), str(path)), newline=""), strict=True)
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        head, *lines = [(rows.line_num, [cell.strip() for cell in row]) for row in rows if any(map(str.strip, row))]
    except ValueError:
        raise CorpusError(f"{path}: empty; it should have a line of column names, then a line for each name") from None
    except csv.Error as error:
        raise CorpusError(f"{path}: line {rows.line_num}: no table ({error}); save it as CSV") from None
    finally:
        csv.field_size_limit(before)
    names = _columns(path, head[1])
    looks: dict[str, Look] = {}
    offences = []
    free = set(known) - {cell for _, cells in lines for cell in cells}
    for number, cells in lines:
        row = dict(zip(names, cells, strict=False))
        name, colour = row.get("name", ""), row.get("colour", "")
        if len(cells) > len(names) and any(cells[len(names) :]):
            offences.append(
                f"{path}: line {number}: {len(cells)} cells, {len(names)} columns; put quotes around commas"
            )
        elif name not in known:
            offences.append(f"{path}: line {number}: no {name!r} in this figure{_nearest(name, free or known)}")
        elif name in looks:
            offences.append(f"{path}: line {number}: {name!r} a second time; leave one of them out")
        elif colour and not is_colour(colour):
            offences.append(f"{path}: line {number}: {colour!r} is no colour; write one like #0072b2 or navy")
        else:
            looks[name] = Look(row.get("label", ""), colour, row.get("group", ""))
    if offences:
        more = [f"and {len(offences) - MOST_NAMED} more lines"] if len(offences) > MOST_NAMED else []
        raise CorpusError(listing([*offences[:MOST_NAMED], *more], "lines that can't be used"))
    return looks


def _columns(path: Path, head: list[str]) -> list[str]:
    names = [SPELLINGS.get(cell.lower(), cell.lower()) for cell in head]
    odd = [cell for cell, name in zip(head, names, strict=True) if name not in COLUMNS]
    if "name" not in names or odd or len(set(names)) < len(names):
        raise CorpusError(
            f"{path}: line 1: columns must be {', '.join(COLUMNS)}, each once and name among them,"
            f" got {', '.join(head)[:100]}"
        )
    return names


def _nearest(name: str, known: Collection[str]) -> str:
    from difflib import get_close_matches

    found = get_close_matches(name, sorted(known), 1)
    return (
        f"; is it {found[0]!r}?" if found else f"; names are those of problems, texts or authors, like {min(known)!r}"
    )
