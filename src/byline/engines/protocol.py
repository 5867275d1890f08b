"""What engines have in common. An engine fills the matrix documents x heads; each is a function with one signature:

fill_matrix(questions, settings, rng, runtime) -> EngineResult

`ENGINES` in settings.py lists them with their modules.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from byline.engines.matrix import Floats32, Matrix
from byline.engines.questions import ControlTexts, Questions
from byline.settings.settings import ENGINES, Settings
from byline.text.encoder import SHORTEST

TRIAL_SHARE = 1 / 16
"""The share of each text that a trial uses."""


class Feature(NamedTuple):
    """Something that occurs in a document, and how much it speaks for the head, in the matrix's unit."""

    name: str
    weight: float


MOST_FEATURES = 12
"""Features that are named in favor of a head, and as many against it."""


def strongest_features(weights: Mapping[str, float], least: float = 1e-12) -> tuple[Feature, ...]:
    """Return the features with the highest and the lowest weights, if they exceed `least`; ties in order of names."""
    ordered = sorted(weights, key=lambda name: (-weights[name], name))
    chosen = dict.fromkeys([*ordered[:MOST_FEATURES], *ordered[::-1][:MOST_FEATURES]])
    return tuple(Feature(name, weights[name]) for name in chosen if abs(weights[name]) > least)


@dataclass(frozen=True)
class EngineResult:
    """The matrix that an engine filled, and by-products that not every engine has."""

    matrix: Matrix
    trace: tuple[Matrix, ...] = ()
    """The matrix after each sub-epoch."""
    curve: tuple[float, ...] = ()
    """Bits per character by sub-epoch."""
    gains: tuple[Floats32, ...] = ()
    """The gains of each question's document (see matrix.py), from engines whose scores are sums over symbols."""
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
    fill: EngineFunction = _engine_module(name).fill_matrix
    return fill


def _engine_module(name: str) -> Any:
    return import_module(f"byline.engines.{ENGINES[name].module}")


def estimate_seconds(
    questions: Questions, settings: Settings, seconds: float, clock: Callable[[], float], proceed: Callable[[], None]
) -> float:
    """Estimate how long an engine takes to fill the matrix, from a trial with a small part of each text.

    An engine whose time is not proportional to the texts' lengths has an `estimate_seconds` of its own, which spends
    about so many `seconds` on the trial. `clock` returns seconds.
    """
    proceed()
    rng = np.random.default_rng(0)
    if own := getattr(_engine_module(settings.engine), "estimate_seconds", None):
        return float(own(questions, settings, rng, seconds, clock, proceed))
    texts = tuple(text[: max(SHORTEST, round(TRIAL_SHARE * len(text)))] for text in questions.texts)
    begin = clock()
    part = replace(questions, texts=texts, control=ControlTexts())
    load_engine(settings.engine)(part, settings, rng, Runtime(proceed=proceed))
    return (clock() - begin) * sum(map(len, questions.texts)) / sum(map(len, texts))


def run_in_threads(function: Callable[[Sequence[int]], None], count: int, threads: int) -> None:
    """Call a function once per thread, with every n-th of the numbers below `count`."""
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(function, [range(count)[first::threads] for first in range(threads)]))
