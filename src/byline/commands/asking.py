"""What `byline verify` is asked: a folder of problems, or one question whose files stand after its options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand

WORDS = "byline.words"


class WithWords(TyperCommand):
    """A command that can look at its words as they were given: which file stands after which option."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words, then parse them as ever."""
        ctx.meta[WORDS] = tuple(args)
        return super().parse_args(ctx, args)


def one_input(context: typer.Context, arguments: list[Path], option: Path | None) -> Path:
    """The folder or file of problems, given once."""
    if len(arguments) + (option is not None) > 1:
        context.fail("INPUT is given twice; give it once, as an argument or with -i")
    chosen = arguments[0] if arguments else option
    if chosen is None:
        context.fail("INPUT is missing; name a folder of problems or a pairs.jsonl file")
    return chosen


def check_single(
    context: typer.Context,
    asked: Sequence[Path],
    known: list[Path] | None,
    unknown: Path | None,
    input_: Path | None,
    reference: Path | None,
) -> None:
    """Refuse what is no single question: `asked` are files that stand after no option of their own."""
    if not known or unknown is None:
        context.fail("one question needs both --known FILE... and --unknown FILE")
    if input_ is not None or any(path.is_dir() or path.suffix.lower() == ".jsonl" for path in asked):
        context.fail("give a folder of problems, or one question with --known and --unknown, not both")
    words = context.meta.get(WORDS, ())
    if sum(word.partition("=")[0] == "--unknown" for word in words) > 1:
        context.fail("--unknown is given twice; one question has one unknown text")
    if stray := Counter(map(str, asked)) - Counter(_after_known(words)):
        context.fail(f"{next(iter(stray))}: known or unknown? Known texts stand after --known, and one after --unknown")
    if reference is None:
        context.fail("one question alone has nothing to be compared with; give texts by other people with --reference")


def _after_known(words: Sequence[str]) -> list[str]:
    """The files that stand after --known FILE, before another option."""
    found: list[str] = []
    taken: int | None = None  # words after the last --known that are its own value; None after another option
    for word in words:
        if word.startswith("-") and word != "-":
            name, equals, _ = word.partition("=")
            taken = (0 if equals else 1) if name == "--known" else None
        elif taken:
            taken -= 1
        elif taken == 0:
            found.append(word)
    return found
