from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from byline.engines.matrix import PARTS, Cohort, Matrix, Side, Table
from byline.engines.questions import Question
from byline.judgment.calibration import Calibration
from byline.judgment.fusion import NEUTRAL_SUM, MemberScores, fuse_single_problems
from byline.judgment.interpretation import (
    JudgmentOptions,
    answer_problems,
    calibration_scores,
    center,
    score_sides,
    stretch,
)
from byline.judgment.score_normalization import (
    REACHES,
    SINGLE_PROBLEM_REACH,
    own_scale_scores,
    rank_among_heads,
    rank_among_texts,
    reference_agreement,
    relative_scores,
)
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
    """Two problems beside a reference of six sets, asked both ways."""

    spread = Settings(engine="spread", order=3)

    def lay(self, seed: int, trust: Table | None = None) -> Side:
        rng = np.random.default_rng(seed)
        flags, lengths = np.arange(8) >= 2, rng.normal(8, 0.3, 8)
        matrix = Matrix(rng.normal(0, 1, (8, 8)), np.diag(flags), parts=rng.normal(0, 1, (PARTS, 8, 8)), trust=trust)
        questions = (Question(0, 0, 0), Question(1, 1, 1))
        return Side(matrix, questions, frozenset(), Cohort(flags, flags, lengths, lengths))

    def trusted(self) -> list[Side]:
        return [self.lay(seed, np.random.default_rng(10 + seed).uniform(0, 1, (8, 8))) for seed in (0, 1)]

    def test_values_that_say_something_by_themselves_are_read_as_they_are(self) -> None:
        sides = self.trusted()
        reading = score_sides(sides, 2, self.spread, "cohort")
        np.testing.assert_allclose(reading.scores, np.mean([own_scale_scores(side) for side in sides], axis=0))
        trusts = [side.matrix.trust.diagonal()[:2] for side in sides if side.matrix.trust is not None]
        np.testing.assert_allclose(reading.trust, np.mean(trusts, axis=0))
        assert reading.agreement is None
        assert reading.parts is not None
        parts = [side.matrix.parts[:, [0, 1], [0, 1]] for side in sides if side.matrix.parts is not None]
        np.testing.assert_allclose(reading.parts[:, 0], -np.mean(parts, axis=0))

    def test_others_are_compared_with_the_reference_and_their_kinds_too(self) -> None:
        sides = [self.lay(0), self.lay(1)]
        reading = score_sides(sides, 2, Settings(engine="ngram"), "cohort")
        np.testing.assert_allclose(reading.scores, np.mean([relative_scores(side) for side in sides], axis=0))
        np.testing.assert_allclose(reading.agreement, np.mean([reference_agreement(side) for side in sides], axis=0))
        assert reading.trust is None

    def test_a_whole_corpus_is_compared_whatever_its_values_say(self) -> None:
        sides = self.trusted()
        reading = score_sides(sides, 2, self.spread, "relative")
        np.testing.assert_allclose(reading.scores, np.mean([relative_scores(side) for side in sides], axis=0))
        assert (reading.agreement, reading.trust) == (None, None)

    def readings(self) -> list[MemberScores]:
        """Scores of 3, 1 and 0 altogether, of which 1 speaks for neither side; trusted by 0.5, 1 and 0.1."""
        scores = np.full((len(REACHES), 3), 99.0)
        scores[REACHES.index(SINGLE_PROBLEM_REACH)] = np.sinh([2, 1, 1])
        own = np.tile([0.2, 0.0, -0.2], (len(REACHES), 1))
        agreement = np.array([0.5, 0.2, -0.3])
        return [
            MemberScores("ngram", scores, agreement=agreement),
            MemberScores("spread", own, trust=np.array([0.5, 1, 0.2])),
        ]

    def test_a_value_is_how_far_its_score_is_from_even_as_far_as_it_can_be_relied_on(self) -> None:
        readings = self.readings()
        assert NEUTRAL_SUM == 1
        np.testing.assert_allclose(fuse_single_problems(readings).scores, [3, 1, 0])
        np.testing.assert_allclose(calibration_scores(readings, "cohort"), [0.5 * 2, 0, 0.1 * -1], atol=1e-8)

    def test_without_a_calibration_the_answer_is_its_logistic_function(self) -> None:
        verdicts = answer_problems(["a", "b", "c"], self.readings(), JudgmentOptions("cohort"))
        assert [answer.value for answer in verdicts.answers] == pytest.approx(
            [1 / (1 + np.exp(-1)), 0.5, 1 / (1 + np.exp(0.1))]
        )
        assert (verdicts.center, verdicts.reach) == (NEUTRAL_SUM, SINGLE_PROBLEM_REACH)
        assert [answer.score for answer in verdicts.answers] == pytest.approx([3, 1, 0])

    def test_a_calibrated_interval_is_as_much_narrower_as_the_score_is_relied_on_less(self) -> None:
        """Parts of the texts that make the same difference to three scores."""
        line = Calibration(
            1.0, 0.0, 99.0, 0.0, "cohort", ("ngram", "spread"), "x", 100, 200, ("made up",), cllr=0.7, cllr_min=0.6
        )
        shifts = np.linspace(-0.01, 0.01, PARTS)[:, None, None]
        ngram, spread = self.readings()
        parts = [np.sinh(np.arcsinh(ngram.scores) + shifts), spread.scores + 0 * shifts]
        readings = [
            MemberScores("ngram", ngram.scores, parts[0], ngram.agreement),
            MemberScores("spread", spread.scores, parts[1], trust=spread.trust),
        ]
        answers = answer_problems(["a", "b", "c"], readings, JudgmentOptions("cohort", calibration=line)).answers
        widths = [answer.interval[1] - answer.interval[0] for answer in answers if answer.interval is not None]
        assert np.array(widths) / widths[1] == pytest.approx([0.5, 1, 0.1])
        assert [answer.llr for answer in answers] == pytest.approx([1 / np.log(10), 0, -0.1 / np.log(10)], abs=1e-8)
