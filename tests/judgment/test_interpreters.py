"""What every interpretation must do, whichever there are: it reads the matrix, and nothing that it must not."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from byline.engines.matrix import Matrix, Side, Table
from byline.engines.questions import Question, ReferenceLayout
from byline.judgment.interpretation import INTERPRETERS, JudgmentOptions, answer_problems, has_unit_scores, score_sides
from byline.settings.settings import Interpretation, Settings

SIZE, ASKED = 12, 5
EVERY = pytest.mark.parametrize("way", INTERPRETERS)
TOGETHER = pytest.mark.parametrize("way", [way for way in INTERPRETERS if way != "cohort"])
"""Those in which problems are answered together. A problem by itself has a full matrix, in which the head and the
document of a number belong together. Its scores are in deviations, which depend on how hard documents are."""


def lay(seed: int = 0) -> Side:
    """Problems whose heads and documents have the same numbers; of the last ones each head learned its document."""
    rng = np.random.default_rng(seed)
    values = rng.normal(3, 0.2, (SIZE, SIZE)) + rng.normal(0, 0.3, (SIZE, 1)) + rng.normal(0, 0.3, (1, SIZE))
    flags = np.arange(SIZE) >= ASKED
    asked = tuple(Question(number, number, number) for number in range(ASKED))
    layout = ReferenceLayout((), (), tuple(range(SIZE - ASKED)), (), (1_000, 1_000))
    return Side(Matrix(values, np.diag(flags)), asked, frozenset(), layout=layout)


def score(side: Side, way: Interpretation) -> Table:
    """(reaches, problems)."""
    return score_sides([side], ASKED, Settings(engine="vectors"), way).scores


def changed(side: Side, values: Table) -> Side:
    return replace(side, matrix=replace(side.matrix, values=values))


def test_every_interpretation_that_settings_name_is_there() -> None:
    assert set(INTERPRETERS) == set(get_args(Interpretation))
    assert all(way.words for way in INTERPRETERS.values())


@EVERY
def test_every_question_gets_a_number(way: Interpretation) -> None:
    scores = score(lay(), way)
    assert scores.shape[1] == ASKED
    assert np.isfinite(scores).all()
    assert not has_unit_scores(way) or ((scores >= 0) & (scores <= 1)).all()


@EVERY
def test_what_a_head_was_trained_on_is_never_compared(way: Interpretation) -> None:
    side = lay()
    low, high = (
        score(changed(side, np.where(side.matrix.excluded, value, side.matrix.values)), way) for value in (0, 99)
    )
    np.testing.assert_array_equal(low, high)


@EVERY
def test_a_better_prediction_never_scores_worse(way: Interpretation) -> None:
    side = lay()
    found = []
    for value in np.linspace(4.5, 1.5, 13):
        values = side.matrix.values.copy()
        values[0, 0] = value
        found.append(score(changed(side, values), way)[:, 0])
    assert (np.diff(found, axis=0) >= -1e-9).all()
    assert (found[-1] > found[0]).all()


@TOGETHER
def test_how_hard_a_document_is_for_all_heads_does_not_matter(way: Interpretation) -> None:
    side = lay()
    np.testing.assert_allclose(
        score(changed(side, side.matrix.values + np.arange(SIZE)[:, None]), way), score(side, way)
    )


@TOGETHER
def test_the_order_of_documents_changes_nothing(way: Interpretation) -> None:
    side = lay()
    order = np.array([*np.random.default_rng(3).permutation(ASKED), *range(ASKED, SIZE)])
    place = {int(old): new for new, old in enumerate(order)}
    matrix = Matrix(side.matrix.values[order], side.matrix.excluded[order])
    questions = tuple(replace(question, document=place[question.document]) for question in side.questions)
    np.testing.assert_allclose(score(replace(side, matrix=matrix, questions=questions), way), score(side, way))


@EVERY
def test_heads_that_all_say_the_same_say_nothing(way: Interpretation) -> None:
    scores = score(changed(lay(), np.ones((SIZE, SIZE))), way)
    np.testing.assert_array_equal(scores, 0.5 if has_unit_scores(way) else 0)


@TOGETHER
def test_a_sample_of_heads_is_enough(way: Interpretation) -> None:
    """Each document is asked about by its own head and the seven that come next."""
    side = lay()
    heads = np.sort((np.arange(SIZE)[:, None] + np.arange(8)) % SIZE, axis=1).astype(np.int32)
    values, seen = (
        np.take_along_axis(table, heads.astype(np.int64), axis=1)
        for table in (side.matrix.values, side.matrix.excluded)
    )
    scores = score(replace(side, matrix=Matrix(values, seen, heads)), way)
    assert np.isfinite(scores).all()


@TOGETHER
def test_answers_keep_the_order_of_scores(way: Interpretation) -> None:
    readings = [score_sides([lay(seed)], ASKED, Settings(engine="vectors"), way) for seed in (1, 2)]
    verdicts = answer_problems([f"P{number}" for number in range(ASKED)], readings, JudgmentOptions(way))
    pairs = sorted((answer.score, answer.value) for answer in verdicts.answers if answer.score is not None)
    assert len(pairs) == ASKED
    assert [value for _, value in pairs] == sorted(value for _, value in pairs)
    assert all(0 <= value <= 1 for _, value in pairs)
