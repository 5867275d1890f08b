"""Probabilities of candidate authors: levels, weights, and none of these, by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit, softmax

from byline.engines.matrix import Flags, Table
from byline.judgment import candidates
from byline.judgment.candidates import (
    CandidateCalibration,
    Tables,
    calibrate_candidates,
    fuse_scores,
    normalize_values,
    probabilities,
)
from byline.settings.settings import Settings

NGRAM = Settings(engine="ngram")


def tables_of(
    members: Sequence[Sequence[Sequence[float]]] | Table, owners: Sequence[int], seen: Flags | None = None
) -> Tables:
    values = np.array(members, np.float64)
    return Tables(values, np.zeros(values.shape, np.bool_) if seen is None else seen, np.array(owners, np.int64))


# Three texts of three authors, each by another: what is left beside levels and the own amount is 3, and cancels in each
# row, in each column and on the diagonal. Its mean square is 6 x 9 / 9 = 6.
REST = np.array([[0.0, 3, -3], [-3, 0, 3], [3, -3, 0]])
HEADS = np.array([0.5, -0.25, -0.25])
DRAWN = np.random.default_rng(1).normal(size=(2, 9, 4))
OWNERS = [0, 0, 1, 1, 2, 3, 3, -1, -1]


def three_authors(asked: Sequence[Sequence[float]], own: float = -2.0, heads: Table = HEADS) -> Table:
    """(texts, authors): the three texts, and then some that are asked about, given without their levels."""
    known = np.array([[1.0], [5], [3]]) + heads + own * np.eye(3) + REST
    return np.concatenate([known, 7 + heads + np.array(asked, np.float64)])


class TestRelative:
    def test_what_is_left_by_hand(self) -> None:
        """The asked text's values are 1 better, 0 and 1 worse than its level. The usual size, of mean square 6, counts
        like 5 heads: (2 + 5 x 6) / (3 + 5) = 4, a deviation of 2.
        """
        tables = tables_of([three_authors([[-1, 0, 1]])], [0, 1, 2, -1])
        np.testing.assert_allclose(normalize_values(tables)[0, 3], [0.5, 0, -0.5])

    def test_an_authors_own_text_by_hand(self) -> None:
        """Without its level the first row is -2, 0 and 0 beside 0, 3 and -3; less the mean: -4/3, 11/3 and -7/3.

        Squares (16 + 121 + 49) / 9 = 62 / 3, with the usual ones over 8.
        """
        tables = tables_of([three_authors([[0, 0, 0]])], [0, 1, 2, -1])
        scale = math.sqrt((62 / 3 + 30) / 8)
        np.testing.assert_allclose(normalize_values(tables)[0, 0], np.array([4, -11, 7]) / 3 / scale)

    @pytest.mark.parametrize("owners", [[0, 1, 2], [0, 0, 0, 0, 0, 1, 2], [0, 0, 1, 1, 1, 1, 1, 1, 2]])
    def test_an_author_with_many_texts_is_not_taken_for_one_who_finds_everything_easy(self, owners: list[int]) -> None:
        """Levels and own amounts only: what is left of the asked text is what it was made of, -1, 0 and 1."""
        known = np.arange(len(owners))[:, None] + HEADS - 20 * np.eye(3)[owners]
        values = np.concatenate([known, [7 + HEADS + np.array([-1, 0, 1])]])
        left = normalize_values(tables_of([values], [*owners, -1]))[0, -1]
        assert left[0] > 0.5
        np.testing.assert_allclose(left / left[0], [1, 0, -1], atol=1e-4)

    @pytest.mark.parametrize("easy", [0.01, 1, 1000])
    def test_a_head_that_finds_everything_easy_gets_no_advantage(self, easy: float) -> None:
        changed = DRAWN.copy()
        changed[0, :, 2] -= easy
        one, two = (normalize_values(tables_of(values, OWNERS)) for values in (DRAWN, changed))
        np.testing.assert_allclose(two, one, atol=1e-6 * easy)
        assert (one[0, 7:].argmax(axis=1) != 2).all()
        assert (changed[0, 7:].argmin(axis=1) == 2).all() == (easy == 1000)  # by its values alone it would win

    def test_neither_hard_texts_nor_units_nor_other_asked_texts_matter(self) -> None:
        plain = normalize_values(tables_of(DRAWN, OWNERS))
        for changed in (DRAWN + np.linspace(0, 90, 9)[:, None], DRAWN * np.array([1000, 0.001])[:, None, None]):
            np.testing.assert_allclose(normalize_values(tables_of(changed, OWNERS)), plain, atol=1e-9)
        alone = normalize_values(tables_of(DRAWN[:, :8], OWNERS[:8]))
        np.testing.assert_allclose(plain[:, :8], alone, rtol=1e-12)

    def test_a_head_that_knows_a_text_counts_neither_in_its_level_nor_in_its_size(self) -> None:
        """What the other two say is 1 better and 1 worse than their mean, as if the first had said 0."""
        for known in (-100.0, 0.0, 8.0):
            values = three_authors([[known, -1, 1]])
            seen = np.zeros((1, 4, 3), np.bool_)
            seen[0, 3, 0] = True
            left = normalize_values(tables_of([values], [0, 1, 2, -1], seen))[0, 3]
            np.testing.assert_allclose(left, [0, 0.5, -0.5])  # and says nothing itself

    def test_where_nothing_is_known_values_are_compared_as_they_are(self) -> None:
        """1, 2 and 6 are -2, -1 and 3 from their mean, whose mean square is 14 / 3."""
        left = normalize_values(tables_of([[[1, 2, 6]]], [-1]))
        np.testing.assert_allclose(left, [[np.array([2, 1, -3]) / math.sqrt(14 / 3)]])

    def test_heads_that_say_the_same_are_all_at_nothing(self) -> None:
        np.testing.assert_array_equal(normalize_values(tables_of([[[4, 4], [4, 4], [4, 4]]], [0, 1, -1])), 0)


class TestTables:
    def test_without_an_author_their_texts_are_by_nobody(self) -> None:
        values = np.arange(24.0).reshape(2, 4, 3)
        seen = values % 5 == 0
        left = tables_of(values, [0, 1, 2, -1], seen).without(1)
        np.testing.assert_array_equal(left.values, values[:, :, [0, 2]])
        np.testing.assert_array_equal(left.seen, seen[:, :, [0, 2]])
        np.testing.assert_array_equal(left.owners, [0, -2, 1, -1])


class TestProbabilities:
    def test_sums_are_weighted_by_hand(self) -> None:
        """One member says 0.5, 0 and -0.5, the other the reverse."""
        tables = tables_of([three_authors([[-1, 0, 1]]), three_authors([[1, 0, -1]])], [0, 1, 2, -1])
        np.testing.assert_allclose(fuse_scores(tables, (6.0, 2.0))[3], [2, 0, -2], atol=1e-12)

    @pytest.mark.parametrize("none", [0.05, 0.5, 0.9])
    def test_chances_by_hand(self, none: float) -> None:
        """The sums are 1, 0 and -1; where the best one is at the middle, none of these stays as probable as before."""
        tables = tables_of([three_authors([[-1, 0, 1]])], [0, 1, 2, -1])
        chances, nobody = probabilities(CandidateCalibration((2.0,), 1.0, 0.5), tables, none)
        assert nobody == pytest.approx([none])
        among = np.exp([1, 0, -1]) / (math.e + 1 + 1 / math.e)
        np.testing.assert_allclose(chances, [among * (1 - none)])

    def test_a_step_above_the_middle_tells_by_the_slope(self) -> None:
        """Even odds beforehand, 2 above the middle at a slope of 0.5: odds of e against none of them."""
        tables = tables_of([three_authors([[-1, 0, 1]])], [0, 1, 2, -1])
        _, nobody = probabilities(CandidateCalibration((2.0,), -1.0, 0.5), tables, 0.5)
        assert nobody == pytest.approx([1 / (1 + math.e)])

    def test_0_means_one_of_them(self) -> None:
        tables = tables_of([three_authors([[-1, 0, 1], [0, 0, 0]])], [0, 1, 2, -1, -1])
        chances, nobody = probabilities(CandidateCalibration((2.0,), 1e6, 5.0), tables, 0)
        np.testing.assert_array_equal(nobody, 0)
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        np.testing.assert_allclose(chances[1], 1 / 3)

    @given(
        seed=st.integers(0, 10_000),
        authors=st.integers(2, 6),
        members=st.integers(1, 3),
        none=st.floats(0, 0.999),
        weight=st.floats(0, 20),
        middle=st.floats(-20, 20),
        slope=st.floats(0, 20),
    )
    def test_with_none_of_these_they_sum_to_1(
        self, seed: int, authors: int, members: int, none: float, weight: float, middle: float, slope: float
    ) -> None:
        rng = np.random.default_rng(seed)
        owners = [*range(authors), *range(authors), -1, -1, -1]
        values = rng.normal(size=(members, len(owners), authors)) * rng.choice([0, 1e-3, 1, 1e3])
        seen = rng.random(values.shape) < 0.2
        chances, nobody = probabilities(
            CandidateCalibration((weight,) * members, middle, slope), tables_of(values, owners, seen), none
        )
        assert chances.shape == (3, authors)
        assert ((chances >= 0) & (chances <= 1)).all()
        assert ((nobody >= 0) & (nobody <= 1)).all()
        np.testing.assert_allclose(chances.sum(axis=1) + nobody, 1)

    def test_the_order_of_authors_does_not_matter(self) -> None:
        turn = [2, 0, 3, 1]
        turned = [turn.index(owner) if owner >= 0 else -1 for owner in OWNERS]
        judge = CandidateCalibration((0.7, 0.4), 1.0, 1.0)
        one = probabilities(judge, tables_of(DRAWN, OWNERS), 0.1)
        two = probabilities(judge, tables_of(DRAWN[:, :, turn], turned), 0.1)
        np.testing.assert_allclose(one[0][:, turn], two[0])
        np.testing.assert_allclose(one[1], two[1])


def made(
    authors: int = 6, texts: int = 3, own: Sequence[float] = (-3.0, -3.0), seed: int = 0
) -> tuple[Table, list[int]]:
    """(members, texts, authors): noise, where each member finds an author's own texts easier by so much."""
    owners = [author for author in range(authors) for _ in range(texts)]
    values = np.random.default_rng(seed).normal(size=(len(own), len(owners), authors))
    return values + np.array(own)[:, None, None] * np.eye(authors)[owners], owners


class TestFit:
    def test_weights_are_those_at_which_own_texts_are_most_probable_held_near_usual_ones(self) -> None:
        """The cost, written out text by text: no step from where it was found makes it less."""
        values, owners = made(own=(-1.5, -0.5, 0.0))
        owners[-2:] = [0, 1]  # authors have unequally many texts, and count the same
        tables = tables_of(values, owners)
        found = np.array(calibrate_candidates(tables, [NGRAM] * 3).weights)
        scores = normalize_values(tables)

        def cost(weights: Table) -> float:
            shares = [len(owners) / 6 / owners.count(owner) for owner in owners]
            losses = [-math.log(softmax(weights @ scores[:, text])[owner]) for text, owner in enumerate(owners)]
            away, apart = weights.mean() - 1.8 / 3, weights - weights.mean()
            penalty = candidates.DEFAULT_COUNT / 2 * 3 * away**2 + candidates.EQUALITY_COUNT / 2 * (apart**2).sum()
            return float(np.dot(shares, losses) + penalty)

        least = cost(found)
        for step in np.concatenate([np.eye(3), -np.eye(3)]) * 0.01:
            assert cost(np.maximum(found + step, 0)) > least
        assert cost(np.full(3, 0.6)) > least + 0.1

    def test_a_member_that_tells_more_weighs_more_and_one_that_tells_nothing_less(self) -> None:
        values, owners = made(authors=8, texts=12, own=(-2.0, 0.0, -2.0))
        weights = calibrate_candidates(tables_of(values, owners), [NGRAM] * 3).weights
        assert weights[1] < min(weights[0], weights[2])
        assert weights[0] == pytest.approx(weights[2], rel=0.2)
        values, owners = made(authors=8, texts=20, own=(0.0, 0.0))
        assert (
            sum(calibrate_candidates(tables_of(values, owners), [NGRAM] * 2).weights) < 0.3 < candidates.DEFAULT_WEIGHT
        )

    def test_the_line_is_between_the_best_sums_with_and_without_the_author(self) -> None:
        tables = tables_of(*made(texts=8, own=(-6.0, -6.0)))
        judge = calibrate_candidates(tables, [NGRAM] * 2)
        within = fuse_scores(tables, judge.weights).max(axis=1)
        without = np.concatenate(
            [
                fuse_scores(tables.without(author), judge.weights)[tables.owners == author].max(axis=1)
                for author in range(6)
            ]
        )
        assert without.mean() < judge.middle < within.mean()
        assert judge.slope > 0.5
        assert judge.held_out == 48
        nobody = expit(logit(0.5) - judge.slope * (np.stack([within, without]) - judge.middle))
        assert nobody[0].mean() < 0.25
        assert nobody[1].mean() > 0.75

    def test_where_authors_have_one_text_each_everything_is_as_usual(self) -> None:
        values, owners = made(texts=1)
        seen = np.broadcast_to(np.eye(6, dtype=np.bool_), values.shape).copy()
        judge = calibrate_candidates(tables_of(values, owners, seen), [NGRAM] * 2)
        assert (
            judge
            == CandidateCalibration.default([NGRAM] * 2)
            == CandidateCalibration((0.9, 0.9), *candidates.NO_LINE, 0)
        )

    def test_texts_that_can_be_held_out_teach_though_others_cant(self) -> None:
        values, owners = made(texts=3)
        seen = np.zeros(values.shape, np.bool_)
        seen[:, :3, 0] = True  # the first author's
        judge = calibrate_candidates(tables_of(values, owners, seen), [NGRAM] * 2)
        assert judge.held_out == 15
        assert judge != CandidateCalibration.default([NGRAM] * 2)

    def test_with_two_authors_nobody_can_be_left_out_and_nothing_is_said_of_none(self) -> None:
        tables = tables_of(*made(authors=2, texts=6))
        judge = calibrate_candidates(tables, [NGRAM] * 2)
        assert (judge.middle, judge.slope) == candidates.NO_LINE
        asked = tables._replace(owners=np.where(np.arange(12) == 3, -1, tables.owners))
        _, nobody = probabilities(judge, asked, 0.3)
        np.testing.assert_allclose(nobody, [0.3])
        assert judge.weights != (0.9, 0.9)

    def test_of_many_authors_some_are_left_out_and_it_can_be_stopped(self, monkeypatch: pytest.MonkeyPatch) -> None:
        tables = tables_of(*made(authors=6, texts=3))
        whole = calibrate_candidates(tables, [NGRAM] * 2)
        monkeypatch.setattr(candidates, "MAX_LEFT_OUT", 3)
        asked: list[int] = []
        some = calibrate_candidates(tables, [NGRAM] * 2, lambda: asked.append(1))
        assert len(asked) == 3
        assert some.weights == whole.weights
        assert some.slope > 0.5
        with pytest.raises(KeyboardInterrupt):
            calibrate_candidates(tables, [NGRAM] * 2, raise_interrupt)

    def test_what_a_member_says_of_texts_that_it_knows_teaches_nothing(self) -> None:
        """A network knows all texts of its authors: however easy it finds them, nothing is learned from that."""
        judges = []
        for known in (-3.0, -300.0):
            values, owners = made(own=(-3.0, 0.0), texts=4)
            seen = np.zeros(values.shape, np.bool_)
            seen[1] = np.eye(6, dtype=np.bool_)[owners]
            values[seen] += known
            judges.append(calibrate_candidates(tables_of(values, owners, seen), [NGRAM, Settings()]))
        one, two = judges
        assert one.weights[1] == two.weights[1] == 0.9
        np.testing.assert_allclose(
            [*one.weights, one.middle, one.slope], [*two.weights, two.middle, two.slope], rtol=1e-6
        )
        assert one.held_out == 24


def raise_interrupt() -> None:
    raise KeyboardInterrupt
