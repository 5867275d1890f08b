"""Single questions: cases of the reference, what is learned from them, the fusion, and the files that hold either."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet
from byline.corpora.reference import Reference, ReferenceText
from byline.engines.matrix import PARTS, Flags, Matrix, Side, Table
from byline.engines.questions import Question
from byline.errors import RunError, SettingsError
from byline.judgment.calibration import Calibration, calibration_values, read_calibration, write_calibration
from byline.judgment.cohort_norms import centered_score, cross_cohort_norm, profile_correlation, s_norm
from byline.judgment.single_questions import (
    CENTERED,
    DIFFERENT_CASES,
    NORMS,
    CaseGroup,
    Coefficients,
    ReferenceScores,
    average_engines,
    builtin_coefficients,
    coefficient_values,
    fit_logistic,
    fuse_reference_scores,
    learn_from_cases,
    read_coefficients,
    score_beside_reference,
)
from byline.runs.folder import RunOutput
from byline.runs.plan import plan_from
from byline.runs.run import Run
from byline.settings.settings import ENGINES, Settings, read_pool
from byline.storage.files import checked_json, read_checked_json
from byline.tasks.verify import verify
from samples import habits

GENERAL = Coefficients(
    units={"vectors": 2.0, "words": 0.5},
    means=(1.0, 0.0, 0.0, 0.5),
    deviations=(2.0, 1.0, 1.0, 0.5),
    weights=(1.0, 0.5, 0.0, 0.0, -0.25),
    variance=1.0,
    case_weight=1.0,
)
"""Made up, so that results can be worked out."""


def lay(
    asked: int, authors: int, excluded: Flags | None = None, seed: int = 0, way: int = 0, parts: bool = False
) -> Side:
    """Problems first, then authors of the reference; lower values are more alike."""
    rng, count = np.random.default_rng(seed), asked + authors
    own = np.arange(count) >= asked
    flags = np.diag(own) if excluded is None else excluded
    without = rng.normal(size=(PARTS, count, count)) if parts else None
    matrix = Matrix(rng.normal(size=(count, count)), flags, parts=without)
    return Side(matrix, tuple(Question(n, n, n) for n in range(asked)), frozenset(), way)


def made_scores(problems: Table, cases: Table, same: Flags, authors: int = 20) -> ReferenceScores:
    """Normalized scores that are given, of problems to which nobody is related."""
    known = np.arange(len(cases)) % authors
    unknown = np.where(same, known, (known + 1) % authors)
    group = CaseGroup(np.arange(len(problems)), cases, known, unknown, np.zeros((len(problems), authors), np.bool_))
    return ReferenceScores(problems, (group,))


def told_apart(count: int = 200, gap: float = 1.0, seed: int = 0) -> tuple[Table, Flags]:
    """Cases whose norms are higher by a gap where they are by one author."""
    rng, same = np.random.default_rng(seed), np.arange(count) % 2 == 0
    norms: Table = rng.normal(0, 1, (count, len(NORMS))) + gap * same[:, None]
    return norms, same


class TestCases:
    def test_every_author_is_compared_with_themselves_and_six_others(self) -> None:
        (group,) = score_beside_reference([lay(2, 12)], 2).groups
        pairs = list(zip(group.known.tolist(), group.unknown.tolist(), strict=True))
        assert len(set(pairs)) == len(pairs) == 12 * (1 + DIFFERENT_CASES)
        assert [pair for pair, same in zip(pairs, group.same, strict=True) if same] == [(n, n) for n in range(12)]
        for author in range(12):
            assert sum(known == author for known, _ in pairs) == sum(unknown == author for _, unknown in pairs) == 7

    def test_authors_who_may_be_one_are_in_no_case_together(self) -> None:
        """Whether the pair is excluded as document and head, or as head and document."""
        flags = np.diag(np.arange(13) >= 1)
        flags[1 + 3, 1 + 4] = flags[1 + 8, 1 + 6] = True
        (group,) = score_beside_reference([lay(1, 12, flags)], 1).groups
        pairs = set(zip(group.known.tolist(), group.unknown.tolist(), strict=True))
        assert pairs.isdisjoint({(3, 4), (4, 3), (6, 8), (8, 6)})
        assert len(pairs) == 12 * 7 - 2
        assert group.same.sum() == 12

    def test_few_authors_make_every_pair(self) -> None:
        (group,) = score_beside_reference([lay(1, 4)], 1).groups
        pairs = set(zip(group.known.tolist(), group.unknown.tolist(), strict=True))
        assert pairs == {(one, other) for one in range(4) for other in range(4)}

    def test_a_case_is_normalized_by_all_authors_but_its_own_and_who_may_be_them(self) -> None:
        flags = np.diag(np.arange(9) >= 1)
        flags[1 + 5, 1 + 2] = flags[1 + 2, 1 + 5] = True
        side = lay(1, 8, flags)
        (group,) = score_beside_reference([side], 1).groups
        cohort = -side.matrix.values[1:, 1:]
        for number, (known, unknown) in enumerate(zip(group.known.tolist(), group.unknown.tolist(), strict=True)):
            left_out = {known, unknown} | ({2, 5} if {known, unknown} & {2, 5} else set())
            counted = np.array([[author not in left_out for author in range(8)]])
            given = cohort[[unknown], known], cohort[:, [known]].T, cohort[[unknown]], counted
            assert group.norms[number].tolist() == pytest.approx(
                [s_norm(*given)[0], centered_score(*given)[0], cross_cohort_norm(*given)[0],
                 profile_correlation(*given[1:])[0]]
            )  # fmt: skip

    def test_the_other_way_heads_are_the_unknown_parts(self) -> None:
        """A matrix and its transpose that is asked the other way say the same: known and unknown stay apart."""
        side = lay(2, 9)
        turned = replace(side, matrix=Matrix(side.matrix.values.T.copy(), side.matrix.excluded.T.copy()), way=1)
        one, other, both = (score_beside_reference(sides, 2) for sides in ([side], [turned], [side, turned]))
        for found in (other, both):
            np.testing.assert_allclose(found.norms, one.norms)
            np.testing.assert_allclose(found.groups[0].norms, one.groups[0].norms)
            np.testing.assert_array_equal(found.groups[0].known, one.groups[0].known)


class TestProblems:
    def test_a_problem_is_normalized_by_the_reference_alone(self) -> None:
        side = lay(2, 10)
        found = score_beside_reference([side], 2)
        scores = -side.matrix.values
        for problem in range(2):
            rows, columns = scores[2:, [problem]].T, scores[[problem], 2:]
            given = scores[[problem], problem], rows, columns, np.ones((1, 10), np.bool_)
            assert found.norms[problem, 0] == pytest.approx(s_norm(*given)[0])
            assert found.norms[problem, CENTERED] == pytest.approx(centered_score(*given)[0])

    def test_ways_of_asking_are_averaged(self) -> None:
        sides = [lay(2, 10, seed=1), lay(2, 10, seed=2, way=1)]
        each = [score_beside_reference([side], 2) for side in sides]
        both = score_beside_reference(sides, 2)
        np.testing.assert_allclose(both.norms, (each[0].norms + each[1].norms) / 2)
        np.testing.assert_allclose(both.groups[0].norms, (each[0].groups[0].norms + each[1].groups[0].norms) / 2)

    def test_problems_with_other_cuts_of_the_reference_make_groups(self) -> None:
        first, second = lay(2, 10, seed=1), lay(1, 10, seed=2)
        second = replace(second, questions=(Question(2, 0, 0),))
        found = score_beside_reference([first, second], 3)
        assert [group.problems.tolist() for group in found.groups] == [[0, 1], [2]]
        np.testing.assert_array_equal(found.norms[2:], score_beside_reference([lay(1, 10, seed=2)], 1).norms)

    def test_an_author_who_is_related_to_a_problem_is_left_out_of_its_cohort(self) -> None:
        flags = np.diag(np.arange(12) >= 2)
        flags[0, 2 + 4] = True  # its document, but not its head
        side = lay(2, 10, flags)
        found = score_beside_reference([side], 2)
        np.testing.assert_array_equal(found.groups[0].related, [np.arange(10) == 4, [False] * 10])
        changed = side.matrix.values.copy()
        changed[0, 6] = changed[6, 0] = 99
        again = score_beside_reference([replace(side, matrix=Matrix(changed, flags))], 2)
        np.testing.assert_array_equal(again.norms, found.norms)

    def test_what_cannot_be_compared_is_no_number(self) -> None:
        side = replace(lay(2, 10), incomparable=frozenset([Question(1, 1, 1)]))
        norms = score_beside_reference([side], 2).norms
        assert np.isnan(norms[1]).all()
        assert not np.isnan(norms[0]).any()

    def test_without_each_part_the_problem_s_document_is_scored_without_it(self) -> None:
        side = lay(1, 10, parts=True)
        found = score_beside_reference([side], 1).parts
        assert found is not None
        assert side.matrix.parts is not None
        for part in range(PARTS):
            values = side.matrix.values.copy()
            values[0] = side.matrix.parts[part, 0]
            without = score_beside_reference([replace(side, matrix=replace(side.matrix, values=values))], 1)
            np.testing.assert_allclose(found[part], without.norms)
        assert score_beside_reference([lay(1, 10)], 1).parts is None


class TestFitLogistic:
    norms, same = told_apart()
    importance = np.random.default_rng(5).uniform(0.2, 2, 200)

    def test_it_finds_what_scikit_learn_finds(self) -> None:
        """Which shrinks towards 0, and not the offset: a column of ones with hardly any precision."""
        model = LogisticRegression(C=1 / 3.0, tol=1e-10, max_iter=1000)
        model.fit(self.norms, self.same, sample_weight=self.importance)
        inputs = np.concatenate([self.norms, np.ones((200, 1))], axis=1)
        found = fit_logistic(inputs, self.same, self.importance, np.zeros(5), np.array([3.0] * 4 + [1e-9]))
        assert found.tolist() == pytest.approx([*model.coef_[0].tolist(), float(model.intercept_[0])], abs=1e-4)

    def test_it_is_the_optimum_with_any_prior(self) -> None:
        prior, precision = np.array([2.0, -1, 0, 0.5]), np.array([0.1, 1, 10, 100])

        def cost(weights: Table) -> float:
            margins = np.where(self.same, 1, -1) * (self.norms @ weights)
            return float(self.importance @ np.log1p(np.exp(-margins)) + precision @ (weights - prior) ** 2 / 2)

        found = fit_logistic(self.norms, self.same, self.importance, prior, precision)
        best = minimize(
            cost, np.zeros(4), method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-9, "maxiter": 9999}
        )
        np.testing.assert_allclose(found, best.x, atol=1e-4)
        assert cost(found) <= best.fun + 1e-9

    def test_a_precise_prior_is_kept(self) -> None:
        prior = np.array([2.0, -1, 0, 0.5])
        found = fit_logistic(self.norms, self.same, self.importance, prior, np.full(4, 1e9))
        np.testing.assert_allclose(found, prior, atol=1e-6)


class TestLearning:
    def test_without_cases_the_general_coefficients_remain(self) -> None:
        for norms, same in (
            (np.zeros((0, 4)), np.zeros(0, np.bool_)),
            (np.ones((3, 4)), np.ones(3, np.bool_)),
            (np.ones((3, 4)), np.zeros(3, np.bool_)),
        ):
            learned = learn_from_cases(norms, same, 12, GENERAL)
            assert learned.weights.tolist() == list(GENERAL.weights)
            np.testing.assert_allclose(learned.covariance, np.eye(5) * GENERAL.variance)

    @pytest.mark.parametrize("norm", range(len(NORMS)))
    def test_a_norm_that_tells_authors_apart_gains_weight_and_a_misleading_one_loses(self, norm: int) -> None:
        norms, same = told_apart(gap=0)
        for gap in (3, -3):
            changed = norms.copy()
            changed[:, norm] += gap * same
            learned = learn_from_cases(changed, same, 30, GENERAL)
            assert np.sign(learned.weights[norm] - GENERAL.weights[norm]) == np.sign(gap)

    def test_the_offset_follows_the_level_of_the_cases(self) -> None:
        norms, same = told_apart()
        low, high = (learn_from_cases(norms + shift, same, 30, GENERAL) for shift in (0, 3))
        assert high.weights[-1] < low.weights[-1]

    def test_more_authors_move_the_coefficients_more_and_leave_smaller_errors(self) -> None:
        norms, same = told_apart(gap=3)
        asked = norms[:5]
        moved, errors = [], []
        for authors in (0, 10, 30, 100):
            learned = learn_from_cases(norms, same, authors, GENERAL)
            moved.append(np.abs(learned.weights - GENERAL.weights).sum())
            errors.append(learned.error(asked).sum())
        assert moved == sorted(moved)
        assert moved[0] == pytest.approx(0, abs=1e-6)
        assert errors == sorted(errors, reverse=True)

    def test_cases_of_either_kind_weigh_the_same_however_many_they_are(self) -> None:
        norms, same = told_apart()
        repeated = np.concatenate([norms, *[norms[~same]] * 5]), np.concatenate([same, *[same[~same]] * 5])
        one, other = learn_from_cases(norms, same, 30, GENERAL), learn_from_cases(*repeated, 30, GENERAL)
        np.testing.assert_allclose(one.weights, other.weights, atol=1e-5)

    def test_the_ratio_is_the_sum_of_the_weighed_standardized_norms(self) -> None:
        """(3 - 1) / 2 x 1 + 2 x 0.5 - 0.25."""
        learned = learn_from_cases(np.zeros((0, 4)), np.zeros(0, np.bool_), 12, GENERAL)
        assert learned.ratio(np.array([[3.0, 2, 7, 8]])).tolist() == pytest.approx([1.75])
        assert learned.error(np.array([[3.0, 2, 0, 0.5]])).tolist() == pytest.approx([np.sqrt(1 + 4 + 1)])

    def test_the_covariance_is_that_of_laplace_s_approximation(self) -> None:
        """The inverse of the second derivative of the cost, worked out from numerical gradients."""
        norms, same = told_apart()
        learned = learn_from_cases(norms, same, 30, GENERAL)
        inputs = np.concatenate([(norms - GENERAL.means) / GENERAL.deviations, np.ones((200, 1))], axis=1)
        signs = np.where(same, 1.0, -1.0)

        def gradient(weights: Table) -> Table:
            pulls = signs / (1 + np.exp(signs * (inputs @ weights))) * (30 / 2 / 100)
            return weights - np.array(GENERAL.weights) - inputs.T @ pulls

        np.testing.assert_allclose(gradient(learned.weights), 0, atol=1e-4)
        steps = np.eye(5) * 1e-5
        hessian = [(gradient(learned.weights + step) - gradient(learned.weights - step)) / 2e-5 for step in steps]
        np.testing.assert_allclose(learned.covariance, np.linalg.inv(hessian), rtol=1e-4)


class TestFusion:
    cases, same = told_apart()
    problems = np.random.default_rng(1).normal(1, 1, (3, len(NORMS)))

    def member(self, shift: float = 0, problems: Table | None = None) -> ReferenceScores:
        asked = self.problems + shift if problems is None else problems
        return made_scores(asked, self.cases + shift, self.same)

    def test_engines_count_equally_however_many_members_they_have(self) -> None:
        one, two, three = (self.member(shift) for shift in (0, 1, 2))
        few = fuse_reference_scores([("vectors", two), ("words", three)], GENERAL)
        many = fuse_reference_scores(
            [("vectors", one), ("words", three), ("vectors", three), ("vectors", two)], GENERAL
        )
        np.testing.assert_allclose(many.ratios, few.ratios, atol=1e-8)

    def test_centered_scores_count_in_the_unit_of_their_engine(self) -> None:
        scaled = self.problems.copy(), self.cases.copy()
        for each in scaled:
            each[:, CENTERED] *= 4  # a unit is 2 for vectors and 0.5 for words
        vectors = made_scores(*scaled, self.same)
        words = made_scores(self.problems, self.cases, self.same)
        np.testing.assert_allclose(
            fuse_reference_scores([("vectors", vectors)], GENERAL).ratios,
            fuse_reference_scores([("words", words)], GENERAL).ratios,
            atol=1e-8,
        )

    def test_centered_scores_are_relative_to_different_authors_in_the_engine_s_unit(self) -> None:
        different = self.cases[~self.same, CENTERED]
        shifted = self.cases[:, CENTERED] - different.mean()
        known = average_engines([("words", self.member())], 0, GENERAL.units)
        assert known.cases[:, CENTERED] == pytest.approx(shifted / 0.5)
        unknown = average_engines([("rnn", self.member())], 0, GENERAL.units)
        assert unknown.cases[:, CENTERED] == pytest.approx(shifted / different.std())

    def test_a_constant_that_an_engine_adds_to_all_scores_changes_nothing(self) -> None:
        plain = self.member()
        constant = np.where(np.arange(len(NORMS)) == CENTERED, 7.0, 0.0)
        (group,) = plain.groups
        raised = replace(plain, norms=plain.norms + constant, groups=(group._replace(norms=group.norms + constant),))
        found = [fuse_reference_scores([("words", scores)], GENERAL).ratios for scores in (plain, raised)]
        assert found[0] == pytest.approx(found[1])

    def test_a_member_that_cannot_assess_a_problem_leaves_it_to_the_others(self) -> None:
        asked = self.problems.copy()
        asked[1] = np.nan
        unable = self.member(problems=asked)
        alone = fuse_reference_scores([("vectors", unable)], GENERAL)
        assert np.isnan(alone.ratios).tolist() == np.isnan(alone.errors).tolist() == [False, True, False]
        both = fuse_reference_scores([("vectors", unable), ("words", self.member())], GENERAL)
        assert not np.isnan(both.ratios).any()

    def test_authors_who_are_related_to_a_problem_teach_it_nothing(self) -> None:
        """Their cases say that all norms mislead; whoever is not related to them learns that."""
        wrong = self.cases.copy()
        (group,) = self.member().groups
        theirs = (group.known < 10) | (group.unknown < 10)
        wrong[theirs] = np.where(self.same[theirs, None], -9, 9)
        related = np.zeros((3, 20), np.bool_)
        related[0, :10] = True
        found, right = (
            fuse_reference_scores(
                [("words", ReferenceScores(self.problems, (group._replace(norms=norms, related=related),)))], GENERAL
            ).ratios
            for norms in (wrong, self.cases)
        )
        assert found[0] == pytest.approx(right[0])
        assert (np.abs(found[1:] - right[1:]) > 0.1).all()

    def test_only_cases_that_all_members_have_are_learned_from(self) -> None:
        """Masked, texts of two authors may be one text; then members that mask have fewer cases than others."""
        (group,) = self.member().groups
        kept = (group.known != 3) | (group.unknown != 4)
        fewer = group._replace(norms=group.norms[kept], known=group.known[kept], unknown=group.unknown[kept])
        few, all_cases = (ReferenceScores(self.problems, (each,)) for each in (fewer, group))
        wanted = fuse_reference_scores([("words", few), ("vectors", few)], GENERAL).ratios
        for members in ([("words", few), ("vectors", all_cases)], [("words", all_cases), ("vectors", few)]):
            np.testing.assert_array_equal(fuse_reference_scores(members, GENERAL).ratios, wanted)

    def test_other_problems_change_nothing(self) -> None:
        together = fuse_reference_scores([("words", self.member())], GENERAL)
        for number in range(3):
            alone = fuse_reference_scores([("words", self.member(problems=self.problems[[number]]))], GENERAL)
            assert alone.ratios[0] == together.ratios[number]
            assert alone.errors[0] == pytest.approx(together.errors[number])

    def test_the_error_over_parts_of_the_texts_comes_on_top(self) -> None:
        """The s-norm is 1, 0, 0, 0 and -1 apart without the parts in turn: a variance of 2/5, times 4."""
        whole = self.member()
        parts = np.tile(self.problems, (PARTS, 1, 1))
        parts[:, :, 0] += np.array([1.0, 0, 0, 0, -1])[:, None]
        plain, divided = (
            fuse_reference_scores([("words", replace(whole, parts=each))], GENERAL) for each in (None, parts)
        )
        (group,) = whole.groups
        cases = average_engines([("words", whole)], 0, GENERAL.units).cases
        weights = learn_from_cases(cases, group.same, 20, GENERAL).weights
        np.testing.assert_array_equal(divided.ratios, plain.ratios)
        jackknife = np.sqrt(8 / 5) * abs(weights[0]) / GENERAL.deviations[0]
        np.testing.assert_allclose(divided.errors, np.hypot(plain.errors, jackknife))
        one_without = fuse_reference_scores([("words", replace(whole, parts=parts)), ("vectors", whole)], GENERAL)
        assert np.isfinite(one_without.errors).all()


class TestProse:
    """Generated texts, whose authors use the same words with different frequencies."""

    def answer(self, known: str, unknown: str) -> float:
        texts = [
            ReferenceText(Document(f"{author}-{text}", habits(author, 2000, text)), f"person {author}")
            for author in range(12)
            for text in range(2)
        ]
        asked = Problem("EN001", (Document("known", known),), Document("unknown", unknown), "english")
        (answer,) = verify(
            ProblemSet((asked,), "folders"), "cohort", reference=Reference("english", tuple(texts))
        ).answers
        assert answer.score is not None
        return answer.score

    def test_a_pair_that_is_very_alike_has_a_higher_ratio_than_an_unlike_one(self) -> None:
        draw = random.Random(1)
        known = habits("someone", 2000, 1)
        shuffled = " ".join(draw.sample(known.split(), len(known.split())))
        alike, same, different = (
            self.answer(known, text) for text in (shuffled, habits("someone", 2000, 2), habits("other", 2000, 2))
        )
        assert alike > same > different
        assert different < 0 < alike


class TestFiles:
    def test_the_built_in_coefficients_fit_the_preset_and_its_calibration(self) -> None:
        """Their values may change; what they must be does not."""
        general = builtin_coefficients()
        names = {row.engine_name for row in read_pool("cohort").rows}
        assert names <= general.units.keys()
        assert {name.partition(" ")[0] for name in general.units} <= ENGINES.keys()
        assert len(general.means) == len(general.deviations) == len(general.weights) - 1 == len(NORMS)
        assert min(*general.units.values(), *general.deviations, general.variance, general.case_weight) > 0

    def test_coefficients_survive_the_disk(self, tmp_path: Path) -> None:
        path = tmp_path / "coefficients.json"
        path.write_bytes(checked_json(coefficient_values(GENERAL)))
        assert read_coefficients(path) == GENERAL

    @pytest.mark.parametrize("name", ["units", "means", "weights", "variance"])
    @pytest.mark.parametrize("value", [None, "x", [["a"]]])
    def test_a_file_that_holds_none_is_refused(self, tmp_path: Path, name: str, value: object) -> None:
        path = tmp_path / "coefficients.json"
        path.write_bytes(checked_json({**coefficient_values(GENERAL), name: value}))
        with pytest.raises(SettingsError, match="not a file of coefficients"):
            read_coefficients(path)

    def test_a_calibration_of_earlier_scores_is_refused_with_a_remedy(self, tmp_path: Path) -> None:
        path = tmp_path / "line.json"
        line = Calibration(1.0, 0.0, 2.0, 0.1, "cohort", ("vectors",), "x", 100, 200, ("y",), cllr=0.7, cllr_min=0.6)
        write_calibration(path, line)
        assert read_calibration(path) == line
        for earlier in (1, 2):
            path.write_bytes(checked_json({"format": earlier, "kind": "calibration", **calibration_values(line)}))
            with pytest.raises(SettingsError, match="earlier Byline") as caught:
                read_calibration(path)
            assert caught.value.where == str(path)
            assert caught.value.remedy
        relative = replace(line, interpretation="relative")
        path.write_bytes(checked_json({"format": 2, "kind": "calibration", **calibration_values(relative)}))
        assert read_calibration(path) == relative

    def test_a_run_of_an_earlier_kind_is_refused_with_a_remedy(self, tmp_path: Path) -> None:
        texts = [ReferenceText(Document(f"{n}", habits(n, 300)), f"person {n}") for n in range(11)]
        asked = Problem("EN001", (Document("k", habits("k", 300)),), Document("u", habits("u", 300)), "english")
        verify(
            ProblemSet((asked,), "folders"), Settings(engine="vectors"),
            reference=Reference("english", tuple(texts)), output=RunOutput(tmp_path),
        )  # fmt: skip
        assert Run.open(tmp_path).answers
        path = tmp_path / "plan.json"
        values = {name: value for name, value in read_checked_json(path).items() if name != "checksum"}
        path.write_bytes(checked_json({**values, "format": 1}))
        with pytest.raises(RunError, match="earlier Byline") as caught:
            Run.open(tmp_path)
        assert caught.value.remedy
        assert plan_from({**values, "format": 1, "interpret": "relative"}, "here").judgment.interpretation == "relative"
