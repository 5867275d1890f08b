from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.engines.protocol import Progress
from byline.engines.questions import ControlTexts, Questions, prepare_questions
from byline.engines.rnn import kernels, network
from byline.engines.rnn.network import TrainingTotals
from byline.engines.rnn.training import NOISE_TABLE, STRETCH, train
from byline.errors import RunError
from byline.settings.settings import KINDS, RANGES, Settings
from samples import phrase

SMALL = Settings(hidden=5, sub_epochs=3)


def questions(count: int = 5, length: int = 120, settings: Settings = SMALL, control: int = 0) -> Questions:
    problems = [
        Problem(
            str(n),
            (Document("k", phrase(n, length)), Document("l", phrase(n, length, salt=2))),
            Document("u", phrase(n, length, salt=1)),
            "english",
        )
        for n in range(count)
    ]
    texts = [Document(f"c{n}", phrase(n, length, salt=9)) for n in range(control)]
    return prepare_questions(problems, settings, texts).sides[0]


class Spy:
    """Does the arithmetic and remembers which heads learned what."""

    def __init__(self) -> None:
        self.learned: list[tuple[bytes, frozenset[int], np.ndarray]] = []
        self.carry: list[np.ndarray] = []
        self.noise: list[np.ndarray] = []

    def train_text(self, weights, accumulators, memory, symbols, learners, noise, rules) -> TrainingTotals:  # type: ignore[no-untyped-def]
        leaks = np.zeros((len(learners.starts) - 1, len(weights.heads)), np.uint8)
        for row in range(len(leaks)):
            leaks[row, learners.leaked[learners.starts[row] : learners.starts[row + 1]]] = 1
        self.learned.append((symbols.tobytes(), frozenset(learners.own.tolist()), leaks))
        self.carry.append(learners.carry)
        self.noise.append(network.noise_rows(noise, 0, len(symbols) - 1, len(weights.bias)))
        return TrainingTotals(1.0, len(symbols))

    score_text = staticmethod(kernels.score_text)


def test_the_same_seed_gives_the_same_weights_and_another_seed_others() -> None:
    asked = questions()
    one, two, other = (train(asked, SMALL, np.random.default_rng(seed)) for seed in (1, 1, 2))
    for a, b in zip(one.weights, two.weights, strict=True):
        np.testing.assert_array_equal(a, b)
    assert not np.array_equal(one.weights.heads, other.weights.heads)


def test_the_definition_trains_a_whole_network_like_its_twin() -> None:
    asked = questions(length=60)
    plain = train(asked, SMALL, np.random.default_rng(0), arithmetic=network)
    fast = train(asked, SMALL, np.random.default_rng(0), arithmetic=kernels)
    np.testing.assert_allclose(fast.curve, plain.curve, rtol=1e-4)
    for a, b in zip(plain.weights, fast.weights, strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-3, atol=1e-4)


def test_zero_start_without_noise_equals_no_hidden_layer() -> None:
    asked = questions()
    quiet = replace(SMALL, noise=0.0)
    with_hidden = train(asked, replace(quiet, hidden=9, start="zero"), np.random.default_rng(0))
    without = train(asked, replace(quiet, hidden=0), np.random.default_rng(0))
    np.testing.assert_array_equal(with_hidden.weights.head_bias, without.weights.head_bias)
    assert with_hidden.curve == without.curve


@pytest.mark.parametrize("handling", ["sequential", "concatenated", "balanced", "balanced-concatenated"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_every_handling_and_direction_learns(handling: str, direction: str) -> None:
    settings = SMALL.change({"handling": handling, "direction": direction, "sub_epochs": 12})
    model = train(questions(settings=settings), settings, np.random.default_rng(0))
    assert len(model.curve) == 12
    assert model.curve[-1] < model.curve[0]


def test_backward_learns_the_text_from_its_end() -> None:
    asked = questions()
    spies = {}
    for direction in ("forward", "backward"):
        spies[direction] = Spy()
        train(asked, SMALL.change({"direction": direction}), np.random.default_rng(0), arithmetic=spies[direction])
    ahead, back = (
        {tuple(np.frombuffer(text, np.int32)) for text, _, _ in spies[direction].learned} for direction in spies
    )
    assert {text[::-1] for text in ahead} == back


class TestLeakage:
    def leaks(self, settings: Settings, sub_epochs: int = 12) -> list[float]:
        """The share of (row, other head) places that leak, by sub-epoch."""
        spy = Spy()
        asked = questions(count=10, length=3000)
        train(asked, replace(settings, sub_epochs=sub_epochs), np.random.default_rng(0), arithmetic=spy)
        per = len(spy.learned) // sub_epochs
        return [
            np.mean([leak.mean() for _, _, leak in spy.learned[n * per : (n + 1) * per]]) for n in range(sub_epochs)
        ]

    def test_it_begins_at_l_over_n_and_decays(self) -> None:
        shares = self.leaks(Settings(leakage=4, leakage_decay=0.5, hidden=0), 4)
        np.testing.assert_allclose(shares, [0.4, 0.2, 0.1, 0.05], rtol=0.2)

    def test_it_can_be_drawn_by_character(self) -> None:
        shares = self.leaks(Settings(leakage=4, leakage_decay=0.5, hidden=0, leakage_draw="character"), 3)
        np.testing.assert_allclose(shares, [0.4, 0.2, 0.1], rtol=0.1)

    def test_none_is_none(self) -> None:
        assert self.leaks(Settings(leakage=0, hidden=0), 2) == [0, 0]

    def test_a_text_that_some_head_judges_leaves_no_trace_in_the_heads_compared_on_it(self) -> None:
        """Each problem's unknown is the next one's known text: learned by that head, it must not reach any other."""
        texts = [phrase(n, 300, salt=n) for n in range(6)]
        problems = [
            Problem(str(n), (Document("k", texts[n]),), Document("u", texts[(n + 1) % 6]), "english") for n in range(5)
        ]
        settings = Settings(hidden=3, leakage=60, leakage_decay=1.0, swap_short=False, sub_epochs=2)
        asked = prepare_questions(problems, settings).sides[0]
        neutral = len(asked.heads)
        judged = {text for question in asked.questions for text in asked.documents[question.document]}
        spy = Spy()
        train(asked, settings, np.random.default_rng(0), arithmetic=spy)
        number = {text.tobytes(): place for place, text in enumerate(asked.texts)}
        for (text, own, leaks), carry in zip(spy.learned, spy.carry, strict=True):
            learners = set(asked.learners[number[text]])
            if number[text] in judged:
                assert own == learners | {neutral}
                assert not leaks.any()
                assert carry.nonzero()[0].tolist() == [
                    neutral
                ]  # the recurrent layer learns it by the neutral head only
            else:
                assert own == learners
                assert leaks.all()
                assert carry.all()
        assert {number[text] in judged for text, _, _ in spy.learned} == {True, False}


class TestControl:
    def test_one_piece_a_sub_epoch_in_turn_on_a_head_of_its_own(self) -> None:
        pieces = tuple(np.array(pair * 20, np.int32) for pair in ([0, 1], [1, 2]))
        asked = replace(questions(), control=ControlTexts(pieces))
        spy = Spy()
        train(asked, replace(SMALL, sub_epochs=4), np.random.default_rng(0), arithmetic=spy)
        learned = [np.frombuffer(text, np.int32)[0] for text, own, _ in spy.learned if own == {len(asked.heads)}]
        assert learned == [0, 1, 0, 1]

    def test_the_models_last_head_is_control(self) -> None:
        asked = questions(count=6, control=4)
        assert asked.control.pieces
        model = train(asked, SMALL, np.random.default_rng(0))
        assert len(model.weights.heads) == len(asked.heads) + 1


def test_the_table_of_noise_is_longer_than_the_largest_hidden_layer() -> None:
    assert RANGES["hidden"][1] < NOISE_TABLE


def test_noise_has_the_deviation_asked_for_and_none_where_it_is_zero() -> None:
    spy = Spy()
    train(questions(), replace(SMALL, hidden=50, noise=0.3), np.random.default_rng(0), arithmetic=spy)
    assert np.std(np.concatenate(spy.noise)) == pytest.approx(0.3, rel=0.02)
    spy = Spy()
    train(questions(), replace(SMALL, noise=0.0), np.random.default_rng(0), arithmetic=spy)
    assert all(noise.size == 0 for noise in spy.noise)


def test_a_long_text_is_learned_in_stretches_without_losing_a_character() -> None:
    spy = Spy()
    asked = questions(count=1, length=STRETCH * 2 + 77)
    train(asked, replace(SMALL, sub_epochs=1, handling="concatenated"), np.random.default_rng(0), arithmetic=spy)
    parts = [np.frombuffer(text, np.int32) for text, _, _ in spy.learned]
    learned = [text for number, text in enumerate(asked.texts) if asked.learners[number]]
    assert sum(len(part) - 1 for part in parts) == sum(len(text) - 1 for text in learned)
    assert max(map(len, parts)) == STRETCH + 1


def test_progress_is_reported_and_can_stop_the_training() -> None:
    seen: list[Progress] = []
    train(questions(), SMALL, np.random.default_rng(0), seen.append)
    assert [p.sub_epoch for p in seen] == sorted(p.sub_epoch for p in seen)
    assert seen[-1].share == 1
    assert seen[-1].characters > 1000

    def stop(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(questions(), SMALL, np.random.default_rng(0), stop)


@pytest.mark.parametrize("rate", [1e6, 1e30, 1e38])
def test_a_training_that_explodes_stops_and_names_the_settings(rate: float) -> None:
    with pytest.raises(RunError, match=r"in sub-epoch \d with rate=1"):
        train(questions(), replace(SMALL, rate=rate), np.random.default_rng(0))


def test_every_setting_is_used_somewhere() -> None:
    """No field that does nothing: each one is read by another module, or as a property of a pool (`rows[0]`)."""
    from pathlib import Path

    import byline

    sources = [p.read_text("utf-8") for p in Path(byline.__file__).parent.rglob("*.py")]
    for name in KINDS:
        assert any(re.search(rf"(ettings|rows\[0\])\.{name}\b", source) for source in sources), name
