"""Members' scores made one: whom to count how much, how closely to match, and how sure the mean is."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from byline.fusion import (
    Mean,
    Reading,
    average_by_problem,
    average_engines,
    average_members,
    fuse_engines,
    fuse_members,
    strength,
)
from byline.questions import Question
from byline.relative import REACHES
from byline.scoring import PARTS, Table

NAN = float("nan")


def reading(engine: str, *ways: Sequence[float]) -> Reading:
    return Reading(engine, np.array(ways, np.float64))


def standing(*strengths: float, problems: int = 16) -> list[Table]:
    """A way of so much strength each: scores with a standard deviation of 1 and that mean."""
    signs = np.where(np.arange(problems) % 2, 1.0, -1.0)
    return [signs + each for each in strengths]


def test_a_problem_without_questions_has_no_score() -> None:
    means = average_by_problem([0.2, 0.6], [Question(0, 0, 1), Question(0, 1, 0)], 2)
    np.testing.assert_array_equal(means, [0.4, NAN])
    np.testing.assert_array_equal(average_by_problem([], [], 2), [NAN, NAN])


def test_an_engine_counts_like_another_however_many_members_it_has() -> None:
    few = fuse_engines([reading("rnn", [1, 2]), reading("ngram", [3, 6])])
    many = fuse_engines([reading("rnn", [0, 4]), reading("ngram", [3, 6]), *[reading("rnn", [4 / 3, 4 / 3])] * 3])
    np.testing.assert_allclose(few.scores, [2, 4])
    np.testing.assert_allclose(many.scores, [2, 4])


def test_an_engine_that_cant_judge_a_problem_leaves_it_to_the_others() -> None:
    fused = fuse_engines([reading("rnn", [1, NAN, NAN]), reading("ngram", [3, 6, NAN])])
    np.testing.assert_array_equal(fused.scores, [2, 6, NAN])


def test_an_engine_counts_like_another_where_some_of_its_members_cant_judge() -> None:
    fused = fuse_engines([reading("rnn", [1, NAN]), reading("rnn", [3, 3]), reading("ngram", [4, 5])])
    np.testing.assert_array_equal(fused.scores, [3, 4])


def test_where_nobody_judges_there_is_neither_score_nor_error() -> None:
    nobody = [reading("rnn", [NAN, 1]), reading("rnn", [NAN, 3])]
    for fused in (fuse_members(nobody), fuse_engines(nobody)):
        np.testing.assert_array_equal(fused.scores, [NAN, 2])
        np.testing.assert_array_equal(fused.errors, [NAN, 1])


def test_all_members_together_are_the_plain_mean() -> None:
    scores = [np.array([1.0, 2, NAN]), np.array([3.0, NAN, NAN]), np.array([5.0, 8, NAN])]
    fused = fuse_members([Reading(engine, each[None]) for engine, each in zip("aab", scores, strict=True)])
    np.testing.assert_array_equal(fused.scores, [3, 5, NAN])
    np.testing.assert_array_equal(fused.scores, average_members(scores))
    assert fused.reach == REACHES[0]


def test_the_mean_of_members_does_not_depend_on_their_order() -> None:
    rng = np.random.default_rng(0)
    readings = [Reading(engine, rng.normal(1, 1, (3, 20))) for engine in "abcabbb"]
    one, two = fuse_engines(readings), fuse_engines(readings[::-1])
    np.testing.assert_array_equal(one.scores, two.scores)
    assert one.reach == two.reach


class TestErrors:
    def test_of_members_that_count_alike_they_are_the_means_standard_error(self) -> None:
        """1, 3 and 2 have a standard deviation of 1; over the root of three. 2 and 4: root of two over root of two."""
        readings = [reading("rnn", each) for each in ([1, 2], [3, 4], [2, NAN])]
        for fused in (fuse_members(readings), fuse_engines(readings)):
            np.testing.assert_allclose(fused.errors, [1 / np.sqrt(3), 1])

    def test_of_one_member_there_are_none(self) -> None:
        fused = fuse_engines([reading("rnn", [1, 2]), reading("ngram", [3, NAN])])
        np.testing.assert_array_equal(np.isnan(fused.errors), [False, True])
        assert np.isnan(fuse_members([reading("rnn", [1, 2])]).errors).all()

    def test_members_that_agree_leave_no_doubt(self) -> None:
        np.testing.assert_array_equal(fuse_engines([reading(engine, [1, 2]) for engine in "aab"]).errors, 0)

    def test_a_member_that_counts_more_moves_the_error_more(self) -> None:
        """Weights 1/2, 1/2, 1 of 1, 3, 4: the mean is 3; (1 + 0 + 1) / 2^2 x 3/2 is the error's square."""
        fused = fuse_engines([reading("a", [1]), reading("a", [3]), reading("b", [4])])
        assert fused.scores == pytest.approx([3])
        assert fused.errors == pytest.approx([np.sqrt(3 / 4)])


class TestReach:
    """Of 16 problems the strength must gain more than 1/4."""

    @pytest.mark.parametrize(
        ("strengths", "chosen"),
        [
            ((0.5, 0.5, 0.5), 0),
            ((0.5, 0.74, 0.7), 0),
            ((0.5, 0.76, 0.7), 1),
            ((0.5, 0.76, 0.8), 2),
            ((0.5, 0.8, 0.76), 1),
            ((-0.5, -0.9, 0.1), 2),
        ],
    )
    def test_it_is_the_strongest_if_it_gains_more_than_chance(self, strengths: list[float], chosen: int) -> None:
        ways = standing(*strengths)
        fused = fuse_engines([Reading("rnn", np.array(ways))])
        assert fused.reach == REACHES[chosen]
        np.testing.assert_allclose(fused.scores, ways[chosen])

    def test_more_problems_need_less_of_a_gain(self) -> None:
        for problems, chosen in ((16, 0), (36, 1)):
            fused = fuse_engines([Reading("rnn", np.array(standing(0.5, 0.7, 0.5, problems=problems)))])
            assert fused.reach == REACHES[chosen]

    def test_among_equals_it_is_the_least_matched(self) -> None:
        assert fuse_engines([Reading("rnn", np.array(standing(0.5, 0.75, 0.75)))]).reach == REACHES[0]
        assert fuse_engines([Reading("rnn", np.array(standing(0.5, 0.9, 0.9)))]).reach == REACHES[1]
        assert fuse_engines([Reading("rnn", np.ones((3, 16)))]).reach == REACHES[0]

    def test_an_engine_with_more_members_has_no_greater_say(self) -> None:
        gains, loses = np.array(standing(0.5, 0.9, 0.5)), np.array(standing(0.5, 0.4, 0.5))
        fused = fuse_engines([*[Reading("rnn", gains)] * 9, Reading("ngram", loses)])
        assert fused.reach == REACHES[0]  # (0.4 - 0.1) / 2 is less than 1/4

    def test_all_members_are_read_with_the_same(self) -> None:
        gains, loses = np.array(standing(0.5, 1.5, 0.5)), np.array(standing(0.5, 0.4, 0.5))
        fused = fuse_engines([Reading("rnn", gains), Reading("ngram", loses)])
        assert fused.reach == REACHES[1]
        np.testing.assert_allclose(fused.scores, (gains[1] + loses[1]) / 2)

    def test_a_member_of_fewer_reaches_restricts_the_choice(self) -> None:
        ways = np.array(standing(0.5, 0.8, 1.9))
        for count, chosen in ((1, 0), (2, 1), (3, 2)):
            assert fuse_engines([Reading("rnn", ways), Reading("ngram", ways[:count])]).reach == REACHES[chosen]

    def test_of_a_corpus_the_middle_is_not_settled_here_and_nothing_is_trusted_less(self) -> None:
        fused = fuse_engines([reading("rnn", [1, 2])])
        assert (fused.even, fused.trust) == (None, None)


class TestAverage:
    """The mean of what is chosen of each member's scores, with and without parts of the texts."""

    def test_what_is_chosen_is_chosen_before_the_mean_is_taken(self) -> None:
        readings = [reading("a", [1, 2], [1, 4]), reading("b", [3, 4], [9, 16])]
        mean = average_engines(readings, lambda scores: np.sqrt(scores[1]))
        np.testing.assert_array_equal(mean.scores, [2, 3])
        np.testing.assert_array_equal(mean.errors, [1, 1])
        assert mean.parts is None

    def test_parts_are_averaged_like_the_whole(self) -> None:
        """Two members of one engine count half each."""
        parts = [np.arange(PARTS * 2.0).reshape(PARTS, 1, 2) * factor for factor in (1, 3, 10)]
        readings = [Reading(engine, np.zeros((1, 2)), each) for engine, each in zip("aab", parts, strict=True)]
        mean = average_engines(readings, lambda scores: 2 * scores[0])
        assert mean.parts is not None
        np.testing.assert_allclose(mean.parts, 2 * 6 * np.arange(PARTS * 2.0).reshape(PARTS, 2))

    def test_where_some_member_has_no_parts_there_are_none(self) -> None:
        readings = [Reading("a", np.zeros((1, 2)), np.zeros((PARTS, 1, 2))), reading("b", [3, 4])]
        assert average_engines(readings, lambda scores: scores[0]).parts is None

    def test_the_total_error_is_that_of_members_and_of_parts_together(self) -> None:
        """Without the parts in turn the score is 1, 0, 0, 0 and -1: a variance of 2/5, times 4."""
        parts = np.array([[1.0], [0], [0], [0], [-1]])
        assert Mean(np.zeros(1), np.array([NAN]), parts).total_errors() == pytest.approx([np.sqrt(8 / 5)])
        assert Mean(np.zeros(1), np.array([0.6]), parts).total_errors() == pytest.approx([np.sqrt(8 / 5 + 0.36)])
        assert Mean(np.zeros(1), np.array([0.6]), None).total_errors() == [0.6]
        assert np.isnan(Mean(np.zeros(1), np.array([NAN]), None).total_errors())

    def test_it_is_the_error_of_the_fused_score(self) -> None:
        parts = np.array([[1.0], [0], [0], [0], [-1]])[:, None]
        assert fuse_engines([Reading("a", np.zeros((1, 1)), parts)]).errors == pytest.approx([np.sqrt(8 / 5)])


class TestStrength:
    def test_it_is_the_mean_over_the_standard_deviation(self) -> None:
        assert strength(np.array([1.0, 3, NAN])) == pytest.approx(2)
        assert strength(np.array([-1.0, -3])) == pytest.approx(-2)

    @pytest.mark.parametrize("scores", [[], [0.7], [NAN, NAN], [NAN, 0.7]])
    def test_no_or_one_score_has_none(self, scores: list[float]) -> None:
        assert strength(np.array(scores, np.float64)) == 0

    @pytest.mark.parametrize("count", [2, 3, 6, 7])
    def test_equal_scores_have_none(self, count: int) -> None:
        """The mean of equal numbers is off by the last bit for some counts; that must not be divided by."""
        for score in (0.1, 0.7, 1.0):
            assert strength(np.full(count, score)) == 0
