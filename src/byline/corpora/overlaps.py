"""Passages that both sides of a problem share, and problems without them.

A quotation on both sides, or a text that is on both sides, is evidence for one author however different the rest is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from byline.corpora.documents import Document
from byline.corpora.problems import BadProblem, Problem, ProblemSet
from byline.text.encoder import SHORTEST, Alphabet, TextEncoder, align_text
from byline.text.normalize import UNSEGMENTED
from byline.text.shared_passages import Span, find_shared_spans, plain_form

GAP = "____"
"""Replaces a removed passage. Normalizing drops it, so that members read what is before and after it and a space."""
MAX_CRUMB = 20
"""Passages with no more characters than this in between, perhaps a slip in copying, are removed as one."""
REPEATED_SHARE = 0.5
"""A known text is a repetition if another one contains this share of it."""

_UNSEGMENTED = re.compile(f"[{UNSEGMENTED}]")


@dataclass(frozen=True)
class Overlap:
    """What the texts of a problem have in common. Document 0 is the unknown text, the others are the known ones."""

    passages: dict[int, tuple[Span, ...]]
    """Spans of each document that the other side has too. Copies of the unknown text do not count."""
    copies: tuple[int, ...]
    """Known texts that are the unknown one itself."""
    repeats: tuple[tuple[int, int, float], ...]
    """Known texts, an earlier known text that has most of each, and the share that it has."""


@dataclass(frozen=True)
class RemovedPassages:
    """The passages that were removed from one document of a problem."""

    name: str
    """Name of the document."""
    passages: tuple[str, ...]
    whole: bool = False
    """Whether too little was left, so that the whole document was removed."""

    @property
    def characters(self) -> int:
        """Total length of the passages."""
        return sum(map(len, self.passages))


def find_overlap(problem: Problem) -> Overlap:
    """Find the passages and whole texts that a problem's documents have in common."""
    documents = (problem.unknown, *problem.known)
    plain = [plain_form(document.text, problem.language) for document in documents]
    copies = tuple(number for number in range(1, len(plain)) if plain[number] == plain[0])
    spans: dict[int, set[Span]] = {}
    repeats: list[tuple[int, int, float]] = [
        (number, first, 1.0)
        for number in range(1, len(plain))
        if number not in copies and (first := plain.index(plain[number])) < number
    ]
    identical = {number for number, _, _ in repeats}
    for (one, other), (own, its) in find_shared_spans(plain).items():
        if one == 0 and other not in copies:
            spans.setdefault(0, set()).update(own)
            spans.setdefault(other, set()).update(its)
        elif one and other not in identical and one not in copies and other not in copies:
            share = sum(end - begin for begin, end in its) / len(plain[other])
            repeats += [(other, one, share)] if share >= REPEATED_SHARE else []
    original = {
        number: _find_in_original(documents[number].text, problem.language, each)
        for number, each in sorted(spans.items())
    }
    return Overlap(original, copies, tuple(repeats))


def remove_shared_passages(
    problems: ProblemSet, alone: bool
) -> tuple[ProblemSet, dict[str, tuple[RemovedPassages, ...]]]:
    """Remove the passages that both sides of a problem share; return what was removed by problem id.

    A text that several problems have is cut alike in all of them, unless each is answered `alone`. A known text of
    which nothing is left is dropped. If nothing is left of a side, the problem is a bad one.
    """
    cuts: dict[tuple[str, str], list[Span]] = {}  # by problem, if they are alone, and text
    for problem in problems.problems:
        documents = (problem.unknown, *problem.known)
        for number, spans in find_overlap(problem).passages.items():
            cuts.setdefault((problem.id * alone, documents[number].text), []).extend(spans)
    kept, bad, removed = [], list(problems.bad_problems), {}
    for problem in problems.problems:
        documents = (problem.unknown, *problem.known)
        own = [_join_spans(cuts.get((problem.id * alone, document.text), ()), MAX_CRUMB) for document in documents]
        if not any(own):
            kept.append(problem)
            continue
        unknown, *known = (_cut(*each) for each in zip(documents, own, strict=True))
        enough = [len(plain_form(each.text, problem.language)) >= SHORTEST for each in (unknown, *known)]
        removed[problem.id] = tuple(
            RemovedPassages(document.name, tuple(document.text[begin:end] for begin, end in spans), not left)
            for document, spans, left in zip(documents, own, enough, strict=True)
            if spans
        )
        if not enough[0] or not any(enough[1:]):
            what = "the known texts" if enough[0] else problem.unknown.name
            message = f"{problem.id}: nothing of {what} is left without the passages that both sides share"
            bad.append(BadProblem(problem.id, f"{message}. Remove the problem or keep shared passages"))
            continue
        texts = tuple(document for document, left in zip(known, enough[1:], strict=True) if left)
        kept.append(replace(problem, known=texts, unknown=unknown))
    return replace(problems, problems=tuple(kept), bad_problems=tuple(bad)), removed


def _find_in_original(text: str, language: str, spans: Iterable[Span]) -> tuple[Span, ...]:
    """Map spans of the plain form to the text itself."""
    encoder = TextEncoder(language, "paper", "none", Alphabet("".join(sorted(set(plain_form(text, language))))))
    places = align_text(encoder, text).places.tolist()
    return _join_spans(_trim(text, places[begin], places[end - 1] + 1) for begin, end in spans)


def _trim(text: str, begin: int, end: int) -> tuple[int, int]:
    """Shorten a span so that it begins and ends with whole words."""
    first, last = begin, end
    while first < last and (text[first].isspace() or _is_inside_word(text, first)):
        first += 1
    while first < last and (text[last - 1].isspace() or _is_inside_word(text, last)):
        last -= 1
    return (first, last) if first < last else (begin, end)


def _is_inside_word(text: str, place: int) -> bool:
    """Whether there are letters of one word on both sides of a place."""
    around = text[place - 1 : place + 1] if 0 < place < len(text) else ""
    return around != "" and all(character.isalnum() and not _UNSEGMENTED.match(character) for character in around)


def _join_spans(spans: Iterable[tuple[int, int]], distance: int = 0) -> tuple[Span, ...]:
    """Sort spans and join those that overlap or are this close to each other."""
    joined: list[Span] = []
    for begin, end in sorted(spans):
        if joined and begin <= joined[-1].end + distance:
            joined[-1] = Span(joined[-1].begin, max(end, joined[-1].end))
        else:
            joined.append(Span(begin, end))
    return tuple(joined)


def _cut(document: Document, spans: Sequence[Span]) -> Document:
    """Replace each span by a gap, and remove the white space before it."""
    text, done = "", 0
    for begin, end in spans:
        text += document.text[done:begin].rstrip() + GAP
        done = end
    return replace(document, text=text + document.text[done:]) if spans else document
