"""PAN's attribution problems: read, answered without a look at the truth, and measured."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from byline import documents
from byline.attribution.attributing import Attribution
from byline.attribution.collections import (
    Prediction,
    answers_path,
    evaluate_collection,
    is_attribution_truth,
    is_collection,
    read_collection,
    write_predictions,
)
from byline.commands import app, train
from byline.errors import AnswersError, BylineError, CorpusError
from conftest import phrase
from programs import run

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
            (
                "problem00001/problem-info.json",
                "[]",
                "no JSON object; it should have unknown-folder and candidate-auth",
            ),
            ("problem00001/problem-info.json", "{}", r"no unknown-folder \(there are none\); add it"),
            (
                "problem00001/problem-info.json",
                '{"unknown_folder": "u"}',
                r"no unknown-folder \(there are unknown_fold",
            ),
            (
                "problem00001/problem-info.json",
                '{"unknown-folder": "u"}',
                r"no candidate-authors \(there are unknown-f",
            ),
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
        for key, bad in (
            ("unknown-folder", {**good, "unknown-folder": way}),
            ("author-name", {**good, "candidate-authors": [{"author-name": way}]}),
        ):
            write(path, bad)
            with pytest.raises(CorpusError) as refusal:
                read_collection(collection)
            wanted = f"{path}: {key} must be the plain name of a folder, got {way!r}; repair it"
            assert str(refusal.value) == wanted

    @pytest.mark.parametrize("rows", [7, "candidate00001", {}, None, []])
    def test_candidates_that_are_no_list_are_refused(self, collection: Path, rows: object) -> None:
        info = {"unknown-folder": "unknown", "candidate-authors": rows}
        write(collection / "problem00001" / "problem-info.json", info)
        with pytest.raises(
            CorpusError, match=r'candidate-authors must be a list of \{"author-name": \.\.\.\}; repair it'
        ):
            read_collection(collection)

    @pytest.mark.parametrize(
        ("row", "there"),
        [
            ({"name": "candidate00001"}, " (there are name)"),
            ({}, " (there are none)"),
            ([], ""),
            ("candidate00001", ""),
        ],
    )
    def test_a_candidate_without_a_name_is_told_which_key_is_missing(
        self, collection: Path, row: object, there: str
    ) -> None:
        path = collection / "problem00001" / "problem-info.json"
        write(path, {"unknown-folder": "unknown", "candidate-authors": [{"author-name": "candidate00001"}, row]})
        with pytest.raises(CorpusError) as refusal:
            read_collection(collection)
        assert str(refusal.value) == f"{path}: candidate 2 has no author-name{there}; add it"

    @pytest.mark.parametrize(
        ("name", "said"),
        [
            ("<UNK>", "a candidate is called <UNK>, which is none of the candidates; rename the candidate"),
            ("unknown", "a candidate is called unknown, which is the folder of the unknown texts; rename"),
        ],
    )
    def test_a_candidate_who_is_called_what_nobody_can_be_is_refused(
        self, collection: Path, name: str, said: str
    ) -> None:
        path = collection / "problem00001" / "problem-info.json"
        names = ["candidate00001", name]
        write(path, {"unknown-folder": "unknown", "candidate-authors": [{"author-name": each} for each in names]})
        with pytest.raises(CorpusError, match=re.escape(f"{path}: {said}")):
            read_collection(collection)

    def test_so_is_one_who_is_there_in_two_spellings_of_unicode(self, collection: Path) -> None:
        path = collection / "problem00001" / "problem-info.json"
        names = ["Jos\u00e9", "Jose\u0301"]
        write(path, {"unknown-folder": "unknown", "candidate-authors": [{"author-name": each} for each in names]})
        with pytest.raises(CorpusError, match="is there twice; name each candidate once"):
            read_collection(collection)

    @pytest.mark.parametrize("content", ["[]", "{}", "null", '{"problems": []}'])
    def test_a_collection_of_nothing_is_refused(self, collection: Path, tmp_path: Path, content: str) -> None:
        write(collection / "collection-info.json", content)
        (tmp_path / "out").mkdir()
        for words in (("evaluate", tmp_path / "out", collection), ("attribute", collection, "-o", tmp_path / "out")):
            place = collection / "collection-info.json"
            assert refused(*words) == f'{place}: names no problems; list them there as {{"problem-name": ...}}'

    def test_a_candidate_who_is_there_twice_is_refused(self, collection: Path) -> None:
        path = collection / "problem00001" / "problem-info.json"
        write(path, {"unknown-folder": "unknown", "candidate-authors": [{"author-name": "candidate00001"}] * 2})
        with pytest.raises(CorpusError, match=r"problem-info\.json: candidate00001 is there twice; name each cand"):
            read_collection(collection)

    def test_a_problem_without_its_info_is_named_with_what_to_do(self, collection: Path) -> None:
        path = collection / "problem00002" / "problem-info.json"
        path.unlink()
        with pytest.raises(CorpusError) as refusal:
            read_collection(collection)
        assert str(refusal.value) == (f"{path}: not found; add it, or take problem00002 out of collection-info.json")

    def test_a_text_that_cant_be_read_is_named_by_its_whole_path(self, collection: Path) -> None:
        path = collection / "problem00002" / "candidate00003" / "known00001.txt"
        write(path, "")
        with pytest.raises(CorpusError) as refusal:
            read_collection(collection)
        assert str(refusal.value) == f"{path}: empty; remove it or put text in it"

    def test_missing_folders_of_all_problems_are_named_at_once(self, collection: Path) -> None:
        (collection / "problem00001" / "unknown").rename(collection / "problem00001" / "elsewhere")
        for file in (collection / "problem00002" / "candidate00003").iterdir():
            file.unlink()
        with pytest.raises(CorpusError) as refusal:
            read_collection(collection)
        first, *lines = str(refusal.value).splitlines()
        assert first == "these can't be used (2):"
        info = collection / "problem00001" / "problem-info.json"
        assert f"{info.parent / 'unknown'}: not found; add it, or take it out of {info}" in lines[0]
        assert "problem00002/candidate00003: no texts there" in lines[1]


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
        wanted = Prediction("problem00001", 8, 4 / 8, pytest.approx((2 / 3 + 2 / 3 + 0) / 3), 0)  # type: ignore[arg-type]
        assert found == wanted

    def test_a_text_without_an_answer_is_by_nobody(self, collection: Path, tmp_path: Path) -> None:
        for problem in ("problem00001", "problem00002"):
            write_answers(tmp_path / "out", {"unknown00001.txt": "candidate00001"}, problem)
        found = evaluate_collection(tmp_path / "out", collection)
        assert [(each.accuracy, each.macro_f1, each.missing) for each in found] == [(pytest.approx(2 / 3), 0.5, 2)] * 2

    def test_so_are_all_texts_of_a_problem_without_answers(self, collection: Path, tmp_path: Path) -> None:
        write_answers(tmp_path / "out", TRUTH, "problem00002")
        first, second = evaluate_collection(tmp_path / "out", collection)
        assert first == Prediction("problem00001", 3, pytest.approx(1 / 3), 0.0, 3)  # type: ignore[arg-type]
        assert second == Prediction("problem00002", 3, 1.0, 1.0, 0)

    def test_where_nothing_is_answered_the_folder_is_the_wrong_one(self, collection: Path, tmp_path: Path) -> None:
        (tmp_path / "out").mkdir()
        remedy = "name the folder that byline attribute wrote its answers to"
        for answers, reason in (
            (tmp_path / "out", "no answers-problem00001.json there"),
            (tmp_path / "gone", "not found"),
        ):
            with pytest.raises(AnswersError) as refusal:
                evaluate_collection(answers, collection)
            assert str(refusal.value) == f"{answers}: {reason}; {remedy}"

    def test_one_problem_may_be_measured_by_itself(self, collection: Path, tmp_path: Path) -> None:
        out, folder = tmp_path / "out", collection / "problem00002"
        write_answers(out, TRUTH, "problem00002")
        elsewhere = tmp_path / "truth.json"
        elsewhere.write_bytes((folder / "ground-truth.json").read_bytes())
        file = answers_path(out, "problem00002")
        for answers, truth in (
            (file, folder / "ground-truth.json"),
            (out, folder / "ground-truth.json"),
            (file, folder),
            (out, folder),
            (file, elsewhere),
        ):
            assert is_attribution_truth(truth)
            assert evaluate_collection(answers, truth) == (Prediction("problem00002", 3, 1.0, 1.0, 0),)
        with pytest.raises(AnswersError, match=r"one problem's answers, and .* has 2 problems; name the folder of all"):
            evaluate_collection(file, collection)

    def test_other_files_are_no_truth_of_attributions(self, tmp_path: Path) -> None:
        for name, content in (
            ("truth.json", {"EN001": "Y"}),
            ("truth.txt", "EN001 Y"),
            ("t.json", "["),
            ("a.json", []),
        ):
            write(tmp_path / name, content)
            assert not is_attribution_truth(tmp_path / name)
        assert not is_attribution_truth(tmp_path)
        assert not is_attribution_truth(tmp_path / "gone.json")

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            ("[", "not JSON"),
            ("[]", "no predicted-author there; it should be a list of unknown-text and predicted-author"),
            ("{}", "no predicted-author there"),
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
        write_answers(tmp_path, TRUTH)
        truth = collection / "problem00001" / "ground-truth.json"
        write(truth, {"truth": []})
        with pytest.raises(AnswersError, match=r"ground-truth\.json: no true-author there; .*, under ground_truth"):
            evaluate_collection(tmp_path, collection)
        truth.unlink()
        with pytest.raises(BylineError, match=r"ground-truth\.json: not found; name a collection whose truth is known"):
            evaluate_collection(tmp_path, collection)


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
        page = (Path(__file__).parent.parent / "docs" / "file-formats.md").read_text("utf-8")
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
        assert evaluate_collection(tmp_path / "out", folder.parent) == (Prediction("problem00001", 2, 1.0, 1.0, 0),)


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
            (["-o", "out", "--author-column", "author"], "--author-column is for authors who are learnt with --known"),
            (["-o", "out", "--resume", "--overwrite"], "--resume keeps answers that are there and --overwrite"),
            (["--known", "x", "--resume"], "--resume is for a PAN folder's answers"),
            (["-o", "out", "--text-column", "what"], "--text-column is for authors who are learnt with --known"),
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
        guess = "problem00002: how sure to be is a guess: no text could be held out to learn it from."
        assert done.stdout.splitlines()[2] == guess
        (first, _) = json.loads(run("attribute", collection, *words, "--overwrite", "--json").stdout)
        assert first["texts"][0]["ranking"][0]["bits"] is None  # vectors have none

    def test_a_problem_that_cant_be_learnt_is_named(self, collection: Path, tmp_path: Path) -> None:
        path = collection / "problem00002" / "problem-info.json"
        write(path, {"unknown-folder": "unknown", "candidate-authors": [{"author-name": "candidate00001"}]})
        done = run("attribute", collection, "-o", tmp_path / "out", "--engines", "vectors")
        assert done.returncode == 1
        assert done.stderr == f"byline: {path.parent}: 1 author, 2 are needed; add texts by others\n"

    def test_what_is_wrong_with_any_problem_is_found_before_one_is_learnt(
        self, collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def learn(*_: object, **__: object) -> None:
            raise AssertionError("nothing is to be learnt")

        monkeypatch.setattr(train, "train_model", learn)
        out, second = tmp_path / "out", collection / "problem00002"
        (second / "unknown" / "unknown00003.txt").write_text("hm", "utf-8")
        (second / "candidate00004" / "known00000.txt").write_text("ho", "utf-8")
        said = refused("attribute", collection, "-o", out)
        assert said.startswith(f"{second}: problem00002/candidate00004/known00000.txt: 2 characters after normalising")
        write(second / "candidate00004" / "known00000.txt", phrase(4, 900, 0))
        write(collection / "problem00001" / "unknown" / "unknown00001.txt", "μηνιν αειδε θεα, man; " * 20)
        said = refused("attribute", collection, "-o", out)
        assert said.startswith("these can't be used (2):\n")
        assert f"  {second}: problem00002/unknown/unknown00003.txt: 2 characters after normalising" in said
        assert "problem00001/unknown/unknown00001.txt: only " in said
        assert not out.exists()

    def test_a_folder_in_the_way_of_answers_is_found_first(self, collection: Path, tmp_path: Path) -> None:
        place = tmp_path / "out" / "answers-problem00002.json"
        place.mkdir(parents=True)
        for words in ((), ("--overwrite",), ("--resume",)):
            said = refused("attribute", collection, "-o", place.parent, *words)
            assert said.startswith(f"{place}: a folder, where answers are to be written; ")
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
        assert "exists already; choose another folder, or give --overwrite or --resume" in again.stderr
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
        assert f"{second}: no answers to problem00002 as it is now; remove it, or overwrite it (" in other.stderr
        assert not first.exists()

    def test_what_stops_it_says_that_it_can_go_on(
        self, collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real, asked = train.train_model, []

        def learn(*arguments: Any, **options: Any) -> Any:
            asked.append(1)
            if len(asked) > 1:
                raise CorpusError("no more")
            return real(*arguments, **options)

        monkeypatch.setattr(train, "train_model", learn)
        words = ("attribute", collection, "-o", tmp_path / "out", "--engines", "vectors", "--quiet")
        done = CliRunner().invoke(app, [*map(str, words)])
        assert str(done.exception) == "no more"
        assert done.stderr == "byline: 1 answered so far; with --resume they are kept, and the others answered\n"
        assert answers_path(tmp_path / "out", "problem00001").exists()

    def test_what_is_not_answered_is_said(self, collection: Path, tmp_path: Path) -> None:
        write_answers(tmp_path / "out", {"unknown00001.txt": "candidate00001"})
        said = run("evaluate", tmp_path / "out", collection).stdout
        assert f"{tmp_path / 'out'}: 2 of 3 texts of problem00001 without an answer, counted as <UNK>\n" in said
        assert f"{tmp_path / 'out'}: all of 3 texts of problem00002 without an answer, counted as <UNK>\n" in said
        found = json.loads(run("evaluate", tmp_path / "out", collection, "--json").stdout)
        assert [row["missing"] for row in found["problems"]] == [2, 3]
        assert set(found["means"]) == {"accuracy", "macro_f1"}

    def test_answers_and_truth_the_wrong_way_round_are_recognised(self, collection: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        write_answers(out, TRUTH)
        for words in ((collection, out), (collection / "problem00001" / "ground-truth.json", out)):
            assert "answers come first; byline evaluate " in misused("evaluate", *words)
        assert "name the collection that has the truth" in misused("evaluate", out, out)

    def test_single_files_are_measured(self, collection: Path, tmp_path: Path) -> None:
        write_answers(tmp_path, TRUTH)
        truth = collection / "problem00001" / "ground-truth.json"
        done = run("evaluate", answers_path(tmp_path, "problem00001"), truth)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[1].split() == ["problem00001", "3", "1.000", "1.000"]

    def test_truths_of_different_kinds_are_not_measured_together(self, collection: Path, tmp_path: Path) -> None:
        write_answers(tmp_path, TRUTH)
        write(tmp_path / "truth.txt", "EN001 Y\n")
        write(tmp_path / "answers.txt", "EN001 0.7\n")
        done = run("evaluate", tmp_path, collection, tmp_path / "answers.txt", tmp_path / "truth.txt")
        assert (done.returncode, done.stdout) == (1, "")
        assert "different kinds of problems; evaluate each kind by itself" in done.stderr

    def test_a_corpus_that_holds_clusterings_is_measured_as_one(self, tmp_path: Path) -> None:
        clusters = [[{"document": "a.txt"}, {"document": "b.txt"}], [{"document": "c.txt"}]]
        ranking = [{"document1": "a.txt", "document2": "b.txt", "score": 1.0}]
        for folder in (tmp_path / "corpus" / "truth" / "problem001", tmp_path / "out" / "problem001"):
            write(folder / "clustering.json", clusters)
            write(folder / "ranking.json", ranking)
        write(tmp_path / "corpus" / "info.json", [{"folder": "problem001", "language": "en"}])
        for truth in (tmp_path / "corpus" / "truth", tmp_path / "corpus"):
            found = json.loads(run("evaluate", tmp_path / "out", truth, "--json").stdout)
            assert found["means"] == {"bcubed_f": 1.0, "map": 1.0}

    def test_the_truth_is_never_opened_while_answering(
        self, collection: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opened: list[str] = []
        real_bytes, real_open, real_opener = documents.Path.read_bytes, Path.open, documents._open_at_once

        def open_at_once(path: str, flags: int) -> int:
            opened.append(Path(path).name)
            return real_opener(path, flags)

        def read_bytes(self: Path) -> bytes:
            opened.append(self.name)
            return real_bytes(self)

        def open_file(self: Path, *arguments: object, **options: object) -> object:
            opened.append(self.name)
            return real_open(self, *arguments, **options)  # type: ignore[call-overload]

        monkeypatch.setattr(Path, "read_bytes", read_bytes)
        monkeypatch.setattr(Path, "open", open_file)
        monkeypatch.setattr(documents, "_open_at_once", open_at_once)
        words = ["attribute", str(collection), "--engines", "vectors", "--quiet", "-o"]
        done = CliRunner().invoke(app, [*words, str(tmp_path / "out")])
        assert done.exit_code == 0, done.output
        assert "unknown00001.txt" in opened
        assert "ground-truth.json" not in opened
        for problem in ("problem00001", "problem00002"):
            (collection / problem / "ground-truth.json").unlink()
        blind = CliRunner().invoke(app, [*words, str(tmp_path / "blind")])
        assert blind.exit_code == 0, blind.output
        for name in ("answers-problem00001.json", "answers-problem00002.json"):
            assert (tmp_path / "blind" / name).read_bytes() == (tmp_path / "out" / name).read_bytes()
