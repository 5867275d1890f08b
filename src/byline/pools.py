"""Pools: which trainings an ensemble is made of (section 2.5); presets inside the package, and a user's own TOML.

    description = "what it is for"
    draw = "order"            # members are taken in order, or at "random" by the seed
    members = 4               # how many, where nothing else is said
    interpret = "rank"        # how they are read, where nothing else is said: "rank", "relative" or "cohort"

    [shared]                  # settings of all members, over the defaults
    radius = 0.03

    [[member]]                # settings of one, over the shared ones
    hidden = 99

After the last member the first is taken again, with another seed, but for those of engines without chance.
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
from byline.settings import KINDS, MOST_MEMBERS, READ_BY, Interpretation, Settings, parse_toml, read_toml, reads

Draw = Literal["order", "random"]

_KEYS = ("description", "draw", "members", "interpret", "shared", "member")


@dataclass(frozen=True)
class Pool:
    """Settings that members are taken from."""

    name: str
    rows: tuple[Settings, ...]
    description: str = ""
    draw: Draw = "order"
    members: int = 1
    """How many, where nothing else is said."""
    interpret: Interpretation = "rank"
    """How they are read, where nothing else is said."""

    def __post_init__(self) -> None:
        """Refuse what can't be an ensemble."""
        if not self.rows:
            raise SettingsError(f"{self.name}: no members; write a [[member]] for each, with its settings below it")
        if self.draw not in get_args(Draw):
            raise SettingsError(f"{self.name}: draw must be one of {', '.join(get_args(Draw))}, got {self.draw}")
        require_members(self.members, f"{self.name}: ")
        if self.interpret not in get_args(Interpretation):
            names = ", ".join(get_args(Interpretation))
            raise SettingsError(f"{self.name}: interpret must be one of {names}, got {self.interpret}")
        if len({row.radius for row in self.rows}) > 1:
            raise SettingsError(f"{self.name}: radius is of the whole ensemble; give it once, under [shared]")

    @property
    def radius(self) -> float:
        """Answers nearer than this to 0.5 are undecided."""
        return self.rows[0].radius

    def change(self, changes: Mapping[str, object]) -> Pool:
        """The pool with some settings changed in all members whose engine reads them; one that none reads is refused.

        A change that makes two members the same leaves both, if chance tells them apart.
        """
        asked = changes.get("engine")
        engines = [asked] if asked in READ_BY else list(dict.fromkeys(row.engine for row in self.rows))
        for name in changes:
            if name in KINDS and not any(reads(str(engine), name) for engine in engines):
                raise SettingsError(f"{name} is no setting of the engine {' or '.join(map(str, engines))}")
        rows = (row.change(_readable(changes, str(asked if asked in READ_BY else row.engine))) for row in self.rows)
        left: dict[int, Settings] = {}
        for place, row in enumerate(rows):
            if row.repeatable or row not in left.values():
                left[place] = row
        return self._of(left)

    def only(self, engines: Sequence[str]) -> Pool:
        """The pool's members of some engines."""
        here = dict.fromkeys(row.engine for row in self.rows)
        if missing := [engine for engine in engines if engine not in here]:
            raise SettingsError(
                f"{self.name}: has no members of the engine {', '.join(missing)}; it has {', '.join(here)}"
            )
        return self._of({place: row for place, row in enumerate(self.rows) if row.engine in engines})

    def _of(self, rows: Mapping[int, Settings]) -> Pool:
        """The pool with some of its rows, by their places: as many members as of the usual ones are left, or one."""
        usual = sum(place < self.members for place in rows) + max(0, self.members - len(self.rows))
        most = Pool(self.name, tuple(rows.values())).most
        return dataclasses.replace(self, rows=tuple(rows.values()), members=min(max(1, usual), most))

    @property
    def most(self) -> int:
        """How many members can differ: those of engines without chance are taken once."""
        return MOST_MEMBERS if any(row.repeatable for row in self.rows) else len(self.rows)

    def take(self, count: int, seed: int) -> tuple[Settings, ...]:
        """The first `count` members' settings; a longer ensemble begins with the same ones."""
        require_members(count)
        if count > self.most:
            raise SettingsError(
                f"{self.name}: {self.most} {'member' if self.most == 1 else 'members'} at the most, got {count};"
                " engines without chance give the same answers again"
            )
        rng = np.random.default_rng(seed)
        taken: list[Settings] = []
        while len(taken) < count:
            places = rng.permutation(len(self.rows)) if self.draw == "random" else range(len(self.rows))
            again = bool(taken)
            taken += (self.rows[place] for place in places if self.rows[place].repeatable or not again)
        return tuple(taken[:count])


def _readable(changes: Mapping[str, object], engine: str) -> dict[str, object]:
    """Those of some changes that an engine reads, and names that nobody knows."""
    return {name: value for name, value in changes.items() if name not in KINDS or reads(engine, name)}


def require_members(count: int, where: str = "") -> None:
    """Refuse a number of members that can't be."""
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_MEMBERS:
        raise SettingsError(f"{where}members must be a whole number from 1 to {MOST_MEMBERS}, got {str(count)[:40]}")


def pool_of(settings: Settings, members: int = 1) -> Pool:
    """A pool whose members differ by their seeds only."""
    return Pool("settings", (settings,), "one setting, different seeds", members=members)


def preset_names() -> list[str]:
    """The presets inside the package, `best` first."""
    names = sorted(file.name.removesuffix(".toml") for file in _folder().iterdir() if file.name.endswith(".toml"))
    return sorted(names, key=lambda name: name != "best")


def read_pool(preset: str | Path) -> Pool:
    """The preset of that name, or the pool in a TOML file."""
    if isinstance(preset, Path) or preset.endswith(".toml") or "/" in preset:
        return _make(str(preset), read_toml(Path(preset)))
    if preset not in preset_names():
        near = difflib.get_close_matches(preset, preset_names(), n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(preset_names())}"
        raise SettingsError(f"no preset is named {preset!r}; {hint}, or name a file that ends in .toml")
    return _make(preset, parse_toml((_folder() / f"{preset}.toml").read_bytes(), f"preset {preset}"))


def to_toml(rows: Sequence[Settings], description: str, interpret: Interpretation = "rank") -> str:
    """A pool of exactly these members, to be used again with --preset."""
    plain = "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in description)
    head = {"description": plain, "draw": "order", "members": len(rows), "interpret": interpret}
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in head.items())
    return lines + "".join(f"\n[[member]]\n{row.to_toml()}" for row in rows)


def _folder() -> Any:
    return files("byline") / "presets"


def _make(name: str, values: Mapping[str, Any]) -> Pool:
    """A pool from what its TOML holds; all that is wrong with a part is said at once."""
    if unknown := [key for key in values if key not in _KEYS]:
        remedy = "put settings under [shared] or [[member]]; a file of settings alone goes with --settings"
        raise SettingsError(f"{name}: {', '.join(unknown)}: a pool holds {', '.join(_KEYS)}; {remedy}")
    rows, shared = values.get("member", []), values.get("shared", {})
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows) or not isinstance(shared, dict):
        raise SettingsError(f"{name}: write [shared] once and [[member]] for each member, with settings below them")
    description = values.get("description", "")
    if not isinstance(description, str):
        raise SettingsError(f"{name}: description must be a text")
    engines = [row.get("engine", shared.get("engine", "rnn")) for row in rows]
    for key, value in shared.items():  # each by itself, of an engine that reads it
        reader = next(
            (engine for engine in engines if engine in READ_BY and reads(engine, key)), engines[0] if rows else "rnn"
        )
        _changed(Settings(), {"engine": reader, key: value}, f"{name}: [shared]")
    settings = []
    for number, (row, engine) in enumerate(zip(rows, engines, strict=True), start=1):
        common = _readable(shared, engine) if engine in READ_BY else shared
        settings.append(_changed(Settings(), {**common, **row}, f"{name}: member {number}"))
    return Pool(
        name,
        tuple(settings),
        description,
        values.get("draw", "order"),
        values.get("members", len(rows)),
        values.get("interpret", "rank"),
    )


def _changed(base: Settings, changes: Mapping[str, object], where: str) -> Settings:
    try:
        return base.change(changes)
    except SettingsError as error:
        raise SettingsError(f"{where}: {error}") from None
