"""A reference population beside problems, laid out as reference_questions.py lays it out, with made-up scores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import pytest

from byline.engines.matrix import PARTS, Matrix, Side, Table
from byline.engines.questions import Question, ReferenceLayout


def lay_out(
    asked: int = 2,
    *,
    own_pairs: Sequence[int] = (),
    cases: Sequence[int] = range(10),
    cohort: Sequence[int] = range(10),
    halved: Collection[int] = (),
    may_be_same: Collection[tuple[int, int]] = (),
    related: Collection[tuple[int, int]] = (),
    values: Table | None = None,
    parts: bool = False,
    way: int = 0,
    seed: int = 0,
) -> Side:
    """Return problems, own pairs, cases and cohort, in this order; lower values are more alike.

    `cases` and `cohort` are the author of each member, `halved` are places among the cases, `may_be_same` are pairs of
    authors, and `related` are pairs of a problem and an author.
    """
    rng = np.random.default_rng(seed)
    first, people = asked + len(own_pairs), [*cases, *cohort]
    count = first + len(people)
    pairs = {*may_be_same, *((other, one) for one, other in may_be_same)}
    excluded = np.zeros((count, count), np.bool_)
    for place, one in enumerate(people):
        for column, other in enumerate(people):
            compared = one == other and max(place, column) < len(cases)
            excluded[first + place, first + column] = (one == other and not compared) or (one, other) in pairs
    for problem, author in related:
        own = [problem, *(asked + number for number, owner in enumerate(own_pairs) if owner == problem)]
        for column in (first + place for place, other in enumerate(people) if other == author):
            excluded[own, column] = excluded[column, own] = True
    found = rng.normal(size=(count, count)) if values is None else values
    without = rng.normal(size=(PARTS, count, count)) if parts else None
    return Side(
        Matrix(found, excluded, parts=without),
        tuple(Question(number, number, number) for number in range(asked)),
        frozenset(),
        way,
        ReferenceLayout(
            tuple(own_pairs), tuple(cases), tuple(cohort), tuple(n in halved for n in range(len(cases))), (2_000, 1_000)
        ),
    )


@pytest.fixture(scope="session")
def beside_reference() -> Callable[..., Side]:
    """The function `lay_out`."""
    return lay_out
