from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from byline.corpora.problems import read_problems
from byline.engines.questions import Questions, prepare_questions
from byline.engines.rnn import engine as rnn
from byline.engines.rnn.schedule import Visit, plan_visits
from byline.settings.settings import Handling, Settings
from byline.text.encoder import Alphabet
from samples import MakeCorpus, small_problems


def lay_out(heads: list[tuple[int, ...]], lengths: list[int]) -> Questions:
    return Questions(Alphabet("ab"), tuple(np.zeros(n, np.int32) for n in lengths), tuple(heads), (), ())


def sub_epochs(questions: Questions, handling: Handling, count: int) -> list[list[Visit]]:
    schedule = plan_visits(questions, handling, np.random.default_rng(0))
    return [next(schedule) for _ in range(count)]


def test_sequential_takes_each_heads_texts_in_turn() -> None:
    questions = lay_out([(0, 1, 2), (3,)], [10] * 4)
    visits = sub_epochs(questions, "sequential", 4)
    assert [sorted(visit.text for visit in visits[n]) for n in range(4)] == [[0, 3], [1, 3], [2, 3], [0, 3]]


def test_a_shared_text_is_learned_once_by_all_who_provide_it() -> None:
    questions = lay_out([(0, 1), (0, 2)], [10] * 3)
    first, second = sub_epochs(questions, "sequential", 2)
    assert first == [Visit(0, (0, 1))]
    assert sorted(second) == [Visit(1, (0,)), Visit(2, (1,))]
    (together,) = sub_epochs(questions, "concatenated", 1)
    assert sorted(together) == [Visit(0, (0, 1)), Visit(1, (0,)), Visit(2, (1,))]


@pytest.mark.parametrize("handling", ["balanced", "balanced-concatenated"])
def test_balanced_trains_all_heads_about_the_same_amount(handling: Handling) -> None:
    questions = lay_out([(0,), (1, 2), (3,)], [100, 30, 40, 1000])
    trained: Counter[int] = Counter()
    for visits in sub_epochs(questions, handling, 12):
        assert {head for visit in visits for head in visit.heads} == {0, 1, 2}  # every head had its turn
        for visit in visits:
            trained.update(dict.fromkeys(visit.heads, len(questions.texts[visit.text])))
    assert max(trained.values()) - min(trained.values()) <= 1000 + 100


@pytest.mark.parametrize("handling", ["balanced", "balanced-concatenated"])
def test_balanced_sub_epochs_do_not_grow_where_heads_share_texts(handling: Handling) -> None:
    """A head that learns from many others must not have all others train ever longer to catch up with it."""
    rng = np.random.default_rng(5)
    heads = sorted({tuple(sorted(rng.choice(30, rng.integers(1, 6), replace=False).tolist())) for _ in range(40)})
    questions = lay_out(heads, rng.integers(200, 4000, 30).tolist())
    trained: Counter[int] = Counter()
    lengths = []
    for visits in sub_epochs(questions, handling, 40):
        lengths.append(sum(len(questions.texts[visit.text]) for visit in visits))
        for visit in visits:
            trained.update(dict.fromkeys(visit.heads, len(questions.texts[visit.text])))
    assert np.mean(lengths[20:]) < 1.5 * np.mean(lengths[:20])
    longest = max(sum(len(questions.texts[text]) for text in head) for head in heads)
    assert max(trained.values()) - min(trained.values()) <= 3 * longest


def test_balanced_over_concatenated_keeps_a_heads_texts_together() -> None:
    questions = lay_out([(0, 1), (2, 3)], [10, 20, 30, 40])
    (visits,) = sub_epochs(questions, "balanced-concatenated", 1)
    texts = [visit.text for visit in visits]
    assert abs(texts.index(0) - texts.index(1)) == 1
    assert abs(texts.index(2) - texts.index(3)) == 1


def test_balanced_uses_a_heads_texts_in_turn_and_ends_with_shared_ones() -> None:
    questions = lay_out([(0, 1, 2), (0, 1, 3), (4,)], [10, 10, 10, 10, 10])
    used: Counter[int] = Counter(visit.text for visits in sub_epochs(questions, "balanced", 30) for visit in visits)
    assert set(used) == {0, 1, 2, 3, 4}
    assert max(used[text] for text in (0, 1, 2, 3)) - min(used[text] for text in (0, 1, 2, 3)) <= 12


def test_the_order_within_a_sub_epoch_is_drawn_anew() -> None:
    questions = lay_out([(n,) for n in range(20)], [10] * 20)
    orders = {tuple(visit.text for visit in visits) for visits in sub_epochs(questions, "sequential", 5)}
    assert len(orders) == 5


@given(
    heads=st.lists(st.sets(st.integers(0, 5), min_size=1).map(lambda s: tuple(sorted(s))), min_size=1, unique=True),
    handling=st.sampled_from(["sequential", "concatenated", "balanced", "balanced-concatenated"]),
)
@example(heads=[(0,), (0, 1)], handling="balanced-concatenated")
def test_every_sub_epoch_ends_with_every_head_served_however_sets_overlap(
    heads: list[tuple[int, ...]], handling: Handling
) -> None:
    questions = lay_out(heads, [30, 12, 500, 40, 40, 90])
    for visits in sub_epochs(questions, handling, 12):
        assert {head for visit in visits for head in visit.heads} == set(range(len(heads)))
        assert len(visits) < 2_000


@pytest.mark.parametrize("handling", ["sequential", "concatenated", "balanced", "balanced-concatenated"])
def test_what_is_to_be_learned_is_known_beforehand(handling: Handling) -> None:
    """All heads share a short text and begin alike, so that later balanced sub-epochs are longer than the first."""
    lengths = [30, *range(1000, 5000, 500)]
    questions = lay_out([(0, number) for number in range(1, 9)], lengths)
    learned = sum(lengths[visit.text] for visits in sub_epochs(questions, handling, 30) for visit in visits)
    settings = Settings(handling=handling, sub_epochs=30)
    found = rnn._characters_to_learn(questions, settings, np.random.default_rng(1))
    assert found == pytest.approx(learned, rel=0.25)


def test_a_trial_asks_as_few_heads_as_the_work_does(make_corpus: MakeCorpus, monkeypatch: pytest.MonkeyPatch) -> None:
    problems = read_problems(make_corpus(small_problems(60, length=300))).problems
    asked: list[int] = []
    monkeypatch.setattr(rnn, "score", lambda model, part, chosen: asked.append(chosen.shape[1]))
    for compared in (10, 1000):
        settings = Settings(hidden=4, sub_epochs=1, compared=compared, train_on="known")
        questions = prepare_questions(problems, settings).sides[0]
        rnn._scoring_seconds(questions, settings, np.random.default_rng(0), lambda: 0.0)
    assert asked == [10, len(questions.heads)]
