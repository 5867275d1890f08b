"""The pages on how to add an engine, an interpretation and a format: all their steps, done on a copy of the source."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from byline.cli import app
from byline.engines.protocol import load_engine
from byline.settings.settings import ENGINES, Engine
from paths import ROOT
from samples import habits

PAGES = ("write-an-engine", "write-an-interpretation", "write-a-format")
LONGEST = 120
"""Lines: one page each."""
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

Run = Callable[..., str]


def page(name: str) -> str:
    return (ROOT / "docs" / "how-to" / f"{name}.md").read_text("utf-8")


def blocks(name: str, kind: str) -> list[str]:
    return [body for said, body in BLOCK.findall(page(name)) if said == kind]


def files_of(name: str) -> dict[str, str]:
    """The Python files that a page has, by where it says that they go: the last path before the block."""
    found = {}
    for match in BLOCK.finditer(page(name)):
        if match[1] == "python":
            found[re.findall(r"`((?:src|tests)/[\w/]+\.py)`", page(name)[: match.start()])[-1]] = match[2]
    return found


def changed_by(name: str) -> list[str]:
    return re.findall(r"^--- (\S+)", "".join(blocks(name, "diff")), re.MULTILINE)


def scripts_of(name: str) -> set[str]:
    """Those that a page says to run."""
    return set(re.findall(r"`python (docs/\w+\.py)`", page(name)))


def apply(changes: str, folder: Path) -> None:
    """Make the changes of a page: of what stands there the next such line is meant, and must be there."""
    for part in re.split(r"^--- ", changes, flags=re.MULTILINE)[1:]:
        path, _, body = part.partition("\n")
        lines, place = (folder / path).read_text("utf-8").split("\n"), 0
        for change in body.splitlines():
            sign, line = change[:1], change[1:]
            if sign != "+":
                assert line in lines[place:], f"{path} has no line {line!r}"
                place = lines.index(line, place) + (sign == " ")
            if sign == "-":
                del lines[place]
            if sign == "+":
                lines.insert(place, line)
                place += 1
        (folder / path).write_text("\n".join(lines), "utf-8")


def unneeded(folder: str, names: list[str]) -> list[str]:
    """What is not copied: of what Python keeps only compiled code is, which is good for the same sources anywhere."""
    if Path(folder).name == "__pycache__":
        return [name for name in names if not name.endswith((".nbi", ".nbc"))]
    return [name for name in names if name == "node_modules"]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source, the tests and the docs with what the three pages add."""
    folder = tmp_path_factory.mktemp("copy")
    for part in ("src", "tests", "docs"):
        shutil.copytree(ROOT / part, folder / part, ignore=unneeded)
    for name in ("pyproject.toml", "CONTRIBUTING.md", "CITATION.cff"):
        shutil.copy(ROOT / name, folder)
    for name in PAGES:
        for path, body in files_of(name).items():
            assert not (folder / path).exists(), path
            (folder / path).write_text(body, "utf-8")
        for changes in blocks(name, "diff"):
            apply(changes, folder)
    return folder


@pytest.fixture(scope="module")
def execute(copy: Path) -> Run:
    """Runs a command with the copy in the place of the package."""
    environment = {**os.environ, "PYTHONPATH": str(copy / "src")}

    def execute(*words: str, cwd: Path = copy) -> str:
        command = [sys.executable, *words]
        done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return execute


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to work in: `problems` by made-up authors with habits of their own, half of them yes; films, letters."""
    folder = tmp_path_factory.mktemp("work")
    truth = []
    for number in range(12):
        problem = folder / "problems" / f"EN{number:03d}"
        problem.mkdir(parents=True)
        same = number % 2 == 0
        (problem / "known01.txt").write_text(habits(number, 3000, "known"), "utf-8")
        (problem / "unknown.txt").write_text(habits(number if same else number + 100, 3000, "unknown"), "utf-8")
        truth.append(f"EN{number:03d} {'Y' if same else 'N'}\n")
    ids = [line.split()[0] for line in truth]
    (folder / "problems" / "contents.json").write_text(json.dumps({"language": "English", "problems": ids}), "utf-8")
    (folder / "problems" / "truth.txt").write_text("".join(truth), "utf-8")
    (folder / "others").mkdir()
    for number in range(12):
        (folder / "others" / f"{number}.txt").write_text(habits(number + 200, 2000), "utf-8")
    (folder / "letter.txt").write_text(habits("writer", 2000, "letter"), "utf-8")
    words = habits("writer", 2000, "film").split()
    cues = [" ".join(words[start : start + 9]) for start in range(0, len(words), 9)]
    times = "00:00:01,000 --> 00:00:02,000"
    (folder / "film.srt").write_text("\n".join(f"{n}\n{times}\n{cue}\n" for n, cue in enumerate(cues)), "utf-8")
    (folder / "film.txt").write_text("\n".join(cues), "utf-8")
    return folder


def commands(name: str) -> list[str]:
    return [
        line.removeprefix("$ ") for body in blocks(name, "console") for line in body.splitlines() if line[:2] == "$ "
    ]


FOLLOW = """
import json, sys
from typer.testing import CliRunner
from byline.cli import app
printed = []
for words in json.loads(sys.argv[1]):
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    printed.append(done.stdout)
print(json.dumps(printed))
"""


def follow(name: str, execute: Run, folder: Path, *more: str) -> list[str]:
    """What the commands of a page print, and some more, one after the other, in a folder and in one process."""
    given = [shlex.split(command) for command in [*commands(name), *more]]
    for words in given:
        if words[0] == "echo":
            (folder / words[3]).write_text(words[1] + "\n", "utf-8")
        else:
            assert words[0] == "byline"
    asked = [words[1:] for words in given if words[0] == "byline"]
    printed: list[str] = json.loads(execute("-c", FOLLOW, json.dumps(asked), cwd=folder))
    return printed


@pytest.mark.parametrize("name", PAGES)
def test_each_is_one_page_of_tidy_code(name: str, copy: Path) -> None:
    assert len(page(name).splitlines()) <= LONGEST
    code = [*files_of(name), *(path for path in changed_by(name) if path.endswith(".py"))]
    for words in (["check"], ["format", "--check"]):
        command = [sys.executable, "-m", "ruff", *words, "--no-cache", *code]
        done = subprocess.run(command, capture_output=True, text=True, cwd=copy, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", PAGES)
def test_each_says_what_writes_the_docs_anew(name: str) -> None:
    """A file more changes the picture of the architecture, a word in the settings what commands and settings offer."""
    wanted = {"docs/architecture.py"} | (
        {"docs/generate.py"} if "src/byline/settings/settings.py" in changed_by(name) else set()
    )
    assert scripts_of(name) == wanted


def test_a_change_that_no_longer_fits_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\ntwo\n", "utf-8")
    apply("--- a.py\n one\n-two\n+three\n", tmp_path)
    assert (tmp_path / "a.py").read_text("utf-8") == "one\nthree\ntwo\n"
    with pytest.raises(AssertionError, match=r"a.py has no line 'four'"):
        apply("--- a.py\n four\n+five\n", tmp_path)
    with pytest.raises(AssertionError, match=r"a.py has no line 'one'"):
        apply("--- a.py\n two\n one\n", tmp_path)


def test_every_engine_that_settings_name_has_a_row_and_a_file() -> None:
    assert set(ENGINES) == set(get_args(Engine))
    assert all(load_engine(name).__module__ == f"byline.engines.{ENGINES[name].module}" for name in ENGINES)


def test_the_engine_answers_problems(execute: Run, corpus: Path) -> None:
    folder = corpus / "engine"
    shutil.copytree(corpus / "problems", folder / "problems")
    answered, measured = follow("write-an-engine", execute, folder)
    assert "Engines: delta\n" in answered
    assert auc_of(folder) >= 0.8
    assert "AUC" in measured


def test_the_interpretation_answers_problems(execute: Run, corpus: Path) -> None:
    folder = corpus / "interpretation"
    shutil.copytree(corpus / "problems", folder / "problems")
    report = "byline report out -o report.html"
    answered, again, *_ = follow("write-an-interpretation", execute, folder, report)
    assert "Interpretation: margin, by what margin the known author's head beats the median head\n" in answered
    assert "Interpretation: rank, " in again
    assert auc_of(folder) >= 0.8
    assert "margin" in (folder / "report.html").read_text("utf-8")


def auc_of(folder: Path) -> float:
    done = CliRunner().invoke(app, ["evaluate", f"{folder}/out/answers.txt", f"{folder}/problems/truth.txt", "--json"])
    (row,) = json.loads(done.stdout)["corpora"]
    return float(row["auc"])


def test_the_format_is_read(execute: Run, corpus: Path) -> None:
    read, answered = follow("write-a-format", execute, corpus)
    assert (corpus / "film.txt").read_text("utf-8") in read
    assert "film.srt" in answered


CHOOSE = '''
"""Of all tests only those that ask what the pages add, and some that list what there is."""

ADDED = ("delta", "margin", "margins", "subtitles", ".srt", "document .srt", "commands.md", "settings.md")
LISTS = ("another_seed", "page_offers", "margin_by_hand", "up_to_date", "fixed_set_is_whole")


def pytest_collection_modifyitems(items):
    items[:] = [item for item in items if asks(item) and "damaged_file" not in item.name]


def asks(item):
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    names = [getattr(value, "engine", getattr(value, "stem", value)) for value in values]
    return any(name in ADDED for name in names if isinstance(name, str)) or any(each in item.name for each in LISTS)
'''


QUICKLY = {
    "docs/generate.py": """
import sys
sys.path.insert(0, "docs")
import generate
for page in ("commands.md", "settings.md"):
    (generate.HERE / page).write_text(generate.PAGES[page](), "utf-8")
"""
}
"""In the place of a script: what is in json.md takes long, and is the same whatever engines and interpretations are."""


def test_what_the_pages_add_keeps_the_contracts_of_what_is_built_in(copy: Path, execute: Run) -> None:
    """It comes last: what is compiled for the tests before is there."""
    for script in sorted(set[str]().union(*map(scripts_of, PAGES))):
        execute(*(["-c", QUICKLY[script]] if script in QUICKLY else [script]))
    (copy / "tests" / "support" / "choose.py").write_text(CHOOSE, "utf-8")
    files = [
        "judgment/test_margins", "engines/test_engines", "settings/test_settings", "judgment/test_interpreters",
        "corpora/formats/test_formats", "robustness/test_fuzzing", "web/test_uploads", "project/test_architecture",
        "cli/test_completion", "project/test_docs",
    ]  # fmt: skip
    paths = [f"tests/{name}.py" for name in files]
    printed = execute("-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "-p", "choose", "-rA", *paths)
    passed = re.findall(r"^PASSED tests/(.+)$", printed, re.MULTILINE)
    assert {
        "judgment/test_margins.py::test_a_margin_by_hand",
        "judgment/test_interpreters.py::test_what_a_head_was_trained_on_is_never_compared[margin]",
        "corpora/formats/test_formats.py::TestTwins::test_a_document_reads_like_its_text_file[.srt]",
        "robustness/test_fuzzing.py::test_whatever_it_is_given_it_answers_or_says_why_not[document .srt]",
        "web/test_uploads.py::test_the_page_offers_what_can_be_read_and_says_what_is_missing",
        "project/test_architecture.py::test_picture_and_page_are_up_to_date",
        "cli/test_completion.py::test_each_fixed_set_is_whole",
        "project/test_docs.py::test_generated_pages_are_up_to_date[commands.md]",
        "project/test_docs.py::test_generated_pages_are_up_to_date[settings.md]",
    } <= set(passed)
    engine = [name for name in passed if name.startswith("engines/test_engines.py")]
    for contract in ("own_and_a_sample", "can_be_stopped", "preferred_by_nobody", "change_no_matrix"):
        assert any(contract in name for name in engine), contract
