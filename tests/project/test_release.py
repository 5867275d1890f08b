"""What is released: wheel and sdist, each installed in fresh environments and used there from another folder.

uv makes the environments, from the index that pip is configured with: the oldest packages that are allowed and the
newest, each Python that is found. All must give the same answers.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import urllib.request
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from functools import cache
from pathlib import Path

import pytest
from docx import Document
from typer.testing import CliRunner

import byline
from byline.cli import app
from byline.corpora.problems import builtin_problems
from byline.diagnostics import EXTRAS
from byline.engines.profiles import kernels as profile_kernels
from paths import ROOT

UV = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
VERSIONS = ("3.11", "3.12", "3.13")
THIS = f"{sys.version_info.major}.{sys.version_info.minor}"
LIMIT = 600
"""Seconds that anything may take: a build, an installation, a command."""
OLDEST = {"3.11": "1.26.0", "3.12": "1.26.0", "3.13": "2.1.0"}
"""The first NumPy that has a wheel for a Python, of those that are allowed."""
TOLERANCE = 1e-5
"""How far a score may be off with other packages or another Python; scores are printed to six places."""


@dataclass(frozen=True)
class Built:
    """What was built: a wheel from the sources, an sdist, and a wheel from that."""

    wheel: Path
    sdist: Path
    again: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("dist")
    # the build tools are installed with the tests' own, so nothing is fetched
    for place, options in (("first", ["--wheel"]), ("second", [])):
        command = [
            sys.executable,
            "-m",
            "build",
            "--no-isolation",
            "--outdir",
            str(folder / place),
            *options,
            str(ROOT),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LIMIT)
        assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = (folder / "first").glob("*.whl")
    (sdist,) = (folder / "second").glob("*.tar.gz")
    (again,) = (folder / "second").glob("*.whl")
    return Built(wheel, sdist, again)


def about(wheel: Path) -> Message:
    archive = zipfile.ZipFile(wheel)
    (name,) = (each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
    return Parser().parsestr(archive.read(name).decode())


def test_the_wheel_holds_the_package_and_nothing_else(built: Built) -> None:
    names = zipfile.ZipFile(built.wheel).namelist()
    assert all(name.startswith(("byline/", f"byline-{byline.__version__}.dist-info/")) for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    tracked = {f"byline/{path.relative_to(ROOT / 'src/byline')}" for path in (ROOT / "src/byline").rglob("*")
               if path.is_file() and "__pycache__" not in path.parts}  # fmt: skip
    assert {name for name in names if name.startswith("byline/")} == tracked
    for needed in (
        "py.typed", "diagnostics/answers.json", "settings/presets/best.toml", "judgment/calibrations/best.json",
        "corpora/texts/english/EN001/unknown.txt", "corpora/texts/greek/truth.txt", "report/assets/report.css",
        "__init__.pyi",
    ):  # fmt: skip
        assert f"byline/{needed}" in names
    assert any(name.startswith("byline/web/assets/") for name in names)


def test_its_metadata_say_what_it_runs_on(built: Built) -> None:
    told = about(built.wheel)
    assert told["Requires-Python"] == ">=3.11"
    assert told["License-Expression"] == "MIT"
    for version in VERSIONS:
        assert f"Programming Language :: Python :: {version}" in told.get_all("Classifier", [])
    assert set(EXTRAS) <= set(told.get_all("Provides-Extra", []))


def test_the_sdist_builds_the_same_wheel(built: Built) -> None:
    first, second = (
        {each.filename: each.CRC for each in zipfile.ZipFile(path).infolist()} for path in (built.wheel, built.again)
    )
    assert first == second


def test_the_sdist_has_the_sources_and_nothing_that_was_made(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    assert {"pyproject.toml", "README.md", "LICENSE", "src/byline/__init__.py", "tests/project/test_release.py"} <= set(
        names
    )
    made = re.compile(r"(^|/)(\.venv|node_modules|__pycache__|scratch|\.git|\.hypothesis)(/|$)")
    assert [name for name in names if made.search(name)] == []


@cache
def index_options() -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Options for uv, and variables of its environment, that have it look where pip does."""
    listing = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False, timeout=LIMIT
    ).stdout
    options, variables = [], {}
    for line in listing.splitlines():
        key, _, value = line.partition("=")
        name = key.rpartition(".")[2]
        words = str(ast.literal_eval(value)).split()
        if name in ("index-url", "extra-index-url", "find-links"):
            options += [part for word in words for part in (f"--{name}", word)]
        elif name == "cert" and words:
            variables["SSL_CERT_FILE"] = words[0]
    # as pip does: the best of all indexes, not only of the first that has the package
    return ("--index-strategy", "unsafe-best-match", *options), tuple(variables.items())


def uv(*words: str) -> str:
    if UV is None:
        pytest.skip("uv is not installed; pip install 'byline[dev]'")
    settings = {**dict(index_options()[1]), **os.environ}
    done = subprocess.run([UV, *words], capture_output=True, text=True, env=settings, check=False, timeout=LIMIT)
    if done.returncode and re.search("error sending request|dns error|Failed to fetch|timed out", done.stderr):
        pytest.skip("uv can't reach an index of packages")
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def interpreter(version: str) -> str:
    """A Python of that version, by its usual name, as pyenv keeps it or as uv finds it; skips where there is none."""
    if version == THIS:
        return sys.executable
    kept = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python{version}")
    for named in (shutil.which(f"python{version}"), *sorted(map(str, kept))):
        if named and subprocess.run([named, "--version"], capture_output=True, check=False, timeout=60).returncode == 0:
            return named
    if UV:
        command = [UV, "python", "find", "--no-python-downloads", version]
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if found.returncode == 0:
            return found.stdout.strip()
    pytest.skip(f"no Python {version} was found on PATH, by pyenv or by uv")


class Environment:
    """A virtual environment of its own, with a folder to work in."""

    def __init__(self, folder: Path, version: str) -> None:
        self.folder = folder
        self.work = folder / "work"
        self.work.mkdir(parents=True)
        uv("venv", "--quiet", "--python", interpreter(version), str(folder / "env"))
        self.bin = folder / "env" / "bin"

    def install(self, *what: str, options: Sequence[str] = ()) -> None:
        here = ["--quiet", "--python", str(self.bin / "python")]
        uv("pip", "install", *here, *options, *index_options()[0], *what)

    def freeze(self) -> set[str]:
        """What is installed."""
        return set(uv("pip", "freeze", "--quiet", "--python", str(self.bin / "python")).splitlines())

    @property
    def variables(self) -> dict[str, str]:
        unwanted = ("PYTHONPATH", "PYTHONWARNINGS", "VIRTUAL_ENV", "MPLBACKEND", "NUMBA_CACHE_DIR")
        kept = {key: value for key, value in os.environ.items() if key not in unwanted}
        return {**kept, "XDG_CACHE_HOME": str(self.folder / "cache")}

    def bring_code(self) -> None:
        """Put the code that was compiled for the tests beside the package: with the same packages it need not be again.

        Those with another Python or older packages can't use it, and compile for themselves.
        """
        (package,) = (self.folder / "env").glob("lib/python*/site-packages/byline")
        (package / "__pycache__").mkdir(exist_ok=True)
        for path in Path(profile_kernels.count_sets._cache.cache_path).glob("*.nb[ic]"):
            shutil.copy(path, package / "__pycache__")

    def run(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.bin / program), *words]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=self.work, env=self.variables, check=False, timeout=LIMIT
        )

    def byline(self, *words: str) -> str:
        done = self.run("byline", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def python(self, code: str) -> str:
        done = self.run("python", "-c", code)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def refusal(self, *words: str) -> str:
        """The one line by which it refuses."""
        done = self.run("byline", *words)
        assert (done.returncode, done.stdout) == (1, ""), done.stdout + done.stderr
        (line,) = done.stderr.splitlines()
        return line


@pytest.fixture
def environment() -> Iterator[Callable[[str], Environment]]:
    """Makes environments, which go when the test is done: they are large where they can't be hard links."""
    with tempfile.TemporaryDirectory() as folder:
        yield lambda version: Environment(Path(folder) / version, version)


@pytest.fixture(scope="module")
def newest(built: Built) -> Iterator[Environment]:
    """One with the newest packages, without extras; what a test adds to it, it takes away again."""
    with tempfile.TemporaryDirectory() as folder:
        here = Environment(Path(folder) / "newest", THIS)
        here.install(str(built.wheel))
        here.bring_code()
        yield here


def scores(here: Environment) -> dict[str, float]:
    """The version is right, and so many answers are given, with little to compile; the run is in `run`."""
    assert here.byline("--version") == f"byline {byline.__version__}\n"
    with builtin_problems("greek") as folder:
        words = ["verify", str(folder), "--engines", "vectors", "--members", "1", "--workers", "1", "--quiet"]
        answered = here.byline(*words, "-o", "run", "--json")
    return {each["id"]: each["score"] for each in json.loads(answered)["answers"]}


@pytest.fixture(scope="module")
def expected() -> dict[str, float]:
    """What is answered where the tests run."""
    with builtin_problems("greek") as folder:
        words = ["verify", str(folder), "--engines", "vectors", "--members", "1", "--workers", "1", "--quiet", "--json"]
        done = CliRunner().invoke(app, words)
    return {each["id"]: each["score"] for each in json.loads(done.stdout)["answers"]}


def test_the_wheel_works_with_the_newest_packages_and_says_how_to_have_the_extras(
    expected: dict[str, float], newest: Environment
) -> None:
    assert scores(newest) == pytest.approx(expected, abs=TOLERANCE)
    assert complete_extras(newest) == []
    for extra, refuse in REFUSES.items():
        assert f"pip install 'byline[{extra}]'" in refuse(newest)


@pytest.mark.parametrize("version", [each for each in VERSIONS if each != THIS])
def test_the_wheel_works_with_another_python(
    built: Built, expected: dict[str, float], environment: Callable[[str], Environment], version: str
) -> None:
    here = environment(version)
    here.install(str(built.wheel))
    assert scores(here) == pytest.approx(expected, abs=TOLERANCE)


def test_it_works_with_the_oldest_packages_that_are_allowed_and_so_do_all_extras(
    built: Built, expected: dict[str, float], environment: Callable[[str], Environment]
) -> None:
    here = environment(THIS)
    # what would have to be compiled is not meant: the first of some packages are older than this Python
    options = ["--resolution", "lowest-direct", "--only-binary", ":all:"]
    here.install(str(built.wheel), *requirements(built.wheel), options=options)
    installed = here.python("from importlib.metadata import version; print(version('typer'), version('numpy'))")
    assert installed.split() == ["0.19.0", OLDEST[THIS]]
    assert scores(here) == pytest.approx(expected, abs=TOLERANCE)
    for extra in EXTRAS:
        WORKS[extra](here)


def requirements(wheel: Path) -> list[str]:
    """What the package and its extras for users ask for; named themselves, or uv would take only Byline for old."""
    found = []
    for line in about(wheel).get_all("Requires-Dist", []):
        wanted, _, marker = line.partition(";")
        extra = re.search(r"extra == '(.*)'", marker)
        if extra is None or extra[1] in EXTRAS:
            found.append(wanted.strip())
    return found


def complete_extras(here: Environment) -> list[str]:
    """Those of which all parts are there and can be loaded."""
    look = "from byline.diagnostics import check_extras"
    code = f"{look}; print(*[each.name for each in check_extras().findings if each.state == 'well'])"
    return here.python(code).split()


def draw(here: Environment) -> None:
    here.byline("plot", "run", "heatmap", "-o", "figure.svg")
    assert "</svg>" in (here.work / "figure.svg").read_text("utf-8")


def write_documents(here: Environment) -> None:
    document = Document()
    document.add_paragraph("A line of a letter.")
    document.save(str(here.work / "letter.docx"))
    (here.work / "letter.md").write_text("# Title\n\nA *line* of a letter.\n", encoding="utf-8")


def read(here: Environment) -> None:
    write_documents(here)
    assert here.byline("text", "letter.docx", "letter.md").count("A line of a letter.") == 2


def serve(here: Environment) -> None:
    command = [str(here.bin / "byline"), "serve", "--no-browser", "--port", "0", "--home", "home"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=here.work, env=here.variables
    ) as server:
        late = threading.Timer(LIMIT, server.kill)
        late.start()
        try:
            assert server.stdout
            line = server.stdout.readline()
            assert line.startswith("Byline is at "), line + (server.stderr.read() if server.stderr else "")
            with urllib.request.urlopen(line.split()[-1], timeout=60) as page:
                assert b"</html>" in page.read()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)
            late.cancel()


FRAME = """
from byline.corpora.answers import to_frame
print(to_frame([{"id": "EN001", "answer": .7}], ("id", "answer")).shape)
"""
CLUSTER = "import distributed; from byline.runs.workers import cluster_size; print(cluster_size)"


def tabulate(here: Environment) -> None:
    assert here.python(FRAME) == "(1, 2)\n"


def reach(here: Environment) -> None:
    assert "function" in here.python(CLUSTER)


def refuse_to_read(here: Environment) -> str:
    write_documents(here)
    return here.refusal("text", "letter.docx")


def refuse_to_tabulate(here: Environment) -> str:
    done = here.run("python", "-c", FRAME)
    return done.stderr.splitlines()[-1]


def refuse_to_reach(here: Environment) -> str:
    with builtin_problems("greek") as folder:
        return here.refusal("verify", str(folder), "--json", "--quiet", "--cluster", "tcp://127.0.0.1:1")


WORKS = {"cluster": reach, "documents": read, "figures": draw, "pandas": tabulate, "web": serve}
"""For each extra, that what needs it works."""
REFUSES: dict[str, Callable[[Environment], str]] = {
    "cluster": refuse_to_reach,
    "documents": refuse_to_read,
    "figures": lambda here: here.refusal("plot", "run", "heatmap", "-o", "figure.svg"),
    "pandas": refuse_to_tabulate,
    "web": lambda here: here.refusal("serve", "--no-browser"),
}
"""And what is said where it is absent."""
