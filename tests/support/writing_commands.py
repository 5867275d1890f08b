"""Every command that writes files, with its output and a command that writes something else to the same place."""

from __future__ import annotations

from dataclasses import dataclass

SMALL = ("--engines", "rnn", "--members", "2", "--set", "hidden=4", "--set", "sub_epochs=2")


@dataclass(frozen=True)
class WritingCommand:
    """A command and its output; repeated with the option `again` after a fault, it must end as without the fault."""

    words: tuple[str, ...]
    output: str
    old: tuple[str, ...]
    """A command that writes something else to the same place."""
    again: tuple[str, ...] = ("--overwrite",)
    same: bool = True
    """Whether its output is the same bytes each time; a report holds the time."""


ROLLING = ("rolling", "m.byline", "long.txt", "--step", "300", "--report", "new.html", "--window")
COMMANDS = {
    "verify": WritingCommand(
        ("verify", "corpus", "-o", "new", *SMALL), "new/answers.txt",
        ("verify", "corpus", "-o", "new", *SMALL, "--seed", "7"), ("--resume",),
    ),
    "train": WritingCommand(
        ("train", "authors", "-o", "new.byline"), "new.byline", ("train", "more", "-o", "new.byline")
    ),
    "enroll": WritingCommand(
        ("enroll", "m.byline", "more", "-o", "new.byline"), "new.byline", ("train", "authors", "-o", "new.byline")
    ),
    "attribute": WritingCommand(
        ("attribute", "m.byline", "more", "-o", "new.csv"), "new.csv",
        ("attribute", "m.byline", "long.txt", "-o", "new.csv"),
    ),
    "attribution report": WritingCommand(
        ("attribute", "m.byline", "more", "--report", "new.html"), "new.html",
        ("attribute", "m.byline", "long.txt", "--report", "new.html"), same=False,
    ),
    "cluster": WritingCommand(
        ("cluster", "authors", "-o", "new"), "new/clustering.json",
        ("cluster", "authors", "-o", "new", "--threshold", "-99"),
    ),
    "rolling report": WritingCommand((*ROLLING, "600"), "new.html", (*ROLLING, "700"), same=False),
    "report": WritingCommand(
        ("report", "run", "-o", "new.html"), "new.html", ("report", "run2", "-o", "new.html"), same=False
    ),
    "plot": WritingCommand(
        ("plot", "run", "heatmap", "-o", "new.svg"), "new.svg", ("plot", "run2", "heatmap", "-o", "new.svg")
    ),
    "combine": WritingCommand(
        ("combine", "run", "run2", "-o", "new"), "new/answers.txt", ("combine", "run2", "-o", "new")
    ),
    "reference": WritingCommand(
        ("reference", "build", "authors", "-o", "new"), "new/reference.json",
        ("reference", "build", "more", "-o", "new"),
    ),
    "calibrate": WritingCommand(
        ("calibrate", "corpus", "-o", "new.json", *SMALL), "new.json",
        ("calibrate", "corpus", "-o", "new.json", *SMALL, "--seed", "7"),
    ),
    "text": WritingCommand(("text", "long.txt", "-o", "new"), "new/long.txt", ("text", "other/long.txt", "-o", "new")),
    "demo": WritingCommand(
        ("demo", "greek", "--members", "1"), "byline-demo.html", ("demo", "--members", "1"), (), same=False
    ),
}  # fmt: skip
