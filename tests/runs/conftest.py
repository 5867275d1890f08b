"""A corpus whose texts need normalizing, and a run of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from byline.runs.folder import RunOutput
from byline.settings.settings import Settings
from byline.tasks.verify import verify
from samples import phrase


@pytest.fixture(scope="package")
def marked_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    for number in range(6):
        own = folder / f"P{number}"
        own.mkdir()
        (own / "known01.txt").write_text("\ufeff  \u00c9tude:\r\n" + phrase(number, 300, 0), "utf-8")
        (own / "known02.txt").write_text(phrase(number, 300, 1) + "\u2026 \u2603", "utf-8")
        (own / "unknown.txt").write_text("No\u0308! " + phrase(number + number % 2, 300, 2 + number), "utf-8")
    return folder


@pytest.fixture(scope="package")
def marked_run(marked_corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("marked") / "run"
    verify(marked_corpus, Settings(engine="ngram", order=3, train_on="both"), output=RunOutput(folder))
    return folder
