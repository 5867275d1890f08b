"""Problems laid out beside a reference population: each by itself, without looking at other problems.

Each problem has a head and a document of its own, even where problems repeat a text, and the reference's sets are both
heads and documents. Alphabet, words that stay unmasked, and whatever heads share come from the reference alone. So the
answer to a problem is the same whichever other problems are asked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from byline.corpora.problems import Problem
from byline.corpora.reference import FEWEST, Reference, related_texts
from byline.engines.encoded_texts import EncodedTexts
from byline.engines.questions import (
    NumberedTexts,
    PreparedQuestions,
    Question,
    Questions,
    ReferencePart,
    Trial,
    assign_trials,
)
from byline.errors import TooLittleText
from byline.settings.settings import Settings
from byline.text.encoder import SHORTEST

MOST_SETS = 150
"""Sets of the reference that are compared with at the most: more hardly change an answer, and cost time."""
MOST_PROBLEMS = 100
"""Problems that are laid out together: time then grows with the number of problems, not its square."""


@dataclass(frozen=True)
class _ReferenceSet:
    """Texts of the reference by one author: all of them, or one."""

    keys: frozenset[bytes]
    numbers: frozenset[int]
    """The numbers of the texts in the reference."""
    author: str


def prepare_cohort(problems: Sequence[Problem], settings: Settings, reference: Reference) -> PreparedQuestions:
    """Encode the texts as the reference's texts are encoded, and lay out each problem beside the reference's sets."""
    language = problems[0].language if problems else ""
    encoded_texts = EncodedTexts(language, settings, [text.document for text in reference.texts])
    sets = _choose_sets(reference, encoded_texts)
    _require_authors(language, reference, sets, frozenset())
    found = iter(related_texts(reference, [d for problem in problems for d in (*problem.known, problem.unknown)]))
    related = {
        problem: frozenset[int]().union(*(next(found) for _ in (*problem.known, problem.unknown)))
        for problem in problems
    }
    sound, ways, offences = assign_trials(
        problems,
        encoded_texts,
        settings,
        lambda problem: _require_authors(problem.id, reference, sets, related[problem]),
    )
    related_to = [related[problem] for problem in sound]
    sides = [
        _lay_out(encoded_texts, trials[start : start + MOST_PROBLEMS], sets, reference, related_to, way)
        for start in range(0, len(sound), MOST_PROBLEMS)
        for way, trials in enumerate(ways)
        if trials[start : start + MOST_PROBLEMS]
    ]
    return PreparedQuestions(tuple(sides), sound, offences, 0, encoded_texts.encoder)


def _require_authors(where: str, reference: Reference, sets: Sequence[_ReferenceSet], related: frozenset[int]) -> None:
    authors = reference.count_distinct({each.author for each in sets if each.numbers.isdisjoint(related)})
    if authors < FEWEST:
        left = " whose texts share nothing with the problem's" if related else ""
        raise TooLittleText(
            f"the reference has texts by {authors} authors who surely are different{left}, and {FEWEST} are needed",
            where=where,
            remedy="Add texts by other people, of the same kind and language, to the reference",
        )


def _choose_sets(reference: Reference, encoded_texts: EncodedTexts) -> list[_ReferenceSet]:
    """Take each author's texts together, and each text alone; of many, a sample that depends on the texts only."""
    keys = [encoded_texts.key(text.document.text) for text in reference.texts]
    found: dict[frozenset[bytes], _ReferenceSet] = {}
    by_author: dict[str, list[int]] = {}
    for number, text in enumerate(reference.texts):
        if encoded_texts.length(text.document.text) >= SHORTEST:
            by_author.setdefault(text.author, []).append(number)
    for author, numbers in by_author.items():
        for part in [numbers, *([number] for number in numbers)]:
            texts = frozenset(keys[number] for number in part)
            found.setdefault(texts, _ReferenceSet(texts, frozenset(part), author))
    ordered = sorted(found.values(), key=lambda each: hashlib.sha256(b"".join(sorted(each.keys))).digest())
    return ordered[:MOST_SETS]


def _lay_out(
    encoded_texts: EncodedTexts,
    trials: Sequence[Trial],
    sets: Sequence[_ReferenceSet],
    reference: Reference,
    related_to: Sequence[frozenset[int]],
    way: int,
) -> Questions:
    """Lay out problems first, in their order, then the reference's sets, as heads and as documents."""
    numbered = NumberedTexts(*(trial.learned | trial.judged for trial in trials), *(each.keys for each in sets))
    population = [numbered.numbers(each.keys) for each in sets]
    first = len(trials)
    excluded = {
        (first + one, first + other)
        for one, mine in enumerate(sets)
        for other, theirs in enumerate(sets)
        if reference.may_be_same(mine.author, theirs.author)
    }
    for place, trial in enumerate(trials):
        for number, each in enumerate(sets, start=first):
            if not each.numbers.isdisjoint(related_to[trial.problem]):
                excluded |= {(place, number), (number, place)}
    return Questions(
        encoded_texts.alphabet,
        numbered.texts,
        (*(numbered.numbers(trial.learned) for trial in trials), *population),
        (*(numbered.numbers(trial.judged) for trial in trials), *population),
        tuple(Question(trial.problem, place, place) for place, trial in enumerate(trials)),
        reference=ReferencePart(first, first),
        excluded_pairs=frozenset(excluded),
        way=way,
    )
