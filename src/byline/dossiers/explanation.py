"""One answer of a run, and what it rests on."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from byline.documents import Document
from byline.dossiers.findings import evidence_by_problem, gains_of, problem_values
from byline.errors import RunError
from byline.evidence import Gains, choose_strongest, find_passages, weigh_words
from byline.figures.sources import read_run
from byline.keepsakes import read_kept_problems


class PassageShown(NamedTuple):
    """A passage of one of a problem's texts."""

    document: str
    begin: int
    end: int
    bits: float
    agreement: float
    words: tuple[tuple[str, float], ...]
    """Each with its bits."""


class FeaturesShown(NamedTuple):
    """What a member that does not add up over characters names for and against."""

    member: str
    supporting: tuple[str, ...]
    opposing: tuple[str, ...]


class Explanation(NamedTuple):
    """One answer, and what it rests on."""

    id: str
    verdict: str
    statement: str
    warnings: tuple[str, ...]
    passages: tuple[PassageShown, ...]
    features: tuple[FeaturesShown, ...]


def explain_problem(path: Path | str, name: str | None, most: int) -> Explanation:
    """The answer to one problem of a run; it need not be named where there is only one."""
    run = read_run(Path(path))
    ids = [each for group in run.plan.groups for each in group.ids]
    if name is None and len(ids) == 1:
        name = ids[0]
    if name not in ids:
        few = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
        said = "which problem?" if name is None else f"no problem {name} there;"
        raise RunError(f"{path}: {said} Name one of {few}")
    problem = read_kept_problems(run.folder, run.plan)[name]
    number, place = next(
        (number, group.ids.index(name)) for number, group in enumerate(run.plan.groups) if name in group.ids
    )
    records = list(run.records(number))
    evidence = evidence_by_problem(run, records).get((number, place), [])
    (answer,) = [each for each in run.answers if each.id == name]
    values = problem_values(answer, problem, None, run.plan.manner.calibration)
    passages: list[PassageShown] = []
    for document_number, document in enumerate((problem.unknown, *problem.known)):
        gains = gains_of(document_number, len(document.text), evidence)
        if gains is not None:
            passages += _shown(document, gains, most)
    verdicts = {"same": "the same author", "another": "another author", "undecided": "undecided"}
    return Explanation(
        name,
        verdicts[values["verdict"]],
        values["statement"],
        tuple(values["warnings"]),
        tuple(choose_strongest(passages, most)),
        tuple(
            FeaturesShown(
                member,
                tuple(each.name for each in kept.features if each.weight > 0)[:8],
                tuple(each.name for each in kept.features if each.weight < 0)[:8],
            )
            for member, _, kept in evidence
            if kept.features and kept.way == 1
        ),
    )


def _shown(document: Document, gains: Gains, most: int) -> list[PassageShown]:
    words = weigh_words(document.text, gains)
    return [
        PassageShown(
            document.name,
            each.begin,
            each.end,
            each.bits,
            each.agreement,
            tuple(
                (document.text[word.begin : word.end], word.bits)
                for word in words
                if each.begin <= word.begin and word.end <= each.end
            ),
        )
        for each in find_passages(document.text, gains, most, words)
    ]
