"""Problems beside a reference population: the texts of heads and documents, and the pairs that are excluded.

The texts consist of words of four letters that occur nowhere else. So each piece of a text shows where it is from.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.corpora.reference import Reference, ReferenceText
from byline.engines.matrix import Matrix, Side
from byline.engines.questions import PreparedQuestions, Questions, ReferenceLayout
from byline.engines.reference_questions import prepare_reference
from byline.settings.settings import Settings

LETTERS = "bcdfghjklmnpqrstvwxz"
PER_AUTHOR = 1_000
"""Words of each author."""
VECTORS = Settings(engine="vectors")
NGRAM = Settings(engine="ngram")
Pair = tuple[list[str], list[str]]
"""Texts on the known side and on the unknown side."""


def spell_word(number: int) -> str:
    """The word of a number, which no other number has."""
    return "".join(LETTERS[number // len(LETTERS) ** place % len(LETTERS)] for place in (3, 2, 1, 0))


NUMBERS = {spell_word(number): number for number in range(len(LETTERS) ** 4)}


def write(author: int, begin: int, end: int) -> str:
    """Some of the words of an author, 5 characters each with its space."""
    assert end <= PER_AUTHOR
    return " ".join(spell_word(author * PER_AUTHOR + word) for word in range(begin, end))


def words_of(texts: Sequence[str]) -> list[int]:
    """The numbers of the words in some texts."""
    return [NUMBERS[word] for text in texts for word in text.split()]


def author_of(pair: Pair) -> int:
    """The one author of all words on both sides."""
    (author,) = {number // PER_AUTHOR for side in pair for number in words_of(side)}
    return author


def make_reference(authors: int, *texts: tuple[int, int]) -> Reference:
    """A reference in which each author has the words from `begin` to `end` in each of some texts."""
    rows = [
        ReferenceText(Document(f"{author}/{begin}", write(author, begin, end)), f"person {author}")
        for author in range(authors)
        for begin, end in texts
    ]
    return Reference("english", tuple(rows))


def by_hash(texts: Sequence[str]) -> list[str]:
    """Texts in the order in which they are used."""
    return sorted(texts, key=lambda text: hashlib.sha256(text.encode()).digest())


def ask(known: Sequence[str] | int, unknown: str | int, name: str = "EN001") -> Problem:
    """A problem with these texts, or with texts of so many characters."""
    if isinstance(known, int):
        known = [write(120, 0, known // 5)]
    if isinstance(unknown, int):
        unknown = write(121, 0, unknown // 5)
    documents = tuple(Document(f"{name}/known{n}", text) for n, text in enumerate(known, start=1))
    return Problem(name, documents, Document(f"{name}/unknown", unknown), "english")


class Parts(NamedTuple):
    """The known and unknown texts of each head and document, by what they are for."""

    problems: list[Pair]
    own_pairs: list[Pair]
    cases: list[Pair]
    cohort: list[Pair]


def layout_of(side: Questions) -> ReferenceLayout:
    assert side.reference is not None
    assert side.reference.layout is not None
    return side.reference.layout


def spell(side: Questions, texts: Sequence[int]) -> list[str]:
    return [side.alphabet.decode(side.texts[text]) for text in texts]


def parts_of(side: Questions) -> Parts:
    layout = layout_of(side)
    known, unknown = (side.documents, side.heads) if side.way == 1 else (side.heads, side.documents)
    pairs = iter([(spell(side, one), spell(side, other)) for one, other in zip(known, unknown, strict=True)])
    counts = (len(side.questions), len(layout.own_pairs), len(layout.cases), len(layout.cohort))
    parts = Parts(*([next(pairs) for _ in range(count)] for count in counts))
    assert next(pairs, None) is None
    return parts


def lay_out(problem: Problem, reference: Reference, settings: Settings = VECTORS) -> Questions:
    return prepare_reference([problem], settings, reference).sides[0]


def lay_out_parts(problem: Problem, reference: Reference) -> Parts:
    return parts_of(lay_out(problem, reference))


def of_author(pairs: Sequence[Pair], author: int) -> list[Pair]:
    return [pair for pair in pairs if author_of(pair) == author]


class TestCohort:
    def test_a_text_is_cut_into_windows_of_the_lengths_of_the_question_between_words(self) -> None:
        """The 251st character is in the 51st word. The other windows begin with a space and have 50 words."""
        cohort = lay_out_parts(ask(250, 250), make_reference(12, (0, 300))).cohort
        for author in range(12):
            wanted = [[write(author, *ends)] for ends in ((0, 51), (51, 101), (101, 151), (151, 201), (201, 251))]
            assert of_author(cohort, author) == [(window, window) for window in wanted]

    def test_known_and_unknown_texts_are_cut_to_their_own_lengths(self) -> None:
        """There are as many members as documents, so heads repeat."""
        cohort = lay_out_parts(ask(1000, 250), make_reference(12, (0, 500))).cohort
        heads = [[write(3, 0, 201)], [write(3, 201, 401)]]
        documents = [[write(3, *ends)] for ends in ((0, 51), (51, 101), (101, 151), (151, 201), (201, 251))]
        places = ((0, 0), (1, 1), (0, 2), (1, 3), (0, 4))
        assert of_author(cohort, 3) == [(heads[head], documents[document]) for head, document in places]

    def test_of_a_text_that_is_not_twice_as_long_the_middle_is_taken(self) -> None:
        cohort = lay_out_parts(ask(1000, 1000), make_reference(12, (0, 300))).cohort
        assert of_author(cohort, 3) == [([write(3, 50, 250)], [write(3, 50, 250)])]

    @pytest.mark.parametrize(("words", "taken"), [(21, (0, 21)), (60, (0, 60)), (61, (6, 56)), (62, (6, 56))])
    def test_texts_that_are_shorter_or_hardly_longer_than_the_question_s_are_used_whole(
        self, words: int, taken: tuple[int, int]
    ) -> None:
        """300 characters are hardly longer than 250: the text of 60 words has 299, that of 61 has 304."""
        cohort = lay_out_parts(ask(250, 250), make_reference(12, (0, words))).cohort
        assert of_author(cohort, 3) == [([write(3, *taken)], [write(3, *taken)])]

    def test_short_texts_are_joined(self) -> None:
        """Two texts of 149 characters are too much: of the second, 105 in the middle are taken."""
        reference = make_reference(12, (0, 30), (100, 130))
        texts = by_hash([write(3, 0, 30), write(3, 100, 130)])
        second = " ".join(texts[1].split()[5:26])
        (member,) = of_author(lay_out_parts(ask(250, 250), reference).cohort, 3)
        assert set(member[0]) == set(member[1]) == {texts[0], second}

    def test_a_text_that_is_shorter_than_a_hundred_characters_is_not_taken(self) -> None:
        short = ReferenceText(Document("short", write(3, 500, 519)), "person 3")
        reference = make_reference(12, (0, 60))
        plain = lay_out_parts(ask(250, 250), reference)
        assert lay_out_parts(ask(250, 250), replace(reference, texts=(*reference.texts, short))) == plain
        somebody = replace(short, author="somebody")
        assert lay_out_parts(ask(250, 250), replace(reference, texts=(*reference.texts, somebody))) == plain

    @pytest.mark.parametrize(("authors", "members"), [(10, 5), (20, 5), (25, 4), (34, 2), (50, 2), (51, 1), (100, 1)])
    def test_the_fewer_authors_the_more_members_has_each(self, authors: int, members: int) -> None:
        cohort = lay_out_parts(ask(250, 250), make_reference(authors, (0, 300))).cohort
        for author in range(authors):
            assert len(of_author(cohort, author)) == members

    @pytest.mark.parametrize("length", [250, 500, 1000, 2000])
    def test_windows_are_disjoint_and_of_about_the_length(self, length: int) -> None:
        """Of texts of any lengths that leave no more than a short rest."""
        cohort = lay_out_parts(ask(length, length), make_reference(12, (0, 410), (420, 780), (800, 1000))).cohort
        for author in range(12):
            windows = [known for known, _ in of_author(cohort, author)]
            for one, other in combinations(windows, 2):
                assert not set(words_of(one)) & set(words_of(other))
            for window in windows:
                assert length / 1.2 <= sum(map(len, window)) <= length * 1.2


class TestCases:
    def test_each_text_is_the_unknown_one_in_turn(self) -> None:
        reference = make_reference(12, (0, 50), (100, 150), (200, 250))
        texts = by_hash([text.document.text for text in reference.by_author["person 3"]])
        side = lay_out(ask(250, 250), reference)
        assert of_author(parts_of(side).cases, 3) == [
            ([texts[1]], [texts[0]]), ([texts[2]], [texts[1]]), ([texts[0]], [texts[2]]),
        ]  # fmt: skip
        assert not any(layout_of(side).halved)
        joined = of_author(lay_out_parts(ask(500, 250), reference).cases, 3)
        assert [(set(known), unknown) for known, unknown in joined] == [
            ({texts[1], texts[2]}, [texts[0]]), ({texts[2], texts[0]}, [texts[1]]), ({texts[0], texts[1]}, [texts[2]]),
        ]  # fmt: skip

    def test_of_few_long_texts_several_parts_are_unknown_ones(self) -> None:
        reference = make_reference(12, (0, 300), (300, 600))
        first, second = ([text] for text in by_hash([write(3, 0, 300), write(3, 300, 600)]))

        def window(text: list[str], begin: int, end: int) -> list[str]:
            return [" ".join(text[0].split()[begin:end])]

        assert of_author(lay_out_parts(ask(250, 250), reference).cases, 3) == [
            (window(second, 0, 51), window(first, 0, 51)),
            (window(second, 51, 101), window(first, 51, 101)),
            (window(second, 101, 151), window(first, 101, 151)),
            (window(first, 0, 51), window(second, 0, 51)),
            (window(first, 51, 101), window(second, 51, 101)),
        ]

    @pytest.mark.parametrize(("authors", "cases"), [(10, 5), (25, 4), (50, 2), (51, 1), (100, 1)])
    def test_the_fewer_authors_the_more_cases_has_each(self, authors: int, cases: int) -> None:
        found = lay_out_parts(ask(250, 250), make_reference(authors, *((n, n + 50) for n in range(0, 360, 60)))).cases
        for author in range(authors):
            unknown = [pair[1][0] for pair in of_author(found, author)]
            assert len(set(unknown)) == len(unknown) == cases

    def test_an_only_text_is_halved_between_two_words(self) -> None:
        side = lay_out(ask(500, 500), make_reference(30, (0, 200)))
        layout, cases = layout_of(side), parts_of(side).cases
        assert layout.cases == tuple(range(30)) == tuple(range(len(layout.halved)))
        assert all(layout.halved)
        first = 0
        for known, unknown in cases:
            author = author_of((known, unknown))
            halves = [write(author, 0, 100)], [write(author, 100, 200)]
            assert (known, unknown) in (halves, halves[::-1])
            first += (known, unknown) == halves
        assert 5 < first < 25, "known is as often the second half as the first"

    def test_a_text_that_an_author_has_twice_is_one(self) -> None:
        reference = make_reference(12, (0, 200))
        twice = replace(reference, texts=reference.texts * 2)
        one, two = (lay_out(ask(500, 500), each) for each in (reference, twice))
        assert parts_of(two) == parts_of(one)
        assert all(layout_of(two).halved)

    def test_only_halves_are_said_to_be_halves(self) -> None:
        reference = make_reference(12, (0, 200))
        more = ReferenceText(Document("more", write(3, 500, 600)), "person 3")
        side = lay_out(ask(500, 500), replace(reference, texts=(*reference.texts, more)))
        for pair, halved in zip(parts_of(side).cases, layout_of(side).halved, strict=True):
            assert halved == (author_of(pair) != 3)


LENGTHS = ((250, 250), (250, 2000), (1000, 500), (4000, 4000))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("lengths", LENGTHS)
def test_whatever_texts_a_reference_has_members_are_by_one_author_and_cases_share_no_word(
    seed: int, lengths: tuple[int, int]
) -> None:
    draw = random.Random(seed)
    rows = []
    for author in range(draw.choice([12, 30, 70])):
        begin = 0
        for _ in range(draw.choice([1, 1, 2, 5])):
            end = begin + draw.choice([25, 44, 70, 150, 190])
            rows.append(ReferenceText(Document(f"{author}/{begin}", write(author, begin, end)), f"person {author}"))
            begin = end
    reference = Reference("english", tuple(rows))
    side = lay_out(ask(*lengths), reference)
    layout, parts = layout_of(side), parts_of(side)
    assert layout.lengths == lengths
    for authors, pairs in ((layout.cases, parts.cases), (layout.cohort, parts.cohort)):
        written = [author_of(pair) for pair in pairs]
        assert len(set(written)) == len(set(authors)) == len(reference.by_author)
        assert len({*zip(authors, written, strict=True)}) == len(set(authors))  # a number stands for one author
        for known, unknown in pairs:
            assert known
            assert unknown
            for side_texts, length in ((known, lengths[0]), (unknown, lengths[1])):
                assert len(set(words_of(side_texts))) == len(words_of(side_texts))
                assert sum(map(len, side_texts)) <= length * 1.2
    for known, unknown in parts.cases:
        assert not set(words_of(known)) & set(words_of(unknown))


class TestOwnPairs:
    reference = make_reference(12, (0, 100), (100, 200))

    def pairs(self, known: Sequence[str], unknown: str) -> list[Pair]:
        side = lay_out(ask(known, unknown), self.reference)
        assert set(layout_of(side).own_pairs) <= {0}
        return parts_of(side).own_pairs

    def test_of_single_texts_the_halves_are_compared(self) -> None:
        one, other = write(120, 0, 100), write(121, 0, 60)
        halves = [
            ([write(120, 0, 50)], [write(120, 50, 100)]),
            ([write(121, 0, 30)], [write(121, 30, 60)]),
        ]
        assert self.pairs([one], other) == halves
        assert self.pairs([one, one], other) == halves

    def test_of_several_known_texts_one_is_compared_with_all_others(self) -> None:
        texts = [write(120, begin, begin + 50) for begin in (0, 100, 200)]
        first, second, third = by_hash(texts)
        halves = ([write(121, 0, 30)], [write(121, 30, 60)])
        found = self.pairs(texts, write(121, 0, 60))
        assert [(set(one), other) for one, other in found[:2]] == [
            ({second, third}, [first]),
            ({first, third}, [second]),
        ]
        assert found[2:] == [halves]
        two = self.pairs([first, second], write(121, 0, 60))
        assert two == [([second], [first]), ([first], [second]), halves]

    def test_texts_that_are_too_short_to_be_halved_make_no_pair(self) -> None:
        """Twelve characters are needed: two words and the beginning of a third."""
        short, enough = write(120, 0, 4), write(121, 0, 6)
        assert self.pairs([short], write(122, 0, 4)) == []
        assert self.pairs([short], enough) == [([write(121, 0, 3)], [write(121, 3, 6)])]

    def test_texts_that_are_the_same_after_encoding_make_no_pair(self) -> None:
        text = write(120, 0, 50)
        found = self.pairs([text, text.replace(" ", "\n")], write(121, 0, 60))
        assert found == [([write(121, 0, 30)], [write(121, 30, 60)])]

    def test_each_pair_names_the_place_of_its_problem(self) -> None:
        problems = [
            ask([write(120, 0, 50)], write(121, 0, 50), "EN001"),
            ask([write(122, 0, 4), write(122, 4, 50)], write(123, 0, 4), "EN002"),
            ask([write(124, 0, 50)], write(125, 0, 50), "EN003"),
        ]
        sides = prepare_reference(problems, VECTORS, self.reference).sides
        for side in sides:
            parts = parts_of(side)
            for place, pair in zip(layout_of(side).own_pairs, parts.own_pairs, strict=True):
                asked = {number for texts in parts.problems[place] for number in words_of(texts)}
                assert asked.issuperset(words_of([*pair[0], *pair[1]]))
        found = {
            side.questions[place].problem: layout_of(side).own_pairs.count(place)
            for side in sides
            for place in range(len(side.questions))
        }
        assert found == {0: 2, 1: 2, 2: 2}


def excluded_by_rule(
    side: Questions, reference: Reference, related: Callable[[Pair], set[int]] = lambda pair: set()
) -> set[tuple[int, int]]:
    """The pairs (document, head) that are excluded, one by one. `related` names the authors related to a problem."""
    parts, layout = parts_of(side), layout_of(side)
    groups = [name for name, pairs in zip(Parts._fields, parts, strict=True) for _ in pairs]
    asked = [*range(len(parts.problems)), *layout.own_pairs]  # the problem of each
    people = [author_of(pair) for pair in (*parts.cases, *parts.cohort)]
    found = set()
    for document, kind in enumerate(groups):
        for head, other in enumerate(groups):
            both = {kind, other}
            mine, its = (people[each - len(asked)] if each >= len(asked) else -1 for each in (document, head))
            if both <= {"cases", "cohort"}:
                may_be_same = reference.may_be_same(f"person {mine}", f"person {its}")
                of_one_author = mine == its and both == {"cases"}
                excluded = may_be_same and not of_one_author
            elif both <= {"problems", "own_pairs"}:
                excluded = False
            else:
                problem, author = (asked[document], its) if mine < 0 else (asked[head], mine)
                excluded = author in related(parts.problems[problem])
            if excluded or set(side.documents[document]) & set(side.heads[head]):
                found.add((document, head))
    return found


def excluded_pairs(side: Questions) -> set[tuple[int, int]]:
    return {(document, head) for document, heads in enumerate(side.excluded_heads) for head in heads}


class TestExcluded:
    reference = replace(
        make_reference(14, (0, 60), (60, 120), (120, 180)),
        unclear_pairs=frozenset([frozenset(["person 5", "person 7"]), frozenset(["person 8", "person 7"])]),
    )

    def test_pairs_that_may_be_by_one_person_but_the_two_sides_of_a_case(self) -> None:
        for settings in (VECTORS, NGRAM):
            for side in prepare_reference([ask(250, 250), ask(260, 500, "EN002")], settings, self.reference).sides:
                assert excluded_pairs(side) == excluded_by_rule(side, self.reference)
        first = len(side.questions) + len(layout_of(side).own_pairs)
        for number in range(len(layout_of(side).cases)):
            assert first + number not in side.excluded_heads[first + number]

    @pytest.mark.parametrize(
        ("known", "unknown", "authors"),
        [
            ([write(120, 0, 50)], write(2, 60, 120), {2}),  # a text of the reference
            ([write(120, 0, 50)], write(5, 60, 120), {5, 7, 8}),  # whoever may be 7, who may be 5
            ([write(7, 60, 120).replace(" ", "\n")], write(121, 0, 50), {5, 7, 8}),
            ([write(120, 0, 50), write(8, 0, 60)], write(121, 0, 50), {5, 7, 8}),
            ([write(120, 0, 50) + " " + write(3, 10, 40)], write(121, 0, 50), {3}),  # a passage
            ([write(120, 0, 50)], write(121, 0, 50) + " " + write(7, 70, 110), {5, 7, 8}),
            ([write(0, 70, 110)], write(1, 70, 110), {0, 1}),
        ],
    )
    def test_problems_and_their_own_pairs_with_authors_whose_texts_are_related(
        self, known: list[str], unknown: str, authors: set[int]
    ) -> None:
        """And with those who may be these authors. Other problems are compared with everybody."""
        others = [
            ask([write(124, 0, 50)], write(125, 0, 50), "EN002"),
            ask([write(126, 0, 90)], write(127, 0, 90), "EN003"),
        ]
        prepared = prepare_reference([*others, ask(known, unknown, "EN001")], NGRAM, self.reference)

        def related(pair: Pair) -> set[int]:
            words = {number // PER_AUTHOR for side in pair for number in words_of(side)}
            return set() if words <= {124, 125, 126, 127} else authors

        asked = set()
        for side in prepared.sides:
            assert excluded_pairs(side) == excluded_by_rule(side, self.reference, related)
            asked |= {prepared.problems[question.problem].id for question in side.questions}
            assert layout_of(side).own_pairs
        assert asked == {"EN001", "EN002", "EN003"}


class TestIndependence:
    """What a problem is compared with does not depend on other problems."""

    reference = make_reference(14, (0, 120), (200, 310))
    problems = (
        ask([write(120, 0, 50), write(120, 50, 100)], write(120, 100, 190), "EN001"),
        ask([write(121, 0, 50)], write(122, 0, 60), "EN002"),
        ask([write(123, 0, 55)], write(122, 0, 60), "EN003"),  # the same unknown text
        ask([write(124, 0, 30), write(124, 30, 60)], write(3, 0, 50), "EN004"),  # a text of the reference
        ask([write(124, 0, 30)], write(124, 30, 80), "EN005"),
    )

    def views(self, prepared: PreparedQuestions) -> dict[tuple[str, int], object]:
        """All that a problem is asked by and compared with, by its name and the way of asking."""
        found: dict[tuple[str, int], object] = {}
        for side in prepared.sides:
            parts, layout, excluded = parts_of(side), layout_of(side), side.excluded_heads
            first = len(parts.problems) + len(parts.own_pairs)
            members = range(first, len(side.heads))
            for place, question in enumerate(side.questions):
                assert (question.head, question.document) == (place, place)
                numbers = [place, *(len(parts.problems) + n for n, own in enumerate(layout.own_pairs) if own == place)]
                found[prepared.problems[question.problem].id, side.way] = (
                    side.alphabet,
                    [(*parts.problems, *parts.own_pairs)[number] for number in numbers],
                    (parts.cases, parts.cohort, layout.cases, layout.cohort, layout.halved, layout.lengths),
                    [[member - first for member in members if member in excluded[number]] for number in numbers],
                    [[member - first for member in members if number in excluded[member]] for number in numbers],
                    [[head - first for head in sorted(excluded[member]) if head >= first] for member in members],
                    sorted(spell(side, side.background_texts)),
                )
        return found

    @pytest.mark.parametrize("settings", [VECTORS, NGRAM, NGRAM.change({"mask": "topic"})], ids=str)
    @pytest.mark.parametrize("together", [100, 2, 1])
    def test_a_problem_is_laid_out_alone_as_among_others(
        self, settings: Settings, together: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("byline.engines.reference_questions.MOST_PROBLEMS", together)
        among = self.views(prepare_reference(self.problems, settings, self.reference))
        alone: dict[tuple[str, int], object] = {}
        for problem in self.problems:
            alone |= self.views(prepare_reference([problem], settings, self.reference))
        assert among == alone
        assert len(among) == len(self.problems) * (1 if settings is VECTORS else 2)

    def test_many_problems_are_laid_out_in_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        problems = [ask([write(120 + n, 0, 50)], write(120 + n, 50, 100), f"EN{n}") for n in range(5)]
        monkeypatch.setattr("byline.engines.reference_questions.MOST_PROBLEMS", 2)
        sides = prepare_reference(problems, VECTORS, self.reference).sides
        assert [[question.problem for question in side.questions] for side in sides] == [[0, 1], [2, 3], [4]]

    def test_texts_of_the_cohort_train_the_background_and_nothing_else_does(self) -> None:
        for settings in (VECTORS, NGRAM):
            for side in prepare_reference(self.problems, settings, self.reference).sides:
                wanted = {text for pair in parts_of(side).cohort for texts in pair for text in texts}
                assert set(spell(side, side.background_texts)) == wanted
                assert (
                    side.first_compared_head
                    == side.first_compared_document
                    == len(side.heads) - len(layout_of(side).cohort)
                )

    def test_the_alphabet_comes_from_the_reference_alone(self) -> None:
        strange = ask(["ж" * 100 + write(120, 0, 50)], write(121, 0, 50))
        assert lay_out(strange, self.reference).alphabet.symbols == "".join(sorted({*LETTERS, " "}))

    def test_names_and_order_of_problems_and_of_reference_texts_change_nothing(self) -> None:
        texts = [replace(text, author=f"x {text.author[::-1]}") for text in self.reference.texts]
        random.Random(1).shuffle(texts)
        names = {problem.id: f"EN{500 - number}" for number, problem in enumerate(self.problems)}
        renamed = [replace(problem, id=names[problem.id]) for problem in self.problems[::-1]]
        plain = self.views(prepare_reference(self.problems, NGRAM, self.reference))
        other = self.views(prepare_reference(renamed, NGRAM, Reference("english", tuple(texts))))
        assert other == {(names[name], way): view for (name, way), view in plain.items()}

    def test_of_very_many_authors_the_same_ones_are_taken_every_time(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("byline.engines.reference_questions.MOST_AUTHORS", 11)
        reference = make_reference(30, (0, 60), (60, 120))
        parts = lay_out_parts(ask(250, 250), reference)
        assert len({author_of(pair) for pair in parts.cohort}) == 11
        assert {author_of(pair) for pair in parts.cases} == {author_of(pair) for pair in parts.cohort}
        renamed = tuple(replace(text, author=f"x {text.author[::-1]}") for text in reference.texts[::-1])
        assert lay_out_parts(ask(250, 250), replace(reference, texts=renamed)) == parts


class TestWays:
    reference = make_reference(12, (0, 120), (200, 310))

    @pytest.mark.parametrize("settings", [VECTORS, NGRAM, NGRAM.change({"mask": "topic"})], ids=str)
    def test_known_and_unknown_text_of_one_text_questions_can_be_exchanged(self, settings: Settings) -> None:
        one, other = write(120, 0, 50), write(121, 0, 200)
        sides = [
            prepare_reference([replace(ask([known], unknown), symmetric=symmetric)], settings, self.reference).sides
            for known, unknown, symmetric in ((one, other, False), (other, one, False), (one, other, True))
        ]
        assert len(sides[0]) == (1 if settings is VECTORS else 2)
        for side in sides[1:]:
            assert list(map(describe, side)) == list(map(describe, sides[0]))

    def test_the_other_way_known_and_unknown_texts_change_roles(self) -> None:
        problem = ask([write(120, 0, 50), write(120, 50, 100)], write(120, 100, 190))
        one, other = prepare_reference([problem], NGRAM, self.reference).sides
        assert (one.way, other.way) == (0, 1)
        assert (other.heads, other.documents) == (one.documents, one.heads)
        assert other.reference == one.reference
        assert parts_of(other) == parts_of(one)

    @pytest.mark.parametrize(
        ("settings", "ways"),
        [
            (NGRAM, [0, 1]),
            (NGRAM.change({"train_on": "known"}), [0]),
            (NGRAM.change({"train_on": "unknown"}), [1]),
            (VECTORS, [0]),
            (Settings(engine="words"), [0]),
            (Settings(engine="characters"), [0]),
            (Settings(engine="punctuation"), [0]),
        ],
        ids=str,
    )
    def test_problems_are_asked_both_ways_unless_settings_or_a_symmetric_engine_say_otherwise(
        self, settings: Settings, ways: list[int]
    ) -> None:
        assert [side.way for side in prepare_reference([ask(250, 250)], settings, self.reference).sides] == ways

    @pytest.mark.parametrize(
        ("characters", "length"), [(30, 250), (350, 250), (360, 500), (1400, 1000), (1420, 2000), (4900, 4000)]
    )
    def test_lengths_are_rounded_to_doublings(self, characters: int, length: int) -> None:
        known = [write(120, 0, characters // 10), write(121, 0, characters // 10)]
        assert layout_of(lay_out(ask(known, 1000), self.reference)).lengths == (length, 1000)

    def test_the_layout_is_kept_beside_the_matrix(self) -> None:
        side = lay_out(ask(250, 250), self.reference)
        shape = len(side.documents), len(side.heads)
        assert Side.of(Matrix(np.zeros(shape), np.zeros(shape, np.bool_)), side).layout == layout_of(side)


def describe(side: Questions) -> object:
    """All of a side, in a form that can be compared."""
    texts = [text.tolist() for text in side.texts]
    return (
        side.alphabet,
        texts,
        side.heads,
        side.documents,
        side.questions,
        side.reference,
        side.excluded_pairs,
        side.way,
    )
