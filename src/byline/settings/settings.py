"""Settings of one ensemble member: its engine and the meta-parameters of the paper's Table 1; TOML input and output."""

from __future__ import annotations

import difflib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

from byline.corpora.documents import decode, read_bytes
from byline.errors import CorpusError, SettingsError
from byline.text.normalize import Mask, TextRules

Engine = Literal["rnn", "ngram", "vectors", "spread", "linear"]
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
}

NETWORK = (
    "hidden", "activation", "start", "rate", "noise", "sub_epochs", "leakage", "leakage_decay", "leakage_draw", "depth",
    "batch", "handling",
)  # fmt: skip


class EngineKind(NamedTuple):
    """Properties of an engine that other packages depend on; the engine itself is in byline.engines."""

    reads: tuple[str, ...] = ()
    """The settings that it reads, among those that not all engines read."""
    additive: bool = False
    """It predicts character by character: its values are bits per character and add up over characters."""
    chance: bool = False
    """Its scores depend on the seed."""
    attributes: bool = False
    """It can attribute texts to authors: it takes an `index` and respects `Questions.leave_one_out`."""
    links: bool = False
    """It can link texts in clusters: it takes an `index`."""


ENGINES: dict[Engine, EngineKind] = {
    "rnn": EngineKind((*NETWORK, "direction", "skip"), additive=True, chance=True),
    "ngram": EngineKind(("order", "direction", "skip"), additive=True, attributes=True, links=True),
    "vectors": EngineKind(("order",), attributes=True, links=True),
    "spread": EngineKind(("order",)),
    "linear": EngineKind(("order",), attributes=True),
}
READ_BY: dict[str, tuple[str, ...]] = {name: kind.reads for name, kind in ENGINES.items()}
ADDITIVE = tuple(name for name, kind in ENGINES.items() if kind.additive)


@dataclass(frozen=True)
class Settings:
    """The settings of one ensemble member: its engine, the engine's meta-parameters, and how its matrix is read.

    Raises SettingsError for a bad value, and for one that the engine does not read.
    """

    engine: Engine = "rnn"
    """The paper's network, n-grams, vectors of n-grams, their spread, or a linear classifier."""
    order: int = 5
    """Characters of the longest n-gram; all engines except ngram also count those up to two characters shorter."""
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
    compared: int = 300
    """About how many heads a document is scored under; if there are more, its own and a sample of the others."""
    ranking: Ranking = "texts"
    """Whether the unknown is ranked among the texts under its head, as in the paper, or its head among the heads."""
    radius: float = 0.0
    """Answers nearer to 0.5 than this become exactly 0.5, undecided."""

    def __post_init__(self) -> None:
        """Check all values."""
        faults = [fault for name, value in asdict(self).items() if (fault := _find_fault(name, value))]
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
        # strings, numbers and booleans are the same in JSON and TOML
        return "".join(f"{name} = {json.dumps(value)}\n" for name, value in asdict(self).items())


def kinds_of(rows: Iterable[Settings]) -> tuple[str, ...]:
    """Return what a calibration holds for: the engines of members, and whether all or some mask content words."""
    members = list(rows)
    masked = {row.mask == "topic" for row in members}
    word = {frozenset([True]): ("topic masked",), frozenset([True, False]): ("topic masked in part",)}
    return (*sorted({row.engine for row in members}), *word.get(frozenset(masked), ()))


def reads(engine: str, name: str) -> bool:
    """Return whether an engine reads a setting."""
    return name in READ_BY[engine] or not any(name in names for names in READ_BY.values())


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
        place = where if error.where is None else f"{where}: {error.where}"
        raise SettingsError(error.what, where=place, remedy=error.remedy) from None


def read_toml(path: Path) -> dict[str, Any]:
    """Read the values in a TOML file."""
    try:
        return parse_toml(read_bytes(path), str(path))
    except CorpusError as error:
        raise SettingsError(error.what, where=error.where, remedy=error.remedy) from None


def parse_toml(data: bytes, where: str) -> dict[str, Any]:
    """Return the values in TOML."""
    try:
        values = tomllib.loads(decode(data, where))
        _check_numbers(values)
        return values
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, extremely long or nested
        raise SettingsError(f"not TOML ({error})", where=where, remedy="Write lines such as hidden = 99") from None


def _check_numbers(value: object) -> None:
    """Raise ValueError for huge whole numbers, which TOML allows in hexadecimal digits and Python can't print."""
    if isinstance(value, int) and abs(value) >= 2**63:
        raise ValueError("a whole number of more than 64 bits")
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        _check_numbers(each)


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


def _find_fault(name: str, value: object) -> SettingsError | None:
    kind = KINDS[name]
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
    near = difflib.get_close_matches(name, KINDS, n=1)
    remedy = f"Did you mean {near[0]}?" if near else f"Choose one of {', '.join(KINDS)}"
    return SettingsError("no such setting", where=name, remedy=remedy)


def unread_error(name: str, engines: Iterable[str]) -> SettingsError:
    """Return the error about a setting that none of some engines reads."""
    able = ", ".join(engine for engine in READ_BY if reads(engine, name))
    what = f"is no setting of the engine {' or '.join(engines)}"
    return SettingsError(what, where=name, remedy=f"Leave it out, or choose an engine that reads it ({able})")


def _raise_faults(faults: Sequence[SettingsError]) -> None:
    if len(faults) == 1:
        raise faults[0]
    if faults:
        raise SettingsError("these settings can't be used", causes=faults)
