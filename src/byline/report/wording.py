"""Answers in words, the same in the terminal and in reports, and one answer with the evidence for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from byline.corpora.answers import Answer
from byline.corpora.documents import Document
from byline.corpora.problems import Problem
from byline.errors import RunError
from byline.judgment.calibration import bound_of, is_capped
from byline.judgment.checks.cautions import Caution
from byline.judgment.interpretation import JudgmentOptions
from byline.judgment.likelihood_ratio import describe_ratio, format_ratio, support_word
from byline.judgment.passage_evidence import Gains, choose_strongest, find_passages, weigh_words
from byline.judgment.single_questions import LearnedFromCases
from byline.report.page import finite, short_names
from byline.runs.run import Run, stack_gains

Verdict = Literal["same", "another", "undecided"]

VERDICTS: dict[Verdict, str] = {"same": "same author", "another": "another author", "undecided": "undecided"}
LEANINGS = {"same": "leans to the same author", "another": "leans to another author"}
"""Verdicts whose likelihood ratio is too close to 1 to support them."""
SKIPPED = "skipped"
RESERVE = "The choice of the calibration and of the other texts is not covered."
"""About the interval of the weight of evidence."""
NONE_KEPT = (
    "Whether texts are short, share passages, or differ in language or kind was not kept with this run, which an"
    " earlier version wrote. Answer the problems again to find out."
)


def describe_learned(learned: LearnedFromCases) -> str:
    """Return what was learned from the cases of a reference, and how well they are answered, as sentences."""
    halves = f" ({learned.halves:,} of them by halves of one text)" if learned.halves else ""
    known, unknown = learned.lengths
    said = (
        f"{learned.same:,} cases by one author{halves} and {learned.different:,} by two were made from the texts of"
        f" {learned.authors:,} people in the reference, of about {known:,} known and {unknown:,} unknown characters."
    )
    if learned.cllr is None:
        return f"{said} They are too few to validate the comparison."
    easier = " Halves of one text are easier than different texts." if learned.halves else ""
    return (
        f"{said} Answered like the question, they have a Cllr of {learned.cllr:.2f} (0 is perfect, 1 is the cost of no"
        f" answer).{easier}"
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
    """Return the sentence that compares how likely the findings are on either side."""
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
        "statement": describe_answer(answer, judgment),
        "known": names[1:],
        "unknown": names[0],
        "known_characters": sum(len(document.text) for document in problem.known),
        "unknown_characters": len(problem.unknown.text),
        "warnings": [caution.text for caution in cautions],
    }


def describe_answer(answer: Answer, judgment: JudgmentOptions) -> str:
    """Return an answer, its strength and its interval as sentences."""
    verdict = verdict_of(answer)
    if answer.llr is None:
        leaning = {"same": "the same author", "another": "another author"}.get(verdict)
        others = "the reference" if judgment.interpretation == "cohort" else "the other problems"
        said = f"Compared with {others} it leans towards {leaning}." if leaning else "The answer is undecided."
        return f"{said} Nothing is calibrated for these members: the answer is an order, not a probability."
    said = f"The evidence is {describe_ratio(answer.llr)}. {ratio_words(format_ratio(answer.llr), answer.llr >= 0)}"
    capped = judgment.calibration is not None and is_capped(judgment.calibration, answer)
    if judgment.calibration is not None and capped:
        limit = format_ratio(bound_of(judgment.calibration, answer))
        texts = "texts and references like these" if answer.bounds else "the calibration corpora"
        said += f" The score alone would give a larger ratio, but cases of {texts} do not support one above {limit}."
    if answer.interval:
        low, high = (f"{end:+.2f}" for end in answer.interval)
        what = "With other coefficients" if judgment.interpretation == "cohort" else "Over members"
        spread = (
            f"{what} and without parts of the texts it varies from {low} to {high}."
            if low != high
            else "It is the same without some of the members or parts of the texts."
            + (" It is at its limit, so that is no proof of precision." if capped else "")
        )
        said += f" The weight of evidence is {answer.llr:+.2f} bans. {spread} {RESERVE}"
    return said + (" The answer is undecided and written as 0.500." if verdict == "undecided" else "")


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
    documents = (run.problems[name].unknown, *run.problems[name].known)
    key = next((number, group.ids.index(name)) for number, group in enumerate(run.plan.groups) if name in group.ids)
    evidence = run.evidence.get(key, [])
    (answer,) = [each for each in run.answers if each.id == name]
    cautions = run.cautions.of(name) if run.cautions else ()
    gains = [stack_gains(evidence, number, len(document.text)) for number, document in enumerate(documents)]
    weighed = [(document, own) for document, own in zip(documents, gains, strict=True) if own is not None]
    passages = [passage for document, own in weighed for passage in _find_passages(document, own, most)]
    return Explanation(
        name,
        {"same": "the same author", "another": "another author", "undecided": "undecided"}[verdict_of(answer)],
        describe_answer(answer, run.plan.judgment),
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
            SharedShown(document.name, each.begin, each.end, document.text[each.begin : each.end])
            for caution in cautions
            for each in caution.passages
            for document in [documents[each.document]]
        ),
        None if run.cautions else NONE_KEPT,
        bool(weighed),
        verdict_words(answer),
    )


def _require_problem(run: Run, name: str | None) -> str:
    """Return the id of a problem of a run. Raise RunError if the name is not one of them."""
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


def _find_passages(document: Document, gains: Gains, most: int) -> list[PassageShown]:
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
