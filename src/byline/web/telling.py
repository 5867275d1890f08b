"""What a process of the server's own tells it, a line of JSON at a time, and that it does not outlive the server."""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from byline.formats.encodings import REMEDY

FAILED = 1
ON_THE_PAGE = {
    REMEDY: "save it as UTF-8 and drop it again",
    "name the language with --language": "choose the language of the texts and ask again",
    "or name that with --language": "or choose that language",
    "or say with --language what all are": "or choose the language that all are in",
    "or remove it and give --language": "or remove it and choose the language",
    "--mask-shared leaves such passages out": "\u201cLeave out passages that both sides share\u201d leaves them out",
    " with --reference DIR, or with --control DIR --control-heads each": " to compare with",
    "say which hold authors and texts (--author-column, --text-column)": "call them author and text",
    "build it again with byline reference build --overwrite": "delete it, and give its texts again",
}
"""What messages advise, and what can be done about it on the page instead."""

Tell = Callable[..., None]


def teller() -> Tell:
    """Whom to tell: called with values by name, from any thread."""
    lock = threading.Lock()

    def tell(**values: object) -> None:
        with lock:
            sys.stdout.write(json.dumps(values) + "\n")
            sys.stdout.flush()

    return tell


def end_with_server() -> None:
    """End this process when its standard input ends, which the server holds open as long as it lives."""

    def wait() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        os._exit(FAILED)

    threading.Thread(target=wait, daemon=True).start()


def on_the_page(message: str) -> str:
    """A message that names what can be done there, and not what can be typed."""
    for typed, instead in ON_THE_PAGE.items():
        message = message.replace(typed, instead)
    return message


class Notes(logging.Handler):
    """Hands on what this program says on the way; other libraries' remarks are not for the page."""

    def __init__(self, take: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._take = take

    def emit(self, record: logging.LogRecord) -> None:
        """Hand it on."""
        self._take(record.getMessage())


@contextmanager
def hearing(take: Callable[[str], None]) -> Iterator[None]:
    """As long as this lasts, warnings are handed on."""
    notes, root = Notes(take), logging.getLogger("byline")
    root.addHandler(notes)
    try:
        yield
    finally:
        root.removeHandler(notes)
