"""What reports show, as plain values, and the commands that write them."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import time
from dataclasses import asdict, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from byline.cli import app
from byline.corpora.answers import Answer
from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet, builtin_problems, read_problems
from byline.errors import AnswersError, RunError
from byline.judgment.calibration import LINEAR_SHARE
from byline.judgment.metrics import cllr
from byline.report.verification import verification_report
from byline.report.wording import (
    LEANINGS,
    RESERVE,
    VERDICTS,
    count_verdicts,
    explain_problem,
    problem_values,
    verdict_words,
)
from byline.runs.folder import RunOutput, read_plan, read_problem_file, write_plan
from byline.runs.member_files import Record, read_record
from byline.runs.run import Run, examine_run
from byline.settings.settings import Settings, read_pool
from byline.storage.files import read_checked_json
from byline.tasks.evaluate import evaluate_answers
from byline.tasks.verify import verify
from programs import run as start
from report_samples import unpack
from samples import phrase


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built-in problems answered by the quick members of the usual preset."""
    folder = tmp_path_factory.mktemp("run")
    with builtin_problems("english") as problems:
        verify(problems, read_pool("best").only(["ngram", "vectors"]), members=4, output=RunOutput(folder / "run"))
    return folder


@pytest.fixture(scope="module")
def report_data(run: Path) -> dict[str, Any]:
    with builtin_problems("english") as problems:
        return verification_report(run, problems, "today")


class TestVerification:
    def test_it_is_plain_json(self, report_data: dict[str, Any]) -> None:
        assert json.loads(json.dumps(report_data, allow_nan=False)) == report_data

    def test_each_problem_has_its_answer_truth_members_and_texts(self, run: Path, report_data: dict[str, Any]) -> None:
        calibration = read_plan(run / "run").judgment.calibration
        assert calibration is not None
        caps = calibration.caps
        assert [row["id"] for row in report_data["problems"]] == [f"EN{n:03d}" for n in range(1, 13)]
        with builtin_problems("english") as folder:
            problems = {problem.id: problem for problem in read_problems(folder).problems}
        for row in report_data["problems"]:
            assert row["verdict"] == (
                "undecided" if row["answer"] == 0.5 else "same" if row["answer"] > 0.5 else "another"
            )
            assert row["truth"] in (True, False)
            assert [member["member"] for member in row["members"]] == [1, 2, 3, 4]
            texts = unpack(row["packed"])
            problem = problems[row["id"]]
            assert [each["text"] for each in texts["documents"]] == [
                problem.unknown.text, *(document.text for document in problem.known)
            ]  # fmt: skip
            for document in texts["documents"]:
                assert [document["text"][begin:end] for begin, end, *_ in document["words"]] == document["text"].split()
            assert {each["member"] for each in texts["features"]} == {
                f"{name}, way 1 of asking" for name in ("vectors", "vectors (topic masked)")
            }
            assert row["statement"].startswith("The evidence is ")
            assert re.search(r"The findings are [\d.,]+ times more likely if ", row["statement"])
            compressed = abs(row["llr"]) > LINEAR_SHARE * (caps.same if row["llr"] > 0 else caps.different)
            assert ("do not support one above" in row["statement"]) == compressed
            low, high = f"{row['low']:+.2f}", f"{row['high']:+.2f}"
            ends = f"it varies from {low} to {high}." if low != high else "It is the same without"
            assert ends in row["statement"] or row["high"] - row["low"] < 0.01  # rounded once in the statement

    def test_words_speak_for_the_author_where_the_answer_does(self, report_data: dict[str, Any]) -> None:
        totals = {
            row["id"]: sum(word[2] for word in unpack(row["packed"])["documents"][0]["words"])
            for row in report_data["problems"]
        }
        same = [totals[row["id"]] for row in report_data["problems"] if row["truth"]]
        another = [totals[row["id"]] for row in report_data["problems"] if not row["truth"]]
        assert np.mean(same) > np.mean(another) + 100

    def test_truth_gives_measures_and_curves(self, report_data: dict[str, Any], run: Path) -> None:
        assert 0.9 < report_data["measures"]["auc"][0] <= 1
        assert report_data["roc"]["x"][0] == report_data["roc"]["y"][0] == 0
        assert len(report_data["tippett"]["llr"]) == len(report_data["tippett"]["same"])
        assert sum(each["count"] for each in report_data["calibration"]) == 12
        bare = verification_report(run)
        assert [bare[key] for key in ("measures", "measured", "roc", "tippett", "calibration")] == [None] * 5
        assert all(row["truth"] is None for row in bare["problems"])

    def test_measures_have_the_intervals_of_byline_evaluate(self, report_data: dict[str, Any], tmp_path: Path) -> None:
        answers = tmp_path / "answers.txt"
        answers.write_text("".join(f"{row['id']} {row['answer']}\n" for row in report_data["problems"]), "utf-8")
        with builtin_problems("english") as problems:
            evaluated = evaluate_answers(answers, problems)
        assert evaluated.by_text
        for name, key in (("auc", "auc"), ("c@1", "c_at_1"), ("product", "product")):
            wanted = getattr(evaluated.measures, key), *asdict(evaluated.intervals[key]).values()
            assert report_data["measures"][name] == pytest.approx(wanted, abs=1e-4)
        value, low, high = report_data["measures"]["cllr"]
        assert low < value < high
        assert value == pytest.approx(
            cllr(
                [row["truth"] for row in report_data["problems"]],
                np.array([row["llr"] for row in report_data["problems"]]) * np.log(10),
            ),
            abs=1e-3,
        )
        assert report_data["measured"] == {"problems": 12, "left_out": 0}

    def test_the_heat_map_frames_what_is_asked(self, report_data: dict[str, Any]) -> None:
        (heat,) = report_data["heatmaps"]
        assert len(heat["values"]) == len(heat["rows"]) == 12
        assert len(heat["asked"]) == 12
        scores = {row["id"]: row["score"] for row in report_data["problems"]}
        for row, column in heat["asked"]:
            assert heat["values"][row][column] == pytest.approx(scores[heat["rows"][row]], abs=0.006)

    def test_each_problem_stands_among_the_others_by_the_score_of_its_answer(self, report_data: dict[str, Any]) -> None:
        for row in report_data["problems"]:
            cohort = row["cohort"]
            assert cohort["own"] == row["score"]
            assert cohort["used"]
            assert cohort["count"] == sum(cohort["bars"]) == 22  # 11 other heads, 11 other texts

    def test_provenance_has_the_hash_of_each_text(self, report_data: dict[str, Any]) -> None:
        texts = report_data["provenance"]["texts"]
        with builtin_problems("english") as folder:
            for problem in read_problems(folder).problems:
                files = [folder / problem.id / name for name in ("unknown.txt", "known01.txt", "known02.txt")]
                assert [digest for _, digest in texts[problem.id]] == [
                    hashlib.sha256(file.read_bytes()).hexdigest() for file in files
                ]

    def test_provenance_names_hashes_and_a_command_that_runs(self, report_data: dict[str, Any], tmp_path: Path) -> None:
        provenance = report_data["provenance"]
        assert len(provenance["files"]) == 1 + 4 * 3 - 2  # a plan; matrix, evidence, and gains of the two that add up
        assert all(len(digest) == 64 for digest in provenance["files"].values())
        words = shlex.split(provenance["command"])
        assert words[:5] == ["byline", "verify", "PROBLEMS", "-o", "OUT"]
        with builtin_problems("english") as problems:
            words[2], words[4] = str(problems), str(tmp_path / "again")
            done = start(*words[1:])
        assert done.returncode == 0, done.stderr
        again = verification_report(tmp_path / "again")
        assert [row["score"] for row in again["problems"]] == [row["score"] for row in report_data["problems"]]

    def test_an_opened_run_gives_the_same_report_and_its_members_are_read_once(
        self, run: Path, report_data: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read: list[Path] = []

        def count(path: Path, *words: Any) -> Record:
            read.append(path)
            return read_record(path, *words)

        monkeypatch.setattr("byline.runs.folder.read_record", count)
        opened = Run.open(run)
        with builtin_problems("english") as problems:
            assert verification_report(opened, problems, "today") == report_data
        assert explain_problem(opened, "EN001", 1).id == "EN001"
        assert len(examine_run(opened).members) == len(read) == 4

    def test_truth_of_other_problems_is_refused(self, run: Path, tmp_path: Path) -> None:
        (tmp_path / "truth.txt").write_text("ZZ1 Y\nZZ2 N\n", "utf-8")
        with pytest.raises(AnswersError, match="EN001 and 11 more") as raised:
            verification_report(run, tmp_path / "truth.txt")
        assert raised.value.where == str(tmp_path / "truth.txt")

    def test_a_run_that_lacks_members_says_so(self, run: Path, tmp_path: Path) -> None:
        shutil.copytree(run, tmp_path / "part")
        shutil.rmtree(tmp_path / "part/run/members/0002")
        found = verification_report(tmp_path / "part")
        assert "Only 3 of 4 members are finished or undamaged" in found["warnings"][0]

    def test_damaged_evidence_is_refused_and_changes_no_answer(self, run: Path, tmp_path: Path) -> None:
        shutil.copytree(run, tmp_path / "part")
        with (tmp_path / "part/run/members/0003/evidence.npy").open("ab") as file:
            file.write(b"x")
        assert Run.open(tmp_path / "part").answers == Run.open(run).answers
        with pytest.raises(RunError, match="damaged"):
            verification_report(tmp_path / "part")

    def test_a_run_without_evidence_says_what_to_do(self, tmp_path: Path) -> None:
        with builtin_problems("greek") as problems:
            verify(problems, Settings(engine="ngram"), output=RunOutput(tmp_path / "run", evidence=False))
        with pytest.raises(RunError, match="problems"):
            verification_report(tmp_path)

    def test_a_hundred_problems_take_less_than_ten_seconds(self, tmp_path: Path) -> None:
        problems = tuple(
            Problem(
                f"P{number:03d}",
                (Document("known01.txt", phrase(number, 2000, 0)),),
                Document("unknown.txt", phrase(number + number % 2, 2000, 1)),
                "english",
            )
            for number in range(100)
        )
        verify(ProblemSet(problems, "folders"), Settings(engine="ngram", order=4), output=RunOutput(tmp_path / "run"))
        begin = time.process_time()
        found = verification_report(tmp_path)
        assert time.process_time() - begin < 10
        assert len(json.dumps(found)) < 2_500_000


def question(output: str) -> list[str]:
    asked = ["--known", "known01.txt", "known02.txt", "--unknown", "unknown.txt", "--reference", "ref"]
    return ["verify", *asked, "--engines", "characters", "--members", "2", "-o", output]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One question beside a reference, asked by the command."""
    home = tmp_path_factory.mktemp("one")
    with builtin_problems("english") as corpus:
        for number in range(2, 13):
            (home / f"ref/a{number}").mkdir(parents=True)
            for name in ("known01", "known02"):
                shutil.copy(corpus / f"EN{number:03d}" / f"{name}.txt", home / f"ref/a{number}/{name}.txt")
        for name in ("known01", "known02", "unknown"):
            shutil.copy(corpus / f"EN001/{name}.txt", home / f"{name}.txt")
    done = start(*question("one"), cwd=home)
    assert done.returncode == 0, done.stderr
    return home


class TestOneQuestion:
    def test_the_command_is_printed_as_it_was_given_and_gives_the_same_answers(self, home: Path) -> None:
        report_data = verification_report(home / "one")
        assert report_data["provenance"]["command"].startswith("byline verify --known known01.txt --known known02.txt")
        assert not report_data["provenance"]["template"]
        words = shlex.split(report_data["provenance"]["command"])[1:]
        assert start(*words[:-1], "again", cwd=home).returncode == 0
        assert (home / "again/answers.txt").read_bytes() == (home / "one/answers.txt").read_bytes()
        again = verification_report(home / "again")
        assert [row["score"] for row in again["problems"]] == [row["score"] for row in report_data["problems"]]

    def test_a_run_goes_on_whatever_the_command_was(self, home: Path) -> None:
        shutil.copytree(home / "one", home / "other")
        done = start(*question("other"), "--resume", "--quiet", cwd=home)
        assert done.returncode == 0, done.stderr
        assert verification_report(home / "other")["provenance"]["command"].endswith("-o one")

    def test_without_a_command_there_is_a_template_of_a_question(self, home: Path) -> None:
        plan = read_plan(home / "one/run")
        shutil.copytree(home / "one", home / "bare")
        write_plan(home / "bare/run", replace(plan, command=None))
        assert "command" not in read_checked_json(home / "bare/run/plan.json")
        found = verification_report(home / "bare")["provenance"]
        assert found["template"]
        assert found["command"].startswith("byline verify --known KNOWN --unknown UNKNOWN -o OUT --preset ")
        assert found["command"].endswith("--reference REFERENCE")

    def test_the_report_is_called_by_the_unknown_text_and_counts_its_warnings(self, home: Path) -> None:
        report_data = verification_report(home / "one")
        assert report_data["title"] == "unknown.txt"
        count = len(report_data["warnings"])
        assert count
        assert re.search(rf" {count} warnings?\.$", report_data["conclusion"])

    def test_it_is_compared_with_the_reference_where_nothing_is_calibrated(self, home: Path) -> None:
        plan = read_plan(home / "one/run")
        problem = next(iter(read_problem_file(home / "one/run", plan).values()))
        for interpretation, others in (("cohort", "the reference"), ("relative", "the other problems")):
            judgment = replace(plan.judgment, calibration=None, interpretation=interpretation)
            values = problem_values(Answer("x", 0.2, -1.0), problem, None, judgment, ())
            assert values["statement"].startswith(f"Compared with {others} it leans towards another author.")


class TestWords:
    ANSWERS = (
        Answer("a", 0.9, 1.0, 1.5, None, 0.9),
        Answer("b", 0.34, -1.0, -0.29, None, 0.34),
        Answer("c", 0.33, -1.0, -0.299, None, 0.33),
        Answer("d", 0.1, -2.0, -1.0, None, 0.1),
        Answer("e", 0.5, 0.0, 0.1, None, 0.55),
        Answer("f", 0.2, -1.0),
        Answer("g", 0.5),
    )

    def test_what_nothing_supports_leans_and_is_counted_apart(self) -> None:
        assert [verdict_words(answer) for answer in self.ANSWERS] == [
            "same author", "leans to another author", "leans to another author", "another author", "undecided",
            "another author", "skipped",
        ]  # fmt: skip
        assert count_verdicts(self.ANSWERS) == (
            "1 same author, 2 another author, 2 lean to another author, 1 undecided, 1 skipped"
        )
        assert count_verdicts([Answer("a", 0.6, 1.0, 0.2)]) == "1 leans to the same author"

    def test_the_terminal_and_the_page_have_the_same_words(self) -> None:
        script = (files("byline.report") / "assets/graphs.js").read_text(encoding="utf-8")
        for words in (*VERDICTS.values(), *LEANINGS.values()):
            assert f'"{words}"' in script

    def test_the_terminal_says_what_the_range_is_of_and_what_is_not_in_it(self, run: Path) -> None:
        with builtin_problems("english") as problems:
            done = start("verify", problems, "-o", run / "again", "--engines", "ngram,vectors", "--members", "4", "-q")
        assert "95 of 100" not in done.stdout
        said = " ".join(done.stdout.split())
        assert "over members" in said
        assert RESERVE in said
        assert "ten times more likely if the author of the known texts wrote the unknown one than if" in said
        (total,) = [line for line in done.stdout.splitlines() if re.match(r"\d+ same author, ", line)]
        report_data = verification_report(run / "again")
        assert report_data["conclusion"] == f"12 problems: {total}."
        name = report_data["problems"][0]["id"]
        assert RESERVE in " ".join(start("explain", run / "again", name).stdout.split())


class TestExplain:
    def test_passages_are_those_of_the_report_the_strongest_first(self, run: Path, report_data: dict[str, Any]) -> None:
        for row in report_data["problems"]:
            shown = [
                (each.begin, each.end, round(each.bits, 2)) for each in explain_problem(run, row["id"], 5).passages
            ]
            texts = unpack(row["packed"])
            assert shown == [(each["begin"], each["end"], each["bits"]) for each in texts["passages"]]
            few = explain_problem(run, row["id"], 2).passages
            assert [(each.begin, each.end) for each in few if each.bits < 0] == [
                (begin, end) for begin, end, bits in shown if bits < 0
            ][:2]
            for document in texts["documents"]:
                assert document["bits"] == pytest.approx(
                    sum(word[2] for word in document["words"]), abs=0.005 * len(document["words"])
                )

    def test_words_have_colors_on_a_terminal_or_where_they_are_forced_only(self, run: Path) -> None:
        plain = start("explain", run, "EN005")
        assert "\x1b" not in plain.stdout
        bare = {"NO_COLOR": None, "FORCE_COLOR": None, "COLUMNS": "100"}
        for more, colored in (({}, False), ({"FORCE_COLOR": "1", "TERM": "xterm-256color"}, True)):
            done = CliRunner().invoke(app, ["explain", str(run), "EN005"], env={**bare, **more}, color=True)
            assert done.exit_code == 0, done.stderr
            assert ("\x1b[" in done.stdout) == colored
            assert re.sub(r"\x1b\[[\d;]*m", "", done.stdout) == plain.stdout
        assert re.search(r"\x1b\[(1;)?34m", done.stdout)  # blue
        assert re.search(r"\x1b\[(1;)?4;38;5;208m", done.stdout)  # orange and underlined

    def test_the_strongest_passages_of_one_problem(self, run: Path) -> None:
        found = explain_problem(run, "EN005", 2)
        assert found.verdict == "the same author"
        assert [each.bits > 0 for each in found.passages][:2] == [True, True]
        assert sum(each.bits > 0 for each in found.passages) == 2
        assert sum(bits for _, bits in found.passages[0].words) > 0
        assert {each.member for each in found.features} == {"vectors", "vectors (topic masked)"}

    def test_a_problem_must_be_named_where_there_are_several(self, run: Path) -> None:
        for name in (None, "XX"):
            with pytest.raises(RunError) as raised:
                explain_problem(run, name, 3)
            assert raised.value.remedy == "Name one of EN001, EN002, EN003, EN004, EN005, ..."

    def test_the_command(self, run: Path) -> None:
        done = start("explain", run, "EN005", "--passages", "2")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("EN005: same author\n")
        assert "For the same author" in done.stdout
        assert "Evidence is never proof." in done.stdout
        wrong = start("explain", run, "nobody")
        assert (wrong.returncode, wrong.stdout) == (1, "")
        assert "no problem nobody" in wrong.stderr


class TestCommands:
    def test_a_report_is_one_file(self, tmp_path: Path) -> None:
        with builtin_problems("greek") as problems:
            verify(problems, Settings(engine="ngram"), output=RunOutput(tmp_path / "run"))
        run = tmp_path / "run"
        place = tmp_path / "report.html"
        done = start("report", run, "-o", place)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"Wrote {place}" in done.stdout
        page = place.read_text("utf-8")
        assert page.startswith("<!doctype html>")
        assert "Byline report</title>" in page
        again = start("report", run, "-o", place)
        assert again.returncode == 1
        assert "--overwrite" in again.stderr
        assert start("report", run, "-o", place, "--overwrite").returncode == 0

    @pytest.mark.parametrize("name", ["report.pdf", "report", "."])
    def test_what_can_be_no_report_is_refused_before_any_work(self, run: Path, tmp_path: Path, name: str) -> None:
        done = start("report", run, "-o", tmp_path / name)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1

    def test_a_folder_that_is_no_run(self, tmp_path: Path) -> None:
        done = start("report", tmp_path, "-o", tmp_path / "r.html")
        assert done.returncode == 1
        assert "no run found" in done.stderr

    def test_the_demo_writes_its_report_and_says_where(self, tmp_path: Path) -> None:
        done = start("demo", "greek", "--members", "1", cwd=tmp_path)
        assert done.returncode == 0
        assert "Report: byline-demo.html" in done.stdout
        page = (tmp_path / "byline-demo.html").read_text("utf-8")
        assert "Byline report</title>" in page
        assert "byline demo greek --seed 0 --members 1" in page
        assert start("demo", "greek", "--members", "1", cwd=tmp_path).returncode == 0  # its own is replaced
        (tmp_path / "byline-demo.html").write_text("mine", "utf-8")
        refused = start("demo", "greek", "--members", "1", cwd=tmp_path)
        assert refused.returncode == 1
        assert (tmp_path / "byline-demo.html").read_text("utf-8") == "mine"
        quiet = start("demo", "greek", "--members", "1", "--json", cwd=tmp_path)
        assert json.loads(quiet.stdout)["truth"]
