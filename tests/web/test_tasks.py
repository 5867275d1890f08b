"""The work itself, asked of the page over HTTP: real jobs about small texts, without a network."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer.main

import byline.web.tasks
from byline.author_models.model import train_authors
from byline.author_models.model_file import write_author_model
from byline.cli import app
from byline.corpora.author_corpus import make_author_corpus
from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.corpora.reference import write_reference
from byline.errors import OVERWRITE, RESUME, CorpusError
from byline.judgment.checks.reference_suitability import check_reference
from byline.settings.settings import Settings
from byline.storage.files import checked_json
from byline.web.file_names import PAIRS, TABLES, find_corpus, find_texts
from byline.web.home import Home
from byline.web.job_options import Options
from byline.web.messages import page_message
from byline.web.references import (
    References,
    example_author_corpus,
    example_question,
    read_builtin_reference,
    unnamed,
)
from byline.web.tasks import FORMS, JobContext, answer, command, draw
from paths import TESTS
from samples import habits, small_problems
from web_pages import Served, files_below, python_path, serving, until, zipped

ALONE = """
import sys
sys.modules["matplotlib"] = None  # figures take longer than all else here

def refuse(event, given):
    address = given[1] if event in ("socket.connect", "socket.sendto") else given
    if event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        if isinstance(address, tuple) and address[0] not in (None, "127.0.0.1", "localhost"):
            with open({log!r}, "a") as file:
                print(address, file=file)
            raise OSError(f"no network: {{address}}")

sys.addaudithook(refuse)
"""
"""Python starts with this: only this machine can be reached, and other attempts are written down."""
PEOPLE = {f"others/Person {n}/{k}.txt": habits(f"person {n}", 700, k) for n in range(12) for k in range(1)}
TITLE = "Whose? <b>&amp;</b> 'quoted' \"twice\" $(touch x) \u05d0"
QUOTED = " the very words that both of them have copied from one and the same book which everybody reads in school "


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], Path]:
    """An environment without a network, and where attempts are written down."""
    folder = tmp_path_factory.mktemp("alone")
    log = folder / "attempts.txt"
    (folder / "sitecustomize.py").write_text(ALONE.format(log=str(log)))
    return {"PYTHONPATH": python_path(folder, TESTS / "support")}, log


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory, alone: tuple[dict[str, str], Path]) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("tasks") / "home", env=alone[0]) as served:
        yield served


def begin(page: Served, task: str, files: Mapping[str, str | bytes], **options: Any) -> str:
    asked = {"task": task, "draft": page.fill(files), "options": options}
    return str(page.post("api/jobs", asked)["id"])


@pytest.fixture(scope="module")
def jobs(page: Served) -> dict[str, str]:
    """All of them at once; they are done one after another."""
    greek = "Ἐν ἀρχῇ ἦν ὁ λόγος καὶ ὁ λόγος ἦν πρὸς τὸν θεόν. " * 20
    question = {
        "known/first.txt": habits("anna", 900, 1) + QUOTED,
        "known/señor.txt": ("ñandú mañana señor él así qué día. " + habits("anna", 900, 2)).encode("cp1252"),
        "unknown/a.txt": QUOTED + habits("anna", 900, 3),
        "unknown/b.txt": habits("boris", 900, 4),
        "reference/others.zip": zipped(PEOPLE),
    }
    problems = small_problems(6)
    corpus = {f"pan/{name}/{file}": text for name, files in problems.items() for file, text in files.items()}
    corpus["pan/truth.txt"] = "".join(f"{name} {'Y' if n % 2 else 'N'}\n" for n, name in enumerate(problems, start=1))
    authors = {f"{author}_{n}.txt": habits(author, 700, n) for author in ("Ann", "Bob", "Eve") for n in range(3)}
    return {
        "question": begin(
            page, "question", question, title=TITLE, mask_shared=True, keep_files=True,
            uploaded=True, save_as="people",
        ),
        "corpus": begin(page, "corpus", {"corpus/pan.zip": zipped(corpus)}, language="english"),
        "attribution": begin(
            page, "attribution",
            {"candidates/all.zip": zipped(authors), "unknown/x.txt": habits("Bob", 700, 9),
             "unknown/=cmd.txt": habits("Zoe", 700, 9)},
            none=0.3,
        ),
        "clustering": begin(
            page, "clustering", {f"texts/{n}.txt": habits(n % 2, 600, n) for n in range(4)}, keep=False
        ),
        "wrong language": begin(
            page, "question", {"known/a.txt": greek, "unknown/b.txt": greek[100:]},
            reference="built-in english",
        ),
    }  # fmt: skip


def done(page: Served, name: str) -> dict[str, Any]:
    job = dict(until(lambda: (found := page.job(name))["state"] not in ("queued", "running") and found, 120))
    assert job["state"] == "done", job["error"]
    return job


def report_of(page: Served, job: dict[str, Any]) -> dict[str, Any]:
    """What a report holds."""
    page_text = page.client.get(job["result"]["report"]).text
    begin = page_text.index('type="application/json"')
    content = page_text[page_text.index(">", begin) + 1 : page_text.index("</script>", begin)]
    return dict(json.loads(content))


def test_a_question_about_two_texts_beside_people_who_were_dropped(page: Served, jobs: dict[str, str]) -> None:
    job = done(page, jobs["question"])
    result = job["result"]
    assert job["title"] == TITLE
    assert result["kind"] == "verification"
    assert [row["id"] for row in result["problems"]] == ["001 a.txt", "002 b.txt"]
    assert [row["unknown"] for row in result["problems"]] == ["a.txt", "b.txt"]
    assert result["problems"][0]["known"] == ["first.txt", "señor.txt"]
    assert all(0 <= row["answer"] <= 1 and row["statement"] for row in result["problems"])
    assert result["total"] == 2
    assert any("reference" in warning for warning in result["warnings"])  # twelve people are few
    assert any("stands for a passage" in warning for warning in result["problems"][0]["warnings"])
    assert [note for note in job["notes"] if note.startswith("señor.txt: read as Windows-1252, a guess")]
    assert "--" not in str([*job["notes"], result["warnings"], [row["warnings"] for row in result["problems"]]])
    assert [each["name"] for each in result["downloads"]] == ["report.html", "answers.jsonl", "all.zip"]
    said = page.client.get(result["downloads"][1]["href"]).text
    assert [json.loads(line)["id"] for line in said.splitlines()] == ["001 a.txt", "002 b.txt"]
    assert not (page.home / "jobs" / job["id"] / "run").exists()


def test_the_people_are_kept_under_their_name_and_can_be_used_and_deleted(page: Served, jobs: dict[str, str]) -> None:
    done(page, jobs["question"])
    kept = page.get("api/state")["references"][-1]
    assert kept == {"name": "people", "language": "latin", "texts": 12, "authors": 12, "builtin": False, "error": None,
                    "characters": sum(map(len, PEOPLE.values()))}  # fmt: skip
    draft = page.fill({"reference/a.txt": "words", "known/a.txt": "words", "unknown/b.txt": "words"})
    asked = {"task": "question", "draft": draft, "options": {"uploaded": True, "save_as": "people"}}
    assert "already" in page.post("api/jobs", asked, 409)["error"]
    assert page.client.delete("api/references/people").status_code == 204
    assert files_below(page.home / "references") == []


def test_a_corpus_in_a_folder_in_a_zip_is_answered_and_measured_by_the_truth_beside_it(
    page: Served, jobs: dict[str, str]
) -> None:
    job = done(page, jobs["corpus"])
    result = job["result"]
    assert result["total"] == 6
    assert [row["truth"] for row in result["problems"]] == [True, False] * 3
    assert "AUC" in str(result["measures"]) or "auc" in str(result["measures"])
    answers = page.client.get(result["downloads"][1]["href"]).text
    assert answers.startswith("EN001 ")
    with zipfile.ZipFile(io.BytesIO(page.client.get(result["downloads"][-1]["href"]).content)) as everything:
        assert sorted(everything.namelist()) == ["answers.txt", "report.html"]
    assert files_below(page.home / "jobs" / job["id"] / "texts") == []


def test_texts_are_attributed_to_authors_who_are_named_in_their_files_names(page: Served, jobs: dict[str, str]) -> None:
    job = done(page, jobs["attribution"])
    result = job["result"]
    rows = {row["name"]: row for row in result["documents"]}
    assert rows.keys() == {"x.txt", "=cmd.txt"}
    assert rows["x.txt"]["author"] == "Bob"
    assert {author for author, _ in rows["x.txt"]["ranking"]} == {"Ann", "Bob", "Eve"}
    files = {each["name"]: each["href"] for each in result["downloads"]}
    assert list(files) == ["report.html", "attributions.csv", "authors.byline", "all.zip"]
    table = list(csv.DictReader(io.StringIO(page.client.get(files["attributions.csv"]).text)))
    assert len(table) == 2 * 4  # none of these, and three authors
    assert report_of(page, job)["prior_none"] == 0.3


def test_texts_are_clustered_and_the_result_goes_when_it_is_not_to_be_kept(page: Served, jobs: dict[str, str]) -> None:
    job = done(page, jobs["clustering"])
    assert sorted(name for cluster in job["result"]["clusters"] for name in cluster) == [f"{n}.txt" for n in range(4)]
    assert not job["kept"]
    assert "clustering.json" in [each["name"] for each in job["result"]["downloads"]]
    assert report_of(page, job)["title"] == "4 texts"


def test_what_can_t_be_done_says_why_in_the_words_of_the_page(page: Served, jobs: dict[str, str]) -> None:
    failed = page.wait_for(jobs["wrong language"])
    assert failed["state"] == "failed"
    assert "is of another language or script" in failed["error"]
    assert str(page.home) not in failed["error"]
    assert "\n" not in failed["error"]


def test_a_disk_that_fills_up_fails_the_job_with_the_reason(page: Served, jobs: dict[str, str]) -> None:
    page.wait_for(jobs["wrong language"])  # the last one
    with page.full_disk(9_000):
        job = begin(page, "clustering", {f"texts/{n}.txt": habits(n, 500) for n in range(3)})
        failed = page.wait_for(job)
    assert failed["state"] == "failed"
    assert "File too large" in failed["error"]
    assert [path.name for path in files_below(page.home / "jobs" / job)] == ["job.json"]


def test_as_many_people_are_counted_as_surely_are_different(tmp_path: Path) -> None:
    """As results count them: the known and the unknown author of a problem may be one."""
    home = Home(tmp_path / "home")
    english = read_builtin_reference("english")
    write_reference(english, home.references / "kept")
    told = {each["name"]: each for each in References(home).all()}
    known, asked = example_question()
    found = check_reference(english, [Problem("question", tuple(known), asked, "english")])
    assert found.authors == told["built-in english"]["authors"] == told["kept"]["authors"] == 12


def test_remedies_name_what_the_page_offers() -> None:
    for remedy in (OVERWRITE, RESUME, "Name it with {language}", "Give {reference}", "Set {other_option}"):
        said = page_message(CorpusError("wrong", where="a.txt", remedy=remedy))
        assert said.startswith("a.txt: wrong. ")
        assert not re.search(r"--|[={_]", said)


def test_none_of_all_that_asked_anything_of_the_network(
    page: Served, jobs: dict[str, str], alone: tuple[dict[str, str], Path]
) -> None:
    for name in jobs.values():
        page.wait_for(name)
    environment, log = alone
    assert not log.exists()
    trial = "import socket\nsocket.create_connection(('192.0.2.1', 80), 1)"
    tried = subprocess.run([sys.executable, "-c", trial], env=environment, capture_output=True, text=True, check=False)
    assert "no network" in tried.stderr
    assert "192.0.2.1" in log.read_text()


# Without a server


def work_of(tmp_path: Path, task: str, **options: Any) -> JobContext:
    """A job's work, with one file of each role."""
    home, name = Home(tmp_path), "0" * 18
    job = {"id": name, "task": task, "title": "t", "example": None, "options": vars(Options(**options))}
    folder = home.jobs / name
    for role in ("known", "unknown"):
        (folder / "texts" / role).mkdir(parents=True)
        (folder / "texts" / role / f"-my {role}.txt").write_text("words")
    (folder / "job.json").write_bytes(checked_json(job))
    return JobContext(home, name, lambda **values: None)


@pytest.mark.parametrize(
    ("task", "options"),
    [("question", {"reference": "a", "mask_shared": True, "language": "dutch"}), ("corpus", {}),
     ("corpus", {"budget": 300, "mask_shared": True}), ("corpus", {"uploaded": True, "language": "greek"}),
     ("attribution", {"none": 0.25, "language": "dutch"}), ("clustering", {"language": "dutch"})],
)  # fmt: skip
def test_the_command_in_a_report_is_one_that_byline_takes(tmp_path: Path, task: str, options: dict[str, Any]) -> None:
    words = command(work_of(tmp_path, task, **options))
    group: Any = typer.main.get_command(app)
    parsed = group.get_command(None, words[1]).make_context(words[1], words[2:])
    assert words[0] == "byline"
    assert parsed.params["language"] == options.get("language")
    if task == "question":
        assert parsed.params["mask_shared"]
        assert parsed.params["known"] == [Path("-my known.txt")]
        assert parsed.params["unknown"] == [Path("-my unknown.txt")]
    parsed.close()


def test_a_name_that_another_reference_has_by_now_is_left_to_that_and_the_job_goes_on(tmp_path: Path) -> None:
    work = work_of(tmp_path, "question", uploaded=True, save_as="people")
    said: list[object] = []
    work.send = lambda **values: said.append(values.get("note", "")) if "note" in values else None
    for name, text in PEOPLE.items():
        tree(work.files_of("reference"), name).joinpath(name).write_text(text)
    assert work.reference() == work.reference()
    assert said == ["there is a reference people already; these texts were not kept under that name"]
    assert (tmp_path / "references" / "people" / "reference.json").is_file()


def test_figures_are_drawn_in_three_forms_where_there_is_enough_for_them(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    work = work_of(tmp_path, "attribution")
    documents = [Document(f"{author}{n}", habits(author, 500, n)) for author in ("Ann", "Bob") for n in range(2)]
    model = train_authors(make_author_corpus(documents, ["Ann", "Ann", "Bob", "Bob"]), [Settings(engine="ngram")])
    write_author_model(tmp_path / "a.byline", model)
    draw(work, tmp_path / "a.byline", ["heatmap", "roc"])
    assert {path.name for path in (work.folder / "files").iterdir()} == {f"heatmap.{form}" for form in FORMS}


@pytest.mark.parametrize(("count", "kinds"), [(1, []), (3, ["dendrogram", "heatmap", "mds", "pca"])])
def test_a_question_has_the_figures_that_its_texts_are_enough_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, kinds: list[str]
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(byline.web.tasks, "FORMS", ("svg",))
    monkeypatch.setattr(byline.web.tasks, "render", lambda _: "")
    work = work_of(tmp_path, "question", uploaded=True)
    for name, text in PEOPLE.items():
        tree(work.files_of("reference"), name).joinpath(name).write_text(text)
    known, asked = example_author_corpus()
    for role, texts in (("known", [text for _, text in known[:2]]), ("unknown", asked[:count])):
        (work.files_of(role) / f"-my {role}.txt").unlink()
        for number, text in enumerate(texts):
            (work.files_of(role) / f"{number}.txt").write_text(text.text[:700])
    answer(work)
    found = sorted(path.stem for path in (work.folder / "files").glob("*.svg"))
    assert found == kinds


def test_messages_name_files_as_they_were_dropped(tmp_path: Path) -> None:
    work = work_of(tmp_path, "question")
    message = f"unusable (1):\n  {work.files_of('known')}/a/b.txt: empty"
    assert work.name_files(message) == "unusable (1): known/a/b.txt: empty"


def tree(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("words")
    return folder


def test_problems_are_found_however_deep_and_the_truth_with_them(tmp_path: Path) -> None:
    deep = tree(tmp_path / "a", "x/truth.txt", "x/y/EN001/known01.txt", "x/y/EN001/unknown.txt", "x/y/contents.json")
    assert find_corpus(deep) == (deep / "x" / "y", deep / "x" / "truth.txt")
    beside = tree(tmp_path / "b", "Truth.TXT", "pan/EN001/known01.txt", "pan/EN001/unknown.txt")
    assert find_corpus(beside) == (beside / "pan", beside / "Truth.TXT")
    pairs = tree(tmp_path / "c", "my pairs.jsonl", "my/truth.jsonl")
    assert find_corpus(pairs)[1] == pairs / "my" / "truth.jsonl"
    alone = tree(tmp_path / "d", "my pairs.jsonl", "truth.jsonl")
    assert find_corpus(alone) == (alone / "my pairs.jsonl", alone / "truth.jsonl")
    single = tree(tmp_path / "e", "EN001/known01.txt", "EN001/unknown.txt")
    assert find_corpus(single) == (single, None)


def test_authors_and_people_are_found_in_folders_and_tables(tmp_path: Path) -> None:
    table = tree(tmp_path / "a", "authors.csv")
    assert find_texts(table, TABLES) == table / "authors.csv"
    wrapped = tree(tmp_path / "b", "all/Ann/1.txt", "all/Bob/1.txt")
    assert find_texts(wrapped, TABLES) == wrapped / "all"
    plain = tree(tmp_path / "c", "Ann/1.txt", "Bob/1.txt")
    assert find_texts(plain, TABLES) == plain
    assert find_texts(tree(tmp_path / "d", "pairs of mine.jsonl"), PAIRS).name == "pairs of mine.jsonl"


def test_the_names_of_example_texts_tell_nothing_of_the_answer() -> None:
    known, asked = example_author_corpus()
    assert len(known) == 24
    assert [text.name for text in asked] == [f"text {n:02d}" for n in range(1, 13)]
    mixed = unnamed([text for _, text in known])
    owner = {text.text: author for author, text in known}
    order = [owner[text.text] for text in mixed]
    assert order != sorted(order)
    assert sum(one == other for one, other in itertools.pairwise(order)) < 4
