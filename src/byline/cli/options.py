"""Options that several commands share, each described once, and groups of them as typed objects."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any, cast, get_args, get_type_hints

import typer

from byline.errors import SettingsError
from byline.runs.request import parse_duration
from byline.settings.settings import (
    MOST_MEMBERS,
    Interpretation,
    Pool,
    Settings,
    as_pool_file,
    parse_assignments,
    pool_of,
    preset_names,
    read_pool,
    read_settings,
    usual_preset,
)
from byline.text.languages import NAMES
from byline.text.normalize import Mask

MEMBERS, ANSWERS, RUN = "Members", "Answers", "The run"
"""The panels of a help page."""

Complete = Callable[[str], list[str]]


def one_of(words: Callable[[], Iterable[str]] | Sequence[str]) -> Complete:
    """Complete a word from a fixed set."""

    def complete(incomplete: str) -> list[str]:
        return [word for word in (words() if callable(words) else words) if word.startswith(incomplete)]

    return complete


def several_of(words: Sequence[str]) -> Complete:
    """Complete the last of several words that are joined by commas."""

    def complete(incomplete: str) -> list[str]:
        done, comma, begun = incomplete.rpartition(",")
        left = [word for word in words if word not in done.split(",")]
        return [f"{done}{comma}{word}" for word in left if word.startswith(begun)]

    return complete


def require_nonempty(word: str | None) -> str | None:
    """Refuse an empty language."""
    if word is not None and not word.strip():
        raise typer.BadParameter("it is empty; name a language, such as english, or leave it out")
    return word


def require_prior_of_none(value: float) -> float:
    """Refuse a prior of "none of these" that is not a probability below 1."""
    if not 0 <= value < 1:
        raise typer.BadParameter(f"it must be 0 or more and less than 1, got {value:g}")
    return value


ENGINES = ("rnn", "ngram", "vectors", "spread")
AUTHOR_ENGINES = ("ngram", "vectors", "linear", "rnn")
LANGUAGES = sorted(set(NAMES.values()))

Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE.toml",
        help="The pool of ensemble members, see byline presets (default: best, or cohort with a reference).",
        rich_help_panel=MEMBERS,
        autocompletion=one_of(preset_names),
    ),
]
Members = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_MEMBERS,
        help="Number of ensemble members (default: set by the preset).",
        rich_help_panel=MEMBERS,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Train as many members as fit this time instead, such as 90s, 10m or 1h30m.",
        rich_help_panel=MEMBERS,
    ),
]
Engines = Annotated[
    str | None,
    typer.Option(
        metavar=",".join(ENGINES),
        help="Use only the preset's members with these engines.",
        rich_help_panel=MEMBERS,
        autocompletion=several_of(ENGINES),
    ),
]
MaskOption = Annotated[
    str | None,
    typer.Option(
        metavar="topic|none",
        help="Mask content words in all members, for texts on different topics; or in none.",
        rich_help_panel=MEMBERS,
        autocompletion=one_of(get_args(Mask)),
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, help="The same seed and number of members give the same answers.", rich_help_panel=MEMBERS)
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Change a setting of all members; repeatable.", rich_help_panel=MEMBERS
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings",
        metavar="FILE.toml",
        help="Settings of a single member, instead of a preset.",
        rich_help_panel=MEMBERS,
    ),
]
Interpret = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(get_args(Interpretation)),
        help="How scores are interpreted (default: set by the preset, or cohort with a reference).",
        rich_help_panel=ANSWERS,
        autocompletion=one_of(get_args(Interpretation)),
    ),
]
ReferencePath = Annotated[
    Path | None,
    typer.Option(
        "--reference",
        metavar="DIR",
        help="Texts by other people: each problem is answered by itself, compared with these only.",
        rich_help_panel=ANSWERS,
    ),
]
AuthorColumn = Annotated[
    str, typer.Option(metavar="NAME", help="The column of authors in a .csv, .tsv or .jsonl file.")
]
TextColumn = Annotated[str, typer.Option(metavar="NAME", help="The column of texts in a .csv, .tsv or .jsonl file.")]
TextLanguage = Annotated[
    str | None,
    typer.Option(
        help="Language of the texts (default: by their script).",
        callback=require_nonempty,
        autocompletion=one_of(LANGUAGES),
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        help="Language of all problems (default: as the problems say).",
        callback=require_nonempty,
        autocompletion=one_of(LANGUAGES),
    ),
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE.html", help="Also write a report: one HTML file that holds the texts."),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Members trained at a time (default: one per core).", rich_help_panel=RUN)
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="tcp://HOST:PORT", help="Train on the Dask cluster of this scheduler.", rich_help_panel=RUN),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress on stderr.", rich_help_panel=RUN)]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Answer unusable problems with 0.5 instead of refusing them.")
]


@dataclasses.dataclass(frozen=True)
class MemberOptions:
    """Options that choose the members of an ensemble for verification."""

    preset: Preset = None
    members: Members = None
    budget: Budget = None
    engines: Engines = None
    mask: MaskOption = None
    seed: Seed = 0
    set_: Assignments = None
    settings_file: SettingsFile = None

    def check(self, context: typer.Context) -> None:
        """Refuse options that contradict each other."""
        if self.members is not None and self.budget is not None:
            context.fail("give --members or --budget, not both")
        if self.preset is not None and self.settings_file is not None:
            context.fail("give --preset or --settings, not both")

    def read_pool(self, beside_reference: bool, control_heads: str | None = None) -> Pool:
        """Return the pool that the options describe; members without a control corpus stay without."""
        if self.settings_file is not None:
            pool = pool_of(read_settings(self.settings_file))
        else:
            pool = read_pool(self.preset if self.preset is not None else usual_preset(beside_reference))
        pool = change_pool(pool, self.engines, self.set_)
        if self.mask is not None:
            pool = pool.change({"mask": self.mask})
        if control_heads is not None:
            rows = (row if row.control == "none" else row.change({"control": control_heads}) for row in pool.rows)
            pool = dataclasses.replace(pool, rows=tuple(rows))
        return pool

    @property
    def input_files(self) -> list[Path]:
        """The files that the options are read from."""
        return [path for path in (as_pool_file(self.preset), self.settings_file) if path is not None]

    @property
    def seconds(self) -> float | None:
        """The time budget in seconds."""
        return None if self.budget is None else parse_duration(self.budget)


@dataclasses.dataclass(frozen=True)
class AuthorOptions:
    """Options that say how a model of authors is trained."""

    preset: Annotated[
        str,
        typer.Option(
            metavar="NAME|FILE.toml",
            help="The pool of ensemble members, see byline presets.",
            rich_help_panel=MEMBERS,
            autocompletion=one_of(preset_names),
        ),
    ] = "authors"
    members: Members = None
    engines: Annotated[
        str | None,
        typer.Option(
            metavar=",".join(AUTHOR_ENGINES),
            help="Use only the preset's members with these engines.",
            rich_help_panel=MEMBERS,
            autocompletion=several_of(AUTHOR_ENGINES),
        ),
    ] = None
    seed: Seed = 0
    set_: Assignments = None
    language: TextLanguage = None
    author_column: AuthorColumn = "author"
    text_column: TextColumn = "text"

    def choose_members(self) -> tuple[Settings, ...]:
        """Return the settings of each member."""
        pool = change_pool(read_pool(self.preset), self.engines, self.set_)
        return pool.take(self.members or pool.members, self.seed)

    @property
    def input_files(self) -> list[Path]:
        """The file that the preset is read from, if it is a user's own."""
        path = as_pool_file(self.preset)
        return [] if path is None else [path]


def change_pool(pool: Pool, engines: str | None, assignments: list[str] | None) -> Pool:
    """Restrict a pool to some engines and change settings of its members."""
    if engines is not None:
        names = [name.strip() for name in engines.split(",") if name.strip()]
        if not names:
            here = ", ".join(dict.fromkeys(row.engine for row in pool.rows))
            raise SettingsError("names no engine", where="--engines", remedy=f"Name some of {here}, or leave it out")
        pool = pool.only(names)
    return pool.change(parse_assignments(assignments or []))


def as_interpretation(word: str | None, offered: Sequence[str] = get_args(Interpretation)) -> Interpretation | None:
    """Return the interpretation of that name, or raise if it is not one of those that the command offers."""
    if word is not None and word not in offered:
        raise SettingsError(f"got {word}", where="--interpret", remedy=f"Name one of {', '.join(offered)}")
    return cast("Interpretation | None", word)


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take dataclasses of options: each field becomes an option of the command.

    Typer reads the options of a command from its signature, so the wrapper has a signature in which each parameter
    that is a dataclass is replaced by its fields.
    """
    flat: dict[str, inspect.Parameter] = {}
    groups: dict[str, tuple[type[Any], list[str]]] = {}
    for name, parameter in inspect.signature(command, eval_str=True).parameters.items():
        if not dataclasses.is_dataclass(group := parameter.annotation):
            flat[name] = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            continue
        hints = get_type_hints(group, include_extras=True)
        fields = dataclasses.fields(group)
        groups[name] = cast("type[Any]", group), [field.name for field in fields]
        for field in fields:
            flat[field.name] = inspect.Parameter(
                field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
            )

    @functools.wraps(command)
    def run(**values: Any) -> None:
        for name, (group, fields) in groups.items():
            values[name] = group(**{field: values.pop(field) for field in fields})
        command(**values)

    run.__signature__ = inspect.Signature(list(flat.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: parameter.annotation for name, parameter in flat.items()}
    return run
