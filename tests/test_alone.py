"""Problems by themselves: what is added up, by hand, and how far it can be relied on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from byline.alone import EVEN, EVEN_OWN, EVEN_RELATIVE, fuse_alone
from byline.fusion import Reading
from byline.relative import ALONE, REACHES
from byline.scoring import Table

NAN = float("nan")


def at_reach(scores: Table) -> Table:
    """(..., reaches, problems): the scores at the reach of problems by themselves, and something else at the others."""
    table = np.full((*scores.shape[:-1], len(REACHES), scores.shape[-1]), 99.0)
    table[..., REACHES.index(ALONE), :] = scores
    return table


def relative(
    scores: Sequence[float],
    engine: str = "vectors",
    agreement: Sequence[float] | None = None,
    parts: Sequence[Sequence[float]] | None = None,
) -> Reading:
    """A member whose scores, once damped, are these, and those without each part of the texts too."""
    damped = [None if each is None else at_reach(np.sinh(np.array(each, np.float64))) for each in (scores, parts)]
    assert damped[0] is not None
    return Reading(engine, damped[0], damped[1], None if agreement is None else np.array(agreement))


def own(
    scores: Sequence[float],
    trust: Sequence[float] | None = None,
    engine: str = "spread",
    parts: Sequence[Sequence[float]] | None = None,
) -> Reading:
    """A member whose values say something by themselves: five times its scores are these."""
    fifths = [None if each is None else at_reach(np.array(each, np.float64) / 5) for each in (scores, parts)]
    assert fifths[0] is not None
    return Reading(engine, fifths[0], fifths[1], trust=np.array([1.0] * len(scores) if trust is None else trust))


class TestScores:
    def test_relative_ones_alone_are_damped_and_then_averaged(self) -> None:
        fused = fuse_alone([relative([1, 5]), relative([3, 7], "ngram")])
        np.testing.assert_allclose(fused.scores, [2, 6])
        np.testing.assert_allclose(fused.errors, [1, 1])  # 1 and 3: root of two over root of two
        assert (fused.even, fused.reach) == (EVEN_RELATIVE, ALONE) == (1.4, 0.2)

    def test_own_ones_alone_count_five_times(self) -> None:
        values = np.full((len(REACHES), 2), [0.3, -0.2])
        fused = fuse_alone([Reading("spread", values, trust=np.ones(2))])
        np.testing.assert_allclose(fused.scores, [1.5, -1])
        assert np.isnan(fused.errors).all()  # of one member
        assert (fused.even, fused.reach) == (EVEN_OWN, ALONE) == (-0.9, 0.2)

    def test_both_are_added_up_and_so_are_the_squares_of_their_errors(self) -> None:
        """The relative ones are 2 apart, which is an error of 1; the own ones 1.5, which is one of 0.75."""
        fused = fuse_alone([relative([1]), own([4]), relative([3], "ngram"), own([5.5], engine="other")])
        assert fused.scores == pytest.approx([2 + 4.75])
        assert fused.errors == pytest.approx([1.25])
        assert (fused.even, EVEN) == (1.0, 1.0)

    def test_one_member_of_a_kind_adds_its_score_and_no_error(self) -> None:
        fused = fuse_alone([relative([1]), relative([3], "ngram"), own([4])])
        assert (fused.scores, fused.errors) == (pytest.approx([6]), pytest.approx([1]))
        assert np.isnan(fuse_alone([relative([1]), own([4])]).errors)

    def test_an_engine_counts_like_another_of_its_kind_however_many_members_it_has(self) -> None:
        fused = fuse_alone([relative([0]), relative([2]), relative([4], "ngram"), own([1]), own([2]), own([3])])
        assert fused.scores == pytest.approx([(1 + 4) / 2 + 2])

    def test_large_relative_scores_count_by_their_logarithm_and_0_stays_0(self) -> None:
        plain = np.full((len(REACHES), 4), [0, -3, 100, 1000])
        scores = fuse_alone([Reading("vectors", plain)]).scores
        assert scores[0] == 0
        assert scores[1] == -fuse_alone([Reading("vectors", -plain)]).scores[1]
        assert scores[3] - scores[2] == pytest.approx(np.log(10), abs=1e-4)


class TestWhoCantJudge:
    def test_a_member_leaves_a_problem_to_the_others_of_its_kind(self) -> None:
        fused = fuse_alone([relative([1, NAN]), relative([3, 5], "ngram"), own([4, 4]), own([6, NAN])])
        np.testing.assert_allclose(fused.scores, [2 + 5, 5 + 4])

    def test_what_a_whole_kind_cant_judge_has_no_score(self) -> None:
        fused = fuse_alone([relative([1, NAN, NAN]), own([NAN, 4, NAN])])
        np.testing.assert_array_equal(fused.scores, [NAN] * 3)
        np.testing.assert_array_equal(fuse_alone([relative([NAN, 1])]).scores, [NAN, 1])

    def test_it_says_nothing_of_how_far_the_others_can_be_relied_on(self) -> None:
        """A member that can't judge a problem has neither an agreement nor a trust there."""
        fused = fuse_alone(
            [
                relative([1, NAN], agreement=[-0.5, NAN]),
                relative([1, 1], "ngram", agreement=[-0.1, -0.3]),
                own([1, 1], [0.4, 0.4]),
                own([1, NAN], [0.8, NAN]),
            ]
        )
        np.testing.assert_allclose(fused.trust, [0.5 * 0.6, 0.5 * 0.4])


class TestParts:
    """Without each part of the texts; one score of 1, 0, 0, 0, -1 has a variance of 2/5, of which 4 times counts."""

    up, down = [[1.0], [0.0], [0.0], [0.0], [-1.0]], [[-1.0], [0.0], [0.0], [0.0], [1.0]]

    def test_what_a_score_hangs_on_is_part_of_its_error(self) -> None:
        for reading in (relative([7], parts=self.up), own([7], parts=self.up)):
            assert fuse_alone([reading]).errors == pytest.approx([np.sqrt(8 / 5)])

    def test_both_kinds_are_added_up_before_it_is_seen_what_the_sum_hangs_on(self) -> None:
        assert fuse_alone([relative([7], parts=self.up), own([7], parts=self.down)]).errors == pytest.approx([0])
        together = fuse_alone([relative([7], parts=self.up), own([7], parts=self.up)])
        assert together.errors == pytest.approx([2 * np.sqrt(8 / 5)])

    def test_how_far_members_are_apart_comes_on_top(self) -> None:
        readings = [relative([1], parts=self.up), relative([3], "ngram", parts=self.up), own([4], parts=self.down)]
        assert fuse_alone(readings).errors == pytest.approx([1])
        readings = [*readings[:2], own([4], parts=self.up)]
        assert fuse_alone(readings).errors == pytest.approx([np.sqrt(1 + 4 * 8 / 5)])

    def test_where_some_member_has_none_only_members_are_compared(self) -> None:
        for readings in ([relative([1], parts=self.up), own([4])], [relative([1]), own([4], parts=self.up)]):
            assert np.isnan(fuse_alone(readings).errors)
        readings = [relative([1], parts=self.up), relative([3], "ngram", parts=self.up), own([4])]
        assert fuse_alone(readings).errors == pytest.approx([1])


class TestTrust:
    @pytest.mark.parametrize(
        ("agreement", "trust"),
        [(-1, 0.2), (-0.7, 0.2), (-0.6, 0.2), (-0.3, 0.5), (0, 0.8), (0.1, 0.9), (0.2, 1), (0.3, 1), (1, 1)],
    )
    def test_texts_of_two_kinds_are_relied_on_less_but_never_less_than_a_fifth(
        self, agreement: float, trust: float
    ) -> None:
        assert fuse_alone([relative([1], agreement=[agreement])]).trust == pytest.approx([trust])

    def test_it_is_the_agreement_on_average_that_counts(self) -> None:
        """Of -0.9 and 0.5 the mean is -0.2; each by itself would be clipped."""
        readings = [relative([1], agreement=[-0.9]), relative([1], "ngram", agreement=[0.5]), relative([1], "rnn")]
        assert fuse_alone(readings).trust == pytest.approx([0.6])

    def test_it_is_that_of_engines_whose_values_say_something_by_themselves(self) -> None:
        fused = fuse_alone([own([1, 1], [0.4, 0.1]), own([1, 1], [0.8, 0.2])])
        np.testing.assert_allclose(fused.trust, [0.6, 0.15])

    def test_of_both_it_is_the_product(self) -> None:
        readings = [relative([1, 1], agreement=[-0.3, 0.9]), own([1, 1], [0.4, 0.7])]
        np.testing.assert_allclose(fuse_alone(readings).trust, [0.2, 0.7])

    def test_what_nobody_can_say_something_about_is_relied_on_wholly(self) -> None:
        np.testing.assert_array_equal(fuse_alone([relative([1, 2]), relative([3, 4])]).trust, [1, 1])

    def test_it_does_not_hang_on_the_scores_nor_on_other_problems(self) -> None:
        one = fuse_alone([relative([1, 2], agreement=[-0.1, 0.5]), own([1, 2], [0.4, 0.7])])
        two = fuse_alone([relative([9, 2], agreement=[-0.1, -0.5]), own([-3, 2], [0.4, 0.1])])
        assert one.trust is not None
        assert two.trust is not None
        assert one.trust[0] == two.trust[0] == pytest.approx(0.7 * 0.4)
        assert one.scores[1] == two.scores[1]
        assert one.trust[1] != two.trust[1]

    def test_it_is_never_above_1_nor_below_0(self) -> None:
        rng = np.random.default_rng(0)
        readings = [
            *(relative([0] * 50, agreement=rng.uniform(-1, 1, 50).tolist()) for _ in range(2)),
            own([0] * 50, rng.uniform(0, 1, 50).tolist()),
        ]
        trust = fuse_alone(readings).trust
        assert trust is not None
        assert ((trust >= 0) & (trust <= 1)).all()
