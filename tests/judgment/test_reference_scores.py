"""Normalized scores of problems, own pairs and cases of a reference, and their means over engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from byline.engines.matrix import PARTS, Flags, Matrix, Side, Table
from byline.engines.questions import Question
from byline.judgment.cohort_norms import CohortScores, centered_norm
from byline.judgment.reference_scores import (
    DIFFERENT_CASES,
    CaseGroup,
    ReferenceScores,
    average_reference_scores,
    score_beside_reference,
)

LayOut = Callable[..., Side]
NAN = float("nan")


def normalize(side: Side, document: int, head: int, members: slice, counted: Flags) -> float:
    """Return the centered norm of one pair, worked out from the matrix."""
    scores, excluded = -side.matrix.values, side.matrix.excluded[members, members]
    rows, columns = scores[members, [head]].T, scores[[document], members]
    own, cohort = scores[[document], head], CohortScores(scores[members, members], ~(excluded | excluded.T))
    return float(centered_norm(own, rows, columns, cohort, counted[None])[0])


def with_values(side: Side, values: Table) -> Side:
    return replace(side, matrix=replace(side.matrix, values=values))


class TestProblems:
    def test_by_hand(self, beside_reference: LayOut) -> None:
        """One problem and a cohort of three, whose row is 1, 2, 6 and whose column is 0, 3, 3.

        Means are 3 and 2, variances 14/3 and 2, and pairs of different authors score 3.5 on average.
        """
        scores = np.array([[10.0, 0, 3, 3], [1, 9, 1, 2], [2, 3, 9, 4], [6, 5, 6, 9]])
        side = beside_reference(1, cases=(), cohort=(0, 1, 2), values=-scores)
        wanted = (10 - 3 - 2 + 3.5) / (14 / 3 * 2) ** 0.25
        assert score_beside_reference([side], 1).scores == pytest.approx([wanted])

    def test_a_problem_is_normalized_by_the_cohort_alone(self, beside_reference: LayOut) -> None:
        """Neither by other problems, nor by own pairs, nor by cases."""
        side = beside_reference(2, own_pairs=(0, 1, 1), cases=range(4), cohort=range(20))
        found = score_beside_reference([side], 2)
        for problem in range(2):
            wanted = normalize(side, problem, problem, slice(9, None), np.ones(20, np.bool_))
            assert found.scores[problem] == pytest.approx(wanted)

    def test_an_answer_does_not_depend_on_the_other_problems(self, beside_reference: LayOut) -> None:
        side = beside_reference(3, own_pairs=(0, 1, 1, 2))
        together = score_beside_reference([side], 3)
        for problem, pairs in enumerate([(0,), (1, 2), (3,)]):
            kept = np.array([problem, *(3 + pair for pair in pairs), *range(7, 27)])
            alone = beside_reference(1, own_pairs=[0] * len(pairs), values=side.matrix.values[np.ix_(kept, kept)])
            found = score_beside_reference([alone], 1)
            np.testing.assert_allclose(found.scores[0], together.scores[problem])
            np.testing.assert_allclose(found.own[0], together.own[problem])
            np.testing.assert_allclose(found.groups[0].scores, together.groups[0].scores)

    def test_an_author_who_is_related_to_a_problem_is_not_in_its_cohort(self, beside_reference: LayOut) -> None:
        """With neither of two members of the cohort."""
        side = beside_reference(2, cohort=[*range(10), 4], related=[(0, 4)])
        found = score_beside_reference([side], 2)
        np.testing.assert_array_equal(found.groups[0].related, [np.arange(10) == 4, [False] * 10])
        for value in (-99.0, 99.0):
            values = side.matrix.values.copy()
            for member in (12 + 4, 12 + 10):
                values[0, member] = values[member, 0] = value
            again = score_beside_reference([with_values(side, values)], 2)
            np.testing.assert_array_equal(again.scores, found.scores)
            values[0, 12:] = value  # all others too
            assert not np.allclose(score_beside_reference([with_values(side, values)], 2).scores[0], found.scores[0])

    @pytest.mark.parametrize("way", ["document", "head"])
    def test_who_is_related_to_one_side_is_related_to_the_problem(self, beside_reference: LayOut, way: str) -> None:
        side = beside_reference(2)
        flags = side.matrix.excluded.copy()
        flags[(0, 12 + 4) if way == "document" else (12 + 4, 0)] = True
        found = score_beside_reference([replace(side, matrix=replace(side.matrix, excluded=flags))], 2)
        np.testing.assert_array_equal(found.groups[0].related, [np.arange(10) == 4, [False] * 10])
        wanted = score_beside_reference([beside_reference(2, related=[(0, 4)])], 2)
        np.testing.assert_array_equal(found.scores, wanted.scores)

    def test_problems_that_cannot_be_compared_have_no_scores(self, beside_reference: LayOut) -> None:
        side = replace(beside_reference(2, own_pairs=(0, 1), parts=True), incomparable=frozenset([Question(1, 1, 1)]))
        found = score_beside_reference([side], 2)
        assert found.parts is not None
        for each in (found.scores, found.own, *found.parts):
            assert np.isnan(each).tolist() == [False, True]

    def test_ways_of_asking_are_averaged(self, beside_reference: LayOut) -> None:
        sides = [beside_reference(2, own_pairs=(0,), parts=True, seed=way, way=way) for way in (0, 1)]
        one, other = (score_beside_reference([side], 2) for side in sides)
        both = score_beside_reference(sides, 2)
        np.testing.assert_allclose(both.scores, (one.scores + other.scores) / 2)
        np.testing.assert_allclose(both.own, (one.own + other.own) / 2)
        np.testing.assert_allclose(both.groups[0].scores, (one.groups[0].scores + other.groups[0].scores) / 2)
        assert one.parts is not None
        assert other.parts is not None
        np.testing.assert_allclose(both.parts, (one.parts + other.parts) / 2)
        assert len(both.groups) == 1

    def test_the_other_way_roles_are_changed(self, beside_reference: LayOut) -> None:
        """A transposed matrix that is asked the other way says the same: known and unknown stay apart."""
        side = beside_reference(2, own_pairs=(0, 1), cases=[0, 0, *range(9)], may_be_same=[(3, 7)], related=[(1, 2)])
        turned = replace(side, matrix=Matrix(side.matrix.values.T.copy(), side.matrix.excluded.T.copy()), way=1)
        one, other = (score_beside_reference([each], 2) for each in (side, turned))
        np.testing.assert_allclose(other.scores, one.scores)
        np.testing.assert_allclose(other.own, one.own)
        np.testing.assert_allclose(other.groups[0].scores, one.groups[0].scores)
        for name in ("known", "unknown", "trials", "related"):
            np.testing.assert_array_equal(getattr(other.groups[0], name), getattr(one.groups[0], name))

    def test_problems_with_other_cuts_of_the_reference_make_groups(self, beside_reference: LayOut) -> None:
        first, second = beside_reference(2, seed=1), beside_reference(1, seed=2)
        alone = score_beside_reference([second], 1)
        assert second.layout is not None
        second = replace(second, questions=(Question(2, 0, 0),), layout=replace(second.layout, lengths=(4_000, 4_000)))
        found = score_beside_reference([first, second], 3)
        assert [group.problems.tolist() for group in found.groups] == [[0, 1], [2]]
        assert [group.lengths for group in found.groups] == [(2_000, 1_000), (4_000, 4_000)]
        np.testing.assert_array_equal(found.scores[2:], alone.scores)
        np.testing.assert_array_equal(found.groups[1].scores, alone.groups[0].scores)


class TestParts:
    def test_without_each_part_the_problem_s_document_is_scored_without_it(self, beside_reference: LayOut) -> None:
        """The texts of the reference are whole."""
        side = beside_reference(2, parts=True)
        found = score_beside_reference([side], 2).parts
        assert found is not None
        assert side.matrix.parts is not None
        for part in range(PARTS):
            values = side.matrix.values.copy()
            values[:2] = side.matrix.parts[part, :2]
            np.testing.assert_allclose(found[part], score_beside_reference([with_values(side, values)], 2).scores)

    def test_they_are_scored_only_if_all_matrices_have_them(self, beside_reference: LayOut) -> None:
        divided, whole = beside_reference(2, parts=True), beside_reference(2, way=1)
        assert score_beside_reference([whole], 2).parts is None
        assert score_beside_reference([divided, whole], 2).parts is None


class TestOwnPairs:
    def test_the_score_is_the_mean_of_the_centered_norms_of_the_problem_s_own_pairs(
        self, beside_reference: LayOut
    ) -> None:
        """Problem 1 has two and problem 2 has none; author 5 is related to problem 1 and not in its cohort."""
        side = beside_reference(3, own_pairs=(1, 0, 1), related=[(1, 5)])
        local = {
            pair: normalize(side, 3 + pair, 3 + pair, slice(16, None), np.arange(10) != (5 if pair != 1 else -1))
            for pair in range(3)
        }
        own = score_beside_reference([side], 3).own
        assert own[:2] == pytest.approx([local[1], (local[0] + local[2]) / 2])
        assert np.isnan(own[2])

    def test_without_any_there_is_no_score(self, beside_reference: LayOut) -> None:
        assert np.isnan(score_beside_reference([beside_reference(2)], 2).own).all()


class TestCases:
    def test_every_member_is_compared_with_itself_and_eight_others(self, beside_reference: LayOut) -> None:
        (group,) = score_beside_reference([beside_reference(cases=range(12), cohort=range(12))], 2).groups
        pairs = list(zip(group.known.tolist(), group.unknown.tolist(), strict=True))
        assert len(set(pairs)) == len(pairs) == 12 * (1 + DIFFERENT_CASES)
        assert [pair for pair, same in zip(pairs, group.same, strict=True) if same] == [(n, n) for n in range(12)]
        for author in range(12):
            assert sum(known == author for known, _ in pairs) == sum(unknown == author for _, unknown in pairs) == 9
        assert (group.authors, group.lengths) == (12, (2_000, 1_000))

    def test_few_authors_make_every_pair(self, beside_reference: LayOut) -> None:
        (group,) = score_beside_reference([beside_reference(cases=range(4))], 2).groups
        pairs = set(zip(group.known.tolist(), group.unknown.tolist(), strict=True))
        assert pairs == {(one, other) for one in range(4) for other in range(4)}

    def test_two_members_by_one_author_are_never_compared(self, beside_reference: LayOut) -> None:
        """They may share texts. A case by one author is made of the two sides of a member."""
        (group,) = score_beside_reference([beside_reference(cases=[0, 0, 1, 1, 2])], 2).groups
        known, unknown = np.divmod(group.trials, 5)
        assert set(zip(known[group.same].tolist(), unknown[group.same].tolist(), strict=True)) == {
            (member, member) for member in range(5)
        }
        assert len(group.trials) == 5 + 5 * 4 - 2 * 2
        assert group.authors == 3

    def test_authors_who_may_be_one_are_in_no_case_together(self, beside_reference: LayOut) -> None:
        side = beside_reference(cases=range(12), cohort=range(12), may_be_same=[(3, 4), (8, 6)])
        (group,) = score_beside_reference([side], 2).groups
        pairs = set(zip(group.known.tolist(), group.unknown.tolist(), strict=True))
        assert pairs.isdisjoint({(3, 4), (4, 3), (6, 8), (8, 6)})
        assert len(pairs) == 12 * (1 + DIFFERENT_CASES)
        assert group.same.sum() == 12

    @pytest.mark.parametrize("pair", [(3, 4), (4, 3)])
    def test_a_pair_that_is_excluded_one_way_is_in_no_case_either_way(
        self, beside_reference: LayOut, pair: tuple[int, int]
    ) -> None:
        """One's known text may be equal to the other's unknown text."""
        side = beside_reference(cases=range(6))
        flags = side.matrix.excluded.copy()
        flags[2 + pair[0], 2 + pair[1]] = True
        (group,) = score_beside_reference([replace(side, matrix=replace(side.matrix, excluded=flags))], 2).groups
        pairs = set(zip(group.known.tolist(), group.unknown.tolist(), strict=True))
        assert pairs == {(one, other) for one in range(6) for other in range(6)} - {(3, 4), (4, 3)}

    def test_a_case_whose_sides_have_equal_texts_is_left_out(self, beside_reference: LayOut) -> None:
        """Masked, two texts of an author may become equal: the head is trained on what it scores."""
        side = beside_reference()
        flags = side.matrix.excluded.copy()
        flags[2 + 3, 2 + 3] = True
        (group,) = score_beside_reference([replace(side, matrix=replace(side.matrix, excluded=flags))], 2).groups
        assert group.known[group.same].tolist() == [0, 1, 2, 4, 5, 6, 7, 8, 9]
        assert group.authors == 10

    def test_a_case_is_normalized_by_all_authors_but_its_own_and_who_may_be_them(
        self, beside_reference: LayOut
    ) -> None:
        cohort = [*range(8), 0, 5]
        side = beside_reference(1, own_pairs=(0,), cases=[*range(8), 1], cohort=cohort, may_be_same=[(5, 2)])
        (group,) = score_beside_reference([side], 1).groups
        for number, trial in enumerate(group.trials.tolist()):
            authors = {int(group.known[number]), int(group.unknown[number])}
            left_out = authors | ({2, 5} if authors & {2, 5} else set())
            counted = np.array([author not in left_out for author in cohort])
            known, unknown = divmod(trial, 9)
            assert group.scores[number] == pytest.approx(
                normalize(side, 2 + unknown, 2 + known, slice(11, None), counted)
            )

    def test_halves_of_a_text_are_only_in_cases_by_one_author(self, beside_reference: LayOut) -> None:
        (group,) = score_beside_reference([beside_reference(cases=range(6), halved=[1, 4])], 2).groups
        assert np.flatnonzero(group.halves).tolist() == [1, 4]
        assert group.same[[1, 4]].all()

    def test_cases_can_be_selected(self, beside_reference: LayOut) -> None:
        (group,) = score_beside_reference([beside_reference(cases=range(6), halved=[1])], 2).groups
        kept = group.known == 1
        chosen = group.select(kept)
        np.testing.assert_array_equal(chosen.scores, group.scores[kept])
        assert (len(chosen.trials), chosen.same.sum(), chosen.halves.sum(), chosen.authors) == (6, 1, 1, 1)
        assert set(chosen.trials) == set(group.trials[kept])
        assert set(chosen.unknown) == set(range(6))


def made_scores(
    problems: Table, cases: Table | None = None, own: Table | None = None, parts: Table | None = None
) -> ReferenceScores:
    """Return centered norms of problems and of cases, of authors 0, 1 and 2 with themselves and with the next."""
    cases = np.zeros(6) if cases is None else cases
    known = np.array([0, 1, 2, 0, 1, 2])[: len(cases)]
    unknown = np.array([0, 1, 2, 1, 2, 0])[: len(cases)]
    group = CaseGroup(
        problems=np.arange(len(problems)),
        scores=cases,
        known=known,
        unknown=unknown,
        halves=np.zeros(len(cases), np.bool_),
        trials=known * 3 + unknown,
        related=np.zeros((len(problems), 3), np.bool_),
        lengths=(2_000, 1_000),
    )
    return ReferenceScores(problems, np.full(len(problems), NAN) if own is None else own, (group,), parts)


class TestMeansOverEngines:
    def test_engines_count_equally_however_many_members_they_have(self) -> None:
        """1 and 3 by one engine and 6 by another have a mean of 4, at all places."""

        def give(value: float) -> ReferenceScores:
            parts = np.full((PARTS, 2), value)
            return made_scores(np.array([value, -value]), np.full(6, value), np.array([value, 2 * value]), parts)

        means = average_reference_scores([("vectors", give(1)), ("words", give(6)), ("vectors", give(3))], 0)
        assert means.scores.tolist() == [4, -4]
        assert means.own.tolist() == [4, 8]
        assert means.group.scores.tolist() == [4] * 6
        assert means.parts is not None
        assert (means.parts == 4).all()

    def test_members_that_cannot_assess_a_problem_leave_it_to_the_others(self) -> None:
        members = [
            ("vectors", made_scores(np.array([NAN, NAN, 1]), own=np.array([NAN, 1, NAN]))),
            ("vectors", made_scores(np.array([2, NAN, 3]), own=np.array([NAN, 3, NAN]))),
            ("words", made_scores(np.array([6, NAN, NAN]), own=np.array([5, NAN, NAN]))),
        ]
        means = average_reference_scores(members, 0)
        np.testing.assert_array_equal(means.scores, [4, NAN, 2])
        np.testing.assert_array_equal(means.own, [5, 2, NAN])

    def test_there_are_parts_only_if_all_members_scored_them(self) -> None:
        whole = made_scores(np.zeros(2))
        divided = replace(whole, parts=np.zeros((PARTS, 2)))
        assert average_reference_scores([("vectors", divided), ("words", whole)], 0).parts is None

    def test_only_cases_that_all_members_have_count(self) -> None:
        """Masked, texts of two authors may become equal; members that mask then have fewer cases than others."""
        every = made_scores(np.zeros(1), np.array([1.0, 2, 3, 4, 5, 6]))
        (group,) = every.groups
        fewer = replace(every, groups=(group._replace(scores=10 * group.scores).select(group.trials != 1 * 3 + 2),))
        for members in ([("vectors", every), ("words", fewer)], [("words", fewer), ("vectors", every)]):
            found = average_reference_scores(members, 0).group
            assert found.scores.tolist() == [5.5, 11, 16.5, 22, 33]
            assert found.known.tolist() == [0, 1, 2, 0, 2]
            assert found.unknown.tolist() == [0, 1, 2, 1, 0]

    def test_cases_of_authors_who_are_left_out_do_not_count(self) -> None:
        """Author 1 is in cases 1, 3 (unknown) and 4 (known)."""
        scores = made_scores(np.zeros(1), np.array([1.0, 2, 3, 4, 5, 6]))
        found = average_reference_scores([("words", scores)], 0, np.array([False, True, False])).group
        assert found.scores.tolist() == [1, 3, 6]
        assert found.authors == 2

    def test_each_group_has_its_own_problems(self) -> None:
        scores = made_scores(np.array([1.0, 2, 3]), own=np.array([4.0, 5, 6]), parts=np.zeros((PARTS, 3)))
        assert scores.parts is not None
        scores.parts[:, 2] = 7
        (group,) = scores.groups
        groups = tuple(group._replace(problems=np.array(numbers)) for numbers in ([1], [2, 0]))
        means = average_reference_scores([("words", replace(scores, groups=groups))], 1)
        assert means.scores.tolist() == [3, 1]
        assert means.own.tolist() == [6, 4]
        assert means.parts is not None
        assert means.parts[0].tolist() == [7, 0]
        assert means.group.problems.tolist() == [2, 0]
