"""CONTRIBUTING names files that exist, and CITATION.cff says what the package says of itself."""

from __future__ import annotations

import re
from typing import Any

import yaml

import byline
from paths import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def test_files_that_the_page_sends_people_to_are_there() -> None:
    for name in re.findall(r"`((?:tests|docs|benchmarks|src)/[\w/.-]+)`", PAGE):
        assert (ROOT / name).exists(), name


def test_every_step_of_the_walks_names_a_file_that_has_the_function() -> None:
    rows = [line.split("|") for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)]
    assert len(rows) > 30
    for _, _, files, functions, *_ in rows:
        sources = [(ROOT / "src" / "byline" / name).read_text("utf-8") for name in re.findall(r"`([\w/]+\.py)`", files)]
        assert sources
        for name in re.findall(r"`([\w.]+)`", functions):
            assert any(f"def {name.rpartition('.')[2]}(" in source for source in sources), f"{files}: {name}"


def citation() -> dict[str, Any]:
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_citation_is_of_this_version() -> None:
    assert str(citation()["version"]) == byline.__version__
