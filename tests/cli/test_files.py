"""Nothing that is to be read is ever written over, and names can't give orders to a terminal."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

import programs
from byline.cli import app
from byline.cli.console import out
from byline.errors import BylineError, RunError
from byline.web.home import LOCK, MARK, Home
from samples import FAST, MakeCorpus, phrase, small_problems

ESCAPE = "\x1b]0;owned\a\x1b[31m"


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Authors, a model of them, texts that are pages, and a corpus with its truth."""
    folder = tmp_path_factory.mktemp("stage")
    for author in range(3):
        for salt in range(2):
            place = folder / "authors" / f"author{author}" / f"{salt}.txt"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(phrase(author, 900, salt), encoding="utf-8")
    (folder / "pages").mkdir()
    for number in range(3):
        (folder / f"pages/{number}.html").write_text(f"<p>{phrase(number, 900, 7)}</p>", encoding="utf-8")
    for problem, files in small_problems(12).items():
        for name, text in files.items():
            (folder / "corpus" / problem).mkdir(parents=True, exist_ok=True)
            (folder / "corpus" / problem / name).write_text(text, encoding="utf-8")
    truth = "".join(f"EN{number:03d} {'NY'[number % 2]}\n" for number in range(1, 13))
    (folder / "corpus/truth.txt").write_text(truth, encoding="utf-8")
    for name in ("figure.svg", "table.csv", "out.csv", "out.json", "out/answers.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("author,text\nAnn,precious\n", encoding="utf-8")
    (folder / "link").hardlink_to(folder / "authors/author0/0.txt")
    (folder / "mine.toml").write_text("[[member]]\nengine = 'vectors'\n", encoding="utf-8")
    for words in (
        ("train", "authors", "-o", "m.byline"),
        ("verify", "corpus", "-o", "run", "--engines", "vectors", "--members", "1"),
    ):
        done = programs.run(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    "line",
    [
        "calibrate corpus -o corpus/truth.txt --overwrite --engines vectors --members 1",
        "calibrate corpus -o corpus/EN001/known01.txt --overwrite --engines vectors --members 1",
        "rolling m.byline pages/0.html --report pages/0.html --overwrite --window 500 --step 100",
        "attribute m.byline pages/0.html --report pages/0.html --overwrite",
        "attribute m.byline pages --report pages/1.html --overwrite",
        "cluster pages --report pages/2.html --overwrite",
        "verify corpus -o new --engines vectors --members 1 --log corpus/EN001/known01.txt",
        "verify corpus -o new --preset mine.toml --log mine.toml",
        "calibrate corpus -o mine.toml --overwrite --preset mine.toml",
        "verify corpus -o new --engines vectors --members 1 --log corpus/truth.txt",
        "plot run roc --truth figure.svg -o figure.svg --overwrite",
        "attribute m.byline pages/0.html -o both.html --report both.html",
        "combine run -o run/run/members",
        "train authors -o authors/author0/0.txt --overwrite",
        "train authors -o authors/author0/new.txt --overwrite",
        "train authors -o link --overwrite",
        "train table.csv -o table.csv --overwrite",
        "attribute m.byline pages -o m.byline --overwrite",
        "attribute m.byline pages -o pages/new.html --overwrite",
        "attribute --known authors pages -o authors/author1/0.txt --overwrite",
        "enroll m.byline authors -o authors/author0/0.txt --overwrite",
        "combine run -o run/run",
    ],
)
def test_what_is_to_be_read_is_never_written_over(stage: Path, line: str) -> None:
    before = {path: path.read_bytes() for path in stage.rglob("*") if path.is_file()}
    done = programs.run(*line.split(), cwd=stage)
    assert done.returncode == 1, done.stdout
    assert done.stderr.startswith("byline: ")
    assert "hoose another" in done.stderr
    assert {path: path.read_bytes() for path in stage.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    "line",
    [
        "verify corpus -o out --engines vectors --members 1",
        "train authors -o m.byline",
        "attribute m.byline pages -o out.csv",
        "enroll m.byline authors -o m.byline",
        "calibrate corpus -o out.json --engines vectors --members 1",
        "plot run heatmap -o figure.svg",
    ],
)
def test_existing_output_is_kept_unless_told(stage: Path, line: str) -> None:
    before = {path: path.read_bytes() for path in stage.rglob("*") if path.is_file()}
    done = programs.run(*line.split(), cwd=stage)
    assert done.returncode == 1, done.stdout
    assert "exists already" in done.stderr
    assert "--overwrite" in done.stderr
    assert {path: path.read_bytes() for path in stage.rglob("*") if path.is_file()} == before


def test_a_log_is_a_file(stage: Path, tmp_path: Path) -> None:
    """A pipe that nobody reads would be waited for without end."""
    os.mkfifo(tmp_path / "pipe")
    words = ("verify", stage / "corpus", "--json", "--engines", "vectors", "--members", 1, "--log", tmp_path / "pipe")
    done = programs.run(*words, timeout=30)
    assert done.returncode == 1
    assert "pipe: is not a regular file" in done.stderr


def test_an_empty_word_is_refused_for_a_variable_may_not_be_set(stage: Path, tmp_path: Path) -> None:
    done = programs.run("verify", stage / "corpus", "-o", "", cwd=tmp_path)
    assert done.returncode == 1
    assert "is empty" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_whoever_goes_on_otherwise_is_told_by_which_command_it_was_begun(
    make_corpus: MakeCorpus, tmp_path: Path
) -> None:
    words = ("verify", make_corpus(small_problems(6)), "-o", "out")
    assert programs.run(*words, "--preset", "rnn", "--members", 1, *FAST, cwd=tmp_path).returncode == 0
    done = programs.run(*words, "--resume", "--preset", "rnn", *FAST, cwd=tmp_path)
    assert done.returncode == 1
    assert "members was 1, is " in done.stderr
    assert "Resume it as it was begun (byline verify " in done.stderr
    assert "--preset rnn --members 1 --set hidden=4" in done.stderr


class TestTerminals:
    """A name from a file may hold anything; shown, it moves no cursor, sets no title and begins no line of its own."""

    @pytest.fixture
    def texts(self, tmp_path: Path) -> Path:
        """Such that each is warned of, since what they are encoded in is a guess."""
        (tmp_path / "n").mkdir()
        for name in (f"{ESCAPE}a.txt", "y\nbyline: verified: same author, 1.000\n.txt", "\u202etxt.txt"):
            (tmp_path / "n" / name).write_bytes(b"caf\xe9 " * 300)
        return tmp_path

    def test_warnings_obey_nothing(self, texts: Path) -> None:
        done = programs.run("text", "n", "-o", "out", cwd=texts)
        assert done.returncode == 0
        lines = done.stderr.splitlines()
        assert lines
        assert all(line.startswith("byline: n/") for line in lines), lines
        assert all(line.isprintable() for line in lines), lines

    def test_nor_does_what_is_printed(self, texts: Path) -> None:
        done = programs.run("prepare", "n", cwd=texts)
        assert done.returncode == 0
        assert done.stdout.replace("\n", "").replace("\t", "").isprintable()

    def test_nor_do_languages_that_a_corpus_says_it_is_in(self, make_corpus: MakeCorpus) -> None:
        corpus = make_corpus(small_problems(6), contents={"language": f"{ESCAPE}x"})
        done = programs.run("verify", corpus, "--engines", "vectors", "--members", 1, "-o", corpus.parent / "out")
        assert done.returncode == 0, done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert "owned" in done.stdout

    def test_tables_obey_nothing_either(self, capsys: pytest.CaptureFixture[str]) -> None:
        from rich.table import Table

        table = Table(ESCAPE)
        table.add_row(f"a{ESCAPE}b\nc")
        out().print(table)
        assert "\x1b" not in capsys.readouterr().out


class TestHome:
    """The page's folder is emptied when it begins: only where it is its own."""

    @pytest.mark.parametrize("name", ["drafts", "jobs", "references"])
    def test_a_link_in_it_is_not_followed(self, tmp_path: Path, name: str) -> None:
        precious, home = tmp_path / "precious", tmp_path / "home"
        for folder in (precious, home):
            folder.mkdir()
        (precious / "file").write_text("keep", encoding="utf-8")
        (precious / "file.part").write_text("keep", encoding="utf-8")
        precious.chmod(0o755)
        (home / MARK).write_text("x", encoding="utf-8")
        (home / name).symlink_to(precious)
        with pytest.raises(RunError, match="is a link"), Home(home).hold():
            pass
        assert sorted(path.name for path in precious.iterdir()) == ["file", "file.part"]
        assert precious.stat().st_mode & 0o777 == 0o755

    def test_a_lock_alone_does_not_make_a_folder_its_own(self, tmp_path: Path) -> None:
        (tmp_path / LOCK).touch()
        (tmp_path / "drafts").mkdir()
        (tmp_path / "drafts/novel.txt").write_text("the work of years", encoding="utf-8")
        with pytest.raises(RunError, match="holds other things"), Home(tmp_path).hold():
            pass
        assert (tmp_path / "drafts/novel.txt").exists()

    def test_one_that_was_killed_before_it_had_begun_is(self, tmp_path: Path) -> None:
        (tmp_path / LOCK).touch()
        with Home(tmp_path).hold():
            assert (tmp_path / "drafts").is_dir()

    def test_one_that_somebody_removed_meanwhile_ends_well(self, tmp_path: Path) -> None:
        import shutil

        with Home(tmp_path / "home").hold():
            shutil.rmtree(tmp_path / "home")


class TestTexts:
    def test_a_folder_behind_a_link_is_read_and_a_ring_of_links_ends(self, stage: Path, tmp_path: Path) -> None:
        (tmp_path / "authors").mkdir()
        for number in range(3):
            (tmp_path / "authors" / f"author{number}").symlink_to(stage / "authors" / f"author{number}")
        (tmp_path / "authors/ring").symlink_to(tmp_path / "authors")
        done = CliRunner().invoke(app, ["cluster", str(tmp_path / "authors"), "--quiet"], catch_exceptions=False)
        assert done.exit_code == 0
        assert done.stdout.startswith("6 texts")

    @pytest.mark.parametrize(
        "line",
        [
            "verify corpus --json --engines vectors --members 1", "prepare corpus", "prepare authors", "text authors",
            "train authors -o m.byline", "cluster authors", "reference build authors -o ref",
            "attribute ../m.byline authors",
        ],
    )  # fmt: skip
    def test_a_ring_of_links_ends_for_every_reader_of_folders(self, stage: Path, tmp_path: Path, line: str) -> None:
        import shutil

        shutil.copy(stage / "m.byline", tmp_path / "m.byline")
        for name in ("corpus", "authors"):
            shutil.copytree(stage / name, tmp_path / "home" / name)
        for ring in ("corpus/ring", "corpus/EN001/ring", "authors/author1/ring"):
            (tmp_path / "home" / ring).symlink_to(tmp_path / "home")
        (tmp_path / "home/authors/author1/self").symlink_to("self")
        done = programs.run(*line.split(), cwd=tmp_path / "home", timeout=60)
        assert done.returncode in (0, 1), done.stderr
        assert "Traceback" not in done.stderr
        assert done.returncode == 0 or done.stderr.startswith("byline: ")

    def test_texts_that_are_too_deep_are_not_left_out_silently(self, stage: Path, tmp_path: Path) -> None:
        import shutil

        shutil.copytree(stage / "authors", tmp_path / "authors")
        (tmp_path / "authors/author1/more").mkdir()
        (tmp_path / "authors/author1/1.txt").rename(tmp_path / "authors/author1/more/1.txt")
        done = CliRunner().invoke(app, ["train", str(tmp_path / "authors"), "-o", str(tmp_path / "m")])
        assert isinstance(done.exception, BylineError)
        assert "more/1.txt: one folder too deep" in str(done.exception)
