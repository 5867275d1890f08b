from __future__ import annotations

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.judgment.metrics import auc, c_at_1, cllr, log_ratios
from byline.judgment.resampling import compare_draws, interval, measure_draws, weigh, weigh_problems, weigh_texts

TRUTH = [True, True, True, False, False, False]
ANSWERS = [0.9, 0.6, 0.5, 0.6, 0.5, 0.1]


@pytest.mark.parametrize(("factor", "repeats"), [(0.7, [1] * 6), (1.0, [1, 2, 1, 1, 3, 1])])
def test_a_weight_of_two_is_a_problem_that_is_there_twice(factor: float, repeats: list[int]) -> None:
    truth, answers = np.repeat(TRUTH, repeats).tolist(), np.repeat(ANSWERS, repeats).tolist()
    drawn = measure_draws(TRUTH, ANSWERS, factor * np.array([repeats], np.float64))
    assert drawn["auc"][0] == pytest.approx(auc(truth, answers))
    assert drawn["c_at_1"][0] == pytest.approx(c_at_1(truth, answers))
    assert drawn["product"][0] == pytest.approx(auc(truth, answers) * c_at_1(truth, answers))
    assert drawn["cllr"][0] == pytest.approx(cllr(truth, log_ratios(answers)))


def test_problems_that_share_both_texts_weigh_the_same() -> None:
    weights = weigh(["a", "a", "b", "a"], ["x", "x", "x", "y"], np.random.default_rng(0), 50)
    np.testing.assert_array_equal(weights[:, 0], weights[:, 1])
    assert not np.allclose(weights[:, 0], weights[:, 2])
    assert not np.allclose(weights[:, 0], weights[:, 3])


def test_problems_that_share_texts_make_the_interval_wider() -> None:
    """The same answers, as from a hundred texts and as from ten that each decide the answers of ten problems."""
    rng = np.random.default_rng(1)
    truth = [number % 2 == 0 for number in range(100)]
    by_text = rng.normal(size=10)
    answers = [0.4 + 0.1 * same + 0.1 * float(by_text[number // 10]) for number, same in enumerate(truth)]
    widths = []
    for shared in (1, 10):
        problems = [
            Problem(str(n), (Document("k", f"known {n}"),), Document("u", f"unknown {n // shared}"), "english")
            for n in range(100)
        ]
        found = interval(measure_draws(truth, answers, weigh_texts(problems, np.random.default_rng(0)))["auc"])
        assert found.low < auc(truth, answers) < found.high
        widths.append(found.high - found.low)
    assert widths[1] > 1.3 * widths[0]


def test_a_problem_that_shares_nothing_has_one_weight() -> None:
    weights = weigh(["a", "b", "b"], ["x", "y", "z"], np.random.default_rng(0), 20_000)
    assert weights[:, 0].var() == pytest.approx(1, abs=0.1)
    assert weights[:, 1].var() == pytest.approx(3, abs=0.4)


def test_intervals_hold_the_truth_about_as_often_as_they_say() -> None:
    """Of 200 corpora of 60 problems drawn from the same two distributions, about 95 in 100."""
    rng = np.random.default_rng(3)
    truth = [True] * 30 + [False] * 30
    wanted = 0.7602  # the chance that a normal with mean 1 lies above one with mean 0
    held = 0
    for _ in range(200):
        answers = 1 / (1 + np.exp(-(rng.normal(size=60) + np.array(truth))))
        found = interval(measure_draws(truth, answers.tolist(), weigh_problems(60, rng, 400))["auc"])
        held += found.low <= wanted <= found.high
    assert 176 <= held <= 199


def test_one_system_against_another() -> None:
    weights = weigh_problems(6, np.random.default_rng(0))
    good = measure_draws(TRUTH, [0.9, 0.8, 0.7, 0.3, 0.2, 0.1], weights)["product"]
    bad = measure_draws(TRUTH, ANSWERS, weights)["product"]
    found = compare_draws(good, bad, 1 - 7 / 9 * 4 / 6)
    assert found.higher > 0.95
    assert found.interval.low <= found.difference <= found.interval.high
    assert compare_draws(bad, good, -0.1).higher < 0.05
    assert compare_draws(good, good, 0.0).higher == 0.5


def test_what_differs_by_rounding_only_is_equal() -> None:
    draws = np.array([1.0, 1.0 - 2e-16, 1.0 + 2e-16, 1.0])
    found = compare_draws(draws, np.ones(4), 0.0)
    assert (found.higher, found.interval.low, found.interval.high) == (0.5, 0.0, 0.0)
