"""Settings of one member: its engine and every meta-parameter of the paper's Table 1; TOML in and out."""

from __future__ import annotations

import difflib
import json
import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

from byline.documents import decode, read_bytes
from byline.errors import CorpusError, SettingsError

Engine = Literal["rnn", "ngram", "vectors", "spread", "linear"]
Mask = Literal["none", "topic"]
Activation = Literal["resqrt", "relu", "tanh"]
Direction = Literal["forward", "backward"]
Handling = Literal["sequential", "concatenated", "balanced", "balanced-concatenated"]
Start = Literal["gaussian", "zero", "fan-in"]
Control = Literal["auto", "one", "each", "none"]
LeakageDraw = Literal["batch", "character"]
TrainOn = Literal["known", "unknown", "both"]
TextRules = Literal["paper", "scripts"]
Ranking = Literal["texts", "heads"]
Interpretation = Literal["rank", "relative", "cohort"]

MOST_MEMBERS = 10_000
"""Members of an ensemble at the most."""

# Least and greatest value of each number; wide enough for every row of the paper's pools.
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
    """What the house must know of an engine; the engine itself is the file of its name in engines/."""

    reads: tuple[str, ...] = ()
    """The settings that it reads, of those that some engines read and others don't."""
    additive: bool = False
    """It predicts character by character: its values are bits per character, and add up over characters."""
    chance: bool = False
    """Another seed says something else."""
    attributes: bool = False
    """It can tell authors apart by counting their texts anew: it takes an `index`, and heeds `Questions.aside`."""
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
    """What one member is: its engine, that engine's meta-parameters, and how its matrix is read.

    A bad value is refused, never repaired; so is a value that the engine does not read.
    """

    engine: Engine = "rnn"
    """What fills the matrix: the paper's network, n-grams, vectors of them, their spread, a linear classifier."""
    order: int = 5
    """Characters of the longest n-gram; all engines but ngram count those up to two shorter too."""
    hidden: int = 20
    """Hidden neurons; 0 is the per-author unigram model of the paper's section 4."""
    activation: Activation = "resqrt"
    """The recurrent layer's activation (section 2.3)."""
    start: Start = "gaussian"
    """How weights begin: sparse random, all zero, or a sparse random fan-in for each unit."""
    rate: float = 0.03
    """Initial Adagrad learning scale."""
    noise: float = 0.2
    """Standard deviation of the presynaptic Gaussian noise, in training only."""
    sub_epochs: int = 20
    """How often each author provides text (section 2.4)."""
    leakage: float = 5.0
    """Initial leakage L: each other head learns from an example with probability L/N."""
    leakage_decay: float = 0.7
    """What the leakage is multiplied by after each sub-epoch."""
    leakage_draw: LeakageDraw = "batch"
    """Leakage is drawn for a whole mini-batch at a time, or for each character as the paper words it."""
    depth: int = 70
    """How many steps an error travels back through time at the most."""
    batch: int = 40
    """Characters between two changes of the weights."""
    skip: int = 10
    """First characters of each text that neither train nor count."""
    direction: Direction = "forward"
    """Texts are read forward, or from their last character to their first."""
    handling: Handling = "concatenated"
    """What an author provides in a sub-epoch: one text in turn, all of them, or enough to keep the authors even."""
    train_on: TrainOn = "both"
    """Heads learn the known texts and judge the unknown, the other way round, or both ways, averaged."""
    swap_short: bool = True
    """With train_on=known, a single known text much shorter than the unknown is exchanged with it."""
    control: Control = "auto"
    """A control corpus, where one is given, trains one head, a head each, none; auto: one, or each if heads are few."""
    text_rules: TextRules = "paper"
    """Rules of normalising: the paper's words, or its author's scripts (line breaks kept, letters never rare)."""
    mask: Mask = "none"
    """With topic, words that are not among the most frequent ones are replaced, so that content counts less."""
    compared: int = 300
    """About how many heads a document is scored under; of more, its own and a sample of the others."""
    ranking: Ranking = "texts"
    """The unknown is ranked among the texts under its head (the paper's words), or its head among the heads."""
    radius: float = 0.0
    """Answers nearer than this to 0.5 become exactly 0.5, undecided."""

    def __post_init__(self) -> None:
        """Refuse what is out of range or of the wrong type, all offences at once."""
        offences = [message for name, value in asdict(self).items() if (message := _fault(name, value))]
        if not offences:
            offences = [f"{name} is no setting of the engine {self.engine}" for name in self.unread()]
        if offences:
            raise SettingsError("; ".join(offences))

    def unread(self) -> list[str]:
        """The changed settings that the engine does not read."""
        return [name for name in self.changes() if not reads(self.engine, name)]

    @property
    def engine_name(self) -> str:
        """The engine, and its mask if it has one."""
        return self.engine if self.mask == "none" else f"{self.engine} ({self.mask} masked)"

    @property
    def repeatable(self) -> bool:
        """Whether a further member with another seed says something else."""
        return ENGINES[self.engine].chance

    def change(self, changes: Mapping[str, object]) -> Settings:
        """These settings with some values changed; an unknown name or a bad value is refused."""
        if unknown := [name for name in changes if name not in KINDS]:
            raise SettingsError("; ".join(_no_such(name) for name in unknown))
        return Settings(**{**asdict(self), **{name: _plain(name, value) for name, value in changes.items()}})

    def changes(self) -> dict[str, object]:
        """The values that differ from the default ones."""
        usual = {field.name: field.default for field in fields(Settings)}
        return {name: value for name, value in asdict(self).items() if value != usual[name]}

    def to_toml(self) -> str:
        """The settings as TOML, one a line, in the order of the fields."""
        # JSON's strings, numbers and booleans are TOML's too
        return "".join(f"{name} = {json.dumps(value)}\n" for name, value in asdict(self).items())


def kinds_of(rows: Iterable[Settings]) -> tuple[str, ...]:
    """What a calibration is of: the engines of some members, and whether content words are masked in all or in some."""
    members = list(rows)
    masked = {row.mask == "topic" for row in members}
    word = {frozenset([True]): ("topic masked",), frozenset([True, False]): ("topic masked in part",)}
    return (*sorted({row.engine for row in members}), *word.get(frozenset(masked), ()))


def reads(engine: str, name: str) -> bool:
    """Whether an engine reads a setting."""
    return name in READ_BY[engine] or not any(name in names for names in READ_BY.values())


KINDS: dict[str, Any] = {name: kind for name, kind in get_type_hints(Settings).items() if name != "return"}


def read_settings(path: Path, base: Settings | None = None) -> Settings:
    """Settings from a TOML file of `name = value` lines, over `base`."""
    values = read_toml(path)
    if "member" in values:
        raise SettingsError(f"{path}: a pool of several members; give it with --preset")
    try:
        return (base or Settings()).change(values)
    except SettingsError as error:
        raise SettingsError(f"{path}: {error}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """The values in a TOML file."""
    try:
        return parse_toml(read_bytes(path), str(path))
    except CorpusError as error:
        raise SettingsError(str(error)) from None


def parse_toml(data: bytes, where: str) -> dict[str, Any]:
    """The values that TOML holds."""
    try:
        values = tomllib.loads(decode(data, where))
        _require_short(values)
        return values
    except (ValueError, RecursionError) as error:  # not TOML, not UTF-8, absurdly long or nested
        raise SettingsError(f"{where}: not TOML ({error}); write lines such as hidden = 99") from None


def _require_short(value: object) -> None:
    """Refuse whole numbers that can't even be shown: TOML may have them in hexadecimal digits, however many."""
    if isinstance(value, int) and abs(value) >= 2**63:
        raise ValueError("a whole number of more than 64 bits")
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        _require_short(each)


def parse_assignments(assignments: Iterable[str]) -> dict[str, object]:
    """Values from `name=value` strings, each read as the type of its field."""
    values: dict[str, object] = {}
    for assignment in assignments:
        name, equals, word = (part.strip() for part in assignment.partition("="))
        if not equals or not name:
            raise SettingsError(f"{assignment!r} is no setting; write name=value, for example hidden=99")
        if name not in KINDS:
            raise SettingsError(_no_such(name))
        values[name] = _parse(name, word)
    return values


def _parse(name: str, word: str) -> object:
    """The value that a word stands for; a word of the wrong kind is refused when Settings checks it."""
    kind = KINDS[name]
    try:
        if kind is bool:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[word.lower()]
        if kind in (int, float):
            return kind(word)
    except (KeyError, ValueError, OverflowError):
        pass
    return word


def _plain(name: str, value: object) -> object:
    """A whole number is good enough where a fraction is asked for."""
    if KINDS[name] is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return float(value)
    return value


def _fault(name: str, value: object) -> str | None:
    """What is wrong with a value, in one sentence, or None."""
    kind = KINDS[name]
    if choices := get_args(kind):
        return None if value in choices else f"{name} must be one of {', '.join(choices)}, got {value}"
    if kind is bool:
        return None if isinstance(value, bool) else f"{name} must be true or false, got {value}"
    low, high = RANGES[name]
    noun = "a whole number" if kind is int else "a number"
    wanted = f"{noun}, {low:g} or more" if math.isinf(high) else f"{noun} from {low:g} to {high:g}"
    numeric = isinstance(value, int) if kind is int else isinstance(value, int | float)
    if not numeric or isinstance(value, bool) or not low <= value <= min(high, 1e300):  # type: ignore[operator]
        return f"{name} must be {wanted}, got {str(value)[:40]}"
    return None


def _no_such(name: str) -> str:
    near = difflib.get_close_matches(name, KINDS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(KINDS)}"
    return f"no setting is named {name!r}; {hint}"
