"""What a user can put right, and nothing else: a bug stays a traceback.

BylineError
├── CorpusError        a file, folder or problem that can't be used
│   └── TooLittleText  a text, or a set of problems, too small to say anything
├── SettingsError      a setting that doesn't exist or has a bad value
├── AnswersError       an answers or truth file that can't be used
├── ModelFileError     a model file that can't be used
└── RunError           a training, a run folder or an output that failed
"""

from __future__ import annotations

from collections.abc import Sequence


class BylineError(Exception):
    """The root of all errors that are meant for the user."""


class CorpusError(BylineError):
    """A file, folder or problem that can't be used."""


class TooLittleText(CorpusError):  # noqa: N818 - the field's words, and the name says what is wrong
    """A text, or a set of problems, too small to say anything."""


class SettingsError(BylineError):
    """A setting that doesn't exist or has a bad value."""


class AnswersError(BylineError):
    """An answers or truth file that can't be used."""


class ModelFileError(BylineError):
    """A model file that can't be used."""


class RunError(BylineError):
    """A training, a run folder or an output that failed."""


def printable(text: str) -> str:
    """Text with nothing in it that could move a terminal's cursor, or turn its direction."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def printable_lines(message: str) -> str:
    """The same of a message, which may be a list with an item a line."""
    return "\n  ".join(map(printable, message.split("\n  ")))


MOST_LISTED = 20
"""Offences that a message names; whoever puts these right is told the next."""


def listing(offences: Sequence[str], heading: str) -> str:
    """One message for all offences: a single one as it is, several under a heading, one a line, very many shortened."""
    if len(offences) == 1:
        return offences[0]
    more = [f"and {len(offences) - MOST_LISTED} more"] if len(offences) > MOST_LISTED else []
    return "\n  ".join([f"{heading} ({len(offences)}):", *offences[:MOST_LISTED], *more])
