"""A real `byline serve` in a process of its own, and a client that asks it as the page does."""

from __future__ import annotations

import io
import json
import os
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

TESTS = Path(__file__).parent
CODE = """
import json, os, resource, sys
from pathlib import Path
import byline.web.line, byline.web.server
from byline.web.limits import Limits
home, limits, worker, most = sys.argv[1:]
os.umask(0)
if worker:
    byline.web.line.WORKER = worker
if int(most):
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), int(most)))
byline.web.server.serve(Path(home), 0, lambda url, door: print(url, flush=True), Limits(**json.loads(limits)))
"""
STAND_IN = "stand_in"
"""A worker that does as the title says, at once, and learns nothing."""
WAIT = 30.0
"""Seconds that anything may take."""
ENDED = ("done", "failed", "cancelled", "interrupted")


class Served:
    """A server that runs, and its client."""

    def __init__(self, process: subprocess.Popen[str], url: str, home: Path) -> None:
        self.process, self.url, self.home = process, url, home
        self.port = urlsplit(url).port or 0
        self.origin = f"http://127.0.0.1:{self.port}"
        self.token = urlsplit(url).path.strip("/")
        self.said = ""
        """On its terminal, known when it has ended."""
        self.client = httpx.Client(base_url=url, headers={"origin": self.origin}, timeout=WAIT)

    def get(self, path: str) -> Any:
        """The JSON at an address, which must be there."""
        answer = self.client.get(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, values: object = None, status: int = 201) -> Any:
        """Ask for something that must be done, or fail with a status; the JSON of the answer."""
        answer = self.client.post(path, content=json.dumps(values))
        assert answer.status_code == status, answer.text
        return answer.json()

    def draft(self) -> str:
        """A new draft's id."""
        return str(self.post("api/drafts")["id"])

    def put(self, draft: str, role: str, name: str, content: Any, **more: Any) -> httpx.Response:
        """Send a file to a draft."""
        address = f"api/drafts/{draft}/files?role={role}&name={quote(name, safe='')}"
        return self.client.put(address, content=content, **more)

    def fill(self, files: Mapping[str, str | bytes]) -> str:
        """A draft with files, each named ROLE/NAME."""
        draft = self.draft()
        for path, content in files.items():
            role, _, name = path.partition("/")
            answer = self.put(draft, role, name, content)
            assert answer.status_code == 201, answer.text
        return draft

    def ask(self, title: str, **options: Any) -> dict[str, Any]:
        """A job about three texts; a stand-in does as its title says."""
        draft = self.fill({f"texts/{n}.txt": f"text number {n}, and more of it" for n in range(3)})
        asked = {"task": "clustering", "draft": draft, "options": {"title": title, **options}}
        return dict(self.post("api/jobs", asked))

    def job(self, name: str) -> dict[str, Any]:
        """How a job stands."""
        return dict(self.get(f"api/jobs/{name}"))

    def wait_for(self, name: str, *states: str) -> dict[str, Any]:
        """The job, as soon as it is in one of these states, or has ended."""
        return dict(until(lambda: (job := self.job(name))["state"] in (states or ENDED) and job))

    def send(self, data: bytes) -> bytes:
        """What is answered to bytes as they are; empty where the connection is just closed."""
        with socket.create_connection(("127.0.0.1", self.port), WAIT) as connection:
            connection.sendall(data)
            return read_all(connection)

    def stop(self, number: int = 15) -> int:
        """End it by a signal; its exit code."""
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
        """Whether it answers."""
        return self.client.get("api/jobs").status_code == 200

    def drafts(self) -> list[Path]:
        """All files of drafts."""
        return files_below(self.home / "drafts")


def begin(
    home: Path, worker: str = "", most_bytes: int = 0, env: Mapping[str, str] | None = None, **limits: object
) -> Served:
    """A server with limits of one's own, as soon as it can be asked."""
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    process = subprocess.Popen(
        [sys.executable, "-c", CODE, str(home), json.dumps(limits), worker, str(most_bytes)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **(env or {})},
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    if not url:
        assert process.stderr is not None
        raise AssertionError(process.stderr.read())
    return Served(process, url, home)


@contextmanager
def serving(home: Path, broken: bool = False, **more: Any) -> Iterator[Served]:
    """The same, for a while; it has to end well, without faults of the program unless a worker is `broken`."""
    served = begin(home, **more)
    try:
        yield served
    finally:
        code = served.stop()
    assert code == 0, served.said
    assert broken or "Traceback" not in served.said, served.said


def until(look: Callable[[], Any], seconds: float = WAIT) -> Any:
    """What a look finds, as soon as it finds something."""
    end = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)
    return found


def read_all(connection: socket.socket) -> bytes:
    """All that comes until the other side is done, or breaks off."""
    found = b""
    try:
        while piece := connection.recv(1 << 16):
            found += piece
    except ConnectionResetError:
        pass
    return found


def is_running(process: int) -> bool:
    """Whether there is such a process, and it is no dead one that nobody has asked after."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children_of(process: int) -> list[int]:
    """The processes that one began."""
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def files_below(folder: Path) -> list[Path]:
    """All files and folders in a folder, at any depth."""
    return sorted(folder.rglob("*"))


def zipped(files: Mapping[str, str | bytes]) -> bytes:
    """An archive of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()
