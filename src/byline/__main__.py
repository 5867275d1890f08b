"""`byline` and `python -m byline`: run a command, turn what a user can put right into one message and an exit code."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

from byline.errors import BylineError, printable_lines
from byline.stopping import INTERRUPTED, end_interrupted, heed_signals, is_interruption, leave_signals

OUT_OF_REACH = {
    errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP, errno.EIO, errno.EROFS, errno.ENOSPC,
}  # fmt: skip
"""What the system says of a file or folder that can't be used here, and a user can put right."""

LEAST_MEMORY = 1_500_000_000
"""Bytes of address space, most of which is never used: libraries of linear algebra and compiled code ask for it."""


def main() -> None:
    """Exit codes: 0 done, 1 what the user can put right, 2 wrong usage, 130 or 143 stopped (see commands.guarded)."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the end
    # a terminal that can't show a character gets a question mark, never an error
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        heed_signals()
        _require_memory()
        _require_threads()
        if "" in sys.argv[1:]:
            _fail("an empty word was given, where perhaps a variable of the shell is not set; leave it out or fill it")
        from byline.commands import app

        app(prog_name="byline")
    except KeyboardInterrupt:  # before a command could begin
        end_interrupted()
    except SystemExit as end:
        ended_by = getattr(end.__context__, "__cause__", None)
        if end.code == INTERRUPTED and isinstance(ended_by, KeyboardInterrupt):
            end_interrupted()  # while words were parsed, where nobody has said so, and every signal is taken for Ctrl-C
        raise
    except BylineError as error:
        _fail(str(error))
    except ImportError as error:
        if is_interruption(error):
            end_interrupted()
        raise
    except MemoryError:
        _fail("out of memory; try fewer hidden units, members or texts")
    except OSError as error:
        if error.filename is not None:
            if error.errno not in OUT_OF_REACH:
                raise  # a bug
            _fail(f"{_name(error)}: can't be used ({error.strerror}); check that you may read and write it")
        _fail(f"the output can't be written ({error.strerror})")
    finally:
        leave_signals()


def _require_memory() -> None:
    """Refuse to begin where the system grants less than the libraries take: they would crash or hang, silently."""
    with contextlib.suppress(ImportError):  # there is no such limit on Windows
        import resource

        granted = resource.getrlimit(resource.RLIMIT_AS)[0]
        if granted != resource.RLIM_INFINITY and granted < LEAST_MEMORY:
            _fail(
                f"memory is limited to {granted / 1e9:.1f} GB of addresses here, and {LEAST_MEMORY / 1e9:.1f} GB are"
                " needed; raise the limit (ulimit -v)"
            )


def _require_threads() -> None:
    """Refuse a number of threads that numba would stumble over; it takes what `int` takes."""
    named = os.environ.get("NUMBA_NUM_THREADS", "1")
    try:
        fits = int(named) > 0
    except ValueError:
        fits = False
    if not fits:
        _fail(f"NUMBA_NUM_THREADS is {named[:40]!r}, no number of threads; unset it")


def _name(error: OSError) -> str:
    name = error.filename
    return os.fsdecode(name) if isinstance(name, str | bytes | os.PathLike) else str(name)


def _fail(message: str) -> None:
    """The message on stderr, and exit code 1."""
    print(f"byline: {printable_lines(message)}", file=sys.stderr)
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - what is left in the buffer is of no use
    sys.exit(1)


if __name__ == "__main__":
    main()
