"""Problems by themselves: what members say beside a reference population, made one score and how far to rely on it.

Two things are added up. *Relative*: how far the pair stands out from the reference's texts; the logarithm counts (the
inverse hyperbolic sine, which goes through 0), for beside a reference of another kind scores are high whoever wrote the
texts. *Own*: what engines say whose values mean something by themselves (see engines/spread.py); they know nothing of
the reference, and where it is of another kind they are what tells authors apart.

How far it all can be relied on: as far as texts of this size and variety can tell, and less the more known and unknown
texts differ in kind. Texts by one author of two kinds stand to the reference like those of two authors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from byline.fusion import Fused, Mean, Reading, average_engines, average_members
from byline.relative import ALONE, REACHES
from byline.scoring import Table

OWN_COUNTS = 5.0
"""What a score of an engine's own scale is multiplied by before it is added."""
EVEN, EVEN_RELATIVE, EVEN_OWN = 1.0, 1.4, -0.9
"""The score that speaks for neither side: of both added up, of relative ones alone, of own ones alone."""
FULL_AGREEMENT, LEAST_AGREEMENT = 0.2, 0.2
"""Texts that stand so alike to the reference are of one kind; those of two kinds are relied on so much at least."""

_REACH = REACHES.index(ALONE)


def fuse_alone(readings: Sequence[Reading]) -> Fused:
    """The score of each problem by itself, its error, and how far it can be relied on."""
    relative, own = ([reading for reading in readings if reading.own == kind] for kind in (False, True))
    terms = [average_kind(kind) for kind in (relative, own) if kind]
    mean = terms[0] if len(terms) == 1 else _add(*terms)
    even = EVEN if relative and own else EVEN_RELATIVE if relative else EVEN_OWN
    return Fused(mean.scores, mean.total_errors(), ALONE, even, _trust(relative, own))


def average_kind(readings: Sequence[Reading]) -> Mean:
    """What members that all are relative, or all of an own scale, add to the score of each problem."""
    own = readings[0].own
    return average_engines(readings, lambda scores: count_scores(scores[_REACH], own))


def count_reading(reading: Reading) -> Table:
    """(problems,): what one member says, as the mean of its kind is made of it."""
    return count_scores(reading.scores[_REACH], reading.own)


def count_scores(scores: Table, own: bool) -> Table:
    """Scores of a member, relative or of an own scale, as they are added up."""
    counted: Table = OWN_COUNTS * scores if own else np.arcsinh(scores)
    return counted


def _add(one: Mean, other: Mean) -> Mean:
    """The sum of two means."""
    alone = np.isnan(one.errors) & np.isnan(other.errors)
    errors = np.where(alone, np.nan, np.hypot(np.nan_to_num(one.errors), np.nan_to_num(other.errors)))
    parts = None if one.parts is None or other.parts is None else one.parts + other.parts
    return Mean(one.scores + other.scores, errors, parts)


def _trust(relative: Sequence[Reading], own: Sequence[Reading]) -> Table:
    """(problems,): from 0 to 1; what nobody can say something about is relied on wholly."""
    trust: Table = np.ones(len((*relative, *own)[0].scores[0]))
    agreements = [reading.agreement for reading in relative if reading.agreement is not None]
    if agreements:
        trust = np.clip(1 - FULL_AGREEMENT + average_members(agreements), LEAST_AGREEMENT, 1)
    if own:
        trust = trust * average_members([reading.trust for reading in own if reading.trust is not None])
    return trust
