"""A corpus with its truth -> a calibration that verify takes; and the one inside the package."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from byline.cli.answers import answer_json, judgment_json, judgment_of
from byline.corpora.answers import Answer
from byline.corpora.problems import Problem, ProblemSet, read_problems
from byline.errors import AnswersError, CorpusError, RunError, SettingsError, TooLittleText
from byline.judgment.calibration import Calibration, builtin_calibration, llr_bans
from byline.judgment.calibration_fitting import text_groups
from byline.judgment.interpretation import JudgmentOptions
from byline.runs.executor import Execution, Interrupted, Verification
from byline.runs.folder import RunOutput, read_plan
from byline.runs.request import JudgmentRequest
from byline.runs.run import Run
from byline.runs.workers import Event, Finished, Planned
from byline.settings.settings import Pool, Settings, kinds_of, read_pool
from byline.tasks.calibrate import MIN_AUTHORS, calibrate, make_solved_cases, values_of
from byline.tasks.verify import verify
from samples import MakeCorpus, phrase, prose, small_problems

NGRAM = Settings(engine="ngram")
VECTORS = Settings(engine="vectors")
QUICK = Pool("quick", (NGRAM, VECTORS), members=2, interpret="relative")
COUNT = 24
TRUTH = {f"EN{n:03d}": n % 2 == 1 for n in range(1, COUNT + 1)}


@pytest.fixture
def corpus(make_corpus: MakeCorpus) -> ProblemSet:
    """Half of the problems are yes; texts are so short that some are mistaken."""
    return read_problems(make_corpus(small_problems(COUNT, length=60)))


@pytest.fixture
def fitted(corpus: ProblemSet, tmp_path: Path) -> Calibration:
    return calibrate(corpus, TRUTH, QUICK, tmp_path / "fitted", "made up")


@pytest.fixture
def others(make_corpus: MakeCorpus) -> ProblemSet:
    """Other problems, by the same authors."""
    problems = {
        f"EN{n:03d}": {"known01.txt": phrase(n, 90, salt=50), "unknown.txt": phrase(n + n % 2, 90, salt=60 + n)}
        for n in range(1, 9)
    }
    return read_problems(make_corpus(problems, name="others"))


class TestCalibrating:
    def test_what_it_says_of_itself(self, fitted: Calibration, corpus: ProblemSet) -> None:
        assert (fitted.interpretation, fitted.engines, fitted.preset) == ("relative", ("ngram", "vectors"), "quick")
        texts = {document.text for problem in corpus.problems for document in (*problem.known, problem.unknown)}
        assert (fitted.problems, fitted.texts, fitted.corpora) == (COUNT, len(texts), ("made up",))
        assert fitted.slope > 0
        assert 0 < fitted.cllr < 1
        assert all(0 < cap <= np.log10(13) for cap in fitted.caps)  # of 12 yes and 12 no, no two share a text

    def test_the_same_again_gives_the_same_and_another_truth_another(
        self, fitted: Calibration, corpus: ProblemSet, tmp_path: Path
    ) -> None:
        assert calibrate(corpus, TRUTH, QUICK, tmp_path / "again", "made up") == fitted
        swapped = {name: not same for name, same in TRUTH.items()}
        other = calibrate(corpus, swapped, QUICK, tmp_path / "again", "made up")  # on the members that are there
        assert other.slope == 0
        assert other.cllr == pytest.approx(1)

    def test_problems_that_cant_be_used_take_no_part(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        problems = small_problems(COUNT, length=60)
        problems["EN003"]["unknown.txt"] = "short"
        spoilt = read_problems(make_corpus(problems))
        assert calibrate(spoilt, TRUTH, QUICK, tmp_path / "run", "made up").problems == COUNT - 1

    def test_what_takes_no_part_is_said_and_so_is_what_is_not_there(
        self, make_corpus: MakeCorpus, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        problems = small_problems(COUNT, length=60)
        problems["EN003"]["unknown.txt"] = "short"
        del problems["EN004"]["unknown.txt"]
        del problems["EN005"]
        calibrate(read_problems(make_corpus(problems)), TRUTH, QUICK, tmp_path / "run", "made up")
        assert "missing: EN005" in caplog.text
        assert re.search(r"2 problems are left out:\n  EN004.*\n  EN003/un", caplog.text)

    def test_too_few_may_be_so_for_those_that_were_left_out(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        problems = small_problems(10)
        del problems["EN004"]["unknown.txt"]
        truth = {name: TRUTH[name] for name in problems}
        with pytest.raises(TooLittleText, match=r"5 and 4[^\n]*\n  1 problem is left out:\n  EN004"):
            calibrate(read_problems(make_corpus(problems)), truth, QUICK, tmp_path / "run", "made up")

    def test_a_run_that_was_stopped_goes_on(self, fitted: Calibration, corpus: ProblemSet, tmp_path: Path) -> None:
        def stop(event: Event) -> None:
            if isinstance(event, Finished):
                raise KeyboardInterrupt

        folder = tmp_path / "stopped"
        with pytest.raises(Interrupted):
            calibrate(corpus, TRUTH, QUICK, folder, "made up", execution=Execution(workers=1, report=stop))
        done: list[int] = []

        def count(event: Event) -> None:
            if isinstance(event, Planned):
                done.append(event.kept)

        assert (
            calibrate(corpus, TRUTH, QUICK, folder, "made up", execution=Execution(workers=1, report=count)) == fitted
        )
        assert done == [1]

    def test_another_run_s_folder_is_refused(self, corpus: ProblemSet, tmp_path: Path) -> None:
        calibrate(corpus, TRUTH, QUICK, tmp_path / "run", "made up")
        with pytest.raises(RunError, match="not the same run"):
            calibrate(corpus, TRUTH, QUICK, tmp_path / "run", "made up", seed=1)

    def test_ranks_are_refused(self, corpus: ProblemSet, tmp_path: Path) -> None:
        for pool, interpret in ((QUICK, "rank"), (replace(QUICK, interpret="rank"), None)):
            with pytest.raises(SettingsError, match="rank") as refused:
                calibrate(corpus, TRUTH, pool, tmp_path / "run", "made up", interpret=interpret)  # type: ignore[arg-type]
            assert "{interpret}" in str(refused.value.remedy)
        assert not (tmp_path / "run").exists()

    def test_a_truth_that_does_not_know_a_problem_is_refused(self, corpus: ProblemSet, tmp_path: Path) -> None:
        known = {name: same for name, same in TRUTH.items() if name != "EN007"}
        with pytest.raises(AnswersError, match="EN007"):
            calibrate(corpus, known, QUICK, tmp_path / "run", "made up")

    def test_too_few_problems_are_refused(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        few = read_problems(make_corpus(small_problems(8)))
        truth = {name: TRUTH[name] for name in small_problems(8)}
        with pytest.raises(TooLittleText, match="4 and 4"):
            calibrate(few, truth, QUICK, tmp_path / "run", "made up")

    def test_values_are_what_answers_are_made_of(self, fitted: Calibration, corpus: ProblemSet, tmp_path: Path) -> None:
        folder = tmp_path / "fitted"
        values = values_of(Run.open(folder))
        answers = verify(corpus, QUICK, judgment=JudgmentRequest(calibration=fitted)).answers
        assert [answer.id for answer in answers] == sorted(values)
        expected = llr_bans(fitted, [values[answer.id] for answer in answers])
        np.testing.assert_allclose([answer.llr for answer in answers], expected)


def write_authors(folder: Path, counts: Mapping[str, int]) -> Path:
    """Write so many texts by each author."""
    for number, (author, count) in enumerate(counts.items()):
        (folder / author).mkdir(parents=True)
        for text in range(count):
            (folder / author / f"{text}.txt").write_text(prose(100 * number + text, 300), "utf-8")
    return folder


TWELVE = {f"author{n:02d}": 2 + n % 6 for n in range(12)}


def writers(problem: Problem) -> tuple[str, str]:
    """The author of the known texts and that of the unknown one."""
    (known,) = {document.name.split("/")[0] for document in problem.known}
    return known, problem.unknown.name.split("/")[0]


class TestSolvedCases:
    @pytest.fixture
    def folders(self, tmp_path: Path) -> Path:
        return write_authors(tmp_path / "authors", {**TWELVE, "lonely": 1})

    def test_each_author_with_two_texts_or_more_is_asked_about_once_for_either_truth(self, folders: Path) -> None:
        problems, truth = make_solved_cases(folders)
        assert [problem.id for problem in problems.problems] == sorted(truth)
        for same in (True, False):
            pairs = [writers(problem) for problem in problems.problems if truth[problem.id] == same]
            assert sorted(known for known, _ in pairs) == sorted(unknown for _, unknown in pairs) == sorted(TWELVE)
            assert all((known == unknown) == same for known, unknown in pairs)

    def test_texts_are_whole_and_never_known_in_one_case_and_unknown_in_another(self, folders: Path) -> None:
        problems = make_solved_cases(folders)[0].problems
        known = {document.text for problem in problems for document in problem.known}
        unknown = {problem.unknown.text for problem in problems}
        assert known.isdisjoint(unknown)
        assert {len(text) for text in known | unknown} == {300}

    def test_few_cases_hang_together(self, folders: Path) -> None:
        """Authors are exchanged two by two, so that a calibration's folds can share no text."""
        problems, _ = make_solved_cases(folders)
        keys = [[*(document.text for document in each.known), each.unknown.text] for each in problems.problems]
        groups = text_groups(keys)
        assert max(groups.count(group) for group in groups) <= 6

    def test_the_same_seed_makes_the_same_cases_and_another_seed_others(self, folders: Path) -> None:
        assert make_solved_cases(folders, seed=3) == make_solved_cases(folders, seed=3)
        assert make_solved_cases(folders, seed=3) != make_solved_cases(folders, seed=4)

    def test_the_language_can_be_given(self, folders: Path) -> None:
        assert {problem.language for problem in make_solved_cases(folders)[0].problems} == {"latin"}
        assert {problem.language for problem in make_solved_cases(folders, "en")[0].problems} == {"english"}

    def test_an_author_who_may_be_the_same_person_is_nobody_else(self, tmp_path: Path) -> None:
        folder = write_authors(tmp_path / "authors", TWELVE)
        (folder / "author01/again.txt").write_text((folder / "author00/0.txt").read_text("utf-8"), "utf-8")
        for seed in range(12):
            problems, _ = make_solved_cases(folder, seed=seed)
            assert all(set(writers(problem)) != {"author00", "author01"} for problem in problems.problems)

    def test_too_few_authors_are_refused_with_the_remedy(self, tmp_path: Path) -> None:
        enough = dict(list(TWELVE.items())[:MIN_AUTHORS])
        make_solved_cases(write_authors(tmp_path / "enough", enough))
        folder = write_authors(tmp_path / "few", {**enough, "author03": 1})
        with pytest.raises(TooLittleText, match="has 9 authors") as refusal:
            make_solved_cases(folder)
        assert refusal.value.where == str(folder)
        assert refusal.value.remedy

    def test_files_that_cant_be_read_are_named(self, tmp_path: Path) -> None:
        with pytest.raises(CorpusError, match="gone: not found"):
            make_solved_cases(tmp_path / "gone")
        folder = write_authors(tmp_path / "authors", TWELVE)
        for name in ("author03/0.txt", "author07/1.txt"):
            (folder / name).write_text("", "utf-8")
        with pytest.raises(CorpusError, match=r"(?s)author03/0\.txt: empty.*author07/1\.txt: empty"):
            make_solved_cases(folder)


def odds_in_bans(result: Verification) -> np.ndarray:
    chances = np.array([answer.probability for answer in result.answers], np.float64)
    return np.log10(chances / (1 - chances))


class TestCalibratedAnswers:
    def test_ratio_interval_and_probability_agree(self, fitted: Calibration, others: ProblemSet) -> None:
        result = verify(others, QUICK, judgment=JudgmentRequest(calibration=fitted))
        bans = np.array([answer.llr for answer in result.answers], np.float64)
        assert len(set(bans)) > 1
        np.testing.assert_allclose(odds_in_bans(result), bans)  # at even odds
        for answer in result.answers:
            assert answer.llr is not None
            assert answer.interval is not None
            low, high = answer.interval
            assert -fitted.caps.different <= low <= answer.llr <= high <= fitted.caps.same
            assert answer.undecided or answer.value == answer.probability

    def test_a_prior_of_nine_in_ten_adds_the_logarithm_of_nine(self, fitted: Calibration, others: ProblemSet) -> None:
        even, likely = (
            verify(others, QUICK, judgment=JudgmentRequest(prior=prior, calibration=fitted)) for prior in (0.5, 0.9)
        )
        np.testing.assert_allclose(odds_in_bans(likely) - odds_in_bans(even), np.log10(9))
        assert [answer.llr for answer in even.answers] == [answer.llr for answer in likely.answers]
        assert [answer.interval for answer in even.answers] == [answer.interval for answer in likely.answers]

    def test_a_lone_member_has_an_interval_too(self, corpus: ProblemSet, others: ProblemSet, tmp_path: Path) -> None:
        alone = Pool("alone", (NGRAM,), interpret="relative")
        fitted = calibrate(corpus, TRUTH, alone, tmp_path / "run", "made up")
        for answer in verify(others, alone, judgment=JudgmentRequest(calibration=fitted)).answers:
            assert answer.interval is not None
            assert answer.llr is not None
            assert answer.interval[0] <= answer.llr <= answer.interval[1]

    def test_a_run_keeps_its_calibration(self, fitted: Calibration, others: ProblemSet, tmp_path: Path) -> None:
        verify(
            others, QUICK, judgment=JudgmentRequest(prior=0.9, calibration=fitted), output=RunOutput(tmp_path / "run")
        )
        judgment = read_plan(tmp_path / "run").judgment
        assert (judgment.calibration, judgment.prior) == (fitted, 0.9)

    def test_it_is_refused_for_other_engines_masks_and_interpretations(
        self, fitted: Calibration, others: ProblemSet
    ) -> None:
        masked = QUICK.change({"mask": "topic"})
        for pool in (QUICK.only(["ngram"]), masked):
            with pytest.raises(SettingsError, match="relative scores by ngram, vectors"):
                verify(others, pool, judgment=JudgmentRequest(calibration=fitted))
        with pytest.raises(SettingsError, match="rank"):
            verify(others, QUICK, judgment=JudgmentRequest(interpret="rank", calibration=fitted))

    @pytest.mark.parametrize("prior", [0.0, 1.0, -1.0, float("nan")])
    def test_a_prior_that_settles_it_is_refused(self, fitted: Calibration, others: ProblemSet, prior: float) -> None:
        with pytest.raises(SettingsError, match="prior"):
            verify(others, QUICK, judgment=JudgmentRequest(prior=prior, calibration=fitted))

    def test_a_prior_without_a_calibration_is_refused(self, others: ProblemSet) -> None:
        with pytest.raises(SettingsError, match="calibrated") as refused:
            verify(others, QUICK, judgment=JudgmentRequest(prior=0.9))
        assert (refused.value.where, "{calibration}" in str(refused.value.remedy)) == ("prior", True)


class TestJson:
    def test_calibrated_answers_have_their_probability_and_words(self, fitted: Calibration, others: ProblemSet) -> None:
        result = verify(others, QUICK, judgment=JudgmentRequest(prior=0.9, calibration=fitted))
        for answer in result.answers:
            values = json.loads(json.dumps(answer_json(answer)))
            assert values["probability"] == pytest.approx(answer.probability, abs=1e-4)
            assert "support" in values["verbal"]
        said = judgment_json(result.plan.judgment)
        assert (said["calibrated"], said["prior"]) == (True, 0.9)

    @pytest.mark.parametrize("interpret", ["rank", "relative"])
    def test_uncalibrated_answers_are_never_called_probabilities(self, others: ProblemSet, interpret: str) -> None:
        result = verify(others, QUICK, judgment=JudgmentRequest(interpret=interpret))  # type: ignore[arg-type]
        for answer in result.answers:
            assert set(answer_json(answer)) == {"id", "answer", "undecided", "score"}
        said = judgment_json(result.plan.judgment)
        assert (said["calibrated"], said["prior"], said["calibration"]) == (False, None, None)

    def test_nor_is_the_answer_to_a_skipped_problem(self, fitted: Calibration, make_corpus: MakeCorpus) -> None:
        problems = {**small_problems(7), "EN008": {"known01.txt": phrase(1), "unknown.txt": "short"}}
        corpus = read_problems(make_corpus(problems, name="spoilt"))
        skipped = verify(corpus, QUICK, judgment=JudgmentRequest(calibration=fitted), skip_bad=True).answers[-1]
        assert answer_json(skipped) == {"id": "EN008", "answer": 0.5, "undecided": True, "score": None}


class TestBuiltIn:
    def test_it_is_of_the_preset_best_and_of_nothing_else(self) -> None:
        best = read_pool("best")
        kinds = kinds_of(best.rows)
        assert kinds == (
            "characters", "ngram", "punctuation", "rnn", "vectors", "words", "topic masked in part",
        )  # fmt: skip
        found = builtin_calibration(best.interpret, kinds)
        assert found is not None
        assert (found.interpretation, found.preset, set(found.engines)) == ("relative", "best", set(kinds))
        assert found.slope > 0
        assert builtin_calibration(best.interpret, kinds[::-1]) == found
        assert builtin_calibration("rank", kinds) is None
        assert builtin_calibration(best.interpret, kinds[:-1]) is None

    def test_best_uses_it(self, others: ProblemSet) -> None:
        best = read_pool("best").change({"hidden": 4, "sub_epochs": 1})
        result = verify(others, best, judgment=JudgmentRequest(prior=0.9))
        assert result.plan.judgment.calibration == builtin_calibration(best.interpret, kinds_of(best.rows))
        assert all(answer.probability is not None and answer.interval is not None for answer in result.answers)
        assert all(answer.llr is None for answer in verify(others, best.only(["vectors"])).answers)


def test_what_is_said_of_answers_is_of_these_answers() -> None:
    """Members that were stopped early may not have the plan's calibration, and nothing is called a probability then."""
    fitted = builtin_calibration("relative", kinds_of(read_pool("best").rows))
    judgment = JudgmentOptions("relative", calibration=fitted)
    plain, weighed = Answer("EN001", 0.7, 1.2), Answer("EN001", 0.7, 1.2, 0.4, None, 0.7)
    assert judgment_json(judgment_of(judgment, [weighed]))["calibrated"] is True
    assert judgment_json(judgment_of(judgment, [plain]))["calibrated"] is False
