"""How problems stand in a report: among the others of their language, or beside a reference population."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byline.alone import EVEN, count_reading, count_scores
from byline.builtin import builtin_problems
from byline.dossiers.members import scores_beside
from byline.dossiers.verification import verification_dossier
from byline.execution import Keep
from byline.figures.sources import read_run
from byline.figures.tables import score_table
from byline.relative import reference_scores
from byline.settings import Settings
from byline.truth import read_truth
from byline.verification import verify
from dossiers import real_run


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in two languages, where two problems share a text and one was skipped."""
    return real_run(tmp_path_factory.mktemp("two"))


@pytest.fixture(scope="module")
def both(two: Path) -> dict[str, Any]:
    return verification_dossier(two, two)


class TestLanguages:
    def test_each_has_a_heat_map_and_a_line_of_its_own(self, both: dict[str, Any], two: Path) -> None:
        assert [each["language"] for each in both["heatmaps"]] == ["english", "greek"]
        assert [each["language"] for each in both["decisions"]] == ["english", "greek"]
        for heat, line in zip(both["heatmaps"], both["decisions"], strict=True):
            own = [row for row in both["problems"] if row["language"] == heat["language"]]
            assert len(heat["asked"]) == len(own)
            for row in own:
                assert (row["score"] > line["centre"]) == (row["llr"] > 0)
        centres = {each["language"]: each["centre"] for each in both["languages"]}
        assert centres == {each["language"]: each["centre"] for each in both["decisions"]}

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
        table = score_table(read_run(two), "english")
        for name, place in table.places.items():
            assert table.values[place] == pytest.approx(rows[name]["score"], abs=1e-4)

    def test_a_skipped_problem_is_said_to_be_and_counts_in_no_measure(self, both: dict[str, Any]) -> None:
        assert "EN091" not in {row["id"] for row in both["problems"]}
        assert [each for each in both["warnings"] if each.startswith("EN091: not answered.")]
        assert both["measured"] == {"problems": len(both["problems"]), "left_out": 1}
        assert "--skip-bad" in both["provenance"]["command"]

    def test_ranks_are_not_what_the_table_shows_and_that_is_said(self, tmp_path: Path) -> None:
        with builtin_problems("greek") as problems:
            verify(problems, Settings(engine="ngram"), interpret="rank", keep=Keep(tmp_path / "run"))
        run = read_run(tmp_path)
        table = score_table(run)
        for row in verification_dossier(tmp_path)["problems"]:
            assert not row["cohort"]["used"]
            assert row["cohort"]["own"] == pytest.approx(table.values[table.places[row["id"]]], abs=1e-4)


@pytest.fixture(scope="module")
def beside(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return real_run(tmp_path_factory.mktemp("beside"), beside=True)


@pytest.fixture(scope="module")
def shown(beside: Path) -> dict[str, Any]:
    return verification_dossier(beside)


class TestBesideAReference:
    def test_problems_are_not_shown_against_each_other(self, shown: dict[str, Any]) -> None:
        assert shown["heatmaps"] == []
        assert all(row["cohort"] is None for row in shown["problems"])
        assert "reference population" in " ".join(shown["limits"])

    def test_there_is_one_line_for_all_only_where_nothing_is_calibrated(self, shown: dict[str, Any]) -> None:
        """Calibrated, each problem has a line of its own; there is no calibration for these members."""
        assert not shown["calibrated"]
        assert [each["centre"] for each in shown["decisions"]] == [EVEN]
        for row in shown["problems"]:
            assert (row["score"] > EVEN) == (row["answer"] > 0.5)

    def test_what_members_say_makes_up_the_very_score_of_the_answer(self, shown: dict[str, Any], beside: Path) -> None:
        answers = {answer.id: answer for answer in read_run(beside).answers}
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
        run = read_run(beside)
        for record in run.records():
            own = run.readings[record.member, 0].own
            company = scores_beside(record, own)
            first, second = (
                np.where(side.matrix.seen, np.nan, -side.matrix.values if own else reference_scores(side))
                for side in record.sides
            )
            count = len(run.plan.groups[0].ids)
            for problem in range(count):
                asked = (first[problem, problem] + second[problem, problem]) / 2
                counted = count_reading(run.readings[record.member, 0])[problem]
                assert count_scores(np.array(asked), own) == pytest.approx(counted)
                unknown = (first[problem, count:] + second[count:, problem]) / 2
                known = (first[count:, problem] + second[problem, count:]) / 2
                there = ~np.isnan(unknown)
                assert 10 < there.sum() < len(there)  # some of the reference are the problem's own texts
                wanted = count_scores(np.concatenate([unknown[there], known[there]]), own)
                np.testing.assert_allclose(company[problem], wanted)

    def test_a_problem_by_one_author_stands_out_from_it(self, beside: Path) -> None:
        truth = read_truth(beside)
        for row in verification_dossier(beside)["problems"]:
            lower = [each["below"] / each["count"] for each in row["reference"]["members"]]
            assert min(lower) > 0.9 if truth[row["id"]] else min(lower) < 0.9
