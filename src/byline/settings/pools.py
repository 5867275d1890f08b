"""Pools: the settings that the members of an ensemble are drawn from (section 2.5). Presets, and a user's own TOML.

    description = "what it is for"
    draw = "order"            # draw members in order, or at "random" by the seed
    members = 4               # default number of members
    interpret = "rank"        # default interpretation: "rank", "relative" or "cohort"

    [shared]                  # settings of all members
    radius = 0.03

    [[member]]                # settings of one member, which override the shared ones
    hidden = 99

After the last member the first is drawn again, with another seed, unless its engine does not depend on the seed.
"""

from __future__ import annotations

import dataclasses
import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from byline.errors import SettingsError
from byline.settings.settings import (
    KINDS,
    MOST_MEMBERS,
    Engine,
    Interpretation,
    Settings,
    change_settings,
    parse_toml,
    read_toml,
    reads,
    unread_error,
)

PoolDraw = Literal["order", "random"]
"""How members are drawn from a pool: in its order, or at random by the seed."""

_KEYS = ("description", "draw", "members", "interpret", "shared", "member")
_ENGINES = get_args(Engine)  # a tuple, since TOML may give values that can't be hashed
_PRESETS = files("byline.settings") / "presets"


@dataclass(frozen=True)
class Pool:
    """The settings that the members of an ensemble are drawn from.

    Raises SettingsError if there are no rows, a value is invalid, or members differ in their radius.
    """

    name: str
    rows: tuple[Settings, ...]
    description: str = ""
    draw: PoolDraw = "order"
    members: int = 1
    """Default number of members."""
    interpret: Interpretation = "rank"
    """Default interpretation."""

    def __post_init__(self) -> None:
        """Check all values."""
        if not self.rows:
            remedy = "Write a [[member]] for each, with its settings below it"
            raise SettingsError("no members", where=self.name, remedy=remedy)
        for name, kind in (("draw", PoolDraw), ("interpret", Interpretation)):
            value, choices = getattr(self, name), get_args(kind)
            if value not in choices:
                remedy = f"Choose one of {', '.join(choices)}"
                raise SettingsError(f"can't be {value}", where=f"{self.name}: {name}", remedy=remedy)
        require_members(self.members, f"{self.name}: ")
        if len({row.radius for row in self.rows}) > 1:
            remedy = "Give it once, under [shared]"
            raise SettingsError("members have different values", where=f"{self.name}: radius", remedy=remedy)

    @property
    def radius(self) -> float:
        """Answers nearer than this to 0.5 are undecided."""
        return self.rows[0].radius

    @property
    def max_members(self) -> int:
        """The number of members that can differ: those whose engine does not depend on the seed are drawn once."""
        return MOST_MEMBERS if any(row.repeatable for row in self.rows) else len(self.rows)

    def change(self, changes: Mapping[str, object]) -> Pool:
        """Return the pool with settings changed in all members whose engine reads them.

        Members that become equal are merged, unless their scores depend on the seed.
        """
        engine = changes.get("engine")
        changed = [engine] if engine in _ENGINES else list(dict.fromkeys(row.engine for row in self.rows))
        engines = [str(each) for each in changed]
        for name in changes:
            if name in KINDS and not any(reads(each, name) for each in engines):
                raise unread_error(name, engines)
        kept: dict[int, Settings] = {}
        for place, row in enumerate(self.rows):
            new = row.change(_readable(changes, str(engine) if engine in _ENGINES else row.engine))
            if new.repeatable or new not in kept.values():
                kept[place] = new
        return self._with_rows(kept)

    def only(self, engines: Sequence[str]) -> Pool:
        """Return the pool with the members of some engines."""
        here = dict.fromkeys(row.engine for row in self.rows)
        if missing := [engine for engine in engines if engine not in here]:
            what, remedy = f"has no members of the engine {', '.join(missing)}", f"Choose among {', '.join(here)}"
            raise SettingsError(what, where=self.name, remedy=remedy)
        return self._with_rows({place: row for place, row in enumerate(self.rows) if row.engine in engines})

    def _with_rows(self, rows: Mapping[int, Settings]) -> Pool:
        """Return the pool with some rows, by place; its default members are those that are left, or one."""
        usual = sum(place < self.members for place in rows) + max(0, self.members - len(self.rows))
        most = Pool(self.name, tuple(rows.values())).max_members
        return dataclasses.replace(self, rows=tuple(rows.values()), members=min(max(1, usual), most))

    def take(self, count: int, seed: int) -> tuple[Settings, ...]:
        """Draw the settings of `count` members; a larger ensemble begins with those of a smaller one."""
        require_members(count)
        if count > self.max_members:
            what = f"{count} members, but engines that don't depend on the seed would repeat their answers"
            remedy = f"Choose {self.max_members} {'member' if self.max_members == 1 else 'members'} at most"
            raise SettingsError(what, where=self.name, remedy=remedy)
        rng = np.random.default_rng(seed)
        taken: list[Settings] = []
        while len(taken) < count:
            places = rng.permutation(len(self.rows)) if self.draw == "random" else range(len(self.rows))
            again = bool(taken)
            taken += (self.rows[place] for place in places if self.rows[place].repeatable or not again)
        return tuple(taken[:count])


def _readable(changes: Mapping[str, object], engine: str) -> dict[str, object]:
    """Return the changes that an engine reads, and unknown names, which Settings refuses."""
    return {name: value for name, value in changes.items() if name not in KINDS or reads(engine, name)}


def require_members(count: int, where: str = "") -> None:
    """Raise SettingsError if a number of members is invalid."""
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_MEMBERS:
        remedy = f"Choose a whole number from 1 to {MOST_MEMBERS}"
        raise SettingsError(f"can't be {str(count)[:40]}", where=f"{where}members", remedy=remedy)


def pool_of(settings: Settings, members: int = 1) -> Pool:
    """Return a pool whose members differ only in their seeds."""
    return Pool("settings", (settings,), "one setting, different seeds", members=members)


def preset_names() -> list[str]:
    """Return the names of the built-in presets, `best` first."""
    names = sorted(file.name.removesuffix(".toml") for file in _PRESETS.iterdir() if file.name.endswith(".toml"))
    return sorted(names, key=lambda name: name != "best")


def usual_preset(reference: bool) -> str:
    """Return the default preset, with or without a reference population."""
    return "cohort" if reference else "best"


def as_pool_file(preset: str | Path | None) -> Path | None:
    """Return the file that a preset means, or None if it is the name of a built-in one."""
    if preset is None:
        return None
    return Path(preset) if isinstance(preset, Path) or preset.endswith(".toml") or "/" in preset else None


def read_pool(preset: str | Path) -> Pool:
    """Read a preset by its name, or the pool in a TOML file."""
    if (path := as_pool_file(preset)) is not None:
        return _make_pool(str(path), read_toml(path))
    preset = str(preset)
    if preset not in preset_names():
        near = difflib.get_close_matches(preset, preset_names(), n=1)
        remedy = f"Did you mean {near[0]}?" if near else f"Choose one of {', '.join(preset_names())}, or a .toml file"
        raise SettingsError("no such preset", where=preset, remedy=remedy)
    return _make_pool(preset, parse_toml((_PRESETS / f"{preset}.toml").read_bytes(), f"preset {preset}"))


def to_toml(rows: Sequence[Settings], description: str, interpret: Interpretation = "rank") -> str:
    """Return a pool of exactly these members as TOML, which `read_pool` reads."""
    plain = "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in description)
    head = {"description": plain, "draw": "order", "members": len(rows), "interpret": interpret}
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in head.items())
    return lines + "".join(f"\n[[member]]\n{row.to_toml()}" for row in rows)


def _make_pool(name: str, values: Mapping[str, Any]) -> Pool:
    """Return a pool from the values of its TOML."""
    if unknown := [key for key in values if key not in _KEYS]:
        remedy = "Put settings under [shared] or [[member]], or give a file of settings alone as {settings}"
        raise SettingsError(f"a pool holds {', '.join(_KEYS)}", where=f"{name}: {', '.join(unknown)}", remedy=remedy)
    rows, shared = values.get("member", []), values.get("shared", {})
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or not isinstance(shared, dict):
        remedy = "Write [shared] once and [[member]] for each member, with settings below them"
        raise SettingsError("no pool", where=name, remedy=remedy)
    description = values.get("description", "")
    if not isinstance(description, str):
        raise SettingsError("is no text", where=f"{name}: description", remedy="Put it in quotes")
    engines = [row.get("engine", shared.get("engine", "rnn")) for row in rows]
    for key, value in shared.items():  # check each with an engine that reads it
        able = [engine for engine in engines if engine in _ENGINES and reads(engine, key)]
        engine = (able or engines or ["rnn"])[0]
        change_settings(Settings(), {"engine": engine, key: value}, f"{name}: [shared]")
    settings = []
    for number, (row, engine) in enumerate(zip(rows, engines, strict=True), start=1):
        common = _readable(shared, engine) if engine in _ENGINES else shared
        settings.append(change_settings(Settings(), {**common, **row}, f"{name}: member {number}"))
    defaults = {key: values[key] for key in ("draw", "members", "interpret") if key in values}
    return Pool(name, tuple(settings), description, **{"members": len(rows), **defaults})
