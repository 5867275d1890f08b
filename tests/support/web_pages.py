"""A real `byline serve` in a process of its own, and a client that sends requests as the page does."""

from __future__ import annotations

import io
import json
import os
import resource
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from paths import TESTS

CODE = """
import json, os, sys
from pathlib import Path
import byline.web.jobs, byline.web.server
from byline.web.home import Limits
home, limits, worker = sys.argv[1:]
os.umask(0)
if worker:
    byline.web.jobs.WORKER = worker
byline.web.server.serve(Path(home), 0, lambda url, redirect: print(url, flush=True), Limits(**json.loads(limits)))
"""
STAND_IN = "stand_in"
"""A worker that behaves as the job's title says."""
WAIT = 30.0
"""Seconds that anything may take."""
ENDED = ("done", "failed", "cancelled", "interrupted")


class Served:
    """A running server and its client."""

    def __init__(self, process: subprocess.Popen[str], url: str, home: Path) -> None:
        self.process, self.url, self.home = process, url, home
        self.port = urlsplit(url).port or 0
        self.origin = f"http://127.0.0.1:{self.port}"
        self.token = urlsplit(url).path.strip("/")
        self.said = ""
        """The output on its terminal, known when it has ended."""
        self.client = httpx.Client(base_url=url, headers={"origin": self.origin}, timeout=WAIT)

    def get(self, path: str) -> Any:
        """Return the JSON at an address, which must exist."""
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, values: object = None, status: int = 201) -> Any:
        """Post values and return the JSON of the answer, which must have the status."""
        answer = self.client.post(path, content=json.dumps(values))
        assert answer.status_code == status, answer.text
        return answer.json()

    def draft(self) -> str:
        """Create a draft and return its id."""
        return str(self.post("api/drafts")["id"])

    def put(self, draft: str, role: str, name: str, content: Any, **more: Any) -> httpx.Response:
        """Upload a file to a draft."""
        address = f"api/drafts/{draft}/files?role={role}&name={quote(name, safe='')}"
        return self.client.put(address, content=content, **more)

    def fill(self, files: Mapping[str, str | bytes]) -> str:
        """Create a draft with files, each named ROLE/NAME."""
        draft = self.draft()
        for path, content in files.items():
            role, _, name = path.partition("/")
            answer = self.put(draft, role, name, content)
            assert answer.status_code == 201, answer.text
        return draft

    def ask(self, title: str, **options: Any) -> dict[str, Any]:
        """Create a job about three texts; the stand-in worker behaves as its title says."""
        draft = self.fill({f"texts/{n}.txt": f"text number {n}, and more of it" for n in range(3)})
        asked = {"task": "clustering", "draft": draft, "options": {"title": title, **options}}
        return dict(self.post("api/jobs", asked))

    def job(self, name: str) -> dict[str, Any]:
        """Return the state of a job."""
        return dict(self.get(f"api/jobs/{name}"))

    def wait_for(self, name: str, *states: str) -> dict[str, Any]:
        """Return the job as soon as it is in one of these states, or has ended."""
        return dict(until(lambda: (job := self.job(name))["state"] in (states or ENDED) and job))

    def send(self, data: bytes) -> bytes:
        """Return the answer to raw bytes, or nothing if the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), WAIT) as connection:
            connection.sendall(data)
            return read_all(connection)

    def begin_upload(self, draft: str, *lines: str, name: str = "a.txt") -> socket.socket:
        """Send the head of an upload, with these header lines, and return the connection."""
        connection = socket.create_connection(("127.0.0.1", self.port), 20)
        address = f"/{self.token}/api/drafts/{draft}/files?role=texts&name={name}"
        head = [f"PUT {address} HTTP/1.1", f"Host: 127.0.0.1:{self.port}", f"Origin: {self.origin}", *lines, "", ""]
        connection.sendall("\r\n".join(head).encode())
        return connection

    @contextmanager
    def full_disk(self, most: int) -> Iterator[None]:
        """Let the server and its workers write no file of more than so many bytes."""
        before = resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, (most, before[1]))
        try:
            yield
        finally:
            resource.prlimit(self.process.pid, resource.RLIMIT_FSIZE, before)

    def stop(self, number: int = 15) -> int:
        """End the server by a signal and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        code = self.process.wait(WAIT)
        self.client.close()
        for stream in (self.process.stdout, self.process.stderr):
            if stream and not stream.closed:
                self.said += stream.read()
                stream.close()
        return code

    def is_alive(self) -> bool:
        """Return whether the server answers."""
        return self.client.get("api/jobs").status_code == 200

    def drafts(self) -> list[Path]:
        """Return all files and folders of drafts."""
        return files_below(self.home / "drafts")


def begin(home: Path, worker: str = "", env: Mapping[str, str] | None = None, **limits: object) -> Served:
    """Start a server with other limits and wait until it answers."""
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, str(home), json.dumps(limits), worker],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": python_path(TESTS / "support"), **(env or {})},
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    if not url:
        assert process.stderr is not None
        raise AssertionError(process.stderr.read())
    return Served(process, url, home)


@contextmanager
def serving(home: Path, broken: bool = False, **more: Any) -> Iterator[Served]:
    """Run a server. It must end with 0 and without a traceback, unless a worker is `broken`."""
    served = begin(home, **more)
    try:
        yield served
    finally:
        code = served.stop()
    assert code == 0, served.said
    assert broken or "Traceback" not in served.said, served.said


@contextmanager
def serving_by_command(home: Path, *options: str, env: Mapping[str, str] | None = None) -> Iterator[Served]:
    """Run `byline serve` on any free port; it must end with 0."""
    command = [sys.executable, "-m", "byline", "serve", "--port", "0", "--home", str(home), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)
    assert process.stdout is not None
    served = Served(process, process.stdout.readline().split()[-1], home)
    try:
        yield served
    finally:
        code = served.stop()
    assert code == 0, served.said


def until(look: Callable[[], Any], seconds: float = WAIT) -> Any:
    """Return the first result of `look` that is true."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)
    return found


def read_all(connection: socket.socket) -> bytes:
    """Read until the other side closes the connection."""
    found = b""
    try:
        while piece := connection.recv(1 << 16):
            found += piece
    except ConnectionResetError:
        pass
    return found


def is_running(process: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children_of(process: int) -> list[int]:
    """Return the child processes of a process."""
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def python_path(*folders: Path) -> str:
    """Return a PYTHONPATH with these folders first."""
    return os.pathsep.join(filter(None, [*map(str, folders), os.environ.get("PYTHONPATH")]))


def files_below(folder: Path) -> list[Path]:
    """Return all files and folders in a folder, at any depth."""
    return sorted(folder.rglob("*"))


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """Return a zip of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()
