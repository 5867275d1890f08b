"""The library uses no network, starts no program, and executes nothing that it reads."""

from __future__ import annotations

import ast
import builtins
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import typer.main

import byline
import targets
from byline.cli import app, load_commands
from samples import MakeCorpus, phrase, small_problems

SOURCE = Path(byline.__file__).parent
FORBIDDEN = (
    "pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve", "code", "codeop", "ctypes", "runpy", "pty",
    "ftplib", "smtplib", "telnetlib", "xmlrpc", "requests", "httpx", "aiohttp", "urllib3", "urllib.request",
    "http.client", "http.server", "webbrowser", "socket", "ssl", "asyncio.open_connection", "asyncio.start_server",
    "subprocess", "multiprocessing", "concurrent.futures.ProcessPoolExecutor", "os.system", "os.popen", "os.fork",
    "os.exec", "os.spawn", "os.posix_spawn", "asyncio.create_subprocess", "numpy.load", "joblib.load",
    "importlib.import_module", "builtins", "eval", "exec", "compile", "__import__",
)  # fmt: skip
"""Original names that the program must not use, with everything below them, and longer names in os and asyncio."""
ALLOWED = {
    ("web/server.py", "socket"): "binds 127.0.0.1",
    ("web/processes.py", "asyncio.create_subprocess_exec"): "starts the page's own workers",
    ("cli/serve.py", "webbrowser"): "opens the page that it serves",
    ("cli/__init__.py", "importlib.import_module"): "its own commands, by the names in a table",
    ("engines/protocol.py", "importlib.import_module"): "its own modules, by names that settings have checked",
    ("corpora/formats/extraction.py", "importlib.import_module"): "libraries that read documents, by fixed names",
    ("diagnostics/__init__.py", "importlib.import_module"): "packages of extras, by the names in a table",
}


@cache
def trees() -> list[tuple[str, ast.AST]]:
    return [(str(path.relative_to(SOURCE)), ast.parse(path.read_text("utf-8"))) for path in SOURCE.rglob("*.py")]


def names_in(tree: ast.AST) -> set[str]:
    """Return all dotted names that a module uses or imports, under their original names."""
    comes_from: dict[str, str] = {}
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
            comes_from |= {each.asname or each.name.split(".")[0]: each.name if each.asname else each.name.split(".")[0]
                           for each in node.names}  # fmt: skip
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{each.name}" for each in node.names}
            comes_from |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    for node in ast.walk(tree):
        dotted: list[str] = []
        while isinstance(node, ast.Attribute):
            dotted.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Name) and node.id in comes_from:
            found.add(".".join([comes_from[node.id], *dotted]))
        elif isinstance(node, ast.Name) and hasattr(builtins, node.id):
            found.add(node.id)
    return found


def forbidden(names: set[str]) -> set[str]:
    """Return the forbidden ones among some names, each under its shortest name."""
    wrong = set()
    for name in names:
        for each in FORBIDDEN:
            longer = each.startswith(("os.", "asyncio.")) and name.startswith(each)
            if name == each or name.startswith(f"{each}.") or longer:
                wrong.add(name if longer else each)
    return wrong


def test_no_module_can_run_what_it_reads_or_ask_a_network() -> None:
    assert {(path, name) for path, tree in trees() for name in forbidden(names_in(tree))} == set(ALLOWED)


def test_nothing_is_unpickled_or_given_to_a_shell_by_an_option() -> None:
    wrong = [
        (path, each.arg)
        for path, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for each in node.keywords
        if each.arg in ("shell", "allow_pickle")
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "code",
    [
        "import urllib.request; urllib.request.urlopen(x)", "from urllib import request", "import http.client as c",
        "import asyncio; asyncio.open_connection(x)", "import asyncio; asyncio.create_subprocess_exec(x)",
        "import os; os.execv(x)", "import os; os.posix_spawn(x)", "from os import system", "from os import system as s",
        "import multiprocessing.pool", "import numpy as np; np.load(x)", "import builtins; builtins.eval(x)",
        "from importlib import import_module; import_module(x)", "eval(x)", "from socket import create_connection",
    ],
)  # fmt: skip
def test_forbidden_names_are_found_in_sources(code: str) -> None:
    assert forbidden(names_in(ast.parse(code)))
    assert not forbidden(names_in(ast.parse("import os, re; os.environ; re.compile(x); model.eval(); numpy.loads")))


PRELUDE = """
import os, sys
from pathlib import Path
def refuse(event, arguments):
    if event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        end(f"reached for a network: {event} {arguments}")
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "webbrowser.open"):
        end(f"started a program: {event} {arguments}")
    if event == "pickle.find_class" and not any("numba" in name for name in callers()):
        end(f"unpickled {arguments}")
def end(reason):  # at once, in any thread, whatever is caught
    os.write(2, reason.encode())
    os._exit(97)
def callers():
    frame = sys._getframe()
    while frame is not None:
        yield frame.f_code.co_filename
        frame = frame.f_back
sys.addaudithook(refuse)
"""
"""Python reports to an audit hook what a program does, in any way. Only numba's cache of compiled code is pickled."""

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
    truth = "".join(f"EN{number:03d} {'NY'[number % 2]}\n" for number in range(1, 13))
    make_corpus(small_problems(12), truth=truth)
    for ending, write in targets.WRITERS.items():
        (tmp_path / f"a{ending}").write_bytes(write(targets.PROSE))
    for author in range(4):
        folder = tmp_path / ("authors" if author < 3 else "more") / f"author{author}"
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


SMALL = ("--engines", "rnn", "--members", "2", "--set", "hidden=3", "--set", "sub_epochs=1")
COMMANDS = {
    "verify": [["verify", "corpus", "-o", "out", *SMALL, "--workers", "2"], ["verify", "corpus", "-o", "b", *SMALL]],
    "evaluate": [["evaluate", "out", "corpus/truth.txt"]],
    "compare": [["compare", "out", "b", "corpus/truth.txt"]],
    "calibrate": [["calibrate", "corpus", "-o", "c.json", *SMALL]],
    "combine": [["combine", "out", "b", "-o", "both"]],
    "runs show": [["runs", "show", "both"]],
    "explain": [["explain", "out", "EN001"]],
    "report": [["report", "out", "-o", "report.html"]],
    "plot": [["plot", "out", "heatmap", "-o", "figure.svg"]],
    "train": [["train", "authors", "-o", "m.byline"]],
    "enroll": [["enroll", "m.byline", "more", "-o", "n.byline"]],
    "inspect": [["inspect", "n.byline"]],
    "attribute": [["attribute", "m.byline", "authors/author1/0.txt", "--report", "attribution.html"]],
    "rolling": [["rolling", "m.byline", "authors/author1/0.txt", "--window", "500", "--step", "200"]],
    "generate": [["generate", "m.byline", "--author", "author1", "--length", "20"]],
    "cluster": [["cluster", "authors", "-o", "clusters"]],
    "reference build": [["reference", "build", "authors", "-o", "ref"]],
    "reference check": [["reference", "check", "ref", "corpus"]],
    "prepare": [["prepare", "corpus"]],
    "text": [["text", "page.html", "tei.xml", "a.docx", "a.odt", "a.pdf", "a.epub", "a.rtf", "a.md"]],
    "presets": [["presets"]],
    "demo": [["demo", "--texts", "texts"]],
}
"""Arguments of every command except `serve` and `doctor`."""


def test_no_command_reaches_for_a_network_or_another_program(home: Path) -> None:
    jobs = [words for each in COMMANDS.values() for words in each]
    script = f"{PRELUDE}\nJOBS = {jobs!r}\n{JOBS}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=home, check=False)
    assert done.returncode == 0, done.stderr
    assert (home / "report.html").exists()


def test_all_commands_are_tried() -> None:
    assert set(load_commands(typer.main.get_command(app))) == {*COMMANDS, "serve", "doctor"}


@pytest.mark.parametrize(
    "deed",
    [
        "import socket; socket.socket().connect(('127.0.0.1', 9))", "import socket; socket.getaddrinfo('a.b', 80)",
        "import subprocess; subprocess.run(['true'])", "import os; os.system('true')",
        "import pickle, decimal; pickle.loads(pickle.dumps(decimal.Decimal(1)))",
        "import os, threading; threading.Thread(target=os.system, args=('true',)).start()",
        "import socket\ntry: socket.socket().connect(('127.0.0.1', 9))\nexcept BaseException: pass",
    ],
)  # fmt: skip
def test_the_audit_hook_sees_such_things(deed: str) -> None:
    done = subprocess.run([sys.executable, "-c", PRELUDE + deed], capture_output=True, text=True, check=False)
    assert done.returncode == 97
    assert any(word in done.stderr for word in ("reached for a network", "started a program", "unpickled"))
