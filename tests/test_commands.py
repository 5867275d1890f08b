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

import byline
from conftest import FAST, MakeCorpus, phrase, small_problems


def run(*words: object, **options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "byline", *map(str, words)]
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False, **options)  # type: ignore[call-overload,no-any-return]


def test_version_and_help() -> None:
    assert run("--version").stdout == f"byline {byline.__version__}\n"
    text = run("--help").stdout
    for command in ("verify", "evaluate", "prepare", "demo"):
        assert command in text
        shown = run(command, "--help")
        assert shown.returncode == 0
        assert "Example" in shown.stdout


@pytest.mark.parametrize(
    "words", [["verify"], ["verify", "x"], ["nonsense"], ["verify", "x", "-o", "y", "--seed", "no"]]
)
def test_wrong_usage_ends_with_2(words: list[str]) -> None:
    assert run(*words).returncode == 2


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
        assert run("verify", tmp_path, "-o", tmp_path / "out", *FAST).returncode == 0
        answers = [json.loads(line) for line in (tmp_path / "out" / "answers.jsonl").read_text("utf-8").splitlines()]
        assert [answer["id"] for answer in answers] == ["p0", "p1", "p2", "p3"]
        assert all(0 <= answer["value"] <= 1 for answer in answers)

    def test_json_says_everything(self, make_corpus: MakeCorpus) -> None:
        done = run("verify", make_corpus(small_problems(6)), "--json", "--members", 2, "--seed", 7, *FAST)
        result = json.loads(done.stdout)
        assert {"id", "probability", "undecided", "score"} == set(result["answers"][0])
        assert [settings["hidden"] for settings in result["settings"]] == [4, 4]
        assert (result["seed"], result["members"]) == (7, 2)
        assert (result["languages"][0]["ways"], result["languages"][0]["heads"]) == (2, 12)

    def test_existing_answers_are_kept_unless_told(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus = make_corpus(small_problems(6))
        out = tmp_path / "out"
        out.mkdir()
        (out / "answers.txt").write_text("precious", "utf-8")
        done = run("verify", corpus, "-o", out, *FAST)
        assert done.returncode == 1
        assert "--overwrite" in done.stderr
        assert (out / "answers.txt").read_text("utf-8") == "precious"
        assert run("verify", corpus, "-o", out, "--overwrite", *FAST).returncode == 0
        assert (out / "answers.txt").read_text("utf-8").startswith("EN001 ")

    def test_bad_input_ends_with_1_one_message_and_nothing_written(
        self, make_corpus: MakeCorpus, tmp_path: Path
    ) -> None:
        problems = small_problems(8)
        problems["EN003"] = {"known01.txt": phrase(3)}
        problems["EN005"]["unknown.txt"] = ""
        corpus = make_corpus(problems)
        done = run("verify", corpus, "-o", tmp_path / "out", *FAST)
        assert done.returncode == 1
        assert done.stdout == ""
        assert "Traceback" not in done.stderr
        assert "EN003: no unknown text" in done.stderr
        assert "EN005/unknown.txt: empty" in done.stderr
        assert not (tmp_path / "out").exists()
        done = run("verify", corpus, "-o", tmp_path / "out", "--skip-bad", *FAST)
        assert done.returncode == 0
        text = (tmp_path / "out" / "answers.txt").read_text("utf-8")
        assert "EN003 0.500" in text
        assert "EN005 0.500" in text
        assert "EN003: no unknown text" in done.stdout

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--set", "hidden=-3"], "hidden must be"),
            (["--set", "hiden=3"], "did you mean hidden"),
            (["--settings", "gone.toml"], "gone.toml: can't be read"),
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
        corpus = make_corpus(small_problems(6, length=3000))
        command = [sys.executable, "-m", "byline", "verify", corpus, "-o", tmp_path / "out", "--members", "2"]
        process = subprocess.Popen(
            [*map(str, command), "--set", "sub_epochs=100000"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        time.sleep(6)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
        assert process.returncode == 130
        assert error.endswith("byline: interrupted; no member is done yet; the same command with --resume goes on\n")
        assert not (tmp_path / "out" / "answers.txt").exists()

    def test_ids_that_look_like_markup_or_hold_anything_are_shown_as_they_are(self, tmp_path: Path) -> None:
        ids = ["[/b]", "[red]a", "d:cat:", "\ud800", "a\nb", "7"]
        pairs = tmp_path / "pairs.jsonl"
        rows = [{"id": name, "pair": [phrase(n), phrase(n, salt=1)]} for n, name in enumerate(ids)]
        pairs.write_text("\n".join(map(json.dumps, rows)), "utf-8")
        done = run("verify", pairs, "-o", tmp_path / "out", *FAST)
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

    def test_answers_may_be_written_into_the_corpus(self, make_corpus: MakeCorpus) -> None:
        corpus = make_corpus(small_problems(6))
        assert run("verify", corpus, "-o", corpus / "out", *FAST).returncode == 0
        assert run("verify", corpus, "-o", corpus / "out2", *FAST).returncode == 0

    def test_results_of_the_other_kind_do_not_stay(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        out = tmp_path / "out"
        out.mkdir()
        (out / "answers.jsonl").write_text("", "utf-8")
        assert run("verify", make_corpus(small_problems(6)), "-o", out, "--overwrite", *FAST).returncode == 0
        assert sorted(path.name for path in out.iterdir()) == ["answers.txt", "run"]


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
        assert (unknown.returncode, "did you mean paper-greek" in unknown.stderr) == (1, True)

    def test_a_run_is_shown_and_runs_are_joined(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        truth = "".join(f"EN{n:03d} {'Y' if n % 2 else 'N'}\n" for n in range(1, 7))
        corpus = make_corpus(small_problems(6), truth=truth)
        for seed in (1, 2):
            words = ("--seed", seed, "--members", 2, "--no-models", *FAST)
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

    def test_progress_that_nobody_reads_costs_nothing(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        words = f"{sys.executable} -m byline verify {make_corpus(small_problems(6))} -o {tmp_path}/out {' '.join(FAST)}"
        done = subprocess.run(["bash", "-c", f"set -o pipefail; {words} 2>&1 >/dev/null | true"], check=False)
        assert done.returncode == 0
        assert (tmp_path / "out" / "answers.txt").exists()

    def test_old_answers_go_when_a_new_run_begins(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus, out = make_corpus(small_problems(6)), tmp_path / "out"
        assert run("verify", corpus, "-o", out, *FAST).returncode == 0
        assert run("verify", corpus, "-o", out, "--overwrite", "--set", "rate=1e30", *FAST).returncode == 1
        assert not (out / "answers.txt").exists()
        (out / "answers.txt").write_text("precious", "utf-8")
        (out / "run" / "plan.json").unlink()
        assert run("verify", corpus, "-o", out, "--resume", *FAST).returncode == 1
        assert (out / "answers.txt").read_text("utf-8") == "precious"

    def test_a_budget_is_spent_and_written_down(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus = make_corpus(small_problems(6))
        done = run("verify", corpus, "-o", tmp_path / "out", "--budget", "1s", *FAST)
        assert done.returncode == 0, done.stderr
        plan = json.loads((tmp_path / "out/run/plan.json").read_text("utf-8"))
        assert plan["budget"]["seconds"] == 1
        assert f"{len(plan['members'])} member" in done.stdout

    def test_progress_is_plain_lines_and_a_log_where_there_is_no_terminal(
        self, make_corpus: MakeCorpus, tmp_path: Path
    ) -> None:
        corpus = make_corpus(small_problems(6))
        words = ("--members", 2, "--log", tmp_path / "log.jsonl", *FAST)
        done = run("verify", corpus, "-o", tmp_path / "out", *words)
        assert done.stderr.splitlines()[0] == "2 members of default"
        assert len(re.findall(r"member \d of 2 done in [\d.]+ s, [\d.]+ bits a character", done.stderr)) == 2
        events = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text("utf-8").splitlines()]
        kinds = [event["event"] for event in events]
        assert kinds[0] == "planned"
        assert (kinds.count("sub-epoch"), kinds.count("member done")) == (6, 2)  # one is asked both ways, the other one
        assert all(event["bits"] > 0 for event in events if event["event"] == "sub-epoch")

    def test_on_a_terminal_there_are_bars(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        pty = pytest.importorskip("pty")
        main, other = pty.openpty()
        words = ["verify", make_corpus(small_problems(6)), "-o", tmp_path / "out", *FAST, "--set", "sub_epochs=400"]
        command = [sys.executable, "-m", "byline", *map(str, words)]
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=other, env={**os.environ, "TERM": "xterm", "COLUMNS": "120"}
        )
        os.close(other)
        seen = b""
        while True:
            try:
                part = os.read(main, 65536)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            seen += part
        os.close(main)
        assert process.wait(timeout=60) == 0
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode("utf-8", "replace"))
        assert "trainings done" in text
        assert re.search(r"member \d of 4 .*way \d/2, sub-epoch \d+/400, [\d.]+ bits, \d+k chars/s", text)

    @pytest.mark.parametrize(
        "words",
        [
            ["--members", "2", "--budget", "5s"],
            ["--preset", "rnn", "--settings", "x.toml"],
            ["--control-heads", "many"],
            ["--control-heads", "each"],
            ["--resume", "--overwrite"],
            ["--members", "0"],
        ],
    )
    def test_options_that_exclude_each_other_are_wrong_usage(self, words: list[str]) -> None:
        assert run("verify", "x", "-o", "y", *words).returncode == 2

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--preset", "nonsense"], "no preset is named 'nonsense'"),
            (["--preset", "gone.toml"], "gone.toml: can't be read"),
            (["--budget", "soon"], "'soon' is no time"),
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
        assert "go on with its run by --resume" in again.stderr
        joined = run("combine", tmp_path / "out", "-o", tmp_path / "joined")
        assert joined.returncode == 0
        resumed = run(*words[:3], tmp_path / "joined", "--members", 1, *FAST, "--resume")
        assert "by byline combine" in resumed.stderr

    def test_a_preset_that_wants_a_control_corpus_says_so(self, make_corpus: MakeCorpus, tmp_path: Path) -> None:
        corpus, pool = make_corpus(small_problems(6)), tmp_path / "pool.toml"
        pool.write_text("[shared]\nhidden = 4\nsub_epochs = 1\n[[member]]\ncontrol = 'one'\n", "utf-8")
        done = run("verify", corpus, "-o", tmp_path / "out", "--preset", pool)
        assert "meant to have a control corpus" in done.stdout

    def test_control_heads_and_the_setting_exclude_each_other(self, make_corpus: MakeCorpus, english: Path) -> None:
        words = ("--control", english, "--control-heads", "one", "--set", "control=each")
        done = run("verify", make_corpus(small_problems(6)), "--json", *words, *FAST)
        assert done.returncode == 2
        assert "not both" in done.stderr

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

    def test_a_missing_path_is_named(self, tmp_path: Path) -> None:
        done = run("prepare", tmp_path / "gone")
        assert done.returncode == 1
        assert "gone: not found" in done.stderr


def test_the_demo_shows_answers_beside_the_truth() -> None:
    done = run("demo", "--members", 1)
    assert done.stdout.startswith("Byline read 12 invented authors (english) and judged 12 texts.")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("same") >= 6
    assert "of 12 right" in done.stdout
    result = json.loads(run("demo", "greek", "--members", 1, "--json").stdout)
    assert len(result["truth"]) == len(result["answers"]) == 8
    assert run("demo", "klingon").returncode == 2


def test_output_that_nobody_reads_to_the_end_is_no_error(english: Path) -> None:
    command = f"{sys.executable} -m byline prepare {english} --json | head -1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
