"""How problems stand in a report: among the others of their language, or beside a reference population."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byline.corpora.problems import builtin_problems
from byline.figures.score_tables import score_table
from byline.judgment.fusion import fuse_single_problems
from byline.report.comparison import decision_lines
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

    def test_the_line_is_where_the_likelihood_ratio_is_1(self, shown: dict[str, Any]) -> None:
        assert not shown["calibrated"]  # there is no calibration for these members
        assert [each["center"] for each in shown["decisions"]] == [0]
        for row in shown["problems"]:
            assert (row["score"] > 0) == (row["answer"] > 0.5)

    def test_a_calibrated_line_is_shared_by_all_problems_too(self, beside: Path) -> None:
        """Ratios of 3 and -1 bans at scores of 2 and 1: a ratio of 1 is at 1.25."""
        run = Run.open(beside)
        first, second, *_ = run.plan.groups[0].ids
        rows = [{"id": first, "llr": 3.0, "score": 2.0}, {"id": second, "llr": -1.0, "score": 1.0}]
        assert [line["center"] for line in decision_lines(run, rows, calibrated=True)] == [1.25]

    def test_a_member_has_the_score_of_an_answer_that_it_gives_alone(self, shown: dict[str, Any], beside: Path) -> None:
        run = Run.open(beside)
        alone = np.array([fuse_single_problems([member]).scores for member in run.group_scores(0)])
        for number, row in enumerate(shown["problems"]):
            assert [each["score"] for each in row["members"]] == pytest.approx(alone[:, number].tolist(), abs=1e-4)

    def test_each_member_s_score_stands_among_those_of_different_authors(
        self, shown: dict[str, Any], beside: Path
    ) -> None:
        run = Run.open(beside)
        for place, member in enumerate(run.group_scores(0)):
            assert member.beside_reference is not None
            for group in member.beside_reference.groups:
                different = group.scores[~group.same]
                for number in group.problems.tolist():
                    found = shown["problems"][number]["reference"]["members"][place]
                    assert found["own"] == pytest.approx(member.scores[0, number], abs=1e-4)
                    assert found["count"] == sum(found["bars"]) == len(different) > 10
                    assert found["below"] == (different < member.scores[0, number]).sum()
