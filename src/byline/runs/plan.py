"""The plan of a run: its members, the problems that they answer, and the request that it was made for."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from typing import Any, get_args

from byline.corpora.documents import Document
from byline.corpora.problems import Layout, Problem
from byline.errors import RunError, SettingsError
from byline.judgment.calibration import builtin_calibration, matches_scores
from byline.judgment.interpretation import JudgmentOptions, judgment_from, judgment_values
from byline.judgment.likelihood_ratio import EVEN
from byline.settings.settings import Settings, kinds_of

FORMAT = 4
"""Increased when older programs can no longer read a run."""
SINGLE_QUESTIONS = 4
"""The first format whose members score problems with a reference as single_questions.py expects."""
WHOLE_CORPORA = 4
"""The first format whose calibrations are of scores that whole_corpora.py rates."""
PACKAGES = ("byline", "numpy", "numba", "scipy", "scikit-learn")
"""Packages whose versions a result may depend on."""
BEGIN_AGAIN = "Begin again with {overwrite}"
EARLIER_NAMES = {"member": "settings", "manner": "judgment", "version of": "versions"}
"""How earlier versions called parts of a request in plan.json."""


def package_versions() -> dict[str, str]:
    """Return the versions of the packages that a result may depend on."""
    return {name: version(name) for name in PACKAGES}


def describe_environment() -> dict[str, str]:
    """Return the versions of packages and Python, and the kind of machine."""
    return {**package_versions(), "python": platform.python_version(), "machine": platform.machine()}


@dataclass(frozen=True)
class Member:
    """One training of an ensemble, on the problems of each language. Number and seed make its random stream."""

    number: int
    """Its place in the plan that it was made for, from 0."""
    seed: int
    settings: Settings


@dataclass(frozen=True)
class Group:
    """The problems of one language, by id. Questions number them in this order."""

    language: str
    ids: tuple[str, ...]


@dataclass(frozen=True)
class PlanRequest:
    """The request that a run was made for, with hashes in place of texts. It is resumed only for the same request."""

    problems: Mapping[str, str]
    """A hash of each problem's texts, by id."""
    control: str | None = None
    """A hash of the control corpus."""
    reference: str | None = None
    """A hash of the reference population."""
    mask_shared: bool = False
    """Whether passages that both sides of a problem share were left out."""
    combined: Sequence[str] = ()
    """The folders of the runs that were combined. Such a run has none of the values below."""
    seed: int = 0
    members: int | None = None
    budget: float | None = None
    draw: str = "order"
    settings: Sequence[Mapping[str, Any]] = ()
    """The settings of the pool's members, in plain values."""
    judgment: Mapping[str, Any] = field(default_factory=dict)
    """The judgment options, in plain values."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """The reasons why problems are skipped, by id."""
    versions: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> PlanRequest:
        """Return the request in plain values, under their names of today or of earlier versions."""
        named = {EARLIER_NAMES.get(name, name): value for name, value in values.items()}
        if not all(isinstance(named.get(name, {}), dict) for name in ("problems", "judgment", "skipped", "versions")):
            raise ValueError("its request is not one")
        return cls(**{"problems": {}, **named, "combined": tuple(map(str, named.get("combined", ())))})


@dataclass(frozen=True)
class BudgetEstimate:
    """How many seconds a budget allows, and how many its members are expected to take."""

    seconds: float
    """The budget."""
    workers: int
    probe_seconds: float
    member_seconds: tuple[float, ...]
    """Each member's work on one core."""
    estimate_seconds: float
    """All members together, on all workers."""


@dataclass(frozen=True)
class Plan:
    """What a run does, decided before it begins."""

    preset: str
    members: tuple[Member, ...]
    groups: tuple[Group, ...]
    layout: Layout
    judgment: JudgmentOptions
    request: PlanRequest
    budget: BudgetEstimate | None = None
    """Set if the members were chosen to fit a time budget."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Problems that can't be used, which are answered 0.5: id and reason."""
    command: tuple[str, ...] | None = None
    """The command that began the run, if a command did. It may differ when the run is resumed."""

    @cached_property
    def places(self) -> dict[Member, int]:
        """The place of each member in the plan."""
        return {member: place for place, member in enumerate(self.members)}

    @property
    def inputs(self) -> str:
        """One hash of all texts that members learn and judge."""
        request = self.request
        hashes = [dict(request.problems), request.control, *([request.reference] if request.reference else [])]
        return _digest([json.dumps(each, sort_keys=True) for each in hashes])


def plan_values(plan: Plan) -> dict[str, Any]:
    """Return a plan in plain values, as plan.json has them."""
    return {
        "format": FORMAT,
        "preset": plan.preset,
        "layout": plan.layout,
        **judgment_values(plan.judgment),
        "groups": [{"language": group.language, "problems": list(group.ids)} for group in plan.groups],
        "members": [asdict(member) for member in plan.members],
        "skipped": [{"id": problem_id, "reason": reason} for problem_id, reason in plan.skipped],
        "budget": asdict(plan.budget) if plan.budget else None,
        "request": asdict(plan.request),
        **({"command": list(plan.command)} if plan.command else {}),
    }


def plan_from(values: Mapping[str, Any], where: object) -> Plan:
    """Return the plan in plain values. Raise RunError if it can't be used."""
    try:
        require_format(values, where)
        if values["format"] < SINGLE_QUESTIONS and values.get("interpret") == "cohort":
            what = "was compared with a reference by an earlier Byline, in a way that this one does not read"
            raise RunError(what, where=where, remedy=BEGIN_AGAIN)
        if values["format"] < WHOLE_CORPORA and values.get("interpret") == "relative" and values.get("calibration"):
            what = "was calibrated by an earlier Byline, which compared the problems of a corpus in another way"
            raise RunError(what, where=where, remedy=BEGIN_AGAIN)
        budget = values["budget"]
        plan = Plan(
            str(values["preset"]),
            tuple(member_from(row) for row in values["members"]),
            tuple(Group(str(row["language"]), tuple(map(str, row["problems"]))) for row in values["groups"]),
            values["layout"],
            judgment_from(values),
            PlanRequest.from_values(values["request"]),
            None if budget is None else BudgetEstimate(**{**budget, "member_seconds": tuple(budget["member_seconds"])}),
            tuple((str(row["id"]), str(row["reason"])) for row in values["skipped"]),
            tuple(map(str, values.get("command") or ())) or None,
        )
        ids = [name for group in plan.groups for name in group.ids]
        if not plan.members or len(plan.places) != len(plan.members) or len(set(ids)) != len(ids) or not ids:
            raise ValueError("it has no members or problems, or some of them twice")
        if plan.layout not in get_args(Layout):
            raise ValueError(f"there is no layout {plan.layout}")
    except (KeyError, TypeError, AttributeError, ValueError, SettingsError) as error:
        raise RunError(f"damaged ({error})", where=where, remedy=BEGIN_AGAIN) from None
    return plan


def require_format(values: Mapping[str, Any], where: object) -> None:
    """Raise RunError if a newer program wrote these values, and ValueError if they have no format."""
    if not isinstance(form := values.get("format"), int):
        raise ValueError("it has no format")
    if form > FORMAT:
        raise RunError(f"written by a newer Byline (format {form})", where=where, remedy="Update Byline to read it")


def member_from(values: Mapping[str, Any]) -> Member:
    """Return the member in plain values."""
    number, seed = values["number"], values["seed"]
    if not isinstance(number, int) or not isinstance(seed, int) or number < 0 or seed < 0:
        raise ValueError("number and seed must be whole numbers, 0 or more")
    return Member(number, seed, Settings().change(values["settings"]))


def hash_problems(problems: Sequence[Problem]) -> dict[str, str]:
    """Return a hash of each problem's texts, by id."""
    return {
        problem.id: _digest(
            [problem.language, str(problem.symmetric), problem.unknown.text, *(d.text for d in problem.known)]
        )
        for problem in problems
    }


def hash_documents(documents: Sequence[Document]) -> str | None:
    """Return one hash of all texts, whatever their order, or None if there are none."""
    return _digest(sorted(document.text for document in documents)) if documents else None


def choose_calibration(judgment: JudgmentOptions, members: Sequence[Settings]) -> JudgmentOptions:
    """Return options with a calibration of such members' scores: the given one if it fits, or else the built-in one.

    Without either, the prior has no effect and becomes even.
    """
    kinds, calibration = kinds_of(members), judgment.calibration
    if calibration is None or not matches_scores(calibration, judgment.interpretation, kinds):
        calibration = builtin_calibration(judgment.interpretation, kinds)
    return replace(judgment, calibration=calibration, prior=judgment.prior if calibration else EVEN)


def find_differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return what changed between two requests in plain values, each in a few words."""
    changed = []
    for key in dict.fromkeys([*old, *new]):
        name = key.replace("_", " ")
        if key not in old or key not in new:
            changed.append(f"{name} {'is new' if key not in old else 'is gone'}")
        elif old[key] != new[key]:
            changed += _difference(name, old[key], new[key])
    return changed


def _difference(name: str, before: Any, now: Any) -> list[str]:
    if _is_hash(before) != _is_hash(now) and None in (before, now):
        return [f"{name} {'is new' if before is None else 'is gone'}"]
    if isinstance(before, dict) and isinstance(now, dict):
        return [f"{name} {line}" for line in find_differences(before, now)]
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
    """Return 16 hex digits for a list of texts. Where one ends and the next begins counts."""
    digest = hashlib.sha256()
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:16]


def _is_hash(value: object) -> bool:
    return isinstance(value, str) and len(value) == 16 and all(digit in "0123456789abcdef" for digit in value)
