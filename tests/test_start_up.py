"""Starting is quick: heavy libraries are loaded when they are needed, machine code is made once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("numba", "scipy", "sklearn", "matplotlib", "torch", "pandas")


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)


def processor_seconds() -> float:
    """Of all processes that were started and have ended: what a busy machine hardly changes."""
    spent = os.times()
    return spent.children_user + spent.children_system


def quickest(*command: str, times: int = 5) -> float:
    """Seconds of the processor in the quickest of a few runs."""
    taken = []
    for _ in range(times):
        begin = processor_seconds()
        run(*command)
        taken.append(processor_seconds() - begin)
    return min(taken)


def test_importing_the_library_is_quick() -> None:
    assert quickest("-c", "import byline") < 0.3


def test_help_is_quick() -> None:
    assert quickest("-m", "byline", "--help") < 0.4


@pytest.mark.parametrize(
    "statement", ["import byline", "import byline.commands", "import byline.commands.verify", "import byline.frames"]
)
def test_nothing_heavy_is_loaded_before_it_is_used(statement: str) -> None:
    done = run("-c", f"{statement}; import sys; print([name for name in {HEAVY} if name in sys.modules])")
    assert done.stdout.strip() == "[]"


def test_the_second_run_compiles_nothing(english: Path) -> None:
    """numba's own count: code is loaded, nothing is compiled."""
    script = f"""
import byline
from byline import kernels
byline.verify({str(english)!r}, byline.Settings(hidden=3, sub_epochs=1))
print(sum(sum(f.stats.cache_misses.values()) for f in (kernels.train_text, kernels.score_text)))
"""
    run("-c", script)
    assert run("-c", script).stdout.strip() == "0"


@pytest.mark.parametrize("number", ["0", "abc", "", "-1", "1.5"])
def test_a_number_of_threads_that_is_none_is_said_in_one_line(number: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "byline", "--version"], capture_output=True, text=True, check=False,
        env={**os.environ, "NUMBA_NUM_THREADS": number},
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == f"byline: NUMBA_NUM_THREADS is {number!r}, no number of threads; unset it\n"
