"""Normalized scores: by hand, what they must not depend on, and what matching is for."""

from __future__ import annotations

import numpy as np
import pytest

from byline.engines.matrix import PARTS, Cohort, Matrix, Side, Table
from byline.engines.questions import Question
from byline.judgment.metrics import auc
from byline.judgment.score_normalization import (
    REACHES,
    asked_positions,
    own_scale_scores,
    part_scores,
    reference_agreement,
    relative_scores,
)


def own(problems: int) -> tuple[Question, ...]:
    """Each head is asked about the document of the same place."""
    return tuple(Question(n, n, n) for n in range(problems))


def side(values: Table, seen: np.ndarray | None = None, questions: tuple[Question, ...] | None = None) -> Side:
    flags = np.zeros(values.shape, np.bool_) if seen is None else seen
    return Side(Matrix(values, flags), own(len(values)) if questions is None else questions, frozenset())


def noise(documents: int = 8, heads: int = 8, seed: int = 0) -> Table:
    return np.random.default_rng(seed).normal(2, 0.3, (documents, heads))


def test_a_small_matrix_by_hand() -> None:
    """The first head is asked about the first document; every other pair counts.

    Rows have the means 3, 2, 2 without the asked pair, so they become -3 -1 1, -1 0 1, 1 0 -1; columns of these have
    the means 0, -1/3, 1/3, so what is left is -3 -2/3 2/3, -1 1/3 2/3, 1 1/3 -4/3. Such remainders are 2/3 for the
    document, 1 for the head and 6/8 altogether: the pair is 3 x 3/4 / (2/3 x 1) deviations lower than expected.
    """
    values = np.array([[0.0, 2, 4], [1, 2, 3], [3, 2, 1]])
    scores = relative_scores(side(values, questions=own(1)))
    assert scores.shape == (len(REACHES), 1)
    assert scores[0] == pytest.approx([3 * (3 / 4) / (2 / 3)])


def test_a_lower_value_is_a_higher_score() -> None:
    values = noise()
    better = values.copy()
    better[3, 3] -= 0.2
    assert (relative_scores(side(better)) > relative_scores(side(values)))[:, 3].all()


@pytest.mark.parametrize("change", ["hard document", "bad head", 0.01, 7.0, 1000.0])
def test_neither_hard_documents_nor_bad_heads_nor_units_matter(change: str | float) -> None:
    changed = noise() * (change if isinstance(change, float) else 1)
    if not isinstance(change, float):
        changed[np.s_[2] if change == "hard document" else np.s_[:, 2]] += 3
    np.testing.assert_allclose(relative_scores(side(changed)), relative_scores(side(noise())), rtol=1e-6)


def test_what_a_head_learned_never_matters() -> None:
    values = noise()
    seen = np.random.default_rng(1).random(values.shape) < 0.2
    np.fill_diagonal(seen, False)
    plain = relative_scores(side(values, seen))
    for value in (0.0, 99.0):
        np.testing.assert_array_equal(relative_scores(side(np.where(seen, value, values), seen)), plain)


def test_the_value_of_another_asked_pair_never_matters() -> None:
    values = noise()
    changed = values.copy()
    changed[range(1, 8), range(1, 8)] = np.linspace(-5, 5, 7)
    one, two = relative_scores(side(values)), relative_scores(side(changed))
    np.testing.assert_array_equal(one[:, 0], two[:, 0])
    assert (one[:, 1:] != two[:, 1:]).all()


def test_a_document_asked_under_several_heads_is_compared_with_the_others_only() -> None:
    values = noise()
    questions = (*own(8), Question(8, 5, 0), Question(9, 0, 5))
    changed = values.copy()
    changed[0, 5] = changed[5, 0] = 99
    one, two = (relative_scores(side(each, questions=questions)) for each in (values, changed))
    np.testing.assert_array_equal(one[:, :8], two[:, :8])


def test_heads_in_another_order_have_the_same_scores_and_are_not_matched() -> None:
    values = noise(9, 7)
    seen = np.random.default_rng(1).random(values.shape) < 0.1
    questions = tuple(Question(n, n % 7, n) for n in range(9) if not seen[n, n % 7])
    order = np.array([np.random.default_rng(n).permutation(7) for n in range(9)], np.int32)
    shuffled = Matrix(np.take_along_axis(values, order, 1), np.take_along_axis(seen, order, 1), order)
    scores = relative_scores(Side(shuffled, questions, frozenset()))
    assert scores.shape == (1, len(questions))
    np.testing.assert_allclose(scores[0], relative_scores(side(values, seen, questions))[0])


def test_a_sampled_matrix_does_not_count_what_it_has_no_value_of() -> None:
    """Scores of a sample are those of a full matrix whose other pairs are seen."""
    full, rng = noise(12, 12), np.random.default_rng(1)
    chosen = np.array(
        [np.sort([(n + step) % 12 for step in (0, *rng.permutation(np.arange(1, 12))[:6])]) for n in range(12)]
    )
    left_out = np.ones(full.shape, np.bool_)
    np.put_along_axis(left_out, chosen, False, axis=1)
    values = np.take_along_axis(full, chosen, 1)
    sampled = Matrix(values, np.zeros(values.shape, np.bool_), chosen.astype(np.int32))
    (scores,) = relative_scores(Side(sampled, own(12), frozenset()))
    np.testing.assert_allclose(scores, relative_scores(side(full, left_out))[0], rtol=1e-5)


def two_genres(problems: int, seed: int) -> tuple[Table, np.ndarray]:
    """A corpus in which one author's texts are of different genres and different authors' of the same; and the truth.

    Texts of one genre are easier for each other by much more than those of one author.
    """
    rng = np.random.default_rng(seed)
    same = np.arange(problems) % 2 == 0
    heads = rng.integers(0, 2, problems)
    documents = np.where(same, 1 - heads, heads)
    values = (
        rng.normal(0, 0.1, (problems, problems)) - 0.5 * (documents[:, None] == heads) + rng.normal(3, 1, (problems, 1))
    )
    values[range(problems), range(problems)] -= 0.2 * same
    return values, same


def test_matched_a_difference_of_genre_is_not_taken_for_one_of_author() -> None:
    areas = []
    for seed in range(5):
        values, same = two_genres(40, seed)
        areas.append([auc(same.tolist(), way.tolist()) for way in relative_scores(side(values))])
    plain, *matched = np.mean(areas, axis=0)
    assert plain < 0.1  # genre decides, and is against the truth
    assert min(matched) > 0.8


def test_without_genres_matching_costs_little() -> None:
    areas = []
    for seed in range(5):
        values, same = np.random.default_rng(seed).normal(0, 0.1, (40, 40)), np.arange(40) % 2 == 0
        values[range(40), range(40)] -= 0.2 * same
        areas.append([auc(same.tolist(), way.tolist()) for way in relative_scores(side(values))])
    plain, *matched = np.mean(areas, axis=0)
    assert min(matched) > plain - 0.03


class TestBesideAReference:
    """Asked sets come first, then those of the reference, which are heads and documents at once."""

    asked, reference = 4, 12

    def lengths(self) -> Table:
        return np.log(np.random.default_rng(5).integers(500, 5000, self.asked + self.reference))

    def lay(self, values: Table, problems: tuple[int, ...] = (0, 1, 2, 3)) -> Side:
        """The questions of some of the problems, all others' rows and columns taken away."""
        rows = [*problems, *range(self.asked, self.asked + self.reference)]
        flags = np.array([row >= self.asked for row in rows])
        lengths = self.lengths()[rows]
        matrix = Matrix(values[np.ix_(rows, rows)], np.diag(flags))
        questions = tuple(Question(n, n, n) for n in range(len(problems)))
        return Side(matrix, questions, frozenset(), Cohort(flags, flags, lengths, lengths))

    def values(self) -> Table:
        return noise(self.asked + self.reference, self.asked + self.reference)

    def test_a_problem_does_not_depend_on_whether_there_are_others(self) -> None:
        together, agreement = (score(self.lay(self.values())) for score in (relative_scores, reference_agreement))
        for problem in range(self.asked):
            alone = self.lay(self.values(), (problem,))
            np.testing.assert_allclose(relative_scores(alone)[:, 0], together[:, problem], rtol=1e-6)
            assert reference_agreement(alone) == pytest.approx(agreement[problem : problem + 1])

    def test_a_problem_does_not_depend_on_what_others_are(self) -> None:
        values = self.values()
        changed = values.copy()
        changed[1 : self.asked] += np.linspace(-4, 9, len(values))
        changed[:, 1 : self.asked] *= 3
        one, two = (relative_scores(self.lay(each)) for each in (values, changed))
        np.testing.assert_allclose(two[:, 0], one[:, 0], rtol=1e-6)
        assert not np.allclose(two[:, 1:], one[:, 1:])
        one, two = (reference_agreement(self.lay(each)) for each in (values, changed))
        assert two[0] == pytest.approx(one[0], abs=1e-9)
        assert not np.isclose(one[1:], two[1:]).any()

    def test_an_agreement_of_kind_does_not_hang_on_the_asked_pair_itself(self) -> None:
        values = self.values()
        changed = values.copy()
        changed[range(self.asked), range(self.asked)] = 99
        np.testing.assert_array_equal(reference_agreement(self.lay(changed)), reference_agreement(self.lay(values)))

    def test_a_hard_document_or_a_bad_head_has_the_same_scores(self) -> None:
        values = self.values()
        plain = relative_scores(self.lay(values))
        for place in (np.s_[2], np.s_[:, 2]):
            hard = values.copy()
            hard[place] += 3
            np.testing.assert_allclose(relative_scores(self.lay(hard)), plain, rtol=1e-6)

    def test_sets_of_about_the_same_length_count_most(self) -> None:
        """Half of the reference is changed: scores keep their proportions if that half is of another length."""
        values = self.values()
        changed = values.copy()
        far = range(self.asked + 6, self.asked + 12)
        changed[:, far] += np.random.default_rng(2).normal(0, 1, (len(values), 6))
        usual, lengths = self.lay(values).reference, np.full(len(values), 8.0)
        assert usual is not None
        differences = []
        for length in (8.0, 3.0):
            lengths[far] = length
            cohort = usual._replace(head_lengths=lengths, document_lengths=lengths)
            one, two = (
                relative_scores(Side(self.lay(each).matrix, own(self.asked), frozenset(), cohort))[0]
                for each in (values, changed)
            )
            differences.append(np.abs(one / one[0] - two / two[0]).max())
        assert differences[1] < 0.05 < 0.1 < differences[0]


class TestAgreementOfKind:
    """One problem, whose document and head come first, beside sets of a reference, which are heads and documents."""

    def lay(
        self, document: list[float], head: list[float], population: Table | None = None, barred: list[int] | None = None
    ) -> Side:
        """The document's values under the reference's heads, and those of its documents under the problem's head.

        The reference's own values are 0 if nothing else is said; `barred` sets must not be compared with the document.
        """
        count = len(document)
        values = np.zeros((count + 1, count + 1))
        values[0, 1:], values[1:, 0], values[0, 0] = document, head, -7.0
        values[1:, 1:] = 0 if population is None else population
        flags, lengths = np.arange(count + 1) > 0, np.ones(count + 1)
        seen = np.diag(flags)
        seen[0, barred or []] = True
        return Side(Matrix(values, seen), own(1), frozenset(), Cohort(flags, flags, lengths, lengths))

    def test_it_is_the_correlation_of_how_both_stand_to_the_reference(self) -> None:
        """1, 2, 6 are -2, -1, 3 from their mean and 0, 3, 3 are -2, 1, 1: 4 - 1 + 3 over the root of 14 x 6."""
        assert reference_agreement(self.lay([1, 2, 6], [0, 3, 3])) == pytest.approx([6 / np.sqrt(14 * 6)])

    def test_it_is_1_where_they_stand_alike_and_minus_1_where_they_stand_contrary(self) -> None:
        profile = [2.0, 5.0, 3.0, 9.0]
        assert reference_agreement(self.lay(profile, profile)) == pytest.approx([1])
        assert reference_agreement(self.lay(profile, [100 + 3 * each for each in profile])) == pytest.approx([1])
        assert reference_agreement(self.lay(profile, [-each for each in profile])) == pytest.approx([-1])

    @pytest.mark.parametrize("level", [0.0, 0.1, 7.3])
    def test_it_is_0_where_one_stands_alike_to_all(self, level: float) -> None:
        profile, constant = [2.0, 5.0, 3.0, 9.0], [level] * 4
        for sides in ((profile, constant), (constant, profile), (constant, constant)):
            np.testing.assert_array_equal(reference_agreement(self.lay(*sides)), [0])

    def test_hard_documents_and_bad_heads_of_the_reference_change_nothing(self) -> None:
        """Each of its sets has a level as a document, which the problem's head meets, and another as a head."""
        document, head = np.array([1.0, 2, 6, 4]), np.array([0.0, 3, 3, 1])
        as_document, as_head = np.array([5.0, -3, 0, 9]), np.array([-2.0, 8, 1, 4])
        plain = reference_agreement(self.lay(document.tolist(), head.tolist()))
        levelled = self.lay(
            (document + as_head).tolist(), (head + as_document).tolist(), as_document[:, None] + as_head
        )
        assert reference_agreement(levelled) == pytest.approx(plain)
        assert abs(plain[0]) > 0.1

    def test_a_set_that_must_not_be_compared_with_one_of_them_counts_for_neither(self) -> None:
        barred = reference_agreement(self.lay([1, 2, 6, 99], [0, 3, 3, -50], barred=[4]))
        assert barred == pytest.approx([6 / np.sqrt(14 * 6)])
        assert reference_agreement(self.lay([1, 2, 6, 99], [0, 3, 3, -50]))[0] < -0.9

    def test_where_nothing_can_be_compared_it_is_0(self) -> None:
        np.testing.assert_array_equal(reference_agreement(self.lay([1, 2], [1, 2], barred=[1, 2])), [0])


@pytest.mark.parametrize("seen", [False, True])
@pytest.mark.parametrize("value", [0.0, 0.1, 2.3, 1e5])
def test_a_constant_matrix_prefers_nothing(value: float, seen: bool) -> None:
    learned = np.roll(np.eye(7, dtype=np.bool_), 1, axis=1) & seen
    np.testing.assert_array_equal(relative_scores(side(np.full((7, 7), value), learned)), 0)
    order = np.array([np.random.default_rng(n).permutation(7) for n in range(7)], np.int32)
    sampled = Matrix(np.full((7, 7), value), np.take_along_axis(learned, order, 1), order)
    np.testing.assert_array_equal(relative_scores(Side(sampled, own(7), frozenset())), 0)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2)])
def test_where_nothing_is_left_to_compare_with_scores_are_still_numbers(shape: tuple[int, int]) -> None:
    for seen in (np.zeros(shape, np.bool_), np.ones(shape, np.bool_)):
        assert np.isfinite(relative_scores(side(noise(*shape), seen, own(min(shape))))).all()


def test_without_questions_there_are_no_scores() -> None:
    assert relative_scores(side(noise(), questions=())).shape == (len(REACHES), 0)


class TestOwnScale:
    def test_scores_are_the_negative_asked_values_whatever_the_reach_and_the_others(self) -> None:
        values, other = noise(), noise(seed=1)
        np.fill_diagonal(other, values.diagonal())
        for each in (values, other):
            np.testing.assert_array_equal(own_scale_scores(side(each)), np.tile(-values.diagonal(), (len(REACHES), 1)))

    def test_in_a_sampled_matrix_they_are_found_where_their_heads_are(self) -> None:
        values = noise(4, 3)
        heads = np.array([[0, 5, 7], [1, 2, 6], [0, 2, 9], [3, 4, 8]], np.int32)
        questions = (Question(0, 5, 0), Question(1, 9, 2), Question(2, 3, 3))
        sampled = Side(Matrix(values, np.zeros(values.shape, np.bool_), heads), questions, frozenset())
        np.testing.assert_array_equal(asked_positions(sampled), [[0, 2, 3], [1, 2, 0]])
        np.testing.assert_array_equal(own_scale_scores(sampled)[0], [-values[0, 1], -values[2, 2], -values[3, 0]])


class TestPartScores:
    def test_they_are_what_is_read_without_each_part(self) -> None:
        values, parts = noise(), np.array([noise(seed=part) for part in range(1, PARTS + 1)])
        whole = Side(Matrix(values, np.zeros(values.shape, np.bool_), parts=parts), own(8), frozenset())
        kept = parts.astype(np.float32).astype(np.float64)
        for read in (relative_scores, own_scale_scores):
            np.testing.assert_array_equal(part_scores(whole, read), [read(side(each)) for each in kept])
        np.testing.assert_array_equal(part_scores(whole), part_scores(whole, relative_scores))

    def test_there_are_none_where_parts_are_not_scored(self) -> None:
        assert part_scores(side(noise())) is None
        assert part_scores(side(noise()), own_scale_scores) is None
