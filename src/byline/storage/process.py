"""The process: signals that end it, and the memory that it may use.

SIGTERM and SIGHUP end a command as Ctrl-C does, so that finished work is kept.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import NoReturn

from byline.errors import RunError

log = logging.getLogger(__name__)

INTERRUPTED = 130
STOP_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
"""Sent when the system shuts down, a scheduler's time is up or a terminal is closed."""
RETRY_DELAY = 0.02
"""Seconds after which a lost interruption is sent again."""

_received: list[int] = []


class Stopped(KeyboardInterrupt):
    """Raised for a stop signal, and caught wherever Ctrl-C is.

    This is a class of its own because Python remembers a plain KeyboardInterrupt that passes through `exec` of a
    string (as dataclasses do during imports) and then ends `python -m byline` by SIGINT, whatever the exit code.
    """


def handle_signals() -> None:
    """Treat stop signals as interruptions; a second one ends the program at once. Ignored ones stay ignored (nohup)."""
    for number in STOP_SIGNALS:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _interrupt)
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.unraisablehook = _send_again


def restore_signals() -> None:
    """Let signals end the program at once again, when there is nothing left to save."""
    for number in (*STOP_SIGNALS, signal.SIGINT):
        if signal.getsignal(number) in (_interrupt, signal.default_int_handler):
            signal.signal(number, signal.SIG_DFL)
    sys.unraisablehook = sys.__unraisablehook__


def _send_again(lost: sys.UnraisableHookArgs) -> None:
    """Send an interruption again that came during a finalizer, where Python ignores all errors."""
    if not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    number = _received[-1] if issubclass(lost.exc_type, Stopped) else signal.SIGINT
    if number in STOP_SIGNALS:
        signal.signal(number, _interrupt)
    timer = threading.Timer(RETRY_DELAY, os.kill, (os.getpid(), number))
    timer.daemon = True
    timer.start()


def _interrupt(number: int, _: FrameType | None) -> NoReturn:
    _received.append(number)
    signal.signal(number, signal.SIG_DFL)
    raise Stopped


def is_interruption(error: BaseException | None) -> bool:
    """Whether an interruption caused this error: compiled modules that are being imported raise another one."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def exit_code() -> int:
    """Return the conventional exit code for the signal received."""
    return 128 + _received[0] if _received else INTERRUPTED


def exit_interrupted() -> NoReturn:
    """Report the interruption and exit."""
    cause = f"stopped by {signal.Signals(_received[0]).name}" if _received else "interrupted"
    print(f"byline: {cause}", file=sys.stderr)
    sys.exit(exit_code())


BASE_BYTES = 300_000_000
"""Memory of the program and its libraries."""
SHARED_BYTES, MEMBER_BYTES = 45, 20
"""Least memory per character of all texts: once, and for each member that is trained at the same time."""
EVIDENCE_FACTOR = 1.75
"""The need may grow by this factor if evidence is kept."""
CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def require_memory(characters: int, workers: int, available: int | None = None) -> None:
    """Raise RunError if even one worker needs more memory than is available; warn if `workers` may need more."""
    available = available_memory() if available is None else available
    least, most = (BASE_BYTES + characters * (SHARED_BYTES + MEMBER_BYTES * count) for count in (1, workers))
    most = int(most * EVIDENCE_FACTOR)
    if not available or most <= available:
        return
    here = f"and this machine has {available / 1e9:.1f}"
    if least > available:
        raise RunError(
            f"{characters:,} characters need at least {least / 1e9:.1f} GB of memory, {here}",
            remedy="Split the problems or shorten the texts",
        )
    advice = "resume it with one worker" if workers > 1 else "split the problems"
    need = f"{characters:,} characters may need {most / 1e9:.1f} GB of memory"
    log.warning("%s, %s. If the run is killed for that, %s", need, here, advice)


def available_memory() -> int:
    """Return the bytes that this machine or its container can use, or 0 if that is unknown."""
    limits = []
    with contextlib.suppress(AttributeError, ValueError, OSError):  # as on Windows
        limits.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    for path in CGROUP_LIMITS:
        with contextlib.suppress(OSError, ValueError):  # the word "max" means no limit
            limits.append(int(Path(path).read_text(encoding="ascii")))
    return max(0, min(limits, default=0))
