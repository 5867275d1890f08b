"""What engines have in common. An engine fills the matrix documents x heads; each is a function with one signature:

fill_matrix(questions, settings, rng, runtime) -> EngineResult
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

from byline.engines.matrix import Floats32, Matrix

ENGINE_MODULES = {
    "rnn": "rnn.engine",
    "ngram": "ngram.engine",
    "vectors": "profiles.engine",
    "linear": "linear",
    "spread": "spread",
}
"""The module of each engine, under byline.engines; it has the function `fill_matrix`."""


class Feature(NamedTuple):
    """Something that occurs in a document, and how much it speaks for the head, in the matrix's unit."""

    name: str
    weight: float


@dataclass(frozen=True)
class EngineResult:
    """The matrix that an engine filled, and by-products that not every engine has."""

    matrix: Matrix
    trace: tuple[Matrix, ...] = ()
    """The matrix after each sub-epoch."""
    curve: tuple[float, ...] = ()
    """Bits per character by sub-epoch."""
    gains: tuple[Floats32, ...] = ()
    """The gains of each question's document (see gains.py), from engines whose scores are sums over symbols."""
    features: tuple[tuple[Feature, ...], ...] = ()
    """The strongest features of each question's document, from the other engines."""
    model: Any = None
    """The trained model, of a type of the engine's own."""


@dataclass(frozen=True)
class Progress:
    """How far a training is."""

    sub_epoch: int
    sub_epochs: int
    share: float
    """The part of this sub-epoch that is done, from 0 to 1."""
    characters: int
    """Characters learned since the beginning."""
    bits: float
    """Bits per character of the heads that learn a text, in this sub-epoch."""


def _ignore(_: object = None) -> None:
    pass


@dataclass(frozen=True)
class Runtime:
    """Callbacks of a computation, the threads it may use, and the by-products to compute. None changes the matrix."""

    report: Callable[[Progress], None] = _ignore
    """Called regularly with the progress."""
    proceed: Callable[[], None] = _ignore
    """Called regularly; may raise to stop the computation."""
    threads: int = 1
    trace: bool = False
    """Compute the matrix after each sub-epoch."""
    stage: Callable[[str], None] = _ignore
    """Called with a few words when a new stage begins."""
    evidence: bool = False
    """Compute gains or features for each question."""


EngineFunction = Callable[..., EngineResult]


def load_engine(name: str) -> EngineFunction:
    """Import an engine's module and return its `fill_matrix`."""
    fill: EngineFunction = import_module(f"byline.engines.{ENGINE_MODULES[name]}").fill_matrix
    return fill


def run_in_threads(function: Callable[[Sequence[int]], None], count: int, threads: int) -> None:
    """Call a function once per thread, with every n-th of the numbers below `count`."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(function, [range(count)[first::threads] for first in range(threads)]))
