"""Long work beside the main thread, so that Ctrl-C ends it well; a terminal is shown what is done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from byline.engines import Watch
    from byline.training import Progress

Result = TypeVar("Result")


def work(task: Callable[[Watch], Result], quiet: bool = False, title: str = "") -> Result:
    """What the task gives; it may use all cores. `title` names it, where there are several, beside what is done.

    What is done stands in one line on stderr, which goes when it is done; where that is no terminal nothing is said.
    """
    from byline.engines import Watch
    from byline.ensemble import count_cores
    from byline.workers import run_here

    with ExitStack() as stack:
        show = None if quiet else _line(stack)

        def run(_: None, __: object, proceed: Callable[[], None]) -> Result:
            stage = ""
            said = -1

            def say(step: str = "") -> None:
                if show is not None:
                    show(": ".join(part for part in (title, stage, step) if part))

            def begin(words: str) -> None:
                nonlocal stage, said
                stage, said = words, -1
                say()

            def report(progress: Progress) -> None:
                nonlocal said
                proceed()
                if progress.sub_epoch != said:
                    said = progress.sub_epoch
                    say(f"sub-epoch {said + 1} of {progress.sub_epochs}")

            say()
            return task(Watch(report, proceed, count_cores(), stage=begin))

        results = run_here(run, [None], 1, lambda _: None)
        try:
            (result,) = results
        finally:
            results.close()
        return result


def _line(stack: ExitStack) -> Callable[[str], None] | None:
    """Shows some words in place of those before; None where stderr is no terminal."""
    from rich.console import Console
    from rich.text import Text

    from byline.commands.console import printable

    console = Console(stderr=True)
    if not console.is_terminal:
        return None
    status = stack.enter_context(console.status(""))
    return lambda words: status.update(Text(printable(words), overflow="ellipsis", no_wrap=True))
