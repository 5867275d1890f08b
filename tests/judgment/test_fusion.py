"""Fusion of members: weights of engines and norms, standard errors, by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from byline.engines.matrix import PARTS, Table
from byline.engines.questions import Question
from byline.judgment.fusion import (
    Mean,
    MemberScores,
    average_by_problem,
    average_engines,
    average_members,
    fuse_engines,
    fuse_members,
    mix_norms,
)
from byline.judgment.whole_corpora import weigh_norms

NAN = float("nan")


def member(engine: str, *norms: Sequence[float]) -> MemberScores:
    return MemberScores(engine, np.array(norms, np.float64))


def with_strengths(*strengths: float, problems: int = 16) -> Table:
    """(norms, problems): scores with a standard deviation of 1 and these means."""
    signs = np.where(np.arange(problems) % 2, 1.0, -1.0)
    return np.array([signs + each for each in strengths])


def test_a_problem_without_questions_has_no_score() -> None:
    means = average_by_problem([0.2, 0.6], [Question(0, 0, 1), Question(0, 1, 0)], 2)
    np.testing.assert_array_equal(means, [0.4, NAN])
    np.testing.assert_array_equal(average_by_problem([], [], 2), [NAN, NAN])


def test_engines_count_equally_however_many_members_they_have() -> None:
    few = fuse_engines([member("rnn", [1, 2]), member("ngram", [3, 6])])
    many = fuse_engines([member("rnn", [0, 4]), member("ngram", [3, 6]), *[member("rnn", [4 / 3, 4 / 3])] * 3])
    np.testing.assert_allclose(few.scores, [2, 4])
    np.testing.assert_allclose(many.scores, [2, 4])


def test_members_that_cannot_assess_a_problem_leave_it_to_the_others() -> None:
    fused = fuse_engines([member("rnn", [1, NAN, NAN]), member("ngram", [3, 6, NAN])])
    np.testing.assert_array_equal(fused.scores, [2, 6, NAN])
    fused = fuse_engines([member("rnn", [1, NAN]), member("rnn", [3, 3]), member("ngram", [4, 5])])
    np.testing.assert_array_equal(fused.scores, [3, 4])


def test_a_problem_that_no_member_can_assess_has_neither_score_nor_error() -> None:
    members = [member("rnn", [NAN, 1]), member("rnn", [NAN, 3])]
    for fused in (fuse_members(members), fuse_engines(members)):
        np.testing.assert_array_equal(fused.scores, [NAN, 2])
        np.testing.assert_array_equal(fused.errors, [NAN, 1])


def test_all_members_together_are_the_plain_mean() -> None:
    scores = [np.array([1.0, 2, NAN]), np.array([3.0, NAN, NAN]), np.array([5.0, 8, NAN])]
    fused = fuse_members([MemberScores(engine, each[None]) for engine, each in zip("aab", scores, strict=True)])
    np.testing.assert_array_equal(fused.scores, [3, 5, NAN])
    np.testing.assert_array_equal(fused.scores, average_members(scores))
    assert fused.weights == (1,)


def test_the_order_of_members_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    members = [MemberScores(engine, rng.normal(1, 1, (2, 20))) for engine in "abcabbb"]
    one, two = fuse_engines(members), fuse_engines(members[::-1])
    np.testing.assert_array_equal(one.scores, two.scores)
    assert one.weights == two.weights


class TestErrors:
    def test_members_of_equal_weight_give_the_standard_error_of_the_mean(self) -> None:
        """1, 3 and 2 have a standard deviation of 1; over the root of three. 2 and 4: root of two over root of two."""
        members = [member("rnn", each) for each in ([1, 2], [3, 4], [2, NAN])]
        for fused in (fuse_members(members), fuse_engines(members)):
            np.testing.assert_allclose(fused.errors, [1 / np.sqrt(3), 1])

    def test_one_member_gives_none(self) -> None:
        fused = fuse_engines([member("rnn", [1, 2]), member("ngram", [3, NAN])])
        np.testing.assert_array_equal(np.isnan(fused.errors), [False, True])
        assert np.isnan(fuse_members([member("rnn", [1, 2])]).errors).all()

    def test_a_member_with_more_weight_moves_the_error_more(self) -> None:
        """Weights 1/2, 1/2, 1 of 1, 3, 4: the mean is 3; (1 + 0 + 1) / 2^2 x 3/2 is the error's square."""
        fused = fuse_engines([member("a", [1]), member("a", [3]), member("b", [4])])
        assert fused.scores == pytest.approx([3])
        assert fused.errors == pytest.approx([np.sqrt(3 / 4)])


class TestNorms:
    def test_the_weights_are_those_of_the_strengths_of_the_engines_means(self) -> None:
        scores = with_strengths(0.5, 0.6)
        fused = fuse_engines([MemberScores("rnn", scores)])
        assert fused.weights == pytest.approx(weigh_norms(scores).tolist())
        np.testing.assert_allclose(fused.scores, np.array(fused.weights) @ scores)
        assert not fused.single

    def test_engines_decide_equally_and_share_their_weights(self) -> None:
        gains, loses = with_strengths(0.5, 0.9), with_strengths(0.5, 0.4)
        fused = fuse_engines([*[MemberScores("rnn", gains)] * 9, MemberScores("ngram", loses)])
        assert fused.weights == pytest.approx(weigh_norms((gains + loses) / 2).tolist())
        np.testing.assert_allclose(fused.scores, np.array(fused.weights) @ (gains + loses) / 2)

    def test_a_member_with_one_norm_leaves_no_other(self) -> None:
        scores = with_strengths(0.5, 1.9)
        fused = fuse_engines([MemberScores("rnn", scores), MemberScores("ngram", scores[:1])])
        assert fused.weights == (1,)
        np.testing.assert_allclose(fused.scores, scores[0])

    def test_parts_are_mixed_like_the_whole(self) -> None:
        parts = np.arange(PARTS * 4.0).reshape(PARTS, 2, 2)
        members = [MemberScores("a", with_strengths(0.5, 0.7, problems=2), parts)]
        fused = fuse_engines(members)
        mixed = np.array([mix_norms(part, fused.weights) for part in parts])
        assert fused.errors == pytest.approx(np.sqrt(4 * mixed.var(axis=0)))


class TestAverage:
    def test_scores_are_chosen_before_the_mean_is_taken(self) -> None:
        members = [member("a", [1, 2], [1, 4]), member("b", [3, 4], [9, 16])]
        mean = average_engines(members, lambda scores: np.sqrt(scores[1]))
        np.testing.assert_array_equal(mean.scores, [2, 3])
        np.testing.assert_array_equal(mean.errors, [1, 1])
        assert mean.parts is None

    def test_parts_are_averaged_like_the_whole(self) -> None:
        """Two members of one engine count half each."""
        parts = [np.arange(PARTS * 2.0).reshape(PARTS, 1, 2) * factor for factor in (1, 3, 10)]
        members = [MemberScores(engine, np.zeros((1, 2)), each) for engine, each in zip("aab", parts, strict=True)]
        mean = average_engines(members, lambda scores: 2 * scores[0])
        assert mean.parts is not None
        np.testing.assert_allclose(mean.parts, 2 * 6 * np.arange(PARTS * 2.0).reshape(PARTS, 2))
        assert average_engines([*members, member("b", [3, 4])], lambda scores: scores[0]).parts is None

    def test_the_total_error_is_that_of_members_and_of_parts_together(self) -> None:
        """Without the parts in turn the score is 1, 0, 0, 0 and -1: a variance of 2/5, times 4."""
        parts = np.array([[1.0], [0], [0], [0], [-1]])
        assert Mean(np.zeros(1), np.array([NAN]), parts).total_errors() == pytest.approx([np.sqrt(8 / 5)])
        assert Mean(np.zeros(1), np.array([0.6]), parts).total_errors() == pytest.approx([np.sqrt(8 / 5 + 0.36)])
        assert Mean(np.zeros(1), np.array([0.6]), None).total_errors() == [0.6]
        assert np.isnan(Mean(np.zeros(1), np.array([NAN]), None).total_errors())
        fused = fuse_engines([MemberScores("a", np.zeros((1, 1)), parts[:, None])])
        assert fused.errors == pytest.approx([np.sqrt(8 / 5)])
