"""byline serve keeps to itself: who may ask, what they are told, how it starts and how it ends."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import programs
from byline.web.server import HEADERS
from web_pages import (
    ENDED,
    STAND_IN,
    Served,
    begin,
    children_of,
    files_below,
    is_running,
    python_path,
    serving,
    serving_by_command,
    until,
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(tmp_path_factory.mktemp("server") / "home", worker=STAND_IN) as served:
        yield served


@pytest.fixture(scope="module")
def job(page: Served) -> str:
    """A job that is done."""
    return str(page.wait_for(page.ask("done")["id"])["id"])


def ask_raw(page: Served, *lines: str, method: str = "GET", path: str | None = None, version: str = "1.1") -> str:
    """The answer to a request with exactly these header lines."""
    target = path if path is not None else f"/{page.token}/api/jobs"
    head = "\r\n".join([f"{method} {target} HTTP/{version}", *lines, "Connection: close", "", ""])
    return page.send(head.encode("latin-1")).decode("latin-1")


def host(page: Served) -> str:
    return f"Host: 127.0.0.1:{page.port}"


def status(answer: str) -> int:
    return int(answer.split()[1])


def test_it_listens_on_this_machine_s_own_address_and_nowhere_else(page: Served) -> None:
    listening = []
    for table in ("tcp", "tcp6"):
        rows = Path(f"/proc/{page.process.pid}/net/{table}").read_text().splitlines()[1:]
        listening += [row.split()[1] for row in rows if row.split()[3] == "0A"]
    assert [address for address in listening if address.endswith(f":{page.port:04X}")] == [f"0100007F:{page.port:04X}"]


def test_the_address_holds_a_token_that_nobody_guesses_and_the_page_needs_no_cookie(page: Served) -> None:
    """Another server has another one, as the test of a signal shows."""
    assert len(page.token) >= 43
    answer = page.client.get("")
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
    assert page.token not in answer.text


@pytest.mark.parametrize(
    "path", ["/", "", "/api/jobs", "/x/api/jobs", "/{short}/api/jobs", "/{token}x/api/jobs", "//{token}/api/jobs", "*",
             "/%00/", "/%ff%fe/api/jobs", "http://evil.example/{token}/api/jobs", "/../{token}/", "/favicon.ico"],
)  # fmt: skip
def test_without_its_token_nothing_is_told(page: Served, path: str) -> None:
    target = path.format(token=page.token, short=page.token[:-1])
    answer = ask_raw(page, host(page), path=target or "/", method="OPTIONS" if target == "*" else "GET")
    assert status(answer) == 403
    assert "byline serve printed" in answer
    assert page.token not in answer


def test_the_slash_after_the_token_is_added(page: Served) -> None:
    answer = ask_raw(page, host(page), path=f"/{page.token}")
    assert status(answer) == 307
    assert f"location: {page.token}/\r\n" in answer


@pytest.mark.parametrize(
    "name", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:{other}", "localhost",
             "127.0.0.1:{port}.evil", "127.1:{port}", "0.0.0.0:{port}", "[::1]:{port}", "localhost.:{port}",
             "user@127.0.0.1:{port}", "127.0.0.1:0{port}"],
)  # fmt: skip
def test_another_name_for_this_machine_is_refused_for_a_foreign_page_may_lead_there(page: Served, name: str) -> None:
    asked = name.format(port=page.port, other=page.port + 1)
    answer = ask_raw(page, f"Host: {asked}")
    assert status(answer) == 403
    assert "another name" in answer


def test_localhost_is_this_machine_too_but_a_host_that_is_missing_or_given_twice_is_refused(page: Served) -> None:
    assert status(ask_raw(page, f"HOST: LOCALHOST:{page.port}")) == 200
    assert status(ask_raw(page, version="1.0")) == 403
    assert status(ask_raw(page)) == 400
    assert status(ask_raw(page, host(page), host(page))) == 400
    assert status(ask_raw(page, host(page), "Host: evil.example")) == 400


FOREIGN = ["http://evil.example", "null", "", "http://127.0.0.1:{other}", "https://127.0.0.1:{port}", "http://127.0.0.1",
           "http://127.0.0.1:{port}.evil.example", "http://evil.example:{port}", "file://"]  # fmt: skip


@pytest.mark.parametrize("origin", FOREIGN)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_another_page_can_neither_read_nor_write(page: Served, method: str, origin: str) -> None:
    said = origin.format(port=page.port, other=page.port + 1)
    lines = [host(page), f"Origin: {said}", "Content-Length: 0"]
    answer = ask_raw(page, *lines, method=method, path=f"/{page.token}/api/drafts")
    assert status(answer) == 403
    assert "access-control" not in answer.lower()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "BREW"])
def test_whoever_changes_something_must_say_where_they_come_from(page: Served, method: str) -> None:
    lines = [host(page), "Content-Length: 0"]
    assert status(ask_raw(page, *lines, method=method, path=f"/{page.token}/api/drafts")) == 403
    twice = [f"Origin: {page.origin}", "Origin: http://evil.example"]
    assert status(ask_raw(page, *lines, *twice, method=method)) == 403


def test_every_answer_keeps_others_out(page: Served, job: str) -> None:
    asked = [
        page.client.get(""),
        page.client.get("assets/index.html"),
        page.client.get("api/state"),
        page.client.head("api/jobs"),
        page.client.get("nothing"),
        page.client.get("api/jobs/nothing"),
        page.client.patch("api/jobs"),
        page.client.post("api/jobs", content=b"no json"),
        page.client.get(f"jobs/{job}/report.html"),
        page.client.get(f"jobs/{job}/files/heatmap.svg"),
        page.client.get(f"{page.origin}/wrong/"),
        page.client.get("", headers={"host": "evil.example"}),
        page.client.post("api/drafts", headers={"origin": "null"}),
    ]
    for answer in asked:
        assert HEADERS.keys() <= dict(answer.headers).keys(), answer.request.url
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert not [name for name in answer.headers if name.startswith(("access-control", "set-cookie", "server"))]
        assert answer.headers["cache-control"] == "no-store"
    assert [answer.status_code for answer in asked] == [200, 200, 200, 200, 404, 404, 405, 422, 200, 200, 403, 403, 403]
    for answer in asked[4:8]:
        assert list(answer.json()) == ["error"]
        assert "\n" not in answer.json()["error"]


def test_what_a_job_made_can_do_nothing_in_the_page_s_name(page: Served, job: str) -> None:
    report = page.client.get(f"jobs/{job}/report.html").headers
    assert report["content-security-policy"].startswith("sandbox allow-scripts ")
    assert "allow-same-origin" not in report["content-security-policy"]
    figure = page.client.get(f"jobs/{job}/files/heatmap.svg").headers
    assert figure["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert figure["content-disposition"].startswith("attachment;")
    assert figure["content-type"] == "application/octet-stream"


STRAY = ["..", "../job.json", "..%2fjob.json", "%2e%2e%2fjob.json", "..%5cjob.json", "%252e%252e%252fjob.json", "%00",
         "secret.txt", "/etc/passwd", "%2fetc%2fpasswd", "C:%5cx", "answers.txt%00.svg", "answers.txt/", "ANSWERS.TXT",
         "%EF%BC%8E%EF%BC%8E", "x" * 300, "job.json", "~", ".", "%ff"]  # fmt: skip


@pytest.mark.parametrize("name", STRAY)
def test_no_name_leads_out_of_where_it_belongs(page: Served, job: str, name: str) -> None:
    places = (f"jobs/{job}/files/", "jobs/", "api/jobs/", "assets/", "api/drafts/")
    for place in places:
        answer = ask_raw(page, host(page), path=f"/{page.token}/{place}{name}")
        assert status(answer) == 404, place
        assert '{"error":' in answer
    for place in ("api/references/", "api/jobs/"):
        answer = ask_raw(
            page, host(page), f"Origin: {page.origin}", method="DELETE", path=f"/{page.token}/{place}{name}"
        )
        assert status(answer) == 404, place
    assert (page.home / "jobs" / job / "job.json").is_file()


def test_a_crowd_of_idle_connections_shuts_nobody_out(page: Served) -> None:
    with contextlib.ExitStack() as crowd:
        for _ in range(300):
            crowd.enter_context(socket.create_connection(("127.0.0.1", page.port), 20))
        assert page.is_alive()


def test_a_websocket_is_not_to_be_had(page: Served) -> None:
    wanted = ["Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13"]
    answer = ask_raw(page, host(page), f"Origin: {page.origin}", "Connection: Upgrade", *wanted)
    assert status(answer) != 101


def test_what_it_keeps_is_its_owner_s_only_whatever_the_umask(page: Served) -> None:
    job = page.ask("done", keep_files=True)
    page.put(page.draft(), "texts", "a/b/c.txt", "some words to keep")
    page.put(page.draft(), "texts", "a.zip", b"no zip")
    assert page.wait_for(job["id"])["state"] == "done"
    found = [page.home, *files_below(page.home)]
    assert any(path.name == "answers.txt" for path in found), "a job's own files are among them"
    assert [path for path in found if path.stat().st_mode & 0o077] == []


def test_the_token_is_never_on_a_command_line(tmp_path: Path) -> None:
    """Where other users could read it: neither the server's, nor its workers', nor the browser's."""
    browser, seen = tmp_path / "browser.sh", tmp_path / "seen"
    browser.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {seen}\n')
    browser.chmod(0o755)
    with serving_by_command(tmp_path / "mine", env={**os.environ, "BROWSER": f"{browser} %s"}) as served:
        job, server = served.post("api/examples/question")["id"], served.process.pid
        worker = until(lambda: children_of(server))[0]
        lines = [Path(f"/proc/{number}/cmdline").read_bytes().decode() for number in (server, worker)]
        opened = until(lambda: seen.exists() and seen.read_text())
        served.post(f"api/jobs/{job}/cancel", status=200)
    assert len(served.token) > 40
    assert opened.startswith("file://")
    assert all(lines)
    assert [each for each in (*lines, opened) if served.token in each] == []


def test_a_folder_in_use_and_a_port_in_use_are_refused_in_one_line(page: Served, tmp_path: Path) -> None:
    for options, option in (
        (["--home", page.home], "--home"),
        (
            ["--port", page.port, "--home", tmp_path / "home"],
            "--port",
        ),
    ):
        done = programs.run("serve", "--no-browser", *options, timeout=60)
        assert done.returncode == 1
        assert done.stderr.count("\n") == 1
        assert f"with {option}" in done.stderr
    assert page.is_alive()


@pytest.mark.parametrize("missing", ["uvicorn", "starlette", "platformdirs"])
def test_where_the_extra_is_not_installed_one_line_says_what_to_do(tmp_path: Path, missing: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{missing!r}] = None\n")
    command = [sys.executable, "-m", "byline", "serve", "--no-browser"]
    env = {**os.environ, "PYTHONPATH": python_path(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert done.returncode == 1
    assert done.stderr == f"byline: the page needs {missing}. Install it with pip install 'byline[web]'\n"


def test_a_signal_ends_it_soon_and_well_with_all_that_it_began(tmp_path: Path) -> None:
    page = begin(tmp_path / "home", worker=STAND_IN)
    kept, left = page.ask("parent", keep=True), page.ask("wait", keep=False)
    page.wait_for(kept["id"], "running")
    child = until(lambda: page.job(kept["id"])["notes"])[0].split()[-1]
    draft = page.fill({"texts/a.txt": "text that waits for its question"})
    assert page.drafts()
    family = [*children_of(page.process.pid), int(child)]
    assert len(family) == 3  # the worker, its child, and the reader
    with page.begin_upload(draft, "Content-Length: 99", name="b.txt") as half:  # an upload that never ends
        half.sendall(b"x")
        start = time.monotonic()
        assert page.stop(signal.SIGTERM) == 0
    assert time.monotonic() - start < 8
    assert not [process for process in family if is_running(process)]
    assert not page.drafts()
    assert [path.name for path in (page.home / "jobs").iterdir()] == [kept["id"]]
    assert not (page.home / "jobs" / left["id"]).exists()
    assert not (page.home / "open.html").exists()
    with serving(tmp_path / "home") as again:
        assert again.token != page.token
        assert again.client.get(f"{again.origin}/{page.token}/api/jobs").status_code == 403
        job = again.job(kept["id"])
        assert (job["state"], job["error"]) == ("interrupted", "byline serve was stopped before it was done")


def test_a_server_that_is_killed_leaves_nothing_running_and_its_leavings_go_at_the_next_start(tmp_path: Path) -> None:
    page = begin(tmp_path / "home", worker=STAND_IN)
    done = page.wait_for(page.ask("done")["id"])
    fleeting = page.wait_for(page.ask("done", keep=False)["id"])
    running, waiting = page.ask("wait"), page.ask("wait", keep_files=True)
    page.wait_for(running["id"], "running")
    page.fill({"texts/a.txt": "text that waits for its question"})
    family = children_of(page.process.pid)
    assert page.stop(signal.SIGKILL) == -signal.SIGKILL
    until(lambda: not [process for process in family if is_running(process)], 5)
    (tmp_path / "home" / "references" / ".essays.1.part").mkdir()
    assert page.drafts()
    with serving(tmp_path / "home", worker=STAND_IN) as again:
        assert not again.drafts()
        assert not files_below(again.home / "references")
        assert {job["id"]: job["state"] for job in again.get("api/jobs")["jobs"]} == {
            done["id"]: "done", running["id"]: "interrupted", waiting["id"]: "interrupted"
        }  # fmt: skip
        assert again.job(done["id"])["result"]["downloads"]
        assert not (again.home / "jobs" / fleeting["id"]).exists()
        assert not (again.home / "jobs" / running["id"] / "texts").exists()
        assert again.job(waiting["id"])["files_kept"]
        assert again.wait_for(again.post(f"api/jobs/{waiting['id']}/again")["id"], "running")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_serve_prints_its_address_takes_the_folder_that_is_named_and_ends_when_told(
    tmp_path: Path, number: int
) -> None:
    with serving_by_command(tmp_path / "mine", "--no-browser") as served:
        assert served.url.startswith("http://127.0.0.1:")
        assert served.stop(number) == 0
    assert served.said.count("\n") == 1  # nothing on standard error
    assert (tmp_path / "mine" / "jobs").is_dir()


def test_from_byline_serve_to_the_first_answer_it_takes_less_than_a_minute(tmp_path: Path) -> None:
    begun = time.monotonic()
    with serving_by_command(tmp_path / "mine", "--no-browser") as served:
        name = served.post("api/examples/question")["id"]
        job = until(lambda: (found := served.job(name))["state"] in ENDED and found, 60)
        taken = time.monotonic() - begun
    assert job["state"] == "done", job["error"]
    assert job["result"]["problems"][0]["statement"]
    assert [each["name"] for each in job["result"]["downloads"]] == ["report.html", "answers.txt", "all.zip"]
    assert taken < 60
