from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import expit

from byline.corpora.answers import Answer
from byline.engines.matrix import Matrix, Side
from byline.engines.questions import Question
from byline.judgment import single_questions
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
from byline.judgment.score_normalization import rank_among_heads, rank_among_texts
from byline.judgment.single_questions import Bounds, Coefficients, fuse_reference_scores
from byline.judgment.whole_corpora import rate_corpus
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
    """Three problems beside a reference of eight authors, asked both ways by two engines."""

    coefficients = Coefficients(
        {"constant": -0.5, "own": 0.1}, {"constant": 0.3}, ((0.01, 0, 0), (0, 0.01, 0), (0, 0, 0.04)),
        Bounds((-2.0, 2.0), (0.1, 1.1), (0.3, 0.9)),
    )  # fmt: skip
    line = Calibration(
        1.0, 0.0, 99.0, 0.0, "cohort", ("vectors", "words"), "x", 100, 200, ("made up",), cllr=0.7, cllr_min=0.6
    )
    ids = ("a", "b", "c")

    @pytest.fixture(autouse=True)
    def made_coefficients(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Answers by the coefficients above, whichever come with the package."""
        monkeypatch.setattr(single_questions, "builtin_coefficients", lambda: self.coefficients)

    @pytest.fixture
    def members(self, beside_reference: Callable[..., Side]) -> list[MemberScores]:
        return [self.score(beside_reference, engine, seed) for engine, seed in (("vectors", 0), ("words", 2))]

    def score(
        self, beside_reference: Callable[..., Side], engine: str, seed: int, incomparable: tuple[Question, ...] = ()
    ) -> MemberScores:
        sides = [
            beside_reference(3, own_pairs=(0, 1), cases=range(8), cohort=range(8), parts=True, way=way, seed=seed + way)
            for way in (0, 1)
        ]
        sides = [replace(side, incomparable=frozenset(incomparable)) for side in sides]
        return score_sides(sides, 3, Settings(engine=engine), "cohort")  # type: ignore[arg-type]

    def test_the_score_of_a_member_is_its_centered_norm(self, members: list[MemberScores]) -> None:
        for member, engine in zip(members, ("vectors", "words"), strict=True):
            assert member.engine == engine
            assert member.beside_reference is not None
            np.testing.assert_array_equal(member.scores, member.beside_reference.scores[None])

    def test_the_fused_score_is_a_log_likelihood_ratio_and_the_answer_its_logistic_function(
        self, members: list[MemberScores]
    ) -> None:
        fused = fuse_single_problems(members)
        assert fused.single
        verdicts = answer_problems(self.ids, members, JudgmentOptions("cohort"))
        assert [answer.score for answer in verdicts.answers] == fused.scores.tolist()
        assert [answer.value for answer in verdicts.answers] == pytest.approx(expit(fused.scores).tolist())
        assert (verdicts.center, verdicts.strength) == (0, 1)
        np.testing.assert_array_equal(calibration_scores(members, "cohort"), fused.scores)

    def test_what_the_reference_teaches_is_handed_on(self, members: list[MemberScores]) -> None:
        verdicts = answer_problems(self.ids, members, JudgmentOptions("cohort"))
        wanted = fuse_reference_scores([(each.engine, each.beside_reference) for each in members])  # type: ignore[misc]
        assert verdicts.learned == wanted.learned
        assert [each.authors for each in verdicts.learned if each is not None] == [8] * 3
        assert verdicts.slopes is not None
        np.testing.assert_array_equal(verdicts.slopes, wanted.slopes)

    def test_a_calibrated_interval_is_1_96_standard_errors_on_either_side(
        self, members: list[MemberScores], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        free = replace(self.coefficients, bounds=Bounds((0.0,), (99.0,), (99.0,)))
        monkeypatch.setattr(single_questions, "builtin_coefficients", lambda: free)
        fused = fuse_single_problems(members)
        answers = answer_problems(self.ids, members, JudgmentOptions("cohort", calibration=self.line)).answers
        for answer, ratio, error in zip(answers, fused.scores, fused.errors, strict=True):
            assert error > 0
            assert answer.llr == pytest.approx(ratio / np.log(10))
            assert answer.interval == pytest.approx([(ratio + way * 1.96 * error) / np.log(10) for way in (-1, 1)])

    def test_a_calibrated_ratio_keeps_the_bounds_of_its_problem_and_of_the_calibration(
        self, members: list[MemberScores]
    ) -> None:
        """The slope is steep: every ratio is beyond its bound."""
        steep = replace(self.line, slope=1e6)
        for cap, different in ((99.0, 99.0), (0.2, 99.0), (99.0, 0.2)):
            judgment = JudgmentOptions("cohort", calibration=replace(steep, cap=cap, cap_different=different))
            for answer in answer_problems(self.ids, members, judgment).answers:
                assert answer.score is not None
                assert answer.bounds is not None
                (same, other) = answer.bounds
                wanted = min(cap, same) if answer.score > 0 else -min(different, other)
                assert answer.llr == pytest.approx(wanted)
                assert answer.probability == pytest.approx(1 / (1 + 10**-wanted))

    def test_the_bounds_of_an_answer_are_those_of_its_slope(self, members: list[MemberScores]) -> None:
        """For the same author they rise by a quarter with the logarithm, for different authors by 0.15."""
        fused = fuse_single_problems(members)
        assert fused.slopes is not None
        answers = answer_problems(self.ids, members, JudgmentOptions("cohort", calibration=self.line)).answers
        for answer, slope in zip(answers, fused.slopes, strict=True):
            assert answer.bounds == pytest.approx((0.6 + np.log(slope) / 4, 0.6 + 0.15 * np.log(slope)))
        assert len({answer.bounds for answer in answers}) == 3

    def test_an_answer_without_a_reference_has_no_bounds(self) -> None:
        members = [MemberScores("vectors", np.array([[0.0, 1, 2]]))]
        line = replace(self.line, interpretation="relative")
        verdicts = answer_problems(self.ids, members, JudgmentOptions("relative", calibration=line))
        assert [answer.bounds for answer in verdicts.answers] == [None] * 3
        assert verdicts.learned == ()

    def test_the_ratios_of_a_corpus_follow_from_the_distribution_of_its_scores(self) -> None:
        members = [MemberScores("vectors", np.array([[0.0, 1, 2, 4]]))]
        verdicts = answer_problems((*self.ids, "d"), members, JudgmentOptions("relative"))
        scale = rate_corpus(np.array([0.0, 1, 2, 4]))
        assert (verdicts.center, verdicts.strength) == (scale.midpoint, scale.strength)
        assert (verdicts.weights, verdicts.matched) == ((1,), None)
        ratios = scale.apply(np.array([0.0, 1, 2, 4]))
        np.testing.assert_array_equal(calibration_scores(members, "relative"), ratios)
        assert [answer.value for answer in verdicts.answers] == pytest.approx(expit(ratios).tolist())
        assert verdicts.slopes is not None
        assert verdicts.slopes.tolist() == [scale.slope] * 4
        both = [MemberScores("vectors", np.array([[0.0, 1, 2, 4], [1.0, 2, 3, 5]]))]
        verdicts = answer_problems((*self.ids, "d"), both, JudgmentOptions("relative"))
        assert verdicts.matched == verdicts.weights[1] > 0.5

    @pytest.mark.parametrize("calibration", [None, line])
    def test_a_problem_that_cannot_be_compared_is_undecided_and_changes_no_other(
        self, beside_reference: Callable[..., Side], calibration: Calibration | None
    ) -> None:
        judgment = JudgmentOptions("cohort", calibration=calibration)
        whole, without = (
            answer_problems(self.ids, [self.score(beside_reference, "vectors", 0, unable)], judgment).answers
            for unable in ((), (Question(0, 0, 0),))
        )
        assert without[0] == Answer("a", 0.5)
        assert whole[0].score is not None
        assert without[1:] == whole[1:]
