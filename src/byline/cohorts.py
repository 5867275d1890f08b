"""Problems laid out beside a reference population: every problem by itself, never looking at other problems.

Each problem has a head and a document of its own, even where problems repeat a text, and the reference's sets are both
heads and documents. Alphabet, words that stay unmasked, and whatever heads share come from the reference alone. So the
answer to a problem is the same whichever other problems are asked beside it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from byline.errors import TooLittleText
from byline.problems import Offence, Problem
from byline.questions import Prepared, Question, Questions
from byline.reference import FEWEST, Reference, related_texts
from byline.settings import Settings
from byline.trials import lay_trials
from byline.views import SHORTEST, Library

MOST_SETS = 150
"""Sets of the reference that are compared with at the most: more hardly change an answer, and cost time."""
TOGETHER = 100
"""Problems that are laid out together: time grows with the number of problems, not its square."""


@dataclass(frozen=True)
class _Set:
    """Texts by one person: all of an author's, or one."""

    keys: frozenset[bytes]
    numbers: frozenset[int]
    """Of the texts in the reference."""
    author: str


class _Asked(NamedTuple):
    """A problem's number, what it learns and judges, and the reference's texts that have to do with it."""

    problem: int
    learnt: frozenset[bytes]
    judged: frozenset[bytes]
    related: frozenset[int]


def prepare_cohort(problems: Sequence[Problem], settings: Settings, reference: Reference) -> Prepared:
    """Normalise with what the reference knows, and lay out each problem beside its sets."""
    language = problems[0].language if problems else ""
    library = Library(language, settings, [text.document for text in reference.texts])
    sets = _choose_sets(reference, library)
    _require_people(language, reference, sets, frozenset())
    sound: list[Problem] = []
    offences: list[Offence] = []
    asked: tuple[list[_Asked], list[_Asked]] = [], []
    found = iter(related_texts(reference, [d for problem in problems for d in (*problem.known, problem.unknown)]))
    for problem in problems:
        related = frozenset[int]().union(*(next(found) for _ in (*problem.known, problem.unknown)))
        try:
            trials = lay_trials(problem, library, settings)
            _require_people(problem.id, reference, sets, related)
        except TooLittleText as error:
            offences.append(Offence(problem.id, str(error)))
            continue
        for side, (learnt, judged) in zip(asked, trials, strict=False):
            side.append(_Asked(len(sound), learnt, judged, related))
        sound.append(problem)
    sides = [
        _lay_out(library, trials[start : start + TOGETHER], sets, reference, way)
        for start in range(0, len(sound), TOGETHER)
        for way, trials in enumerate(asked)
        if trials[start : start + TOGETHER]
    ]
    return Prepared(tuple(sides), tuple(sound), tuple(offences), 0, library.view)


def _require_people(where: str, reference: Reference, sets: Sequence[_Set], related: frozenset[int]) -> None:
    people = reference.count_people({each.author for each in sets if each.numbers.isdisjoint(related)})
    if people < FEWEST:
        lost = ", and have nothing to do with its texts," if related else ""
        raise TooLittleText(
            f"{where}: the reference has texts by {people} people who surely are different{lost} and {FEWEST} are the"
            " least to say anything; add texts by other people, of the same kind and language"
        )


def _choose_sets(reference: Reference, library: Library) -> list[_Set]:
    """Each author's texts together, and each text alone; of many an even sample that depends on the texts only."""
    keys = [library.key(text.document.text) for text in reference.texts]
    long_enough = [
        number for number, text in enumerate(reference.texts) if library.length(text.document.text) >= SHORTEST
    ]
    found: dict[frozenset[bytes], _Set] = {}
    by_author: dict[str, list[int]] = {}
    for number in long_enough:
        by_author.setdefault(reference.texts[number].author, []).append(number)
    for author, numbers in by_author.items():
        for part in [numbers, *([number] for number in numbers)]:
            texts = frozenset(keys[number] for number in part)
            found.setdefault(texts, _Set(texts, frozenset(part), author))
    ordered = sorted(found.values(), key=lambda each: hashlib.sha256(b"".join(sorted(each.keys))).digest())
    return ordered[:MOST_SETS]


def _lay_out(
    library: Library, asked: Sequence[_Asked], sets: Sequence[_Set], reference: Reference, way: int
) -> Questions:
    """Problems first, in their order, then the reference's sets, as heads and as documents."""
    keys = sorted(
        frozenset[bytes]().union(*(each.learnt | each.judged for each in asked), *(each.keys for each in sets))
    )
    number_of = {key: number for number, key in enumerate(keys)}

    def numbers(chosen: frozenset[bytes]) -> tuple[int, ...]:
        return tuple(sorted(number_of[key] for key in chosen))

    population = [numbers(each.keys) for each in sets]
    first = len(asked)
    barred = {
        (first + one, first + other)
        for one, mine in enumerate(sets)
        for other, theirs in enumerate(sets)
        if reference.may_be_one(mine.author, theirs.author)
    }
    for place, each in enumerate(asked):
        for number, its in enumerate(sets):
            if not its.numbers.isdisjoint(each.related):
                barred |= {(place, first + number), (first + number, place)}
    return Questions(
        library.alphabet,
        tuple(np.frombuffer(key, np.int32) for key in keys),
        (*(numbers(each.learnt) for each in asked), *population),
        (*(numbers(each.judged) for each in asked), *population),
        tuple(Question(each.problem, place, place) for place, each in enumerate(asked)),
        reference=len(population),
        barred=frozenset(barred),
        way=way,
    )
