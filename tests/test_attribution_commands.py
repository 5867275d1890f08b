"""train, attribute, enroll, inspect as a user meets them: what they print, what they write, how they end."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from byline.attribution.attributing import attribute
from byline.attribution.file import author_model_bytes, read_author_model
from byline.attribution.model import train_authors
from byline.attribution.writings import read_writings
from byline.commands import app
from byline.documents import Document
from byline.errors import BylineError
from byline.pools import read_pool
from conftest import habits

NAMES = ("Ann", "Bob", "Cid", "Dee", "Eve", "Fay")


def write_authors(folder: Path, authors: Iterable[int], texts: int = 2, length: int = 300) -> Path:
    """A folder of authors' folders."""
    for author in authors:
        (folder / NAMES[author]).mkdir(parents=True)
        for salt in range(texts):
            (folder / NAMES[author] / f"{salt}.txt").write_text(habits(author, length, salt), "utf-8")
    return folder


def write_asked(folder: Path, authors: Iterable[int], length: int = 300) -> list[Path]:
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


def start(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    """The program itself."""
    command = [sys.executable, "-m", "byline", *map(str, words)]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False, **options)  # type: ignore[call-overload,no-any-return]


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


@pytest.mark.parametrize("command", ["train", "attribute", "enroll", "inspect"])
def test_help_has_an_example(command: str) -> None:
    done = start(command, "--help")
    assert done.returncode == 0
    assert f"Example: byline {command} " in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["train"],
        ["train", "x"],
        ["train", "x", "-o", "y", "--members", "0"],
        ["train", "x", "-o", "y", "--seed", "-1"],
        ["attribute"],
        ["attribute", "m", "x", "--none", "half"],
        ["enroll", "m"],
        ["inspect"],
    ],
)
def test_wrong_usage_ends_with_2(words: list[str]) -> None:
    done = CliRunner().invoke(app, words)
    assert (done.exit_code, done.stdout) == (2, "")


def test_the_whole_way_as_a_program(authors: Path, tmp_path: Path) -> None:
    """Train, ask, add an author, ask again, look in; progress is on stderr and answers on stdout."""
    model, larger = tmp_path / "m.byline", tmp_path / "new" / "larger.byline"
    done = start("train", authors, "-o", model)
    assert done.returncode == 0, done.stderr
    assert "member 5 of 5, linear" in done.stderr
    assert "4 authors, 8 texts" in done.stdout
    asked = write_asked(tmp_path / "asked", [2, 4])
    done = start("attribute", model, *asked, "--json", "--quiet")
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
        made = train_authors(read_writings([authors]), read_pool("authors").rows)
        assert author_model_bytes(made) == model_file.read_bytes()
        assert list(model_file.parent.iterdir()) == [model_file]

    def test_what_was_learnt_is_summed_up(self, authors: Path, tmp_path: Path) -> None:
        text = run("train", authors, "-o", tmp_path / "m.byline")
        assert text.startswith("Latin script: 4 authors, 8 texts, ")
        for name in NAMES[:4]:
            assert re.search(rf"^{name} +2 +\d{{3}}$", text, re.MULTILINE)
        assert re.search(r"weights: vectors 0\.\d\d, vectors \(topic masked\) 0\.\d\d, ngram", text)
        assert "learnt from 8 texts, each judged as if not known" in text
        assert "The model holds the texts that it learnt" in text
        assert re.search(rf"{re.escape(str(tmp_path / 'm.byline'))}, \d+\.\d s\n$", text)

    def test_authors_with_one_text_each_leave_a_guess(self, tmp_path: Path) -> None:
        folder = write_authors(tmp_path / "texts", range(3), texts=1)
        assert "How sure to be is a guess" in run("train", folder, "-o", tmp_path / "m.byline")

    def test_json_says_what_was_learnt(self, authors: Path, tmp_path: Path) -> None:
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
        assert (one.authors, one.judge, one.views) == (two.authors, two.judge, two.views)
        assert "name them with --author-column and --text-column" in refused("train", table, "-o", tmp_path / "x")

    def test_members_and_seeds_are_those_that_are_asked_for(self, authors: Path, tmp_path: Path) -> None:
        path, pool = tmp_path / "m.byline", tmp_path / "pool.toml"
        pool.write_text('[shared]\nhidden = 3\nsub_epochs = 2\n[[member]]\n[[member]]\nmask = "topic"\n', "utf-8")
        result = json.loads(run("train", authors, "-o", path, "--preset", pool, "--members", 3, "--seed", 7, "--json"))
        assert [member["engine"] for member in result["members"]] == ["rnn"] * 3
        assert [member["mask"] for member in result["members"]] == ["none", "topic", "none"]
        assert result["seed"] == 7
        assert list(read_author_model(path).networks) == [0, 1, 2]
        (asked,) = write_asked(tmp_path / "asked", [1])
        (found,) = json.loads(run("attribute", path, asked, "--json"))
        assert {each["author"] for each in found["ranking"]} == set(NAMES[:4])

    def test_a_file_that_is_there_is_kept_unless_told(self, authors: Path, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        path.write_text("precious", "utf-8")
        assert refused("train", authors, "-o", path) == (
            f"{path}: exists already; choose another name, or give --overwrite"
        )
        assert path.read_text("utf-8") == "precious"
        run("train", authors, "-o", path, "--overwrite", "--engines", "vectors")
        assert read_author_model(path).authors == NAMES[:4]

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("folder", "folder: a folder; name a file, such as"),
            ("file/m.byline", "can't be written to (Not a directory)"),
            ("x" * 300, "can't be written to (File name too long)"),
        ],
    )
    def test_a_place_where_nothing_can_be_written_is_refused_before_any_work(
        self, tmp_path: Path, name: str, message: str
    ) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "file").write_text("x", "utf-8")
        assert message in refused("train", tmp_path / "gone", "-o", tmp_path / name)

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--engines", "spread"], "has no members of the engine spread; it has vectors, ngram, linear"),
            (["--set", "engine=spread"], "the engine spread can't attribute; there are ngram, vectors, linear, rnn"),
            (["--set", "ordr=3"], "did you mean order?"),
            (["--set", "hidden=3"], "hidden is no setting of the engine vectors or ngram or linear"),
            (["--preset", "authrs"], "did you mean authors?"),
            (["--members", "9"], "5 members at the most, got 9"),
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
        assert "Bob/0.txt: empty; remove it or put text in it" in done.stderr
        assert "Cid/1.txt: not UTF-8 (byte 0); save it as UTF-8" in done.stderr
        assert not (tmp_path / "out").exists()

    @pytest.mark.parametrize(
        ("files", "message"),
        [
            ({}, "no texts found"),
            ({"Ann/0.txt": "the old man went down to the river"}, "1 author, 2 are needed; add texts by others"),
            ({"Ann/0.txt": "the old man went down", "Bob/0.txt": "hm"}, "Bob/0.txt: 2 characters after normalising"),
            ({"Ann/0.txt": "the old man went", "Bob/0.txt": "the old man went"}, "have the same text"),
            ({"Ann/0.txt": "the old man went", "Bob/notes.md": "x"}, "Bob: no .txt files there"),
            ({"ann.txt": "the old man went"}, "whose text is ann.txt?"),
        ],
    )
    def test_authors_that_cant_be_learnt_are_refused_in_one_line(
        self, tmp_path: Path, files: dict[str, str], message: str
    ) -> None:
        folder = tmp_path / "texts"
        folder.mkdir()
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        said = refused("train", folder, "-o", tmp_path / "m.byline")
        assert message in said
        assert "\n" not in said
        assert not (tmp_path / "m.byline").exists()

    def test_ctrl_c_ends_with_130_and_nothing_written(self, authors: Path, tmp_path: Path) -> None:
        words = ["train", authors, "-o", tmp_path / "m.byline", "--preset", "rnn", "--set", "sub_epochs=100000"]
        process = subprocess.Popen(
            [sys.executable, "-m", "byline", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stderr is not None
            assert process.stderr.readline().startswith("sub-epoch 1 of")
            time.sleep(0.2)
            process.send_signal(signal.SIGINT)
            out, error = process.communicate(timeout=60)
        finally:
            process.kill()
        assert (process.returncode, out) == (130, "")
        assert error.endswith("byline: interrupted\n")
        assert "Traceback" not in error
        assert list(tmp_path.iterdir()) == []


class TestAttribute:
    def test_the_likely_authors_are_shown(
        self, model_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_asked(tmp_path, [2, 0])
        monkeypatch.chdir(tmp_path)
        lines = run("attribute", model_file, "asked2.txt", "asked0.txt").splitlines()
        assert lines[0].split() == ["text", "author", "probability", "bits", "then"]
        assert [line.split()[:2] for line in lines[1:3]] == [["asked2.txt", "Cid"], ["asked0.txt", "Ann"]]
        assert re.search(r"Cid +0\.\d{3} +\d\.\d{3} +\w{3} 0\.\d{3}, \w{3} 0\.\d{3} *$", lines[1])
        assert lines[-1] == "Before anything was measured, none of these had a probability of 0.1; see --none."
        assert run("attribute", model_file, "asked0.txt", "--none", 0).endswith(
            "\nOne of these authors is taken to have written each text.\n"
        )

    def test_long_names_are_folded_and_not_cut(self, model_file: Path, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path, [2])
        long = asked.rename(tmp_path / f"{'long' * 40}.txt")
        lines = run("attribute", model_file, long).splitlines()
        assert str(long) in "".join(line.split(" ")[0] for line in lines[1:-1])
        assert " Cid " in lines[1]

    def test_json_is_a_list_in_the_order_of_the_texts(self, model_file: Path, tmp_path: Path) -> None:
        asked = [write_asked(tmp_path / "asked", [author])[0] for author in (3, 1, 2)]
        result = json.loads(run("attribute", model_file, *asked, "--json", "--none", 0.2))
        assert [each["document"] for each in result] == [str(path) for path in asked]
        found = attribute(
            read_author_model(model_file), [Document(str(path), path.read_text("utf-8")) for path in asked], 0.2
        )
        for each, wanted in zip(result, found, strict=True):
            assert set(each) == {"document", "author", "probability", "none", "ranking"}
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
        assert re.search(r"none of these +[01]\.\d{3} +\w{3} 0\.\d{3}, \w{3} 0\.\d{3} *$", text.splitlines()[1])

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
        (tmp_path / "asked" / "notes.md").write_text("no text", "utf-8")
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

    def test_a_file_that_is_there_is_kept_unless_told(self, model_file: Path, tmp_path: Path) -> None:
        asked, path = write_asked(tmp_path / "asked", [2]), tmp_path / "out.csv"
        path.write_text("precious", "utf-8")
        assert "exists already" in refused("attribute", model_file, *asked, "-o", path)
        assert path.read_text("utf-8") == "precious"
        run("attribute", model_file, *asked, "-o", path, "--overwrite")
        assert rows_of(path.read_text("utf-8"))[1]["author"] == "Cid"

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
    def test_a_prior_that_is_none_is_refused(self, model_file: Path, tmp_path: Path, none: str) -> None:
        said = refused("attribute", model_file, *write_asked(tmp_path / "asked", [2]), "--none", none)
        assert "the prior of none of these must be 0 or more and less than 1" in said

    def test_everything_that_cant_be_read_is_named_at_once_and_nothing_written(
        self, model_file: Path, tmp_path: Path
    ) -> None:
        folder = tmp_path / "asked"
        good = write_asked(folder, [2])
        (folder / "empty.txt").write_text(" \n", "utf-8")
        (tmp_path / "bare").mkdir()
        done = start("attribute", model_file, folder, tmp_path / "gone", tmp_path / "bare", *good, "-o", tmp_path / "o")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.splitlines() == [
            "byline: these can't be used (3):",
            f"  {tmp_path / 'gone'}: not found; name text files, or folders of them",
            f"  {tmp_path / 'bare'}: no .txt files there; name text files, or folders of them",
            f"  {folder / 'empty.txt'}: empty; remove it or put text in it",
        ]
        assert not (tmp_path / "o").exists()

    def test_one_line_says_what_is_wrong_with_one_input(self, model_file: Path, tmp_path: Path) -> None:
        (asked,) = write_asked(tmp_path / "asked", [2])
        short = tmp_path / "short.txt"
        short.write_text("hm", "utf-8")
        output = ("-o", tmp_path / "out.csv")
        for words, message in (
            ((model_file,), "no texts are named; give a model and then the texts"),
            ((asked, asked), f"{asked}: no readable model file"),
            (
                (tmp_path / "gone.byline", asked),
                f"{tmp_path / 'gone.byline'}: not found; name a file that byline train",
            ),
            ((tmp_path / "asked", asked), f"{tmp_path / 'asked'}: a folder; name a file that byline train wrote"),
            ((model_file, short), f"{short}: 2 characters after normalising, 12 are needed"),
        ):
            said = refused("attribute", *words, *output)
            assert message in said
            assert "\n" not in said
        assert not (tmp_path / "out.csv").exists()


class TestEnroll:
    def test_an_author_is_added_to_a_new_file_and_the_old_one_stays(self, model_file: Path, tmp_path: Path) -> None:
        before, path = model_file.read_bytes(), tmp_path / "larger.byline"
        text = run("enroll", model_file, write_authors(tmp_path / "more", [4, 5]), "-o", path)
        assert "6 authors, 12 texts" in text
        assert str(path) in text
        assert model_file.read_bytes() == before
        larger = read_author_model(path)
        assert larger.authors == NAMES
        assert larger.judge == read_author_model(model_file).judge
        found = json.loads(run("attribute", path, *write_asked(tmp_path / "asked", range(6)), "--json", "--none", 0))
        assert [each["author"] for each in found] == list(NAMES)

    def test_without_a_name_the_file_itself_gets_larger(self, model_file: Path, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        path.write_bytes(model_file.read_bytes())
        result = json.loads(run("enroll", path, write_authors(tmp_path / "more", [4]), "--json"))
        assert (result["model"], len(result["authors"])) == (str(path), 5)
        assert read_author_model(path).authors == NAMES[:5]
        assert sorted(child.name for child in tmp_path.iterdir()) == ["m.byline", "more"]

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
            ((path, again), "Bob is in the model already; give new authors another name, or train anew"),
            ((path, short.parent), "Zoe/a.txt: 2 characters after normalising"),
            ((path, tmp_path / "gone"), "gone: not found"),
            ((tmp_path / "there", again), "there: no readable model file"),
            ((path, again, "-o", tmp_path / "there"), "there: exists already"),
            ((path, again, "-o", tmp_path), "a folder; name a file"),
        ):
            said = refused("enroll", *words)
            assert message in said
            assert "\n" not in said
        assert path.read_bytes() == model_file.read_bytes()
        assert (tmp_path / "there").read_text("utf-8") == "precious"
        done = start("enroll", path, again)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "byline: Bob is in the model already; give new authors another name, or train anew\n"


class TestInspect:
    def test_it_says_what_train_said(self, authors: Path, model_file: Path, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        said = run("train", authors, "-o", path).splitlines()
        shown = run("inspect", path).splitlines()
        assert shown[:-1] == said[:-1]
        assert shown[-1] == str(path)

    def test_names_cant_move_the_cursor(self, tmp_path: Path) -> None:
        folder = tmp_path / "texts"
        for author, name in enumerate(("Ann\x1b[2J", "Bob")):
            (folder / name).mkdir(parents=True)
            (folder / name / "0.txt").write_text(habits(author, 200), "utf-8")
        path = tmp_path / "m.byline"
        (asked,) = write_asked(tmp_path / "asked", [0])
        for text in (
            run("train", folder, "-o", path, "--engines", "ngram"),
            run("inspect", path),
            run("attribute", path, asked),
        ):
            assert "\\x1b[2J" in text
            assert "\x1b" not in text

    def test_what_is_no_model_is_refused_with_1(self, tmp_path: Path) -> None:
        path = tmp_path / "m.byline"
        path.write_bytes(b"no model")
        done = start("inspect", path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"byline: {path}: no readable model file (")
        assert done.stderr.count("\n") == 1
