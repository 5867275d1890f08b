"""Options that several commands share, each described once, groups of them, and checks of the files they name."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args, get_type_hints

import typer

import byline
from byline.corpora.documents import find_texts, has_text_name
from byline.errors import RunError, SettingsError
from byline.settings.settings import (
    MOST_MEMBERS,
    Interpretation,
    Settings,
    as_pool_file,
    parse_assignments,
    pool_of,
    preset_names,
    read_settings,
    usual_preset,
)
from byline.storage.files import resolve_file, write_error
from byline.text.languages import NAMES
from byline.text.normalize import Mask

if TYPE_CHECKING:
    from byline.corpora.author_corpus import AuthorCorpus

MEMBERS, ANSWERS, RUN = "Members", "Answers", "The run"
"""The panels of a help page."""
member_option = functools.partial(typer.Option, rich_help_panel=MEMBERS)
answer_option = functools.partial(typer.Option, rich_help_panel=ANSWERS)
run_option = functools.partial(typer.Option, rich_help_panel=RUN)


def complete_preset(begun: str) -> list[str]:
    """Return the names of presets that begin so."""

    return [name for name in preset_names() if name.startswith(begun)]


def complete_language(begun: str) -> list[str]:
    """Return the languages that begin so."""
    return [name for name in sorted(set(NAMES.values())) if name.startswith(begun)]


def several_of(words: Sequence[str]) -> Callable[[str], list[str]]:
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


language_option = functools.partial(typer.Option, callback=require_nonempty, autocompletion=complete_language)
ENGINES = ("rnn", "ngram", "vectors", "words", "characters", "punctuation", "grammar")
AUTHOR_ENGINES = ("ngram", "vectors", "linear", "rnn")

Members = Annotated[
    int | None,
    member_option(min=1, max=MOST_MEMBERS, help="Number of ensemble members (default: set by the preset)."),
]
Seed = Annotated[int, member_option(min=0, help="The same seed and number of members give the same answers.")]
Assignments = Annotated[
    list[str] | None,
    member_option("--set", metavar="NAME=VALUE", help="Change a setting of all members; repeatable."),
]
Interpret = Annotated[
    Interpretation | None,
    answer_option(
        metavar="|".join(get_args(Interpretation)),
        help="How scores are interpreted (default: set by the preset, or cohort with a reference).",
    ),
]
ReferencePath = Annotated[
    Path | None,
    answer_option(
        "--reference",
        metavar="DIR",
        help="Texts by other people: each problem is answered by itself, compared with these only.",
    ),
]
AuthorColumn = Annotated[
    str, typer.Option(metavar="NAME", help="The column of authors in a .csv, .tsv or .jsonl file.")
]
TextColumn = Annotated[str, typer.Option(metavar="NAME", help="The column of texts in a .csv, .tsv or .jsonl file.")]
TextLanguage = Annotated[str | None, language_option(help="Language of the texts (default: by their script).")]
Language = Annotated[str | None, language_option(help="Language of all problems (default: as the problems say).")]
ReportFile = Annotated[
    Path | None,
    typer.Option("--report", metavar="FILE.html", help="Also write a report: one HTML file that holds the texts."),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that byline train wrote.")]
RunFolder = Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run (byline verify -o).")]
Workers = Annotated[int | None, run_option(min=1, help="Members trained at a time (default: one per core).")]
Quiet = Annotated[bool, run_option("--quiet", "-q", help="Show no progress on stderr.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace existing output.")]
Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]


@dataclasses.dataclass(frozen=True)
class MemberOptions:
    """Options that choose the members of an ensemble for verification."""

    preset: Annotated[
        str | None,
        member_option(
            metavar="NAME|FILE.toml",
            help="The pool of ensemble members, see byline presets (default: best, or cohort with a reference).",
            autocompletion=complete_preset,
        ),
    ] = None
    members: Members = None
    budget: Annotated[
        str | None,
        member_option(
            metavar="TIME", help="Train as many members as fit this time instead, such as 90s, 10m or 1h30m."
        ),
    ] = None
    engines: Annotated[
        str | None,
        member_option(
            metavar=",".join(ENGINES),
            help="Use only the preset's members with these engines.",
            autocompletion=several_of(ENGINES),
        ),
    ] = None
    mask: Annotated[
        Mask | None,
        member_option(
            metavar="topic|none", help="Mask content words in all members, for texts on different topics; or in none."
        ),
    ] = None
    seed: Seed = 0
    set_: Assignments = None
    settings_file: Annotated[
        Path | None,
        member_option("--settings", metavar="FILE.toml", help="Settings of a single member, instead of a preset."),
    ] = None

    def check(self, context: typer.Context) -> None:
        """Refuse options that contradict each other."""
        if self.members is not None and self.budget is not None:
            context.fail("give --members or --budget, not both")
        if self.preset is not None and self.settings_file is not None:
            context.fail("give --preset or --settings, not both")

    def read_pool(self, with_reference: bool, control_heads: str | None = None) -> byline.Pool:
        """Return the pool that the options describe; members without a control corpus stay without."""

        if self.settings_file is not None:
            pool = pool_of(read_settings(self.settings_file))
        else:
            pool = byline.read_pool(self.preset if self.preset is not None else usual_preset(with_reference))
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
        return [*preset_files(self.preset), *([] if self.settings_file is None else [self.settings_file])]

    @property
    def seconds(self) -> float | None:
        """The time budget in seconds."""
        from byline.runs.request import parse_duration

        return None if self.budget is None else parse_duration(self.budget)


@dataclasses.dataclass(frozen=True)
class AuthorOptions:
    """Options that say how a model of authors is trained."""

    preset: Annotated[
        str,
        member_option(
            metavar="NAME|FILE.toml",
            help="The pool of ensemble members, see byline presets.",
            autocompletion=complete_preset,
        ),
    ] = "authors"
    members: Members = None
    engines: Annotated[
        str | None,
        member_option(
            metavar=",".join(AUTHOR_ENGINES),
            help="Use only the preset's members with these engines.",
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
        pool = change_pool(byline.read_pool(self.preset), self.engines, self.set_)
        return pool.take(self.members or pool.members, self.seed)

    def read_authors(self, paths: Sequence[Path]) -> AuthorCorpus:
        """Read the texts of the authors."""
        return byline.read_author_corpus(paths, self.language, self.author_column, self.text_column)


def preset_files(preset: str | None) -> list[Path]:
    """Return the file that a preset is read from, if it is a user's own."""

    path = as_pool_file(preset)
    return [] if path is None else [path]


def change_pool(pool: byline.Pool, engines: str | None, assignments: list[str] | None = None) -> byline.Pool:
    """Restrict a pool to some engines and change settings of its members."""
    if engines is not None:
        names = [name.strip() for name in engines.split(",") if name.strip()]
        if not names:
            here = ", ".join(dict.fromkeys(row.engine for row in pool.rows))
            raise SettingsError("names no engine", where="--engines", remedy=f"Name some of {here}, or leave it out")
        pool = pool.only(names)
    return pool.change(parse_assignments(assignments or []))


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


def require_free(path: Path, overwrite: bool, inputs: Iterable[Path | None] = ()) -> None:
    """Raise if a file cannot be written, exists without leave to overwrite it, or is an input."""
    try:
        if path.is_dir():
            raise RunError("is a folder", where=path, remedy=f"Name a file, such as {path / 'model.byline'}")
        if path.exists() and not overwrite:
            raise RunError("exists already", where=path, remedy="Choose another name, or replace it with {overwrite}")
        there = next(parent for parent in resolve_file(path).parents if parent.exists())
        with tempfile.TemporaryFile(dir=there):
            pass
        require_no_input(path, inputs)
    except OSError as error:
        raise write_error(path, error) from None


def require_no_input(path: Path, inputs: Iterable[Path | None]) -> None:
    """Raise if a file is an input, or would be among the texts of an input folder."""
    real = path.resolve()
    for given in inputs:
        if given is None:
            continue
        if is_same(path, given):
            raise RunError("is one of the inputs", where=path, remedy="Choose another name")
        if given.is_dir():
            new = has_text_name(real.name) and given.resolve() in real.parents
            if new or (path.exists() and any(is_same(path, text) for text in find_texts(given))):
                raise RunError(f"would be among the input texts of {given}", where=path, remedy="Choose another folder")


def is_same(one: Path, other: Path) -> bool:
    """Return whether two paths name the same file."""
    return one.exists() and other.exists() and one.samefile(other)


def require_free_report(path: Path | None, overwrite: bool, inputs: Iterable[Path | None]) -> None:
    """Raise if a report that was asked for cannot be written."""
    from byline.report.page import require_report_path

    if path is not None:
        require_report_path(path, overwrite)
        require_free(path, overwrite, inputs)
