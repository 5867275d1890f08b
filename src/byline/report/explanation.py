"""One answer of a run, and the evidence for it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from byline.corpora.documents import Document
from byline.errors import RunError
from byline.judgment.checks.cautions import Caution
from byline.judgment.passage_evidence import Gains, choose_strongest, find_passages, weigh_words
from byline.report.wording import NONE_KEPT, problem_values, verdict_words
from byline.runs.run import Run, stack_gains


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
    """The features for and against that a member which is not additive names."""

    member: str
    supporting: tuple[str, ...]
    opposing: tuple[str, ...]


class SharedShown(NamedTuple):
    """A passage that texts of the other side share."""

    document: str
    begin: int
    end: int
    text: str


class Explanation(NamedTuple):
    """One answer, and the evidence for it."""

    id: str
    verdict: str
    statement: str
    cautions: tuple[Caution, ...]
    """Reasons not to trust it."""
    passages: tuple[PassageShown, ...]
    features: tuple[FeaturesShown, ...]
    shared: tuple[SharedShown, ...] = ()
    unlooked: str | None = None
    """Why there are no cautions, if the run kept none."""
    weighed: bool = True
    """Whether additive members kept evidence, so that there may be passages."""
    said: str = ""
    """The verdict in the words of the table of answers, which says that unsupported ones lean."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """The cautions in words, or why there are none."""
        return (self.unlooked,) if self.unlooked else tuple(caution.text for caution in self.cautions)


def explain_problem(run: Run | Path | str, name: str | None, most: int) -> Explanation:
    """Explain the answer to one problem of a run, opened or in a folder, with up to `most` passages for and against.

    The problem need not be named if there is only one.
    """
    run = run if isinstance(run, Run) else Run.open(run)
    name = _require_problem(run, name)
    problem = run.problems[name]
    key = next((number, group.ids.index(name)) for number, group in enumerate(run.plan.groups) if name in group.ids)
    evidence = run.evidence.get(key, [])
    (answer,) = [each for each in run.answers if each.id == name]
    cautions = run.cautions.of(name) if run.cautions else ()
    values = problem_values(answer, problem, None, run.plan.judgment, cautions)
    passages: list[PassageShown] = []
    documents = (problem.unknown, *problem.known)
    weighed = False
    for document_number, document in enumerate(documents):
        gains = stack_gains(evidence, document_number, len(document.text))
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
        None if run.cautions else NONE_KEPT,
        weighed,
        verdict_words(answer),
    )


def _require_problem(run: Run, name: str | None) -> str:
    """Return the id of a problem of a run. Raise RunError if there is none."""
    ids = [each for group in run.plan.groups for each in group.ids]
    if name is None and len(ids) == 1:
        return ids[0]
    if reason := dict(run.plan.skipped).get(name or ""):
        raise RunError(f"{name} was skipped, because it could not be used: {reason}", where=run.folder)
    if name is None or name not in ids:
        few = ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")
        wrong = f"no problem {name}" if name else "has several problems"
        raise RunError(wrong, where=run.folder, remedy=f"Name one of {few}")
    return name


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
