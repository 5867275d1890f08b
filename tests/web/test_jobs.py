"""Questions that are asked of the page: one after another, whatever becomes of them, and over a restart."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from byline.storage.files import checked_json
from byline.web.home import Home
from byline.web.job_options import Options, TaskName, default_title, read_options
from byline.web.jobs import Jobs
from byline.web.messages import RefusedError
from byline.web.uploads import Draft, UploadedFile
from web_pages import STAND_IN, Served, children_of, files_below, is_running, serving, until, zipped


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("jobs") / "home", worker=STAND_IN, broken=True) as served:
        yield served


@pytest.fixture(autouse=True)
def _begin_with_nothing(request: pytest.FixtureRequest) -> Iterator[None]:
    """Afterwards there is no job, no draft and no work any more."""
    yield
    if "page" in request.fixturenames:
        page = request.getfixturevalue("page")
        for job in page.get("api/jobs")["jobs"]:
            assert page.client.delete(f"api/jobs/{job['id']}").status_code in (204, 404)
        assert files_below(page.home / "jobs") == []


def worker_of(page: Served) -> int:
    """The process that does the job."""
    commands = {child: Path(f"/proc/{child}/cmdline").read_bytes() for child in children_of(page.process.pid)}
    return int(next(child for child, command in commands.items() if STAND_IN.encode() in command))


def texts(page: Served, job: dict[str, Any]) -> list[Path]:
    return files_below(page.home / "jobs" / job["id"] / "texts")


def test_a_job_is_done_and_its_files_are_gone(page: Served) -> None:
    job = page.ask("done", keep_files=False)
    assert job["title"] == "done"
    assert job["task"] == "clustering"
    done = page.wait_for(job["id"])
    assert done["state"] == "done"
    assert done["made"] <= done["began"] <= done["ended"]
    assert (done["error"], done["place"], done["files_kept"], done["kept"]) == (None, None, False, True)
    assert done["progress"] == {"share": None, "stage": "", "left": None}
    result = done["result"]
    assert result["conclusion"] == "half \ud800 sign"
    assert [each["name"] for each in result["downloads"]] == ["report.html", "answers.txt", "heatmap.svg"]
    assert page.client.get(result["downloads"][1]["href"]).text == "EN001 0.5\n"
    taken = page.client.get(result["downloads"][0]["href"])
    assert taken.text == page.client.get(result["report"]).text
    assert taken.headers["content-disposition"].startswith("attachment")
    assert page.client.get(result["report"]).text.startswith("<!doctype html>")
    assert page.client.get(f"jobs/{job['id']}/files/secret.txt").status_code == 404
    there = {path.name for path in files_below(page.home / "jobs" / job["id"])}
    assert there == {"files", "answers.txt", "heatmap.svg", "secret.txt", "job.json", "report.html", "result.json"}


def test_jobs_wait_in_the_order_they_were_asked_and_each_knows_its_place(page: Served) -> None:
    first = page.ask("wait")
    others = [page.ask(f"done {n}") for n in range(4)]
    page.wait_for(first["id"], "running")
    listed = page.get("api/jobs")["jobs"]
    assert [job["id"] for job in listed] == [job["id"] for job in [*reversed(others), first]]
    assert [job["place"] for job in listed] == [4, 3, 2, 1, None]
    assert page.post(f"api/jobs/{others[1]['id']}/cancel", status=200)["state"] == "cancelled"
    assert [page.job(job["id"])["place"] for job in others] == [1, None, 2, 3]
    page.client.delete(f"api/jobs/{first['id']}")
    ended = [page.wait_for(job["id"]) for job in others]
    assert [job["state"] for job in ended] == ["done", "cancelled", "done", "done"]
    assert ended[0]["ended"] <= ended[2]["ended"] <= ended[3]["ended"]


def test_how_far_a_job_is_can_be_seen(page: Served) -> None:
    job = page.ask("wait a bit")
    told = until(lambda: (found := page.job(job["id"])["progress"])["share"] and found)
    assert told == {"share": 0.25, "stage": "wait a bit", "left": 9.0}


@pytest.mark.parametrize(
    ("title", "reason"),
    [
        ("break", "a bug in Byline"),
        ("fail these can't be used", "these can't be used"),
        ("die", "ended from outside"),
        ("deserter", "a bug in Byline"),
        ("forgetful", "a bug in Byline"),
    ],
)
def test_a_job_that_fails_says_why_and_the_next_one_is_done(page: Served, title: str, reason: str) -> None:
    job, following = page.ask(title), page.ask("done")
    failed = page.wait_for(job["id"])
    assert failed["state"] == "failed"
    assert reason in failed["error"]
    assert "\n" not in failed["error"]
    assert page.wait_for(following["id"])["state"] == "done"
    assert [path.name for path in files_below(page.home / "jobs" / job["id"])] == ["job.json"]
    if title == "deserter":
        assert not is_running(int(failed["notes"][0].split()[-1]))


def test_what_a_worker_prints_does_no_harm(page: Served) -> None:
    assert page.wait_for(page.ask("shout")["id"])["notes"] == ["after it"]
    notes = page.wait_for(page.ask("chatter " + "x" * 100)["id"])["notes"]
    assert len(notes) == 50


@pytest.mark.parametrize(("title", "seconds"), [("wait", 2.5), ("parent", 2.5), ("stubborn", 6)])
def test_a_job_that_is_cancelled_ends_with_all_that_it_began(page: Served, title: str, seconds: float) -> None:
    job = page.ask(title)
    page.wait_for(job["id"], "running")
    until(lambda: page.job(job["id"])["progress"]["stage"] not in ("", "starting", "stubborn "))
    family = [until(lambda: worker_of(page))]
    if title == "parent":
        family.append(int(until(lambda: page.job(job["id"])["notes"])[0].split()[-1]))
    assert all(map(is_running, family))
    begin = time.monotonic()
    cancelled = page.post(f"api/jobs/{job['id']}/cancel", status=200)
    assert time.monotonic() - begin < seconds
    assert (cancelled["state"], cancelled["error"]) == ("cancelled", None)
    assert not any(map(is_running, family))
    assert texts(page, job) == []
    assert page.post(f"api/jobs/{job['id']}/cancel", status=409)["error"] == "it has ended already"


def test_a_job_can_be_cancelled_in_the_moment_that_it_begins(page: Served) -> None:
    for _ in range(5):
        job = page.ask("wait")
        assert page.post(f"api/jobs/{job['id']}/cancel", status=200)["state"] == "cancelled"


def test_a_job_that_is_deleted_while_it_runs_is_cancelled_first(page: Served) -> None:
    job = page.ask("wait")
    page.wait_for(job["id"], "running")
    worker = until(lambda: worker_of(page))
    assert page.client.delete(f"api/jobs/{job['id']}").status_code == 204
    assert not is_running(worker)
    assert not (page.home / "jobs" / job["id"]).exists()
    for path in ("", "/cancel", "/again"):
        answer = page.client.request("POST" if path else "GET", f"api/jobs/{job['id']}{path}")
        assert (answer.status_code, answer.json()["error"]) == (404, "there is no such job any more")
    assert page.client.delete(f"api/jobs/{job['id']}").status_code == 404


@pytest.mark.parametrize("title", ["done", "fail it", "wait"])
def test_files_stay_only_where_that_was_chosen_and_then_it_can_be_asked_again(page: Served, title: str) -> None:
    kept, gone = page.ask(title, keep_files=True), page.ask(title)
    for job in (kept, gone):
        if title == "wait":
            page.post(f"api/jobs/{job['id']}/cancel", status=200)
        page.wait_for(job["id"])
    assert len(texts(page, kept)) == 4
    assert texts(page, gone) == []
    assert page.post(f"api/jobs/{gone['id']}/again", status=409)["error"] == "its files were not kept; drop them again"
    again = page.post(f"api/jobs/{kept['id']}/again")
    assert again["title"] == title
    assert page.post(f"api/jobs/{kept['id']}/again", status=409)
    if title == "wait":
        assert page.post(f"api/jobs/{again['id']}/again", status=409)["error"] == "it has not ended yet"
        page.post(f"api/jobs/{again['id']}/cancel", status=200)
    assert page.wait_for(again["id"])["files_kept"]
    assert not page.job(kept["id"])["files_kept"]
    assert len(texts(page, again)) == 4


def test_where_files_can_t_be_handed_over_nothing_is_asked_again_and_they_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "jobs").mkdir()
    jobs = Jobs(Home(tmp_path))
    draft = draft_of(tmp_path / "draft", {"texts/a.txt": "", "texts/b.txt": "", "texts/c.txt": ""})
    job = jobs.create("clustering", Options(keep_files=True), draft)
    jobs.end(job, "done")

    def refuse(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr(Path, "rename", refuse)
        with pytest.raises(OSError, match="Input"):
            jobs.repeat(job)
    assert jobs.all() == [job]
    assert [folder.name for folder in jobs.folder(job).parent.iterdir()] == [job.id]
    assert jobs.repeat(job).files_kept


def draft_of(folder: Path, sources: dict[str, str]) -> Draft:
    """A draft of files, each named ROLE/NAME, with the folder or archive that each came in."""
    folder.mkdir()
    draft = Draft(folder)
    for path, source in sources.items():
        role, _, name = path.partition("/")
        place = draft.new_path()
        place.write_text("words")
        file = UploadedFile(role, name, 5, "text", place, source=source)
        draft.files[file.number] = file
    return draft


@pytest.mark.parametrize(
    ("task", "sources", "title"),
    [
        ("question", {"known/a.txt": "", "unknown/my/letter.txt": ""}, "letter.txt and 1 known text"),
        ("question", {"known/a": "", "known/b": "", "unknown/x.txt": "", "unknown/y": ""},
         "x.txt, 1 other and 2 known texts"),
        ("attribution", {"candidates/Ann/1": "", "candidates/Ann/2": "", "candidates/Bob/1": "", "unknown/x.txt": ""},
         "x.txt and 2 authors"),
        ("attribution", {"candidates/all.csv": "", "unknown/x.txt": "", "unknown/y": "", "unknown/z": ""},
         "x.txt, 2 others and 1 file"),
        ("corpus", {"corpus/EN1/unknown.txt": "pan.zip", "corpus/EN1/known.txt": "pan.zip"}, "pan.zip"),
        ("corpus", {"corpus/pairs.jsonl": ""}, "pairs.jsonl"),
        ("corpus", {"corpus/EN1/unknown.txt": "pan", "corpus/truth.txt": ""}, "2 files"),
        ("clustering", {"texts/a": "novels", "texts/b": "novels", "texts/c": "novels"}, "novels, 3 texts"),
        ("clustering", {"texts/a": "novels", "texts/b": "", "texts/c": "more.zip"}, "3 texts"),
    ],
)  # fmt: skip
def test_a_question_without_a_title_is_called_by_its_files(
    tmp_path: Path, task: TaskName, sources: dict[str, str], title: str
) -> None:
    assert default_title(task, draft_of(tmp_path / "draft", sources)) == title


def test_the_folder_and_the_archive_that_texts_came_in_are_known(page: Served) -> None:
    files = {f"{n}.txt": "some words and more" for n in range(3)}
    draft = page.draft()
    for name, text in files.items():
        address = f"api/drafts/{draft}/files?role=texts&name={name}&folder=%3Cb%3E%00novels%20of%0A1820"
        assert page.client.put(address, content=text).status_code == 201
    assert page.post("api/jobs", {"task": "clustering", "draft": draft})["title"] == "<b>novels of; 1820, 3 texts"
    draft = page.fill({"texts/all of it.zip": zipped(files)})
    assert page.post("api/jobs", {"task": "clustering", "draft": draft})["title"] == "all of it.zip, 3 texts"
    for job in page.get("api/jobs")["jobs"]:
        page.wait_for(job["id"])


def test_of_those_who_ask_about_the_same_files_at_once_one_gets_a_job(page: Served) -> None:
    draft = page.fill({f"texts/{n}.txt": "some words and more" for n in range(3)})
    asked = {"task": "clustering", "draft": draft, "options": {"title": "done"}}
    statuses: list[int] = []
    with page.begin_upload(draft, "Content-Length: 9") as coming:  # all others have to wait for this file
        coming.sendall(b"some ")
        until(lambda: len(page.drafts()) == 5)
        timer = threading.Timer(0.5, coming.sendall, [b"text"])
        timer.start()
        together(lambda: statuses.append(page.client.post("api/jobs", json=asked).status_code), 3)
        timer.join()
    assert sorted(statuses) == [201, 404, 404]


def together(do: Any, times: int) -> None:
    threads = [threading.Thread(target=do) for _ in range(times)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_two_who_cancel_or_delete_at_once_do_no_harm(page: Served) -> None:
    job = page.ask("stubborn")
    until(lambda: page.job(job["id"])["progress"]["stage"] == "stubborn now")
    statuses: list[int] = []
    together(lambda: statuses.append(page.client.delete(f"api/jobs/{job['id']}").status_code), 3)
    assert set(statuses) <= {204, 404}
    assert 204 in statuses
    assert page.wait_for(page.ask("done")["id"])["state"] == "done"


def test_what_is_still_missing_is_said(page: Served) -> None:
    def said(task: str, *roles: str, status: int = 422, **options: object) -> str:
        draft = page.fill({f"{role}/{n}.txt": "some words and more" for n, role in enumerate(roles)})
        error = page.post("api/jobs", {"task": task, "draft": draft, "options": options}, status)["error"]
        assert len(page.get(f"api/drafts/{draft}")["files"]) == len(roles)  # they are still there
        page.client.delete(f"api/drafts/{draft}")
        return str(error)

    assert said("question") == "still missing: a text whose author is known and a text in question"
    assert said("question", "known") == "still missing: a text in question"
    assert said("question", "known", "unknown").endswith("texts by other people to compare with")
    assert said("question", "known", "unknown", uploaded=True).endswith("to compare with")
    assert "no reference none any more" in said("question", "known", "unknown", reference="none")
    assert said("corpus", "known") == "still missing: a folder or zip of problems"
    assert said("attribution", "unknown") == "still missing: texts of the authors"
    assert said("clustering", "texts", "texts") == "still missing: three texts or more"
    assert "in questions and corpora only" in said(
        "clustering", "texts", "texts", "texts", reference="built-in english"
    )
    assert said("divination").startswith("task must be one of")
    taken = {"uploaded": True, "save_as": "built-in english"}
    assert "already" in said("question", "known", "unknown", "reference", status=409, **taken)
    for name in (".hidden", "a.part"):
        assert "plain name" in said("question", "known", "unknown", "reference", uploaded=True, save_as=name)
    assert "files are gone" in page.post("api/jobs", {"task": "clustering", "draft": "0" * 18}, 404)["error"]
    assert page.client.post("api/examples/none").status_code == 404


WRONG: dict[str, list[Any]] = {
    "title": [1, None, ["x"], {}], "language": [1, "", "a/b", "..", "x" * 61, "a\nb", "\ud800"],
    "budget": ["slow", 61, True, None, [60], 60.5],
    "none": [-0.1, 1, "0.5", True, None, float("nan"), float("inf")],
    "mask_shared": [1, "yes", None], "keep": [0, "no", None], "keep_files": [1, None], "color": [1],
    "uploaded": ["x", 1], "reference": [1, [], {}, "../x"], "save_as": ["", "a/b", "kept"],
}  # fmt: skip


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_an_option_of_the_wrong_kind_is_refused(name: str, value: object) -> None:
    with pytest.raises(RefusedError) as refused:
        read_options(json.loads(json.dumps({name: value})))
    assert refused.value.status == 422
    assert len(refused.value.reason) < 120


def test_options_that_are_none_and_titles_that_are_hostile() -> None:
    assert read_options({}) == Options()
    with pytest.raises(RefusedError, match="either have a name or be uploaded"):
        read_options({"reference": "kept", "uploaded": True})
    for values in (None, [], "x", 1, False):
        with pytest.raises(RefusedError):
            read_options(values)
    title = read_options({"title": "  <b>\u202e\ud800 a\nb\tc\0 </b>" + "x" * 500}).title
    assert title.startswith("<b> a b c </b>")
    assert len(title) == 120


def test_damaged_jobs_stop_nobody_and_can_be_deleted_and_one_whose_end_was_not_written_down_is_done(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    with serving(home, worker=STAND_IN) as page:
        titles = ["done"] * 5 + ["fail it"]
        *jobs, done, broken = (page.wait_for(page.ask(title)["id"])["id"] for title in titles)
    (home / "jobs" / jobs[0] / "job.json").write_text("{")
    (home / "jobs" / jobs[1] / "job.json").write_bytes(checked_json({"id": jobs[1], "task": 7}))
    (home / "jobs" / jobs[2] / "result.json").write_text("[1")
    (home / "jobs" / ("f" * 18)).mkdir()
    (home / "jobs" / "notes.txt").write_text("mine")
    (home / "references" / "broken").mkdir()
    (home / "references" / "broken" / "reference.json").write_text("{}")
    for name in (done, broken):
        place = home / "jobs" / name / "job.json"
        values = {key: value for key, value in json.loads(place.read_bytes()).items() if key != "checksum"}
        place.write_bytes(checked_json({**values, "state": "running", "ended": None, "error": None}))
    with serving(home, worker=STAND_IN) as page:
        assert page.job(done)["state"] == "done"
        assert page.job(broken)["state"] == "interrupted"
        listed = {job["id"]: job for job in page.get("api/jobs")["jobs"]}
        assert set(listed) == {*jobs, done, broken, "f" * 18}
        for name in (jobs[0], jobs[1], "f" * 18):
            assert (listed[name]["state"], listed[name]["title"]) == ("failed", "A job that can't be read")
            assert page.client.delete(f"api/jobs/{name}").status_code == 204
        assert "damaged" in page.client.get(f"api/jobs/{jobs[2]}").json()["error"]
        assert page.client.get(f"jobs/{jobs[3]}/report.html").status_code == 200
        assert "damaged" in page.get("api/state")["references"][-1]["error"]
        assert page.client.delete("api/references/broken").status_code == 204
        assert page.client.delete("api/references/broken").status_code == 404
        assert page.client.delete("api/references/built-in english").status_code == 409
        assert page.wait_for(page.ask("done")["id"])["state"] == "done"
    assert (home / "jobs" / "notes.txt").read_text() == "mine"


def test_where_the_disk_is_full_a_question_is_not_taken_and_its_files_stay(page: Served) -> None:
    draft = page.fill({f"texts/{n}.txt": "some words and more" for n in range(3)})
    asked = {"task": "clustering", "draft": draft, "options": {"title": "done"}}
    with page.full_disk(100):
        assert "ake room" in page.post("api/jobs", asked, 507)["error"]
        assert page.get("api/jobs")["jobs"] == []
    assert files_below(page.home / "jobs") == []
    assert page.wait_for(page.post("api/jobs", asked)["id"])["state"] == "done"


def test_where_the_disk_fills_up_jobs_end_as_they_do_and_later_ones_are_done(page: Served) -> None:
    running, waiting, other = page.ask("nap 1"), page.ask("done"), page.ask("nap 0.2")
    page.wait_for(running["id"], "running")
    with page.full_disk(100):
        assert page.wait_for(running["id"])["state"] == "done"
        failed = page.wait_for(waiting["id"])
        assert failed["state"] == "failed"
        assert "can't be written to" in failed["error"]
        page.wait_for(other["id"])
    assert page.wait_for(page.ask("done")["id"])["state"] == "done"
