"""Heads for further authors on a trained recurrent layer, which stays as it is; each is trained by itself.

A new head begins as the mean of the heads that the layer was trained with, what is common to all authors, and learns
its own texts from there. Nothing leaks, and its random stream depends on its texts alone: a head is the same whichever
others are enrolled beside it or before it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from byline import kernels
from byline.alphabet import Symbols
from byline.network import Play, Weights, rules_of, start_accumulators, start_memory
from byline.settings import Settings
from byline.training import STRETCH, Arithmetic, draw_noise, noise_table


def enrol_heads(
    weights: Weights,
    sets: Sequence[Sequence[Symbols]],
    settings: Settings,
    seed: int,
    arithmetic: Arithmetic = kernels,
    threads: int = 1,
    proceed: Callable[[], None] = lambda: None,
) -> Weights:
    """The layer with a head for each set of texts, in place of those that it was trained with.

    The heads of `weights` must be just those: none that was enrolled.
    """
    common = weights._replace(
        heads=weights.heads.mean(axis=0, keepdims=True), head_bias=weights.head_bias.mean(axis=0, keepdims=True)
    )

    def enrol(texts: Sequence[Symbols]) -> Weights:
        proceed()
        return _enrol(common, texts, settings, seed, arithmetic)

    with ThreadPoolExecutor(threads) as pool:
        enrolled = list(pool.map(enrol, sets))
    return weights._replace(
        heads=np.concatenate([each.heads for each in enrolled]),
        head_bias=np.concatenate([each.head_bias for each in enrolled]),
    )


def _enrol(common: Weights, texts: Sequence[Symbols], settings: Settings, seed: int, arithmetic: Arithmetic) -> Weights:
    digest = hashlib.sha256(b"".join(text.tobytes() for text in texts)).digest()
    rng = np.random.default_rng([seed, int.from_bytes(digest[:8], "little")])
    own = Weights(*(array.copy() for array in common))
    accumulators, memory = start_accumulators(own), start_memory(settings.hidden, settings.depth)
    rules, table = rules_of(settings), noise_table(settings, rng)
    none = np.zeros(0, np.int32)
    stretch = max(1, STRETCH // settings.batch) * settings.batch
    for _ in range(settings.sub_epochs):
        for place in rng.permutation(len(texts)):
            symbols = texts[place][::-1].copy() if settings.direction == "backward" else texts[place]
            for begin in range(0, len(symbols) - 1, stretch):
                part = symbols[begin : begin + stretch + 1]
                rows = -(-(len(part) - 1) // settings.batch)
                # no head's error goes on to the recurrent layer
                play = Play(
                    np.zeros(1, np.int32), np.zeros(1, np.uint8), none, np.zeros(rows + 1, np.int32), settings.batch
                )
                noise = draw_noise(table, settings, len(part) - 1, rng)
                skipping = rules if begin == 0 else rules._replace(skip=0)
                arithmetic.train_text(own, accumulators, memory, part, play, noise, skipping)
    return own
