"""What the library never does, whatever it is given: no network, no other program, nothing run that was read."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import byline
from conftest import MakeCorpus, phrase, small_problems

SOURCE = Path(byline.__file__).parent
FORBIDDEN_MODULES = {
    "pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "code", "codeop", "ctypes", "ftplib", "smtplib",
    "telnetlib", "xmlrpc", "requests", "httpx", "aiohttp", "urllib3", "webbrowser", "subprocess", "socket", "ssl",
}  # fmt: skip
ALLOWED = {
    ("web/server.py", "socket"): "binds 127.0.0.1",
    ("commands/serve.py", "webbrowser"): "opens the page that it serves",
}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__"}
FORBIDDEN_ATTRIBUTES = {
    ("os", "system"), ("os", "popen"), ("pickle", "load"), ("pickle", "loads"), ("np", "load"), ("joblib", "load"),
    ("urllib", "request"), ("asyncio", "create_subprocess_shell"),
}  # fmt: skip


@cache
def trees() -> list[tuple[str, ast.AST]]:
    return [(str(path.relative_to(SOURCE)), ast.parse(path.read_text("utf-8"))) for path in SOURCE.rglob("*.py")]


def imported(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {name.name.split(".")[0] for name in node.names}
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add("urllib.request" if node.module == "urllib.request" else node.module.split(".")[0])
    return found


def test_no_module_can_run_what_it_reads_or_ask_a_network() -> None:
    wrong = {
        (path, name) for path, tree in trees() for name in imported(tree) & (FORBIDDEN_MODULES | {"urllib.request"})
    }
    assert wrong == set(ALLOWED)


def test_nothing_is_evaluated_unpickled_or_given_to_a_shell() -> None:
    wrong = []
    for path, tree in trees():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = node.func
            if isinstance(name, ast.Name) and name.id in FORBIDDEN_CALLS:
                wrong.append((path, name.id))
            if isinstance(name, ast.Attribute) and isinstance(name.value, ast.Name):
                wrong += [(path, each) for each in FORBIDDEN_ATTRIBUTES if each == (name.value.id, name.attr)]
            wrong += [(path, each.arg) for each in node.keywords if each.arg in ("shell", "allow_pickle")]
    assert wrong == []


PRELUDE = """
import sys
from pathlib import Path
def refuse(event, arguments):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        raise SystemExit(f"reached for a network: {event} {arguments}")
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "webbrowser.open"):
        raise SystemExit(f"started a program: {event} {arguments}")
    if event == "pickle.find_class" and not any("numba" in name for name in callers()):
        raise SystemExit(f"unpickled {arguments}")
def callers():
    frame = sys._getframe()
    while frame is not None:
        yield frame.f_code.co_filename
        frame = frame.f_back
sys.addaudithook(refuse)
"""
"""Python tells such a hook what a program does, however it goes about it. numba's cache of compiled code is pickled."""

JOBS = """
from byline.__main__ import main
for words in JOBS:
    sys.argv = ["byline", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, (words, end.code)
"""


@pytest.fixture
def home(make_corpus: MakeCorpus, tmp_path: Path) -> Path:
    make_corpus(small_problems())
    for author in range(3):
        folder = tmp_path / "authors" / f"author{author}"
        folder.mkdir(parents=True)
        for salt in range(2):
            (folder / f"{salt}.txt").write_text(phrase(author, 900, salt), encoding="utf-8")
    (tmp_path / "page.html").write_text(
        '<p>It was late.</p><img src="http://127.0.0.1:9/x.png"><link rel="stylesheet" href="http://127.0.0.1:9/a.css">',
        encoding="utf-8",
    )
    (tmp_path / "tei.xml").write_text(
        '<!DOCTYPE TEI SYSTEM "http://127.0.0.1:9/tei.dtd"><TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>'
        "<p>It was late.</p></body></text></TEI>",
        encoding="utf-8",
    )
    return tmp_path


def test_no_job_reaches_for_a_network_or_another_program(home: Path) -> None:
    jobs = [
        ["verify", "corpus", "-o", "out", "--set", "hidden=3", "--set", "sub_epochs=1", "--workers", "2"],
        ["explain", "out", "EN001"],
        ["report", "out", "-o", "report.html"],
        ["plot", "out", "heatmap", "-o", "figure.svg"],
        ["train", "authors", "-o", "m.byline"],
        ["attribute", "m.byline", "authors/author1/0.txt", "--report", "attribution.html"],
        ["cluster", "authors", "-o", "clusters"],
        ["text", "page.html"],
        ["text", "tei.xml"],
        ["presets"],
    ]
    script = f"{PRELUDE}\nJOBS = {jobs!r}\n{JOBS}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=home, check=False)
    assert done.returncode == 0, done.stderr
    assert (home / "report.html").exists()


@pytest.mark.parametrize(
    "deed",
    [
        "import socket; socket.socket().connect(('127.0.0.1', 9))", "import socket; socket.getaddrinfo('a.b', 80)",
        "import subprocess; subprocess.run(['true'])", "import os; os.system('true')",
        "import pickle, decimal; pickle.loads(pickle.dumps(decimal.Decimal(1)))",
    ],
)  # fmt: skip
def test_the_watch_sees_such_things(deed: str) -> None:
    """Or the test above could not fail."""
    done = subprocess.run([sys.executable, "-c", PRELUDE + deed], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert any(word in done.stderr for word in ("reached for a network", "started a program", "unpickled"))
