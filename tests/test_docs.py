"""The docs match the program, their code runs, their links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def generator():  # type: ignore[no-untyped-def]
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["commands.md", "settings.md"])
def test_generated_pages_are_up_to_date(page: str) -> None:
    assert (ROOT / "docs" / page).read_text("utf-8") == generator().PAGES[page](), "run: python docs/generate.py"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_links_lead_to_files_that_exist(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text("utf-8")):
        if not target.startswith("http"):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_python_blocks_run(path: Path, tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", path.read_text("utf-8"), re.DOTALL)
    for block in blocks:
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stderr


def test_every_public_name_is_in_the_python_page() -> None:
    import byline

    page = (ROOT / "docs" / "python-api.md").read_text("utf-8")
    for name in byline.__all__:
        if name != "__version__":
            assert name in page, name


def test_every_command_named_in_the_docs_exists() -> None:
    group = generator().typer.main.get_command(generator().app)
    named = {word for path in PAGES for word in re.findall(r"`?\bbyline ([a-z]+)\b", path.read_text("utf-8"))}
    commands = {word for path in PAGES for word in re.findall(r"`byline ([a-z]+)", path.read_text("utf-8"))}
    assert commands <= set(group.commands)
    assert set(group.commands) <= named
