"""What is said of answers, in the same words in the terminal and in reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Literal

from byline.answers import Answer
from byline.likelihood import support

Verdict = Literal["same", "another", "undecided"]

VERDICTS: dict[Verdict, str] = {"same": "same author", "another": "another author", "undecided": "undecided"}
LEANINGS = {"same": "leans to the same author", "another": "leans to another author"}
"""Verdicts that nothing supports: the ratio is too near to 1."""
SKIPPED = "skipped"
RESERVE = "What another calibration, or other texts to compare with, would change is not in that."
"""What an interval of the weight of evidence does not cover."""


def verdict_of(answer: Answer) -> Verdict:
    """Which side an answer is on, as it is counted and measured."""
    return "undecided" if answer.undecided else "same" if answer.value > 0.5 else "another"


def is_leaning(answer: Answer) -> bool:
    """Whether an answer is on a side that its likelihood ratio does not support."""
    return not answer.undecided and answer.llr is not None and support(answer.llr) is None


def verdict_words(answer: Answer) -> str:
    """The verdict as people read it."""
    if answer.score is None:
        return SKIPPED
    verdict = verdict_of(answer)
    return LEANINGS[verdict] if is_leaning(answer) else VERDICTS[verdict]


def count_verdicts(answers: Iterable[Answer]) -> str:
    """How many answers there are of each kind; those without support are counted apart."""
    counts = Counter(map(verdict_words, answers))
    order = (VERDICTS["same"], VERDICTS["another"], *LEANINGS.values(), VERDICTS["undecided"], SKIPPED)
    return ", ".join(
        f"{counts[words]:,} {words.replace('leans', 'lean') if counts[words] > 1 else words}"
        for words in order
        if counts[words]
    )


def ratio_words(times: str, same: bool) -> str:
    """What a likelihood ratio says: so many times more to be expected on one side than on the other."""
    sides = (
        "the author of the known texts wrote the unknown one than if somebody else did"
        if same
        else "somebody else wrote the unknown text than if the author of the known texts did"
    )
    return f"What was found is {times} times more to be expected if {sides}."
