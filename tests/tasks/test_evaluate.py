"""Attributions and clusterings compared with the truth."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from byline.cli import app
from byline.errors import AnswersError
from byline.judgment.metrics import average_precision, bcubed_f
from byline.tasks.cluster import Clustering
from byline.tasks.evaluate import (
    AttributionMeasures,
    ClusterMeasures,
    evaluate_attributions,
    evaluate_clusterings,
    is_attribution_truth,
    is_clustering,
)
from byline.tasks.pan_collections import answers_path, write_clustering
from programs import run

TRUTH = {"1.txt": "candidate1", "2.txt": "candidate2", "3.txt": "<UNK>"}


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")


def write_truth(collection: Path, truth: Mapping[str, str] = TRUTH, *names: str) -> Path:
    """A collection without texts."""
    names = names or ("problem1", "problem2")
    write(collection / "collection-info.json", [{"problem-name": name} for name in names])
    rows = [{"unknown-text": text, "true-author": author} for text, author in truth.items()]
    for name in names:
        write(collection / name / "ground-truth.json", {"ground_truth": rows})
    return collection


def write_answers(folder: Path, answers: Mapping[str, str] = TRUTH, problem: str = "problem1") -> Path:
    rows = [{"unknown-text": text, "predicted-author": author} for text, author in answers.items()]
    write(answers_path(folder, problem), rows)
    return folder


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    return write_truth(tmp_path / "collection")


class TestAttributions:
    def test_macro_f1_is_worked_by_hand_and_unk_is_no_class(self, tmp_path: Path) -> None:
        """A: 2 of 3 found and 1 wrong, F1 2/3. B: 1 of 2, none wrong, 2/3. C: 0."""
        truth = dict(zip("abcdefgh", ["A", "A", "A", "B", "B", "C", "<UNK>", "<UNK>"], strict=True))
        given = dict(zip("abcdefgh", ["A", "A", "B2", "B", "<UNK>", "A", "<UNK>", "B2"], strict=True))
        collection = write_truth(tmp_path / "c", truth, "problem1")
        (found,) = evaluate_attributions(write_answers(tmp_path / "out", given), collection)
        assert found == AttributionMeasures("problem1", 8, 4 / 8, pytest.approx((2 / 3 + 2 / 3 + 0) / 3), 0)  # type: ignore[arg-type]

    def test_missing_answers_count_as_unk(self, collection: Path, tmp_path: Path) -> None:
        out = write_answers(tmp_path / "out", {"1.txt": "candidate1"})
        first, second = evaluate_attributions(out, collection)
        assert first == AttributionMeasures("problem1", 3, pytest.approx(2 / 3), 0.5, 2)  # type: ignore[arg-type]
        assert second == AttributionMeasures("problem2", 3, pytest.approx(1 / 3), 0.0, 3)  # type: ignore[arg-type]
        said = run("evaluate", out, collection).stdout
        assert f"{out}: 2 of 3 texts of problem1 without an answer" in said
        assert f"{out}: all of 3 texts of problem2 without an answer" in said
        found = json.loads(run("evaluate", out, collection, "--json").stdout)
        assert [row["missing"] for row in found["problems"]] == [2, 3]
        assert set(found["means"]) == {"accuracy", "macro_f1"}

    @pytest.mark.parametrize("answers", ["out", "gone"])
    def test_where_nothing_is_answered_the_folder_is_the_wrong_one(
        self, collection: Path, tmp_path: Path, answers: str
    ) -> None:
        (tmp_path / "out").mkdir()
        with pytest.raises(AnswersError, match="Name the folder of the answers"):
            evaluate_attributions(tmp_path / answers, collection)

    def test_one_problem_may_be_measured_by_itself(self, collection: Path, tmp_path: Path) -> None:
        out, folder = write_answers(tmp_path / "out", TRUTH, "problem2"), collection / "problem2"
        write(folder / "problem-info.json", {})
        elsewhere = tmp_path / "truth.json"
        elsewhere.write_bytes((folder / "ground-truth.json").read_bytes())
        file = answers_path(out, "problem2")
        for answers, truth in (
            (file, folder / "ground-truth.json"),
            (out, folder / "ground-truth.json"),
            (file, folder),
            (out, folder),
            (file, elsewhere),
        ):
            assert is_attribution_truth(truth)
            assert evaluate_attributions(answers, truth) == (AttributionMeasures("problem2", 3, 1.0, 1.0, 0),)
        with pytest.raises(AnswersError, match="2 problems"):
            evaluate_attributions(file, collection)

    def test_other_files_are_no_truth_of_attributions(self, tmp_path: Path) -> None:
        for name, content in (("a.json", {"EN001": "Y"}), ("b.txt", "EN001 Y"), ("c.json", "["), ("d.json", [])):
            write(tmp_path / name, content)
            assert not is_attribution_truth(tmp_path / name)
        assert not is_attribution_truth(tmp_path)
        assert not is_attribution_truth(tmp_path / "gone.json")

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("[", "JSON"),
            ("{}", "no predicted-author"),
            ('[{"unknown-text": "1.txt"}]', "each unknown-text"),
            ('[{"unknown-text": 1, "predicted-author": "x"}]', "each unknown-text"),
            ('[{"unknown-text": "other.txt", "predicted-author": "x"}]', "other.txt is not a text of problem1"),
            (json.dumps([{"unknown-text": "1.txt", "predicted-author": "x"}] * 2), "each unknown-text"),
        ],
    )
    def test_damaged_answers_are_named(self, collection: Path, tmp_path: Path, content: str, said: str) -> None:
        path = answers_path(tmp_path / "out", "problem1")
        write(path, content)
        with pytest.raises(AnswersError, match=said) as error:
            evaluate_attributions(tmp_path / "out", collection)
        assert str(error.value).startswith(f"{path}: ")

    def test_a_missing_or_damaged_truth_is_named(self, collection: Path, tmp_path: Path) -> None:
        write_answers(tmp_path)
        truth = collection / "problem1" / "ground-truth.json"
        write(truth, {"truth": []})
        with pytest.raises(AnswersError, match="true-author") as error:
            evaluate_attributions(tmp_path, collection)
        assert error.value.where == str(truth)
        truth.unlink()
        with pytest.raises(AnswersError, match=r"ground-truth\.json: not found"):
            evaluate_attributions(tmp_path, collection)


class TestCommand:
    def test_single_files_are_measured(self, collection: Path, tmp_path: Path) -> None:
        out = write_answers(tmp_path)
        done = run("evaluate", answers_path(out, "problem1"), collection / "problem1" / "ground-truth.json")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[1].split() == ["problem1", "3", "1.000", "1.000"]

    def test_truths_of_different_kinds_are_not_measured_together(self, collection: Path, tmp_path: Path) -> None:
        write_answers(tmp_path)
        write(tmp_path / "truth.txt", "EN001 Y\n")
        write(tmp_path / "answers.txt", "EN001 0.7\n")
        done = run("evaluate", tmp_path, collection, tmp_path / "answers.txt", tmp_path / "truth.txt")
        assert (done.returncode, done.stdout) == (1, "")
        assert "different kinds of problems" in done.stderr

    def test_answers_and_truth_the_wrong_way_round_are_recognized(self, collection: Path, tmp_path: Path) -> None:
        out = write_answers(tmp_path / "out")
        for words in ((collection, out), (collection / "problem1" / "ground-truth.json", out), (out, out)):
            done = CliRunner().invoke(app, ["evaluate", *map(str, words)])
            assert (done.exit_code, done.stdout) == (2, "")


class TestMeasures:
    def test_bcubed_f_is_worked_by_hand(self) -> None:
        # precision (2/3 + 2/3 + 1/3 + 1) / 4 = 2/3, recall (1 + 1 + 1/2 + 1/2) / 4 = 3/4
        assert bcubed_f([0, 0, 1, 1], [5, 5, 5, 2]) == pytest.approx(12 / 17)
        assert bcubed_f([0, 0, 1, 1], [0, 0, 0, 0]) == pytest.approx(2 / 3)  # precision 1/2, recall 1
        assert bcubed_f([0, 0, 1, 1], [0, 1, 2, 3]) == pytest.approx(2 / 3)  # precision 1, recall 1/2
        assert bcubed_f([0, 0, 1, 1], [3, 3, 1, 1]) == 1

    def test_average_precision_is_worked_by_hand(self) -> None:
        # the second and the last of six are true links: (1/2 + 2/6) / 2
        assert average_precision([False, True, False, False, False, True], 2) == pytest.approx(5 / 12)
        assert average_precision([False, True], 4) == pytest.approx(1 / 8)  # links that are not listed add nothing
        assert average_precision([], 4) == 0
        assert average_precision([False, False], 0) == 0


def clusters_json(*clusters: str) -> str:
    return json.dumps([[{"document": name} for name in cluster] for cluster in clusters])


@pytest.fixture
def answered(tmp_path: Path) -> tuple[Path, Path]:
    """Answers and truth of one problem, as in the measures worked by hand."""
    answers, truth = tmp_path / "answers", tmp_path / "truth"
    write(answers / "problem001" / "clustering.json", clusters_json("abc", "d"))
    write(truth / "problem001" / "clustering.json", clusters_json("ab", "dc"))
    rank(answers, "ac .9", "dc .8", "ad .5", "bc .3", "db .2", "ab .1")
    return answers, truth


def rank(answers: Path, *links: str) -> None:
    rows = [{"document1": link[0], "document2": link[1], "score": float(link[2:])} for link in links]
    write(answers / "problem001" / "ranking.json", rows)


class TestClusterings:
    def test_measures_of_each_problem(self, answered: tuple[Path, Path], tmp_path: Path) -> None:
        answers, truth = answered
        expected = ClusterMeasures("problem001", 4, pytest.approx(12 / 17), pytest.approx(5 / 12))  # type: ignore[arg-type]
        for given, known in ((answers, truth), (answers / "problem001", truth / "problem001"), (answers, tmp_path)):
            assert is_clustering(known)
            assert evaluate_clusterings(given, known) == (expected,)
        assert not is_clustering(tmp_path / "elsewhere")

    @pytest.mark.parametrize(
        ("links", "precision"),
        [
            (["ba .2"], 1 / 2),  # of a-b and c-d, a-b
            ([], 0),
            (["ac .1", "dc .7", "ba .9"], 1),
            (["ac .5", "ab .5"], 1 / 4),  # equal scores as they are listed
            (["ab .5", "ac .5"], 1 / 2),
            (["ab .9", "ba .8", "ba .1", "dc .5"], 1),  # of a pair that is listed twice the higher score
        ],
    )
    def test_links_are_ranked_by_their_scores(
        self, answered: tuple[Path, Path], links: list[str], precision: float
    ) -> None:
        rank(answered[0], *links)
        assert evaluate_clusterings(*answered)[0].average_precision == pytest.approx(precision)

    def test_what_is_written_is_ranked_as_the_links_are(self, tmp_path: Path) -> None:
        """Also if links are far above the threshold, and differ by little."""
        links = np.zeros((4, 4))
        links[np.triu_indices(4, 1)] = [50.01, 50.02, 1, 2, 50.03, 0.5]  # a-b, a-c, a-d, b-c, b-d, c-d
        merges = np.array([[0, 1, 3], [2, 4, 2], [3, 5, 1]])
        found = Clustering(tuple("abcd"), links + links.T, (0, 1, 2, 3), merges, 2.5)
        write_clustering(tmp_path / "out", found)
        write(tmp_path / "truth" / "clustering.json", clusters_json("ac", "bd"))
        assert evaluate_clusterings(tmp_path / "out", tmp_path / "truth")[0].average_precision == 1

    @pytest.mark.parametrize(
        ("file", "content", "said"),
        [
            ("clustering.json", "[[", "JSON"),
            ("clustering.json", "{}", "no clusters"),
            ("clustering.json", '[[{"document": 3}]]', "no name"),
            ("clustering.json", clusters_json("abc", "cd"), "two clusters"),
            ("clustering.json", clusters_json("abc"), "d is not in both"),
            ("clustering.json", clusters_json("abcd", "e"), "e is not in both"),
            ("ranking.json", "no", "JSON"),
            ("ranking.json", "[7]", "each link needs"),
            *(
                ("ranking.json", f'[{{"document1": {one}, "document2": {two}, "score": {score}}}]', "each link needs")
                for one, two, score in (
                    ('"a"', '"x"', "1"), ('"a"', '"a"', "1"), ("[]", "{}", "1"), ('"a"', '"b"', '"1"'),
                    ('"a"', '"b"', "true"), ('"a"', '"b"', "NaN"), ('"a"', '"b"', "1" + "0" * 400),
                )
            ),
        ],
    )  # fmt: skip
    def test_damaged_answers_are_named(self, answered: tuple[Path, Path], file: str, content: str, said: str) -> None:
        path = answered[0] / "problem001" / file
        write(path, content)
        with pytest.raises(AnswersError, match=said) as error:
            evaluate_clusterings(*answered)
        assert str(error.value).startswith(f"{path}: ")

    def test_missing_files_are_named(self, answered: tuple[Path, Path], tmp_path: Path) -> None:
        answers, truth = answered
        with pytest.raises(AnswersError) as error:
            evaluate_clusterings(answers, tmp_path / "elsewhere")
        assert error.value.where == str(tmp_path / "elsewhere")
        (answers / "problem001" / "ranking.json").unlink()
        with pytest.raises(AnswersError, match=r"problem001/ranking\.json"):
            evaluate_clusterings(answers, truth)
