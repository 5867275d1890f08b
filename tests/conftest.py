from __future__ import annotations

import json
import logging
import os
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from hypothesis import settings

from browsers import browser  # noqa: F401 - a fixture
from byline.corpora.problems import builtin_problems
from programs import make_commands_once
from samples import MakeCorpus

# The same cases on every run, so that a change passes or fails by itself; --hypothesis-profile=default tries new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")

# Tests interrupt programs as Ctrl-C does; where the tests were begun with that ignored, programs would inherit it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

make_commands_once()

LONGEST = (
    "release", "code_blocks", "survival", "faults", "page", "commands", "walk", "how_to",
    "attribution_commands", "extremes", "load", "tasks", "doctor", "verification",
)  # fmt: skip
"""Tests of these files are begun first, so that no core is left without work while another has a long file to do."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    first = {f"test_{name}": place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: first.get(item.path.stem, len(first)))


@pytest.fixture(autouse=True)
def plain_logging() -> Iterator[None]:
    """What a command that is run in this process has warnings go to, its own stderr, goes with it."""
    before = set(logging.root.handlers)
    yield
    for handler in set(logging.root.handlers) - before:
        if type(handler) is logging.StreamHandler:
            logging.root.removeHandler(handler)


@pytest.fixture(scope="session")
def english() -> Path:
    """The built-in English corpus, as a folder."""
    with builtin_problems("english") as folder:
        return folder


@pytest.fixture(scope="session")
def pan_data() -> Path:
    """The folder of real PAN corpora, where there is one."""
    folder = os.environ.get("BYLINE_DATA")
    if not folder:
        pytest.skip("BYLINE_DATA is not set: it would name the folder of PAN corpora")
    return Path(folder)


@pytest.fixture
def make_corpus(tmp_path: Path) -> MakeCorpus:
    """A function that writes a PAN folder corpus: {"EN001": {"known01.txt": "..."}}, text or bytes."""

    def make(
        problems: Mapping[str, Mapping[str, str | bytes]],
        contents: object = None,
        truth: str | None = None,
        name: str = "corpus",
    ) -> Path:
        folder = tmp_path / name
        folder.mkdir(parents=True)
        for problem, files in problems.items():
            (folder / problem).mkdir()
            for file, text in files.items():
                (folder / problem / file).write_bytes(text if isinstance(text, bytes) else text.encode())
        if contents is not None:
            text = contents if isinstance(contents, str) else json.dumps(contents)
            (folder / "contents.json").write_text(text, encoding="utf-8")
        if truth is not None:
            (folder / "truth.txt").write_text(truth, encoding="utf-8")
        return folder

    return make
