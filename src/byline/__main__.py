"""`byline` and `python -m byline`: run a command, turn a BylineError into one message and exit code 1."""

from __future__ import annotations

import sys

from byline.commands import app
from byline.errors import BylineError


def main() -> None:
    """Exit codes: 0 done, 1 what the user can put right, 2 wrong usage, 130 interrupted."""
    try:
        app(prog_name="byline")
    except BylineError as error:
        print(f"byline: {error}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        print("byline: interrupted, nothing was written", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone
        sys.stderr.close()
        sys.exit(0)


if __name__ == "__main__":
    main()
