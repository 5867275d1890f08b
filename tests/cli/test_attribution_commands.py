"""train, attribute, enroll, inspect as a user meets them: what they print, what they write, how they end."""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from byline.author_models.model import train_authors
from byline.author_models.model_file import author_model_bytes, read_author_model
from byline.cli import app
from byline.cli.attribute import attribute_command
from byline.cli.train import UNCALIBRATED, enroll_command, train_command
from byline.corpora.author_corpus import read_author_corpus
from byline.corpora.documents import Document
from byline.errors import BylineError
from byline.settings.settings import read_pool
from byline.tasks.attribute import USUAL_PRIOR, attribute
from programs import run as start
from samples import habits
from terminals import watch

NAMES = ("Ann", "Bob", "Cid", "Dee", "Eve", "Fay")


def write_authors(folder: Path, authors: Iterable[int], texts: int = 2, length: int = 300) -> Path:
    """A folder of authors' folders."""
    for author in authors:
        (folder / NAMES[author]).mkdir(parents=True)
        for salt in range(texts):
            (folder / NAMES[author] / f"{salt}.txt").write_text(habits(author, length, salt), "utf-8")
    return folder


def write_asked(folder: Path, authors: Iterable[int], length: int = 1_100) -> list[Path]:
    """Texts by some of them that are not known yet."""
    folder.mkdir(exist_ok=True)
    paths = []
    for author in authors:
        paths.append(folder / f"asked{author}.txt")
        paths[-1].write_text(habits(author, length, salt=40), "utf-8")
    return paths


def run(*words: object) -> str:
    """What a command that succeeds prints; nothing else is on stdout."""
    done = CliRunner().invoke(app, [*map(str, words), *([] if "inspect" in words else ["--quiet"])])
    assert done.exception is None, done.exception
    assert (done.exit_code, done.stderr) == (0, "")
    return done.stdout


def refused(*words: object) -> str:
    """What is said of a command's input; nothing is printed."""
    done = CliRunner().invoke(app, [*map(str, words)])
    assert isinstance(done.exception, BylineError), (done.exception, done.stdout)
    assert done.stdout == ""
    return str(done.exception)


def misused(*words: object) -> str:
    """What is said of wrong usage, as one line; nothing is printed."""
    done = CliRunner().invoke(app, [*map(str, words)], env={"COLUMNS": "200"})
    assert (done.exit_code, done.stdout) == (2, ""), (done.exception, done.stdout)
    return " ".join(done.stderr.replace("│", " ").split())


@pytest.fixture(scope="module")
def authors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four authors' folders."""
    return write_authors(tmp_path_factory.mktemp("authors") / "texts", range(4))


@pytest.fixture(scope="module")
def model_file(authors: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What byline train makes of them."""
    path = tmp_path_factory.mktemp("models") / "four.byline"
    run("train", authors, "-o", path)
    return path


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of authors who have some."""
    home = tmp_path_factory.mktemp("long")
    folder, model = home / "texts", home / "m.byline"
    names = ("William Makepeace Thackeray", "Elizabeth Cleghorn Gaskell", "Bob", "Cid")
    for author, name in enumerate(names):
        (folder / name).mkdir(parents=True)
        for salt in (0, 1):
            (folder / name / f"{salt}.txt").write_text(habits(author, 300, salt), "utf-8")
    run("train", folder, "-o", model)
    return model


@pytest.mark.parametrize(
    "words",
    [
        ["train"],
        ["train", "x"],
        ["train", "x", "-o", "y", "--members", "0"],
        ["train", "x", "-o", "y", "--seed", "-1"],
        ["attribute"],
        ["attribute", "m", "x", "--none", "half"],
        ["attribute", "m", "x", "--csv", "--json"],
        ["attribute", "m", "x", "--members", "0"],
        ["enroll", "m"],
        ["inspect"],
    ],
)
def test_wrong_usage_ends_with_2(words: list[str]) -> None:
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")


def test_the_whole_way_as_a_program(authors: Path, tmp_path: Path) -> None:
    """Train, ask, add an author, ask again, look in; answers are on stdout, and without a terminal nothing is else."""
    model, larger = tmp_path / "m.byline", tmp_path / "new" / "larger.byline"
    done = start("train", authors, "-o", model)
    assert (done.returncode, done.stderr) == (0, "")
    assert "4 authors, 8 texts" in done.stdout
    asked = write_asked(tmp_path / "asked", [2, 4])
    done = start("attribute", model, *asked, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)[0]["author"] == "Cid"
    done = start("enroll", model, write_authors(tmp_path / "more", [4]), "-o", larger, "-q")
    assert done.returncode == 0, done.stderr
    assert "5 authors, 10 texts" in done.stdout
    rows = rows_of(run("attribute", larger, tmp_path / "asked", "--none", 0, "--csv"))
    assert [row["author"] for row in rows if row["rank"] == "1"] == ["Cid", "Eve"]
    assert re.search(r"^Eve +2 +\d{3}$", run("inspect", larger), re.MULTILINE)


def rows_of(content: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content)))


class TestTrain:
    def test_the_file_is_the_model_of_the_preset(self, authors: Path, model_file: Path) -> None:
        made = train_authors(read_author_corpus([authors]), read_pool("authors").rows)
        assert author_model_bytes(made) == model_file.read_bytes()
        assert list(model_file.parent.iterdir()) == [model_file]

    def test_what_was_learned_is_summed_up(self, authors: Path, tmp_path: Path) -> None:
        text = run("train", authors, "-o", tmp_path / "m.byline")
        assert text.startswith("Latin script: 4 authors, 8 texts, ")
        for name in NAMES[:4]:
            assert re.search(rf"^{name} +2 +\d{{3}}$", text, re.MULTILINE)
        (shares,) = re.findall(r"^Members and their shares: (.+)$", text, re.MULTILINE)
        names = ["vectors", "vectors (topic masked)", "ngram", "ngram (topic masked)", "linear"]
        found = [share.rsplit(" ", 1) for share in shares.split(", ")]
        assert [name for name, _ in found] == names
        assert sum(float(share) for _, share in found) == pytest.approx(1, abs=0.03)
        assert "calibrated on 8 texts, each held out" in text
        assert "The model holds the texts that it learned" in text
        path = re.escape(str(tmp_path / "m.byline"))
        assert re.search(rf"\nWrote {path} in \d+\.\d s\. Next: byline attribute {path} TEXT\n$", text)

    def test_authors_with_one_text_each_leave_a_guess(self, tmp_path: Path) -> None:
        folder = write_authors(tmp_path / "texts", range(3), texts=1)
        assert UNCALIBRATED in run("train", folder, "-o", tmp_path / "m.byline")

    def test_json_says_what_was_learned(self, authors: Path, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        result = json.loads(
            run("train", authors, "-o", path, "--json", "--engines", "ngram", "--set", "order=4", "--language", "EN")
        )
        assert result["model"] == str(path)
        assert result["language"] == "english"
        assert [author["author"] for author in result["authors"]] == list(NAMES[:4])
        assert sorted(result["authors"][0]["texts"]) == ["Ann/0.txt", "Ann/1.txt"]
        assert 500 < result["authors"][0]["characters"] < 700
        assert [member["engine"] for member in result["members"]] == ["ngram", "ngram"]
        assert [member["mask"] for member in result["members"]] == ["none", "topic"]
        assert result["members"][0]["changes"] == {"engine": "ngram", "order": 4}
        assert result["members"][0]["weight"] > 0
        assert (result["held_out"], result["seed"]) == (8, 0)
        assert json.loads(run("inspect", path, "--json")) == result

    def test_a_table_with_named_columns_gives_the_same_model(
        self, authors: Path, model_file: Path, tmp_path: Path
    ) -> None:
        table = tmp_path / "t.jsonl"
        rows = [{"who": file.parent.name, "what": file.read_text("utf-8")} for file in sorted(authors.rglob("*.txt"))]
        table.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        path = tmp_path / "m.byline"
        run("train", table, "-o", path, "--author-column", "who", "--text-column", "what")
        one, two = read_author_model(path), read_author_model(model_file)
        assert (one.authors, one.calibration, one.encoders) == (two.authors, two.calibration, two.encoders)
        assert "Say which columns hold authors and texts" in refused("train", table, "-o", tmp_path / "x")

    def test_members_and_seeds_are_those_that_are_asked_for(self, authors: Path, tmp_path: Path) -> None:
        path, pool = tmp_path / "m.byline", tmp_path / "pool.toml"
        pool.write_text('[shared]\nhidden = 3\nsub_epochs = 2\n[[member]]\n[[member]]\nmask = "topic"\n', "utf-8")
        result = json.loads(run("train", authors, "-o", path, "--preset", pool, "--members", 3, "--seed", 7, "--json"))
        assert [member["engine"] for member in result["members"]] == ["rnn"] * 3
        assert [member["mask"] for member in result["members"]] == ["none", "topic", "none"]
        assert result["seed"] == 7
        assert list(read_author_model(path).networks) == [0, 1, 2]
        shares = re.search(r"shares: rnn x2 (0\.\d\d), rnn \(topic masked\) (0\.\d\d)\n", run("inspect", path))
        assert shares is not None
        assert float(shares[1]) + float(shares[2]) == pytest.approx(1)
        (asked,) = write_asked(tmp_path / "asked", [1])
        (found,) = json.loads(run("attribute", path, asked, "--json"))
        assert {each["author"] for each in found["ranking"]} == set(NAMES[:4])

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("folder", "folder: is a folder"),
            ("file/m.byline", "can't be written to (Not a directory)"),
            ("x" * 300, "File name too long"),
            ("pipe", "pipe: "),
        ],
    )
    def test_a_place_where_nothing_can_be_written_is_refused_before_any_work(
        self, tmp_path: Path, name: str, message: str
    ) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").write_text("x", "utf-8")
        os.mkfifo(tmp_path / "pipe")
        said = refused("train", tmp_path / "gone", "-o", tmp_path / name, "--overwrite")
        assert message in said
        assert said.startswith(f"{tmp_path / name}: ")

    def test_a_line_break_in_a_name_makes_no_second_line(self, tmp_path: Path) -> None:
        folder = tmp_path / "two\nlines"
        folder.mkdir()
        done = start("train", folder, "-o", tmp_path / "m.byline")
        assert done.returncode == 1
        assert done.stderr.startswith(f"byline: {tmp_path}/two\\nlines: no texts found. ")
        assert done.stderr.count("\n") == 1

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--engines", "spread"], "has no members of the engine spread"),
            (["--set", "engine=spread"], "spread"),
            (["--set", "ordr=3"], "Did you mean order?"),
            (["--set", "hidden=3"], "hidden: is no setting of the engine"),
            (["--preset", "authrs"], "Did you mean authors?"),
            (["--members", "9"], "5 members at most"),
        ],
    )
    def test_members_that_cant_be_are_refused_in_one_line(
        self, authors: Path, tmp_path: Path, words: list[str], message: str
    ) -> None:
        said = refused("train", authors, "-o", tmp_path / "m.byline", *words)
        assert message in said
        assert "\n" not in said
        assert list(tmp_path.iterdir()) == []

    def test_bad_input_ends_with_1_one_message_and_nothing_written(self, tmp_path: Path) -> None:
        folder = write_authors(tmp_path / "texts", range(3))
        (folder / "Bob" / "0.txt").write_text("", "utf-8")
        (folder / "Cid" / "1.txt").write_bytes(b"\xff\xfa")
        done = start("train", folder, "-o", tmp_path / "out" / "m.byline")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("byline: these can't be used (2):\n")
        assert f"  {folder}/Bob/0.txt: empty" in done.stderr
        assert f"  {folder}/Cid/1.txt: not UTF-8 (byte 0), and no other encoding is certain" in done.stderr
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        ("files", "message"),
        [
            ({}, "no texts found"),
            ({"Ann/0.txt": "the old man went down to the river"}, "1 author"),
            ({"Ann/0.txt": "the old man went down", "Bob/0.txt": "hm"}, "Bob/0.txt: 2 characters after normalizing"),
            ({"Ann/0.txt": "the old man went", "Bob/0.txt": "the old man went"}, "have the same text"),
            ({"Ann/0.txt": "the old man went", "Bob/notes.log": "x"}, "Bob: no texts there"),
            ({"ann.txt": "the old man went"}, "ann.txt"),
        ],
    )
    def test_authors_that_cant_be_learned_are_refused_in_one_line(
        self, tmp_path: Path, files: dict[str, str], message: str
    ) -> None:
        folder = tmp_path / "texts"
        folder.mkdir()
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        said = refused("train", folder, "-o", tmp_path / "m.byline")
        assert said.startswith(str(folder))
        assert message in said
        assert "\n" not in said
        assert not (tmp_path / "m.byline").exists()


class TestWork:
    """What a terminal is shown while something is done."""

    def test_a_terminal_is_told_which_member_is_at_work(self, model_file: Path, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path, [2])
        code, shown = watch("attribute", model_file, asked)
        assert code == 0
        assert re.search(r"member \d of 5, (vectors|ngram|linear)", shown)

    def test_it_is_silent_when_told_to_be(self, model_file: Path, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path, [2])
        code, shown = watch("attribute", model_file, asked, "--quiet")
        assert code == 0
        assert "member" not in shown
        assert shown.startswith("text ")


class TestAttribute:
    def test_the_likely_authors_are_shown(
        self, model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_asked(tmp_path, [2, 0])
        monkeypatch.chdir(tmp_path)
        lines = run("attribute", model_file, "asked2.txt", "asked0.txt").splitlines()
        assert lines[0].split() == ["text", "author", "probability", "none", "bits", "then"]
        assert [line.split()[:2] for line in lines[1:3]] == [["asked2.txt", "Cid"], ["asked0.txt", "Ann"]]
        assert re.search(r"Cid +0\.\d{3} +0\.\d{3} +\d\.\d{3} +\w{3} 0\.\d{3}, \w{3} 0\.\d{3} *$", lines[1])
        assert lines[3] == 'The prior probability of "none of these" is 0.1 (--none).'
        sure = run("attribute", model_file, "asked0.txt", "--none", 0)
        assert sure.split()[:5] == ["text", "author", "probability", "bits", "then"]
        assert sure.endswith("\nEach text is assumed to be by one of these authors (--none 0).\n")

    def test_a_row_adds_up(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where there are no more authors than a row shows."""
        three = tmp_path / "three.byline"
        run("train", write_authors(tmp_path / "texts", range(3)), "-o", three)
        write_asked(tmp_path, [2])
        monkeypatch.chdir(tmp_path)
        line = run("attribute", three, "asked2.txt").splitlines()[1]
        chance, none, _, second, third = map(float, re.findall(r"\d\.\d{3}", line))
        assert chance + none + second + third == pytest.approx(1, abs=0.003)

    def test_a_guess_is_called_one(self, model_file: Path, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path, [2])
        alone = write_authors(tmp_path / "texts", range(3), texts=1)
        assert run("attribute", "--known", alone, asked).endswith(f"{UNCALIBRATED}\n")
        assert UNCALIBRATED not in run("attribute", model_file, asked)

    def test_nothing_is_folded_or_cut_where_there_is_no_terminal(self, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path, [0])
        long = asked.rename(tmp_path / f"{'long' * 40}.txt")
        folder = tmp_path / "texts"
        names = ("William Makepeace Thackeray " * 3, "Elizabeth Cleghorn Gaskell " * 3, "Bob")
        for author, name in enumerate(names):
            (folder / name.strip()).mkdir(parents=True)
            (folder / name.strip() / "0.txt").write_text(habits(author, 300), "utf-8")
        head, row, *_ = run("attribute", "--known", folder, long).splitlines()
        assert head.startswith("text ")
        assert row.startswith(f"{long}  {names[0].strip()} ")
        assert names[1].strip() in row

    @pytest.mark.parametrize("columns", [50, 80, 100])
    def test_a_terminal_gets_lines_that_fit(self, tmp_path: Path, long_names: Path, columns: int) -> None:
        """Names are folded."""
        asked = write_asked(tmp_path / "a folder with a rather long name", [0, 2])
        code, shown = watch("attribute", long_names, *asked, "--quiet", columns=columns)
        assert code == 0
        assert max(map(len, shown.splitlines())) <= columns
        assert re.search(r"\b0\.\d{3}\b", shown)

    def test_what_is_usual_is_what_the_library_takes(self) -> None:
        assert inspect.signature(attribute_command).parameters["none"].default == USUAL_PRIOR
        usual = {name: each.default for name, each in inspect.signature(read_author_corpus).parameters.items()}
        for command in (train_command, enroll_command, attribute_command):
            given = inspect.signature(command).parameters
            assert given["author_column"].default == usual["author_column"]
            assert given["text_column"].default == usual["text_column"]

    def test_json_is_a_list_in_the_order_of_the_texts(self, model_file: Path, tmp_path: Path) -> None:
        asked = [write_asked(tmp_path / "asked", [author])[0] for author in (3, 1, 2)]
        result = json.loads(run("attribute", model_file, *asked, "--json", "--none", 0.2))
        assert [each["document"] for each in result] == [str(path) for path in asked]
        found = attribute(
            read_author_model(model_file), [Document(str(path), path.read_text("utf-8")) for path in asked], 0.2
        )
        for each, wanted in zip(result, found, strict=True):
            assert set(each) == {"document", "author", "probability", "none", "cautions", "ranking"}
            assert [set(candidate) for candidate in each["ranking"]] == [{"author", "probability", "bits"}] * 4
            assert each["author"] == wanted.author == each["ranking"][0]["author"]
            assert each["probability"] == pytest.approx(wanted.probability)
            assert each["none"] == pytest.approx(wanted.none)
            assert each["ranking"][3]["bits"] == pytest.approx(wanted.ranking[3].bits)

    def test_none_of_these_is_null_in_json_and_said_in_the_table(
        self, model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = write_asked(tmp_path / "asked", [5])
        (found,) = json.loads(run("attribute", model_file, *asked, "--json", "--none", 0.9999))
        assert found["author"] is None
        assert found["probability"] == found["none"] > found["ranking"][0]["probability"]
        monkeypatch.chdir(tmp_path)
        text = run("attribute", model_file, "asked/asked5.txt", "--none", 0.9999)
        row = text.splitlines()[1]
        found_in = re.search(r"none of these +([01]\.\d{3}) +([01]\.\d{3}) +\w{3} 0\.\d{3}, \w{3} 0\.\d{3} *$", row)
        assert found_in is not None
        assert found_in[1] == found_in[2]

    def test_csv_has_a_line_for_each_text_and_author(self, model_file: Path, tmp_path: Path) -> None:
        asked, path = write_asked(tmp_path / "asked", [2, 0]), tmp_path / "new" / "out.csv"
        content = run("attribute", model_file, *asked, "--csv", "-o", path)
        assert path.read_text("utf-8") == content
        assert list(path.parent.iterdir()) == [path]
        rows = rows_of(content)
        assert [row["rank"] for row in rows] == ["0", "1", "2", "3", "4"] * 2
        assert [row["document"] for row in rows] == [str(asked[0])] * 5 + [str(asked[1])] * 5
        assert (rows[0]["author"], rows[0]["bits"], rows[1]["author"]) == ("", "", "Cid")
        assert sum(float(row["probability"]) for row in rows[:5]) == pytest.approx(1, abs=1e-5)
        assert 1 < float(rows[1]["bits"]) < 6
        sure = rows_of(run("attribute", model_file, *asked, "--csv", "--none", 0))
        assert [row["rank"] for row in sure] == ["1", "2", "3", "4"] * 2

    def test_folders_stand_for_their_texts(self, model_file: Path, tmp_path: Path) -> None:
        write_asked(tmp_path / "asked", [2, 0])
        (tmp_path / "asked" / "notes.log").write_text("no text", "utf-8")
        result = json.loads(run("attribute", model_file, tmp_path / "asked", "--json"))
        assert [each["document"] for each in result] == [str(tmp_path / "asked" / f"asked{n}.txt") for n in (0, 2)]

    def test_known_authors_may_be_given_instead_of_a_model(
        self, authors: Path, model_file: Path, tmp_path: Path
    ) -> None:
        asked = write_asked(tmp_path / "asked", [2, 0])
        assert json.loads(run("attribute", "--known", authors, *asked, "--json")) == json.loads(
            run("attribute", model_file, *asked, "--json")
        )
        assert "gone: not found" in refused("attribute", "--known", tmp_path / "gone", *asked)

    def test_known_authors_are_learned_as_byline_train_does(self, authors: Path, tmp_path: Path) -> None:
        """From a table with named columns, by chosen members."""
        asked = write_asked(tmp_path / "asked", [2, 0])
        table, pool, model = tmp_path / "w.csv", tmp_path / "pool.toml", tmp_path / "m.byline"
        with table.open("w", encoding="utf-8", newline="") as file:
            rows = [[file.parent.name, file.read_text("utf-8")] for file in sorted(authors.rglob("*.txt"))]
            csv.writer(file, delimiter=";").writerows([["who", "what"], *rows])
        pool.write_text('[[member]]\nhidden = 3\nsub_epochs = 2\n[[member]]\nengine = "ngram"\n', "utf-8")
        options = ["--preset", pool, "--members", 2, "--seed", 7, "--language", "en", "--set", "skip=5"]
        options += ["--author-column", "who", "--text-column", "what"]
        run("train", table, "-o", model, *options)
        kept = json.loads(run("attribute", model, *asked, "--json"))
        assert json.loads(run("attribute", "--known", table, *asked, "--json", *options)) == kept
        options += ["--engines", "ngram", "--members", 1]
        assert json.loads(run("attribute", "--known", table, *asked, "--json", *options)) != kept
        said = refused("attribute", "--known", table, *asked)
        assert said.startswith(f"{table} line 1: has no column 'author'")

    @pytest.mark.parametrize("words", [["--preset", "authors"], ["--seed", "0"], ["--text-column", "text"]])
    def test_what_would_do_nothing_beside_a_model_is_refused(self, model_file: Path, words: list[str]) -> None:
        said = misused("attribute", model_file, "asked.txt", *words)
        assert f"{words[0]} needs --known" in said

    def test_a_model_and_known_authors_are_one_too_many(self, authors: Path, model_file: Path, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path, [2])
        said = misused("attribute", "--known", authors, model_file, asked)
        assert f"{model_file.name}: a model; give a model or --known, not both" in said

    def test_what_is_missing_is_said(self, model_file: Path, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path, [2])
        assert "is not a model" in misused("attribute", asked)
        assert "is not a model" in misused("attribute", tmp_path)
        assert "no texts are named; name them after the model " in misused("attribute", model_file)

    def test_names_that_are_no_utf_8_can_be_printed_and_written(self, model_file: Path, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path / "asked", [2])
        odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\x1b.txt"))
        asked.rename(odd)
        (found,) = json.loads(run("attribute", model_file, odd, "--json"))
        assert found["document"] == str(odd)
        done = start("attribute", model_file, odd, "--csv", "-o", tmp_path / "out.csv")
        assert done.returncode == 0, done.stderr
        assert "Cid" in done.stdout
        assert rows_of((tmp_path / "out.csv").read_text("utf-8"))[1]["author"] == "Cid"

    @pytest.mark.parametrize("none", ["-0.1", "1", "nan"])
    def test_a_prior_that_is_none_is_refused_before_anything_is_read(self, tmp_path: Path, none: str) -> None:
        said = misused("attribute", "--known", tmp_path / "gone", tmp_path / "gone.txt", "--none", none)
        assert f"Invalid value for '--none': it must be 0 or more and less than 1, got {none}" in said

    def test_everything_that_cant_be_read_is_named_at_once_and_nothing_written(
        self, model_file: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "asked"
        good = write_asked(folder, [2])
        (folder / "empty.txt").write_text(" \n", "utf-8")
        (tmp_path / "bare").mkdir()
        done = start("attribute", model_file, folder, tmp_path / "gone", tmp_path / "bare", *good, "-o", tmp_path / "o")
        assert (done.returncode, done.stdout) == (1, "")
        for path in (tmp_path / "gone", tmp_path / "bare", folder / "empty.txt"):
            assert f"\n  {path}: " in done.stderr
        assert not (tmp_path / "o").exists()

    def test_one_line_says_what_is_wrong_with_one_input(self, model_file: Path, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path / "asked", [2])
        short = tmp_path / "short.txt"
        short.write_text("hm", "utf-8")
        output = ("-o", tmp_path / "out.csv")
        for words, message in (
            ((asked, asked), f"{asked}: not a Byline model"),
            (
                (tmp_path / "gone.byline", asked),
                f"{tmp_path / 'gone.byline'}: not found",
            ),
            ((tmp_path / "asked", asked), f"{tmp_path / 'asked'}: "),
            ((model_file, short), f"{short}: 2 characters after normalizing, 12 are needed"),
        ):
            said = refused("attribute", *words, *output)
            assert message in said
            assert "\n" not in said
        assert not (tmp_path / "out.csv").exists()

    def test_a_text_of_which_the_model_knows_little_is_named_or_refused(self, model_file: Path, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path, [1])
        text = asked.read_text("utf-8")
        mixed, greek = tmp_path / "mixed.txt", tmp_path / "greek.txt"
        mixed.write_text(f"{text} {'μ' * (len(text) // 2)}", "utf-8")
        greek.write_text("μηνιν αειδε θεα, man; " * 20, "utf-8")
        done = start("attribute", model_file, mixed, asked)
        assert done.returncode == 0
        assert re.fullmatch(rf"byline: {mixed}: only \d+ of \d+ characters are known to the model\n", done.stderr)
        (tmp_path / "long.txt").write_text("μηνιν αειδε θεα. " * 300, "utf-8")
        for words in (("attribute", model_file, greek, asked), ("rolling", model_file, tmp_path / "long.txt")):
            said = refused(*words)
            assert re.search(r"\.txt: only \d+ of \d+ characters are known to the model", said)


class TestEnroll:
    def test_of_two_at_once_none_is_lost(self, model_file: Path, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        path.write_bytes(model_file.read_bytes())
        more = [write_authors(tmp_path / f"more{author}", [author]) for author in (4, 5)]
        command = [sys.executable, "-m", "byline", "enroll", str(path)]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        both = [subprocess.Popen([*command, str(folder)], **pipes) for folder in more]
        said = [process.communicate(timeout=120)[1] for process in both]
        names = read_author_model(path).authors
        for author, process, words in zip((4, 5), both, said, strict=True):
            assert (NAMES[author] in names) == (process.returncode == 0)
            assert process.returncode == 0 or re.search("run this again\n$", words)
        assert any(process.returncode == 0 for process in both)
        assert not list(tmp_path.glob(".*"))

    def test_a_link_s_model_is_made_larger_and_stays_for_its_owner_only(self, model_file: Path, tmp_path: Path) -> None:
        path, link = tmp_path / "m.byline", tmp_path / "link.byline"
        path.write_bytes(model_file.read_bytes())
        path.chmod(0o600)
        link.symlink_to(path)
        run("enroll", link, write_authors(tmp_path / "more", [4]))
        assert link.is_symlink()
        assert read_author_model(path).authors == NAMES[:5]
        assert path.stat().st_mode & 0o777 == 0o600
        run("enroll", link, write_authors(tmp_path / "again", [5]), "-o", path, "--overwrite")  # which is the same
        assert read_author_model(link).authors == NAMES

    def test_overwrite_without_a_name_would_do_nothing(self, model_file: Path, tmp_path: Path) -> None:
        said = misused("enroll", model_file, write_authors(tmp_path / "more", [4]), "--overwrite")
        assert "--overwrite is for a file that -o names" in said

    def test_an_author_is_added_to_a_new_file_and_the_old_one_stays(self, model_file: Path, tmp_path: Path) -> None:
        before, path = model_file.read_bytes(), tmp_path / "larger.byline"
        text = run("enroll", model_file, write_authors(tmp_path / "more", [4, 5]), "-o", path)
        assert "6 authors, 12 texts" in text
        assert re.search(rf"\nWrote {path} in \d+\.\d s\. Next: byline attribute {path} TEXT\n$", text)
        assert model_file.read_bytes() == before
        larger = read_author_model(path)
        assert larger.authors == NAMES
        assert larger.calibration == read_author_model(model_file).calibration
        found = json.loads(run("attribute", path, *write_asked(tmp_path / "asked", range(6)), "--json", "--none", 0))
        assert [each["author"] for each in found] == list(NAMES)

    def test_without_a_name_the_file_itself_gets_larger(self, model_file: Path, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        path.write_bytes(model_file.read_bytes())
        result = json.loads(run("enroll", path, write_authors(tmp_path / "more", [4]), "--json"))
        assert (result["model"], len(result["authors"])) == (str(path), 5)
        assert read_author_model(path).authors == NAMES[:5]
        assert sorted(child.name for child in tmp_path.iterdir()) == ["m.byline", "more"]
        text = run("enroll", path, write_authors(tmp_path / "again", [5]))
        assert re.search(rf"\n{path} now has 6 authors, 1 of them new \(\d+\.\d s\)\. Next: byline attribute ", text)

    def test_a_table_may_name_its_columns(self, model_file: Path, tmp_path: Path) -> None:
        table = tmp_path / "more.csv"
        with table.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["who", "what"], ["Eve", habits(4, 300)]])
        text = run("enroll", model_file, table, "-o", tmp_path / "m", "--author-column", "who", "--text-column", "what")
        assert "5 authors, 9 texts" in text

    def test_bad_input_leaves_the_model_as_it_was(self, model_file: Path, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        path.write_bytes(model_file.read_bytes())
        again = write_authors(tmp_path / "again", [1])
        short = tmp_path / "short" / "Zoe"
        short.mkdir(parents=True)
        (short / "a.txt").write_text("hm", "utf-8")
        (tmp_path / "there").write_text("precious", "utf-8")
        for words, message in (
            ((path, again), f"{again}: Bob: is in the model already"),
            ((path, short.parent), f"{short.parent}: Zoe/a.txt: 2 characters after normalizing"),
            ((path, tmp_path / "gone"), "gone: not found"),
            ((tmp_path / "there", again), "there: not a Byline model"),
            ((path, again, "-o", tmp_path / "there"), "there: exists already"),
            ((path, again, "-o", tmp_path), "is a folder"),
        ):
            said = refused("enroll", *words)
            assert message in said
            assert "\n" not in said
        assert path.read_bytes() == model_file.read_bytes()
        assert (tmp_path / "there").read_text("utf-8") == "precious"
        done = start("enroll", path, again)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"byline: {again}: Bob: is in the model already. ")


class TestInspect:
    def test_it_says_what_train_said(self, authors: Path, model_file: Path, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        said = run("train", authors, "-o", path).splitlines()
        shown = run("inspect", path).splitlines()
        assert shown[:-1] == said[:-1]
        assert shown[-1] == str(path)
