"""The command line as a user meets it: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

import byline
from byline.cli import app
from byline.errors import BylineError
from byline.judgment.calibration import read_calibration
from programs import run
from samples import FAST, MakeCorpus, phrase, small_problems
from terminals import watch

ONE = ("--engines", "vectors", "--members", 1)
"""A member that is there at once."""


def test_version_and_help() -> None:
    assert run("--version").stdout == f"byline {byline.__version__}\n"
    text = run("--help").stdout
    for command in ("verify", "evaluate", "prepare", "demo"):
        assert command in text
        shown = run(command, "--help")
        assert shown.returncode == 0
        assert "Example" in shown.stdout


def test_a_command_that_takes_too_long_is_killed_and_the_next_one_runs(tmp_path: Path) -> None:
    """Of the tests themselves: one that never ends would keep all others waiting."""
    run("--version")  # which begins the server, if none is there
    with pytest.raises(subprocess.TimeoutExpired, match=r"'serve'.* timed out after 0\.5 seconds"):
        run("serve", "--no-browser", "--port", "0", "--home", tmp_path / "home", timeout=0.5)
    assert run("--version").returncode == 0


@pytest.mark.parametrize(
    "words", [["verify"], ["verify", "x"], ["nonsense"], ["verify", "x", "-o", "y", "--seed", "no"]]
)
def test_wrong_usage_ends_with_2(words: list[str]) -> None:
    assert CliRunner().invoke(app, words).exit_code == 2


@pytest.mark.parametrize(
    "words",
    [
        ["runs", "show", "x" * 300],
        ["verify", "corpus", "-o", "x" * 300],
        ["verify", "corpus", "-o", "out", "--reference", "x" * 300],
        ["verify", "corpus", "-o", "out", "--calibration", "x" * 300],
        ["calibrate", "corpus", "-o", "x" * 300],
        ["combine", "x" * 300, "-o", "out"],
        ["reference", "check", "corpus", "corpus/" + "x" * 300],
    ],
)
def test_a_name_that_the_system_does_not_take_is_said(words: list[str], make_corpus: MakeCorpus) -> None:
    done = run(*words, cwd=make_corpus(small_problems(2)).parent)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "File name too long" in done.stderr


def test_an_error_of_the_program_itself_stays_a_traceback() -> None:
    broken = "import byline.cli as c, byline.__main__ as m\nc.app = lambda **_: open('gone')\nm.main()"
    done = subprocess.run([sys.executable, "-c", broken], capture_output=True, text=True, check=False)
    assert "Traceback" in done.stderr


class TestVerify:
    def test_answers_and_settings_are_written_and_summed_up(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus = make_corpus(small_problems(6))
        done = run("verify", corpus, "-o", tmp_path / "out", *FAST)
        assert done.returncode == 0, done.stderr
        lines = (tmp_path / "out" / "answers.txt").read_text("utf-8").splitlines()
        assert [line.split()[0] for line in lines] == sorted(small_problems(6))
        assert all(0 <= float(line.split()[1]) <= 1 for line in lines)
        assert "6 problems" in done.stdout
        assert "answers.txt" in done.stdout
        pool = tmp_path / "out" / "run" / "preset.toml"
        again = run("verify", "-i", corpus, "-o", tmp_path / "again", "--preset", pool, "--quiet")
        assert again.returncode == 0, again.stderr
        assert again.stderr == ""
        assert (tmp_path / "again" / "answers.txt").read_text("utf-8").splitlines() == lines

    def test_pairs_get_json_lines(self, tmp_path: Path) -> None:
        pairs = tmp_path / "pairs.jsonl"
        rows = [{"id": f"p{n}", "pair": [phrase(n), phrase(n, salt=1)]} for n in range(4)]
        pairs.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        assert run("verify", tmp_path, "-o", tmp_path / "out", *ONE).returncode == 0
        answers = [json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text("utf-8").splitlines()]
        assert [answer["id"] for answer in answers] == ["p0", "p1", "p2", "p3"]
        assert all(0 <= answer["value"] <= 1 for answer in answers)

    def test_json_says_everything(self, make_corpus: MakeCorpus) -> None:
        words = ("--json", "--preset", "rnn", "--members", 2, "--seed", 7, *FAST)
        result = json.loads(run("verify", make_corpus(small_problems(6)), *words).stdout)
        assert {"id", "answer", "undecided", "score"} == set(result["answers"][0])
        assert (result["interpret"], result["calibrated"]) == ("rank", False)
        assert [settings["hidden"] for settings in result["settings"]] == [4, 4]
        assert (result["seed"], result["members"]) == (7, 2)
        assert (result["languages"][0]["ways"], result["languages"][0]["heads"]) == (2, 12)

    def test_bad_input_ends_with_1_one_message_and_nothing_written(
        self, make_corpus: MakeCorpus, tmp_path: Path
    ) -> None:
        problems = small_problems(8)
        problems["EN003"] = {"known01.txt": phrase(3)}
        problems["EN005"]["unknown.txt"] = ""
        corpus = make_corpus(problems)
        done = run("verify", corpus, "-o", tmp_path / "out", *ONE)
        assert done.returncode == 1
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert "EN003: no unknown text" in done.stderr
        assert "EN005/unknown.txt: empty" in done.stderr
        assert not (tmp_path / "out").exists()
        done = run("verify", corpus, "-o", tmp_path / "out", "--skip-bad", *ONE)
        assert done.returncode == 0
        text = (tmp_path / "out" / "answers.txt").read_text("utf-8")
        assert "EN003 0.500" in text
        assert "EN005 0.500" in text
        assert "EN003: no unknown text" in done.stdout

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--set", "hidden=-3"], "hidden: can't be -3"),
            (["--set", "hiden=3"], "Did you mean hidden"),
            (["--settings", "gone.toml"], "gone.toml: not found"),
            (["--control", "gone"], "gone: not found"),
            (["--set", "rate=1e30", "--set", "hidden=4"], "rate=1e+30"),
        ],
    )
    def test_what_the_user_can_put_right_is_said(
        self, make_corpus: MakeCorpus, tmp_path: Path, words: list[str], message: str
    ) -> None:
        done = run("verify", make_corpus(small_problems(6)), "-o", tmp_path / "out", *words)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("byline: ")
        assert message in done.stderr
        assert not (tmp_path / "out" / "answers.txt").exists()

    def test_ctrl_c_before_a_member_is_done_gives_no_answers(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus, log = make_corpus(small_problems(6, length=3000)), tmp_path / "log.jsonl"
        command = [sys.executable, "-m", "byline", "verify", corpus, "-o", tmp_path / "out", "--preset", "rnn"]
        process = subprocess.Popen(
            [*map(str, command), "--members", "2", "--set", "sub_epochs=100000", "--log", str(log)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        while not (log.exists() and '"sub-epoch"' in log.read_text("utf-8")):  # until both are at work, or nearly
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
        assert process.returncode == 130
        assert error.endswith("no member is done yet; continue with the same command and --resume\n")
        assert not (tmp_path / "out" / "answers.txt").exists()

    def test_ids_that_look_like_markup_or_hold_anything_are_shown_as_they_are(self, tmp_path: Path) -> None:
        ids = ["[/b]", "[red]a", "d:cat:", "\ud800", "a\nb", "7"]
        pairs = tmp_path / "pairs.jsonl"
        rows = [{"id": name, "pair": [phrase(n), phrase(n, salt=1)]} for n, name in enumerate(ids)]
        pairs.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        done = run("verify", pairs, "-o", tmp_path / "out", *ONE)
        assert done.returncode == 0, done.stderr
        assert all(name in done.stdout for name in ("[/b]", "[red]a", "d:cat:"))
        answers = [json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text("utf-8").splitlines()]
        assert sorted(answer["id"] for answer in answers) == sorted(ids)

    def test_a_terminal_that_knows_only_ascii_is_enough(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus = make_corpus(small_problems(6))
        command = [sys.executable, "-m", "byline", "verify", str(corpus), "-o", str(tmp_path / "out"), *FAST]
        environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == 0, done.stderr

    def test_results_of_the_other_kind_do_not_stay(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        out = tmp_path / "out"
        out.mkdir()
        (out / "answers.jsonl").write_text("", "utf-8")
        assert run("verify", make_corpus(small_problems(6)), "-o", out, "--overwrite", *ONE).returncode == 0
        assert sorted(path.name for path in out.iterdir()) == [".run.lock", "answers.txt", "run"]


class TestCautions:
    def test_what_speaks_against_answers_is_said_briefly_explained_and_masked(
        self, make_corpus: MakeCorpus, tmp_path: Path
    ) -> None:
        problems = small_problems(6, 1500)
        saying = "What is written without effort, someone said, is in general read without pleasure; and so it is here."
        problems["EN002"]["unknown.txt"] += f" {saying}"
        problems["EN002"]["known01.txt"] = f"{saying} {problems['EN002']['known01.txt']}"
        for name in ("EN003", "EN004"):
            problems[name]["unknown.txt"] = problems[name]["unknown.txt"][:300]
        corpus, out = make_corpus(problems), tmp_path / "out"

        def say(*words: object) -> str:
            return CliRunner().invoke(app, [*map(str, words)], catch_exceptions=False).stdout

        asked = ("verify", corpus, "--quiet", "--engines", "vectors", "--members", "1")
        said = say(*asked, "-o", out)
        assert "Caution: EN002: unknown.txt shares 1 passage" in said
        assert f"\u201c{saying}\u201d" in said
        assert "Caution: 2 problems have fewer than 1,000 characters on a side" in said
        assert f"byline report {out} -o report.html lists the cautions on each answer" in said
        explained = say("explain", out, "EN002")
        assert f"EN002/known01.txt, characters 0 to {len(saying)}: \u201cWhat is written" in explained
        values = json.loads(say("explain", out, "EN002", "--json"))
        assert values["cautions"][0]["kind"] == "shared"
        assert values["warnings"][0] == values["cautions"][0]["text"]
        assert [each["text"] for each in values["shared"]] == [saying, saying]
        masked = say(*asked, "-o", out, "--overwrite", "--mask-shared")
        assert "Caution: EN002: Left out before training" in masked
        assert "shares 1 passage" not in masked
        with pytest.raises(BylineError, match="mask shared was True, is False"):
            say(*asked, "-o", out, "--resume")
        values = json.loads(say(*asked, "--mask-shared", "--json"))
        assert values["mask_shared"] is True
        assert values["cautions"]["problems"]["EN002"][-1]["quotes"] == [saying]


class TestEnsembles:
    def test_presets_are_listed_and_shown(self) -> None:
        listed = run("presets").stdout
        assert all(
            name in listed for name in ("best", "rnn", "paper-dutch", "paper-english", "paper-greek", "paper-spanish")
        )
        shown = run("presets", "paper-english").stdout
        assert "drawn at random" in shown
        assert "depth 4" in shown
        (pool,) = json.loads(run("presets", "paper-spanish", "--json").stdout)
        assert (pool["radius"], len(pool["pool"])) == (0.04, 9)
        unknown = run("presets", "paper-grek")
        assert (unknown.returncode, "Did you mean paper-greek" in unknown.stderr) == (1, True)

    def test_a_run_is_shown_and_runs_are_joined(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        truth = "".join(f"EN{n:03d} {'Y' if n % 2 else 'N'}\n" for n in range(1, 7))
        corpus = make_corpus(small_problems(6), truth=truth)
        for seed in (1, 2):
            words = ("--seed", seed, "--preset", "rnn", "--members", 2, *FAST)
            assert run("verify", corpus, "-o", tmp_path / str(seed), *words).returncode == 0
        shown = run("runs", "show", tmp_path / "1", "--truth", corpus)
        assert shown.returncode == 0, shown.stderr
        assert "2 of 2 members done" in shown.stdout
        assert "a member adds" in shown.stdout
        assert "hidden 4" in shown.stdout
        joined = run("combine", tmp_path / "1", tmp_path / "2", "-o", tmp_path / "both")
        assert joined.returncode == 0, joined.stderr
        assert "4 members of 2 runs" in joined.stdout
        assert len((tmp_path / "both/answers.txt").read_text("utf-8").splitlines()) == 6
        result = json.loads(run("runs", "show", tmp_path / "both", "--truth", corpus, "--json").stdout)
        assert [row["seed"] for row in result["members"]] == [1, 1, 2, 2]
        assert run("combine", tmp_path / "1", "-o", tmp_path / "both").returncode == 1
        assert "no run found" in run("runs", "show", corpus).stderr

    def test_what_is_refused_leaves_the_old_answers(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus = make_corpus(small_problems(6))
        for name in ("one", "two"):
            assert run("verify", corpus, "-o", tmp_path / name, *ONE).returncode == 0
        for words in (("one", "gone"), ("one", "two"), ("one", "--interpret", "cohort")):
            done = run("combine", *words, "-o", "two", "--overwrite", cwd=tmp_path)
            assert done.returncode == 1, words
            assert (tmp_path / "two" / "answers.txt").exists(), words
        assert run("combine", "one", "-o", "two", "--overwrite", cwd=tmp_path).returncode == 0

    @pytest.mark.parametrize("variables", ["", "FORCE_COLOR=1"])
    def test_progress_that_nobody_reads_costs_nothing(
        self, make_corpus: MakeCorpus, tmp_path: Path, variables: str
    ) -> None:
        words = f"{sys.executable} -m byline verify {make_corpus(small_problems(6))} -o {tmp_path}/out {' '.join(FAST)}"
        command = f"set -o pipefail; {variables} {words} 2>&1 >/dev/null | true"
        done = subprocess.run(["bash", "-c", command], check=False)
        assert done.returncode == 0
        assert (tmp_path / "out" / "answers.txt").exists()

    def test_old_answers_go_when_a_new_run_begins(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus, out = make_corpus(small_problems(6)), tmp_path / "out"
        fast = ("--preset", "rnn", "--members", 1, *FAST)
        assert run("verify", corpus, "-o", out, *fast).returncode == 0
        assert run("verify", corpus, "-o", out, "--overwrite", "--set", "rate=1e30", *fast).returncode == 1
        assert not (out / "answers.txt").exists()
        (out / "answers.txt").write_text("precious", "utf-8")
        (out / "run" / "plan.json").unlink()
        assert run("verify", corpus, "-o", out, "--resume", *fast).returncode == 1
        assert (out / "answers.txt").read_text("utf-8") == "precious"

    def test_a_budget_is_spent_and_written_down(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus = make_corpus(small_problems(6))
        done = run("verify", corpus, "-o", tmp_path / "out", "--budget", "1s", *FAST)
        assert done.returncode == 0, done.stderr
        plan = json.loads((tmp_path / "out/run/plan.json").read_text("utf-8"))
        assert plan["budget"]["seconds"] == 1
        assert f"Members: {len(plan['members'])}, of preset best" in done.stdout

    def test_progress_is_plain_lines_and_a_log_where_there_is_no_terminal(
        self, make_corpus: MakeCorpus, tmp_path: Path
    ) -> None:
        corpus = make_corpus(small_problems(6))
        words = ("--preset", "rnn", "--members", 2, "--log", tmp_path / "log.jsonl", *FAST)
        done = run("verify", corpus, "-o", tmp_path / "out", *words)
        assert done.stderr.splitlines()[0] == "2 members of rnn"
        assert len(re.findall(r"member \d of 2 done in [\d.]+ s, [\d.]+ bits a character", done.stderr)) == 2
        events = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("utf-8").splitlines()]
        kinds = [event["event"] for event in events]
        assert kinds[0] == "planned"
        assert (kinds.count("sub-epoch"), kinds.count("member done")) == (6, 2)  # one is asked both ways, the other one
        assert all(event["bits"] > 0 for event in events if event["event"] == "sub-epoch")

    def test_on_a_terminal_there_are_bars(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        words = ("verify", make_corpus(small_problems(6)), "-o", tmp_path / "out", "--preset", "rnn", "--members", 2)
        told = tmp_path / "stdout"
        code, text = watch(*words, *FAST, "--set", "sub_epochs=100", columns=120, stdout=str(told))
        assert code == 0, text
        assert "trainings done" in text
        assert re.search(r"member \d of 2 .*way \d/2, sub-epoch \d+/100, [\d.]+ bits, \d+k chars/s", text)
        assert "Members: 2, of preset rnn" in told.read_text("utf-8")

    @pytest.mark.parametrize(
        "words",
        [
            ["--members", "2", "--budget", "5s"],
            ["--preset", "rnn", "--settings", "x.toml"],
            ["--control-heads", "many"],
            ["--control-heads", "each"],
            ["--control", "x", "--control-heads", "one", "--set", "control=each"],
            ["--resume", "--overwrite"],
            ["--language", " "],
            ["--interpret", "nonsense"],
            ["--mask", "nonsense"],
            ["--members", "0"],
        ],
    )
    def test_options_that_exclude_each_other_are_wrong_usage(self, words: list[str]) -> None:
        assert CliRunner().invoke(app, ["verify", "x", "-o", "y", *words]).exit_code == 2

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--preset", "nonsense"], "nonsense: no such preset"),
            (["--preset", "gone.toml"], "gone.toml: not found"),
            (["--budget", "soon"], "'soon' is not a duration"),
            (["--log", "no/such/folder/log"], "--log"),
        ],
    )
    def test_bad_values_are_said(self, make_corpus: MakeCorpus, tmp_path: Path, words: list[str], message: str) -> None:
        done = run("verify", make_corpus(small_problems(6)), "-o", tmp_path / "out", *words)
        assert done.returncode == 1
        assert message in done.stderr
        assert not (tmp_path / "out").exists()

    def test_answers_of_a_run_are_gone_on_with_rather_than_replaced(
        self, make_corpus: MakeCorpus, tmp_path: Path
    ) -> None:
        words = ("verify", make_corpus(small_problems(6)), "-o", tmp_path / "out", "--members", 1, *FAST)
        assert "a new one begins" in run(*words, "--resume").stderr
        again = run(*words)
        assert again.returncode == 1
        assert "with --resume" in again.stderr
        joined = run("combine", tmp_path / "out", "-o", tmp_path / "joined")
        assert joined.returncode == 0
        resumed = run(*words[:3], tmp_path / "joined", "--members", 1, *FAST, "--resume")
        assert "combined" in resumed.stderr

    def test_a_preset_that_wants_a_control_corpus_says_so(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus, pool = make_corpus(small_problems(6)), tmp_path / "pool.toml"
        pool.write_text("[shared]\nhidden = 4\nsub_epochs = 1\n[[member]]\ncontrol = 'one'\n", "utf-8")
        done = run("verify", corpus, "-o", tmp_path / "out", "--preset", pool)
        assert "meant to have a control corpus" in done.stdout

    def test_control_heads_are_one_or_each(self, make_corpus: MakeCorpus, tmp_path: Path, english: Path) -> None:
        corpus = make_corpus(small_problems(6))
        told = {
            heads: run(
                "verify", corpus, "--json", "--control", english, "--control-heads", heads, "--members", 1, *FAST
            )
            for heads in ("one", "each")
        }
        controls = {heads: json.loads(done.stdout)["languages"][0]["control"] for heads, done in told.items()}
        assert controls == {"one": "one head", "each": "a head for each of 36 texts"}


def write_people(folder: Path, people: int, texts: int = 2) -> Path:
    """A folder for each of some authors."""
    for person in range(people):
        (folder / f"person{person:02d}").mkdir(parents=True)
        for text in range(texts):
            path = folder / f"person{person:02d}" / f"{text}.txt"
            path.write_text(phrase(person, 300, salt=100 + 50 * person + text), "utf-8")
    return folder


QUICK = ("--engines", "ngram,vectors")
"""Members that are quick."""


CALIBRATED = ("--engines", "characters,words,punctuation")
"""The members that answers beside a reference are calibrated for."""


class TestOneQuestion:
    @pytest.fixture
    def texts(self, tmp_path: Path) -> list[Path]:
        """Two known texts and one in question, by one author."""
        paths = [tmp_path / name for name in ("a.txt", "b.txt", "q.txt")]
        for salt, path in enumerate(paths):
            path.write_text(phrase(3, 400, salt=900 + salt), "utf-8")
        return paths

    @pytest.fixture
    def reference(self, tmp_path: Path) -> Path:
        return write_people(tmp_path / "reference", 12)

    def test_it_is_answered_and_the_reference_judged(self, texts: list[Path], reference: Path) -> None:
        a, b, q = texts
        done = run("verify", "--known", a, b, "--unknown", q, "--reference", reference, *CALIBRATED)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"Known: {a}, {b}; unknown: {q}\n")
        assert "1 problem, each by itself" in done.stdout
        assert (
            "Engines: characters, characters (topic masked), words, words (topic masked), punctuation\n" in done.stdout
        )
        assert "Interpretation: cohort, every problem by itself, relative to the reference population" in done.stdout
        assert re.search(r"^question .* 0\.\d\d\d ", done.stdout, re.MULTILINE)
        assert "Answer: the probability of the same author, at a prior of 0.5." in done.stdout
        assert re.search(r"^Bounds: .* no LLR above \+[0-9.]+ or below -[0-9.]+", done.stdout, re.MULTILINE)
        assert "the reference (24 texts by 12 people) is " in done.stdout
        assert "Caution: Very short: the unknown side has " in done.stdout

    def test_json_says_the_same_and_nothing_else(self, texts: list[Path], reference: Path, tmp_path: Path) -> None:
        a, b, q = texts
        words = ("--unknown", q, "--reference", reference, "--json", "--quiet", *CALIBRATED)
        done = run("verify", "--known", a, b, *words)
        assert done.stderr == ""
        result = json.loads(done.stdout)
        (answer,) = result["answers"]
        assert (result["known"], result["unknown"]) == ([str(a), str(b)], str(q))
        assert answer["id"] == "question"
        assert set(answer) == {
            "id", "answer", "undecided", "score", "llr_bans", "llr_interval", "probability", "bounds", "verbal",
        }  # fmt: skip
        assert (result["interpret"], result["calibrated"], result["members"]) == ("cohort", True, 5)
        assert (result["reference"]["authors"], len(result["reference"]["problems"])) == (12, 1)
        assert {each["kind"] for each in result["cautions"]["problems"]["question"]} >= {"short", "reference"}
        again = json.loads(run("verify", "--known", b, "--known", a, *words, "-o", tmp_path / "out").stdout)
        assert again["answers"] == result["answers"]
        assert (tmp_path / "out" / "answers.txt").read_text("utf-8") == f"question {answer['answer']:.3f}\n"

    def test_what_is_missing_is_wrong_usage(self, texts: list[Path], reference: Path) -> None:
        a, b, q = texts
        for words, message in (
            (["--known", a, b, "--reference", reference], "needs both --known FILE... and --unknown FILE"),
            (["--unknown", q, "--reference", reference], "needs both --known FILE... and --unknown FILE"),
            (["--known", a, "--unknown", q], "needs texts by other people"),
            (["--known", a, "--unknown", q, "--reference", reference, "-i", "corpus"], "not both"),
            ([reference, "--known", a, "--unknown", q, "--reference", reference], "not both"),
            (["--known", a, "--unknown", q, b, "--reference", reference], "not both"),
            (["--known", a, "--unknown", q, "--unknown", b, "--reference", reference], "unknown is given twice"),
        ):
            done = CliRunner().invoke(app, ["verify", *map(str, words)])
            assert (done.exit_code, done.stdout) == (2, "")
            assert message in re.sub(r"\W*\n\W*", " ", done.stderr)

    def test_all_files_that_cant_be_read_are_named(self, texts: list[Path], reference: Path, tmp_path: Path) -> None:
        empty = tmp_path / "empty.txt"
        empty.write_text("", "utf-8")
        words = ("--known", texts[0], tmp_path / "gone.txt", empty, "--unknown", tmp_path / "lost.txt")
        done = run("verify", *words, "--reference", reference, *CALIBRATED)
        assert (done.returncode, done.stdout) == (1, "")
        assert all(f"{name}: " in done.stderr for name in ("gone.txt", "empty.txt", "lost.txt"))
        assert "a.txt" not in done.stderr

    def test_too_small_a_reference_is_refused_in_one_line(self, texts: list[Path], tmp_path: Path) -> None:
        few = write_people(tmp_path / "few", 5)
        done = run("verify", "--known", texts[0], "--unknown", texts[2], "--reference", few, *CALIBRATED)
        assert (done.returncode, done.stdout) == (1, "")
        (line,) = done.stderr.splitlines()
        assert line.startswith("byline: latin: the reference has texts by 5 authors who surely are different")

    def test_the_topic_is_masked_in_all_members(self, texts: list[Path], reference: Path) -> None:
        words = ("--known", texts[0], "--unknown", texts[2], "--reference", reference, "--mask", "topic", *CALIBRATED)
        done = run("verify", *words)
        assert done.returncode == 0, done.stderr
        assert "Engines: characters (topic masked), words (topic masked), punctuation (topic" in done.stdout


class TestAnswering:
    def test_without_a_preset_it_is_best_and_the_summary_says_how(
        self, make_corpus: MakeCorpus, tmp_path: Path
    ) -> None:
        done = run("verify", make_corpus(small_problems(6)), "-o", tmp_path / "out", *FAST)
        assert done.returncode == 0, done.stderr
        assert done.stderr.splitlines()[0] == "11 members of best"
        (engines,) = re.findall("^Engines: (.*)$", done.stdout, re.MULTILINE)
        assert {name.split()[0] for name in engines.split(", ")} == {
            "characters", "words", "punctuation", "vectors", "ngram", "rnn",
        }  # fmt: skip
        assert re.search("^Interpretation: relative, compared with all other texts", done.stdout, re.MULTILINE)
        assert "Members: 11, of preset best, with seed 0, in " in done.stdout
        assert "the probability of the same author, at a prior of 0.5." in done.stdout

    def test_a_prior_changes_probabilities_and_not_ratios(self, make_corpus: MakeCorpus) -> None:
        corpus = make_corpus(small_problems(6))
        even, likely = (
            json.loads(run("verify", corpus, "--json", "--quiet", "--prior", prior, *QUICK).stdout)
            for prior in (0.5, 0.9)
        )
        assert (even["calibrated"], likely["prior"]) == (True, 0.9)
        for one, other in zip(even["answers"], likely["answers"], strict=True):
            assert one["llr_bans"] == other["llr_bans"]
            assert one["probability"] < other["probability"]
            assert one["verbal"] == other["verbal"]

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--prior", "1"], "prior: must be more than 0 and less than 1, got 1.0"),
            (["--prior", "0.9", "--engines", "ngram"], "prior"),
            (["--engines", "ngram,nonsense"], "no members of the engine nonsense"),
            (["--interpret", "cohort"], "reference population"),
            (["--calibration", "gone.json"], "gone.json: can't be read (gone.json is missing)"),
            (["--calibration", "."], "is not a file"),
            (["--engines", " , "], "--engines: names no engine"),
        ],
    )
    def test_bad_values_are_said_in_one_line(
        self, make_corpus: MakeCorpus, tmp_path: Path, words: list[str], message: str
    ) -> None:
        told = ["verify", str(make_corpus(small_problems(6))), "-o", str(tmp_path / "out"), *words]
        with pytest.raises(BylineError) as refusal:
            CliRunner().invoke(app, told, catch_exceptions=False)
        (line,) = str(refusal.value).splitlines()
        assert message in line
        assert not (tmp_path / "out").exists()

    def test_a_run_is_read_in_another_way(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus = make_corpus(small_problems(6))
        assert run("verify", corpus, "-o", tmp_path / "ranks", "--interpret", "rank", *QUICK).returncode == 0
        read = run("combine", tmp_path / "ranks", "-o", tmp_path / "relative", "--interpret", "relative")
        assert read.returncode == 0, read.stderr
        assert "Interpretation: relative" in read.stdout
        assert run("verify", corpus, "-o", tmp_path / "direct", *QUICK).returncode == 0
        answers = [(tmp_path / name / "answers.txt").read_text("utf-8") for name in ("ranks", "relative", "direct")]
        assert answers[1] == answers[2] != answers[0]


class TestCalibrate:
    @pytest.fixture
    def corpus(self, make_corpus: MakeCorpus) -> Path:
        truth = "".join(f"EN{n:03d} {'Y' if n % 2 else 'N'}\n" for n in range(1, 17))
        return make_corpus(small_problems(16, length=150), truth=truth, name="made-up")

    def test_a_corpus_gives_a_file_that_verify_takes(
        self, corpus: Path, make_corpus: MakeCorpus, tmp_path: Path
    ) -> None:
        path = tmp_path / "cal.json"
        done = run("calibrate", corpus, "-o", path, *QUICK)
        assert done.returncode == 0, done.stderr
        assert "Calibration of relative scores of ngram" in done.stdout
        assert "fitted on 16 problems of 32 texts (made-up)" in done.stdout
        assert re.search(r"Cllr \d\.\d\d\d on held-out problems", done.stdout)
        assert sorted(child.name for child in tmp_path.iterdir()) == ["cal.json", "made-up"]
        words = ("verify", make_corpus(small_problems(6)), "--json", "--quiet", "--calibration", path, "--prior", 0.2)
        result = json.loads(run(*words, *QUICK).stdout)
        assert result["calibration"]["corpora"] == ["made-up"]
        assert all(0 < answer["probability"] < 1 for answer in result["answers"])
        refused = run(*words, "--engines", "ngram")
        assert refused.returncode == 1
        assert f"{path}: the calibration is of relative scores" in refused.stderr
        assert "these are relative scores by ngram" in refused.stderr

    def test_a_file_that_is_there_stays_unless_told(self, corpus: Path, tmp_path: Path) -> None:
        path = tmp_path / "cal.json"
        path.write_text("precious", "utf-8")
        refused = run("calibrate", corpus, "-o", path, *ONE)
        assert refused.returncode == 1
        assert "cal.json: exists already. Replace it with --overwrite" in refused.stderr
        assert path.read_text("utf-8") == "precious"
        done = run("calibrate", corpus, "-o", path, "--overwrite", "--json", *ONE)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["slope"] == read_calibration(path).slope
        assert run("calibrate", corpus, "-o", corpus, "--overwrite", *ONE).returncode == 1

    def test_a_folder_of_other_things_stays(self, corpus: Path, tmp_path: Path) -> None:
        work = tmp_path / "cal.json.run"
        work.mkdir()
        (work / "thesis.txt").write_text("precious", "utf-8")
        for words in ((), ("--overwrite",)):
            done = run("calibrate", corpus, "-o", tmp_path / "cal.json", *ONE, *words)
            assert done.returncode == 1
            assert "cal.json.run: holds thesis.txt, which is not part of a run" in done.stderr
        assert [path.name for path in work.iterdir()] == ["thesis.txt"]
        (work / "thesis.txt").unlink()
        (work / "lock").touch()  # what is left where a run was stopped before it began
        assert run("calibrate", corpus, "-o", tmp_path / "cal.json", *ONE).returncode == 0
        assert not work.exists()

    def test_stopped_it_says_that_the_same_command_goes_on(self, corpus: Path, tmp_path: Path) -> None:
        words = ("calibrate", corpus, "-o", tmp_path / "cal.json", "--preset", "rnn", "--interpret", "relative")
        command = [sys.executable, "-m", "byline", *map(str, words), "--set", "sub_epochs=100000"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            while not (tmp_path / "cal.json.run" / "plan.json").exists():
                assert process.poll() is None
                time.sleep(0.05)
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=60)
        assert process.returncode == 130
        assert error.endswith("byline: interrupted; run the same command again to continue\n")

    def test_authors_folders_become_cases(self, tmp_path: Path) -> None:
        people = write_people(tmp_path / "people", 12)
        done = run("calibrate", people, "-o", tmp_path / "cal.json", *QUICK)
        assert done.returncode == 0, done.stderr
        assert "fitted on 24 problems of 24 texts (people)" in done.stdout
        done = run("calibrate", people, "-o", tmp_path / "alone.json", "--reference", people, *CALIBRATED)
        assert done.returncode == 0, done.stderr
        assert read_calibration(tmp_path / "alone.json").interpretation == "cohort"
        few = run("calibrate", write_people(tmp_path / "few", 4), "-o", tmp_path / "few.json", *QUICK)
        assert few.returncode == 1
        assert "4 authors with two texts or more, 10 are needed" in few.stderr

    def test_what_cant_be_calibrated_is_said(self, corpus: Path, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        path = tmp_path / "cal.json"
        ranks = run("calibrate", corpus, "-o", path, "--interpret", "rank", *QUICK)
        assert (ranks.returncode, "rank" in ranks.stderr) == (1, True)
        blind = run("calibrate", make_corpus(small_problems(6)), "-o", path, *QUICK)
        assert (blind.returncode, "truth" in blind.stderr) == (1, True)
        assert run("calibrate", corpus, "-o", path, "--members", 1, "--budget", "5s").returncode == 2
        assert not path.exists()


class TestEvaluate:
    @pytest.fixture
    def files(self, tmp_path: Path) -> tuple[Path, Path]:
        answers, truth = tmp_path / "answers.txt", tmp_path / "truth.txt"
        answers.write_text("EN001 0.9\nEN002 0.2\nEN003 0.5\n", "utf-8")
        truth.write_text("EN001 Y\r\nEN002 N\r\nEN003 Y\r\nEN004 N\r\n", "utf-8", newline="")
        return answers, truth

    def test_measures_are_printed(self, files: tuple[Path, Path]) -> None:
        done = run("evaluate", *files)
        assert done.returncode == 0
        assert re.search(r"C@1 +0\.750 ", done.stdout)  # (2 + 2 x 2/4) / 4
        assert "1 problem without an answer" in done.stdout

    def test_json_and_averages(self, files: tuple[Path, Path]) -> None:
        result = json.loads(run("evaluate", *files, *files, "--json").stdout)
        assert [row["c_at_1"] for row in result["corpora"]] == [0.75, 0.75]
        assert result["corpora"][0]["missing"] == 1
        assert result["macro"] == pytest.approx(result["micro"])
        assert "macro" in run("evaluate", *files, *files).stdout

    def test_json_has_what_plots_need(self, files: tuple[Path, Path]) -> None:
        (row,) = json.loads(run("evaluate", *files, "--json").stdout)["corpora"]
        assert sum(part["problems"] for part in row["calibration"]) == row["problems"]
        assert len(row["tippett"]["bans"]) == len(row["tippett"]["same"]) == len(row["tippett"]["different"])
        assert row["intervals"]["resampled"] == "problems"
        low, high = row["intervals"]["auc"]
        assert low <= row["auc"] <= high

    def test_intervals_resample_the_texts_that_lie_beside_the_truth(
        self, files: tuple[Path, Path], make_corpus: MakeCorpus
    ) -> None:
        corpus = make_corpus(small_problems(6))
        (corpus / "truth.txt").write_text("".join(f"EN00{n} {'YN'[n % 2]}\n" for n in range(1, 7)), "utf-8")
        answers = files[0]
        answers.write_text("".join(f"EN00{n} 0.{9 - n}\n" for n in range(1, 7)), "utf-8")
        assert "resamples of the texts." in run("evaluate", answers, corpus).stdout
        assert "resamples of the texts." in run("evaluate", answers, corpus / "truth.txt").stdout

    def test_two_systems_are_compared(self, files: tuple[Path, Path], tmp_path: Path) -> None:
        _, truth = files
        names = [line.split() for line in truth.read_text("utf-8").splitlines()]
        good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
        good.write_text("".join(f"{name} {0.9 if word == 'Y' else 0.1}\n" for name, word in names), "utf-8")
        bad.write_text("".join(f"{name} {0.1 if word == 'Y' else 0.9}\n" for name, word in names), "utf-8")
        assert "A is better by AUC x C@1" in run("compare", good, bad, truth).stdout
        assert "B is better" in run("compare", bad, good, truth).stdout
        assert "no clear difference" in run("compare", good, good, truth).stdout
        result = json.loads(run("compare", good, bad, truth, "--json").stdout)
        product = result["measures"]["product"]
        assert (product["a"], product["b"], product["difference"], product["a_better"]) == (1.0, 0.0, 1.0, 1.0)
        assert product["interval"] == pytest.approx([1.0, 1.0])
        assert result["measures"]["cllr"]["a_better"] == 1.0
        bad.write_text("EN001 0.1\n", "utf-8")
        assert (
            f"B, {bad}: 3 problems without an answer, counted as undecided" in run("compare", good, bad, truth).stdout
        )
        assert run("compare", good, tmp_path / "none.txt", truth).returncode == 1

    def test_unknown_ids_are_refused_and_pairs_are_asked_for(self, files: tuple[Path, Path]) -> None:
        files[0].write_text("XX001 0.9\nXX002 0.1\n", "utf-8")
        done = run("evaluate", *files)
        assert done.returncode == 1
        assert "XX001, XX002" in done.stderr
        assert run("evaluate", files[0]).returncode == 2


class TestPrepare:
    def test_a_text_is_shown_as_the_model_sees_it(self, tmp_path: Path) -> None:
        path = tmp_path / "text.txt"
        path.write_text("Hello, WORLD! It’s 1984…", "utf-8")
        text = run("prepare", path).stdout
        assert "¹hello, ¹w¹o¹r¹l¹d! ¹it's 7777..." in text
        assert "alphabet of 17 symbols" in text

    def test_a_corpus_is_counted(self, english: Path) -> None:
        (result,) = json.loads(run("prepare", english, "--json").stdout)
        assert result["language"] == "english"
        assert result["symbols"] == len(result["alphabet"]) == len(result["counts"])
        assert len(result["texts"]) == 36
        assert set(result["dropped"]).isdisjoint(result["alphabet"])
        shown = run("prepare", english)
        assert "36 texts" in shown.stdout


def test_the_demo_shows_answers_beside_the_truth(tmp_path: Path) -> None:
    done = run("demo", "--members", 1, "--report", tmp_path / "demo.html")
    assert done.stdout.startswith("Byline read 12 invented authors (english) and judged 12 texts.")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("same") >= 6
    assert "of 12 right" in done.stdout
    result = json.loads(run("demo", "greek", "--members", 1, "--json").stdout)
    assert len(result["truth"]) == len(result["answers"]) == 8
    assert run("demo", "klingon").returncode == 2


@pytest.mark.parametrize("words", ["prepare CORPUS --json", "presets", "--help", "verify --help"])
def test_output_that_nobody_reads_is_no_error(english: Path, words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "byline", *words.replace("CORPUS", str(english)).split()]
    done = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
