"""Being stopped: the system's polite signals end a command as Ctrl-C does, with what is finished kept."""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
POLITE = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Sent by a system that shuts down, a scheduler whose time is up, a terminal that is closed."""

SOON = 0.02
"""Seconds after which a lost interruption comes again."""

_received: list[int] = []


class Stopped(KeyboardInterrupt):
    """Raised for a polite signal, and caught wherever Ctrl-C is.

    A class of its own: a plain KeyboardInterrupt that passes through `exec` of a string (dataclasses do so while
    modules are imported) is remembered by Python, which ends `python -m byline` by SIGINT whatever code is asked for.
    """


def heed_signals() -> None:
    """Take such a signal for an interruption; a second one ends the program at once. Ignored ones stay so (nohup)."""
    for number in POLITE:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.unraisablehook = _hear_again


def leave_signals() -> None:
    """From here on they end the program at once: there is nothing left to keep."""
    for number in (*POLITE, signal.SIGINT):
        if signal.getsignal(number) in (_interrupt, signal.default_int_handler):
            signal.signal(number, signal.SIG_DFL)
    sys.unraisablehook = sys.__unraisablehook__


def _hear_again(lost: sys.UnraisableHookArgs) -> None:
    """An interruption that came while Python cleaned something up, which passes over all errors, comes once more."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        number = _received[-1] if issubclass(lost.exc_type, Stopped) else signal.SIGINT
        if number in POLITE:
            signal.signal(number, _interrupt)
        timer = threading.Timer(SOON, os.kill, (os.getpid(), number))
        timer.daemon = True
        timer.start()
    else:
        sys.__unraisablehook__(lost)


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    _received.append(number)
    signal.signal(number, signal.SIG_DFL)
    raise Stopped


def is_interruption(error: BaseException | None) -> bool:
    """Whether an error comes from being stopped: compiled modules that were being loaded make another of it."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def exit_code() -> int:
    """The code that the signal has by custom."""
    return 128 + _received[0] if _received else INTERRUPTED


def end_interrupted() -> NoReturn:
    """Say that it was interrupted, and exit."""
    cause = f"stopped by {signal.Signals(_received[0]).name}" if _received else "interrupted"
    print(f"byline: {cause}", file=sys.stderr)
    sys.exit(exit_code())
