"""CONTRIBUTING names files that exist, and CITATION.cff says what the package says of itself."""

from __future__ import annotations

import importlib.util
import re
import sys
from types import ModuleType
from typing import Any

import yaml

import byline
from paths import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def load(name: str) -> ModuleType:
    """A script of the docs."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


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


def test_every_script_of_the_docs_is_named_and_the_pages_that_it_writes() -> None:
    section = PAGE.partition("## Docs\n")[2].partition("\n## ")[0]
    scripts = {path.name for path in (ROOT / "docs").glob("*.py")} - {"conf.py"}
    assert set(re.findall(r"`python docs/(\w+\.py)`", section)) == scripts
    generated = load("generate").PAGES
    assert {name for name in re.findall(r"`(\w+\.md)`", section) if name != "architecture.md"} == set(generated)


def citation() -> dict[str, Any]:
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_citation_has_what_its_format_asks_for() -> None:
    """The keys of the Citation File Format 1.2.0 that are used here; anything else is a slip of the pen."""
    found = citation()
    assert {"cff-version", "message", "title", "authors"} <= set(found)
    assert set(found) <= {
        "cff-version", "message", "title", "abstract", "type", "version", "license", "authors", "keywords",
        "references",
    }  # fmt: skip
    assert (found["cff-version"], found["type"], found["license"]) == ("1.2.0", "software", "MIT")
    assert found["authors"] == [{"name": "The Byline developers"}]
    assert len(set(found["keywords"])) == len(found["keywords"])


def test_the_citation_is_of_this_version() -> None:
    assert str(citation()["version"]) == byline.__version__


def test_the_citation_refers_to_the_paper() -> None:
    (paper,) = citation()["references"]
    assert paper["type"] == "conference-paper"
    assert paper["title"].lower() == "author identification using multi-headed recurrent neural networks"
    assert paper["authors"] == [{"family-names": "Bagnall", "given-names": "Douglas"}]
    assert (paper["collection-title"], paper["volume"], paper["year"]) == ("Working Notes of CLEF 2015", 1391, 2015)
    assert set(paper) <= {
        "type", "title", "authors", "collection-title", "collection-type", "publisher", "volume", "year", "conference",
        "notes",
    }  # fmt: skip
