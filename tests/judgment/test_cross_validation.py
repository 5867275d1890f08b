from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from byline.errors import TooLittleText
from byline.judgment.calibration_fitting import Trials, assign_folds, count_independent, fold_groups, text_groups

KEYS = st.lists(st.frozensets(st.integers(0, 12), max_size=3), max_size=15)


def make_trials(texts: list[tuple[str, str]], same: list[bool]) -> Trials:
    count = len(texts)
    held = tuple(frozenset(pair) for pair in texts)
    return Trials(np.arange(count) * 1.0, np.array(same), np.ones(count), held, tuple(unknown for _, unknown in texts))


def test_problems_that_share_a_text_are_together() -> None:
    assert text_groups([{"a", "b"}, {"c"}, {"b", "d"}, {"e"}, {"d"}, {"c", "e"}]) == [0, 1, 0, 1, 0, 1]
    assert text_groups([["a"], [], ["a"], []]) == [0, 1, 0, 2]
    assert text_groups([]) == []


@given(KEYS)
def test_groups_share_no_text_and_can_not_be_parted(keys: list[frozenset[int]]) -> None:
    groups = text_groups(keys)
    held = [frozenset().union(*(k for k, g in zip(keys, groups, strict=True) if g == number)) for number in set(groups)]
    assert sum(map(len, held)) == len(frozenset().union(*held))
    assert sorted(set(groups)) == list(range(len(held)))
    for number in set(groups):
        inside = [k for k, group in zip(keys, groups, strict=True) if group == number]
        reached, before = set(inside[0]), -1
        while len(reached) > before:
            before = len(reached)
            reached.update(*(k for k in inside if reached & k))
        assert all(k <= reached for k in inside)
        assert len(inside) == 1 or all(inside)


def test_counting_independent_problems_by_hand() -> None:
    assert count_independent([{"k1", "u1"}, {"k2", "u2"}]) == 2
    assert count_independent([{"k", f"u{number}"} for number in range(9)]) == 1  # one author against nine texts
    # three known by four unknown texts: three pairs at the most
    assert count_independent([{f"k{one}", f"u{other}"} for one in range(3) for other in range(4)]) == 3
    assert count_independent([{1, 2}, {2, 3}, {3, 4}]) == 2  # the ends are picked, not the middle
    assert count_independent([]) == 0


@given(KEYS)
def test_there_are_at_least_as_many_independent_problems_as_groups(keys: list[frozenset[int]]) -> None:
    assert len(set(text_groups(keys))) <= count_independent(keys) <= len(keys)


def test_folds_hold_out_each_problem_once_and_no_text_that_is_trained_on() -> None:
    rng = np.random.default_rng(0)
    texts = [(f"k{rng.integers(60)}", f"u{number}") for number in range(90)]
    trials = make_trials(texts, (rng.random(90) < 0.3).tolist())
    groups, by = fold_groups(trials)
    assert by == "texts"
    held = []
    for training, left_out in assign_folds(groups, trials.same):
        assert not frozenset().union(*trials.at(training).texts) & frozenset().union(*trials.at(left_out).texts)
        assert len(training) + len(left_out) == 90
        assert 1 <= trials.same[left_out].sum() <= 4  # yes and no are dealt evenly
        held += left_out.tolist()
    assert sorted(held) == list(range(90))


@pytest.mark.parametrize("shared", ["all", "yes"])
def test_if_most_problems_hang_together_folds_go_by_the_unknown_text(shared: str) -> None:
    """Of all problems, or of the yes problems alone."""
    same = [number % 4 == 0 for number in range(40)]
    texts = [(f"k{0 if yes or shared == 'all' else n}", f"u{n % 13}{yes}") for n, yes in enumerate(same)]
    groups, by = fold_groups(make_trials(texts, same))
    assert by == "unknown"
    assert groups == text_groups([{unknown} for _, unknown in texts])


def test_folds_that_would_leave_one_kind_only_are_refused() -> None:
    for groups, same in (([0, 0, 1, 2, 3], [True, True, False, False, False]), ([0, 0], [True, False])):
        with pytest.raises(TooLittleText, match="share texts") as refusal:
            list(assign_folds(groups, np.array(same)))
        assert refusal.value.remedy
