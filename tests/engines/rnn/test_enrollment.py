"""Heads for further authors on a layer that stays as it is."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from byline.engines.questions import Questions
from byline.engines.rnn import kernels, network
from byline.engines.rnn.network import Weights
from byline.engines.rnn.training import enroll_heads, train
from byline.settings.settings import Settings
from byline.text.encoder import Symbols, count_characters, make_alphabet
from byline.text.normalize import normalize
from samples import phrase

SMALL = Settings(hidden=4, sub_epochs=3)
BACKWARD = SMALL.change({"direction": "backward"})


@cache
def layer(settings: Settings = SMALL, length: int = 150) -> tuple[Weights, tuple[tuple[Symbols, ...], ...]]:
    """A network trained on four authors, and sets of texts by three others."""
    learned = [phrase(author, length) for author in range(4)]
    sets = [[phrase(author, length, salt=1), phrase(author, length, salt=2)] for author in (4, 5, 6)]
    everything = [normalize(text, "english") for text in (*learned, *(text for texts in sets for text in texts))]
    alphabet = make_alphabet(count_characters(set(everything)))
    texts = [alphabet.encode(text) for text in everything]
    asked = Questions(alphabet, tuple(texts[:4]), ((0,), (1,), (2,), (3,)), (), ())
    weights = train(asked, settings, np.random.default_rng(0)).weights
    return weights, tuple(tuple(texts[4 + 2 * n : 6 + 2 * n]) for n in range(3))


def bits(weights: Weights, text: Symbols, settings: Settings = SMALL) -> np.ndarray:
    """(N,): what each head needs for all but the first character."""
    symbols = text[::-1].copy() if settings.direction == "backward" else text
    nothing = np.zeros((0, 0), np.float32)
    rules = network.rules_of(settings)
    hidden = network.run(weights, symbols[:-1], np.zeros_like(weights.bias), nothing, rules.activation)
    places = np.arange(len(symbols) - 1), symbols[1:]
    return np.array([-network.predict(weights, hidden, head)[places].sum() for head in range(len(weights.heads))])


def test_there_is_a_head_for_each_set_and_the_layer_stays_the_same_bytes() -> None:
    weights, sets = layer()
    before = [array.tobytes() for array in weights]
    enrolled = enroll_heads(weights, sets, SMALL, seed=1)
    assert (len(enrolled.heads), len(enrolled.head_bias)) == (3, 3)
    for name in ("input", "recurrent", "bias"):
        assert getattr(enrolled, name).tobytes() == getattr(weights, name).tobytes()
    assert [array.tobytes() for array in weights] == before


def test_a_head_is_the_same_whichever_others_are_enrolled_beside_it() -> None:
    weights, sets = layer()
    together = enroll_heads(weights, sets, SMALL, seed=1)
    turned = enroll_heads(weights, sets[::-1], SMALL, seed=1)
    for place, texts in enumerate(sets):
        alone = enroll_heads(weights, [texts], SMALL, seed=1)
        for heads in (together.heads[place], turned.heads[2 - place]):
            np.testing.assert_array_equal(heads, alone.heads[0])
        np.testing.assert_array_equal(together.head_bias[place], alone.head_bias[0])


def test_and_with_any_number_of_threads() -> None:
    weights, sets = layer()
    one, four = (enroll_heads(weights, sets * 3, SMALL, seed=1, threads=threads) for threads in (1, 4))
    np.testing.assert_array_equal(one.heads, four.heads)
    np.testing.assert_array_equal(one.head_bias, four.head_bias)
    np.testing.assert_array_equal(one.heads[:3], one.heads[3:6])  # the same texts give the same head again


def test_a_head_begins_as_the_mean_of_those_that_the_layer_was_trained_with() -> None:
    weights, sets = layer()
    still = enroll_heads(weights, sets, SMALL.change({"rate": 0.0}), seed=1)
    for head in range(3):
        np.testing.assert_array_equal(still.heads[head], weights.heads.mean(axis=0))
        np.testing.assert_array_equal(still.head_bias[head], weights.head_bias.mean(axis=0))


@pytest.mark.parametrize(
    "settings", [SMALL, BACKWARD, SMALL.change({"hidden": 0})], ids=["forward", "backward", "flat"]
)
def test_it_predicts_its_own_texts_better_than_the_common_head_and_other_heads_do(settings: Settings) -> None:
    settings = settings.change({"sub_epochs": 10})
    weights, sets = layer(settings)
    common = enroll_heads(weights, sets[:1], settings.change({"rate": 0.0}), seed=1)
    enrolled = enroll_heads(weights, sets, settings, seed=1)
    for place, texts in enumerate(sets):
        for text in texts:
            needed = bits(enrolled, text, settings)
            assert needed.argmin() == place
            assert needed[place] < 0.97 * bits(common, text, settings)[0]


@pytest.mark.parametrize("settings", [SMALL, BACKWARD, SMALL.change({"batch": 7, "depth": 3, "activation": "tanh"})])
def test_the_definition_enrolls_like_its_twin(settings: Settings) -> None:
    weights, sets = layer(settings)
    plain = enroll_heads(weights, sets, settings, seed=1, arithmetic=network)
    fast = enroll_heads(weights, sets, settings, seed=1, arithmetic=kernels)
    for name in ("heads", "head_bias"):
        expected = getattr(plain, name)
        np.testing.assert_allclose(getattr(fast, name), expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    for texts in sets:
        np.testing.assert_allclose(bits(fast, texts[0], settings), bits(plain, texts[0], settings), rtol=1e-4)


def test_it_can_be_stopped_before_each_head() -> None:
    weights, sets = layer()
    asked = []

    def proceed() -> None:
        asked.append(1)
        if len(asked) > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        enroll_heads(weights, sets * 5, SMALL, seed=1, proceed=proceed)
    assert len(asked) >= 3
