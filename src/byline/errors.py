"""Errors that a user can fix. A bug stays a traceback.

BylineError
├── CorpusError        a file, folder or problem that cannot be used
│   └── TooLittleText  a text or a set of problems that is too small to assess
├── SettingsError      a setting that does not exist or has a bad value
├── AnswersError       an answers or truth file that cannot be used
├── ModelFileError     a model file that cannot be used
└── RunError           a training, a run folder or an output that failed
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

OVERWRITE = "Replace it with {overwrite}"
RESUME = "Continue it with {resume}"
"""Remedies that several modules share. `{name}` stands for an option, which each reader spells differently."""

_OPTION = re.compile(r"\{([a-z_]+)\}")
_SWITCHES = {"overwrite", "resume", "skip_bad", "mask_shared"}


class Reader(NamedTuple):
    """Who reads a message: how options are spelled for them, and remedies that they need in other words."""

    option: Callable[[str], str]
    remedies: Mapping[str, str] = {}


PYTHON = Reader(lambda name: f"{name}=True" if name in _SWITCHES else f"{name}=")
COMMAND_LINE = Reader(lambda name: f"--{name.replace('_', '-')}")


class BylineError(Exception):
    """The base class of all errors that a user can fix.

    Parameters
    ----------
    what
        What is wrong, without a period at the end.
    where
        The file, folder, problem or setting it is about.
    remedy
        What to do about it, without a period at the end. An option is written as its name in braces, `{language}`, and
        never as a command-line flag.
    causes
        Several errors that this one stands for. The message lists them, each with its own remedy.
    """

    def __init__(
        self, what: str = "", *, where: object = None, remedy: str | None = None, causes: Iterable[BylineError] = ()
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = None if where is None else str(where)
        self.remedy = remedy
        self.causes = tuple(causes)

    def phrase(self, reader: Reader = PYTHON) -> str:
        """Return the whole message, with the remedies in the words of its reader."""
        what = listing([cause.phrase(reader) for cause in self.causes], self.what) if self.causes else self.what
        message = what if self.where is None else f"{self.where}: {what}"
        if not self.remedy:
            return message
        remedy = reader.remedies.get(self.remedy, self.remedy)
        return f"{message}. {_OPTION.sub(lambda found: reader.option(found[1]), remedy)}"

    def __str__(self) -> str:
        return self.phrase()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle all attributes, because errors travel from worker processes."""
        return type(self), (self.what,), self.__dict__


class CorpusError(BylineError):
    """A file, folder or problem that cannot be used."""


class TooLittleText(CorpusError):  # noqa: N818 - the name says what is wrong
    """A text or a set of problems that is too small to assess."""


class SettingsError(BylineError):
    """A setting that does not exist or has a bad value."""


class AnswersError(BylineError):
    """An answers or truth file that cannot be used."""


class ModelFileError(BylineError):
    """A model file that cannot be used."""


class RunError(BylineError):
    """A training, a run folder or an output that failed."""


def printable(text: str) -> str:
    """Return the text with every character escaped that could move a terminal's cursor or change its direction."""
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def printable_lines(message: str) -> str:
    """Escape each line of a message, which may be a list with one item per line."""
    return "\n  ".join(map(printable, message.split("\n  ")))


MOST_LISTED = 20
"""The number of faults that one message lists."""


def listing(faults: Sequence[str], heading: str) -> str:
    """Join faults into one message: a single one as it is, several under a heading, one per line, at most 20."""
    if len(faults) == 1:
        return faults[0]
    more = [f"and {len(faults) - MOST_LISTED} more"] if len(faults) > MOST_LISTED else []
    return "\n  ".join([f"{heading} ({len(faults)}):", *faults[:MOST_LISTED], *more])


def list_some(names: Iterable[str], shown: int = 3) -> str:
    """Join the first few names, and count the others."""
    every = list(names)
    more = f" and {len(every) - shown:,} more" if len(every) > shown else ""
    return ", ".join(every[:shown]) + more
