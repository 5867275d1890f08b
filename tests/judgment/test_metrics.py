from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics

from byline.errors import AnswersError
from byline.judgment.metrics import (
    Measures,
    Reliability,
    auc,
    average,
    brier,
    c_at_1,
    cllr,
    cllr_min,
    eer,
    f05u,
    f1,
    log_ratios,
    measure,
    reliability,
    tippett,
)

TRUTH = [True, True, True, False, False, False]
ANSWERS = [0.9, 0.6, 0.5, 0.6, 0.5, 0.1]


def test_auc_by_hand() -> None:
    # pairs yes/no: .9 beats all three; .6 ties, beats, beats; .5 loses, ties, beats: 3 + 2.5 + 1.5 of 9
    assert auc(TRUTH, ANSWERS) == pytest.approx(7 / 9)


def test_c_at_1_by_hand() -> None:
    # 3 right (.9, .6, .1), 2 undecided: (3 + 2 x 3/6) / 6
    assert c_at_1(TRUTH, ANSWERS) == pytest.approx(4 / 6)
    assert c_at_1([True, False], [0.9, 0.9]) == 0.5
    assert c_at_1([True, False], [0.5, 0.5]) == 0.0


def test_f05u_by_hand() -> None:
    # 2 true positives, 1 false positive, no false negative, 2 undecided: 2.5 / (2.5 + .5 + 1)
    assert f05u(TRUTH, ANSWERS) == pytest.approx(2.5 / 4)
    assert f05u([True, False], [0.1, 0.1]) == 0.0


def test_f1_by_hand() -> None:
    # decided: yes yes no no as yes yes yes no: precision 2/3, recall 1
    assert f1(TRUTH, ANSWERS) == pytest.approx(0.8)
    assert f1([True, False], [0.5, 0.5]) == 0.0


def test_brier_by_hand() -> None:
    assert brier(TRUTH, ANSWERS) == pytest.approx(1 - (0.01 + 0.16 + 0.25 + 0.36 + 0.25 + 0.01) / 6)


def test_all_measures_together() -> None:
    measures = measure(TRUTH, ANSWERS)
    assert measures.problems == 6
    assert measures.undecided == 2
    assert measures.product == pytest.approx(7 / 9 * 4 / 6)
    parts = [measures.auc, measures.c_at_1, measures.f05u, measures.f1, measures.brier]
    assert measures.overall == pytest.approx(np.mean(parts))


def test_one_kind_of_truth_is_refused() -> None:
    with pytest.raises(AnswersError, match="both yes and no"):
        measure([True, True], [0.1, 0.9])


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.500001, 0.8, 1.0])), min_size=2))
def test_agreement_with_scikit_learn(pairs: list[tuple[bool, float]]) -> None:
    truth, answers = [same for same, _ in pairs], [answer for _, answer in pairs]
    assume(any(truth) and not all(truth))
    assert auc(truth, answers) == pytest.approx(sklearn_metrics.roc_auc_score(truth, answers))
    assert brier(truth, answers) == pytest.approx(1 - sklearn_metrics.brier_score_loss(truth, answers))
    decided = [(same, answer > 0.5) for same, answer in pairs if answer != 0.5]
    if decided:
        wanted = sklearn_metrics.f1_score([s for s, _ in decided], [a for _, a in decided], zero_division=0)
        assert f1(truth, answers) == pytest.approx(wanted)
    if 0.5 not in answers:
        said = [answer > 0.5 for answer in answers]
        assert c_at_1(truth, answers) == pytest.approx(sklearn_metrics.accuracy_score(truth, said))
        wanted = sklearn_metrics.fbeta_score(truth, said, beta=0.5, zero_division=0)
        assert f05u(truth, answers) == pytest.approx(wanted)


def test_the_papers_table_3_gives_its_table_2() -> None:
    """Dutch, English, Greek, Spanish: AUC, C@1 and problems; macro .628 and micro .608 in Table 2."""
    rows = [(0.70, 0.64, 165), (0.81, 0.76, 500), (0.88, 0.85, 100), (0.89, 0.81, 100)]
    averages = average([Measures(n, 0, a, c, 0, 0, 0, 0, 0, 0) for a, c, n in rows])
    assert averages.macro == pytest.approx(0.628, abs=0.002)
    assert averages.micro == pytest.approx(0.608, abs=0.002)
    assert averages.mean_product == pytest.approx(np.mean([a * c for a, c, _ in rows]))


def test_cllr_by_hand() -> None:
    assert cllr([True, False], [0.0, 0.0]) == 1.0
    # ratios 3 and 1/3 in favor of the truth, 1 that says nothing: yes costs log2(1 + 1/3), no the mean of it and 1
    cost = np.log2(4 / 3)
    assert cllr([True, False, False], [np.log(3), -np.log(3), 0.0]) == pytest.approx((cost + (cost + 1) / 2) / 2)
    assert cllr([True, False], [-np.log(3), np.log(3)]) == pytest.approx(2)  # wrong both times: log2(1 + 3)


def test_answers_of_0_and_1_are_not_taken_for_certainty() -> None:
    ratios = log_ratios([0.0, 0.5, 1.0])
    assert ratios[1] == 0
    assert [ratios[2], -ratios[0]] == pytest.approx([np.log(0.9995 / 0.0005)] * 2)
    assert np.isfinite(measure([False, True], [1.0, 0.0]).cllr)


def test_cllr_min_by_hand() -> None:
    assert cllr_min([True, True, False], [3.0, 2.0, 1.0]) == 0.0
    assert cllr_min([True, False, True, False], [1.0, 1.0, 1.0, 1.0]) == pytest.approx(1.0)
    # highest no, then yes, then no: the best monotone chances are 1/2, 1/2, 0; at prior 1/3 that is a ratio of 2
    expected = (np.log2(1 + 1 / 2) + (np.log2(1 + 2) + 0) / 2) / 2
    assert cllr_min([False, True, False], [3.0, 2.0, 1.0]) == pytest.approx(expected)


@given(st.lists(st.tuples(st.booleans(), st.floats(-20, 20)), min_size=2, max_size=30))
def test_no_monotone_calibration_beats_cllr_min(pairs: list[tuple[bool, float]]) -> None:
    truth, ratios = [same for same, _ in pairs], np.array([ratio for _, ratio in pairs])
    assume(any(truth) and not all(truth))
    least = cllr_min(truth, ratios)
    assert 0 <= least <= 1 + 1e-9
    for other in (ratios, 0.3 * ratios, 2 * ratios + 1, np.tanh(ratios)):
        assert least <= cllr(truth, other) + 1e-9


def test_eer_by_hand() -> None:
    assert eer([True, False], [0.9, 0.1]) == 0.0
    assert eer([True, False], [0.1, 0.9]) == 1.0
    assert eer([True, True, False, False], [0.8, 0.4, 0.6, 0.2]) == 0.5
    assert eer([True, False], [0.5, 0.5]) == 0.5
    # three yes, three no; from .6 on: one of three missed, one of three accused
    assert eer(TRUTH, [0.9, 0.7, 0.3, 0.6, 0.2, 0.1]) == pytest.approx(1 / 3)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0])), min_size=2))
def test_eer_does_not_depend_on_which_side_is_called_yes(pairs: list[tuple[bool, float]]) -> None:
    truth, answers = [same for same, _ in pairs], [answer for _, answer in pairs]
    assume(any(truth) and not all(truth))
    turned = eer([not same for same in truth], [1 - answer for answer in answers])
    assert eer(truth, answers) == pytest.approx(turned)


def test_the_data_of_a_calibration_plot() -> None:
    rows = reliability([True, False, True, True], [0.05, 0.07, 0.95, 1.0])
    assert rows == [Reliability(2, pytest.approx(0.06), 0.5), Reliability(2, pytest.approx(0.975), 1.0)]
    assert Reliability(10, 0.75, 0.8).interval == pytest.approx((0.4902, 0.9433), abs=1e-4)  # Wilson's
    assert Reliability(1, 0.1, 0.0).interval == pytest.approx((0, 0.7935), abs=1e-4)


def test_the_data_of_a_tippett_plot() -> None:
    curves = tippett([True, True, False], [0, 1, -1])
    assert curves.bans == (-1, 0, 1)
    assert curves.same == (1.0, 1.0, 0.5)
    assert curves.different == (1.0, 0.0, 0.0)
