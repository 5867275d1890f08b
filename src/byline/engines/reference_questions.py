"""Problems laid out beside a reference population, each by itself.

Each author of the reference has a head and a document, cut to about the lengths of the problem's known and unknown
texts, or several of each if the reference has few authors with much text: the *cohort* that scores are normalized by.
Besides, each author's texts are divided into known and unknown ones that share no text, or into halves if there is one
text only, and cut to the same lengths. These make *cases* whose truth is known: how alike such texts are if one person
wrote them, and if two did. *Own pairs* compare known texts of a problem with each other, and halves of a single text.

Alphabet, words that stay unmasked, and whatever heads share come from the reference alone. An answer does not depend
on the other problems.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from byline.corpora.problems import Problem
from byline.corpora.reference import FEWEST, Reference, related_texts
from byline.engines.questions import (
    EncodedTexts,
    NumberedTexts,
    PreparedQuestions,
    Question,
    Questions,
    ReferenceLayout,
    ReferencePart,
    assign_trials,
)
from byline.errors import TooLittleText
from byline.settings.settings import ENGINES, Settings
from byline.text.encoder import SHORTEST, Alphabet

MOST_AUTHORS = 100
"""The most authors of the reference that are compared with: more hardly change an answer, and cost time."""
MOST_PROBLEMS = 100
"""Problems that are laid out together: time then grows with the number of problems, not its square."""
SHORTEST_LENGTH, MOST_DOUBLINGS = 250, 9
"""Lengths to which texts of the reference are cut, in characters: the shortest, and how often it is doubled."""
TOLERANCE = 1.2
"""Texts that are longer than the length by up to this factor are not cut."""
SHORTEST_PIECE = 100
"""Characters: shorter texts, and a shorter rest of a text, are left out."""
LONGEST_WORD = 40
"""Characters after which a cut does not wait for the end of a word."""
MOST_WINDOWS = 5
"""The most members of the cohort, and of the cases, by one author, if the reference has few authors."""
MOST_CHARACTERS = 160_000
"""Characters of an author's members together, unless one member alone has more: bounds the time of long questions."""
MOST_OWN_PAIRS = 2
"""Own pairs of several known texts: one text each with all others."""
WAYS = {"both": (0, 1), "known": (0,), "unknown": (1,)}
"""The ways of asking, by the side that is learned: 1 if known and unknown texts change roles."""
KnownAndUnknown = tuple[frozenset[bytes], frozenset[bytes]]
"""Encoded texts on the known side and on the unknown side."""


@dataclass(frozen=True)
class _Author:
    """An author of the reference and their texts."""

    name: str
    texts: tuple[str, ...]
    """In the order in which they are used."""
    numbers: frozenset[int]
    """The numbers of the texts in the reference."""


@dataclass(frozen=True)
class _Member:
    """Texts by an author that make a head and a document: of the cohort, or of the cases."""

    author: int
    known: tuple[str, ...]
    unknown: tuple[str, ...]
    halved: bool = False


def prepare_reference(problems: Sequence[Problem], settings: Settings, reference: Reference) -> PreparedQuestions:
    """Encode the texts as the reference's texts are encoded, and lay out each problem beside the reference."""
    language = problems[0].language if problems else ""
    encoded_texts = EncodedTexts(language, settings, [text.document for text in reference.texts])
    authors = _divide_authors(reference)
    _require_authors(language, reference, authors, frozenset())
    related = _find_related(problems, reference)
    sound, (trials, _), offences = assign_trials(
        [_order_texts(problem) for problem in problems],
        encoded_texts,
        replace(settings, train_on="both"),
        lambda problem: _require_authors(problem.id, reference, authors, related[problem.id]),
    )
    related_authors = [_number_related(authors, related[problem.id]) for problem in sound]
    same_people = _find_same_people(reference, authors)
    lengths_by_problem = [_find_lengths(problem) for problem in sound]
    ways = (0,) if ENGINES[settings.engine].symmetric else WAYS[settings.train_on]
    sides = []
    for lengths in sorted(set(lengths_by_problem)):
        cases, cohort = _make_members(authors, lengths)
        members = [
            (frozenset(map(encoded_texts.key, each.known)), frozenset(map(encoded_texts.key, each.unknown)))
            for each in (*cases, *cohort)
        ]
        asked = [trial for trial in trials if lengths_by_problem[trial.problem] == lengths]
        for start in range(0, len(asked), MOST_PROBLEMS):
            chunk = asked[start : start + MOST_PROBLEMS]
            owned = [
                (place, own_pair)
                for place, trial in enumerate(chunk)
                for own_pair in _make_own_pairs(sound[trial.problem], encoded_texts)
            ]
            layout = ReferenceLayout(
                tuple(place for place, _ in owned),
                tuple(each.author for each in cases),
                tuple(each.author for each in cohort),
                tuple(each.halved for each in cases),
                lengths,
            )
            excluded = _exclude_pairs(layout, same_people, [related_authors[trial.problem] for trial in chunk])
            problem_texts = [(trial.learned, trial.judged) for trial in chunk]
            own_texts = [own_pair for _, own_pair in owned]
            sides += [
                _lay_out(
                    encoded_texts.alphabet,
                    [trial.problem for trial in chunk],
                    [*problem_texts, *own_texts, *members],
                    layout,
                    excluded,
                    way,
                )
                for way in ways
            ]
    originals = {problem.id: problem for problem in problems}
    return PreparedQuestions(
        tuple(sides), tuple(originals[problem.id] for problem in sound), offences, 0, encoded_texts.encoder
    )


def _make_own_pairs(problem: Problem, encoded_texts: EncodedTexts) -> list[KnownAndUnknown]:
    """Return, for each side of the problem, its texts one with the others, or the halves of its only text.

    Texts and halves that are too short after encoding, or the same, make no pair.
    """
    pairs: list[tuple[Sequence[str], Sequence[str]]] = []
    for side in (problem.known, (problem.unknown,)):
        texts = sorted({document.text for document in side}, key=_hash)
        if len(texts) > 1:
            pairs += [
                ([*texts[:place], *texts[place + 1 :]], texts[place : place + 1]) for place in range(MOST_OWN_PAIRS)
            ]
        else:
            one, other = _halve(texts[0])
            pairs.append(([one], [other]))
    return [
        (frozenset(map(encoded_texts.key, one)), frozenset(map(encoded_texts.key, other)))
        for one, other in pairs
        if min(encoded_texts.length(text) for text in (*one, *other)) >= SHORTEST
        and {*map(encoded_texts.key, one)}.isdisjoint(map(encoded_texts.key, other))
    ]


def _order_texts(problem: Problem) -> Problem:
    """Put the two texts of a problem with one known text in a fixed order: which is which must not matter."""
    if len(problem.known) > 1 or problem.known[0].text <= problem.unknown.text:
        return replace(problem, symmetric=False)
    return replace(problem, known=(problem.unknown,), unknown=problem.known[0], symmetric=False)


def _find_related(problems: Sequence[Problem], reference: Reference) -> dict[str, frozenset[int]]:
    """Return, for each problem, the numbers of the reference's texts that are related to its texts."""
    documents = [document for problem in problems for document in (*problem.known, problem.unknown)]
    found = iter(related_texts(reference, documents))
    return {
        problem.id: frozenset[int]().union(*(next(found) for _ in (*problem.known, problem.unknown)))
        for problem in problems
    }


def _divide_authors(reference: Reference) -> list[_Author]:
    """Divide the texts of each author; of many authors, take a sample that depends on the texts only."""
    numbers: dict[str, list[int]] = {}
    for number, (text, plain) in enumerate(zip(reference.texts, reference.plain, strict=True)):
        if len(plain) >= SHORTEST_PIECE:
            numbers.setdefault(text.author, []).append(number)
    keys = {
        author: sorted(_hash(reference.texts[number].document.text) for number in found)
        for author, found in numbers.items()
    }
    chosen = sorted(numbers, key=lambda author: keys[author])[:MOST_AUTHORS]
    return [
        _Author(
            author,
            tuple(sorted({reference.texts[number].document.text for number in numbers[author]}, key=_hash)),
            frozenset(numbers[author]),
        )
        for author in chosen
    ]


def _make_members(authors: Sequence[_Author], lengths: tuple[int, int]) -> tuple[list[_Member], list[_Member]]:
    """Return the members of the cases and those of the cohort, in the order of their authors."""
    most = max(1, min(MOST_WINDOWS, MOST_AUTHORS // len(authors), MOST_CHARACTERS // sum(lengths)))
    cases = [case for number, author in enumerate(authors) for case in _make_cases(number, author, lengths, most)]
    cohort = [member for number, author in enumerate(authors) for member in _make_cohort(number, author, lengths, most)]
    return cases, cohort


def _make_cohort(number: int, author: _Author, lengths: tuple[int, int], most: int) -> list[_Member]:
    """Return the author's members of the cohort: one, or several if there is text for several heads or documents."""
    heads, documents = (_cut_windows(author.texts, length, most) for length in lengths)
    count = max(len(heads), len(documents))
    return [_Member(number, heads[place % len(heads)], documents[place % len(documents)]) for place in range(count)]


def _make_cases(number: int, author: _Author, lengths: tuple[int, int], most: int) -> list[_Member]:
    """Return the author's members of the cases: known and unknown texts that differ, or are halves of the only one.

    A text is the unknown one, and all others are the known ones, in turn. If the author has fewer texts than members,
    several parts of each are.
    """
    known, unknown = lengths
    texts = author.texts
    if len(texts) == 1:
        halves = list(_halve(texts[0]))
        if _hash(texts[0])[0] % 2 == 1:  # as often one as the other
            halves.reverse()
        heads, documents = _cut_windows(halves[:1], known, most), _cut_windows(halves[1:], unknown, most)
        return [
            _Member(number, heads[place % len(heads)], documents[place % len(documents)], True)
            for place in range(max(len(heads), len(documents)))
        ]
    found = []
    for place, text in enumerate(texts[:most]):
        rest = (*texts[place + 1 :], *texts[:place])
        heads = _cut_windows(rest, known, most)
        documents = _cut_windows((text,), unknown, -(-most // len(texts)))
        found += [_Member(number, heads[turn % len(heads)], each) for turn, each in enumerate(documents)]
    return found[:most]


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _find_lengths(problem: Problem) -> tuple[int, int]:
    """Return the lengths to which texts of the reference are cut, for the known and the unknown side."""
    known = sum(len(document.text) for document in problem.known)
    return _round_length(known), _round_length(len(problem.unknown.text))


def _round_length(characters: int) -> int:
    """Return the nearest of a few lengths, so that many problems are compared with the same cuts."""
    doublings = round(np.log2(max(characters, SHORTEST_LENGTH) / SHORTEST_LENGTH))
    return int(SHORTEST_LENGTH * 2 ** min(doublings, MOST_DOUBLINGS))


def _cut_windows(texts: Sequence[str], length: int, most: int) -> list[tuple[str, ...]]:
    """Return up to `most` windows that share no text: texts, or pieces of texts, of about `length` characters together.

    If there is less text, there is one window of what there is.
    """
    found: list[tuple[str, ...]] = []
    window: list[str] = []
    for text in texts:
        place = 0
        while place < len(text):
            room = length - sum(map(len, window))
            rest = len(text) - place
            if rest <= room * TOLERANCE:
                end = len(text)
            elif place == 0 and rest < 2 * room:  # from the middle
                place = _nearest_space(text, (rest - room) // 2)
                end = _nearest_space(text, place + room)
            else:
                end = _nearest_space(text, place + room)
            piece = text[place:end]
            place = end if len(text) - end > SHORTEST_PIECE else len(text)
            if len(piece) > SHORTEST_PIECE or not (window or found):
                window.append(piece)
            if sum(map(len, window)) * TOLERANCE >= length:
                found.append(tuple(window))
                window = []
                if len(found) == most:
                    return found
    return found or [tuple(window)]


def _halve(text: str) -> tuple[str, str]:
    middle = _nearest_space(text, len(text) // 2)
    return text[:middle], text[middle:]


def _nearest_space(text: str, place: int) -> int:
    """Return a place near the given one at which a word ends, or the place itself in scripts without spaces."""
    space = text.find(" ", place, place + LONGEST_WORD)
    return place if space < 0 else space


def _require_authors(where: str, reference: Reference, authors: Sequence[_Author], related: frozenset[int]) -> None:
    count = reference.count_distinct({each.name for each in authors if each.numbers.isdisjoint(related)})
    if count < FEWEST:
        left = " whose texts share nothing with the problem's" if related else ""
        raise TooLittleText(
            f"the reference has texts by {count} authors who surely are different{left}, and {FEWEST} are needed",
            where=where,
            remedy="Add texts by other people, of the same kind and language, to the reference",
        )


def _number_related(authors: Sequence[_Author], texts: frozenset[int]) -> frozenset[int]:
    """Return the numbers of the authors of some of these texts."""
    return frozenset(number for number, author in enumerate(authors) if not author.numbers.isdisjoint(texts))


def _find_same_people(reference: Reference, authors: Sequence[_Author]) -> list[frozenset[int]]:
    """Return, for each author, the numbers of those who may be the same person, themselves included."""
    return [
        frozenset(number for number, other in enumerate(authors) if reference.may_be_same(author.name, other.name))
        for author in authors
    ]


def _exclude_pairs(
    layout: ReferenceLayout, same_people: Sequence[frozenset[int]], related_authors: Sequence[frozenset[int]]
) -> frozenset[tuple[int, int]]:
    """Return the pairs (document, head) that may be by one person, besides those that are asked about.

    The two sides of a case are asked about as well. Cases by one author are not excluded from each other.

    Parameters
    ----------
    layout
        Own pairs, cases and the cohort.
    same_people
        For each author, the numbers of those who may be the same person.
    related_authors
        For each problem, the authors whose texts are related to its texts.
    """
    problems, cases = len(related_authors), len(layout.cases)
    first = problems + len(layout.own_pairs)
    members: list[list[int]] = [[] for _ in same_people]  # the numbers of each author's heads and documents
    for number, author in enumerate((*layout.cases, *layout.cohort), start=first):
        members[author].append(number)
    excluded = {
        (document, head)
        for author, others in enumerate(same_people)
        for other in others
        for document in members[author]
        for head in members[other]
        if author != other or max(document, head) >= first + cases
    }
    asked = [[number] for number in range(problems)]  # each problem's number, and those of its own pairs
    for number, problem in enumerate(layout.own_pairs, start=problems):
        asked[problem].append(number)
    for own, related in zip(asked, related_authors, strict=True):
        for author in frozenset[int]().union(*(same_people[each] for each in related)):
            for one in own:
                excluded.update((one, member) for member in members[author])
                excluded.update((member, one) for member in members[author])
    return frozenset(excluded)


def _lay_out(
    alphabet: Alphabet,
    problems: Sequence[int],
    texts: Sequence[KnownAndUnknown],
    layout: ReferenceLayout,
    excluded: frozenset[tuple[int, int]],
    way: int,
) -> Questions:
    """Lay out problems first, then own pairs, cases and the cohort; the other way, sides change roles.

    Head and document number i are the known and the unknown side number i of `texts`.
    """
    heads, documents = ([each[side] for each in texts] for side in ((0, 1) if way == 0 else (1, 0)))
    numbered = NumberedTexts(*heads, *documents)
    first = len(texts) - len(layout.cohort)
    return Questions(
        alphabet,
        numbered.texts,
        tuple(map(numbered.numbers, heads)),
        tuple(map(numbered.numbers, documents)),
        tuple(Question(problem, place, place) for place, problem in enumerate(problems)),
        reference=ReferencePart(first, first, layout),
        excluded_pairs=excluded,
        way=way,
    )
