"""Cautions as plain values, and what is said of many of them in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from byline.quotations import GAP
from byline.reference import ReferenceCheck

SHORT = 1_000
"""Characters below which a side is called short: a question has less than a tenth of a bit of evidence there, on the
mean over ten corpora, whichever side it is (benchmarks/limits.py)."""
NAMES_SHOWN = 3
"""Names that are listed before the rest is counted."""

Kind = Literal["language", "shared", "reference", "kind", "short", "repeated", "masked"]
KINDS: dict[Kind, str] = {
    "language": "seem to be in another language or script than they should be, or in several",
    "shared": "have known and unknown texts that share passages word for word, which is no evidence of authorship",
    "reference": "are such that the reference suits them badly, or is small",
    "kind": "have known and unknown texts that look like different kinds of text",
    "short": f"have fewer than {SHORT:,} characters on a side: there the evidence is weak",
    "repeated": "have known texts that repeat each other, or the unknown one",
    "masked": f"were answered without passages that both sides share ({GAP} stands for each)",
}
"""What problems with a caution of each kind do; the most important comes first."""


class Passage(NamedTuple):
    """Where a passage that the other side has too is in one of a problem's documents, of which 0 is the unknown one."""

    document: int
    begin: int
    end: int


@dataclass(frozen=True)
class Caution:
    """One thing that speaks against believing an answer, or all answers of a run."""

    kind: Kind
    text: str
    """What it is and what it means, in a sentence or two."""
    passages: tuple[Passage, ...] = ()
    """Where it is seen, if it is by places."""
    quotes: tuple[str, ...] = ()
    """How passages begin that both sides have."""


@dataclass(frozen=True)
class Cautions:
    """Those of a run."""

    run: tuple[Caution, ...]
    """Of all problems together."""
    problems: Mapping[str, tuple[Caution, ...]]
    """By id, the most important first; problems without any are not there."""
    reference: ReferenceCheck | None = None
    """How well the reference suits each question, where there is one."""

    def of(self, problem_id: str) -> tuple[Caution, ...]:
        """Those of one problem."""
        return self.problems.get(problem_id, ())

    def summarise(self) -> list[Caution]:
        """Those of the run, then one for each kind that problems have, the most important first."""
        having: dict[Kind, list[str]] = {}
        for name, own in self.problems.items():
            for kind in dict.fromkeys(caution.kind for caution in own):
                having.setdefault(kind, []).append(name)
        found = list(self.run)
        for kind, what in KINDS.items():
            if len(names := having.get(kind, [])) > 1:
                found.append(Caution(kind, f"{len(names):,} problems {what} ({list_some(names)})."))
            elif names:
                mine = (caution for caution in self.of(names[0]) if caution.kind == kind)
                found += [replace(caution, text=f"{names[0]}: {caution.text}") for caution in mine]
        return found


def list_some(names: Iterable[str]) -> str:
    """The first of some names, and how many more there are."""
    every = list(names)
    more = f" and {len(every) - NAMES_SHOWN:,} more" if len(every) > NAMES_SHOWN else ""
    return ", ".join(every[:NAMES_SHOWN]) + more
