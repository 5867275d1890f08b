"""`byline prepare`: a text or corpus as the model sees it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast, get_args

import typer
from rich.columns import Columns

from byline.cli import options
from byline.cli.console import count_of, language_title, out, print_json, visible
from byline.tasks.prepare import Preparation, prepare
from byline.text.normalize import TextRules

SAMPLE = 600
"""Characters of the first text shown of a corpus; a single text is shown whole."""


def prepare_command(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A text file, a folder of texts, or a PAN corpus.")],
    language: Annotated[
        str | None,
        typer.Option(help="Language, instead of what the corpus or script says.", callback=options.require_nonempty),
    ] = None,
    rules: Annotated[str, typer.Option(help="Text rules: paper or scripts.")] = "paper",
    as_json: Annotated[bool, typer.Option("--json", help="Print everything, all texts too, as JSON.")] = False,
) -> None:
    """Show a text or corpus as the model sees it: its alphabet, its counts, what was dropped.

    Example: byline prepare pan15-greek/GR094/known02.txt
    """
    if rules not in get_args(TextRules):
        context.fail(f"--rules must be one of {', '.join(get_args(TextRules))}, got {rules}")

    preparations = prepare(path, language, cast(TextRules, rules))
    if as_json:
        print_json([preparation.to_dict() for preparation in preparations])
    else:
        for preparation in preparations:
            print_preparation(preparation)


def print_preparation(preparation: Preparation) -> None:
    """The text (or the beginning of the first), then the alphabet with counts, then what was dropped."""
    console = out()
    texts = list(preparation.texts.items())
    name, first = texts[0]
    shown = first if len(texts) == 1 or len(first) <= SAMPLE else first[:SAMPLE] + " [...]"
    which = f" (the first of {len(texts)} texts; --json gives them all)" if len(texts) > 1 else ""
    console.print(f"{name}, as the model sees it{which}", style="bold")
    console.print(shown, soft_wrap=True)
    characters = sum(len(text) for text in preparation.texts.values())
    distinct = len(set(preparation.texts.values()))
    console.print(
        f"\n{language_title(preparation.language)}: {count_of(len(texts), 'text')} ({distinct} different),"
        f" {characters:,} characters; alphabet of {count_of(len(preparation.alphabet), 'symbol')}"
    )
    _print_counts(preparation.kept)
    dropped = preparation.dropped
    total, kinds = count_of(sum(dropped.values()), "character"), count_of(len(dropped), "kind")
    console.print(f"\nToo rare, and dropped: {total} of {kinds}" if dropped else "\nToo rare, and dropped: nothing")
    if dropped:
        _print_counts(dropped)
    console.print("\n¹ stands before what was a capital letter; accents stand after their letter.", style="dim")


def _print_counts(counts: dict[str, int]) -> None:

    out().print(Columns([f"{visible(character)} {count:,}" for character, count in counts.items()], column_first=False))
