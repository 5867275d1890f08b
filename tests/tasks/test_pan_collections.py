"""PAN's attribution problems: read, and answered without the truth."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from byline.cli import app
from byline.cli import attribute as attribute_module
from byline.errors import OVERWRITE, AnswersError, BylineError, CorpusError
from byline.tasks.attribute import Attribution
from byline.tasks.evaluate import AttributionMeasures, evaluate_attributions
from byline.tasks.pan_collections import answers_path, is_collection, read_collection, write_predictions
from paths import ROOT
from programs import run
from samples import phrase

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
            write(folder / name / "unknown" / f"unknown{place:05d}.txt", phrase(number, 1100, 7))
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
        assert first.unknown[2].text == phrase(0, 1100, 7)

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


INFO = "problem00001/problem-info.json"


def info(*names: object, unknown: object = "unknown") -> dict[str, object]:
    return {"unknown-folder": unknown, "candidate-authors": [{"author-name": name} for name in names]}


WAYS_OUT = ["../problem00002/unknown", "..", "/etc", "a/b", "", "a\0b", 5, None]


class TestRefusals:
    @pytest.mark.parametrize(
        ("file", "content", "said"),
        [
            ("collection-info.json", "[", "JSON"),
            *(("collection-info.json", content, "no problems") for content in ("[]", "7", "{}", '{"problems": []}')),
            *(("collection-info.json", [{"problem-name": way}], "plain name") for way in WAYS_OUT),
            ("collection-info.json", ["problem00001"], "plain name"),
            ("collection-info.json", [{"problem-name": "p"}, {"problem-name": "p"}], "p is repeated"),
            (INFO, "{", "JSON"),
            *((INFO, content, "needs an unknown-folder") for content in ("[]", {}, {"unknown-folder": "u"})),
            *((INFO, info("candidate00001", unknown=way), "plain names") for way in WAYS_OUT),
            *((INFO, info("candidate00001", way), "plain names") for way in WAYS_OUT),
            *((INFO, {**info(), "candidate-authors": rows}, "plain names") for rows in (7, "a", {}, [], [{}], ["a"])),
            (INFO, info("candidate00001", "<UNK>"), "<UNK>, which is none of the candidates"),
            (INFO, info("candidate00001", "unknown"), "the folder of the unknown texts"),
            (INFO, info("Jos\u00e9", "Jose\u0301"), "is repeated"),
        ],
    )
    def test_a_damaged_file_is_named_with_what_to_do(
        self, collection: Path, file: str, content: object, said: str
    ) -> None:
        write(collection / file, content)
        with pytest.raises(CorpusError, match=said) as error:
            read_collection(collection)
        assert str(error.value).startswith(f"{collection / file}: ")
        assert error.value.remedy or "JSON" in said

    def test_a_problem_without_its_info_is_named(self, collection: Path) -> None:
        path = collection / "problem00002" / "problem-info.json"
        path.unlink()
        with pytest.raises(CorpusError, match="take problem00002 out") as error:
            read_collection(collection)
        assert str(error.value).startswith(f"{path}: ")

    def test_a_text_that_cant_be_read_is_named_by_its_whole_path(self, collection: Path) -> None:
        path = collection / "problem00002" / "candidate00003" / "known00001.txt"
        write(path, "")
        with pytest.raises(CorpusError) as error:
            read_collection(collection)
        assert str(error.value).startswith(f"{path}: ")

    def test_missing_folders_of_all_problems_are_named_at_once(self, collection: Path) -> None:
        (collection / "problem00001" / "unknown").rename(collection / "problem00001" / "elsewhere")
        for file in (collection / "problem00002" / "candidate00003").iterdir():
            file.unlink()
        with pytest.raises(CorpusError) as error:
            read_collection(collection)
        _, first, second = str(error.value).splitlines()
        assert str(collection / "problem00001" / "unknown") in first
        assert str(collection / "problem00002" / "candidate00003") in second


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
        with pytest.raises(AnswersError) as error:
            write_predictions(tmp_path / "out", problem, found[::-1])
        assert (error.value.where, error.value.remedy) == (str(path), OVERWRITE)
        assert json.loads(path.read_text("utf-8"))[1]["predicted-author"] == "candidate00004"


def refused(*words: object) -> str:
    """What is said of a command's input, in this process; nothing is printed."""
    done = CliRunner().invoke(app, [*map(str, words)])
    assert isinstance(done.exception, BylineError), (done.exception, done.stdout)
    assert done.stdout == ""
    return str(done.exception)


def misused(*words: object) -> str:
    """What is said of wrong usage, as one line, in this process; nothing is printed."""
    done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "120"})
    assert (done.exit_code, done.stdout) == (2, ""), (done.exception, done.stdout)
    return plain(done.stderr)


def plain(said: str) -> str:
    """What stands in a box, as one line."""
    return " ".join(said.replace("│", " ").split())


class TestDocs:
    def test_the_files_that_are_shown_are_read(self, tmp_path: Path) -> None:
        page = (ROOT / "docs" / "file-formats.md").read_text("utf-8")
        shown = page[page.index("### PAN 2018 and 2019") :]
        info, problem, truth, answers = re.findall(r"```json\n(.*?)```", shown, re.DOTALL)[:4]
        folder = tmp_path / "pan19" / "problem00001"
        write(folder.parent / "collection-info.json", info)
        write(folder / "problem-info.json", problem)
        write(folder / "ground-truth.json", truth)
        write(answers_path(tmp_path / "out", "problem00001"), answers)
        for number in (1, 2):
            write(folder / f"candidate0000{number}" / "known00001.txt", phrase(number))
            write(folder / "unknown" / f"unknown0000{number}.txt", phrase(number, 300, 5))
        (read,) = read_collection(folder.parent)
        assert read.candidates.names == ("candidate00001", "candidate00002")
        assert len(read.unknown) == 2
        assert evaluate_attributions(tmp_path / "out", folder.parent) == (
            AttributionMeasures("problem00001", 2, 1.0, 1.0, 0),
        )


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
        assert done.stdout.splitlines() == [
            f"{out}/answers-problem00001.json: 3 texts, 1 by none of the candidates",
            f"{out}/answers-problem00002.json: 3 texts, 1 by none of the candidates",
            f"Next: byline evaluate {out} {collection}",
        ]
        measured = json.loads(run("evaluate", out, collection, "--json").stdout)
        assert measured["means"] == {"accuracy": 1.0, "macro_f1": 1.0}
        assert [row["texts"] for row in measured["problems"]] == [3, 3]
        said = run("evaluate", out, collection).stdout
        assert said.splitlines()[0].split() == ["problem", "texts", "accuracy", "macro-F1"]
        assert said.endswith("\nmacro-F1 is the mean over the candidates that occur in the truth; <UNK> is no class.\n")
        assert "without an answer" not in said
        again = run("attribute", collection, "-o", out)
        assert again.returncode == 1
        assert "exists already" in again.stderr

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ([], "name a folder for the answers with -o"),
            (["-o", "out", "--csv"], "--csv is for texts; a PAN folder's answers are JSON"),
            (["-o", "out", "--author-column", "author"], "--author-column needs --known"),
            (["-o", "out", "--resume", "--overwrite"], "--resume keeps existing answers"),
            (["--known", "x", "--resume"], "--resume is for a PAN folder's answers"),
            (["-o", "out", "--text-column", "what"], "--text-column needs --known"),
        ],
    )
    def test_what_would_do_nothing_is_wrong_usage(self, collection: Path, words: list[str], message: str) -> None:
        assert message in misused("attribute", collection, *words)

    def test_members_may_be_chosen_and_guesses_are_named(self, collection: Path, tmp_path: Path) -> None:
        for file in (collection / "problem00002").glob("candidate*/known0000[12].txt"):
            file.unlink()
        words = ("-o", tmp_path / "out", "--engines", "vectors", "--seed", "3", "--language", "en", "--quiet")
        done = run("attribute", collection, *words)
        assert (done.returncode, done.stderr) == (0, "")
        guess = "problem00002: probabilities are not calibrated, because no text could be held out."
        assert done.stdout.splitlines()[2] == guess
        (first, _) = json.loads(run("attribute", collection, *words, "--overwrite", "--json").stdout)
        assert first["texts"][0]["ranking"][0]["bits"] is None  # vectors have none

    def test_a_problem_that_cant_be_learned_is_named(self, collection: Path, tmp_path: Path) -> None:
        path = collection / "problem00002" / "problem-info.json"
        write(path, {"unknown-folder": "unknown", "candidate-authors": [{"author-name": "candidate00001"}]})
        done = run("attribute", collection, "-o", tmp_path / "out", "--engines", "vectors")
        assert done.returncode == 1
        assert done.stderr.startswith(f"byline: {path.parent}: 1 author")

    def test_what_is_wrong_with_any_problem_is_found_before_one_is_learned(
        self, collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def learn(*_: object, **__: object) -> None:
            raise AssertionError("nothing is to be learned")

        monkeypatch.setattr(attribute_module, "train_model", learn)
        out, second = tmp_path / "out", collection / "problem00002"
        (second / "unknown" / "unknown00003.txt").write_text("hm", "utf-8")
        (second / "candidate00004" / "known00000.txt").write_text("ho", "utf-8")
        said = refused("attribute", collection, "-o", out)
        assert said.startswith(f"{second}: problem00002/candidate00004/known00000.txt: 2 characters")
        write(second / "candidate00004" / "known00000.txt", phrase(4, 900, 0))
        write(collection / "problem00001" / "unknown" / "unknown00001.txt", "μηνιν αειδε θεα, man; " * 20)
        said = refused("attribute", collection, "-o", out)
        assert said.startswith("these can't be used (2):\n")
        assert f"  {second}: problem00002/unknown/unknown00003.txt: 2 characters" in said
        assert "problem00001/unknown/unknown00001.txt: only " in said
        assert not out.exists()

    def test_a_folder_in_the_way_of_answers_is_found_first(self, collection: Path, tmp_path: Path) -> None:
        place = tmp_path / "out" / "answers-problem00002.json"
        place.mkdir(parents=True)
        for words in ((), ("--overwrite",), ("--resume",)):
            said = refused("attribute", collection, "-o", place.parent, *words)
            assert said.startswith(f"{place}: is a folder")
        assert [path.name for path in place.parent.iterdir()] == [place.name]

    def test_a_collection_goes_on_where_it_stopped(self, collection: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        first, second = (answers_path(out, f"problem0000{number}") for number in (1, 2))
        words = ("attribute", collection, "-o", out, "--engines", "vectors", "--quiet")
        assert run(*words).returncode == 0
        whole = second.read_bytes()
        kept = dict.fromkeys(TRUTH, "<UNK>")
        write_answers(out, kept)
        second.unlink()
        again = run(*words)
        assert again.returncode == 1
        assert "exists already" in again.stderr
        done = run(*words, "--resume")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[:2] == [
            "Answered before, and kept: 1 problem",
            f"{second}: 3 texts, {whole.count(b'<UNK>')} by none of the candidates",
        ]
        assert second.read_bytes() == whole
        assert {row["predicted-author"] for row in json.loads(first.read_text("utf-8"))} == {"<UNK>"}
        listed = json.loads(run(*words, "--resume", "--json").stdout)
        assert listed == [{"answers": str(path), "kept": True} for path in (first, second)]
        first.unlink()
        write_answers(out, {"unknown00001.txt": "candidate00001"}, "problem00002")
        other = run(*words, "--resume")
        assert other.returncode == 1
        assert f"{second}: has no answers to problem00002 as it is now" in other.stderr
        assert not first.exists()

    def test_what_stops_it_says_that_it_can_go_on(
        self, collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real, asked = attribute_module.train_model, []

        def learn(*arguments: Any, **options: Any) -> Any:
            asked.append(1)
            if len(asked) > 1:
                raise CorpusError("no more")
            return real(*arguments, **options)

        monkeypatch.setattr(attribute_module, "train_model", learn)
        words = ("attribute", collection, "-o", tmp_path / "out", "--engines", "vectors", "--quiet")
        done = CliRunner().invoke(app, [*map(str, words)])
        assert str(done.exception) == "no more"
        assert done.stderr == "byline: 1 problem answered; --resume keeps these and answers the others\n"
        assert answers_path(tmp_path / "out", "problem00001").exists()

    def test_answers_are_the_same_without_the_truth(self, collection: Path, tmp_path: Path) -> None:
        words = ["attribute", str(collection), "--engines", "vectors", "--quiet", "-o"]
        assert CliRunner().invoke(app, [*words, str(tmp_path / "out")]).exit_code == 0
        for problem in ("problem00001", "problem00002"):
            (collection / problem / "ground-truth.json").unlink()
        assert CliRunner().invoke(app, [*words, str(tmp_path / "blind")]).exit_code == 0
        for name in ("answers-problem00001.json", "answers-problem00002.json"):
            assert (tmp_path / "blind" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
