"""Settings of one ensemble member (the meta-parameters of the paper's Table 1), and pools that members are drawn from.

A pool (section 2.5) is a built-in preset or a user's own TOML file:

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
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

from byline.corpora.documents import parse_toml, read_toml
from byline.errors import SettingsError
from byline.text.normalize import Mask, TextRules

Engine = Literal["rnn", "ngram", "vectors", "linear", "words", "characters", "punctuation", "grammar"]
Activation = Literal["resqrt", "relu", "tanh"]
Direction = Literal["forward", "backward"]
Handling = Literal["sequential", "concatenated", "balanced", "balanced-concatenated"]
Start = Literal["gaussian", "zero", "fan-in"]
Control = Literal["auto", "one", "each", "none"]
LeakageDraw = Literal["batch", "character"]
TrainOn = Literal["known", "unknown", "both"]
Ranking = Literal["texts", "heads"]
Interpretation = Literal["rank", "relative", "cohort"]

MOST_MEMBERS = 10_000  # of an ensemble

# Smallest and largest value of each number; wide enough for every row of the paper's pools.
RANGES: dict[str, tuple[float, float]] = {
    "rate": (0.0, math.inf),
    "leakage": (0.0, math.inf),
    "leakage_decay": (0.0, 1.0),
    "hidden": (0, 10_000),
    "noise": (0.0, 100.0),
    "sub_epochs": (1, 100_000),
    "depth": (1, 10_000),
    "batch": (1, 100_000),
    "skip": (0, 10),
    "radius": (0.0, 0.5),
    "compared": (10, 1_000_000),
    "order": (2, 12),
    "members": (1, MOST_MEMBERS),
    "word_order": (1, 3),
    "grammar_order": (1, 12),
}

NETWORK = (
    "hidden", "activation", "start", "rate", "noise", "sub_epochs", "leakage", "leakage_decay", "leakage_draw", "depth",
    "batch", "handling",
)  # fmt: skip


class EngineKind(NamedTuple):
    """Properties of an engine that other packages depend on; the engine itself is in byline.engines."""

    module: str
    """Its module under byline.engines, with the function `fill_matrix`."""
    reads: tuple[str, ...] = ()
    """The settings that it reads, among those that not all engines read."""
    additive: bool = False
    """What it says for a head adds up over the characters of a document, at least in part."""
    chance: bool = False
    """Its scores depend on the seed."""
    attributes: bool = False
    """It can attribute texts to authors: it takes an `index` and respects `Questions.leave_one_out`."""
    links: bool = False
    """It can link texts in clusters: it takes an `index`."""
    symmetric: bool = False
    """Its value for two sets of texts is the same whichever is the head."""


ENGINES: dict[str, EngineKind] = {
    "rnn": EngineKind("rnn.engine", (*NETWORK, "direction", "skip"), additive=True, chance=True),
    "ngram": EngineKind("ngram.engine", ("order", "direction", "skip"), additive=True, attributes=True, links=True),
    "vectors": EngineKind("profiles.engine", ("order",), attributes=True, links=True, symmetric=True),
    "linear": EngineKind("linear", ("order",), attributes=True),
    "words": EngineKind("frequencies", ("word_order",), symmetric=True),
    "characters": EngineKind("frequencies", ("order",), additive=True, symmetric=True),
    "punctuation": EngineKind("frequencies", ("order",), symmetric=True),
    "grammar": EngineKind("grammar.engine", ("grammar_order",)),
}
ADDITIVE = tuple(name for name, kind in ENGINES.items() if kind.additive)


@dataclass(frozen=True)
class Settings:
    """The settings of one ensemble member: its engine, the engine's meta-parameters, and how its matrix is read.

    Raises SettingsError for a bad value, and for one that the engine does not read.
    """

    engine: Engine = "rnn"
    """The paper's network, n-grams, vectors of n-grams, a linear classifier, Cosine Delta of words, characters or
    punctuation, or LambdaG."""
    order: int = 5
    """Characters of the longest n-gram; vectors and linear also count those up to two shorter, characters all of two
    or more, punctuation all."""
    word_order: int = 1
    """Words of the longest n-gram of the engine words."""
    grammar_order: int = 8
    """Words and marks of the longest n-gram of the engine grammar."""
    hidden: int = 20
    """Hidden neurons; 0 is the per-author unigram model of the paper's section 4."""
    activation: Activation = "resqrt"
    """The recurrent layer's activation (section 2.3)."""
    start: Start = "gaussian"
    """Initial weights: sparse random, all zero, or a sparse random fan-in for each unit."""
    rate: float = 0.03
    """Initial Adagrad learning scale."""
    noise: float = 0.2
    """Standard deviation of the presynaptic Gaussian noise, in training only."""
    sub_epochs: int = 20
    """Number of times that each author provides text (section 2.4)."""
    leakage: float = 5.0
    """Initial leakage L: each other head learns from an example with probability L/N."""
    leakage_decay: float = 0.7
    """Factor of the leakage after each sub-epoch."""
    leakage_draw: LeakageDraw = "batch"
    """Whether leakage is drawn for each mini-batch or, as the paper describes it, for each character."""
    depth: int = 70
    """Maximum number of steps of backpropagation through time."""
    batch: int = 40
    """Characters between two updates of the weights."""
    skip: int = 10
    """Number of characters at the beginning of each text that are neither trained on nor scored."""
    direction: Direction = "forward"
    """Texts are read forward, or from their last character to their first."""
    handling: Handling = "concatenated"
    """What an author provides in a sub-epoch: one text in turn, all texts, or enough to balance the authors."""
    train_on: TrainOn = "both"
    """Texts that heads are trained on; the others are scored. With both, the two directions are averaged."""
    swap_short: bool = True
    """With train_on=known, a single known text that is much shorter than the unknown is exchanged with it."""
    control: Control = "auto"
    """Heads for a control corpus, if one is given: one, one each, or none (auto: one, or one each if heads are few)."""
    text_rules: TextRules = "paper"
    """Normalization rules of the paper, or of its author's scripts, which keep line breaks and rare letters."""
    mask: Mask = "none"
    """With topic, words that are not among the most frequent are masked, so that content counts less."""
    single_texts: bool = False
    """Every text has a head and a document of its own, too, so that problems are compared with more texts."""
    compared: int = 300
    """About how many heads a document is scored under; if there are more, its own and a sample of the others."""
    ranking: Ranking = "texts"
    """Whether the unknown is ranked among the texts under its head, as in the paper, or its head among the heads."""
    radius: float = 0.0
    """Answers nearer to 0.5 than this become exactly 0.5, undecided."""

    def __post_init__(self) -> None:
        """Check all values."""
        faults = [fault for name, value in asdict(self).items() if (fault := _find_fault(name, value, KINDS[name]))]
        if not faults:
            unread = [name for name in self.changes() if not reads(self.engine, name)]
            faults = [unread_error(name, [self.engine]) for name in unread]
        _raise_faults(faults)

    @property
    def engine_name(self) -> str:
        """The engine with its mask."""
        return self.engine if self.mask == "none" else f"{self.engine} ({self.mask} masked)"

    @property
    def repeatable(self) -> bool:
        """Whether another member with another seed gives other scores."""
        return ENGINES[self.engine].chance

    def change(self, changes: Mapping[str, object]) -> Settings:
        """Return these settings with some values changed."""
        _raise_faults([_unknown(name) for name in changes if name not in KINDS])
        return Settings(**{**asdict(self), **{name: _to_float(name, value) for name, value in changes.items()}})

    def changes(self) -> dict[str, object]:
        """Return the values that differ from the defaults."""
        usual = {field.name: field.default for field in fields(Settings)}
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    def to_toml(self) -> str:
        """Return the settings as TOML, one per line, in the order of the fields."""
        return _to_lines(asdict(self))


def _to_lines(values: Mapping[str, object]) -> str:
    # strings, numbers and booleans are the same in JSON and TOML
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


def kinds_of(rows: Iterable[Settings]) -> tuple[str, ...]:
    """Return what a calibration holds for: the engines of members, and whether all or some mask content words."""
    members = list(rows)
    masked = {row.mask == "topic" for row in members}
    word = {frozenset([True]): ("topic masked",), frozenset([True, False]): ("topic masked in part",)}
    return (*sorted({row.engine for row in members}), *word.get(frozenset(masked), ()))


def reads(engine: str, name: str) -> bool:
    """Return whether an engine reads a setting."""
    return name in ENGINES[engine].reads or not any(name in kind.reads for kind in ENGINES.values())


KINDS: dict[str, Any] = {name: kind for name, kind in get_type_hints(Settings).items() if name != "return"}


def read_settings(path: Path, base: Settings | None = None) -> Settings:
    """Read settings from a TOML file of `name = value` lines, as changes of `base`."""
    values = read_toml(path)
    if "member" in values:
        raise SettingsError("a pool of several members, not settings", where=path, remedy="Give it as {preset}")
    return change_settings(base or Settings(), values, str(path))


def change_settings(base: Settings, changes: Mapping[str, object], where: str) -> Settings:
    """Return settings with some values changed; errors say where the changes come from."""
    try:
        return base.change(changes)
    except SettingsError as error:
        raise _place_error(error, where) from None


def _place_error(error: SettingsError, where: str) -> SettingsError:
    """Return an error that says where the setting comes from."""
    place = where if error.where is None else f"{where}: {error.where}"
    return SettingsError(error.what, where=place, remedy=error.remedy)


def parse_assignments(assignments: Iterable[str]) -> dict[str, object]:
    """Parse `name=value` strings, each value as the type of its setting."""
    values: dict[str, object] = {}
    for assignment in assignments:
        name, equals, word = (part.strip() for part in assignment.partition("="))
        if not equals or not name:
            raise SettingsError("no setting", where=assignment, remedy="Write name=value, for example hidden=99")
        if name not in KINDS:
            raise _unknown(name)
        values[name] = _parse(name, word)
    return values


def _parse(name: str, word: str) -> object:
    """Return the value of a word; one of the wrong type stays as it is, for Settings to refuse."""
    kind = KINDS[name]
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[word.lower()]
        if kind in (int, float):
            return kind(word)
    except (KeyError, ValueError, OverflowError):
        pass
    return word


def _to_float(name: str, value: object) -> object:
    """Convert a whole number to a float where the setting is one."""
    if KINDS[name] is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return float(value)
    return value


def _find_fault(name: str, value: object, kind: Any) -> SettingsError | None:
    if choices := get_args(kind):
        good, wanted = value in choices, f"one of {', '.join(choices)}"
    elif kind is bool:
        good, wanted = isinstance(value, bool), "true or false"
    else:
        low, high = RANGES[name]
        noun = "a whole number" if kind is int else "a number"
        wanted = f"{noun}, {low:g} or more" if math.isinf(high) else f"{noun} from {low:g} to {high:g}"
        numeric = isinstance(value, int if kind is int else int | float) and not isinstance(value, bool)
        good = numeric and low <= value <= min(high, 1e300)  # type: ignore[operator]
    return None if good else SettingsError(f"can't be {str(value)[:40]}", where=name, remedy=f"Choose {wanted}")


def _unknown(name: str) -> SettingsError:
    return SettingsError("no such setting", where=name, remedy=_suggest(name, KINDS))


def _suggest(name: str, choices: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(choices), n=1)
    return f"Did you mean {near[0]}?" if near else f"Choose one of {', '.join(choices)}"


def unread_error(name: str, engines: Iterable[str]) -> SettingsError:
    """Return the error about a setting that none of some engines reads."""
    able = ", ".join(engine for engine in ENGINES if reads(engine, name))
    what = f"is no setting of the engine {' or '.join(engines)}"
    return SettingsError(what, where=name, remedy=f"Leave it out, or choose an engine that reads it ({able})")


def _raise_faults(faults: Sequence[SettingsError]) -> None:
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise SettingsError("these settings can't be used", causes=faults)


PoolDraw = Literal["order", "random"]
"""How members are drawn from a pool: in its order, or at random by the seed."""

_KEYS = ("description", "draw", "members", "interpret", "shared", "member")
_ENGINES = tuple(ENGINES)  # TOML may give values that can't be hashed
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
        for name, kind in (("draw", PoolDraw), ("interpret", Interpretation), ("members", int)):
            if fault := _find_fault(name, getattr(self, name), kind):
                raise _place_error(fault, self.name)
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
        given = changes.get("engine")
        engines = [str(given)] if given in _ENGINES else list(dict.fromkeys(row.engine for row in self.rows))
        for name in changes:
            if name in KINDS and not any(reads(each, name) for each in engines):
                raise unread_error(name, engines)
        kept: dict[int, Settings] = {}
        for place, row in enumerate(self.rows):
            new = row.change(_readable(changes, str(given) if given in _ENGINES else row.engine))
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
        from numpy.random import default_rng  # here, because help reads this module and needs to be quick

        require_members(count)
        if count > self.max_members:
            what = f"{count} members, but engines that don't depend on the seed would repeat their answers"
            remedy = f"Choose {self.max_members} {'member' if self.max_members == 1 else 'members'} at most"
            raise SettingsError(what, where=self.name, remedy=remedy)
        rng = default_rng(seed)
        taken: list[Settings] = []
        while len(taken) < count:
            places = rng.permutation(len(self.rows)) if self.draw == "random" else range(len(self.rows))
            again = bool(taken)
            taken += (self.rows[place] for place in places if self.rows[place].repeatable or not again)
        return tuple(taken[:count])


def _readable(changes: Mapping[str, object], engine: str) -> dict[str, object]:
    """Return the changes that an engine reads, and unknown names, which Settings refuses."""
    return {name: value for name, value in changes.items() if name not in KINDS or reads(engine, name)}


def require_members(count: int) -> None:
    """Raise SettingsError if a number of members is invalid."""
    if fault := _find_fault("members", count, int):
        raise fault


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
        raise SettingsError("no such preset", where=preset, remedy=_suggest(preset, [*preset_names(), "a .toml file"]))
    return _make_pool(preset, parse_toml((_PRESETS / f"{preset}.toml").read_bytes(), f"preset {preset}"))


def to_toml(rows: Sequence[Settings], description: str, interpret: Interpretation = "rank") -> str:
    """Return a pool of exactly these members as TOML, which `read_pool` reads."""
    plain = "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in description)
    head = {"description": plain, "draw": "order", "members": len(rows), "interpret": interpret}
    return _to_lines(head) + "".join(f"\n[[member]]\n{row.to_toml()}" for row in rows)


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
