from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from byline.errors import TooLittleText
from byline.judgment.calibration import Calibration, llr_bans, undecided
from byline.judgment.calibration_fitting import (
    Trials,
    count_bound,
    empirical_bounds,
    fit_calibration,
    fit_line,
    supported_bounds,
    weigh_corpora,
)
from byline.judgment.metrics import cllr

SCORES = np.array([1.0, 1, 1, -1, -1, -1, -1, 1])
SAME = np.array([True] * 4 + [False] * 4)


def fit(scores: Any, truth: Any, **changes: Any) -> Calibration:
    """Fitted as if no two problems shared a text, unless it is said otherwise."""
    given: dict[str, Any] = {
        "known": [[f"k{number}"] for number in range(len(scores))],
        "unknown": [f"u{number}" for number in range(len(scores))],
        "interpretation": "rank",
        "engines": ["rnn"],
        "preset": "paper",
        "corpora": ["made up"],
    }
    return fit_calibration(scores, truth, **{**given, **changes})


def draw(distance: float, yes: int, no: int, seed: int = 0) -> tuple[np.ndarray, list[bool]]:
    """Scores of deviation 1 whose means lie `distance` apart, around 0; yes and no mixed."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation([True] * yes + [False] * no)
    return rng.normal(np.where(truth, distance / 2, -distance / 2)), truth.tolist()


def theoretical_cllr(distance: float) -> float:
    """The Cllr of the true ratios: distance x score, alike for yes and no."""

    def cost(score: float) -> float:
        return float(np.logaddexp(0, -distance * score) / np.log(2) * norm.pdf(score - distance / 2))

    return float(quad(cost, -20, 20)[0])


def test_a_line_by_hand() -> None:
    # a score of 1 came with yes three times of four, one of -1 with no: odds of 3
    line = fit_line(SCORES, SAME, np.ones(8), penalty=0)
    assert line.slope == pytest.approx(np.log(3), abs=1e-6)
    assert line.offset == pytest.approx(0, abs=1e-6)


def test_a_line_held_back_by_hand() -> None:
    # of eight problems, with deviation 1: where 8 x (3/4 - p) is what half the squared slope grows by, the slope
    line = fit_line(SCORES, SAME, np.ones(8))
    assert 8 * (0.75 - expit(line.slope)) == pytest.approx(line.slope, abs=1e-6)


def test_the_line_does_not_depend_on_how_often_yes_was_right() -> None:
    scores, same = np.append(SCORES, np.tile(SCORES[4:], 9)), np.append(SAME, [False] * 36)
    assert fit_line(scores, same, np.ones(44), penalty=0) == pytest.approx((np.log(3), 0), abs=1e-6)


def test_a_weight_of_two_is_a_problem_that_is_there_twice() -> None:
    twice = fit_line(np.append(SCORES, SCORES[:2]), np.append(SAME, SAME[:2]), np.ones(10), penalty=0)
    assert fit_line(SCORES, SAME, np.array([2.0, 2, 1, 1, 1, 1, 1, 1]), penalty=0) == pytest.approx(twice, abs=1e-6)


def test_agreement_with_scikit_learn() -> None:
    scores, truth = draw(1.5, 60, 60)
    standard = (scores - scores.mean()) / scores.std()
    wanted = LogisticRegression(C=1.0, tol=1e-10).fit(standard[:, None], truth)
    line = fit_line(standard, np.array(truth), np.ones(120))
    assert line == pytest.approx((wanted.coef_[0, 0], wanted.intercept_[0]), abs=1e-5)


@settings(deadline=None)
@given(st.floats(0.001, 1000), st.floats(-1000, 1000))
def test_the_unit_of_scores_does_not_matter(unit: float, start: float) -> None:
    scores, truth = draw(1.0, 20, 30)
    same, weights = np.array(truth), np.ones(50)
    slope, offset = fit_line(scores, same, weights)
    other = fit_line(scores * unit + start, same, weights)
    np.testing.assert_allclose(other.offset + other.slope * (scores * unit + start), offset + slope * scores, atol=1e-4)


def test_equal_scores_say_nothing() -> None:
    assert fit_line(np.full(8, 0.1) + 1e-17, SAME, np.ones(8)) == (0, 0)


def test_scores_that_part_yes_and_no_wholly_give_a_finite_line() -> None:
    made = fit([0.9] * 10 + [0.1] * 10, [True] * 10 + [False] * 10)
    assert 0 < made.slope < 100
    assert made.cllr < 0.25
    assert all(0.5 < cap <= np.log10(11) for cap in made.caps)
    assert llr_bans(made, [-1e6, 1e6]) == pytest.approx([-made.caps.different, made.caps.same])


@pytest.mark.parametrize("distance", [1.0, 2.0])
def test_gaussian_scores_give_the_line_and_the_cost_of_theory(distance: float) -> None:
    scores, truth = draw(distance, 1500, 2500)
    made = fit(scores, truth)
    assert made.slope == pytest.approx(distance, rel=0.08)
    assert made.offset == pytest.approx(0, abs=0.1)
    assert made.cllr == pytest.approx(theoretical_cllr(distance), abs=0.02)
    assert made.cllr - 0.02 < made.cllr_min <= made.cllr
    assert all(0.8 < cap < np.log10(1501) for cap in made.caps)
    assert (made.problems, made.texts, made.folds_by) == (4000, 8000, "texts")


def test_the_held_out_cost_is_the_cost_of_new_scores() -> None:
    costs = []
    for seed in range(20):
        scores, truth = draw(1.5, 40, 40, seed)
        made = fit(scores, truth)
        new, new_truth = draw(1.5, 500, 500, seed + 1000)
        costs.append((made.cllr, cllr(new_truth, llr_bans(made, new) * np.log(10))))
    held_out, of_new = np.mean(costs, axis=0)
    assert held_out == pytest.approx(of_new, abs=0.03)


@pytest.mark.parametrize("seed", range(5))
def test_useless_scores_give_hardly_a_slope_and_cost_no_more_than_silence(seed: int) -> None:
    scores, truth = draw(0, 200, 200, seed)
    made = fit(scores, truth)
    assert 0 <= made.slope < 0.2
    assert 0.95 < made.cllr < 1.02


def test_inverted_scores_say_nothing() -> None:
    scores, truth = draw(-2, 100, 100)
    made = fit(scores, truth)
    assert (made.slope, made.offset, made.threshold) == (0, pytest.approx(0, abs=1e-9), 0)
    assert made.cllr == pytest.approx(1)
    assert llr_bans(made, scores) == pytest.approx(np.zeros(200), abs=1e-9)


def test_a_text_that_recurs_is_never_fitted_on_and_held_out() -> None:
    """Scores that only tell texts apart, each with its own truth: held out by problem they would seem to be good."""
    rng = np.random.default_rng(3)
    by_text = rng.normal(size=12) + np.tile([1.0, 0.0], 6)
    owner = np.repeat(np.arange(12), 10)
    truth = (owner % 2 == 0).tolist()
    scores = by_text[owner] + 0.01 * rng.normal(size=120)
    by_problem = fit(scores, truth)
    by_group = fit(scores, truth, unknown=[f"u{number}" for number in owner])
    assert by_group.folds_by == "texts"
    assert by_group.cllr > by_problem.cllr + 0.02
    assert (by_group.slope, by_group.offset) == (by_problem.slope, by_problem.offset)
    assert by_group.slope > 0
    assert max(by_group.caps) <= np.log10(7)


def test_texts_that_all_hang_together_are_held_out_by_the_unknown_one() -> None:
    """Ten authors, each asked about all of twelve texts: no part of them shares nothing with the rest."""
    truth = [text % 10 == author for author in range(10) for text in range(12)]
    scores = np.random.default_rng(0).normal(np.where(truth, 1, -1))
    known = [[f"k{author}"] for author in range(10) for _ in range(12)]
    made = fit(scores, truth, known=known, unknown=[f"u{text}" for _ in range(10) for text in range(12)])
    assert made.folds_by == "unknown"
    assert made.texts == 22
    assert all(0 < cap <= np.log10(11) for cap in made.caps)
    assert made.cllr < 0.8


def test_problems_that_share_texts_count_as_one_for_the_cap() -> None:
    texts = tuple(frozenset({f"k{number // 10}", f"u{number}"}) for number in range(120))
    trials = Trials(np.zeros(120), np.arange(120) < 60, np.ones(120), texts, tuple(range(120)))
    assert count_bound(trials) == pytest.approx(np.log10(7))


def test_what_is_borne_out_by_hand() -> None:
    """Ten of each kind; 1 is given to four rightly and to none wrongly, with one more to 1 of 11: 4.4 times."""
    same = np.array([True] * 10 + [False] * 10)
    right = [1.0] * 4 + [0.5] * 4 + [-0.2] * 2
    bans = np.array([*right, *(-each for each in right)])
    enough = np.log10(0.4 * 11)
    assert empirical_bounds(same, bans) == pytest.approx((enough, enough))
    bans[-1] = 0.8  # misleads: .64 or more is given 2.2 times as often rightly, .5 or more 4.4 times
    assert empirical_bounds(same, bans) == pytest.approx((0.5, enough))
    bans[-3:] = 1.1  # .5 or more is given 2.2 times as often rightly
    assert empirical_bounds(same, bans) == pytest.approx((np.log10(0.8 * 11 / 4), enough))


def test_what_fails_below_does_not_matter() -> None:
    """.5 or more is given to ten rightly and to five wrongly; what is above it is given to five and to none."""
    same = np.array([True] * 10 + [False] * 10)
    bans = np.array([1.0] * 5 + [0.5] * 5 + [0.5] * 5 + [-1.0] * 5)
    assert empirical_bounds(same, bans).same == pytest.approx(np.log10(0.5 * 11))


def test_ratios_that_never_mislead_support_one_more_than_their_number() -> None:
    """However high they are, and although none is as low as that."""
    same = np.arange(20) < 10
    assert empirical_bounds(same, np.where(same, 99.0, -99.0)) == pytest.approx((np.log10(11), np.log10(11)))


@pytest.mark.parametrize("bans", [[0.0] * 4, [-1.0, -1, 1, 1], [0.5, 0.5, 0.5, 0.5]])
def test_ratios_that_say_nothing_or_the_contrary_bear_nothing_out(bans: list[float]) -> None:
    assert empirical_bounds(np.array([True, True, False, False]), np.array(bans)) == (0, 0)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 60), st.floats(0.1, 3), st.floats(0, 2))
def test_what_is_borne_out_is_the_greatest_that_a_search_finds(
    seed: int, count: int, spread: float, gap: float
) -> None:
    rng = np.random.default_rng(seed)
    same = np.arange(2 * count) < count
    bans = rng.normal(np.where(same, gap, -gap), spread).round(2)

    def search(right: np.ndarray, wrong: np.ndarray) -> float:
        for k in np.arange(2, 0, -0.001):  # 60 of each kind support 61 at most
            if (right >= k).mean() >= ((wrong >= k).sum() + 1) / (len(wrong) + 1) * 10**k:
                return float(k)
        return 0.0

    slow = search(bans[same], bans[~same]), search(-bans[~same], -bans[same])
    assert empirical_bounds(same, bans) == pytest.approx(slow, abs=0.0015)


class TestSupportedBounds:
    """Bounds of problems that may share authors, by a bootstrap over these."""

    def draw(self, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return true ratios in bans of as many problems of each kind, and the weights of a bootstrap."""
        rng = np.random.default_rng(seed)
        same = np.arange(2 * count) < count
        bans = rng.normal(np.where(same, 2, -2), 2) / np.log(10)
        return same, bans, rng.exponential(size=(400, 2 * count))

    def test_weights_that_never_vary_give_the_empirical_bounds(self) -> None:
        same, bans, _ = self.draw(80)
        assert supported_bounds(same, bans, np.ones((3, 160))) == pytest.approx(empirical_bounds(same, bans))

    @pytest.mark.parametrize("seed", range(3))
    def test_independent_problems_give_about_the_empirical_bounds(self, seed: int) -> None:
        """Somewhat lower ones: 19 of 20 draws must support them."""
        same, bans, weights = self.draw(1000, seed)
        for found, plain in zip(supported_bounds(same, bans, weights), empirical_bounds(same, bans), strict=True):
            assert plain - 0.6 < found <= plain
            assert found > 1

    def test_a_low_quantile_of_the_draws_is_taken_by_hand(self) -> None:
        """Ten of each kind. As they are, a ratio of 1 ban has log10(0.4 x 11) behind it.

        In the second draw only half as much weight is on those who have it. The bound that 95% of the draws support is
        19/20 of the way from the higher to the lower.
        """
        same = np.array([True] * 10 + [False] * 10)
        bans = np.array([1.0] * 4 + [0.1] * 6 + [-1.0] * 10)
        weights = np.ones((2, 20))
        weights[1, :4] = 0.375  # 1.5 of 7.5
        high, low = np.log10(0.4 * 11), np.log10(0.2 * 11)
        assert supported_bounds(same, bans, weights).same == pytest.approx(low + 0.05 * (high - low))

    @pytest.mark.parametrize("seed", range(3))
    def test_copies_of_problems_do_not_raise_the_bounds(self, seed: int) -> None:
        """By problems they would: ten times as many seem to be there."""
        same, bans, weights = self.draw(200, seed)
        once = supported_bounds(same, bans, weights)
        copied = np.repeat(same, 10), np.repeat(bans, 10)
        again = supported_bounds(*copied, np.repeat(weights, 10, axis=1))
        for one, many in zip(once, again, strict=True):
            assert one - 0.15 < many < one + 0.02
        apart = supported_bounds(*copied, np.random.default_rng(seed).exponential(size=(400, 4000)))
        assert max(apart) > max(once) + 0.1

    @pytest.mark.parametrize(("count", "copies"), [(10, 1), (50, 1), (50, 20), (1000, 1)])
    def test_a_bound_is_never_above_what_one_misleading_independent_problem_would_allow(
        self, count: int, copies: int
    ) -> None:
        """Ratios that are never misleading, and as high as they can be."""
        rng = np.random.default_rng(0)
        same = np.arange(2 * count) < count
        bans, weights = np.where(same, 99.0, -99.0) + rng.normal(size=2 * count), rng.exponential(size=(400, 2 * count))
        for bound in supported_bounds(*(np.repeat(each, copies, axis=-1) for each in (same, bans, weights))):
            assert np.log10(count / 3) < bound < np.log10(count + 1) + 0.05

    def test_a_few_misleading_authors_with_many_problems_bound_ratios_as_those_few(self) -> None:
        """A tenth of the problems mislead: those of one author, or of a hundred."""
        same = np.arange(2000) < 1000
        bans = np.where(same, 1.0, -1.0) + np.random.default_rng(0).normal(0, 0.05, 2000)
        bans[1000:1100] += 1.7  # 0.7 bans for the same author
        rng = np.random.default_rng(1)
        spread = rng.exponential(size=(400, 2000))
        together = spread.copy()
        together[:, 1000:1100] = rng.exponential(size=(400, 1))
        apart, few = (supported_bounds(same, bans, weights).same for weights in (spread, together))
        assert few < apart - 0.1

    @pytest.mark.parametrize("value", [-1.0, 0.0])
    def test_equal_misleading_ratios_still_support_what_is_above_them(self, value: float) -> None:
        """Their share never varies, which is no reason to count them as none."""
        same = np.arange(200) < 100
        bans = np.where(same, np.linspace(0.3, 0.9, 200), value)
        weights = np.random.default_rng(0).exponential(size=(200, 200))
        assert 0.5 < supported_bounds(same, bans, weights).same < 0.9

    def test_ratios_that_say_nothing_or_the_contrary_support_nothing(self) -> None:
        same, bans, weights = self.draw(50)
        assert supported_bounds(same, np.zeros(100), weights) == (0, 0)
        assert supported_bounds(same, -bans, weights) == pytest.approx((0, 0))


def test_problems_without_a_score_take_no_part() -> None:
    scores, truth = draw(1, 30, 30)
    made = fit([*scores, np.nan], [*truth, True])
    assert made == fit(scores, truth)


def test_corpora_count_the_same() -> None:
    weights = weigh_corpora(["a", "a", "a", "b", "b"], [True, True, False, True, False])
    assert weights.tolist() == [0.5, 0.5, 1, 1, 1]
    # a large corpus of useless scores beside a small one of good ones: halfway, not drowned
    good, good_truth = draw(3, 50, 50)
    bad, bad_truth = draw(0, 500, 500)
    scores, truth = np.append(good, bad), good_truth + bad_truth
    even = weigh_corpora(["good"] * 100 + ["bad"] * 1000, truth)
    assert fit(scores, truth, weights=even).slope > 2 * fit(scores, truth).slope


def test_doubtful_answers_are_left_undecided() -> None:
    """A score of 1 or -1 is always right, one of 0.1 or -0.1 half the times: saying nothing there earns more."""
    scores = [1.0] * 30 + [-1.0] * 30 + [0.1, -0.1] * 20
    truth = [True] * 30 + [False] * 30 + [True, True, False, False] * 10
    made = fit(scores, truth)
    assert undecided(made, llr_bans(made, [1.0, -1.0, 0.1, -0.1])).tolist() == [False, False, True, True]


@pytest.mark.parametrize(("yes", "no"), [(4, 50), (50, 4), (0, 50), (50, 0), (0, 0)])
def test_too_few_problems_are_refused(yes: int, no: int) -> None:
    scores, truth = draw(1, yes, no)
    with pytest.raises(TooLittleText, match=f"there are {yes} and {no}") as refusal:
        fit(scores, truth)
    assert refusal.value.remedy


def test_many_problems_of_one_text_are_too_few() -> None:
    scores, truth = draw(1, 50, 50)
    with pytest.raises(TooLittleText, match="there are 1 and 1"):
        fit(scores, truth, known=[["the only one"]] * 100)
