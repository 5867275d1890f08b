"""Where the two sides of a problem share passages, in the texts as they were given, and texts without them.

A quotation that both sides hold, or a text that is on both sides, speaks for one author however different the rest is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from byline.alphabet import Alphabet
from byline.documents import Document
from byline.masking import UNPARTED
from byline.passages import Stretch, find_overlaps, plain_form
from byline.places import trace
from byline.problems import Offence, Problem, ProblemSet
from byline.views import SHORTEST, View

GAP = "____"
"""Stands where a passage was left out. Normalising drops it: members see what is before and after it, and a space."""
NEAR = 20
"""Passages with fewer characters than this in between, perhaps a slip in copying, are left out as one."""
MOSTLY = 0.5
"""A known text of which another one has this share too says little that is new."""

_UNPARTED = re.compile(f"[{UNPARTED}]")


@dataclass(frozen=True)
class Overlaps:
    """What the texts of a problem have in common word for word, by document, of which 0 is the unknown one."""

    passages: dict[int, tuple[Stretch, ...]]
    """Where passages stand that the other side has too, in order; copies of the unknown text are on neither side."""
    copies: tuple[int, ...]
    """Known texts that are the unknown one itself."""
    repeats: tuple[tuple[int, int, float], ...]
    """Known texts, earlier ones that are mostly the same, and the share of the former that the latter have too."""


@dataclass(frozen=True)
class Omission:
    """What was left out of one document of a problem."""

    name: str
    """The document's."""
    passages: tuple[str, ...]
    whole: bool = False
    """Nearly all of it was, and so it is left out itself."""

    @property
    def characters(self) -> int:
        """Of all passages."""
        return sum(map(len, self.passages))


def find_overlap(problem: Problem) -> Overlaps:
    """What a problem's texts have in common, each text as a whole or passages of it."""
    documents = (problem.unknown, *problem.known)
    plain = [plain_form(document.text, problem.language) for document in documents]
    copies = tuple(number for number in range(1, len(plain)) if plain[number] == plain[0])
    spans: dict[int, set[Stretch]] = {}
    repeats: list[tuple[int, int, float]] = [
        (number, first, 1.0)
        for number in range(1, len(plain))
        if number not in copies and (first := plain.index(plain[number])) < number
    ]
    settled = {number for number, _, _ in repeats}
    for (one, other), (own, its) in find_overlaps(plain).items():
        if one == 0 and other not in copies:
            spans.setdefault(0, set()).update(own)
            spans.setdefault(other, set()).update(its)
        elif one and other not in settled and one not in copies and other not in copies:
            share = sum(end - begin for begin, end in its) / len(plain[other])
            repeats += [(other, one, share)] if share >= MOSTLY else []
    return Overlaps(
        {
            number: _in_original(documents[number].text, problem.language, each)
            for number, each in sorted(spans.items())
        },
        copies,
        tuple(repeats),
    )


def leave_out_shared(problems: ProblemSet, alone: bool) -> tuple[ProblemSet, dict[str, tuple[Omission, ...]]]:
    """The problems without passages that both sides of a question share, and by id what was left out.

    A text that several problems have is cut alike in all of them, unless each is answered `alone`. A known text of
    which nothing is left is gone; where nothing is left of a side, the problem is an offence.
    """
    cuts: dict[tuple[str, str], list[Stretch]] = {}  # by the problem, if it is alone, and the text
    for problem in problems.problems:
        documents = (problem.unknown, *problem.known)
        for number, stretches in find_overlap(problem).passages.items():
            cuts.setdefault((problem.id * alone, documents[number].text), []).extend(stretches)
    left, offences, told = [], list(problems.offences), {}
    for problem in problems.problems:
        documents = (problem.unknown, *problem.known)
        own = [_unite(cuts.get((problem.id * alone, document.text), ()), NEAR) for document in documents]
        if not any(own):
            left.append(problem)
            continue
        unknown, *known = (_cut(*each) for each in zip(documents, own, strict=True))
        there = [_has_text(document, problem.language) for document in (unknown, *known)]
        told[problem.id] = tuple(
            Omission(document.name, tuple(document.text[begin:end] for begin, end in stretches), not enough)
            for document, stretches, enough in zip(documents, own, there, strict=True)
            if stretches
        )
        if not there[0] or not any(there[1:]):
            what = "the known texts" if there[0] else problem.unknown.name
            message = f"{problem.id}: nothing of {what} is left without the passages that both sides share"
            offences.append(Offence(problem.id, f"{message}; remove the problem, or don't mask what is shared"))
            continue
        texts = tuple(document for document, enough in zip(known, there[1:], strict=True) if enough)
        left.append(replace(problem, known=texts, unknown=unknown))
    return replace(problems, problems=tuple(left), offences=tuple(offences)), told


def _in_original(text: str, language: str, stretches: Iterable[Stretch]) -> tuple[Stretch, ...]:
    """Stretches of a text in plain form as those of the text itself, joined where they overlap."""
    view = View(language, "paper", "none", Alphabet("".join(sorted(set(plain_form(text, language))))))
    places = trace(view, text).places.tolist()
    return _unite(_trim(text, places[begin], places[end - 1] + 1) for begin, end in stretches)


def _trim(text: str, begin: int, end: int) -> tuple[int, int]:
    """A stretch without white space, or half of a word, at its ends."""
    first, last = begin, end
    while first < last and (text[first].isspace() or _is_inside(text, first)):
        first += 1
    while first < last and (text[last - 1].isspace() or _is_inside(text, last)):
        last -= 1
    return (first, last) if first < last else (begin, end)


def _unite(stretches: Iterable[tuple[int, int]], near: int = 0) -> tuple[Stretch, ...]:
    """Stretches in order, those that overlap or are near each other as one."""
    joined: list[Stretch] = []
    for begin, end in sorted(stretches):
        if joined and begin <= joined[-1].end + near:
            joined[-1] = Stretch(joined[-1].begin, max(end, joined[-1].end))
        else:
            joined.append(Stretch(begin, end))
    return tuple(joined)


def _is_inside(text: str, place: int) -> bool:
    """Whether a place is inside a word."""
    return 0 < place < len(text) and _is_of_word(text[place - 1]) and _is_of_word(text[place])


def _is_of_word(character: str) -> bool:
    """Whether it is part of a word of several characters."""
    return character.isalnum() and not _UNPARTED.match(character)


def _cut(document: Document, stretches: Sequence[Stretch]) -> Document:
    """The document with a gap in place of each stretch; white space before one is gone, that after it stays."""
    text, done = "", 0
    for begin, end in stretches:
        text += document.text[done:begin].rstrip() + GAP
        done = end
    return replace(document, text=text + document.text[done:]) if stretches else document


def _has_text(document: Document, language: str) -> bool:
    return len(plain_form(document.text, language)) >= SHORTEST
