from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.errors import SettingsError
from byline.likelihood import best_radius, decide, parse_prior, probability, times, verbal
from byline.metrics import c_at_1


@pytest.mark.parametrize(
    ("ratio", "words"),
    [
        (1, "no support either way"),
        (1.99, "no support either way"),
        (2, "weak support for the same author"),
        (9.99, "weak support for the same author"),
        (10, "moderate support for the same author"),
        (100, "moderately strong support for the same author"),
        (999, "moderately strong support for the same author"),
        (1_000, "strong support for the same author"),
        (10_000, "very strong support for the same author"),
        (999_999, "very strong support for the same author"),
        (1_000_000, "extremely strong support for the same author"),
        (1e300, "extremely strong support for the same author"),
        (1 / 1.99, "no support either way"),
        (1 / 2.01, "weak support for another author"),
        (1 / 11, "moderate support for another author"),
        (1e-300, "extremely strong support for another author"),
    ],
)
def test_the_verbal_scale_and_its_borders(ratio: float, words: str) -> None:
    assert verbal(float(np.log10(ratio))) == words


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
def test_a_prior_that_is_none_is_refused(prior: str | float) -> None:
    with pytest.raises(SettingsError, match=r"prior must be more than 0 and less than 1, got .*; 0\.5 takes neither"):
        parse_prior(prior)


def test_a_bad_prior_is_refused_where_it_is_used() -> None:
    with pytest.raises(SettingsError, match="got 1"):
        probability([0.0], 1)


def test_deciding_by_hand() -> None:
    # all answered: 3.52 of 4, .88; without the doubtful one 2.97 x 5/4 of 4, .928
    radius = decide([0.99, 0.01, 0.99, 0.55])
    assert [abs(p - 0.5) < radius for p in (0.99, 0.01, 0.55)] == [False, False, True]


def test_nothing_is_left_out_where_that_gains_nothing() -> None:
    assert decide([0.8, 0.8, 0.2]) == 0
    assert decide([0.7]) == 0
    assert decide([0.5, 0.5]) == 0
    assert decide([]) == 0


CHANCES = st.lists(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.2, 0.5, 0.7, 0.8, 1.0])), min_size=1, max_size=12)


@given(CHANCES)
def test_deciding_is_as_good_as_trying_every_radius(chances: list[float]) -> None:
    def expected(radius: float) -> tuple[float, int]:
        answered = [max(p, 1 - p) for p in chances if p != 0.5 and abs(p - 0.5) >= radius]
        n, undecided = len(chances), len(chances) - len(answered)
        return (sum(answered) + undecided * sum(answered) / n) / n, undecided

    tried = [expected(radius) for radius in {0.0, *(abs(p - 0.5) for p in chances)}]
    value, undecided = expected(decide(chances))
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


def test_a_ratio_is_read_as_so_many_times() -> None:
    assert [times(bans) for bans in (0.0, 0.3, -0.58, 1.0, 2.57, -4.0)] == ["1.0", "2.0", "3.8", "10", "372", "10,000"]
