"""PAN's attribution problems: read, answered without a look at the truth, and measured."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from typer.testing import CliRunner

from byline import documents
from byline.attribution.attributing import Attribution
from byline.attribution.collections import (
    Prediction,
    answers_path,
    evaluate_collection,
    is_collection,
    read_collection,
    write_predictions,
)
from byline.commands import app
from byline.errors import AnswersError, BylineError, CorpusError
from conftest import phrase

TRUTH = {"unknown00001.txt": "candidate00001", "unknown00002.txt": "candidate00002", "unknown00003.txt": "<UNK>"}


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")


def write_truth(folder: Path, truth: Mapping[str, str]) -> None:
    rows = [{"unknown-text": text, "true-author": author} for text, author in truth.items()]
    write(folder / "ground-truth.json", {"ground_truth": rows})


def write_answers(folder: Path, answers: Mapping[str, str], problem: str = "problem00001") -> None:
    rows = [{"unknown-text": text, "predicted-author": author} for text, author in answers.items()]
    write(answers_path(folder, problem), rows)


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Two problems of four candidates; the third unknown text of each is by none of them."""
    folder = tmp_path / "collection"
    names = ["problem00001", "problem00002"]
    write(folder / "collection-info.json", [{"problem-name": name, "language": "en"} for name in names])
    for name in names:
        candidates = [f"candidate{number:05d}" for number in range(1, 5)]
        info = {"unknown-folder": "unknown", "candidate-authors": [{"author-name": each} for each in candidates]}
        write(folder / name / "problem-info.json", info)
        for number, candidate in enumerate(candidates, start=1):
            for salt in range(3):
                write(folder / name / candidate / f"known{salt:05d}.txt", phrase(number, 900, salt))
        for place, number in enumerate((1, 2, 0), start=1):
            write(folder / name / "unknown" / f"unknown{place:05d}.txt", phrase(number, 900, 7))
        write_truth(folder / name, TRUTH)
    return folder


class TestReading:
    def test_problems_have_candidates_with_their_texts_and_unknown_ones(self, collection: Path) -> None:
        assert is_collection(collection)
        first, second = read_collection(collection)
        assert (first.name, second.name) == ("problem00001", "problem00002")
        assert first.candidates.names == tuple(f"candidate{number:05d}" for number in range(1, 5))
        assert len(first.candidates.documents) == 12
        assert first.candidates.language == "english"
        assert [each.name for each in first.unknown] == [f"problem00001/unknown/{name}" for name in TRUTH]
        assert first.unknown[2].text == phrase(0, 900, 7)

    def test_one_problem_s_folder_is_read_by_itself(self, collection: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        assert is_collection(collection / "problem00002")
        (alone,) = read_collection(collection / "problem00002", "en")
        assert alone == read_collection(collection)[1]
        monkeypatch.chdir(collection / "problem00002")
        (here,) = read_collection(Path("."), "en")
        assert here == alone  # under its name, not as a dot

    def test_any_other_folder_is_none(self, tmp_path: Path) -> None:
        assert not is_collection(tmp_path)
        assert not is_collection(tmp_path / "gone")


class TestRefusals:
    @pytest.mark.parametrize(
        ("file", "content", "said"),
        [
            ("collection-info.json", "[", "not JSON; repair it"),
            ("collection-info.json", "[]", "names no problems"),
            ("collection-info.json", "7", "names no problems"),
            ("collection-info.json", '[{"problem-name": "../elsewhere"}]', "a problem without a plain name"),
            ("collection-info.json", '[{"problem-name": ".."}]', "a problem without a plain name"),
            ("collection-info.json", '[{"problem-name": "/tmp"}]', "a problem without a plain name"),
            ("collection-info.json", '[{"problem-name": "a\\u0000b"}]', "a problem without a plain name"),
            ("collection-info.json", '["problem00001"]', "a problem without a plain name"),
            ("collection-info.json", '[{"problem-name": "p"}, {"problem-name": "p"}]', "p is there twice"),
            ("problem00001/problem-info.json", "{", "not JSON; repair it"),
            ("problem00001/problem-info.json", "[]", "should name an unknown-folder and candidate-authors"),
        ],
    )
    def test_a_damaged_file_is_named(self, collection: Path, file: str, content: str, said: str) -> None:
        write(collection / file, content)
        with pytest.raises(CorpusError, match=said) as refusal:
            read_collection(collection)
        assert str(refusal.value).startswith(f"{collection / file}: ")

    @pytest.mark.parametrize("way", ["../problem00002/unknown", "..", "/etc", "a/b", "", "a\0b", 5, None])
    def test_a_way_out_of_the_folder_is_refused(self, collection: Path, way: object) -> None:
        path = collection / "problem00001" / "problem-info.json"
        good = json.loads(path.read_text("utf-8"))
        for bad in ({**good, "unknown-folder": way}, {**good, "candidate-authors": [{"author-name": way}]}):
            write(path, bad)
            with pytest.raises(CorpusError, match=r"problem-info\.json: should name an unknown-folder and candidate"):
                read_collection(collection)

    @pytest.mark.parametrize("rows", [7, "candidate00001", {}, None, [[]]])
    def test_candidates_that_are_no_list_of_names_are_refused(self, collection: Path, rows: object) -> None:
        info = {"unknown-folder": "unknown", "candidate-authors": rows}
        write(collection / "problem00001" / "problem-info.json", info)
        with pytest.raises(CorpusError, match="should name an unknown-folder and candidate-authors; repair it"):
            read_collection(collection)

    def test_missing_folders_of_all_problems_are_named_at_once(self, collection: Path) -> None:
        (collection / "problem00001" / "unknown").rename(collection / "problem00001" / "elsewhere")
        for file in (collection / "problem00002" / "candidate00003").iterdir():
            file.unlink()
        with pytest.raises(CorpusError) as refusal:
            read_collection(collection)
        first, *lines = str(refusal.value).splitlines()
        assert first == "these can't be used (2):"
        assert "problem00001/unknown: can't be read" in lines[0]
        assert "problem00002/candidate00003: no .txt files there" in lines[1]


class TestAnswers:
    def test_they_are_as_pan_wants_them(self, collection: Path, tmp_path: Path) -> None:
        problem = read_collection(collection)[0]
        found = [
            Attribution(document.name, author, 0.9, 0.1, ())
            for document, author in zip(problem.unknown, ("candidate00001", "candidate00004", None), strict=True)
        ]
        path = write_predictions(tmp_path / "out", problem, found)
        assert path == tmp_path / "out" / "answers-problem00001.json"
        assert json.loads(path.read_text("utf-8")) == [
            {"unknown-text": "unknown00001.txt", "predicted-author": "candidate00001"},
            {"unknown-text": "unknown00002.txt", "predicted-author": "candidate00004"},
            {"unknown-text": "unknown00003.txt", "predicted-author": "<UNK>"},
        ]
        with pytest.raises(AnswersError, match=r"answers-problem00001\.json: exists already"):
            write_predictions(tmp_path / "out", problem, found[::-1])
        assert json.loads(path.read_text("utf-8"))[1]["predicted-author"] == "candidate00004"


class TestMeasures:
    def test_macro_f1_is_worked_by_hand_and_nobody_is_no_class(self, tmp_path: Path) -> None:
        """Of A 2 of 3 found and 1 wrong: F1 2/3. Of B 1 of 2, none wrong: 2/3. Of C 0. <UNK> takes no part."""
        truth = dict(zip("abcdefgh", ["A", "A", "A", "B", "B", "C", "<UNK>", "<UNK>"], strict=True))
        given = dict(zip("abcdefgh", ["A", "A", "B2", "B", "<UNK>", "A", "<UNK>", "B2"], strict=True))
        write(tmp_path / "c" / "collection-info.json", [{"problem-name": "problem00001"}])
        write_truth(tmp_path / "c" / "problem00001", truth)
        write_answers(tmp_path / "out", given)
        (found,) = evaluate_collection(tmp_path / "out", tmp_path / "c")
        assert found == Prediction("problem00001", 8, 4 / 8, pytest.approx((2 / 3 + 2 / 3 + 0) / 3))  # type: ignore[arg-type]

    def test_a_text_without_an_answer_is_by_nobody(self, collection: Path, tmp_path: Path) -> None:
        for problem in ("problem00001", "problem00002"):
            write_answers(tmp_path / "out", {"unknown00001.txt": "candidate00001"}, problem)
        found = evaluate_collection(tmp_path / "out", collection)
        assert [(each.accuracy, each.macro_f1) for each in found] == [(pytest.approx(2 / 3), 0.5)] * 2

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("[", "not JSON"),
            ("[]", "no answers there"),
            ("{}", "no answers there"),
            ('[{"unknown-text": "unknown00001.txt"}]', "each unknown-text needs one predicted-author"),
            ('[{"unknown-text": 1, "predicted-author": "x"}]', "each unknown-text needs one predicted-author"),
            ('[{"unknown-text": "other.txt", "predicted-author": "x"}]', "other.txt is no text of problem00001"),
            (json.dumps([{"unknown-text": "unknown00001.txt", "predicted-author": "x"}] * 2), "needs one predicted"),
        ],
    )
    def test_damaged_answers_are_named(self, collection: Path, tmp_path: Path, content: str, said: str) -> None:
        path = answers_path(tmp_path / "out", "problem00001")
        write(path, content)
        with pytest.raises(BylineError, match=said) as refusal:
            evaluate_collection(tmp_path / "out", collection)
        assert str(refusal.value).startswith(f"{path}: ")

    def test_a_missing_or_damaged_truth_is_named(self, collection: Path, tmp_path: Path) -> None:
        truth = collection / "problem00001" / "ground-truth.json"
        write(truth, {"truth": []})
        with pytest.raises(AnswersError, match=r"ground-truth\.json: no answers there"):
            evaluate_collection(tmp_path, collection)
        truth.unlink()
        with pytest.raises(BylineError, match=r"ground-truth\.json: can't be read"):
            evaluate_collection(tmp_path, collection)


def run(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "byline", *map(str, words)]
    environment = {**os.environ, "COLUMNS": "160", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)


class TestCommands:
    def test_a_collection_is_answered_and_measured(self, collection: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        done = run("attribute", collection, "-o", out, "--none", "0.5", "--quiet")
        assert (done.returncode, done.stderr) == (0, "")
        assert sorted(path.name for path in out.iterdir()) == [
            "answers-problem00001.json",
            "answers-problem00002.json",
        ]
        rows = json.loads((out / "answers-problem00001.json").read_text("utf-8"))
        assert {row["unknown-text"]: row["predicted-author"] for row in rows} == TRUTH
        assert "3 texts, 1 by none of the candidates" in " ".join(done.stdout.split())
        measured = json.loads(run("evaluate", out, collection, "--json").stdout)
        assert measured["means"] == {"accuracy": 1.0, "macro_f1": 1.0}
        assert [row["texts"] for row in measured["problems"]] == [3, 3]
        assert "macro-F1" in run("evaluate", out, collection).stdout
        again = run("attribute", collection, "-o", out)
        assert again.returncode == 1
        assert "exists already" in again.stderr

    def test_without_a_folder_for_answers_it_is_refused(self, collection: Path) -> None:
        done = run("attribute", collection)
        assert done.returncode == 1
        assert "name a folder for the answers with -o" in done.stderr

    def test_the_truth_is_never_opened_while_answering(
        self, collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[str] = []
        real_bytes, real_open = documents.Path.read_bytes, Path.open

        def read_bytes(self: Path) -> bytes:
            opened.append(self.name)
            return real_bytes(self)

        def open_file(self: Path, *arguments: object, **options: object) -> object:
            opened.append(self.name)
            return real_open(self, *arguments, **options)  # type: ignore[call-overload]

        monkeypatch.setattr(Path, "read_bytes", read_bytes)
        monkeypatch.setattr(Path, "open", open_file)
        done = CliRunner().invoke(app, ["attribute", str(collection), "-o", str(tmp_path / "out"), "--quiet"])
        assert done.exit_code == 0, done.output
        assert "unknown00001.txt" in opened
        assert "ground-truth.json" not in opened
        for problem in ("problem00001", "problem00002"):
            (collection / problem / "ground-truth.json").unlink()
        blind = CliRunner().invoke(app, ["attribute", str(collection), "-o", str(tmp_path / "blind"), "--quiet"])
        assert blind.exit_code == 0, blind.output
        for name in ("answers-problem00001.json", "answers-problem00002.json"):
            assert (tmp_path / "blind" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
