"""Every block of code in the documentation is run, read, or says why not; every page has an owner."""

from __future__ import annotations

import json
import re
import textwrap
import tomllib
from pathlib import Path

import pytest

from byline.figures.styles import read_styles
from byline.settings.settings import read_pool
from byline.tasks.attribute import Attributions
from codeblocks import (
    CSV,
    FILE,
    NOT_RUN,
    PAGES,
    PRINTED,
    QUOTED,
    ROOT,
    Block,
    Command,
    Session,
    alike,
    blocks_of,
    commands_of,
    find_fault,
    prose_of,
    sample_files,
    write_files,
)

HERE, SITE, DOCS, HOW_TO, LIMITS = "test_code_blocks", "test_site", "test_docs", "test_how_to", "test_limits"
WALK = "test_walk"  # types all that README.md says

OWNERS = {
    "CONTRIBUTING.md": HERE,
    "README.md": WALK,
    "SECURITY.md": HERE,
    "docs/api.md": SITE,
    "docs/architecture.md": "test_architecture",
    "docs/attribution.md": HERE,
    "docs/commands.md": DOCS,
    "docs/design.md": HERE,
    "docs/ensembles.md": HERE,
    "docs/ethics.md": LIMITS,
    "docs/evaluation.md": DOCS,
    "docs/figures.md": HERE,
    "docs/file-formats.md": HERE,
    "docs/how-to/calibrate.md": HERE,
    "docs/how-to/cluster.md": HERE,
    "docs/how-to/read-a-report.md": HERE,
    "docs/how-to/reference.md": HERE,
    "docs/how-to/write-a-format.md": HOW_TO,
    "docs/how-to/write-an-engine.md": HOW_TO,
    "docs/how-to/write-an-interpretation.md": HOW_TO,
    "docs/index.md": SITE,
    "docs/installing.md": HERE,
    "docs/json.md": DOCS,
    "docs/judgment.md": HERE,
    "docs/limits.md": LIMITS,
    "docs/method.md": HERE,
    "docs/performance.md": DOCS,
    "docs/python-api.md": HERE,
    "docs/quickstart.md": HERE,
    "docs/reliability.md": DOCS,
    "docs/reports.md": HERE,
    "docs/settings.md": DOCS,
    "docs/tutorials/forensic.md": HERE,
    "docs/tutorials/literary.md": HERE,
    "docs/tutorials/pan.md": HERE,
    "docs/tutorials/python.md": HERE,
    "docs/web.md": HERE,
}
"""The test that answers for what a page says beyond what is checked of all pages here."""

BEFORE = {
    "docs/attribution.md": (),
    "docs/ensembles.md": (
        "byline verify problems/ -o out-a/ --engines vectors --members 1",
        "byline verify problems/ -o out-b/ --engines ngram --members 1",
    ),
    "docs/quickstart.md": ("byline verify problems/ -o out-of-another/ --engines vectors --members 1",),
    "docs/reports.md": ("byline train novels/ -o novels.byline --engines vectors,ngram",),
}
"""What must have been done before a page's commands make sense."""
LANGUAGES = {"console", "python", "toml", "json", "text", ""}


def mine(page: str) -> bool:
    return OWNERS.get(page, HERE) != HOW_TO


def blocks(*languages: str) -> list[Block]:
    return [block for page in PAGES if mine(page) for block in blocks_of(page) if block.language in languages]


def test_every_page_has_an_owner() -> None:
    assert set(PAGES) - set(OWNERS) == set(), "name the test that answers for these pages in OWNERS"
    assert set(OWNERS) - set(PAGES) == set(), "there are no such pages"
    for page, owner in OWNERS.items():
        (path,) = (ROOT / "tests" / "project").glob(f"{owner}.py")
        assert owner == HERE or Path(page).stem in path.read_text("utf-8"), f"{owner} says nothing of {page}"


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    for page in PAGES:
        for block in blocks_of(page):
            if mine(page) and not block.language.startswith("{"):  # those are for Sphinx: test_site builds them
                assert block.language in LANGUAGES, block.where
            if block.mark.startswith(NOT_RUN.strip()):
                assert len(block.reason.split()) >= 3, f"{block.where}: say why it is not run"


def test_plain_text_holds_no_command() -> None:
    for block in blocks("text", ""):
        assert not re.search(r"(?m)^\s*(\$ |byline [a-z]|python3? |pip )", block.text), f"{block.where}: use console"
    for page in PAGES:
        assert not re.search(r"(?m)^(?: {4}|\t)(\$ |byline [a-z]|python3? |pip )", prose_of(page)), (
            f"{page}: use console"
        )


@pytest.mark.parametrize("page", [page for page in PAGES if "`" in prose_of(page)])
def test_commands_named_in_a_page_exist_with_their_options(page: str) -> None:
    named = re.findall(r"`((?:byline|make|pip|(?:\.venv/bin/)?python3?) [^`\n]+)`", prose_of(page))
    for line in named:
        words = tuple(re.sub(r"['\"]", "", line.replace("\\|", "|")).split())
        if words[1:2] != ("-m",):
            assert find_fault(words) == "", f"{page}: {line}"
    for block in blocks_of(page):
        if block.language == "console" and mine(page):
            for command in commands_of(block):
                assert find_fault(command.words) == "", f"{block.where}: {command.line}"


DATA = [block for block in blocks("toml", "json", "text") if block.language != "text" or block.mark == CSV]


@pytest.mark.parametrize("block", DATA, ids=lambda block: block.where)
def test_data_can_be_read(block: Block, tmp_path: Path) -> None:
    path = tmp_path / f"block.{block.language}"
    path.write_text(block.text, encoding="utf-8")
    if block.language == "json":
        json.loads(block.text)
    elif block.mark == CSV:
        names = [line.split(",")[0] for line in block.text.splitlines()[1:]]
        if block.text.startswith("name,"):
            assert read_styles(path, names).keys() == set(names)
        else:
            assert block.text.startswith(Attributions().to_csv())
    elif "member" in tomllib.loads(block.text):
        read_pool(path)


@pytest.mark.parametrize(
    "block", [each for each in blocks("python") if each.mark.startswith(QUOTED)], ids=lambda block: block.where
)
def test_quoted_code_is_the_program(block: Block) -> None:
    source = (ROOT / "src" / "byline" / block.mark.removeprefix(QUOTED)).read_text("utf-8").splitlines()
    wanted = block.text.splitlines()
    stretches = (source[start : start + len(wanted)] for start in range(len(source)))
    assert any(textwrap.dedent("\n".join(lines)).splitlines() == wanted for lines in stretches), block.text


@pytest.fixture(scope="module")
def files() -> dict[str, str]:
    return sample_files()


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Session:
    """The page's folder; tutorials and how-to pages bring all that they need with them."""
    monkeypatch.chdir(tmp_path)
    whole = "/tutorials/" in request.param or "/how-to/" in request.param
    if not whole:
        write_files(tmp_path, request.getfixturevalue("files"))
    stage = Session(tmp_path, brief=not whole)
    for line in BEFORE.get(request.param, ()):
        stage.run(Command(tuple(line.split()), line, ""), request.param)
    return stage


def runnable(block: Block) -> bool:
    return not block.reason and not block.mark.startswith(QUOTED)


RUN = [page for page in PAGES if mine(page) and OWNERS.get(page) != WALK and any(map(runnable, blocks_of(page)))]


@pytest.mark.parametrize(("page", "stage"), [(page, page) for page in RUN], ids=RUN, indirect=["stage"])
def test_a_page_can_be_followed(page: str, stage: Session) -> None:
    """Its files are written, its commands and its Python are run, in order; what it shows is what comes out."""
    for block in filter(runnable, blocks_of(page)):
        if block.mark.startswith(FILE):
            (stage.folder / block.mark.removeprefix(FILE)).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command in commands_of(block):
                if command.words[0] not in (".", "make", "pip") and command.words[1:2] != ("doctor",):
                    # CI runs make; test_doctor tries the doctor; of all of them it is checked above that they exist
                    stage.run(command, block.where)
        elif block.language == "python":
            stage.execute(block)
        elif block.mark == PRINTED:
            assert alike(block.text, stage.printed), f"{block.where}: printed is\n{stage.printed}"


def test_output_is_compared_line_by_line() -> None:
    assert alike("one 2.5 s\n...\nlast ... line", "one 13 s\n\nmiddle\nlast but one line\n")
    assert not alike("one 2.5 s", "one 2.5 m")
    assert not alike("one\ntwo", "one\nmore\ntwo")
    assert not alike("one", "one\ntwo")
