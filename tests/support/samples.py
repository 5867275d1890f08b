"""Sample texts and problems for tests."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

MakeCorpus = Callable[..., Path]
"""The type of the fixture `make_corpus`."""

WORDS = (
    "the old man went down to the river and sat upon a stone; he thought of bread",
    "I don't know! You can't say, can you? Well -- it's a fine day, isn't it, my dear",
    "Results were measured: 12 of 40 samples (see table) failed; therefore we stop",
    "and then and then she ran and ran and saw all the birds and all the trees and",
    "Nothing. He waits. No sound. A door. Then steps. He turns. Nobody. Rain again.",
    "of the nation's property, whereof the author hath spoken, upon which we insist",
    "kind of like a really big thing, you know, so i just left it there, whatever ok",
)


def phrase(author: int, length: int = 400, salt: int = 0) -> str:
    """Return one author's words in random order."""
    words = WORDS[author % len(WORDS)].split()
    picked, state = [], author * 7919 + salt * 104729 + 1
    while sum(map(len, picked)) + len(picked) < length:
        state = (state * 1103515245 + 12345) % 2**31
        picked.append(words[(state >> 16) % len(words)])
    return " ".join(picked)


def habits(author: object, length: int = 500, salt: object = 0) -> str:
    """Return words that all authors share, used by each with their own frequencies."""
    words = sorted({word.lower() for words in WORDS for word in words.split()})
    habit = random.Random(f"habit of {author}")
    weights = [habit.random() ** 2 for _ in words]
    picked = random.Random(f"text {salt} of {author}").choices(words, weights, k=length)
    return " ".join(picked)[:length].rpartition(" ")[0]


def small_problems(count: int = 6, length: int = 400) -> dict[str, dict[str, str]]:
    """Return problems by different authors; in every other one the unknown text is by the same author."""
    return {
        f"EN{n:03d}": {
            "known01.txt": phrase(n, length),
            "unknown.txt": phrase(n if n % 2 else n + 1, length, salt=n + 1),
        }
        for n in range(1, count + 1)
    }


FAST = ["--set", "hidden=4", "--set", "sub_epochs=2"]
"""Settings with which a test of the command line is quick."""


RANDOM = random.Random(1)
LEXICON = ["".join(RANDOM.choices("etaoinshrdlu", k=RANDOM.randint(2, 9))) for _ in range(2000)]


def prose(seed: int, length: int = 400) -> str:
    """Return invented words in an order that depends on the seed."""
    return " ".join(random.Random(seed).choices(LEXICON, k=length // 3))[:length].rstrip().ljust(length, "e")
