"""Time and memory of large jobs grow with their size, not with its square."""

from __future__ import annotations

import importlib.util
import sys
import time
import tracemalloc
from types import ModuleType

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.engines.ngram import engine as ngram
from byline.engines.profiles import engine as vectors
from byline.engines.questions import Questions, prepare_questions
from byline.settings.settings import Settings
from paths import ROOT

BENCHMARKS = ROOT / "benchmarks"
SETTINGS = Settings(compared=20)


@pytest.fixture(scope="module")
def load() -> ModuleType:
    """The benchmark, whose texts are used here."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("load", BENCHMARKS / "load.py")
        assert spec
        assert spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module


def questions(load: ModuleType, count: int) -> Questions:
    texts = [Document(f"{n}", load.prose(n // 2, 400, n)) for n in range(2 * count)]
    problems = [Problem(f"p{n}", (texts[2 * n],), texts[2 * n + 1], "english", symmetric=True) for n in range(count)]
    return prepare_questions(problems, SETTINGS).sides[0]


@pytest.mark.parametrize("engine", [ngram, vectors], ids=["ngram", "vectors"])
def test_four_times_the_problems_take_four_times_as_much(load: ModuleType, engine: ModuleType) -> None:
    """Sixteen times would be their square; each is compared with 20 others, however many there are."""
    few, many = questions(load, 150), questions(load, 600)
    engine.fill_matrix(questions(load, 30), SETTINGS, np.random.default_rng(0))  # compiled
    taken = []
    for asked in (few, many):
        seconds = []
        for _ in range(3):
            begin = time.process_time()
            engine.fill_matrix(asked, SETTINGS, np.random.default_rng(0))
            seconds.append(time.process_time() - begin)
        tracemalloc.start()
        try:
            engine.fill_matrix(asked, SETTINGS, np.random.default_rng(0))
            taken.append((min(seconds), tracemalloc.get_traced_memory()[1]))
        finally:
            tracemalloc.stop()
    assert taken[1][0] < 8 * taken[0][0]
    assert taken[1][1] < 6 * taken[0][1]


@pytest.mark.parametrize("job", ["authors", "document", "files", "line"])
def test_the_benchmarks_jobs_are_answered(load: ModuleType, job: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small = {
        "authors": load.authors(20),
        "document": load.long_document(1),
        "files": load.tiny_files(3_000),
        "line": load.one_line(10),
    }
    monkeypatch.setattr(load, "JOBS", small)
    row = load.measure(job)
    assert row["end"] == "answered"
    assert row["megabytes"] < 1_500


def test_the_page_serves_twenty_who_ask_at_once(load: ModuleType) -> None:
    row = load.measure_web(clients=20, jobs=20)
    assert row["end"].startswith("20 of 20 done")
    assert row["megabytes"] < 400
