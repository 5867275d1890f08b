"""One answer of a run, and what it rests on."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from byline.cautions import Caution
from byline.cautions.file import read_cautions
from byline.documents import Document
from byline.dossiers.findings import NONE_KEPT, evidence_by_problem, gains_of, problem_values
from byline.dossiers.words import verdict_words
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


class SharedShown(NamedTuple):
    """A passage that texts of the other side have too."""

    document: str
    begin: int
    end: int
    text: str


class Explanation(NamedTuple):
    """One answer, and what it rests on."""

    id: str
    verdict: str
    statement: str
    cautions: tuple[Caution, ...]
    """What speaks against believing it."""
    passages: tuple[PassageShown, ...]
    features: tuple[FeaturesShown, ...]
    shared: tuple[SharedShown, ...] = ()
    unlooked: str | None = None
    """Why there are no cautions, where nobody looked for any."""
    weighed: bool = True
    """Whether members that add up over characters kept what they say, so that there may be passages."""
    said: str = ""
    """The verdict in the words of the table of answers: it leans, where nothing supports it."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The cautions in words, or why there are none."""
        return (self.unlooked,) if self.unlooked else tuple(caution.text for caution in self.cautions)


def explain_problem(path: Path | str, name: str | None, most: int) -> Explanation:
    """The answer to one problem of a run; it need not be named where there is only one."""
    run = read_run(Path(path))
    ids = [each for group in run.plan.groups for each in group.ids]
    if name is None and len(ids) == 1:
        name = ids[0]
    if reason := dict(run.plan.skipped).get(name or ""):
        raise RunError(f"{path}: {name} was skipped, for it could not be used: {reason}")
    if name not in ids:
        few = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
        said = "which problem?" if name is None else f"no problem {name} there;"
        raise RunError(f"{path}: {said} Name one of {few}")
    problem = read_kept_problems(run.folder, run.plan)[name]
    number, place = next(
        (number, group.ids.index(name)) for number, group in enumerate(run.plan.groups) if name in group.ids
    )
    records = list(run.records(number))
    evidence = evidence_by_problem(run, records, place).get((number, place), [])
    (answer,) = [each for each in run.answers if each.id == name]
    kept_cautions = read_cautions(run.folder, run.plan)
    cautions = kept_cautions.of(name) if kept_cautions else ()
    values = problem_values(answer, problem, None, run.plan.manner, cautions)
    passages: list[PassageShown] = []
    documents = (problem.unknown, *problem.known)
    weighed = False
    for document_number, document in enumerate(documents):
        gains = gains_of(document_number, len(document.text), evidence)
        if gains is not None:
            weighed = True
            passages += _shown(document, gains, most)
    verdicts = {"same": "the same author", "another": "another author", "undecided": "undecided"}
    return Explanation(
        name,
        verdicts[values["verdict"]],
        values["statement"],
        cautions,
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
        tuple(
            SharedShown(
                documents[each.document].name,
                each.begin,
                each.end,
                documents[each.document].text[each.begin : each.end],
            )
            for caution in cautions
            for each in caution.passages
        ),
        None if kept_cautions else NONE_KEPT,
        weighed,
        verdict_words(answer),
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
