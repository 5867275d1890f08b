"""`byline doctor`: what is installed, whether it works, and how fast."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from byline.checkup.findings import Section


def doctor_command(
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Look at this installation: packages, extras, folders, a self-test, and speed beside the documented one.

    It takes some ten seconds, longer the first time. Where something is broken, the exit code is 1, and the line below
    it says what to do.

    Example: byline doctor
    """
    from byline.checkup import check_up
    from byline.commands.console import print_json

    sections = []
    for section in check_up(time.perf_counter):
        sections.append(section)
        if not as_json:
            print_section(section)
    broken = sum(finding.state == "broken" for section in sections for finding in section.findings)
    if as_json:
        print_json({"well": not broken, "sections": [section.to_values() for section in sections]})
    else:
        print_end(broken, sum(finding.state == "note" for section in sections for finding in section.findings))
    if broken:
        raise typer.Exit(1)


def print_section(section: Section) -> None:
    """A line for each finding, what is not well marked, with the remedy below."""
    from byline.commands.console import out, printable

    console = out()
    console.print(section.title, style="bold")
    width = max(len(finding.name) for finding in section.findings)
    for finding in section.findings:
        mark = {"well": " ", "note": "-", "broken": "!"}[finding.state]
        style = {"well": "", "note": "yellow", "broken": "red"}[finding.state]
        console.print(f"{mark} {finding.name:<{width}}  {printable(finding.said)}", style=style)
        if finding.remedy:
            console.print(f"  {'':<{width}}  {finding.remedy}", style=style)


def print_end(broken: int, notes: int = 0) -> None:
    """How it stands, in a line."""
    from byline.commands.console import count_of, out

    console = out()
    if broken:
        verb = "is" if broken == 1 else "are"
        console.print(f"{count_of(broken, 'thing')} {verb} broken, see the lines that begin with !", style="bold red")
    else:
        console.print(
            f"All works; see the {count_of(notes, 'line')} that begin{'s' if notes == 1 else ''} with -."
            if notes
            else "All is well.",
            style="bold green",
        )
