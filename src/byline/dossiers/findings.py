"""What a run found of one problem: the answer in careful words, and what its members kept of the texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from byline.answers import Answer
from byline.calibration import is_bent
from byline.cautions import Caution
from byline.dossiers.parts import finite, short_names
from byline.dossiers.words import RESERVE, is_leaning, ratio_words, verdict_of
from byline.evidence import Gains
from byline.figures.sources import Run
from byline.likelihood import times, verbal
from byline.plans import Manner
from byline.problems import Problem
from byline.runs import Record, RunFolder
from byline.testimony import Kept, read_evidence

NONE_KEPT = (
    "Whether texts are short, share passages, or differ in language or kind was not kept with this run, as with those"
    " of earlier versions; byline verify again tells."
)

Found = tuple[str, str, Kept]
"""A member's name, its unit, and what it kept."""


def evidence_by_problem(
    run: Run, records: Sequence[Record], problem: int | None = None
) -> dict[tuple[int, int], list[Found]]:
    """By language and problem, what members kept; of one problem only, if its number is given."""
    found: dict[tuple[int, int], list[Found]] = {}
    folder = RunFolder(run.folder, run.plan)
    for record in records:
        name, unit = record.member.settings.engine_name, record.sides[0].matrix.unit
        for kept in read_evidence(folder.path(record.member, record.group), problem):
            found.setdefault((record.group, kept.problem), []).append((name, unit, kept))
    return found


def gains_of(document: int, length: int, evidence: Sequence[Found]) -> Gains | None:
    """(members, characters): what those that add up say of one of a problem's documents, 0 being the unknown one."""
    rows = [kept.gains[document] for _, _, kept in evidence if document in kept.gains]
    rows = [row for row in rows if len(row) == length]
    return np.array(rows, np.float64) if rows else None


def problem_values(
    answer: Answer, problem: Problem, truth: bool | None, manner: Manner, cautions: Sequence[Caution]
) -> dict[str, Any]:
    """The answer to a problem, its verdict, and what is to be said of it."""
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
        "statement": _statement(answer, manner),
        "known": names[1:],
        "unknown": names[0],
        "known_characters": sum(len(document.text) for document in problem.known),
        "unknown_characters": len(problem.unknown.text),
        "warnings": [caution.text for caution in cautions],
    }


def _statement(answer: Answer, manner: Manner) -> str:
    verdict = verdict_of(answer)
    if answer.llr is None:
        leaning = {"same": "the same author", "another": "another author"}.get(verdict)
        others = "the reference" if manner.interpretation == "cohort" else "the other problems"
        said = f"Compared with {others} it leans towards {leaning}." if leaning else "It is left undecided."
        return f"{said} Nothing is calibrated for these members: the answer is an order, not a probability."
    said = f"The evidence is {verbal(answer.llr)}. {ratio_words(times(answer.llr), answer.llr >= 0)}"
    at_bound = manner.calibration is not None and is_bent(manner.calibration, answer.llr)
    if manner.calibration is not None and at_bound:
        cap = manner.calibration.caps.same if answer.llr > 0 else manner.calibration.caps.different
        said += (
            f" The score alone would claim more, but ratios above {times(cap)} are not borne out by what this"
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
