"""Score normalization against a cohort: every function by hand, and what trials must not depend on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from byline.engines.matrix import Flags, Table
from byline.judgment import cohort_norms
from byline.judgment.cohort_norms import (
    MOST_DEVIATIONS,
    CohortScores,
    adaptive_s_norm,
    centered_norm,
    cross_cohort_norm,
    double_centered_norm,
    local_norm,
    nearest_members,
    one_sided_norm,
    profile_correlation,
    s_norm,
)

Norm = Callable[[Table, Table, Table, Flags], Table]
CenteredNorm = Callable[[Table, Table, Table, CohortScores, Flags], Table]
TWO_SIDED = pytest.mark.parametrize("norm", [s_norm, adaptive_s_norm, cross_cohort_norm])
CENTERED = pytest.mark.parametrize("norm", [double_centered_norm, local_norm, centered_norm])


def table(*rows: list[float]) -> Table:
    return np.array(rows, np.float64)


def everyone(cohort: Table) -> Flags:
    return np.ones(cohort.shape, np.bool_)


def flags(*rows: str) -> Flags:
    """Flags from text: x counts."""
    return np.array([[letter == "x" for letter in row] for row in rows])


class TestOneSidedNorm:
    def test_by_hand(self) -> None:
        """1, 3, 5, 7 have a mean of 4 and a variance of 5; 0, 0, 4, 4 a mean and a deviation of 2."""
        cohort = table([1, 3, 5, 7], [0, 0, 4, 4])
        found = one_sided_norm(np.array([9.0, 1]), cohort, everyone(cohort))
        assert found.tolist() == pytest.approx([5 / np.sqrt(5), -0.5])

    def test_members_that_do_not_count_do_not_matter(self) -> None:
        counted = flags("xx.x", "xxxx")
        for value in (-50.0, 99.0):
            found = one_sided_norm(np.array([9.0, 1]), table([1, 3, value, 5], [0, 0, 4, 4]), counted)
            assert found.tolist() == pytest.approx([6 / np.sqrt(8 / 3), -0.5])

    def test_a_score_far_from_the_cohort_is_limited(self) -> None:
        cohort = table([0, 0, 4, 4])
        assert one_sided_norm(np.array([100.0]), cohort, everyone(cohort)) == [MOST_DEVIATIONS]
        assert one_sided_norm(np.array([-100.0]), cohort, everyone(cohort)) == [-MOST_DEVIATIONS]

    @pytest.mark.parametrize("level", [0.0, 0.1, 2.3, -7.0])
    def test_a_constant_cohort_only_tells_on_which_side_a_score_is(self, level: float) -> None:
        cohort = np.full((3, 7), level)
        found = one_sided_norm(np.array([level, level + 0.5, level - 0.5]), cohort, everyone(cohort))
        np.testing.assert_allclose(found, [0, MOST_DEVIATIONS, -MOST_DEVIATIONS], atol=1e-6)

    def test_where_nobody_counts_it_is_a_number(self) -> None:
        assert np.isfinite(one_sided_norm(np.array([2.0]), table([1, 2]), flags("..")))

    def test_trials_do_not_depend_on_each_other(self) -> None:
        """One whose cohort hardly varies is normalized alike beside others whose cohorts vary much."""
        rng = np.random.default_rng(0)
        cohort = rng.normal(0, [[1e-6], [1], [1000]], (3, 12))
        scores = np.array([1e-6, 1.0, 1000])
        together = one_sided_norm(scores, cohort, everyone(cohort))
        for number in range(3):
            kept = slice(number, number + 1)
            alone = one_sided_norm(scores[kept], cohort[kept], everyone(cohort[kept]))
            assert alone.tolist() == pytest.approx(together[kept].tolist())
            assert 0 < alone < MOST_DEVIATIONS


class TestSNorm:
    def test_it_is_the_mean_of_z_norm_and_t_norm(self) -> None:
        rows, columns = table([1, 3, 5, 7]), table([0, 0, 4, 4])
        found = s_norm(np.array([3.0]), rows, columns, everyone(rows))
        assert found.tolist() == pytest.approx([(-1 / np.sqrt(5) + 0.5) / 2])

    @TWO_SIDED
    def test_nobody_who_does_not_count_matters(self, norm: Norm) -> None:
        rng = np.random.default_rng(1)
        rows, columns, scores = rng.normal(size=(4, 20)), rng.normal(size=(4, 20)), rng.normal(size=4)
        counted = rng.random((4, 20)) < 0.7
        plain = norm(scores, rows, columns, counted)
        for value in (-99.0, 99.0):
            changed = norm(scores, np.where(counted, rows, value), np.where(counted, columns, value), counted)
            np.testing.assert_allclose(changed, plain)

    @TWO_SIDED
    @pytest.mark.parametrize(("factor", "shift"), [(1.0, 5.0), (0.01, 0.0), (1000.0, -3.0)])
    def test_neither_unit_nor_level_of_the_scores_matters(self, norm: Norm, factor: float, shift: float) -> None:
        rng = np.random.default_rng(2)
        rows, columns, scores = rng.normal(size=(4, 20)), rng.normal(size=(4, 20)), rng.normal(size=4)
        plain = norm(scores, rows, columns, everyone(rows))
        changed = norm(*(each * factor + shift for each in (scores, rows, columns)), everyone(rows))
        np.testing.assert_allclose(changed, plain)

    @TWO_SIDED
    def test_known_and_unknown_may_be_exchanged(self, norm: Norm) -> None:
        rng = np.random.default_rng(3)
        rows, columns, scores = rng.normal(size=(4, 20)), rng.normal(size=(4, 20)), rng.normal(size=4)
        np.testing.assert_allclose(
            norm(scores, rows, columns, everyone(rows)), norm(scores, columns, rows, everyone(rows))
        )

    @TWO_SIDED
    def test_of_a_cohort_of_few_all_are_compared_with(self, norm: Norm) -> None:
        rng = np.random.default_rng(4)
        rows, columns, scores = rng.normal(size=(4, 5)), rng.normal(size=(4, 5)), rng.normal(size=4)
        np.testing.assert_allclose(
            norm(scores, rows, columns, everyone(rows)), s_norm(scores, rows, columns, everyone(rows))
        )


class TestNearestMembers:
    def test_of_twelve_the_six_nearest_are_taken(self) -> None:
        cohort = table([0, 11, 1, 10, 2, 9, 3, 8, 4, 7, 5, 6])
        np.testing.assert_array_equal(nearest_members(cohort, everyone(cohort)), flags(".x.x.x.x.x.x"))

    def test_of_a_small_cohort_at_least_five_and_of_a_large_one_the_nearest_thirty(self) -> None:
        for size, wanted in ((3, 3), (5, 5), (7, 5), (40, 20), (60, 30), (100, 30)):
            cohort = np.random.default_rng(size).normal(size=(1, size))
            nearest = nearest_members(cohort, everyone(cohort))
            assert nearest.sum() == wanted
            assert wanted == size or cohort[nearest].min() > cohort[~nearest].max()

    def test_those_who_do_not_count_are_neither_taken_nor_counted(self) -> None:
        cohort = table([9, 8, 7, 6, 5, 4, 3, 2])
        np.testing.assert_array_equal(nearest_members(cohort, flags("..xxxxxx")), flags("..xxxxx."))
        np.testing.assert_array_equal(nearest_members(cohort, flags("......xx")), flags("......xx"))
        assert not nearest_members(cohort, flags("........")).any()

    def test_equal_ones_are_taken_in_order(self) -> None:
        cohort = np.zeros((1, 8))
        np.testing.assert_array_equal(nearest_members(cohort, everyone(cohort)), flags("xxxxx..."))


class TestSelectedCohorts:
    """With the two nearest: 10 and 8 of the row, which are members 0 and 1; 5 and 3 of the column, members 3 and 1."""

    rows, columns = table([10, 8, 1, 0]), table([0, 3, 1, 5])

    @pytest.fixture(autouse=True)
    def two_nearest(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(cohort_norms, "NEAREST", 2)

    def test_adaptive_each_side_is_compared_with_those_nearest_to_itself(self) -> None:
        """10 and 8 have a mean of 9 and a deviation of 1; 3 and 5 a mean of 4 and a deviation of 1."""
        found = adaptive_s_norm(np.array([6.0]), self.rows, self.columns, everyone(self.rows))
        assert found.tolist() == pytest.approx([(-3 + 2) / 2])

    def test_crossed_each_side_is_compared_with_those_nearest_to_the_other(self) -> None:
        """The row's scores with the column's nearest are 8 and 0, the column's with the row's nearest 0 and 3."""
        found = cross_cohort_norm(np.array([6.0]), self.rows, self.columns, everyone(self.rows))
        assert found.tolist() == pytest.approx([((6 - 4) / 4 + (6 - 1.5) / 1.5) / 2])

    def test_local_the_cohort_s_mean_is_of_the_same_documents_and_heads(self) -> None:
        """Documents of members 1 and 3 with heads of 0 and 1 score 1, 2 and 6; member 1 is not compared with itself."""
        scores = np.full((4, 4), 50.0)
        scores[[1, 3, 3], [0, 0, 1]] = 1, 2, 6
        cohort = CohortScores(scores, ~np.eye(4, dtype=np.bool_))
        found = local_norm(np.array([6.0]), self.rows, self.columns, cohort, everyone(self.rows))
        assert found.tolist() == pytest.approx([(6 - 4 - 1.5 + 3) / np.sqrt(4 * 1.5)])

    def test_centered_is_the_mean_of_double_centered_and_local(self) -> None:
        cohort = CohortScores(np.arange(16.0).reshape(4, 4) ** 1.5, ~np.eye(4, dtype=np.bool_))
        whole, local, both = (
            norm(np.array([6.0]), self.rows, self.columns, cohort, everyone(self.rows)).item()
            for norm in (double_centered_norm, local_norm, centered_norm)
        )
        assert whole != local
        assert both == pytest.approx((whole + local) / 2)


class TestProfileCorrelation:
    def test_by_hand(self) -> None:
        """1, 2, 6 are -2, -1, 3 from their mean and 0, 3, 3 are -2, 1, 1: 4 - 1 + 3 over the root of 14 x 6."""
        rows, columns = table([1, 2, 6]), table([0, 3, 3])
        assert profile_correlation(rows, columns, everyone(rows)) == pytest.approx([6 / np.sqrt(14 * 6)])

    def test_it_is_1_where_both_relate_to_the_cohort_alike_and_minus_1_where_contrary(self) -> None:
        rows = np.array([[2.0, 5, 3, 9]] * 3)
        columns = rows * np.array([[1.0], [0.01], [-3]]) + 100
        assert profile_correlation(rows, columns, everyone(rows)).tolist() == pytest.approx([1, 1, -1])

    def test_members_that_do_not_count_do_not_matter(self) -> None:
        rows, columns = table([1, 2, 99, 6]), table([0, 3, -50, 3])
        assert profile_correlation(rows, columns, flags("xx.x")) == pytest.approx([6 / np.sqrt(14 * 6)])

    @pytest.mark.parametrize("level", [0.0, 0.1, 7.3])
    def test_it_is_0_where_one_relates_to_all_alike(self, level: float) -> None:
        profile, constant = table([2, 5, 3, 9, 1, 1, 4]), np.full((1, 7), level)
        for one, other in ((profile, constant), (constant, profile), (constant, constant)):
            np.testing.assert_array_equal(profile_correlation(one, other, everyone(one)), [0])

    def test_it_is_0_where_nobody_counts(self) -> None:
        np.testing.assert_array_equal(profile_correlation(table([1, 2]), table([2, 1]), flags("..")), [0])


class TestCenteredNorms:
    """The double-centered norm, and the local norm, which is the same in a cohort of few."""

    rows, columns = table([1, 2, 6]), table([0, 3, 3])
    cohort = CohortScores(table([9, 1, 2], [3, 9, 4], [5, 6, 9]), ~np.eye(3, dtype=np.bool_))
    spread = (14 / 3 * 2) ** 0.25
    """1, 2 and 6 have a variance of 14/3; 0, 3 and 3 have one of 2."""

    @CENTERED
    def test_by_hand(self, norm: CenteredNorm) -> None:
        """The means of row and column are 3 and 2, that of different members of the cohort is 3.5."""
        found = norm(np.array([10.0]), self.rows, self.columns, self.cohort, everyone(self.rows))
        assert found.tolist() == pytest.approx([(10 - 3 - 2 + 3.5) / self.spread])

    @CENTERED
    def test_a_member_that_does_not_count_is_left_out_of_all_means(self, norm: CenteredNorm) -> None:
        """1 and 6 have a mean of 3.5 and a deviation of 2.5, 0 and 3 both of 1.5; 2 and 5 are left of the cohort."""
        for value in (-50.0, 50.0):
            scores = self.cohort.scores.copy()
            scores[1, :] = scores[:, 1] = value
            given = table([1, value, 6]), table([0, value, 3]), CohortScores(scores, self.cohort.counted)
            found = norm(np.array([3.0]), *given, flags("x.x"))
            assert found.tolist() == pytest.approx([(3 - 3.5 - 1.5 + 3.5) / np.sqrt(2.5 * 1.5)])

    @CENTERED
    def test_pairs_of_the_cohort_by_one_person_do_not_matter(self, norm: CenteredNorm) -> None:
        for value in (-50.0, 50.0):
            cohort = CohortScores(np.where(self.cohort.counted, self.cohort.scores, value), self.cohort.counted)
            found = norm(np.array([10.0]), self.rows, self.columns, cohort, everyone(self.rows))
            assert found.tolist() == pytest.approx([8.5 / self.spread])

    @CENTERED
    @pytest.mark.parametrize(("head", "document"), [(7.0, 0.0), (0.0, -4.0), (3.0, 2.0)])
    def test_a_head_or_a_document_that_is_nearer_to_all_is_no_nearer(
        self, norm: CenteredNorm, head: float, document: float
    ) -> None:
        found = norm(
            np.array([10 + head + document]), self.rows + head, self.columns + document, self.cohort,
            everyone(self.rows),
        )  # fmt: skip
        assert found.tolist() == pytest.approx([8.5 / self.spread])

    @CENTERED
    @pytest.mark.parametrize(("factor", "shift"), [(1.0, 5.0), (0.01, 0.0), (1000.0, -3.0)])
    def test_neither_unit_nor_level_of_the_scores_matters(
        self, norm: CenteredNorm, factor: float, shift: float
    ) -> None:
        rng = np.random.default_rng(2)
        rows, columns, scores, among = (rng.normal(size=size) for size in ((4, 20), (4, 20), 4, (20, 20)))
        counted = rng.random((20, 20)) < 0.9
        plain = norm(scores, rows, columns, CohortScores(among, counted), everyone(rows))
        scores, rows, columns, among = (each * factor + shift for each in (scores, rows, columns, among))
        changed = norm(scores, rows, columns, CohortScores(among, counted), everyone(rows))
        np.testing.assert_allclose(changed, plain)
        assert len(set(plain.round(6))) == 4

    @CENTERED
    def test_head_and_document_may_be_exchanged(self, norm: CenteredNorm) -> None:
        rng = np.random.default_rng(3)
        rows, columns, scores, among = (rng.normal(size=size) for size in ((4, 20), (4, 20), 4, (20, 20)))
        counted = rng.random((20, 20)) < 0.9
        one = norm(scores, rows, columns, CohortScores(among, counted), everyone(rows))
        other = norm(scores, columns, rows, CohortScores(among.T, counted.T), everyone(rows))
        np.testing.assert_allclose(one, other)

    @CENTERED
    def test_a_score_far_from_the_cohort_is_limited(self, norm: CenteredNorm) -> None:
        for score, limit in ((1e3, MOST_DEVIATIONS), (-1e3, -MOST_DEVIATIONS)):
            assert norm(np.array([score]), self.rows, self.columns, self.cohort, everyone(self.rows)) == [limit]

    @CENTERED
    def test_trials_do_not_depend_on_each_other(self, norm: CenteredNorm) -> None:
        rng = np.random.default_rng(4)
        rows, columns, scores, among = (rng.normal(size=size) for size in ((4, 20), (4, 20), 4, (20, 20)))
        cohort, counted = CohortScores(among, ~np.eye(20, dtype=np.bool_)), rng.random((4, 20)) < 0.8
        together = norm(scores, rows, columns, cohort, counted)
        for number in range(4):
            kept = slice(number, number + 1)
            alone = norm(scores[kept], rows[kept], columns[kept], cohort, counted[kept])
            assert alone.tolist() == pytest.approx(together[kept].tolist(), abs=1e-12)


class TestKinds:
    """A cohort of two kinds of texts, letters and novels; pairs of one kind are nearer than pairs of two."""

    kinds = np.arange(24) % 2
    """Letters are 0."""

    def score(self, norm: CenteredNorm, between: float, head: int, document: int) -> float:
        """Return the norm of a head and a document of these kinds; `between` is added to the scores of two kinds."""
        rng = np.random.default_rng(5)
        effects = np.where(np.eye(2), 0.0, between)
        among = rng.normal(size=(24, 24)) + effects[self.kinds][:, self.kinds]
        rows, columns = rng.normal(size=(2, 1, 24)) + effects[[head, document]][:, None, self.kinds]
        score = 2.0 + effects[head, document]
        counted = CohortScores(among, ~np.eye(24, dtype=np.bool_))
        return float(norm(np.array([score]), rows, columns, counted, everyone(rows))[0])

    @pytest.mark.parametrize(("head", "document"), [(0, 0), (0, 1), (1, 0), (1, 1)])
    def test_how_unlike_the_kinds_are_does_not_change_the_local_norm(self, head: int, document: int) -> None:
        near, far = (self.score(local_norm, between, head, document) for between in (-10, -1000))
        assert near == pytest.approx(far)
        assert 0.5 < near < 4

    def test_it_changes_the_double_centered_norm(self) -> None:
        """Its deviations are mostly those between kinds, and a pair of one kind seems more alike than one of two."""
        same, two = (self.score(double_centered_norm, -10, 0, document) for document in (0, 1))
        assert same > 0.5
        assert two < -0.5
        assert abs(self.score(double_centered_norm, -1000, 0, 1) - two) > 0.2
