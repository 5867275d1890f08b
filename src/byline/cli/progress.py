"""Show progress: bars on a terminal, plain lines elsewhere, JSON lines in a log file."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import BinaryIO, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.text import Text

from byline.cli.console import count_of, printable
from byline.engines.protocol import Progress as EngineProgress
from byline.engines.protocol import Runtime
from byline.errors import RunError
from byline.runs.workers import (
    Event,
    Finished,
    Planned,
    ProgressTracker,
    Report,
    TrainingProgress,
    count_cores,
    run_here,
    seconds_left,
)
from byline.storage.files import resolve_file

LINE_SECONDS = 30.0
"""Seconds between two lines on stderr if it is no terminal."""
BAR_SECONDS = 0.1
"""Seconds between two changes of a bar."""


@contextmanager
def reporting(quiet: bool = False, log: Path | None = None) -> Iterator[Report]:
    """Provide the function to report to: bars or lines on stderr unless `quiet`, and lines of JSON in `log`."""
    with ExitStack() as stack:
        listeners: list[_Listener] = []
        if log is not None:
            listeners.append(_Log(stack.enter_context(_open_log(log))))
        if not quiet:
            terminal = Console(stderr=True)
            listeners.append(_Bars(stack, terminal) if terminal.is_terminal else _Lines())
        lock = threading.Lock()

        def report(event: Event) -> None:
            with lock:
                for listener in listeners:
                    listener.hear(event)

        yield report


class _Listener(ProgressTracker):
    def __init__(self) -> None:
        super().__init__(time.monotonic)

    def left(self) -> str:
        """Return the time that the rest will take, in words."""
        return _in_words(self.seconds_left)


class _Bars(_Listener):
    def __init__(self, stack: ExitStack, console: Console) -> None:
        super().__init__()
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=16),
            TextColumn("{task.fields[place]}", markup=False),
            TextColumn("{task.fields[left]}", markup=False),
        )
        self.bars = stack.enter_context(Progress(*columns, console=console, transient=True))
        self.tasks: dict[tuple[int, int], TaskID] = {}
        self.moved: dict[tuple[int, int], float] = {}
        self.whole = self.bars.add_task("reading", total=None, place="", left="")

    def plan(self, event: Planned) -> None:
        self.bars.update(self.whole, total=1.0, description=count_of(self.members, "member"), place=self._stand())

    def advance(self, event: TrainingProgress) -> None:
        key, now = (event.place, event.group), time.monotonic()
        if key not in self.tasks:
            self.tasks[key] = self.bars.add_task(self.label(event), total=1.0, place="", left="")
        elif now - self.moved[key] < BAR_SECONDS:
            return
        self.moved[key] = now
        progress = event.progress
        way = f"way {event.way + 1}/{event.ways}, " if event.ways > 1 else ""
        speed = progress.characters / max(event.seconds, 1e-6)
        self.bars.update(
            self.tasks[key],
            completed=event.share,
            place=f"{way}sub-epoch {progress.sub_epoch + 1}/{progress.sub_epochs}, {progress.bits:.2f} bits,"
            f" {speed / 1000:.0f}k chars/s",
            left=_in_words(seconds_left(event.seconds, event.share - event.way / event.ways, 1 - event.share)),
        )
        self.bars.update(self.whole, completed=self.share, left=self.left())

    def finish(self, event: Finished) -> None:
        if task := self.tasks.pop((event.place, event.group), None):
            self.bars.remove_task(task)
        self.bars.update(self.whole, completed=self.share, place=self._stand(), left=self.left())

    def _stand(self) -> str:
        return f"{self.kept + self.done}/{self.jobs} trainings done"


class _Lines(_Listener):
    def __init__(self) -> None:
        super().__init__()
        self.told = time.monotonic()

    def plan(self, event: Planned) -> None:
        kept = f", {event.kept} of {event.jobs} trainings done already" if event.kept else ""
        self._say(f"{count_of(self.members, 'member')} of {event.plan.preset}{kept}")

    def advance(self, event: TrainingProgress) -> None:
        if time.monotonic() - self.told > LINE_SECONDS:
            progress = event.progress
            self._say(
                f"{self.label(event)}: sub-epoch {progress.sub_epoch + 1} of {progress.sub_epochs},"
                f" {progress.bits:.2f} bits a character; {100 * self.share:.0f}% of all, {self.left()}"
            )

    def finish(self, event: Finished) -> None:
        more = f", {self.left()}" if self.kept + self.done < self.jobs else ""
        bits = "" if event.bits is None else f", {event.bits:.2f} bits a character"
        self._say(f"{self.label(event)} done in {event.seconds:.1f} s{bits}{more}")

    def _say(self, line: str) -> None:
        self.told = time.monotonic()
        print(line, file=sys.stderr, flush=True)


class _Log(_Listener):
    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self.file = file
        self.sub_epochs: dict[tuple[int, int], tuple[int, int]] = {}

    def plan(self, event: Planned) -> None:
        plan = event.plan
        self._write(
            "planned", preset=plan.preset, members=len(plan.members), languages=[g.language for g in plan.groups],
            trainings=event.jobs, done=event.kept, budget=asdict(plan.budget) if plan.budget else None,
        )  # fmt: skip

    def advance(self, event: TrainingProgress) -> None:
        """Write one line per sub-epoch, when it ends."""
        key, now = (event.place, event.group), (event.way, event.progress.sub_epoch)
        if not event.ends() or self.sub_epochs.get(key) == now:
            return
        self.sub_epochs[key] = now
        self._write(
            "sub-epoch", member=event.place + 1, language=event.language, way=event.way + 1,
            sub_epoch=event.progress.sub_epoch + 1, sub_epochs=event.progress.sub_epochs,
            bits=round(event.progress.bits, 4), characters=event.progress.characters, seconds=round(event.seconds, 3),
        )  # fmt: skip

    def finish(self, event: Finished) -> None:
        values = {key: value for key, value in asdict(event).items() if key not in ("place", "group")}
        self._write("member done", member=event.place + 1, **values)

    def _write(self, event: str, **values: object) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()) + "Z"
        with suppress(OSError):  # a full disk must not end a run
            self.file.write(json.dumps({"time": stamp, "event": event, **values}).encode() + b"\n")


def _open_log(path: Path) -> BinaryIO:
    try:
        return resolve_file(path).open("ab", buffering=0)
    except OSError as error:
        raise RunError(
            f"cannot be written ({error.strerror})", where=path, remedy="Choose another file for {log}"
        ) from None


def _in_words(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds >= 3600:
        return f"about {seconds / 3600:.1f} h left"
    return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {seconds:.0f} s left"


Result = TypeVar("Result")


def work(task: Callable[[Runtime], Result], quiet: bool = False, title: str = "") -> Result:
    """Run a task, which may use all cores, and show its stages in one line on stderr if that is a terminal.

    `title` is the beginning of the line, for one of several tasks.
    """
    with ExitStack() as stack:
        console = Console(stderr=True)
        shown = console.is_terminal and not quiet
        status = stack.enter_context(console.status("")) if shown else None

        def show(*words: str) -> None:
            if status:
                line = ": ".join(part for part in (title, *words) if part)
                status.update(Text(printable(line), overflow="ellipsis", no_wrap=True))

        def run(_: None, __: object, proceed: Callable[[], None]) -> Result:
            stage, sub_epoch = "", -1

            def begin(words: str) -> None:
                nonlocal stage, sub_epoch
                stage, sub_epoch = words, -1
                show(stage)

            def report(progress: EngineProgress) -> None:
                nonlocal sub_epoch
                proceed()
                if progress.sub_epoch != sub_epoch:
                    sub_epoch = progress.sub_epoch
                    show(stage, f"sub-epoch {sub_epoch + 1} of {progress.sub_epochs}")

            show()
            return task(Runtime(report, proceed, count_cores(), stage=begin))

        results = run_here(run, [None], 1, lambda _: None)
        try:
            (result,) = results
        finally:
            results.close()
        return result
