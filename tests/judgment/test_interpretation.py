from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit

from byline.engines.matrix import PARTS, Matrix, Side
from byline.engines.questions import Question
from byline.judgment.calibration import Calibration
from byline.judgment.fusion import MemberScores, fuse_single_problems
from byline.judgment.interpretation import (
    JudgmentOptions,
    answer_problems,
    calibration_scores,
    center,
    score_sides,
    stretch,
)
from byline.judgment.score_normalization import (
    rank_among_heads,
    rank_among_texts,
)
from byline.judgment.single_questions import NORMS
from byline.settings.settings import Settings

UNSEEN = np.zeros((3, 3), np.bool_)

# Document 2 is hard for all heads, head 0 is bad at everything: both must cancel out.
VALUES = np.array([[2.5, 2.0, 2.1], [2.3, 2.4, 2.2], [3.5, 3.1, 2.6]])


def test_the_papers_rank_is_among_the_texts_under_the_own_head() -> None:
    """Row means are 2.2, 2.3, 3.0667, so head 0's column becomes .3, .0, .433: document 1 ranks first, 0 second."""
    questions = [Question(0, 0, 0), Question(1, 0, 1), Question(2, 0, 2)]
    np.testing.assert_allclose(rank_among_texts(Matrix(VALUES, UNSEEN), questions), [0.5, 1.0, 0.0])


def test_the_softwares_rank_is_among_the_heads_for_the_own_text() -> None:
    """Column medians are 2.5, 2.4, 2.2, so document 0's row becomes .0, -.4, -.1: head 1 ranks first, 2 second."""
    questions = [Question(0, 0, 0), Question(1, 1, 0), Question(2, 2, 0)]
    np.testing.assert_allclose(rank_among_heads(Matrix(VALUES, UNSEEN), questions), [0.0, 1.0, 0.5])


@pytest.mark.parametrize("rank", [rank_among_texts, rank_among_heads])
def test_what_a_head_was_trained_on_is_never_compared(rank) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(0)
    values, seen = rng.normal(2, 0.3, (6, 6)), np.eye(6, dtype=np.bool_)
    questions = [Question(n, n, (n + 1) % 6) for n in range(6)]
    low, high = (rank(Matrix(np.where(seen, value, values), seen), questions) for value in (0.0, 99.0))
    np.testing.assert_array_equal(low, high)


def test_a_pair_that_only_asked_ones_stand_beside_has_a_rank_but_no_relative_score() -> None:
    """Every head is asked about the last document, and none about the others."""
    values = np.random.default_rng(0).normal(2, 0.3, (6, 5))
    questions = tuple(Question(n, n, 5) for n in range(5))
    side = Side(Matrix(values, np.zeros((6, 5), np.bool_)), questions, frozenset())
    assert np.isnan(score_sides([side], 5, Settings(), "relative").scores).all()
    assert not np.isnan(score_sides([side], 5, Settings(), "rank").scores).any()
    fewer = Side(side.matrix, questions[:3], frozenset())
    assert not np.isnan(score_sides([fewer], 3, Settings(), "relative").scores).any()


def test_equal_entropies_share_their_rank() -> None:
    matrix = Matrix(np.ones((4, 4)), np.zeros((4, 4), np.bool_))
    assert rank_among_texts(matrix, [Question(0, 0, 0)]) == [0.5]
    assert rank_among_heads(matrix, [Question(0, 0, 0)]) == [0.5]


def test_the_median_becomes_a_half_and_both_sides_are_stretched() -> None:
    scores = np.array([0.0, 0.2, 0.4, 0.7, 1.0])
    assert center(scores) == 0.4
    np.testing.assert_allclose(stretch(scores, 0.4, 0.0), [0.0, 0.25, 0.5, 0.75, 1.0])


@pytest.mark.parametrize(("radius", "undecided"), [(0.03, [1, 2, 3]), (0.0, [2])])
def test_answers_within_the_radius_are_exactly_undecided(radius: float, undecided: list[int]) -> None:
    answers = stretch(np.array([0.1, 0.48, 0.5, 0.52, 0.9]), 0.5, radius)
    assert np.flatnonzero(answers == 0.5).tolist() == undecided


def test_for_a_few_problems_the_middle_rank_is_the_center() -> None:
    assert center(np.array([0.9])) == 0.5
    assert center(np.array([0.9, 0.8, 0.95, 0.99])) == 0.5


@given(hnp.arrays(np.float64, st.integers(5, 40), elements=st.floats(0, 1)), st.floats(0, 0.5))
@example(np.array([1.0, 5e-324, 5e-324, 5e-324, 5e-324]), 0.0)
def test_answers_keep_the_order_and_never_more_than_half_lie_on_one_side(scores: np.ndarray, radius: float) -> None:
    answers = stretch(scores, center(scores), radius)
    assert ((answers >= 0) & (answers <= 1)).all()
    assert (answers > 0.5).sum() <= len(scores) / 2
    assert (answers < 0.5).sum() <= len(scores) / 2
    order = np.argsort(scores, kind="stable")
    assert (np.diff(answers[order]) >= -1e-12).all()


class TestByThemselves:
    """Two problems beside a reference of eight authors, asked both ways."""

    def lay(self, seed: int, way: int = 0) -> Side:
        rng = np.random.default_rng(seed)
        matrix = Matrix(
            rng.normal(0, 1, (10, 10)), np.diag(np.arange(10) >= 2), parts=rng.normal(0, 1, (PARTS, 10, 10))
        )
        return Side(matrix, (Question(0, 0, 0), Question(1, 1, 1)), frozenset(), way)

    def members(self) -> list[MemberScores]:
        return [
            score_sides([self.lay(seed), self.lay(seed + 1, 1)], 2, Settings(engine=engine), "cohort")  # type: ignore[arg-type]
            for engine, seed in (("vectors", 0), ("words", 2))
        ]

    def test_the_score_of_a_member_is_its_s_norm(self) -> None:
        for member, engine in zip(self.members(), ("vectors", "words"), strict=True):
            assert member.engine == engine
            assert member.beside_reference is not None
            np.testing.assert_array_equal(member.scores, member.beside_reference.norms[:, NORMS.index("s_norm")][None])

    def test_the_fused_score_is_a_log_likelihood_ratio_and_the_answer_its_logistic_function(self) -> None:
        members = self.members()
        fused = fuse_single_problems(members)
        assert fused.single
        verdicts = answer_problems(["a", "b"], members, JudgmentOptions("cohort"))
        assert [answer.score for answer in verdicts.answers] == fused.scores.tolist()
        assert [answer.value for answer in verdicts.answers] == pytest.approx(expit(fused.scores).tolist())
        assert (verdicts.center, verdicts.strength) == (0, 1)
        np.testing.assert_array_equal(calibration_scores(members, "cohort"), fused.scores)

    def test_a_calibrated_interval_is_1_96_standard_errors_on_either_side(self) -> None:
        line = Calibration(
            1.0, 0.0, 99.0, 0.0, "cohort", ("vectors", "words"), "x", 100, 200, ("made up",), cllr=0.7, cllr_min=0.6
        )
        fused = fuse_single_problems(self.members())
        answers = answer_problems(["a", "b"], self.members(), JudgmentOptions("cohort", calibration=line)).answers
        for answer, ratio, error in zip(answers, fused.scores, fused.errors, strict=True):
            assert answer.llr == pytest.approx(ratio / np.log(10))
            assert answer.interval == pytest.approx([(ratio + way * 1.96 * error) / np.log(10) for way in (-1, 1)])

    def test_a_problem_that_cannot_be_compared_is_undecided_and_changes_no_other(self) -> None:
        whole = self.members()
        sides = [
            replace(self.lay(seed, way), incomparable=frozenset([Question(0, 0, 0)])) for seed, way in ((0, 0), (1, 1))
        ]
        without = [score_sides(sides, 2, Settings(engine="vectors"), "cohort")]
        first, second = answer_problems(["a", "b"], without, JudgmentOptions("cohort")).answers
        assert (first.score, first.value) == (None, 0.5)
        assert second == answer_problems(["a", "b"], whole[:1], JudgmentOptions("cohort")).answers[1]
