from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.errors import SettingsError
from byline.judgment.likelihood_ratio import (
    best_radius,
    choose_radius,
    describe_ratio,
    format_ratio,
    parse_prior,
    probability,
)
from byline.judgment.metrics import c_at_1


@pytest.mark.parametrize(
    ("least", "greatest", "words"),
    [
        (1 / 1.99, 1.99, "no support either way"),
        (2, 9.99, "weak support for the same author"),
        (10, 99.9, "moderate support for the same author"),
        (100, 999, "moderately strong support for the same author"),
        (1_000, 9_999, "strong support for the same author"),
        (10_000, 999_999, "very strong support for the same author"),
        (1_000_000, 1e300, "extremely strong support for the same author"),
        (1 / 2.01, 1 / 9.99, "weak support for another author"),
        (1 / 11, 1 / 99, "moderate support for another author"),
        (1e-7, 1e-300, "extremely strong support for another author"),
    ],
)
def test_the_verbal_scale_and_its_borders(least: float, greatest: float, words: str) -> None:
    assert [describe_ratio(float(np.log10(ratio))) for ratio in (least, greatest)] == [words, words]


def test_probability_by_hand() -> None:
    # a ratio of 10 makes of a prior of 1 to 3 odds of 10 to 3
    assert probability([1.0], 0.25) == pytest.approx([10 / 13])
    assert probability([-1.0, 0.0, 1.0]) == pytest.approx([1 / 11, 0.5, 10 / 11])
    assert probability([0.0], 0.125) == pytest.approx([0.125])
    assert probability([0.0])[0] == 0.5
    assert probability([400.0, -400.0]).tolist() == [1.0, 0.0]


def test_a_prior_is_read_from_text() -> None:
    assert parse_prior("0.2") == parse_prior(0.2) == 0.2


@pytest.mark.parametrize("prior", ["0", "1", 0.0, 1.0, -0.1, "nan", "inf", "half", "50%", ""])
def test_an_invalid_prior_is_refused(prior: str | float) -> None:
    with pytest.raises(SettingsError) as refusal:
        parse_prior(prior)
    assert refusal.value.where == "prior"
    assert refusal.value.remedy


def test_an_invalid_prior_is_refused_where_it_is_used() -> None:
    with pytest.raises(SettingsError, match="got 1"):
        probability([0.0], 1)


def test_a_radius_by_hand() -> None:
    # all answered: 3.52 of 4, .88; without the doubtful one 2.97 x 5/4 of 4, .928
    radius = choose_radius([0.99, 0.01, 0.99, 0.55])
    assert [abs(p - 0.5) < radius for p in (0.99, 0.01, 0.55)] == [False, False, True]


@pytest.mark.parametrize("chances", [[0.8, 0.8, 0.2], [0.7], [0.5, 0.5], []])
def test_nothing_is_left_undecided_if_that_gains_nothing(chances: list[float]) -> None:
    assert choose_radius(chances) == 0


CHANCES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.2, 0.5, 0.7, 0.8, 1.0])), min_size=1, max_size=12)


@given(CHANCES)
def test_the_radius_is_as_good_as_trying_every_one(chances: list[float]) -> None:
    def expected(radius: float) -> tuple[float, int]:
        answered = [max(p, 1 - p) for p in chances if p != 0.5 and abs(p - 0.5) >= radius]
        n, undecided = len(chances), len(chances) - len(answered)
        return (sum(answered) + undecided * sum(answered) / n) / n, undecided

    tried = [expected(radius) for radius in {0.0, *(abs(p - 0.5) for p in chances)}]
    value, undecided = expected(choose_radius(chances))
    best = max(value for value, _ in tried)
    assert value == pytest.approx(best, abs=1e-9)
    assert undecided == min(undecided for value, undecided in tried if value >= best - 1e-13)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.4, 0.5, 0.55, 0.8, 1.0])), min_size=1))
def test_the_best_radius_for_a_known_truth_is_that_of_c_at_1(pairs: list[tuple[bool, float]]) -> None:
    truth, chances = [same for same, _ in pairs], np.array([chance for _, chance in pairs])

    def reached(radius: float) -> float:
        return c_at_1(truth, np.where(np.abs(chances - 0.5) < radius, 0.5, chances).tolist())

    found = best_radius(chances, ((chances > 0.5) == np.array(truth)).astype(np.float64))
    assert 0 <= found <= 0.5
    assert reached(found) == pytest.approx(max(reached(radius) for radius in (0, *np.abs(chances - 0.5))))


@pytest.mark.parametrize(
    ("bans", "words"), [(0.0, "1.0"), (0.3, "2.0"), (-0.58, "3.8"), (1.0, "10"), (2.57, "372"), (-4.0, "10,000")]
)
def test_a_ratio_is_written_with_few_digits(bans: float, words: str) -> None:
    assert format_ratio(bans) == words
