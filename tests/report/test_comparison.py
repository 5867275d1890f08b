"""How problems stand in a report: among the others of their language, or beside a reference population."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byline.corpora.answers import read_truth
from byline.corpora.problems import builtin_problems
from byline.figures.score_tables import score_table
from byline.judgment.fusion import NEUTRAL_SUM, member_terms, scale_scores
from byline.judgment.score_normalization import reference_scores
from byline.report.comparison import scores_with_reference
from byline.report.verification import verification_report
from byline.runs.folder import RunOutput
from byline.runs.request import JudgmentRequest
from byline.runs.run import Run
from byline.settings.settings import Settings
from byline.tasks.verify import verify
from report_samples import real_run


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in two languages, where two problems share a text and one was skipped."""
    return real_run(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def both(two: Path) -> dict[str, Any]:
    return verification_report(two, two)


class TestLanguages:
    def test_each_has_a_heat_map_and_a_line_of_its_own(self, both: dict[str, Any], two: Path) -> None:
        assert [each["language"] for each in both["heatmaps"]] == ["english", "greek"]
        assert [each["language"] for each in both["decisions"]] == ["english", "greek"]
        for heat, line in zip(both["heatmaps"], both["decisions"], strict=True):
            own = [row for row in both["problems"] if row["language"] == heat["language"]]
            assert len(heat["asked"]) == len(own)
            for row in own:
                assert (row["score"] > line["center"]) == (row["llr"] > 0)
        centers = {each["language"]: each["center"] for each in both["languages"]}
        assert centers == {each["language"]: each["center"] for each in both["decisions"]}

    def test_problems_that_share_a_text_all_stand_among_the_others(self, both: dict[str, Any], two: Path) -> None:
        """EN090 has the unknown text of EN001 and the known texts of EN003."""
        heat = both["heatmaps"][0]
        assert heat["rows"][0] == "EN001 +1"
        assert heat["columns"][2] == "EN003 +1"
        rows = {row["id"]: row for row in both["problems"]}
        values = {place: heat["values"][place[0]][place[1]] for place in map(tuple, heat["asked"])}
        for name, place in (("EN001", (0, 0)), ("EN003", (2, 2)), ("EN090", (0, 2))):
            assert values[place] == pytest.approx(rows[name]["score"], abs=0.006)
            assert rows[name]["cohort"]["own"] == rows[name]["score"]
            assert rows[name]["cohort"]["count"] >= 10
        table = score_table(Run.open(two), "english")
        for name, place in table.places.items():
            assert table.values[place] == pytest.approx(rows[name]["score"], abs=1e-4)

    def test_a_skipped_problem_is_said_to_be_and_counts_in_no_measure(self, both: dict[str, Any]) -> None:
        assert "EN091" not in {row["id"] for row in both["problems"]}
        assert [each for each in both["warnings"] if each.startswith("EN091: not answered.")]
        assert both["measured"] == {"problems": len(both["problems"]), "left_out": 1}
        assert "--skip-bad" in both["provenance"]["command"]

    def test_ranks_are_not_what_the_table_shows_and_that_is_said(self, tmp_path: Path) -> None:
        with builtin_problems("greek") as problems:
            verify(
                problems,
                Settings(engine="ngram"),
                judgment=JudgmentRequest(interpret="rank"),
                output=RunOutput(tmp_path / "run"),
            )
        run = Run.open(tmp_path)
        table = score_table(run)
        for row in verification_report(tmp_path)["problems"]:
            assert not row["cohort"]["used"]
            assert row["cohort"]["own"] == pytest.approx(table.values[table.places[row["id"]]], abs=1e-4)


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_run(tmp_path_factory.mktemp("beside"), beside=True)


@pytest.fixture(scope="module")
def shown(beside: Path) -> dict[str, Any]:
    return verification_report(beside)


class TestBesideAReference:
    def test_problems_are_not_shown_against_each_other(self, shown: dict[str, Any]) -> None:
        assert shown["heatmaps"] == []
        assert all(row["cohort"] is None for row in shown["problems"])
        assert "reference population" in " ".join(shown["limits"])

    def test_there_is_one_line_for_all_only_where_nothing_is_calibrated(self, shown: dict[str, Any]) -> None:
        """Calibrated, each problem has a line of its own; there is no calibration for these members."""
        assert not shown["calibrated"]
        assert [each["center"] for each in shown["decisions"]] == [NEUTRAL_SUM]
        for row in shown["problems"]:
            assert (row["score"] > NEUTRAL_SUM) == (row["answer"] > 0.5)

    def test_what_members_say_makes_up_the_very_score_of_the_answer(self, shown: dict[str, Any], beside: Path) -> None:
        answers = {answer.id: answer for answer in Run.open(beside).answers}
        for row in shown["problems"]:
            members = row["reference"]["members"]
            relative = np.mean([each["own"] for each in members if not each["own_scale"]])  # one engine, ngram
            (own,) = [each["own"] for each in members if each["own_scale"]]
            assert relative + own == pytest.approx(answers[row["id"]].score, abs=2e-4)
            assert row["reference"]["parts"] == pytest.approx({"relative": relative, "own": own}, abs=2e-4)
            said = [each["score"] for each in row["members"] if each["score"] is not None]
            assert np.mean(said) == pytest.approx(row["score"], abs=2e-4)  # spread is the only one of its kind
            assert len(said) == 2

    def test_the_reference_is_scored_as_the_problem_is(self, beside: Path) -> None:
        """A pair of the reference's texts that is asked about gets the very value that stands among the bars."""
        run = Run.open(beside)
        for record in run.records:
            own = run.scores[record.member, 0].own_scale
            paired = scores_with_reference(record, own)
            first, second = (
                np.where(side.matrix.excluded, np.nan, -side.matrix.values if own else reference_scores(side))
                for side in record.sides
            )
            count = len(run.plan.groups[0].ids)
            for problem in range(count):
                asked = (first[problem, problem] + second[problem, problem]) / 2
                counted = member_terms(run.scores[record.member, 0])[problem]
                assert scale_scores(np.array(asked), own) == pytest.approx(counted)
                unknown = (first[problem, count:] + second[count:, problem]) / 2
                known = (first[count:, problem] + second[problem, count:]) / 2
                there = ~np.isnan(unknown)
                assert 10 < there.sum() < len(there)  # some of the reference are the problem's own texts
                wanted = scale_scores(np.concatenate([unknown[there], known[there]]), own)
                np.testing.assert_allclose(paired[problem], wanted)

    def test_a_problem_by_one_author_stands_out_from_it(self, beside: Path) -> None:
        truth = read_truth(beside)
        for row in verification_report(beside)["problems"]:
            lower = [each["below"] / each["count"] for each in row["reference"]["members"]]
            assert min(lower) > 0.9 if truth[row["id"]] else min(lower) < 0.9
