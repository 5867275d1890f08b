"""Starting is quick: heavy libraries are loaded when they are needed, machine code is made once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

import byline
from byline.cli import COMMANDS

HEAVY = ("numba", "scipy", "sklearn", "matplotlib", "torch", "pandas")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)


def processor_seconds() -> float:
    """Of all processes that were started and have ended: what a busy machine hardly changes."""
    spent = os.times()
    return spent.children_user + spent.children_system


def quickest(*commands: Sequence[str], times: int = 3) -> list[float]:
    """Seconds of the processor in the quickest of a few runs of each, in turn: a busy machine is as hard on all."""
    taken: list[list[float]] = [[] for _ in commands]
    for _ in range(times):
        for command, seconds in zip(commands, taken, strict=True):
            begin = processor_seconds()
            run(*command)
            seconds.append(processor_seconds() - begin)
    return [min(seconds) for seconds in taken]


def test_importing_the_library_is_quick() -> None:
    (taken,) = quickest(["-c", "import byline"])
    assert taken < 0.3


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_loads_nothing_heavy(command: str) -> None:
    done = run("-X", "importtime", "-m", "byline", *[word for word in (command, "--help") if word])
    assert not {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()} & {"numpy", *HEAVY}


@pytest.mark.parametrize("statement", ["import byline", "import byline.cli", "import byline.corpora.answers"])
def test_nothing_heavy_is_loaded_before_it_is_used(statement: str) -> None:
    done = run("-c", f"{statement}; import sys; print([name for name in {HEAVY} if name in sys.modules])")
    assert done.stdout.strip() == "[]"


def test_the_second_run_compiles_nothing(english: Path) -> None:
    """numba's own count: code is loaded, nothing is compiled. The first run is here, the second in another process."""
    script = f"""
import byline
from byline.engines.rnn import kernels
byline.verify({str(english)!r}, byline.Settings(hidden=3, sub_epochs=1))
used = kernels.train_text, kernels.score_text
print([sum(sum(counts.values()) for counts in part) for part in (
    [each.stats.cache_misses for each in used], [each.stats.cache_hits for each in used])])
"""
    byline.verify(english, byline.Settings(hidden=3, sub_epochs=1))
    misses, hits = json.loads(run("-c", script).stdout)
    assert misses == 0
    assert hits > 0
