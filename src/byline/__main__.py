"""`byline` and `python -m byline`: run a command; an error that a user can fix becomes one message and exit code 1."""

from __future__ import annotations

import contextlib
import errno
import os
import sys

from byline.errors import COMMAND_LINE, BylineError, printable_lines
from byline.storage.process import INTERRUPTED, exit_interrupted, handle_signals, is_interruption, restore_signals

OUT_OF_REACH = {
    errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ENOTDIR, errno.ELOOP, errno.EIO, errno.EROFS, errno.ENOSPC,
}  # fmt: skip
"""System errors about a file or folder that a user can fix."""

LEAST_MEMORY = 1_500_000_000
"""Bytes of address space that the libraries reserve; most is never used."""


def main() -> None:
    """Run a command. Exit codes: 0 done, 1 an error that the user can fix, 2 wrong usage, 130 or 143 interrupted."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - open until the end
    # a terminal that can't show a character gets a question mark, never an error
    sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        handle_signals()
        _require_memory()
        if "" in sys.argv[1:]:
            _fail("one of the words is empty. Perhaps a shell variable is not set")
        from byline.cli import app

        try:
            app(prog_name="byline")
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:  # before a command could begin
        exit_interrupted()
    except (SystemExit, BrokenPipeError) as end:
        if _is_pipe_closed(end):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the interpreter flushes stdout once more
            sys.exit(0)
        ended_by = getattr(end.__context__, "__cause__", None)
        if isinstance(ended_by, KeyboardInterrupt) and getattr(end, "code", None) == INTERRUPTED:
            exit_interrupted()  # while words were parsed: typer says nothing, and takes each signal for Ctrl-C
        raise
    except BylineError as error:
        _fail(error.phrase(COMMAND_LINE))
    except ImportError as error:
        if is_interruption(error):
            exit_interrupted()
        raise
    except MemoryError:
        _fail("out of memory. Try fewer hidden units, members or texts")
    except OSError as error:
        if error.filename is None:
            _fail(f"the output cannot be written ({error.strerror})")
        if error.errno not in OUT_OF_REACH:
            raise  # a bug
        _fail(f"{os.fsdecode(error.filename)}: cannot be used ({error.strerror}). Check that you may read and write it")
    finally:
        restore_signals()


def _is_pipe_closed(error: BaseException | None) -> bool:
    """Return whether an error or its context is a closed pipe, which is stdout: stderr is a `Stderr`."""
    while error is not None and not isinstance(error, BrokenPipeError):
        error = error.__context__
    return error is not None


def _require_memory() -> None:
    """Exit if less memory is granted than the libraries need; they would crash or hang silently."""
    with contextlib.suppress(ImportError):  # there is no such limit on Windows
        import resource

        granted = resource.getrlimit(resource.RLIMIT_AS)[0]
        if granted != resource.RLIM_INFINITY and granted < LEAST_MEMORY:
            _fail(
                f"the address space is limited to {granted / 1e9:.1f} GB, and {LEAST_MEMORY / 1e9:.1f} GB are needed."
                " Raise the limit (ulimit -v)"
            )


def _fail(message: str) -> None:
    """Print the message on stderr and exit with code 1."""
    print(f"byline: {printable_lines(message)}", file=sys.stderr)
    sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - what is left in the buffer is of no use
    sys.exit(1)


if __name__ == "__main__":
    main()
