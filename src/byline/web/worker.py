"""The work of a job, in a process of its own: python -m byline.web.worker HOME NAME.

What happens is told to the server a line of JSON at a time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from byline.errors import BylineError
from byline.web.home import Home
from byline.web.tasks import TASKS
from byline.web.telling import FAILED, end_with_server, hearing, teller
from byline.web.work import Work


def main(arguments: Sequence[str]) -> int:
    """Do a job's work; 0 where it is done."""
    end_with_server()
    tell = teller()
    work = Work(Home(Path(arguments[0])), arguments[1], tell)
    try:
        with hearing(lambda note: tell(note=work.plain(note))):
            TASKS[work.task](work)
    except BylineError as error:
        tell(error=work.plain(str(error)))
    except MemoryError:
        tell(error="not enough memory; give fewer or shorter texts")
    except OSError as error:
        tell(error=f"{error.strerror or error}; make room on the disk, or look at the rights of {work.home.folder}")
    else:
        return 0
    return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
