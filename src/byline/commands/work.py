"""Long work beside the main thread, so that Ctrl-C ends it well; what it does is said on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from byline.engines import Watch
    from byline.training import Progress

Result = TypeVar("Result")


def work(task: Callable[[Watch], Result], quiet: bool = False) -> Result:
    """What the task gives; it may use all cores."""
    from byline.engines import Watch
    from byline.ensemble import count_cores
    from byline.workers import run_here

    said = -1

    def say(line: str) -> None:
        if not quiet:
            print(line, file=sys.stderr, flush=True)

    def run(_: None, __: object, proceed: Callable[[], None]) -> Result:
        def report(progress: Progress) -> None:
            nonlocal said
            proceed()
            if progress.sub_epoch != said:
                said = progress.sub_epoch
                say(f"sub-epoch {progress.sub_epoch + 1} of {progress.sub_epochs}")

        return task(Watch(report, proceed, count_cores(), stage=say))

    results = run_here(run, [None], 1, lambda _: None)
    try:
        (result,) = results
    finally:
        results.close()
    return result
