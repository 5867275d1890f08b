"""What a machine can't hold is refused before it begins."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from byline import memory
from byline.errors import RunError
from byline.memory import memory_here, require_memory
from byline.problems import read_problems
from byline.reference import build_reference
from byline.verification import _count_characters, verify
from conftest import MakeCorpus, small_problems

ROOT = Path(__file__).parent.parent


def test_what_fits_is_not_spoken_of(caplog: pytest.LogCaptureFixture) -> None:
    require_memory(1_000_000, workers=2, held=2_000_000_000)
    require_memory(10**15, workers=2, held=0)  # a machine that doesn't say
    assert not caplog.records


def test_what_may_not_fit_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        require_memory(60_000_000, workers=2, held=8_000_000_000)
    assert "60,000,000 characters may take 9.4 GB of memory, and this machine has 8.0" in caplog.text
    assert "--workers 1" in caplog.text


def test_one_worker_is_not_advised_to_be_one(caplog: pytest.LogCaptureFixture) -> None:
    require_memory(60_000_000, workers=1, held=5_000_000_000)
    assert "split the problems" in caplog.text
    assert "--workers" not in caplog.text


@pytest.mark.parametrize("workers", [1, 8])
def test_what_surely_does_not_fit_is_refused(workers: int) -> None:
    with pytest.raises(RunError, match=r"take 6.8 GB of memory or more, and this machine has 4.0; split the problems"):
        require_memory(100_000_000, workers=workers, held=4_000_000_000)


def test_what_one_worker_could_do_is_not_refused(caplog: pytest.LogCaptureFixture) -> None:
    require_memory(60_000_000, workers=8, held=8_000_000_000)
    assert "go on with --resume and --workers 1" in caplog.text


def test_the_least_is_less_than_was_ever_measured() -> None:
    rows = json.loads((ROOT / "benchmarks/results/load.json").read_text(encoding="utf-8"))["runs"]
    (measured,) = (row["megabytes"] for row in rows if row["job"] == "document 50 MB")
    require_memory(50_000_000, workers=1, held=measured * 2**20)


def test_a_reference_is_counted(make_corpus: MakeCorpus) -> None:
    problems = read_problems(make_corpus(small_problems(6)))
    reference = build_reference([make_corpus(small_problems(8), name="others")])
    more = {text.document.text for text in reference.texts}
    more -= {each.text for problem in problems.problems for each in (problem.unknown, *problem.known)}
    assert more
    counted = _count_characters(problems, (), reference) - _count_characters(problems, ())
    assert counted == sum(map(len, more))


def test_a_container_has_what_it_is_granted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "max").write_text("1000000000\n")
    (tmp_path / "none").write_text("max\n")
    monkeypatch.setattr(memory, "GROUPS", (str(tmp_path / "none"), str(tmp_path / "absent")))
    whole = memory_here()
    assert whole > 1_000_000_000
    monkeypatch.setattr(memory, "GROUPS", (str(tmp_path / "max"),))
    assert memory_here() == 1_000_000_000


def test_a_run_asks_before_it_begins(make_corpus: MakeCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "memory_here", lambda: 1000)
    with pytest.raises(RunError, match="split the problems"):
        verify(make_corpus(small_problems(6)))


def test_a_text_that_many_problems_have_counts_once(make_corpus: MakeCorpus) -> None:
    problems = small_problems(6)
    shared = problems["EN001"]["known01.txt"]
    repeated = {name: {**files, "known02.txt": shared} for name, files in problems.items() if name != "EN001"}
    once = {name: dict(files) for name, files in problems.items() if name != "EN001"}
    counts = [
        _count_characters(read_problems(make_corpus(each, name=f"c{number}")), ())
        for number, each in enumerate((once, repeated))
    ]
    assert counts[1] - counts[0] == len(shared)
