"""Is a reference population large and varied enough for these questions? Said in words, and by how much."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from byline.languages import language_of_script
from byline.passages import plain_form
from byline.problems import Problem
from byline.reference.texts import Reference, related_texts

FEWEST = 10
"""With texts by fewer other people than this, nothing can be said."""
ENOUGH = 50
"""With texts by so many other people, one more changes little."""
FACTOR = 2
"""A text is near in length to one that is at most so many times as long, or as short."""
NEAREST = 10
"""How near a text is to the reference is the mean of its likeness to so many texts there, the nearest ones."""
UNUSUAL = 0.05
"""A text of which the reference is less than this share of its own texts are is of a kind that it hardly has."""
FAR = 1.25
"""Two texts that are so many times as alike as any two of the reference that are by different authors have something
in common that it lacks."""
EXTENT = 4_000
"""Characters of a text's beginning that tell its kind: more are no better, for longer texts are always more alike."""

Grade = Literal["good", "fair", "poor", "none"]
GRADES: dict[Grade, str] = {
    "good": "well suited",
    "fair": "usable, but small",
    "poor": "doubtful",
    "none": "of no use",
}

Floats = npt.NDArray[np.float32]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ProblemCheck:
    """How well the reference suits one question. All numbers are of authors who surely are different, but `related`."""

    id: str
    authors: int
    """Of whom there is a text that has nothing to do with the question's."""
    related: int
    """Texts left out, for they have to do with the question's, or may be by the same people."""
    near_unknown: int
    """Who have a text near in length to the unknown one."""
    near_known: int
    """Who have a text, or texts together, near in length to the known ones together."""
    like_unknown: int
    """Who have a text that is as like the unknown one as the reference's texts are like each other."""
    like_known: int
    """Who have one that is so like the known texts."""
    grade: Grade
    remarks: tuple[str, ...]
    """What is wrong, worst first; nothing where all is well."""

    @property
    def verdict(self) -> str:
        """The grade in words, and why."""
        return GRADES[self.grade] + (f": {'; '.join(self.remarks)}" if self.remarks else "")


@dataclass(frozen=True)
class ReferenceCheck:
    """How well a reference suits some questions."""

    language: str
    texts: int
    authors: int
    """Who surely are different."""
    characters: int
    """Of all texts, as they are."""
    lengths: tuple[int, int, int]
    """Of the shortest text, the median one and the longest, likewise."""
    problems: tuple[ProblemCheck, ...]

    @property
    def grade(self) -> Grade:
        """That of most questions, but not better than the number of authors allows."""
        if self.authors < FEWEST:
            return "none"
        counts = Counter(problem.grade for problem in self.problems)
        most = max(GRADES, key=lambda grade: counts[grade])
        return "fair" if most == "good" and self.authors < ENOUGH else most

    @property
    def verdict(self) -> str:
        """A sentence or two."""
        if self.authors < FEWEST:
            return (
                f"Too small for any question: texts by {self.authors} people, and {FEWEST} are the least to say"
                f" anything; {ENOUGH} are enough. Add texts by other people."
            )
        counts = Counter(problem.grade for problem in self.problems)
        parts = [f"{GRADES[grade]} for {counts[grade]}" for grade in GRADES if counts[grade]]
        return (
            f"Of {len(self.problems)} question{'s' * (len(self.problems) != 1)}, the reference is {', '.join(parts)}."
        )


def check_reference(reference: Reference, problems: Sequence[Problem]) -> ReferenceCheck:
    """How large the reference is, and for each problem how many of its authors have texts like those in question."""
    documents = [document for problem in problems for document in (*problem.known, problem.unknown)]
    related = iter(related_texts(reference, documents))
    sides = [_sides(problem, reference.language) for problem in problems]
    kinds = _Kinds(reference, [text for pair in sides for text in pair]) if len(reference.by_author) >= FEWEST else None
    checks = []
    for problem, (known, unknown) in zip(problems, sides, strict=True):
        gone = frozenset[int]().union(*(next(related) for _ in (*problem.known, problem.unknown)))
        checks.append(_check_problem(_Rest(reference, gone), problem, known, unknown, kinds))
    return ReferenceCheck(
        reference.language,
        len(reference.texts),
        reference.count_people(reference.by_author),
        sum(reference.lengths),
        reference.spread,
        tuple(checks),
    )


class _Rest:
    """What is left of a reference for one question."""

    def __init__(self, reference: Reference, gone: frozenset[int]) -> None:
        self.reference, self.related = reference, len(gone)
        self.left = [number for number in range(len(reference.texts)) if number not in gone]
        self.authors = self._people(self.left)

    def count(self, wanted: Flags) -> int:
        """The authors of whom a text is wanted."""
        return self._people(number for number in self.left if wanted[number])

    def _people(self, numbers: Iterable[int]) -> int:
        """Who wrote some texts, and surely are different."""
        return self.reference.count_people(self.reference.texts[number].author for number in numbers)

    def near(self, length: int, together: bool = False) -> int:
        """The authors who have a text near in length, or texts that are so together."""
        lengths = np.array(self.reference.lengths)
        wanted = _near(lengths, length)
        if together:
            sums: Counter[str] = Counter()
            for number in self.left:
                sums[self.reference.texts[number].author] += self.reference.lengths[number]
            wanted |= _near(np.array([sums[text.author] for text in self.reference.texts]), length)
        return self.count(wanted)


def _near(lengths: npt.NDArray[np.int64], length: int) -> Flags:
    return (lengths * FACTOR >= length) & (lengths <= length * FACTOR)


def _check_problem(rest: _Rest, problem: Problem, known: str, unknown: str, kinds: _Kinds | None) -> ProblemCheck:
    """The counts, and what is to be said of them."""
    lengths = len(problem.unknown.text), sum(map(len, {each.text for each in problem.known} - {problem.unknown.text}))
    near_unknown, near_known = rest.near(lengths[0]), rest.near(lengths[1], together=True)
    like_unknown, like_known = (rest.count(kinds.like(text)) for text in (unknown, known)) if kinds else (0, 0)
    bars: list[str] = []
    if not same_language(rest.reference, problem):
        its, asked = languages_of(rest.reference, problem)
        bars.append(f"the reference is {its}, the question {asked}")
    if rest.authors < FEWEST:
        bars.append(f"texts by {rest.authors} other people are left, and {FEWEST} are the least to say anything")
    faults = [
        f"{'only ' if near else ''}{near or 'none'} of {rest.authors} people {'has' if near == 1 else 'have'} a text"
        f" near in length to the {what} ({length:,} characters; the median of the reference is"
        f" {rest.reference.spread[1]:,})"
        for near, what, length in (
            (near_unknown, "unknown text", lengths[0]),
            (near_known, "known texts" if len(problem.known) > 1 else "known text", lengths[1]),
        )
        if near < min(FEWEST, rest.authors)
    ]
    if kinds and not bars:
        faults += kinds.faults(rest.left, known, unknown)
    wants = [f"texts by {rest.authors} other people; {ENOUGH} would be enough"] if rest.authors < ENOUGH else []
    grade: Grade = "none" if bars else "poor" if faults else "fair" if wants else "good"
    return ProblemCheck(
        problem.id,
        rest.authors,
        rest.related,
        near_unknown,
        near_known,
        like_unknown,
        like_known,
        grade,
        tuple(bars or faults + wants),
    )


def _sides(problem: Problem, language: str) -> tuple[str, str]:
    """The known texts together, each once and without the unknown one, and that, in plain form."""
    unknown = plain_form(problem.unknown.text, language)
    known = dict.fromkeys(plain_form(document.text, language) for document in problem.known)
    known.pop(unknown, None)
    return " ".join(known), unknown


def languages_of(reference: Reference, problem: Problem) -> tuple[str, str]:
    """What a reference and a problem that are not of one language are: the languages, or the scripts."""
    if reference.language != problem.language:
        return reference.language, problem.language
    script, own = _scripts(reference, problem)
    return f"written in {script} letters", f"in {own} ones"


def _scripts(reference: Reference, problem: Problem) -> tuple[str | None, str | None]:
    script = language_of_script(*(text.document.text for text in reference.texts[:ENOUGH]))
    return script, language_of_script(*(document.text for document in (*problem.known, problem.unknown)))


def same_language(reference: Reference, problem: Problem) -> bool:
    """Whether they may be of one language; of either, only the script may be known, and another script is another."""
    script, own = _scripts(reference, problem)
    if script != own and None not in (script, own):
        return False
    return reference.language == problem.language or script in (reference.language, problem.language)


class _Kinds:
    """How alike texts are in character n-grams, which their kind and subject tell more than their author."""

    def __init__(self, reference: Reference, asked: Sequence[str]) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self.row_of = {text: row for row, text in enumerate(dict.fromkeys(asked))}
        count = len(reference.texts)
        vectorizer = TfidfVectorizer(
            analyzer="char", ngram_range=(3, 5), lowercase=False, sublinear_tf=True, dtype=np.float32
        )
        vectors = vectorizer.fit_transform([text[:EXTENT] for text in (*reference.plain, *self.row_of)])
        self.vectors = vectors[count:]
        self.to_reference: Floats = (self.vectors @ vectors[:count].T).toarray()
        own: Floats = (vectors[:count] @ vectors[:count].T).toarray()
        own[_may_be_one(reference)] = 0
        self.closest = float(own.max())
        self.usual = float(np.quantile(_nearest(own), UNUSUAL))
        """What the nearest of a text's likenesses are on the mean, for nearly all texts of the reference."""

    def like(self, text: str) -> Flags:
        """Which of the reference's texts are as like it as they are like each other."""
        alike: Flags = self.to_reference[self.row_of[text]] >= self.usual
        return alike

    def faults(self, left: Sequence[int], known: str, unknown: str) -> list[str]:
        """What is to be said of the kind of a question's texts."""
        rows = [self.row_of[known], self.row_of[unknown]]
        far = _nearest(self.to_reference[rows][:, left]) < self.usual
        which = {
            (True, True): "both sides are",
            (True, False): "the known side is",
            (False, True): "the unknown text is",
        }
        found = [f"{which[bool(far[0]), bool(far[1])]} of a kind that the reference hardly has"] if far.any() else []
        together = float((self.vectors[rows[0]] @ self.vectors[rows[1]].T).toarray()[0, 0])
        if together > FAR * self.closest:
            found.append(
                f"the two sides are far more alike ({together:.2f}) than any two people's texts of the"
                f" reference ({self.closest:.2f}), perhaps by a subject that they share and the reference lacks"
            )
        return found


def _may_be_one(reference: Reference) -> Flags:
    """For each two of the texts, whether they may be by one author."""
    names = {author: number for number, author in enumerate(reference.by_author)}
    one = np.eye(len(names), dtype=np.bool_)
    for first, second in (tuple(pair) for pair in reference.unclear):
        one[[names[first], names[second]], [names[second], names[first]]] = True
    numbers = [names[text.author] for text in reference.texts]
    return one[np.ix_(numbers, numbers)]


def _nearest(likeness: Floats) -> Floats:
    """The mean of the highest likenesses in each row."""
    number: Any = min(NEAREST, likeness.shape[1])
    return np.sort(likeness, axis=1)[:, -number:].mean(axis=1) if number else np.zeros(len(likeness), np.float32)
