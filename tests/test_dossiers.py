"""What reports show, as plain values, and the commands that write them."""

from __future__ import annotations

import base64
import gzip
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from byline.attribution.attributing import attribute
from byline.attribution.evidence import weigh_characters
from byline.attribution.file import write_author_model
from byline.attribution.model import train_authors
from byline.attribution.rolling import roll
from byline.attribution.writings import writings_of
from byline.builtin import builtin_problems
from byline.clustering import cluster_documents
from byline.documents import Document
from byline.dossiers.attribution import attribution_dossier, rolling_dossier
from byline.dossiers.clustering import clustering_dossier
from byline.dossiers.explanation import explain_problem
from byline.dossiers.verification import verification_dossier
from byline.errors import AnswersError, RunError
from byline.execution import Keep
from byline.figures.sources import read_run
from byline.pools import read_pool
from byline.problems import Problem, ProblemSet, read_problems
from byline.reference import build_reference
from byline.settings import Settings
from byline.verification import verify
from conftest import phrase

ABOUT = {"title": "t", "source": "s", "byline": "0", "made": "now", "provenance": {"command": "byline"}}


def start(*words: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "byline", *map(str, words)]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False, cwd=cwd)


def unpack(blob: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(blob)))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built-in problems answered by the quick members of the usual preset."""
    folder = tmp_path_factory.mktemp("run")
    with builtin_problems("english") as problems:
        verify(problems, read_pool("best").only(["ngram", "vectors"]), members=4, keep=Keep(folder / "run"))
    return folder


@pytest.fixture(scope="module")
def dossier(run: Path) -> dict[str, Any]:
    with builtin_problems("english") as problems:
        return verification_dossier(run, problems, "today")


class TestVerification:
    def test_it_is_plain_json(self, dossier: dict[str, Any]) -> None:
        assert json.loads(json.dumps(dossier, allow_nan=False)) == dossier

    def test_each_problem_has_its_answer_truth_members_and_texts(self, dossier: dict[str, Any]) -> None:
        assert [row["id"] for row in dossier["problems"]] == [f"EN{n:03d}" for n in range(1, 13)]
        with builtin_problems("english") as folder:
            problems = {problem.id: problem for problem in read_problems(folder).problems}
        for row in dossier["problems"]:
            assert row["verdict"] == (
                "undecided" if row["answer"] == 0.5 else "same" if row["answer"] > 0.5 else "another"
            )
            assert row["truth"] in (True, False)
            assert [member["member"] for member in row["members"]] == [1, 2, 3, 4]
            texts = unpack(row["blob"])
            problem = problems[row["id"]]
            assert [each["text"] for each in texts["documents"]] == [
                problem.unknown.text, *(document.text for document in problem.known)
            ]  # fmt: skip
            for document in texts["documents"]:
                assert [document["text"][begin:end] for begin, end, *_ in document["words"]] == document["text"].split()
            assert {each["member"] for each in texts["features"]} == {
                f"{name}, way {way} of asking" for name in ("vectors", "vectors (topic masked)") for way in (1, 2)
            }
            assert row["statement"].startswith("The evidence is ")
            assert re.search("times( or more)? as probable if", row["statement"])

    def test_words_speak_for_the_author_where_the_answer_does(self, dossier: dict[str, Any]) -> None:
        totals = {
            row["id"]: sum(word[2] for word in unpack(row["blob"])["documents"][0]["words"])
            for row in dossier["problems"]
        }
        same = [totals[row["id"]] for row in dossier["problems"] if row["truth"]]
        another = [totals[row["id"]] for row in dossier["problems"] if not row["truth"]]
        assert np.mean(same) > np.mean(another) + 100

    def test_truth_gives_measures_and_curves(self, dossier: dict[str, Any], run: Path) -> None:
        assert 0.9 < dossier["measures"]["auc"][0] <= 1
        assert dossier["roc"]["x"][0] == dossier["roc"]["y"][0] == 0
        assert len(dossier["tippett"]["llr"]) == len(dossier["tippett"]["same"])
        assert sum(each["count"] for each in dossier["calibration"]) == 12
        bare = verification_dossier(run)
        assert [bare[key] for key in ("measures", "roc", "tippett", "calibration")] == [None] * 4
        assert all(row["truth"] is None for row in bare["problems"])

    def test_the_heat_map_frames_what_is_asked(self, dossier: dict[str, Any]) -> None:
        heat = dossier["heatmap"]
        assert len(heat["values"]) == len(heat["rows"]) == 12
        assert len(heat["asked"]) == 12
        scores = {row["id"]: row["score"] for row in dossier["problems"]}
        for row, column in heat["asked"]:
            assert heat["values"][row][column] == pytest.approx(scores[heat["rows"][row]], abs=0.006)

    def test_provenance_names_hashes_and_a_command_that_runs(self, dossier: dict[str, Any], tmp_path: Path) -> None:
        provenance = dossier["provenance"]
        assert len(provenance["files"]) == 1 + 4 * 3 - 2  # a plan; matrix, evidence, and gains of the two that add up
        assert all(len(digest) == 64 for digest in provenance["files"].values())
        words = shlex.split(provenance["command"])
        assert words[:5] == ["byline", "verify", "PROBLEMS", "-o", "OUT"]
        with builtin_problems("english") as problems:
            words[2], words[4] = str(problems), str(tmp_path / "again")
            done = start(*words[1:])
        assert done.returncode == 0, done.stderr
        again = verification_dossier(tmp_path / "again")
        assert [row["score"] for row in again["problems"]] == [row["score"] for row in dossier["problems"]]

    def test_two_reports_of_a_run_are_the_same(self, run: Path, dossier: dict[str, Any]) -> None:
        with builtin_problems("english") as problems:
            assert verification_dossier(run, problems, "today") == dossier

    def test_truth_of_other_problems_is_refused(self, run: Path, tmp_path: Path) -> None:
        (tmp_path / "truth.txt").write_text("ZZ1 Y\nZZ2 N\n", "utf-8")
        with pytest.raises(AnswersError, match="does not know EN001 and 11 more"):
            verification_dossier(run, tmp_path / "truth.txt")

    def test_a_run_that_lacks_members_says_so(self, run: Path, tmp_path: Path) -> None:
        shutil.copytree(run, tmp_path / "part")
        shutil.rmtree(tmp_path / "part/run/members/0002")
        found = verification_dossier(tmp_path / "part")
        assert "Only 3 of 4 members are finished or undamaged" in found["warnings"][0]

    def test_damaged_evidence_is_refused_and_changes_no_answer(self, run: Path, tmp_path: Path) -> None:
        shutil.copytree(run, tmp_path / "part")
        with (tmp_path / "part/run/members/0003/evidence.safetensors").open("ab") as file:
            file.write(b"x")
        assert read_run(tmp_path / "part").answers == read_run(run).answers
        with pytest.raises(RunError, match="its evidence is damaged"):
            verification_dossier(tmp_path / "part")

    def test_beside_a_reference_problems_are_not_shown_against_each_other(self, tmp_path: Path) -> None:
        with builtin_problems("english") as folder:
            problems = read_problems(folder)
            others = build_reference([folder], language="english")
            few = ProblemSet(problems.problems[:3], "folders")
            verify(few, Settings(engine="ngram"), interpret="cohort", reference=others, keep=Keep(tmp_path / "run"))
        found = verification_dossier(tmp_path)
        assert found["heatmap"] is None
        assert all(row["cohort"] is None for row in found["problems"])
        assert found["decision"] is None
        assert "reference population" in " ".join(found["limits"])

    def test_a_run_without_evidence_says_what_to_do(self, tmp_path: Path) -> None:
        with builtin_problems("greek") as problems:
            verify(problems, Settings(engine="ngram"), keep=Keep(tmp_path / "run", evidence=False))
        with pytest.raises(
            RunError, match="texts can't be shown; run byline verify again, with --overwrite and without"
        ):
            verification_dossier(tmp_path)

    def test_a_hundred_problems_take_less_than_twenty_seconds(self, tmp_path: Path) -> None:
        problems = tuple(
            Problem(
                f"P{number:03d}",
                (Document("known01.txt", phrase(number, 4000, 0)),),
                Document("unknown.txt", phrase(number + number % 2, 4000, 1)),
                "english",
            )
            for number in range(100)
        )
        verify(ProblemSet(problems, "folders"), Settings(engine="ngram", order=4), keep=Keep(tmp_path / "run"))
        begin = time.process_time()
        found = verification_dossier(tmp_path)
        assert time.process_time() - begin < 20
        assert len(json.dumps(found)) < 5_000_000


class TestExplain:
    def test_the_strongest_passages_of_one_problem(self, run: Path) -> None:
        found = explain_problem(run, "EN005", 2)
        assert found.verdict == "the same author"
        assert [each.bits > 0 for each in found.passages][:2] == [True, True]
        assert sum(each.bits > 0 for each in found.passages) == 2
        assert sum(bits for _, bits in found.passages[0].words) > 0
        assert {each.member for each in found.features} == {"vectors", "vectors (topic masked)"}

    def test_a_problem_must_be_named_where_there_are_several(self, run: Path) -> None:
        with pytest.raises(RunError, match=r"which problem\? Name one of EN001, EN002, EN003, EN004, EN005, \.\.\."):
            explain_problem(run, None, 3)
        with pytest.raises(RunError, match="no problem XX there; Name one of EN001"):
            explain_problem(run, "XX", 3)

    def test_the_command(self, run: Path) -> None:
        done = start("explain", run, "EN005", "--passages", "2")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("EN005: the same author\n")
        assert "For the same author" in done.stdout
        assert "Evidence is never proof." in done.stdout
        wrong = start("explain", run, "nobody")
        assert (wrong.returncode, wrong.stdout) == (1, "")
        assert "no problem nobody there" in wrong.stderr


@pytest.fixture(scope="module")
def model() -> Any:
    documents = [
        Document(f"{name}/{salt}", phrase(author, 600, salt)) for author, name in enumerate("abcd") for salt in range(3)
    ]
    return train_authors(
        writings_of(documents, [document.name[0] for document in documents], "english"),
        (Settings(engine="ngram", order=4), Settings(engine="vectors"), Settings(hidden=5, sub_epochs=3)),
    )


class TestOthers:
    def test_what_speaks_for_an_author_is_found_in_the_part_that_is_his(self, model: Any) -> None:
        text = phrase(1, 1500, 7) + " \u2603 " + phrase(2, 1500, 7)
        (gains,) = weigh_characters(model, [Document("both", text)], ["b"])
        assert gains is not None
        assert gains.shape == (2, len(text))  # n-grams and a network
        half = len(text) // 2
        assert (gains[:, :half].mean(axis=1) > gains[:, half:].mean(axis=1) + 0.05).all()

    def test_members_that_do_not_add_up_tell_nothing(self, model: Any) -> None:
        from dataclasses import replace

        assert weigh_characters(
            replace(model, members=model.members[1:2]), [Document("x", phrase(0, 300, 9))], ["a"]
        ) == [None]

    def test_attributions(self, model: Any) -> None:
        documents = [Document(f"{n}", phrase(n, 500, 8)) for n in range(4)]
        found = attribution_dossier(model, documents, attribute(model, documents, 0.1), 0.1, ABOUT)
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert [row["author"] for row in found["documents"]] == list("abcd")
        assert "4 texts compared with 4 authors" in found["conclusion"]
        (document,) = unpack(found["documents"][0]["blob"])["documents"]
        assert sum(word[2] for word in document["words"]) > 0

    def test_rolling(self, model: Any) -> None:
        book = Document("book", phrase(0, 3000, 8) + phrase(3, 3000, 8))
        found = rolling_dossier(model, book, roll(model, book, 800, 400), ABOUT)
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert "1 change of hand." in found["conclusion"]
        assert [each["author"] for each in found["stretches"]] == ["a", "d"]
        assert found["text"] == book.text

    def test_clusters(self) -> None:
        documents = [
            Document(f"{author}-{salt}", phrase(author, 500, salt)) for author in range(5) for salt in range(4)
        ]
        clustering = cluster_documents(documents)
        found = clustering_dossier(clustering, ABOUT)
        assert json.loads(json.dumps(found, allow_nan=False)) == found
        assert sorted(found["tree"]["order"]) == list(range(20))
        assert [merge[3] for merge in found["tree"]["merges"]][-1] == 20
        assert len(found["labels"]) == len(found["names"]) == 20
        scores = [score for *_, score in found["links"]]
        assert scores == sorted(scores, reverse=True)


class TestCommands:
    def test_a_report_is_one_file(self, run: Path, tmp_path: Path) -> None:
        place = tmp_path / "report.html"
        done = start("report", run, "-o", place)
        assert (done.returncode, done.stderr) == (0, "")
        assert f"Wrote {place}" in done.stdout
        page = place.read_text("utf-8")
        assert page.startswith("<!doctype html>")
        assert "Byline report</title>" in page
        again = start("report", run, "-o", place)
        assert again.returncode == 1
        assert "exists already; choose another name, or give --overwrite" in again.stderr
        assert start("report", run, "-o", place, "--overwrite").returncode == 0

    @pytest.mark.parametrize("name", ["report.pdf", "report", "."])
    def test_what_can_be_no_report_is_refused_before_any_work(self, run: Path, tmp_path: Path, name: str) -> None:
        done = start("report", run, "-o", tmp_path / name)
        assert done.returncode == 1
        assert len(done.stderr.splitlines()) == 1

    def test_a_folder_that_is_no_run(self, tmp_path: Path) -> None:
        done = start("report", tmp_path, "-o", tmp_path / "r.html")
        assert done.returncode == 1
        assert "no run found; name a folder that byline verify -o wrote to" in done.stderr

    def test_the_demo_writes_its_report_and_says_where(self, tmp_path: Path) -> None:
        done = start("demo", "greek", "--members", "3", cwd=tmp_path)
        assert done.returncode == 0
        assert "Report: byline-demo.html" in done.stdout
        page = (tmp_path / "byline-demo.html").read_text("utf-8")
        assert "Byline report</title>" in page
        assert "byline demo greek --seed 0 --members 3" in page
        assert start("demo", "greek", "--members", "3", cwd=tmp_path).returncode == 0  # its own is replaced
        (tmp_path / "byline-demo.html").write_text("mine", "utf-8")
        refused = start("demo", "greek", "--members", "3", cwd=tmp_path)
        assert refused.returncode == 1
        assert (tmp_path / "byline-demo.html").read_text("utf-8") == "mine"
        quiet = start("demo", "greek", "--members", "1", "--json", cwd=tmp_path)
        assert json.loads(quiet.stdout)["truth"]

    def test_clusters_have_a_report(self, tmp_path: Path) -> None:
        texts = tmp_path / "texts"
        texts.mkdir()
        for author in range(4):
            for salt in range(3):
                (texts / f"{author}-{salt}.txt").write_text(phrase(author, 500, salt), "utf-8")
        done = start("cluster", texts, "--report", tmp_path / "r.html", "--engines", "vectors")
        assert (done.returncode, done.stderr) == (0, "")
        assert f"Report: {tmp_path / 'r.html'}" in done.stdout
        assert "Byline report</title>" in (tmp_path / "r.html").read_text("utf-8")

    def test_attributions_and_books_have_reports(self, model: Any, tmp_path: Path) -> None:
        write_author_model(tmp_path / "m.byline", model)
        (tmp_path / "x.txt").write_text(phrase(1, 1000, 9) + " <script>alert(1)</script>", "utf-8")
        done = start("attribute", tmp_path / "m.byline", tmp_path / "x.txt", "--report", tmp_path / "a.html")
        assert (done.returncode, done.stderr) == (0, "")
        assert f"Report: {tmp_path / 'a.html'}" in done.stdout
        words = ("rolling", tmp_path / "m.byline", tmp_path / "x.txt", "--window", "400", "--step", "200", "--report")
        assert start(*words, tmp_path / "r.html").returncode == 0
        for name in ("a.html", "r.html"):
            page = (tmp_path / name).read_text("utf-8")
            assert "Byline report</title>" in page
            assert "<script>alert" not in page
        again = start(*words, tmp_path / "r.html")
        assert again.returncode == 1
        assert "exists already" in again.stderr
        assert start(*words, tmp_path / "r.html", "--overwrite").returncode == 0
