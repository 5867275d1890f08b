"""Cautions as people read them, and the same as JSON."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from byline.cautions import Caution, Cautions

MOST_CAUTIONS, MOST_QUOTES = 5, 3
"""Cautions shown, and passages that one of them quotes; the report has them all."""


def print_cautions(cautions: Cautions, single: str | None, kept: Path | None) -> None:
    """Whether the reference suits, and what else speaks against believing the answers: all of a `single` problem."""
    from byline.commands.console import out, printable
    from byline.reference.suitability import GRADES

    console = out()
    if check := cautions.reference:
        named = f"reference ({check.texts} texts by {check.authors} people)"
        own = next((each for each in check.problems if each.id == single), None)
        if own is None:
            console.print(f"The {named}. {printable(check.verdict)}")
        elif own.grade == "good":
            console.print(f"The {named} is {printable(own.verdict)}.")
        else:
            console.print(f"Caution: the {named} is {GRADES[own.grade]}:", style="yellow")
            for remark in own.remarks:
                console.print(f"  {printable(remark)}", style="yellow")
    found = cautions.summarise() if single is None else [*cautions.run, *cautions.of(single)]
    found = [caution for caution in found if caution.kind != "reference"]  # which was said
    for caution in found[:MOST_CAUTIONS]:
        console.print(f"Caution: {printable(caution.text)}", style="yellow")
        print_quotes(console, caution)
    more = f"and {len(found) - MOST_CAUTIONS} more; " if len(found) > MOST_CAUTIONS else ""
    if kept is not None and (found or (check and check.grade != "good")):
        console.print(
            f"{more}byline report {shlex.quote(str(kept))} -o report.html shows what speaks against which answer"
        )


def print_quotes(console: Console, caution: Caution) -> None:
    """How the passages begin that a caution speaks of."""
    from byline.commands.console import printable

    for quote in caution.quotes[:MOST_QUOTES]:
        console.print(f"  \u201c{printable(quote)}\u201d")
    if (more := len(caution.quotes) - MOST_QUOTES) > 0:
        console.print(f"  and {more} more")


def cautions_json(cautions: Cautions | None) -> dict[str, object]:
    """The same as JSON; nothing where it was not looked for."""
    if cautions is None:
        return {}
    from byline.cautions.file import cautions_values

    check = cautions.reference
    found = cautions_values(cautions)
    values: dict[str, object] = {"cautions": {"run": found["run"], "problems": found["problems"]}}
    if check is not None:
        rows = [{"id": each.id, "grade": each.grade, "remarks": list(each.remarks)} for each in check.problems]
        values["reference"] = {"texts": check.texts, "authors": check.authors, "problems": rows}
    return values
