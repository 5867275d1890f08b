"""The problems of each language, laid out for every member of an ensemble, and the problems that can't be answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from byline.corpora.documents import Document
from byline.corpora.problems import BadProblem, Problem, ProblemSet, require_sound
from byline.corpora.reference import Reference, describe_languages, same_language
from byline.engines.questions import (
    FEWEST_HEADS,
    PreparedQuestions,
    Questions,
    find_incomparable,
    find_sharing_texts,
    prepare_questions,
)
from byline.engines.reference_questions import prepare_reference
from byline.errors import CorpusError, TooLittleText
from byline.settings.settings import ENGINES, Interpretation, Settings

LayoutKey = tuple[object, ...]
Prepare = Callable[[Sequence[Problem], Settings], PreparedQuestions]


@dataclass(frozen=True)
class LanguageGroup:
    """The problems of one language, and their questions as each kind of member asks them."""

    language: str
    problems: tuple[Problem, ...]
    """In the order of their ids, which is how questions number them."""
    layouts: Mapping[LayoutKey, PreparedQuestions]

    def __post_init__(self) -> None:
        """Check that all kinds of members number the same problems."""
        assert all(prepared.problems == self.problems for prepared in self.layouts.values())

    def prepared(self, settings: Settings) -> PreparedQuestions:
        """Return the questions as a member with these settings asks them."""
        return self.layouts[_key(settings)]

    def incomparable(self, rows: Sequence[Settings], interpretation: Interpretation) -> list[BadProblem]:
        """Return an offence for each problem that no member with these settings can compare with enough others."""
        relative = interpretation == "relative"
        layouts = {_key(settings): self.prepared(settings) for settings in rows}
        without = [frozenset(unanswerable_problems(prepared.sides, relative)) for prepared in layouts.values()]
        return [_incomparable_offence(self.problems[number].id) for number in sorted(frozenset.intersection(*without))]


def lay_out_groups(
    problems: ProblemSet,
    rows: Sequence[Settings],
    control: Sequence[Document] = (),
    skip_bad: bool = False,
    reference: Reference | None = None,
    interpretation: Interpretation = "rank",
) -> tuple[list[LanguageGroup], list[BadProblem]]:
    """Return the groups, and the problems that can't be answered; without `skip_bad`, raise an error that lists these.

    With a `reference`, each problem is laid out by itself beside the reference.
    """
    if not problems.problems and not problems.bad_problems:
        raise TooLittleText("there are no problems to answer")
    groups: list[LanguageGroup] = []
    offences = list(problems.bad_problems)
    for language, members in problems.by_language().items():
        ordered = sorted(members, key=lambda problem: problem.id)
        if reference is not None and not same_language(reference, ordered[0]):
            its, own = describe_languages(reference, ordered[0])
            named = "" if reference.language == language else ", or name the language with {language}"
            raise CorpusError(
                f"the reference ({its}) is of another language or script than this problem ({own})",
                where=ordered[0].id,
                remedy=f"Give a reference of its language{named}",
            )
        prepare = _preparer(ordered, control, reference)
        group, bad = _lay_out(language, ordered, rows, prepare)
        if reference is None:
            group = _ask_other_way(group, rows, prepare)
        offences += bad
        groups.append(group)
    if not skip_bad or not any(group.problems for group in groups):
        require_sound(offences)
    groups = [group for group in groups if group.problems]
    refused = [group for group in groups if reference is None and _too_few_heads(group)]
    if refused and (not skip_bad or len(refused) == len(groups)):
        raise _too_few_heads_error(refused, groups, bool(control))
    for group in refused:
        offences += [BadProblem(problem.id, f"{problem.id}: {_describe_heads(group)}") for problem in group.problems]
    languages = {group.language for group in refused}
    groups = [group for group in groups if group.language not in languages]
    offences += [offence for group in groups for offence in group.incomparable(rows, interpretation)]
    if not skip_bad:
        require_sound(offences)
    return groups, offences


def _preparer(problems: Sequence[Problem], control: Sequence[Document], reference: Reference | None) -> Prepare:
    """Return the function that lays out problems of one language for a member."""
    if reference is not None:
        return lambda chosen, settings: prepare_reference(chosen, settings, reference)
    sharing = find_sharing_texts(problems, control)
    return lambda chosen, settings: prepare_questions(chosen, settings, control, sharing)


def _lay_out(
    language: str, problems: Sequence[Problem], rows: Sequence[Settings], prepare: Prepare
) -> tuple[LanguageGroup, list[BadProblem]]:
    """Lay out the same problems for each kind of member; one that some kind can't use is used by none."""
    kinds = {_key(settings): settings for settings in rows}
    layouts: dict[LayoutKey, PreparedQuestions] = {}
    offences: dict[str | None, BadProblem] = {}
    sound = tuple(problems)
    while True:  # without a problem the alphabet may be smaller, and a text may become too short
        for key, settings in kinds.items():
            if key not in layouts or layouts[key].problems != sound:
                layouts[key] = prepare(sound, settings)
        found = {offence.id: offence for prepared in layouts.values() for offence in prepared.offences}
        offences |= {name: offence for name, offence in found.items() if name not in offences}
        left = tuple(problem for problem in sound if problem.id not in offences)
        if left == sound:
            return LanguageGroup(language, sound, layouts), list(offences.values())
        sound = left


def _ask_other_way(group: LanguageGroup, rows: Sequence[Settings], prepare: Prepare) -> LanguageGroup:
    """Let members that ask one way only, and have too few heads so, ask the other way, if some members have enough."""
    layouts, kinds = dict(group.layouts), {_key(settings): settings for settings in rows}
    unable = [key for key, prepared in layouts.items() if prepared.problems and _count_heads(prepared) < FEWEST_HEADS]
    for key in unable if len(unable) < len(layouts) else ():
        turned = prepare(layouts[key].problems, kinds[key].change({"train_on": "both"}))
        if _count_heads(turned) >= FEWEST_HEADS:
            layouts[key] = turned
    return LanguageGroup(group.language, group.problems, layouts)


def _key(settings: Settings) -> LayoutKey:
    """Return the settings that questions depend on."""
    kind = ENGINES[settings.engine]
    singles = settings.compared if settings.single_texts else 0
    return (
        settings.text_rules, settings.mask, settings.train_on, settings.swap_short, settings.control, singles,
        kind.symmetric,
    )  # fmt: skip


def _count_heads(prepared: PreparedQuestions) -> int:
    """Count the sets of texts that problems learn, and control texts. Of pairs, both texts count.

    Other single texts don't, because several of them may be by one author.
    """
    side = prepared.sides[0]
    asked = {side.heads[question.head] for question in side.questions}
    if all(problem.symmetric for problem in prepared.problems):
        asked |= {side.documents[question.document] for question in side.questions}
    return len(asked) + side.control.heads


def _too_few_heads(group: LanguageGroup) -> bool:
    return min(map(_count_heads, group.layouts.values())) < FEWEST_HEADS


def _describe_heads(group: LanguageGroup) -> str:
    heads = next(count for count in map(_count_heads, group.layouts.values()) if count < FEWEST_HEADS)
    sets = "set" if heads == 1 else "sets"
    return f"{group.language}: {heads} different known {sets}, {FEWEST_HEADS} are needed to compare with"


def _too_few_heads_error(
    refused: Sequence[LanguageGroup], groups: Sequence[LanguageGroup], control: bool
) -> TooLittleText:
    lines = []
    for group in refused:
        repeated = max(prepared.repeated_control for prepared in group.layouts.values())
        own = f" ({repeated} of the control texts {'is' if repeated == 1 else 'are'} the problems' own)"
        lines.append(_describe_heads(group) + (own if repeated else ""))
    remedy = "Add problems of the same language, or " + (
        "set control=each" if control else "give other texts with {control}"
    )
    if len(groups) > 1:
        counts = ", ".join(f"{len(group.problems)} {group.language}" for group in groups)
        lines.append(f"(languages are answered apart: {counts})")
        remedy += "; if the languages are wrong, name the language with {language}"
    return TooLittleText("\n  ".join(lines), remedy=remedy)


def _incomparable_offence(problem_id: str) -> BadProblem:
    message = (
        "too few texts are left to compare it with, without those that repeat it or are asked about too;"
        " give texts by other people as a reference, or control texts with a head each"
    )
    return BadProblem(problem_id, f"{problem_id}: {message}")


def unanswerable_problems(sides: Sequence[Questions], relative: bool = False) -> set[int]:
    """Return the problems all of whose questions are incomparable."""
    asked = {question.problem for side in sides for question in side.questions}
    for side in sides:
        comparable = set(side.questions) - set(find_incomparable(side, relative))
        asked -= {question.problem for question in comparable}
    return asked
