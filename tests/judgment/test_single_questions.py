"""Single questions: qualities, ratios, bounds and errors by hand, and the files that hold coefficients."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet
from byline.corpora.reference import Reference, ReferenceText
from byline.engines.matrix import PARTS, Flags, Table
from byline.errors import RunError, SettingsError
from byline.judgment import single_questions
from byline.judgment.calibration import (
    Calibration,
    builtin_calibration,
    calibration_values,
    read_calibration,
    write_calibration,
)
from byline.judgment.metrics import cllr
from byline.judgment.reference_scores import CaseGroup, ReferenceScores, average_reference_scores
from byline.judgment.single_questions import (
    LEAST_SEPARATION,
    QUALITIES,
    STEEPEST,
    TYPICAL_LENGTH,
    TYPICAL_SEPARATION,
    Bounds,
    Coefficients,
    builtin_coefficients,
    coefficient_values,
    fuse_reference_scores,
    measure_qualities,
    rate_cases,
    rate_scores,
    read_coefficients,
)
from byline.runs.folder import RunOutput
from byline.runs.plan import plan_from
from byline.runs.run import Run
from byline.settings.settings import Settings, kinds_of, read_pool
from byline.storage.files import checked_json, read_checked_json
from byline.tasks.verify import verify
from samples import habits

NAN = float("nan")
BOUNDS = Bounds((-1.0, 1.0, 2.0), (0.5, 1.5, 2.0), (1.0, 2.0, 2.2))
GENERAL = Coefficients(
    slope={"constant": 0.5, "separation": 1.0},
    midpoint={"constant": 1.0, "own": 0.5},
    covariance=tuple(map(tuple, np.diag([0.04, 0.01, 0.09, 0.01]).tolist())),
    bounds=BOUNDS,
    corpora=("made up",),
)
"""Made up, so that results can be worked out."""
SAME, DIFFERENT = (3.0, 5.0), (-1.0, 3.0)
"""Scores of cases: means of 4 and 1, variances of 1 and 4. The separation is 3 over the root of 2.5."""
SEPARATION = 3 / np.sqrt(2.5)
SLOPE = np.exp(0.5) * SEPARATION / TYPICAL_SEPARATION
MIDPOINT = 1 + 0.5 * 4
"""Those of problems without own pairs by the coefficients above: `own` is the mean of the cases by one author."""


def group_of(
    same: Sequence[float] = SAME,
    different: Sequence[float] = DIFFERENT,
    problems: int = 1,
    related: Flags | None = None,
    lengths: tuple[int, int] = (TYPICAL_LENGTH, TYPICAL_LENGTH),
) -> CaseGroup:
    """Return cases of these scores: each author's with themselves, then authors 0, 1 ... with the next."""
    count = max(len(same), 2)
    known = np.array([*range(len(same)), *(np.arange(len(different)) % count)], np.int64)
    unknown = np.array([*range(len(same)), *((np.arange(len(different)) + 1) % count)], np.int64)
    return CaseGroup(
        problems=np.arange(problems),
        scores=np.array([*same, *different], np.float64),
        known=known,
        unknown=unknown,
        halves=(known == unknown) & (known == 1),
        trials=np.arange(len(known)),
        related=np.zeros((problems, count), np.bool_) if related is None else related,
        lengths=lengths,
    )


def made_scores(
    problems: Sequence[float], group: CaseGroup | None = None, own: Sequence[float] | None = None
) -> ReferenceScores:
    """Return scores of problems, beside the cases by hand if no others are given."""
    pairs = np.full(len(problems), NAN) if own is None else np.array(own, np.float64)
    return ReferenceScores(
        np.array(problems, np.float64), pairs, (group_of(problems=len(problems)) if group is None else group,)
    )


def fuse_one(scores: ReferenceScores, coefficients: Coefficients = GENERAL) -> single_questions.FusedRatios:
    return fuse_reference_scores([("vectors", scores)], coefficients)


class TestQualities:
    def measure(self, group: CaseGroup, own: float = NAN) -> dict[str, float]:
        found = measure_qualities(group, np.array([own]))
        return {name: float(value) for name, (value,) in found.items()}

    def test_all_that_are_named_are_measured(self) -> None:
        assert tuple(self.measure(group_of())) == QUALITIES

    def test_the_constant_is_1(self) -> None:
        assert self.measure(group_of())["constant"] == 1

    @pytest.mark.parametrize("lengths", [(1_000, 8_000), (8_000, 1_000), (1_000, 1_000)])
    def test_the_length_is_that_of_the_shorter_side(self, lengths: tuple[int, int]) -> None:
        assert self.measure(group_of(lengths=lengths))["length"] == pytest.approx(np.log(1_000 / TYPICAL_LENGTH))

    def test_the_separation_is_the_difference_of_means_in_standard_deviations(self) -> None:
        assert self.measure(group_of())["separation"] == pytest.approx(np.log(SEPARATION / TYPICAL_SEPARATION))
        wider = group_of([2, 6], [-1, 3])
        assert self.measure(wider)["separation"] == pytest.approx(np.log(3 / 2 / TYPICAL_SEPARATION))

    @pytest.mark.parametrize(
        ("same", "different"), [((3, 5), ()), ((), (1, 2)), ((), ()), ((1, 3), (5, 7)), ((1, 3), (1, 3))]
    )
    def test_cases_that_are_not_separated_count_as_hardly_separated(
        self, same: Sequence[float], different: Sequence[float]
    ) -> None:
        """Because there are none of one kind, or because those by two authors are as alike."""
        found = self.measure(group_of(same, different))
        assert found["separation"] == pytest.approx(np.log(LEAST_SEPARATION / TYPICAL_SEPARATION))

    def test_halves_are_a_share_of_the_cases_by_one_author(self) -> None:
        """Author 1 has one text, the others have several."""
        assert self.measure(group_of([1, 2, 3, 4], [0] * 7))["halves"] == 0.25
        assert self.measure(group_of([1], [0]))["halves"] == 0
        assert self.measure(group_of([], [0]))["halves"] == 0

    @pytest.mark.parametrize(("own", "wanted"), [(6.5, (6.5, 2.5)), (3.0, (3.0, 0.0)), (NAN, (4.0, 0.0))])
    def test_own_pairs_exceed_the_mean_of_cases_by_one_author(self, own: float, wanted: tuple[float, float]) -> None:
        """Which is 4. Problems without own pairs are taken to be like these cases."""
        found = self.measure(group_of(), own)
        assert (found["own"], found["excess"]) == wanted


class TestRatios:
    def test_the_ratio_is_the_slope_times_the_distance_from_the_midpoint(self) -> None:
        found = fuse_one(made_scores([5, 3, 2.5]))
        assert found.ratios == pytest.approx([2 * SLOPE, 0, -0.5 * SLOPE])
        assert found.slopes == pytest.approx([SLOPE] * 3)

    def test_own_pairs_move_the_midpoint(self) -> None:
        """1 + 0.5 x 7 instead of 1 + 0.5 x 4."""
        ratios = fuse_one(made_scores([5, 5], own=[7, NAN])).ratios
        assert ratios == pytest.approx([0.5 * SLOPE, 2 * SLOPE])

    @pytest.mark.parametrize("name", QUALITIES)
    def test_any_quality_may_change_slope_and_midpoint(self, name: str) -> None:
        """exp(0.3 x quality) times a score of 5 less 0.2 x quality."""
        group = group_of(lengths=(1_000, 9_000))
        value = float(measure_qualities(group, np.array([6.0]))[name][0])
        made = Coefficients({name: 0.3}, {name: 0.2}, ((0, 0), (0, 0)), BOUNDS)
        assert value != 0
        assert fuse_one(made_scores([5], group, [6]), made).ratios == pytest.approx(
            [np.exp(0.3 * value) * (5 - 0.2 * value)]
        )

    def test_the_better_cases_are_separated_the_steeper_is_the_slope(self) -> None:
        near, far = (group_of([3, 5], [low, low + 4], problems=2) for low in (-1, -4))
        found = [fuse_one(made_scores([5, 3], group)).ratios for group in (near, far)]
        assert found[1] == pytest.approx(found[0] * 2)  # means are 6 apart instead of 3

    def test_a_slope_is_limited(self) -> None:
        steep = replace(GENERAL, slope={"constant": 50.0, "separation": 0.0})
        found = fuse_one(made_scores([5]), steep)
        assert found.ratios == pytest.approx([2 * np.exp(STEEPEST)])
        assert found.slopes == pytest.approx([np.exp(STEEPEST)])

    def test_the_reference_s_cases_are_rated_as_questions_are(self) -> None:
        """And as questions without own pairs."""
        group = group_of(problems=4)
        assert rate_cases(group, GENERAL) == pytest.approx([0, 2 * SLOPE, -4 * SLOPE, 0])
        asked = fuse_one(made_scores(group.scores.tolist(), group))
        np.testing.assert_allclose(asked.ratios, rate_cases(group, GENERAL), atol=1e-9)

    def test_only_the_problems_that_are_asked_for_are_rated(self) -> None:
        means = average_reference_scores([("vectors", made_scores([5, 3, 2.5], own=[NAN, NAN, 7]))], 0)
        found = rate_scores(means, np.array([2, 0]), GENERAL)
        assert found.ratios == pytest.approx([(2.5 - 4.5) * SLOPE, 2 * SLOPE])


class TestBounds:
    def test_they_are_interpolated_between_slopes_and_constant_beyond(self) -> None:
        same, different = BOUNDS.at(np.array([-5, -1, 0, 1, 1.5, 2, 9]))
        assert same == pytest.approx([0.5, 0.5, 1.0, 1.5, 1.75, 2.0, 2.0])
        assert different == pytest.approx([1.0, 1.0, 1.5, 2.0, 2.1, 2.2, 2.2])

    def test_those_of_a_problem_depend_on_the_logarithm_of_its_slope(self) -> None:
        shallow = replace(GENERAL, slope={"constant": 0.2, "own": -0.1})
        bounds = fuse_one(made_scores([5, 5], own=[NAN, 12]), shallow).bounds
        np.testing.assert_allclose(bounds, [[0.9, 1.4], [0.5, 1.0]])  # logarithms of -0.2 and -1.0


class TestErrors:
    def test_by_the_delta_method_by_hand(self) -> None:
        """Variances of 0.04, 0.01, 0.09 and 0.01, of the constant, the separation, the constant and own pairs.

        The logarithm of the slope moves the ratio by the ratio itself, the midpoint by the slope.
        """
        quality = np.log(SEPARATION / TYPICAL_SEPARATION)
        of_slope = 0.04 + 0.01 * quality**2
        of_midpoint = (0.09 + 0.01 * 4**2) * SLOPE**2
        errors = fuse_one(made_scores([5, 3])).errors
        assert errors == pytest.approx([np.sqrt(of_slope * (2 * SLOPE) ** 2 + of_midpoint), np.sqrt(of_midpoint)])

    def test_coefficients_that_vary_together_by_small_changes_of_each(self) -> None:
        rng = np.random.default_rng(0)
        factor = rng.normal(size=(5, 5)) / 10
        scores = made_scores([5, -1], group_of(lengths=(500, 500), problems=2), [6, 2])
        values = np.array([0.5, 1.0, 0.2, 1.0, 0.5])

        def coefficients(given: Table) -> Coefficients:
            one, two, three, four, five = given.tolist()
            return Coefficients(
                {"constant": one, "separation": two, "length": three},
                {"constant": four, "excess": five},
                tuple(map(tuple, (factor @ factor.T).tolist())),
                BOUNDS,
            )

        gradient = [
            (
                fuse_one(scores, coefficients(values + step)).ratios
                - fuse_one(scores, coefficients(values - step)).ratios
            )
            / 2e-4
            for step in np.eye(5) * 1e-4
        ]
        wanted = np.sqrt(((np.array(gradient).T @ factor) ** 2).sum(axis=1))
        np.testing.assert_allclose(fuse_one(scores, coefficients(values)).errors, wanted, rtol=1e-4)

    def test_the_error_over_parts_of_the_texts_comes_on_top(self) -> None:
        """Without the parts in turn the score is 1, 0, 0, 0 and -1 apart: a variance of 2/5, times 4."""
        whole = made_scores([5, 3])
        parts = np.repeat(whole.scores[None], PARTS, axis=0)
        parts[:, 0] += [1.0, 0, 0, 0, -1]
        plain, divided = (fuse_one(replace(whole, parts=each)) for each in (None, parts))
        np.testing.assert_array_equal(divided.ratios, plain.ratios)
        jackknife = np.sqrt(8 / 5) * SLOPE
        assert divided.errors == pytest.approx([np.hypot(plain.errors[0], jackknife), plain.errors[1]])

    def test_if_a_member_has_no_parts_none_count(self) -> None:
        whole = made_scores([5, 3])
        divided = replace(whole, parts=np.random.default_rng(0).normal(size=(PARTS, 2)))
        found = fuse_reference_scores([("vectors", divided), ("words", whole)], GENERAL)
        np.testing.assert_allclose(found.errors, fuse_one(whole).errors)


class TestMembers:
    def test_engines_count_equally_however_many_members_they_have(self) -> None:
        """4 and 6 by one engine, 3 by another: a mean of 4."""
        four, six, three = (made_scores([score]) for score in (4, 6, 3))
        found = fuse_reference_scores([("vectors", four), ("words", three), ("vectors", six)], GENERAL)
        assert found.ratios == pytest.approx([1 * SLOPE])

    def test_a_member_that_cannot_assess_a_problem_leaves_it_to_the_others(self) -> None:
        unable = made_scores([NAN, 5])
        alone = fuse_one(unable)
        assert np.isnan(alone.ratios).tolist() == np.isnan(alone.errors).tolist() == [True, False]
        both = fuse_reference_scores([("vectors", unable), ("words", made_scores([3.5, 4]))], GENERAL)
        assert both.ratios == pytest.approx([0.5 * SLOPE, 1.5 * SLOPE])

    def test_the_order_of_members_does_not_matter(self) -> None:
        rng = np.random.default_rng(0)
        members = [(engine, made_scores(rng.normal(size=5).tolist())) for engine in "abbabcb"]
        one, other = (fuse_reference_scores(each, GENERAL) for each in (members, members[::-1]))
        np.testing.assert_array_equal(one.ratios, other.ratios)


class TestReferences:
    def test_cases_of_related_authors_do_not_count_for_a_problem(self) -> None:
        """Without author 2 they are the cases by hand; with author 2 they score -1/3 and 5 on average."""
        hand = group_of(problems=2)
        group = hand._replace(
            scores=np.array([*SAME, *DIFFERENT, -9, 9, 9]),
            known=np.array([*hand.known, 2, 1, 2]),
            unknown=np.array([*hand.unknown, 2, 2, 0]),
            halves=np.zeros(7, np.bool_),
            trials=np.arange(7),
            related=np.array([[False, False, True], [False, False, False]]),
        )
        found = fuse_one(made_scores([5, 5], group))
        hardly = np.exp(0.5) * LEAST_SEPARATION / TYPICAL_SEPARATION
        assert found.ratios == pytest.approx([2 * SLOPE, hardly * (5 - 1 + 0.5 / 3)])
        counts = [(each.authors, each.same, each.different) for each in found.learned if each is not None]
        assert counts == [(2, 2, 2), (3, 3, 4)]

    def test_an_author_who_is_related_to_any_member_s_problem_is_left_out(self) -> None:
        """One member may see a shared text that another does not."""
        plain, related = (group_of(related=np.array([[False, flag]])) for flag in (False, True))
        members = [("vectors", made_scores([5], plain)), ("words", made_scores([5], related))]
        for order in (members, members[::-1]):
            (learned,) = fuse_reference_scores(order, GENERAL).learned
            assert learned is not None
            assert (learned.authors, learned.same, learned.different) == (1, 1, 0)

    def test_other_problems_change_nothing(self) -> None:
        scores, own = [5.0, 3.5, -1.0, 2.0], [NAN, 6.0, 4.5, NAN]
        related = np.array([[False, False], [True, False], [False, False], [True, False]])
        together = fuse_one(made_scores(scores, group_of(problems=4, related=related), own))
        for number in range(4):
            group = group_of(related=related[[number]])
            alone = fuse_one(made_scores([scores[number]], group, [own[number]]))
            assert alone.ratios[0] == together.ratios[number]
            assert alone.errors[0] == pytest.approx(together.errors[number])
            assert alone.bounds[0] == pytest.approx(together.bounds[number])
            assert alone.slopes[0] == pytest.approx(together.slopes[number])
            assert alone.learned[0] == together.learned[number]

    def test_problems_beside_other_cuts_of_the_reference_learn_from_these(self) -> None:
        one = group_of()._replace(problems=np.array([1]))
        other = group_of([3, 5], [-4, 0], lengths=(500, 250))._replace(problems=np.array([0]))
        found = fuse_one(replace(made_scores([5, 5]), groups=(one, other)))
        assert found.ratios == pytest.approx([4 * SLOPE, 2 * SLOPE])
        assert found.slopes == pytest.approx([2 * SLOPE, SLOPE])
        np.testing.assert_allclose(found.bounds.T, BOUNDS.at(np.log([2 * SLOPE, SLOPE])))
        assert [each.lengths for each in found.learned if each] == [(500, 250), (TYPICAL_LENGTH, TYPICAL_LENGTH)]

    def test_what_is_learned_from_cases_is_told(self) -> None:
        group = group_of(lengths=(2_000, 500))
        (learned,) = fuse_one(made_scores([5], group)).learned
        assert learned is not None
        assert (learned.lengths, learned.authors, learned.same, learned.different, learned.halves) == (
            (2_000, 500), 2, 2, 2, 1,
        )  # fmt: skip
        assert learned.separation == pytest.approx(SEPARATION)
        ratios = np.array([0, 2 * SLOPE, -4 * SLOPE, 0])
        assert learned.cllr == pytest.approx(cllr([True, True, False, False], ratios))

    @pytest.mark.parametrize(("same", "different"), [((3, 5), ()), ((), (1, 2)), ((), ())])
    def test_without_cases_of_both_kinds_there_is_an_answer_but_no_cost(
        self, same: Sequence[float], different: Sequence[float]
    ) -> None:
        """`own` is 0 then, so that the midpoint is 1."""
        found = fuse_one(made_scores([5], group_of(same, different)))
        assert found.ratios == pytest.approx([4 * np.exp(0.5) * LEAST_SEPARATION / TYPICAL_SEPARATION])
        (learned,) = found.learned
        assert learned is not None
        assert (learned.cllr, learned.separation) == (None, 0)


@pytest.fixture
def made_coefficients(monkeypatch: pytest.MonkeyPatch) -> None:
    """A midpoint that is always 1, whichever coefficients come with the package."""
    made = Coefficients({"constant": 0.5, "separation": 1.0}, {"constant": 1.0}, ((0.0,) * 3,) * 3, BOUNDS)
    monkeypatch.setattr(single_questions, "builtin_coefficients", lambda: made)


@pytest.mark.usefixtures("made_coefficients")
class TestProse:
    """Generated texts, whose authors use the same words with different frequencies."""

    def answer(self, known: str, *unknown: str) -> list[float]:
        texts = [
            ReferenceText(Document(f"{author}-{text}", habits(author, 2000, text)), f"person {author}")
            for author in range(12)
            for text in range(2)
        ]
        asked = [
            Problem(f"EN{n:03}", (Document("known", known),), Document("unknown", text), "english")
            for n, text in enumerate(unknown)
        ]
        found = verify(
            ProblemSet(tuple(asked), "folders"), Settings(engine="vectors"),
            reference=Reference("english", tuple(texts)),
        )  # fmt: skip
        return [answer.score for answer in found.answers if answer.score is not None]

    def test_a_pair_that_is_very_alike_has_a_higher_ratio_than_an_unlike_one(self) -> None:
        draw = random.Random(1)
        known = habits("someone", 500, 1)
        shuffled = " ".join(draw.sample(known.split(), len(known.split())))
        texts = shuffled, habits("someone", 500, 2), habits("other", 500, 2)
        alike, same, different = self.answer(known, *texts)
        assert alike > same > different
        assert different < 0 < alike
        assert [*self.answer(known, texts[1]), *self.answer(known, texts[2], texts[0])] == [same, different, alike]


class TestFiles:
    def test_the_built_in_coefficients_fit_the_calibration_of_their_preset(self) -> None:
        """Their values may change; what they must be does not."""
        general = builtin_coefficients()
        assert {"constant", "separation"} <= general.slope.keys()
        assert "constant" in general.midpoint
        assert general.slope["separation"] > 0
        assert np.linalg.eigvalsh(np.array(general.covariance)).min() > -1e-9
        assert len(general.corpora) > 10
        line = builtin_calibration("cohort", kinds_of(read_pool("cohort").rows))
        assert line is not None
        assert (line.slope, line.offset) == (1, 0)
        assert line.caps == pytest.approx((max(general.bounds.same), max(general.bounds.different)))

    def test_coefficients_survive_the_disk(self, tmp_path: Path) -> None:
        path = tmp_path / "coefficients.json"
        values = coefficient_values(GENERAL)
        assert set(values) == {"slope", "midpoint", "covariance", "bounds", "corpora"}
        assert set(values["bounds"]) == {"slopes", "same", "different"}
        path.write_bytes(checked_json(values))
        assert read_coefficients(path) == GENERAL

    @pytest.mark.parametrize("name", ["slope", "midpoint", "covariance", "bounds"])
    @pytest.mark.parametrize("value", [None, "x", [["a"]], {"slopes": [1]}, [[1.0]]])
    def test_a_file_that_holds_none_is_refused(self, tmp_path: Path, name: str, value: object) -> None:
        path = tmp_path / "coefficients.json"
        path.write_bytes(checked_json({**coefficient_values(GENERAL), name: value}))
        with pytest.raises(SettingsError, match="not a file of coefficients") as caught:
            read_coefficients(path)
        assert caught.value.where == str(path)

    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"slope": {"constant": 0.5, "beauty": 1.0}}, "no qualities are named beauty"),
            ({"midpoint": {"constant": 1.0}}, "covariance must be a table of 3 rows and columns"),
            ({"covariance": ((1.0, 0.0, 0.0, 0.0),)}, "covariance must be a table of 4 rows"),
            ({"bounds": Bounds((0.0, 1.0), (1.0, 2.0), (1.0,))}, "three lists of one length"),
            ({"bounds": Bounds((), (), ())}, "three lists of one length"),
            ({"bounds": Bounds((1.0, 0.0), (1.0, 2.0), (1.0, 2.0))}, "in order"),
        ],
    )
    def test_coefficients_that_do_not_fit_each_other_are_refused(self, changes: dict[str, object], reason: str) -> None:
        with pytest.raises(SettingsError, match=reason):
            replace(GENERAL, **changes)  # type: ignore[arg-type]

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
        values = {"kind": "calibration", **calibration_values(relative)}
        for earlier in (1, 4):
            path.write_bytes(checked_json({"format": earlier, **values}))
            with pytest.raises(SettingsError, match="problems of a corpus in another way") as caught:
                read_calibration(path)
            assert caught.value.remedy
        path.write_bytes(checked_json({"format": 5, **values}))
        assert read_calibration(path) == relative

    @pytest.mark.usefixtures("made_coefficients")
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
        for earlier in (1, 2):
            path.write_bytes(checked_json({**values, "format": earlier}))
            with pytest.raises(RunError, match="earlier Byline") as caught:
                Run.open(tmp_path)
            assert caught.value.remedy
        relative = {**values, "format": 3, "interpret": "relative", "calibration": None}
        assert plan_from(relative, "here").judgment.interpretation == "relative"
        line = Calibration(1.0, 0.0, 2.0, 0.1, "relative", ("rnn",), "x", 100, 200, ("y",), cllr=0.7, cllr_min=0.6)
        calibrated = {**relative, "calibration": calibration_values(line)}
        with pytest.raises(RunError, match="earlier Byline") as caught:
            plan_from(calibrated, "here")
        assert caught.value.remedy
        assert plan_from({**calibrated, "format": 4}, "here").judgment.calibration == line
