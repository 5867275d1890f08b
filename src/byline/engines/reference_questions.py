"""Problems laid out beside a reference population, each by itself.

The texts of each author of the reference are divided into a *known part* and an *unknown part* that share no text, or
into halves if there is one text only. Both are cut to about the lengths of the problem's known and unknown texts. Head
number i and document number i of the reference are by the same author, all other pairs by different ones. So the
reference tells how alike such texts are if one person wrote them, and if two did.

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
    ReferencePart,
    Trial,
    assign_trials,
)
from byline.errors import TooLittleText
from byline.settings.settings import ENGINES, Settings
from byline.text.encoder import Alphabet

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
WAYS = {"both": (0, 1), "known": (0,), "unknown": (1,)}
"""The ways of asking, by the side that is learned: 1 if known and unknown texts change roles."""


@dataclass(frozen=True)
class _Author:
    """An author of the reference and their texts."""

    name: str
    parts: tuple[tuple[str, ...], tuple[str, ...]]
    """The known part and the unknown part, in the order in which texts are used."""
    numbers: frozenset[int]
    """The numbers of the texts in the reference."""


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
    lengths = [_find_lengths(problem) for problem in sound]
    ways = (0,) if ENGINES[settings.engine].symmetric else WAYS[settings.train_on]
    sides = []
    for pair in sorted(set(lengths)):
        parts = [
            tuple(
                frozenset(map(encoded_texts.key, _cut(texts, length)))
                for texts, length in zip(each.parts, pair, strict=True)
            )
            for each in authors
        ]
        asked = [trial for trial in trials if lengths[trial.problem] == pair]
        for start in range(0, len(asked), MOST_PROBLEMS):
            chunk = asked[start : start + MOST_PROBLEMS]
            excluded = _exclude_pairs(reference, authors, [related[sound[trial.problem].id] for trial in chunk])
            sides += [_lay_out(encoded_texts.alphabet, chunk, parts, excluded, way) for way in ways]
    originals = {problem.id: problem for problem in problems}
    return PreparedQuestions(
        tuple(sides), tuple(originals[problem.id] for problem in sound), offences, 0, encoded_texts.encoder
    )


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
    return [_divide(reference, author, numbers[author]) for author in chosen]


def _divide(reference: Reference, author: str, numbers: Sequence[int]) -> _Author:
    texts = sorted({reference.texts[number].document.text for number in numbers}, key=_hash)
    if len(texts) > 1:
        return _Author(author, (tuple(texts[1:]), (texts[0],)), frozenset(numbers))
    middle = _nearest_space(texts[0], len(texts[0]) // 2)
    first, second = (texts[0][:middle],), (texts[0][middle:],)
    turned = _hash(texts[0])[0] % 2 == 1  # as often one as the other
    return _Author(author, (second, first) if turned else (first, second), frozenset(numbers))


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


def _cut(texts: Sequence[str], length: int) -> tuple[str, ...]:
    """Return texts of about a length together: the first ones, and a piece from the middle of the next."""
    found: list[str] = []
    for text in texts:
        room = length - sum(map(len, found))
        if len(text) > room * TOLERANCE:
            begin = _nearest_space(text, (len(text) - room) // 2)
            piece = text[begin : _nearest_space(text, begin + room)]
            return (*found, piece) if len(piece) > SHORTEST_PIECE or not found else tuple(found)
        found.append(text)
    return tuple(found)


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


def _exclude_pairs(
    reference: Reference, authors: Sequence[_Author], related: Sequence[frozenset[int]]
) -> frozenset[tuple[int, int]]:
    """Return the pairs (document, head) that may be by one person, besides those that are asked about."""
    first = len(related)
    same = [[reference.may_be_same(one.name, other.name) for other in authors] for one in authors]
    excluded = {
        (first + one, first + other) for one, row in enumerate(same) for other, possible in enumerate(row) if possible
    }
    for place, texts in enumerate(related):
        own = [number for number, each in enumerate(authors) if not each.numbers.isdisjoint(texts)]
        for number in {other for one in own for other, possible in enumerate(same[one]) if possible}:
            excluded |= {(place, first + number), (first + number, place)}
    return frozenset(excluded)


def _lay_out(
    alphabet: Alphabet,
    trials: Sequence[Trial],
    parts: Sequence[tuple[frozenset[bytes], ...]],
    excluded: frozenset[tuple[int, int]],
    way: int,
) -> Questions:
    """Lay out problems first, in their order, then the reference's authors; the other way, sides change roles."""
    learned, judged = ([each[side] for each in parts] for side in ((0, 1) if way == 0 else (1, 0)))
    heads = [*((trial.judged if way else trial.learned) for trial in trials), *learned]
    documents = [*((trial.learned if way else trial.judged) for trial in trials), *judged]
    numbered = NumberedTexts(*heads, *documents)
    return Questions(
        alphabet,
        numbered.texts,
        tuple(map(numbered.numbers, heads)),
        tuple(map(numbered.numbers, documents)),
        tuple(Question(trial.problem, place, place) for place, trial in enumerate(trials)),
        reference=ReferencePart(len(trials), len(trials)),
        excluded_pairs=excluded,
        way=way,
    )
