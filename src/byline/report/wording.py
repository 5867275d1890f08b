"""Answers in words, the same in the terminal and in reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from byline.corpora.answers import Answer
from byline.corpora.problems import Problem
from byline.judgment.calibration import is_capped
from byline.judgment.checks.cautions import Caution
from byline.judgment.interpretation import JudgmentOptions
from byline.judgment.likelihood_ratio import describe_ratio, format_ratio, support_word
from byline.report.common import finite, short_names

Verdict = Literal["same", "another", "undecided"]

VERDICTS: dict[Verdict, str] = {"same": "same author", "another": "another author", "undecided": "undecided"}
LEANINGS = {"same": "leans to the same author", "another": "leans to another author"}
"""Verdicts whose likelihood ratio is too close to 1 to support them."""
SKIPPED = "skipped"
RESERVE = "What another calibration, or other texts to compare with, would change is not in that."
"""What an interval of the weight of evidence does not cover."""
NONE_KEPT = (
    "Whether texts are short, share passages, or differ in language or kind was not kept with this run, as with those"
    " of earlier versions; byline verify again tells."
)


def verdict_of(answer: Answer) -> Verdict:
    """Return the side of an answer, as it is counted and measured."""
    return "undecided" if answer.undecided else "same" if answer.value > 0.5 else "another"


def is_leaning(answer: Answer) -> bool:
    """Return whether an answer is on a side that its likelihood ratio does not support."""
    return not answer.undecided and answer.llr is not None and support_word(answer.llr) is None


def verdict_words(answer: Answer) -> str:
    """Return the verdict as people read it."""
    if answer.score is None:
        return SKIPPED
    verdict = verdict_of(answer)
    return LEANINGS[verdict] if is_leaning(answer) else VERDICTS[verdict]


def count_verdicts(answers: Iterable[Answer]) -> str:
    """Count the answers of each kind. Those without support are counted separately."""
    counts = Counter(map(verdict_words, answers))
    order = (VERDICTS["same"], VERDICTS["another"], *LEANINGS.values(), VERDICTS["undecided"], SKIPPED)
    return ", ".join(
        f"{counts[words]:,} {words.replace('leans', 'lean') if counts[words] > 1 else words}"
        for words in order
        if counts[words]
    )


def ratio_words(times: str, same: bool) -> str:
    """Say how many times more the evidence is to be expected on one side than on the other."""
    sides = (
        "the author of the known texts wrote the unknown one than if somebody else did"
        if same
        else "somebody else wrote the unknown text than if the author of the known texts did"
    )
    return f"The findings are {times} times more likely if {sides}."


def problem_values(
    answer: Answer, problem: Problem, truth: bool | None, judgment: JudgmentOptions, cautions: Sequence[Caution]
) -> dict[str, Any]:
    """Return what reports say of a problem: its answer, verdict and cautions."""
    low, high = answer.interval or (None, None)
    names = short_names([document.name for document in (problem.unknown, *problem.known)])
    return {
        "id": answer.id,
        "language": problem.language,
        "answer": answer.rounded,
        "score": finite(answer.score),
        "llr": finite(answer.llr),
        "low": finite(low),
        "high": finite(high),
        "probability": finite(answer.probability),
        "verdict": verdict_of(answer),
        "leaning": is_leaning(answer),
        "truth": truth,
        "statement": _statement(answer, judgment),
        "known": names[1:],
        "unknown": names[0],
        "known_characters": sum(len(document.text) for document in problem.known),
        "unknown_characters": len(problem.unknown.text),
        "warnings": [caution.text for caution in cautions],
    }


def _statement(answer: Answer, judgment: JudgmentOptions) -> str:
    verdict = verdict_of(answer)
    if answer.llr is None:
        leaning = {"same": "the same author", "another": "another author"}.get(verdict)
        others = "the reference" if judgment.interpretation == "cohort" else "the other problems"
        said = f"Compared with {others} it leans towards {leaning}." if leaning else "It is left undecided."
        return f"{said} Nothing is calibrated for these members: the answer is an order, not a probability."
    said = f"The evidence is {describe_ratio(answer.llr)}. {ratio_words(format_ratio(answer.llr), answer.llr >= 0)}"
    at_bound = judgment.calibration is not None and is_capped(judgment.calibration, answer.llr)
    if judgment.calibration is not None and at_bound:
        cap = judgment.calibration.caps.same if answer.llr > 0 else judgment.calibration.caps.different
        said += (
            f" The score alone would claim more, but ratios above {format_ratio(cap)} are not borne out by what this"
            " calibration was made of."
        )
    if answer.interval:
        low, high = (f"{end:+.2f}" for end in answer.interval)
        spread = (
            "how far members agree and how far it hangs on parts of the texts would let it lie between"
            f" {low} and {high}"
            if low != high
            else "without some of the members, or parts of the texts, it would be the same"
            + (", at its bound, which is no proof of precision" if at_bound else "")
        )
        said += f" The weight of evidence is {answer.llr:+.2f} bans; {spread}. {RESERVE}"
    return said + (" It is left undecided, which is written as 0.500." if verdict == "undecided" else "")
