"""docs/architecture.md and its picture are up to date, and the tests mirror the source."""

from __future__ import annotations

import subprocess
import sys

from paths import ROOT, TESTS

SOURCE = ROOT / "src" / "byline"
OTHER = {"project", "robustness", "support", "node_modules"}
"""Folders of tests that are about the whole program, or are no tests."""


def test_picture_and_page_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "architecture.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_every_folder_of_tests_is_a_package_of_the_source() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py") if path.parent != TESTS}
    assert [folder for folder in folders if folder.parts[0] not in OTHER and not (SOURCE / folder).is_dir()] == []
