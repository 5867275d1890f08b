"""Ratios of whole corpora: strength, weights of norms, slope and midpoint, by hand; and the built-in coefficients."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from byline.errors import SettingsError
from byline.judgment.whole_corpora import (
    QUALITIES,
    STEEPEST,
    CorpusCoefficients,
    CorpusScale,
    builtin_corpus_coefficients,
    corpus_coefficient_values,
    measure_corpus,
    measure_strength,
    rate_corpus,
    read_corpus_coefficients,
    weigh_norms,
)
from byline.storage.files import checked_json

NAN = float("nan")
MADE = CorpusCoefficients(2.0, {"constant": 0.5, "strength": 1.0}, {"median": 0.25, "middle": 0.5}, ("made up",))


@pytest.mark.parametrize(
    ("scores", "wanted"), [([1, 3, NAN], 2), ([-1, -3], -2), ([], 0), ([0.7], 0), ([NAN, NAN], 0), ([NAN, 0.7], 0)]
)
def test_strength_is_the_mean_over_the_standard_deviation(scores: list[float], wanted: float) -> None:
    assert measure_strength(np.array(scores, np.float64)) == pytest.approx(wanted)


@pytest.mark.parametrize("count", [2, 3, 6, 7])
def test_equal_scores_have_no_strength(count: int) -> None:
    """The mean of equal numbers is off by the last bit for some counts; that must not be divided by."""
    for score in (0.1, 0.7, 1.0):
        assert measure_strength(np.full(count, score)) == 0


class TestWeights:
    def test_they_are_a_softmax_of_how_many_standard_errors_asked_pairs_stand_out(self) -> None:
        """Four scores with strengths 1/2 and 3/4 stand out by 1 and 3/2 standard errors."""
        signs = np.array([-1.0, 1, -1, 1])
        weights = weigh_norms(np.array([signs + 0.5, signs + 0.75]), MADE)
        assert weights == pytest.approx(np.exp([0, 1]) / np.exp([0, 1]).sum())

    def test_without_a_preference_they_are_equal(self) -> None:
        scores = np.random.default_rng(0).normal(1, 1, (2, 9))
        assert weigh_norms(scores, replace(MADE, preference=0.0)).tolist() == [0.5, 0.5]

    def test_a_single_norm_has_the_weight_1(self) -> None:
        assert weigh_norms(np.array([[NAN, 0.1, 5]])).tolist() == [1]

    def test_the_more_problems_the_clearer(self) -> None:
        few = np.array([[-1.0, 2], [-1, 3]])
        assert weigh_norms(np.tile(few, 20))[1] > weigh_norms(few)[1] > 0.5

    def test_without_scores_norms_are_alike(self) -> None:
        assert weigh_norms(np.full((2, 3), NAN)).tolist() == [0.5, 0.5]


class TestScale:
    def test_slope_and_midpoint_by_hand(self) -> None:
        """The mean of 0 to 10 is 5, the variance 10; the median is 5, and the quantiles are 1 and 9."""
        scale = rate_corpus(np.array([*range(11), NAN], np.float64), MADE)
        assert scale.strength == pytest.approx(5 / np.sqrt(10))
        assert scale.slope == pytest.approx(np.exp(0.5 + 5 / np.sqrt(10)))
        assert scale.midpoint == pytest.approx(0.25 * 5 + 0.5 * 5)
        assert scale.apply(np.array([4.0])) == pytest.approx([scale.slope * (4 - 3.75)])

    def test_the_middle_depends_less_on_the_share_of_yes_than_the_median(self) -> None:
        rng = np.random.default_rng(0)
        yes, no = rng.normal(3, 0.5, 100), rng.normal(0, 0.5, 100)
        half, most = (measure_corpus(np.concatenate([yes, no[:count]])) for count in (100, 25))
        assert most["median"] - half["median"] > 1
        assert most["middle"] - half["middle"] < 0.5

    def test_a_steep_slope_is_limited(self) -> None:
        assert rate_corpus(np.arange(9.0), replace(MADE, slope={"constant": 99.0})).slope == np.exp(STEEPEST)

    def test_without_scores_there_is_still_a_scale(self) -> None:
        assert measure_corpus(np.array([NAN])) == dict.fromkeys(QUALITIES, 0.0) | {"constant": 1.0}
        assert rate_corpus(np.array([NAN]), MADE) == CorpusScale(np.exp(0.5), 0.0, 0.0)


class TestBuiltIn:
    def test_higher_scores_mean_higher_ratios(self) -> None:
        scores = np.random.default_rng(0).normal(1, 1, 30)
        scale = rate_corpus(scores)
        assert scale.slope > 0
        assert scores.min() < scale.midpoint < scores.max()

    def test_a_corpus_in_which_most_answers_are_yes_keeps_its_midpoint_between_yes_and_no(self) -> None:
        rng = np.random.default_rng(0)
        for yes, no in ((50, 50), (80, 20), (20, 80), (8, 4)):
            scores = np.concatenate([rng.normal(2.5, 0.6, yes), rng.normal(0, 0.6, no)])
            assert 0 < rate_corpus(scores).midpoint < 2.5

    def test_few_scores_have_a_finite_scale(self) -> None:
        for count in (1, 2, 5):
            scale = rate_corpus(np.arange(count) + 0.5)
            assert np.isfinite([scale.slope, scale.midpoint]).all()

    def test_they_name_the_corpora_that_they_were_fitted_to(self) -> None:
        assert len(builtin_corpus_coefficients().corpora) == 10


class TestFiles:
    def test_what_is_written_is_read_again(self, tmp_path: Path) -> None:
        path = tmp_path / "coefficients.json"
        path.write_bytes(checked_json(corpus_coefficient_values(MADE)))
        assert read_corpus_coefficients(path) == MADE

    @pytest.mark.parametrize(
        "changes",
        [{"slope": 3}, {"preference": -1}, {"preference": "much"}, {"slope": {"beauty": 1}}, {"corpora": 1},
         {"midpoint": {"median": float("inf")}}],
    )  # fmt: skip
    def test_what_holds_no_coefficients_is_refused(self, tmp_path: Path, changes: dict[str, object]) -> None:
        path = tmp_path / "coefficients.json"
        path.write_bytes(checked_json({**corpus_coefficient_values(MADE), **changes}))
        with pytest.raises(SettingsError, match="is not a file of coefficients"):
            read_corpus_coefficients(path)

    def test_a_value_is_missing(self, tmp_path: Path) -> None:
        path = tmp_path / "coefficients.json"
        path.write_bytes(checked_json({"slope": {}}))
        with pytest.raises(SettingsError, match="is not a file of coefficients"):
            read_corpus_coefficients(path)
