"""Engines: whatever can fill the matrix documents x heads, one file each, all called in the same way.

fill_matrix(questions, settings, rng, watch) -> Filled
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

from byline.gains import Gains
from byline.scoring import Matrix
from byline.training import Model, Progress


class Feature(NamedTuple):
    """Something that a document has, and how much it speaks for the head, in the matrix's unit."""

    name: str
    weight: float


@dataclass(frozen=True)
class Filled:
    """The matrix, and where the engine has them: the model that filled it, and the matrix after each sub-epoch."""

    matrix: Matrix
    model: Model | None = None
    trace: tuple[Matrix, ...] = ()
    gains: tuple[Gains, ...] = ()
    """For each question, of an engine that adds up over symbols, if it was wanted; see gains.py."""
    features: tuple[tuple[Feature, ...], ...] = ()
    """For each question, of an engine that does not: what speaks for and against, the strongest first."""

    @property
    def curve(self) -> tuple[float, ...]:
        """Bits per character by sub-epoch; empty for an engine that does not learn step by step."""
        return self.model.curve if self.model else ()


def engine_of(name: str) -> Callable[..., Filled]:
    """What fills the matrix: the function of that name in the engine's file, which is loaded when it is wanted."""
    fill: Callable[..., Filled] = import_module(f"byline.engines.{name}").fill_matrix
    return fill


def _silent(_: object = None) -> None:
    pass


@dataclass(frozen=True)
class Watch:
    """Who looks on while an engine works, and what it may use."""

    report: Callable[[Progress], None] = _silent
    """Told now and then how far it is."""
    proceed: Callable[[], None] = _silent
    """Called now and then; may raise to stop."""
    threads: int = 1
    trace: bool = False
    """Whether the matrix after each sub-epoch is wanted too."""
    stage: Callable[[str], None] = _silent
    """Told what begins, in a few words."""
    evidence: bool = False
    """Whether what speaks for and against in each document that is asked about is wanted too."""
