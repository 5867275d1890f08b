"""`byline doctor`: what is well is said to be, and what is not is named with its remedy."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import pytest
from typer.testing import CliRunner

from byline import diagnostics
from byline.cli import app
from byline.diagnostics import EXTRAS, Finding, Section, check_extras, check_packages, check_places, selftest
from byline.errors import CorpusError, RunError

run = CliRunner().invoke


def named(section: Section, name: str) -> Finding:
    (found,) = (finding for finding in section.findings if finding.name == name)
    return found


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without what takes long."""
    well = Section("Self-test", (Finding("ngram", "well"),))
    monkeypatch.setattr(selftest, "run_selftest", lambda: well)


def test_all_is_well_here() -> None:
    done = run(app, ["doctor", "--json"])
    told = json.loads(done.stdout)
    assert (done.exit_code, told["well"]) == (0, True), done.stdout
    titles = [section["title"] for section in told["sections"]]
    assert titles == ["This machine", "Packages", "Extras", "Places", "Self-test"]
    extras, tests = (told["sections"][place] for place in (2, 4))
    assert {each["name"]: each["state"] for each in extras["findings"]} == dict.fromkeys(EXTRAS, "well")
    assert [each["name"] for each in tests["findings"]] == ["ngram", "vectors", "rnn", "report"]


@pytest.mark.usefixtures("brief")
def test_findings_are_printed_a_line_each() -> None:
    done = run(app, ["doctor"])
    assert done.exit_code == 0
    assert re.search(r"^  numpy +\d", done.stdout, re.MULTILINE)
    assert done.stdout.endswith("All is well.\n")


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matplotlib and platformdirs are not installed."""
    version = metadata.version

    def find(name: str) -> str:
        if name in ("matplotlib", "platformdirs"):
            raise metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(diagnostics.metadata, "version", find)


@pytest.mark.usefixtures("brief", "without")
def test_an_extra_that_is_missing_is_no_fault_and_its_remedy_is_named() -> None:
    extras = check_extras()
    assert named(extras, "figures") == Finding(
        "figures", "not installed (byline plot): no matplotlib", "note", "pip install 'byline[figures]'"
    )
    assert named(extras, "web").said == "not installed (byline serve): no platformdirs"
    assert named(extras, "pandas").state == "well"
    done = run(app, ["doctor"])
    assert done.exit_code == 0
    assert re.search(r"^- figures .*\n +pip install 'byline\[figures\]'$", done.stdout, re.MULTILINE)
    assert done.stdout.endswith("All works; see the 2 lines that begin with -.\n")


LOST = "OSError('libfoo.so: cannot open\\nat all')"


def break_package(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, error: str = LOST) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text(f"raise {error}")
    for module in [each for each in sys.modules if each.split(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.usefixtures("brief")
def test_a_package_that_is_broken_is_named_and_nothing_that_needs_it_is_tried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    break_package(monkeypatch, tmp_path, "safetensors")
    done = run(app, ["doctor", "--json"])
    assert done.exit_code == 1
    told = json.loads(done.stdout)
    assert [section["title"] for section in told["sections"]] == ["This machine", "Packages", "Extras"]
    (broken,) = (each for each in told["sections"][1]["findings"] if each["state"] == "broken")
    assert broken["name"] == "safetensors"
    assert broken["said"].endswith("can't be loaded (OSError: libfoo.so: cannot open)")
    assert broken["remedy"] == "pip install --force-reinstall 'safetensors'"
    shown = run(app, ["doctor"])
    assert shown.exit_code == 1
    assert "! safetensors" in shown.stdout
    assert "1 thing is broken" in shown.stdout


def test_a_package_that_is_too_old_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnostics.metadata, "version", lambda name: "1.25.2" if name == "numpy" else "9999")
    numpy = named(check_packages(), "numpy")
    assert numpy == Finding("numpy", "1.25.2, but >=1.26 is needed", "broken", "pip install 'numpy>=1.26'")


def test_a_source_tree_that_is_not_installed_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: str) -> None:
        raise metadata.PackageNotFoundError

    monkeypatch.setattr(diagnostics.metadata, "requires", none)
    assert check_packages().findings[0].state == "note"
    assert {finding.state for finding in check_extras().findings} == {"note"}


def test_a_cache_that_can_t_be_written_to_is_noted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(diagnostics, "cache_folder", lambda: tmp_path / "file" / "below")
    cache = named(check_places(), "compiled code")
    assert cache.state == "note"
    assert "can't be written to" in cache.said
    assert "NUMBA_CACHE_DIR" in cache.remedy
    monkeypatch.setattr(diagnostics, "cache_folder", lambda: None)
    assert named(check_places(), "compiled code").said.startswith("no folder to store it in")


def test_the_size_of_the_cache_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kernels.nbc").write_bytes(bytes(1_500_000))
    (tmp_path / "other.txt").write_bytes(bytes(9_000_000))
    monkeypatch.setattr(diagnostics, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(diagnostics, "is_compiled", lambda: True)
    assert named(check_places(), "compiled code").said == f"{tmp_path}, 1 files, 1.5 MB"


def test_that_it_has_to_compile_is_said_before_the_self_test_begins(tmp_path: Path) -> None:
    code = """
from byline.diagnostics import check_places
from byline.engines.rnn.kernels import train_text
print(check_places().findings[0].said)
train_text._cache._cache_file.flush()  # an index without code
print(check_places().findings[0].said)
"""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    first, second = done.stdout.splitlines()
    assert first.endswith(f", 0 files, 0.0 MB; {diagnostics.FIRST_TIME}")
    assert second.endswith(", 1 files, 0.0 MB")


def test_a_wrong_answer_is_a_fault() -> None:
    stored = selftest.stored_answers()["vectors"]
    assert selftest.compare("vectors", stored, stored).state == "well"
    off = {**stored, "EN003": stored["EN003"] + 2e-6}
    wrong = selftest.compare("vectors", off, stored)
    assert wrong.state == "broken"
    assert wrong.said.startswith("EN003 is 0.0016")
    assert wrong.remedy == selftest.REINSTALL
    assert selftest.compare("vectors", {**stored, "EN003": float("nan")}, stored).state == "broken"
    assert selftest.compare("vectors", {"EN001": 0.5}, stored).state == "broken"


def test_a_broken_matplotlib_is_named_in_its_own_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    break_package(monkeypatch, tmp_path, "matplotlib", "ImportError('libfoo.so: cannot open')")
    figures = named(check_extras(), "figures")
    assert figures.state == "broken"
    assert figures.said.endswith("can't be loaded (ImportError: libfoo.so: cannot open)")


def test_a_temporary_folder_without_room_is_the_fault_of_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def fill(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr(selftest, "TESTS", {"ngram": selftest.TESTS["ngram"]})
    monkeypatch.setattr("byline.storage.files._write", fill)
    engine, report = selftest.run_selftest().findings
    assert (engine.state, report.state) == ("broken", "broken")
    assert "No space left on device" in engine.said
    assert engine.remedy == f"see that {tempfile.gettempdir()} has room and can be written to, {OR_ANOTHER}"


OR_ANOTHER = "or name another folder in TMPDIR"


@pytest.mark.parametrize(
    ("error", "remedy"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), OR_ANOTHER),
        (PermissionError(errno.EACCES, "Permission denied"), OR_ANOTHER),
        (RunError("out: can't be written to"), OR_ANOTHER),
        (OSError("libfoo.so: cannot open shared object file"), selftest.REINSTALL),
        (FileNotFoundError(errno.ENOENT, "No such file or directory"), selftest.REINSTALL),
        (CorpusError("EN001: no text"), selftest.REINSTALL),
        (RuntimeError("no engine"), selftest.REINSTALL),
    ],
)
def test_what_to_do_depends_on_what_went_wrong(monkeypatch: pytest.MonkeyPatch, error: Exception, remedy: str) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(selftest, "answer", fail)
    assert selftest.run_selftest().findings[0].remedy.endswith(remedy)


def test_no_temporary_folder_at_all_is_a_finding(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(tmp_path / "nowhere")])
    (finding,) = selftest.run_selftest().findings
    assert (finding.name, finding.state) == ("temporary folder", "broken")
    assert "No usable temporary directory" in finding.said
    assert finding.remedy == "name a folder that can be written to in TMPDIR"


def test_a_broken_numpy_is_a_finding_and_no_traceback() -> None:
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from byline.diagnostics import check_installation\n"
        "findings = [each for section in check_installation() for each in section.findings]\n"
        "print([each.name for each in findings if each.state == 'broken'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "'numpy'" in done.stdout
