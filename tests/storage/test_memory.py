"""A run that needs more memory than there is, is refused before it begins."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from byline.errors import RunError
from byline.storage import process
from byline.storage.process import available_memory, require_memory
from byline.tasks.verify import verify
from paths import ROOT
from samples import MakeCorpus, small_problems


@pytest.mark.parametrize(
    ("characters", "workers", "available"), [(1_000_000, 2, 2_000_000_000), (10**15, 2, 0)], ids=["fits", "unknown"]
)
def test_nothing_is_said_if_the_texts_fit(
    caplog: pytest.LogCaptureFixture, characters: int, workers: int, available: int
) -> None:
    require_memory(characters, workers, available)
    assert not caplog.records


@pytest.mark.parametrize(
    ("workers", "available", "advice"),
    [(1, 5_000_000_000, "split"), (2, 8_000_000_000, "one worker"), (8, 8_000_000_000, "one worker")],
)
def test_texts_that_may_not_fit_are_warned_of(
    caplog: pytest.LogCaptureFixture, workers: int, available: int, advice: str
) -> None:
    require_memory(60_000_000, workers, available)
    assert advice in caplog.text
    assert ("9.4 GB" in caplog.text) == (workers == 2)


@pytest.mark.parametrize("workers", [1, 8])
def test_texts_that_cannot_fit_are_refused(workers: int) -> None:
    with pytest.raises(RunError, match=r"6\.8 GB") as caught:
        require_memory(100_000_000, workers, 4_000_000_000)
    assert caught.value.remedy


def test_the_least_is_less_than_was_ever_measured() -> None:
    rows = json.loads((ROOT / "benchmarks/results/load.json").read_text(encoding="utf-8"))["runs"]
    (measured,) = (row["megabytes"] for row in rows if row["job"] == "document 50 MB")
    require_memory(50_000_000, workers=1, available=measured * 2**20)


def test_a_container_has_what_it_is_granted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "max").write_text("1000000000\n")
    (tmp_path / "none").write_text("max\n")
    monkeypatch.setattr(process, "CGROUP_LIMITS", (str(tmp_path / "none"), str(tmp_path / "absent")))
    whole = available_memory()
    assert whole > 1_000_000_000
    monkeypatch.setattr(process, "CGROUP_LIMITS", (str(tmp_path / "max"),))
    assert available_memory() == 1_000_000_000


def test_a_run_asks_before_it_begins(make_corpus: MakeCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "available_memory", lambda: 1000)
    with pytest.raises(RunError, match="memory"):
        verify(make_corpus(small_problems(6)))
