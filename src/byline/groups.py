"""The problems of each language, laid out for every member of an ensemble; what can't be answered, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from byline.cohorts import prepare_cohort
from byline.documents import Document
from byline.errors import CorpusError, TooLittleText
from byline.problems import Offence, Problem, ProblemSet, require_sound
from byline.questions import Prepared, prepare_questions, refusal, texts_sharing, unanswerable
from byline.reference import Reference, languages_of, same_language
from byline.settings import Interpretation, Settings

LayoutKey = tuple[object, ...]
Prepare = Callable[[Sequence[Problem], Settings], Prepared]


@dataclass(frozen=True)
class LanguageGroup:
    """The problems of one language that are to be answered, and their questions for each kind of member."""

    language: str
    problems: tuple[Problem, ...]
    """In the order of their ids, which is how questions number them."""
    layouts: Mapping[LayoutKey, Prepared]

    def __post_init__(self) -> None:
        """All kinds of members must number the same problems."""
        assert all(prepared.problems == self.problems for prepared in self.layouts.values())

    def prepared(self, settings: Settings) -> Prepared:
        """The questions as a member with these settings asks them."""
        return self.layouts[_key(settings)]

    def lonely(self, rows: Sequence[Settings], interpretation: Interpretation) -> list[Offence]:
        """The problems that no member with one of these settings finds enough to compare with for."""
        relative = interpretation == "relative"
        layouts = {_key(settings): self.prepared(settings) for settings in rows}
        without = [frozenset(unanswerable(prepared.sides, relative)) for prepared in layouts.values()]
        return [_lonely_offence(self.problems[number].id) for number in sorted(frozenset.intersection(*without))]


def lay_out_groups(
    problems: ProblemSet,
    rows: Sequence[Settings],
    control: Sequence[Document] = (),
    skip_bad: bool = False,
    reference: Reference | None = None,
    interpretation: Interpretation = "rank",
) -> tuple[list[LanguageGroup], list[Offence]]:
    """The groups, and what can't be answered; without `skip_bad` that is raised, all of it named at once.

    With a `reference` every problem is laid out by itself beside that.
    """
    if not problems.problems and not problems.offences:
        raise TooLittleText("there are no problems to answer")
    groups: list[LanguageGroup] = []
    offences = list(problems.offences)
    for language, members in problems.by_language().items():
        ordered = sorted(members, key=lambda problem: problem.id)
        if reference is not None and not same_language(reference, ordered[0]):
            its, own = languages_of(reference, ordered[0])
            named = "" if reference.language == language else ", or name that with --language"
            raise CorpusError(
                f"{ordered[0].id}: the reference ({its}) is of another language or script than this"
                f" problem ({own}); give a reference of its language{named}"
            )
        prepare = _preparer(ordered, control, reference)
        group, bad = _lay_out(language, ordered, rows, prepare)
        if reference is None:
            group = _turn_round(group, rows, prepare)
        offences += bad
        groups.append(group)
    if not skip_bad or not any(group.problems for group in groups):
        require_sound(offences)
    groups = [group for group in groups if group.problems]
    refused = {}
    if reference is None:
        refused = {group.language: reason for group in groups if (reason := _refusal(group, bool(control)))}
    if refused and (not skip_bad or len(refused) == len(groups)):
        raise TooLittleText(_refusal_message(refused, groups))
    for group in groups:
        if group.language in refused:
            why = f"{group.language}: {refused[group.language]}"
            offences += [Offence(problem.id, f"{problem.id}: {why}") for problem in group.problems]
    groups = [group for group in groups if group.language not in refused]
    offences += [offence for group in groups for offence in group.lonely(rows, interpretation)]
    if not skip_bad:
        require_sound(offences)
    return groups, offences


def _preparer(problems: Sequence[Problem], control: Sequence[Document], reference: Reference | None) -> Prepare:
    """How problems of one language are laid out for a member."""
    if reference is not None:
        return lambda chosen, settings: prepare_cohort(chosen, settings, reference)
    sharing = texts_sharing(problems, control)
    return lambda chosen, settings: prepare_questions(chosen, settings, control, sharing)


def _lay_out(
    language: str, problems: Sequence[Problem], rows: Sequence[Settings], prepare: Prepare
) -> tuple[LanguageGroup, list[Offence]]:
    """A layout for each kind of member, all of the same problems: one that some can't use is used by none."""
    kinds = {_key(settings): settings for settings in rows}
    layouts: dict[LayoutKey, Prepared] = {}
    offences: dict[str | None, Offence] = {}
    sound = tuple(problems)
    while True:  # without a problem the alphabet may be another, and a text too short that was not before
        for key, settings in kinds.items():
            if key not in layouts or layouts[key].problems != sound:
                layouts[key] = prepare(sound, settings)
        found = {offence.id: offence for prepared in layouts.values() for offence in prepared.offences}
        offences |= {name: offence for name, offence in found.items() if name not in offences}
        left = tuple(problem for problem in sound if problem.id not in offences)
        if left == sound:
            return LanguageGroup(language, sound, layouts), list(offences.values())
        sound = left


def _turn_round(group: LanguageGroup, rows: Sequence[Settings], prepare: Prepare) -> LanguageGroup:
    """Where some members can answer, those that can't, asking one way only, ask the way that can be asked."""
    layouts, kinds = dict(group.layouts), {_key(settings): settings for settings in rows}
    unable = [key for key, prepared in layouts.items() if prepared.problems and refusal(prepared.sides[0])]
    for key in unable if len(unable) < len(layouts) else ():
        turned = prepare(layouts[key].problems, kinds[key].change({"train_on": "both"}))
        if not refusal(turned.sides[0]):
            layouts[key] = turned
    return LanguageGroup(group.language, group.problems, layouts)


def _key(settings: Settings) -> LayoutKey:
    """The settings that questions depend on."""
    return settings.text_rules, settings.mask, settings.train_on, settings.swap_short, settings.control


def _refusal(group: LanguageGroup, control: bool) -> str | None:
    reasons = (refusal(prepared.sides[0], control) for prepared in group.layouts.values())
    return next((reason for reason in reasons if reason), None)


def _refusal_message(refused: Mapping[str, str], groups: Sequence[LanguageGroup]) -> str:
    """Which languages have too little, and that --language joins them where there are several."""
    lines = []
    for group in groups:
        if reason := refused.get(group.language):
            repeated = max(prepared.repeated_control for prepared in group.layouts.values())
            own = (
                f" (of the given texts {repeated} {'is' if repeated == 1 else 'are'} the problems' own)"
                if repeated
                else ""
            )
            lines.append(f"{group.language}: {reason}{own}")
    message = "\n  ".join(lines)
    if len(groups) > 1:
        counts = ", ".join(f"{len(group.problems)} {group.language}" for group in groups)
        message += f"\n  (languages are answered apart: {counts}; if that is wrong, name the language with --language)"
    return message


def _lonely_offence(problem_id: str) -> Offence:
    message = (
        "too few texts are left to compare it with once those that repeat it, or are asked about beside it, are set"
        " aside; give texts by other people with --reference DIR, or with --control DIR --control-heads each"
    )
    return Offence(problem_id, f"{problem_id}: {message}")
