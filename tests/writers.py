"""The commands that write, what each writes, and what it replaces."""

from __future__ import annotations

from dataclasses import dataclass

SMALL = ("--engines", "rnn", "--members", "2", "--set", "hidden=4", "--set", "sub_epochs=2")


@dataclass(frozen=True)
class Writer:
    """A command and what it writes; given again with `again`, it must end as if nothing had been."""

    words: tuple[str, ...]
    output: str
    old: tuple[str, ...]
    """Makes something else in the same place."""
    again: tuple[str, ...] = ("--overwrite",)
    same: bool = True
    """Whether its files are the same bytes each time; a run's hold timings, a report's the command."""


ROLLING = ("rolling", "m.byline", "long.txt", "--step", "300", "--report", "new.html", "--window")
WRITERS = {
    "verify": Writer(
        ("verify", "corpus", "-o", "new", *SMALL), "new/answers.txt",
        ("verify", "corpus", "-o", "new", *SMALL, "--seed", "7"), ("--resume",),
    ),
    "train": Writer(("train", "authors", "-o", "new.byline"), "new.byline", ("train", "more", "-o", "new.byline")),
    "enroll": Writer(
        ("enroll", "m.byline", "more", "-o", "new.byline"), "new.byline", ("train", "authors", "-o", "new.byline")
    ),
    "attribute": Writer(
        ("attribute", "m.byline", "more", "-o", "new.csv"), "new.csv",
        ("attribute", "m.byline", "long.txt", "-o", "new.csv"),
    ),
    "attribution report": Writer(
        ("attribute", "m.byline", "more", "--report", "new.html"), "new.html",
        ("attribute", "m.byline", "long.txt", "--report", "new.html"), same=False,
    ),
    "cluster": Writer(
        ("cluster", "authors", "-o", "new"), "new/clustering.json",
        ("cluster", "authors", "-o", "new", "--threshold", "-99"),
    ),
    "rolling report": Writer((*ROLLING, "600"), "new.html", (*ROLLING, "700"), same=False),
    "report": Writer(
        ("report", "run", "-o", "new.html"), "new.html", ("report", "run2", "-o", "new.html"), same=False
    ),
    "plot": Writer(
        ("plot", "run", "heatmap", "-o", "new.svg"), "new.svg", ("plot", "run2", "heatmap", "-o", "new.svg")
    ),
    "combine": Writer(
        ("combine", "run", "run2", "-o", "new"), "new/answers.txt", ("combine", "run2", "-o", "new")
    ),
    "reference": Writer(
        ("reference", "build", "authors", "-o", "new"), "new/reference.json",
        ("reference", "build", "more", "-o", "new"),
    ),
    "calibrate": Writer(
        ("calibrate", "corpus", "-o", "new.json", *SMALL), "new.json",
        ("calibrate", "corpus", "-o", "new.json", *SMALL, "--seed", "7"),
    ),
    "text": Writer(("text", "long.txt", "-o", "new"), "new/long.txt", ("text", "other/long.txt", "-o", "new")),
    "demo": Writer(
        ("demo", "greek", "--members", "1"), "byline-demo.html", ("demo", "--members", "1"), (), same=False
    ),
}  # fmt: skip
