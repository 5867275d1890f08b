"""`byline doctor`: check the installation."""

from __future__ import annotations

import typer

from byline.cli import options
from byline.cli.console import count_of, out, print_json, printable
from byline.diagnostics import Section, check_installation


def doctor_command(as_json: options.Json = False) -> None:
    """Check the installation: packages, extras, folders, and a self-test of each engine.

    This takes a few seconds, longer the first time. If a part is broken, the exit code is 1 and the line below the
    part says what to do.

    Example: byline doctor
    """
    sections = []
    for section in check_installation():
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
    """Print a line per finding, with a mark and the remedy if it needs attention."""
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
    """Print a summary in one line."""
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
