"""A reference made of files, in a process of its own: python -m byline.web.building FOLDER TARGET [LANGUAGE].

It tells the server what was made, or why nothing was.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from byline.errors import BylineError
from byline.reference import build_reference, write_reference
from byline.web.sources import find_reference
from byline.web.telling import FAILED, end_with_server, hearing, on_the_page, teller


def main(arguments: Sequence[str]) -> int:
    """Build and write it; 0 where it is done."""
    end_with_server()
    tell = teller()
    folder, target = Path(arguments[0]), Path(arguments[1])
    try:
        with hearing(lambda note: tell(note=note)):
            reference = build_reference([find_reference(folder)], arguments[2] if len(arguments) > 2 else None)
            write_reference(reference, target)
    except BylineError as error:
        tell(error=on_the_page(str(error)).replace(f"{folder}/", "").replace(str(folder), "the texts"))
    except MemoryError:
        tell(error="not enough memory; give fewer or shorter texts")
    else:
        return 0
    return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
