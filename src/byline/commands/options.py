"""Options that several commands have, each described once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from byline.errors import SettingsError
from byline.settings import MOST_MEMBERS, Interpretation, parse_assignments, read_settings

if TYPE_CHECKING:
    from byline.pools import Pool

MEMBERS, ANSWERS, RUN = "Members", "Answers", "The run"
"""The panels of a help page."""

Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME|FILE.toml",
        help="Which members, see byline presets; without it, best, or cohort with a reference.",
        rich_help_panel=MEMBERS,
    ),
]
Members = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=MOST_MEMBERS,
        help="How many trainings are averaged; without it, the preset says.",
        rich_help_panel=MEMBERS,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Instead: as many as fit a time, such as 90s, 10m, 1h30m; how many differs from run to run.",
        rich_help_panel=MEMBERS,
    ),
]
Engines = Annotated[
    str | None,
    typer.Option(
        metavar="rnn,ngram,vectors", help="Only the preset's members of these engines.", rich_help_panel=MEMBERS
    ),
]
Mask = Annotated[
    str | None,
    typer.Option(
        metavar="topic|none",
        help="Replace content words in all members, for texts on different topics; or in none.",
        rich_help_panel=MEMBERS,
    ),
]
Seed = Annotated[
    int, typer.Option(min=0, help="The same seed and number of members give the same answers.", rich_help_panel=MEMBERS)
]
Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting of all members; may be given many times.",
        rich_help_panel=MEMBERS,
    ),
]
SettingsFile = Annotated[
    Path | None,
    typer.Option(
        "--settings", metavar="FILE.toml", help="One member's settings, instead of a preset.", rich_help_panel=MEMBERS
    ),
]
Interpret = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(get_args(Interpretation)),
        help="How scores are read; without it, the preset says, or cohort with a reference.",
        rich_help_panel=ANSWERS,
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


def named(word: str | None) -> str | None:
    """The word, which must not be empty."""
    if word is not None and not word.strip():
        raise typer.BadParameter("it is empty; name a language, such as english, or leave it out")
    return word


def probability_of_none(value: float) -> float:
    """A prior of "none of these", checked before any work is done."""
    if not 0 <= value < 1:
        raise typer.BadParameter(f"it must be 0 or more and less than 1, got {value:g}")
    return value


AuthorPreset = Annotated[
    str, typer.Option(metavar="NAME|FILE.toml", help="Which members, see byline presets.", rich_help_panel=MEMBERS)
]
AuthorEngines = Annotated[
    str | None,
    typer.Option(
        metavar="ngram,vectors,linear,rnn",
        help="Only the preset's members of these engines.",
        rich_help_panel=MEMBERS,
    ),
]
AuthorColumn = Annotated[
    str, typer.Option(metavar="NAME", help="In a .csv, .tsv or .jsonl file, the column of authors.")
]
TextColumn = Annotated[str, typer.Option(metavar="NAME", help="And that of the texts.")]
TextLanguage = Annotated[
    str | None, typer.Option(help="Language of the texts, instead of what their script says.", callback=named)
]
Language = Annotated[
    str | None, typer.Option(help="Language of all problems, instead of what they say.", callback=named)
]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE.html", help="Write a report too: one HTML file, with the texts in it."),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Trainings side by side; without it, one for each core.", rich_help_panel=RUN),
]
Cluster = Annotated[
    str | None,
    typer.Option(metavar="tcp://HOST:PORT", help="Train on the Dask cluster of that scheduler.", rich_help_panel=RUN),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.", rich_help_panel=RUN)]
SkipBad = Annotated[bool, typer.Option("--skip-bad", help="Answer bad problems 0.5 instead of refusing.")]


def as_interpretation(word: str | None, offered: Sequence[str] = get_args(Interpretation)) -> Interpretation | None:
    """The interpretation of that name; `offered` are those that the command is for."""
    if word is not None and word not in get_args(Interpretation):
        raise SettingsError(f"--interpret must be one of {', '.join(offered)}, got {word}")
    return cast("Interpretation | None", word)


def choose_pool(
    preset: str | None,
    settings_file: Path | None,
    assignments: list[str],
    control_heads: str | None = None,
    engines: str | None = None,
    mask: str | None = None,
    reference: bool = False,
) -> Pool:
    """The pool that the options mean; members without a control corpus stay without."""
    from byline.pools import pool_of, read_pool
    from byline.verification import usual_preset

    if settings_file is not None:
        pool = pool_of(read_settings(settings_file))
    else:
        pool = read_pool(preset if preset is not None else usual_preset(reference))
    if engines is not None:
        names = [name.strip() for name in engines.split(",") if name.strip()]
        if not names:
            here = ", ".join(dict.fromkeys(row.engine for row in pool.rows))
            raise SettingsError(f"--engines names none; name some of {here}, or leave it out")
        pool = pool.only(names)
    pool = pool.change(parse_assignments(assignments))
    if mask is not None:
        pool = pool.change({"mask": mask})
    if control_heads is not None:
        rows = (row if row.control == "none" else row.change({"control": control_heads}) for row in pool.rows)
        pool = dataclasses.replace(pool, rows=tuple(rows))
    return pool
