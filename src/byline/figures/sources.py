"""What a figure is of: a finished run with its answers, or a model of authors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from threadpoolctl import threadpool_limits

from byline.answers import Answer
from byline.attribution.file import read_author_model
from byline.attribution.model import AuthorModel
from byline.combination import Readings, answer_plan, members_done, reading_of
from byline.documents import look_at
from byline.errors import RunError, SettingsError
from byline.fusion import Reading
from byline.plans import Member, Plan
from byline.runs import Record, find_run, read_members, read_plan

REMEDY = "name a folder that byline verify -o wrote to, or a model that byline train wrote"


@dataclass(frozen=True)
class Run:
    """A run whose members are done, at least one for each language."""

    folder: Path
    plan: Plan
    answers: tuple[Answer, ...]
    """By id, as they are made of the members that are done."""
    reaches: tuple[float, ...]
    """For each language, how closely cohorts were matched; infinite is not at all."""
    centres: tuple[float, ...]
    """For each language, the score that speaks for neither side."""
    strengths: tuple[float, ...]
    """For each language, how far asked pairs stand out, see fusion.py."""
    readings: Readings
    """What each member that is done says."""

    def records(self, group: int | None = None) -> Iterator[Record]:
        """The members that the answers are made of, with all languages or with one, one at a time."""
        done = (record for record in read_members(self.folder, self.plan) if group in (None, record.group))
        return (record for record in done if (record.member, record.group) in self.readings)

    def group_of(self, language: str | None) -> int:
        """The number of a language; it may be left out where there is only one."""
        names = [group.language for group in self.plan.groups]
        if language is None and len(names) == 1:
            return 0
        if language is None:
            raise SettingsError(
                f"{self.folder}: problems in {', '.join(names)}, which are never compared; name one with --language"
            )
        if language not in names:
            raise SettingsError(f"{self.folder}: no problems in {language}; there are {', '.join(names)}")
        return names.index(language)


def read_source(path: Path) -> Run | AuthorModel:
    """The run in a folder, or the model in a file."""
    if look_at(path, REMEDY) == "folder":
        return read_run(path)
    return read_author_model(path)


def read_run(path: Path) -> Run:
    """A run and its answers."""
    folder = find_run(path)
    plan = read_plan(folder)
    readings: dict[tuple[Member, int], Reading] = {}
    with threadpool_limits(limits=1, user_api="blas"):  # many small products: half of the time that two threads take
        for record in read_members(folder, plan):
            readings[record.member, record.group] = reading_of(record, plan)
    _require_done(folder, plan, readings)
    answers, verdicts = answer_plan(plan, readings)
    found = [(each.reach, each.centre, each.strength) for each in verdicts]
    reaches, centres, strengths = zip(*found, strict=True)
    return Run(folder, plan, tuple(answers), reaches, centres, strengths, readings)


def _require_done(folder: Path, plan: Plan, readings: Readings) -> None:
    for number, group in enumerate(plan.groups):
        if not members_done(plan, readings, number):
            raise RunError(f"{folder}: no member is finished for {group.language}; go on with byline verify --resume")
