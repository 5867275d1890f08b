"""The wheel, built, installed in a fresh virtual environment and used from another folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

import byline

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    # the build tools are installed with the tests' own, so nothing is fetched
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    return path


def test_it_holds_the_package_its_texts_and_its_types_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "byline/py.typed" in names
    assert "byline/texts/english/EN001/unknown.txt" in names
    assert "byline/texts/greek/truth.txt" in names
    assert "byline/reports/assets/report.css" in names
    assert all(name.startswith(("byline/", f"byline-{byline.__version__}.dist-info/")) for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_it_works_in_a_fresh_virtual_environment(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "fresh", with_pip=True)
    python = tmp_path / "fresh" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    program = str(tmp_path / "fresh" / "bin" / "byline")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(*words: str) -> str:
        done = subprocess.run(
            [program, *words], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert run("--version") == f"byline {byline.__version__}\n"
    result = json.loads(run("demo", "greek", "--members", "1", "--json"))
    assert len(result["answers"]) == 8
