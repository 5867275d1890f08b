"""Cautions and reference checks as values, and their summary over many problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from byline.corpora.overlaps import GAP
from byline.corpora.reference import ENOUGH, FEWEST
from byline.errors import list_some

SHORT = 1_000
"""Characters: with fewer on either side, a problem has less than a tenth of a bit of evidence, on average over ten
corpora (benchmarks/limits.py)."""
NAMES_SHOWN = 3
"""The number of names that are listed; the others are counted."""

CautionKind = Literal["language", "shared", "reference", "kind", "short", "repeated", "masked"]
KINDS: dict[CautionKind, str] = {
    "language": "seem to be in another language or script than expected, or in several",
    "shared": "have known and unknown texts that share passages word for word, which is no evidence of authorship",
    "reference": "do not fit the reference well, or the reference is small",
    "kind": "have known and unknown texts that look like different kinds of text",
    "short": f"have fewer than {SHORT:,} characters on a side: there the evidence is weak",
    "repeated": "have known texts that repeat each other, or the unknown one",
    "masked": f"were answered without passages that both sides share ({GAP} stands for each)",
}
"""The predicate of a sentence about the problems with each kind of caution, the most important kind first."""

Grade = Literal["good", "fair", "poor", "none"]
GRADES: dict[Grade, str] = {
    "good": "well suited",
    "fair": "usable, but small",
    "poor": "doubtful",
    "none": "of no use",
}


class TextSpan(NamedTuple):
    """Where a shared passage is in one of a problem's documents; document 0 is the unknown one."""

    document: int
    begin: int
    end: int


@dataclass(frozen=True)
class Caution:
    """One reason not to trust an answer, or all answers of a run."""

    kind: CautionKind
    text: str
    """What was found and what it means, in a sentence or two."""
    passages: tuple[TextSpan, ...] = ()
    quotes: tuple[str, ...] = ()
    """The beginnings of passages that both sides share."""


@dataclass(frozen=True)
class ProblemCheck:
    """How well the reference fits one problem. All numbers but `related` count certainly different authors."""

    id: str
    authors: int
    """Those with a text that is unrelated to the problem's."""
    related: int
    """Texts that are left out because they are related to the problem's, or may be by the same people."""
    near_unknown: int
    """Those with a text near in length to the unknown one."""
    near_known: int
    """Those with a text, or texts together, near in length to the known ones together."""
    like_unknown: int
    """Those with a text as similar to the unknown one as the reference's texts are to each other."""
    like_known: int
    """The same for the known texts."""
    grade: Grade
    remarks: tuple[str, ...]
    """What is wrong, the most important first."""

    @property
    def verdict(self) -> str:
        """Return the grade in words, and the reasons."""
        return GRADES[self.grade] + (f": {'; '.join(self.remarks)}" if self.remarks else "")


@dataclass(frozen=True)
class ReferenceCheck:
    """How well a reference fits some problems."""

    language: str
    texts: int
    authors: int
    """The number of certainly different authors."""
    characters: int
    lengths: tuple[int, int, int]
    """Those of the shortest, the median and the longest text."""
    problems: tuple[ProblemCheck, ...]

    @property
    def grade(self) -> Grade:
        """Return the grade of most problems, limited by the number of authors."""
        if self.authors < FEWEST:
            return "none"
        counts = Counter(problem.grade for problem in self.problems)
        most = max(GRADES, key=lambda grade: counts[grade])
        return "fair" if most == "good" and self.authors < ENOUGH else most

    @property
    def verdict(self) -> str:
        """Return the grades in a sentence or two."""
        if self.authors < FEWEST:
            return (
                f"Too small for any question: texts by {self.authors} people; {FEWEST} are needed, {ENOUGH} are enough."
                " Add texts by other people."
            )
        counts = Counter(problem.grade for problem in self.problems)
        parts = [f"{GRADES[grade]} for {counts[grade]}" for grade in GRADES if counts[grade]]
        asked = f"{len(self.problems)} question{'s' * (len(self.problems) != 1)}"
        return f"Of {asked}, the reference is {', '.join(parts)}."


@dataclass(frozen=True)
class Cautions:
    """The cautions of a run."""

    run: tuple[Caution, ...]
    """Those about all problems together."""
    problems: Mapping[str, tuple[Caution, ...]]
    """Those of each problem that has any, by id, the most important first."""
    reference: ReferenceCheck | None = None
    """How well the reference fits each problem, if there is one."""

    def of(self, problem_id: str) -> tuple[Caution, ...]:
        """Return the cautions of one problem."""
        return self.problems.get(problem_id, ())

    def summarize(self) -> list[Caution]:
        """Return the cautions of the run, then one for each kind that problems have, the most important first."""
        by_kind: dict[CautionKind, list[str]] = {}
        for name, own in self.problems.items():
            for kind in dict.fromkeys(caution.kind for caution in own):
                by_kind.setdefault(kind, []).append(name)
        found = list(self.run)
        for kind, what in KINDS.items():
            if len(names := by_kind.get(kind, [])) > 1:
                found.append(Caution(kind, f"{len(names):,} problems {what} ({list_some(names)})."))
            elif names:
                single = (caution for caution in self.of(names[0]) if caution.kind == kind)
                found += [replace(caution, text=f"{names[0]}: {caution.text}") for caution in single]
        return found
