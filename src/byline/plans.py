"""A plan: the members of a run, the problems that they answer, and what was asked for, settled before it begins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, get_args

from byline.calibration import Calibration, calibration_from, calibration_values
from byline.documents import Document
from byline.errors import RunError, SettingsError
from byline.likelihood import EVEN, parse_prior
from byline.problems import Layout, Problem
from byline.settings import Interpretation, Settings

FORMAT = 1
"""Goes up when an older program could not read the plan."""


@dataclass(frozen=True)
class Member:
    """One training of an ensemble, on the problems of each language; number and seed make its random stream."""

    number: int
    """Its place in the plan that it was made for, from 0."""
    seed: int
    settings: Settings


@dataclass(frozen=True)
class Group:
    """The problems of one language, by id; questions number them in this order."""

    language: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Manner:
    """How matrices are read and answers made of them; members don't depend on it."""

    interpretation: Interpretation = "rank"
    radius: float = 0.0
    """Uncalibrated answers nearer than this to 0.5 are undecided."""
    prior: float = EVEN
    """The probability of the same author before anything was measured."""
    calibration: Calibration | None = None
    """What makes likelihood ratios of scores, if anything does."""

    def __post_init__(self) -> None:
        """Refuse what is none."""
        if self.interpretation not in get_args(Interpretation):
            names = ", ".join(get_args(Interpretation))
            raise SettingsError(f"interpret must be one of {names}, got {self.interpretation}")
        if not 0 <= self.radius <= 0.5:
            raise SettingsError(f"radius must be a number from 0 to 0.5, got {self.radius}")
        parse_prior(self.prior)


@dataclass(frozen=True)
class Plan:
    """What a run does, settled before it begins."""

    preset: str
    members: tuple[Member, ...]
    groups: tuple[Group, ...]
    layout: Layout
    manner: Manner
    request: dict[str, Any]
    """What was asked for, in plain values: a run goes on only if the same is asked again."""
    budget: dict[str, Any] | None = None
    """Where members were chosen to fit a time: the seconds, the speeds found by the probe, the estimates."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Problems that can't be used, which are answered 0.5: id and reason."""
    command: tuple[str, ...] | None = None
    """The words by which the run was begun, where it was by a command; a run goes on whatever they are."""

    @cached_property
    def places(self) -> dict[Member, int]:
        """Where each member stands."""
        return {member: place for place, member in enumerate(self.members)}

    @property
    def inputs(self) -> str:
        """One hash of all texts that members learn and judge."""
        keys = [key for key in ("problems", "control", "reference") if key != "reference" or self.request.get(key)]
        return _digest([json.dumps(self.request.get(key), sort_keys=True) for key in keys])


def plan_values(plan: Plan) -> dict[str, Any]:
    """A plan in plain values, as it is written."""
    return {
        "format": FORMAT,
        "preset": plan.preset,
        "layout": plan.layout,
        **manner_values(plan.manner),
        "groups": [{"language": group.language, "problems": list(group.ids)} for group in plan.groups],
        "members": [asdict(member) for member in plan.members],
        "skipped": [{"id": problem_id, "reason": reason} for problem_id, reason in plan.skipped],
        "budget": plan.budget,
        "request": plan.request,
        **({"command": list(plan.command)} if plan.command else {}),
    }


def plan_from(values: Mapping[str, Any], where: str) -> Plan:
    """The plan that was written, or a reason why it can't be used."""
    try:
        require_format(values, where)
        plan = Plan(
            str(values["preset"]),
            tuple(member_from(row) for row in values["members"]),
            tuple(Group(str(row["language"]), tuple(map(str, row["problems"]))) for row in values["groups"]),
            values["layout"],
            _manner_from(values),
            dict(values["request"]),
            None if values["budget"] is None else dict(values["budget"]),
            tuple((str(row["id"]), str(row["reason"])) for row in values["skipped"]),
            tuple(map(str, values.get("command") or ())) or None,
        )
        if not isinstance(values["request"], dict) or not isinstance(values["request"].get("problems") or {}, dict):
            raise ValueError("its request is none")
        if plan.budget is not None:
            plan.budget["seconds"] = float(plan.budget["seconds"])
        ids = [name for group in plan.groups for name in group.ids]
        if not plan.members or len(plan.places) != len(plan.members) or len(set(ids)) != len(ids) or not ids:
            raise ValueError("its members or problems are none, or named twice")
        if plan.layout not in get_args(Layout):
            raise ValueError("its layout is none")
    except (KeyError, TypeError, AttributeError, ValueError, SettingsError) as error:
        raise RunError(f"{where}: damaged ({error}); begin again with --overwrite") from None
    return plan


def manner_values(manner: Manner) -> dict[str, Any]:
    """A manner in plain values, as it is written."""
    calibration = calibration_values(manner.calibration) if manner.calibration else None
    return {
        "interpret": manner.interpretation,
        "radius": manner.radius,
        "prior": manner.prior,
        "calibration": calibration,
    }


def _manner_from(values: Mapping[str, Any]) -> Manner:
    """The manner that was written; plans of before there was a choice are of ranks."""
    given = values.get("calibration")
    return Manner(
        values.get("interpret", "rank"),
        float(values["radius"]),
        float(values.get("prior", EVEN)),
        None if given is None else calibration_from(dict(given)),
    )


def require_format(values: Mapping[str, Any], where: object) -> None:
    """Refuse what a newer program wrote."""
    if not isinstance(form := values.get("format"), int):
        raise RunError(f"{where}: damaged (it has no format)")
    if form > FORMAT:
        raise RunError(f"{where}: written by a newer Byline (format {form}); update Byline to read it")


def member_from(values: Mapping[str, Any]) -> Member:
    """The member that was written."""
    number, seed = values["number"], values["seed"]
    if not isinstance(number, int) or not isinstance(seed, int) or number < 0 or seed < 0:
        raise ValueError("number and seed must be whole numbers, 0 or more")
    return Member(number, seed, Settings().change(values["settings"]))


def fingerprint(problems: Sequence[Problem]) -> dict[str, str]:
    """A hash of each problem's texts, by id."""
    return {
        problem.id: _digest(
            [problem.language, str(problem.symmetric), problem.unknown.text, *(d.text for d in problem.known)]
        )
        for problem in problems
    }


def fingerprint_texts(documents: Sequence[Document]) -> str | None:
    """One hash of all texts, in whatever order they come, or None where there are none."""
    return _digest(sorted(document.text for document in documents)) if documents else None


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What is asked for now that was not asked for then, each in a few words."""
    changed = []
    for key in dict.fromkeys([*old, *new]):
        if key not in old or key not in new:
            changed.append(f"{key} {'is new' if key not in old else 'is gone'}")
        elif old[key] != new[key]:
            changed += _difference(key, old[key], new[key])
    return changed


def _difference(name: str, before: Any, now: Any) -> list[str]:
    if _is_hash(before) != _is_hash(now) and None in (before, now):
        return [f"{name} {'is new' if before is None else 'is gone'}"]
    if isinstance(before, dict) and isinstance(now, dict):
        return [f"{name} {line}" for line in differences(before, now)]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True), start=1)
        return [
            line for number, (one, two) in pairs if one != two for line in _difference(f"{name} {number}", one, two)
        ]
    if isinstance(before, dict | list) or isinstance(now, dict | list) or _is_hash(before) or _is_hash(now):
        return [f"{name} changed"]
    was, is_ = ("not given" if value is None else value for value in (before, now))
    return [f"{name} was {was}, is {is_}"]


def _digest(texts: Sequence[str]) -> str:
    """Sixteen hex digits for a list of texts; where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and len(value) == 16 and all(digit in "0123456789abcdef" for digit in value)
