"""Problems -> their cautions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from byline.cautions.company import NAMED, look_at_company
from byline.cautions.sentences import (
    speak_of_kinds,
    speak_of_languages,
    speak_of_length,
    speak_of_omissions,
    speak_of_passages,
    speak_of_repeats,
)
from byline.cautions.tongues import WORDS, tell_language
from byline.cautions.values import KINDS, Caution, Cautions
from byline.documents import Document
from byline.problems import Problem
from byline.quotations import Omission, find_overlap
from byline.reference import Reference, check_reference


def find_cautions(
    problems: Sequence[Problem],
    reference: Reference | None = None,
    control: Sequence[Document] = (),
    omissions: Mapping[str, Sequence[Omission]] | None = None,
) -> Cautions:
    """What speaks against believing answers to problems, beside a reference or with a control corpus.

    `omissions` is what was left out of the problems before, by id. Time grows with the number of problems: about two
    seconds for a thousand of 2,000 characters a side; a reference is looked at once, which takes some seconds too.
    """
    check = check_reference(reference, problems) if reference is not None else None
    strangers, run = _find_strangers(problems) if reference is None else (frozenset[str](), [])
    if reference is not None:
        run += _compare_languages(problems, [text.document for text in reference.texts], "The reference")
    run += _compare_languages(problems, control, "The control corpus")
    if check is not None and check.grade != "good" and len(problems) > 1:
        said = f"The reference: {check.texts} texts by {check.authors} people. {check.verdict}"
        run.append(Caution("reference", said))
    checks = {each.id: each for each in check.problems} if check else {}
    order = list(KINDS)
    found: dict[str, tuple[Caution, ...]] = {}
    for problem in problems:
        overlaps = find_overlap(problem)
        own = [
            *speak_of_languages(problem),
            *speak_of_passages(problem, overlaps),
            *speak_of_kinds(problem, problem.id in strangers),
            *speak_of_length(problem),
            *speak_of_repeats(problem, overlaps),
            *speak_of_omissions((omissions or {}).get(problem.id, ())),
        ]
        if problem.id in checks and checks[problem.id].grade != "good":
            own.append(Caution("reference", f"For this question the reference is {checks[problem.id].verdict}."))
        if own:
            found[problem.id] = tuple(sorted(own, key=lambda caution: order.index(caution.kind)))
    return Cautions(tuple(run), found, check)


def _find_strangers(problems: Sequence[Problem]) -> tuple[frozenset[str], list[Caution]]:
    """The problems whose sides resemble different other texts, where most do, and what to say of that."""
    by_language: dict[str, list[Problem]] = {}
    for problem in problems:
        by_language.setdefault(problem.language, []).append(problem)
    named: set[str] = set()
    said = []
    for own in by_language.values():
        company = look_at_company(own)
        if company is None or not company.apart:
            continue
        each = zip(own, company.correlations, strict=True)
        named |= {problem.id for problem, correlation in each if correlation < NAMED}
        sentence = (
            "In most problems the known and the unknown texts resemble different other texts of this run (median"
            f" correlation {company.middle:.2f}): they seem to be of different kinds, or on different subjects. Answers"
            " then tell kinds apart as much as authors."
        )
        said.append(Caution("kind", sentence))
    return frozenset(named), said


def _compare_languages(problems: Sequence[Problem], others: Sequence[Document], what: str) -> list[Caution]:
    """Whether most of the texts that problems are compared with are in another language."""
    told = Counter(language for document in others if (language := tell_language(document.text)))
    named = {problem.language for problem in problems} & WORDS.keys()
    if not told or not named:
        return []
    language, count = told.most_common(1)[0]
    if language in named or count * 2 < len(others):
        return []
    seems = f"{what} seems to be in {language.capitalize()} ({count} of {len(others)} texts)"
    taken = " and ".join(name.capitalize() for name in sorted(named))
    return [Caution("language", f"{seems}, but the problems are taken as {taken}.")]
