"""Extreme texts and settings give answers that are numbers, or errors that say what to do."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from byline.corpora.documents import Document
from byline.corpora.problems import Problem, ProblemSet
from byline.engines.protocol import Runtime, load_engine
from byline.engines.questions import prepare_questions
from byline.errors import BylineError
from byline.settings.settings import Settings
from byline.tasks.verify import verify
from paths import TESTS
from samples import phrase

SMALL = {"hidden": 8, "sub_epochs": 2}
ENGINES: Mapping[str, Settings] = {
    "rnn": Settings().change(SMALL),
    "ngram": Settings(engine="ngram", order=4),
    "vectors": Settings(engine="vectors"),
}
SCRIPTS = {
    "latin": 0x61, "greek": 0x3B1, "cyrillic": 0x430, "armenian": 0x561, "hebrew": 0x5D0, "arabic": 0x628,
    "syriac": 0x712, "devanagari": 0x915, "bengali": 0x995, "gurmukhi": 0xA15, "gujarati": 0xA95, "tamil": 0xB95,
    "telugu": 0xC15, "kannada": 0xC95, "malayalam": 0xD15, "thai": 0xE01, "georgian": 0x10D0, "ethiopic": 0x1208,
    "khmer": 0x1780, "hiragana": 0x3042, "cjk": 0x4E00, "hangul": 0xAC00, "gothic": 0x10330,
}  # fmt: skip
"""Where their letters begin in Unicode."""


def corpus(text: Callable[[int, int], str], count: int = 6) -> ProblemSet:
    """Problems of texts that a function makes of an author and a salt."""
    return ProblemSet(
        tuple(
            Problem(
                f"EN{n:03d}",
                (Document("known", text(n, 0)),),
                Document("unknown", text(n if n % 2 else n + 1, 1)),
                "any",
            )
            for n in range(1, count + 1)
        ),
        "folders",
    )


def answer(problems: ProblemSet, settings: Settings) -> list[float]:
    """The answers, all of them numbers from 0 to 1; raises where it is refused."""
    values = [each.value for each in verify(problems, settings).answers]
    assert all(math.isfinite(value) and 0 <= value <= 1 for value in values)
    return values


def in_script(first: int) -> Callable[[int, int], str]:
    """Prose whose letters are those of another script."""
    letters = [chr(place) for place in range(first, first + 60) if unicodedata.category(chr(place)).startswith("L")][
        :26
    ]

    def text(author: int, salt: int) -> str:
        return "".join(
            letters[(ord(letter.lower()) - ord("a")) % len(letters)] if letter.isalpha() else letter
            for letter in phrase(author, 500, salt)
        )

    return text


@pytest.mark.parametrize("script", SCRIPTS)
def test_texts_of_every_script_are_answered(script: str) -> None:
    problems = corpus(in_script(SCRIPTS[script]))
    for settings in ENGINES.values():
        assert len({*answer(problems, settings)}) > 1


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (lambda author, _: "a" * (500 + author), "characters after normalizing"),
        (lambda author, salt: "ab" * (300 + 7 * author + salt), "answered"),
        (lambda author, salt: "".join(chr(0x4E00 + 1000 * author + 500 * salt + n) for n in range(500)), "answered"),
        (lambda author, salt: phrase(author, 500, salt).replace(" ", "\u200f \u202e"), "answered"),
        (lambda author, salt: "\0".join(phrase(author, 500, salt)), "answered"),
        (lambda author, salt: phrase(author, 500, salt) + "\udc80\ud800", "answered"),
        (lambda author, salt: "\U0001f600\u0301" * (100 + 9 * author + salt), "answered"),
    ],
    ids=[
        "one character",
        "two characters",
        "all characters once",
        "marks of direction",
        "NULs",
        "halves of pairs",
        "signs",
    ],
)
def test_odd_texts_are_answered_or_refused(engine: str, text: Callable[[int, int], str], outcome: str) -> None:
    try:
        answer(corpus(text), ENGINES[engine])
    except BylineError as refusal:
        assert outcome in str(refusal), refusal  # noqa: PT017
    else:
        assert outcome == "answered"


def test_half_a_million_equal_characters_are_too_little_text() -> None:
    problems = corpus(lambda author, salt: "a" * 500_000 if (author, salt) == (1, 0) else phrase(author, 500, salt))
    with pytest.raises(BylineError, match="known: 5 characters after normalizing, 12 are needed"):
        answer(problems, ENGINES["rnn"])


@pytest.mark.parametrize("rate", [0.0, 10.0, 1e3, 1e6, 1e30, 1e300])
@pytest.mark.parametrize("activation", ["resqrt", "relu", "tanh"])
def test_any_rate_gives_answers_or_says_that_it_is_too_large(rate: float, activation: str) -> None:
    problems = corpus(lambda author, salt: phrase(author, 500, salt))
    with np.errstate(all="ignore"):
        try:
            answer(problems, Settings().change({**SMALL, "rate": rate, "activation": activation}))
        except BylineError as refusal:
            assert "Try a smaller rate" in str(refusal)  # noqa: PT017
            assert rate >= 10


@pytest.mark.parametrize(
    "change",
    [
        {"leakage": 1e9}, {"leakage": 0.0}, {"noise": 100.0}, {"hidden": 0}, {"hidden": 1},
        {"hidden": 500, "sub_epochs": 1}, {"depth": 1}, {"sub_epochs": 1}, {"start": "zero"},
    ],
    ids=str,
)  # fmt: skip
def test_settings_at_their_limits_give_answers(change: Mapping[str, object]) -> None:
    problems = corpus(lambda author, salt: phrase(author, 500, salt))
    answer(problems, Settings().change({**SMALL, **change}))


def cells(engine: str) -> list[float]:
    """What an engine fills the matrix of some problems with, on whichever processor this is."""
    problems = corpus(lambda author, salt: phrase(author, 900, salt))
    (side, *_) = prepare_questions(problems.problems, ENGINES[engine]).sides
    filled = load_engine(ENGINES[engine].engine)(side, ENGINES[engine], np.random.default_rng(0), Runtime())
    return [float(each) for each in filled.matrix.values.ravel()]


SCRIPT = """
import json, sys
sys.path[:0] = sys.argv[1:]
from test_extremes import TOLERANCE, cells
print(json.dumps({engine: cells(engine) for engine in TOLERANCE}))
"""
TOLERANCE = {"rnn": 0.01, "ngram": 1e-9, "vectors": 1e-6}
"""How far a cell of the matrix may differ on another processor, in its unit; see docs/reliability.md."""


def cells_elsewhere(variables: Mapping[str, str]) -> dict[str, list[float]]:
    """Those of a process with these variables in its environment."""
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent), str(TESTS / "support")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=variables)
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def test_the_first_run_which_compiles_gives_the_same_bytes_as_later_ones(tmp_path: Path) -> None:
    variables = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first = cells_elsewhere(variables)
    assert first == cells_elsewhere(variables)
    for path in tmp_path.rglob("kernels.train_text-*"):
        path.unlink()
    assert first == cells_elsewhere(variables), "compiled beside code that is kept"


def test_another_processor_gives_nearly_the_same(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Compiled for the plainest one there is, with the plainest linear algebra: sums are added up in another order.

    Its code is kept for the next time, as that of this processor is: it is good for the same sources only.
    """
    cache = getattr(request.config, "cache", None)
    plain = {
        **os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "OPENBLAS_CORETYPE": "Prescott",
        "NUMBA_CACHE_DIR": str(cache.mkdir("plain-processor") if cache else tmp_path),
    }  # fmt: skip
    there = cells_elsewhere(plain)
    here_too = {engine: cells(engine) for engine in TOLERANCE}
    if platform.machine() in ("x86_64", "AMD64"):
        assert there["rnn"] != here_too["rnn"], "it was the same processor"
    for engine, most in TOLERANCE.items():
        here = here_too[engine]
        np.testing.assert_allclose(there[engine], here, atol=most, rtol=0, err_msg=engine)
