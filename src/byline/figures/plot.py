"""Draw figures of runs and models of authors."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypedDict, Unpack

import numpy as np

from byline.author_models.model import AuthorModel
from byline.author_models.model_file import read_author_model
from byline.corpora.answers import read_truth
from byline.corpora.documents import classify_path, read_document
from byline.corpora.problems import read_problems
from byline.engines.matrix import Table
from byline.engines.protocol import Runtime
from byline.errors import OVERWRITE, CorpusError, RunError, SettingsError, TooLittleText
from byline.figures.canvas import DrawFunction, FigureFormat, file_type, render, require_matplotlib
from byline.figures.curves import (
    draw_learning,
    draw_reliability,
    draw_roc,
    draw_rolling,
    draw_tippett,
    learning_curves,
    probability_lines,
    ratios_of,
    truth_of,
)
from byline.figures.distances import (
    REPLICATES,
    Placement,
    classical_scaling,
    cosine_distances,
    draw_points,
    draw_tree,
    grow_tree,
    principal_components,
)
from byline.figures.score_tables import arrange, draw_heatmap, held_out_table, score_table, text_profiles
from byline.figures.styles import PALETTE, StyledName, Styles, read_styles, style_names
from byline.judgment.metrics import require_both_classes
from byline.judgment.resampling import Draws, interval, measure_draws, weigh_problems, weigh_texts
from byline.runs.folder import TEXTS
from byline.runs.run import Run
from byline.storage.files import write_files
from byline.tasks.rolling import STEP, WINDOW, roll

SOURCES = "Name the folder of a run, or the file of a model of authors"
LEAF_HEIGHT = 0.38
"""Centimeters of a leaf of a tree, if the height is not given."""
MAX_HEIGHT = 60.0
MAX_REPLICATES = 10_000
MIN_TEXTS = 3
"""Texts that can be placed or joined in more than one way."""

Source: TypeAlias = Run | AuthorModel | Path | str
"""A run or a model, or the folder or file that holds it."""


class FigureOptions(TypedDict, total=False):
    """What a figure shows. An option that the kind does not use is refused; None is the default."""

    text: Path | str | None
    """A long text, for rolling."""
    window: int | None
    step: int | None
    """Length of the passages of a rolled text, and between their beginnings, in characters."""
    truth: Path | str | None
    """File or folder of the truth, for roc, tippett and calibration."""
    metadata: Path | str | None
    """A CSV file with the columns name, label, color or group."""
    language: str | None
    """Of a run in several languages."""
    replicates: int | None
    """Resamplings that the support in a dendrogram is counted in."""
    seed: int | None
    """For resampling."""


@dataclass(frozen=True)
class Figure:
    """A figure that is ready to be drawn."""

    draw: DrawFunction
    format: FigureFormat

    def render(self, suffix: str) -> bytes:
        """Return the content of an svg, pdf or png file."""
        return render(self.draw, self.format, suffix)


def plot(
    source: Source,
    kind: str,
    path: Path | str,
    *,
    format: FigureFormat = FigureFormat(),  # noqa: B008 - frozen
    overwrite: bool = False,
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    **options: Unpack[FigureOptions],
) -> None:
    """Draw a figure of a run or a model, and write it as an .svg, .pdf or .png file.

    Parameters
    ----------
    source
        A run or a model, or the folder or file that holds it.
    kind
        One of KINDS: rolling, heatmap, roc, tippett, calibration, pca, mds, dendrogram, learning.
    format
        Size, title and lettering.
    options
        What the figure shows, see FigureOptions: `truth`, `metadata`, `language` ...
    """
    path = Path(path)
    suffix = file_type(path)
    require_matplotlib()
    if os.path.exists(path) and (path.is_dir() or not overwrite):
        raise RunError("exists already", where=path, remedy=OVERWRITE)
    figure = prepare_figure(source, kind, format, runtime, **options)
    runtime.proceed()
    write_files(path.parent, {path.name: figure.render(suffix)})


def prepare_figure(
    source: Source,
    kind: str,
    format: FigureFormat = FigureFormat(),  # noqa: B008 - frozen
    runtime: Runtime = Runtime(),  # noqa: B008 - frozen
    **options: Unpack[FigureOptions],
) -> Figure:
    """Compute what a figure shows, so that it can be rendered in several file formats. For parameters see plot."""
    if unknown := options.keys() - FigureOptions.__annotations__.keys():
        raise TypeError(f"no figure has an option {min(unknown)}")
    if kind not in KINDS:
        raise SettingsError(f"no figure is called {kind!r}", remedy=f"Choose one of {', '.join(KINDS)}")
    opened = _open(source) if isinstance(source, Path | str) else source
    if not isinstance(opened, KINDS[kind].sources):
        (wanted,) = KINDS[kind].sources
        raise SettingsError(
            f"is {NOUNS[type(opened)]}, but {kind} is drawn of {NOUNS[wanted]}",
            where=source if isinstance(source, Path | str) else kind,
            remedy=f"Name {NOUNS[wanted]}",
        )
    _require_options(kind, options)
    return KINDS[kind].prepare(opened, options, format, runtime)


def _open(path: Path | str) -> Run | AuthorModel:
    return Run.open(path) if classify_path(Path(path), SOURCES) == "folder" else read_author_model(Path(path))


def _require_options(kind: str, options: FigureOptions) -> None:
    """Raise SettingsError if an option is missing, not used or out of range."""
    given = {name for name, value in options.items() if value is not None}
    for name in sorted(given - set(KINDS[kind].options)):
        able = ", ".join(other for other, each in KINDS.items() if name in each.options)
        raise SettingsError(f"{name} is used only by {able}", where=kind, remedy=f"Leave out {{{name}}}")
    for name in {"text", "truth"} & set(KINDS[kind].options) - given:
        raise SettingsError(f"{name} is missing", where=kind, remedy=f"Give {{{name}}}")
    if not 0 <= (options.get("replicates") or 0) <= MAX_REPLICATES:
        raise SettingsError("is out of range", where="replicates", remedy=f"Choose one from 0 to {MAX_REPLICATES:,}")


def _styles(source: Run | AuthorModel, options: FigureOptions) -> Styles:
    """Read the styles of a figure that shows problems, or authors and their texts."""
    if isinstance(source, Run):
        known: Sequence[str] = source.plan.groups[source.find_group(options.get("language"))].ids
    else:
        known = (*source.titles, *source.authors)
        if options.get("language") is not None:
            raise SettingsError("only runs have several languages", where="language", remedy="Leave out {language}")
    metadata = options.get("metadata")
    return {} if metadata is None else read_styles(Path(metadata), set(known))


def _rolling(model: AuthorModel, options: FigureOptions, format: FigureFormat, runtime: Runtime) -> Figure:
    metadata, window, step = options.get("metadata"), options.get("window"), options.get("step")
    styles = {} if metadata is None else read_styles(Path(metadata), set(model.authors))
    window, step = WINDOW if window is None else window, STEP if step is None else step
    rolling = roll(model, read_document(Path(options["text"] or "")), window, step, runtime=runtime)
    lines = probability_lines(rolling)
    few = len(model.authors) <= len(PALETTE)  # else two lines might have one color
    names = style_names(lines.authors, styles, lines.authors, order=model.authors if few else ())
    fitted = format.fit((16, 8.5))
    return Figure(partial(draw_rolling, rolling=rolling, lines=lines, styled=names, format=fitted), fitted)


def _truth(run: Run, options: FigureOptions) -> list[bool]:
    path = Path(options["truth"] or "")
    return truth_of(run.answers, read_truth(path), path)


def _roc(run: Run, options: FigureOptions, format: FigureFormat, runtime: Runtime) -> Figure:
    truth, answers = _truth(run, options), [answer.rounded for answer in run.answers]
    require_both_classes(truth, "a ROC curve")
    drawn = measure_draws(truth, answers, _draws(run, options))
    intervals = {name: interval(drawn[name]) for name in ("auc", "c_at_1")}
    return Figure(partial(draw_roc, truth=truth, answers=answers, intervals=intervals), format.fit((9, 10.5)))


def _draws(run: Run, options: FigureOptions) -> Draws:
    """Return weights that resample the texts of a run, as byline evaluate does; its problems, if texts are missing."""
    rng = np.random.default_rng(options.get("seed") or 0)
    problems, truth = {}, Path(options["truth"] or "")
    if (run.folder / TEXTS).exists():
        problems = run.problems
    else:
        with suppress(CorpusError):
            found = read_problems(truth if truth.is_dir() else truth.parent)
            problems = {problem.id: problem for problem in found.problems}
    ids = [answer.id for answer in run.answers]
    if all(name in problems for name in ids):
        return weigh_texts([problems[name] for name in ids], rng)
    return weigh_problems(len(ids), rng)


def _tippett(run: Run, options: FigureOptions, format: FigureFormat, runtime: Runtime) -> Figure:
    truth = _truth(run, options)
    require_both_classes(truth, "a Tippett plot")
    return Figure(partial(draw_tippett, truth=truth, bans=ratios_of(run.answers, run.folder)), format.fit((11, 9.5)))


def _calibration(run: Run, options: FigureOptions, format: FigureFormat, runtime: Runtime) -> Figure:
    truth = _truth(run, options)
    ratios_of(run.answers, run.folder)  # raises if they are not calibrated
    probabilities = [answer.value if answer.probability is None else answer.probability for answer in run.answers]
    return Figure(partial(draw_reliability, truth=truth, probabilities=probabilities), format.fit((9, 10.5)))


def _learning(source: Run | AuthorModel, options: FigureOptions, format: FigureFormat, runtime: Runtime) -> Figure:
    if isinstance(source, Run):
        records = sorted(source.records, key=lambda record: record.group)
        curves = learning_curves((source.plan.groups[each.group].language, each.curves) for each in records)
    else:
        curves = learning_curves((source.language, [network.curve]) for network in source.networks.values())
    if not curves:
        raise RunError("no member is a network (rnn), so there are no learning curves")
    return Figure(partial(draw_learning, languages=curves), format.fit((12, 8)))


def _heatmap(source: Run | AuthorModel, options: FigureOptions, format: FigureFormat, runtime: Runtime) -> Figure:
    styles = _styles(source, options)
    if isinstance(source, Run):
        table = score_table(source, options.get("language"))
        if table.values.size < 2:
            raise TooLittleText(
                "one text and one head make no heat map",
                where=source.folder,
                remedy="The report of the run shows how they compare",
            )
        table = arrange(table)
        suffixes = [f" +{count - 1}" if count > 1 else "" for count in table.shared]
        rows = style_names(table.rows, styles, suffixes=suffixes, longest=24)
        columns = style_names(table.columns, styles, longest=24)
    else:
        table = arrange(held_out_table(source, runtime))
        owner = dict(zip(source.titles, (source.authors[number] for number in source.owners), strict=True))
        owners, columns_owners = ([owner[title] for title in table.rows], table.columns) if styles else ((), ())
        order = source.authors if styles else ()
        rows = style_names(table.rows, styles, owners, longest=24, order=order)
        columns = style_names(table.columns, styles, columns_owners, longest=24, order=order)
    fitted = format.fit((16, 15))
    return Figure(partial(draw_heatmap, table=table, rows=rows, columns=columns, format=fitted), fitted)


def _profiles(source: Run | AuthorModel, options: FigureOptions) -> tuple[Table, list[StyledName]]:
    """Return texts as rows of numbers, and their names."""
    styles = _styles(source, options)
    if isinstance(source, Run):
        table = score_table(source, options.get("language"))
        profiles, names = table.profiles, style_names(table.rows, styles)
    else:
        authors = [source.authors[owner] for owner in source.owners]
        profiles, names = text_profiles(source), style_names(source.titles, styles, authors, order=source.authors)
    if len(names) < MIN_TEXTS:
        where = source.folder if isinstance(source, Run) else "the model"
        raise TooLittleText(f"{len(names)} different texts; this figure needs {MIN_TEXTS}", where=where)
    return profiles, names


def _points(
    place: Callable[[Table], Placement],
    axis: str,
    source: Run | AuthorModel,
    options: FigureOptions,
    format: FigureFormat,
    runtime: Runtime,
) -> Figure:
    profiles, names = _profiles(source, options)
    fitted = format.fit((16, 13))
    return Figure(partial(draw_points, placement=place(profiles), styled=names, axis=axis, format=fitted), fitted)


def _scale(profiles: Table) -> Placement:
    return classical_scaling(cosine_distances(profiles))


def _dendrogram(source: Run | AuthorModel, options: FigureOptions, format: FigureFormat, runtime: Runtime) -> Figure:
    profiles, names = _profiles(source, options)
    replicates = options.get("replicates")
    replicates = REPLICATES if replicates is None else replicates
    tree = grow_tree(profiles, replicates, options.get("seed") or 0, runtime.proceed)
    leaves = 3 + LEAF_HEIGHT * format.font_size / 9 * len(names)
    fitted = format.fit((16, min(max(5, leaves), MAX_HEIGHT)), fixed_height=True)
    return Figure(partial(draw_tree, tree=tree, styled=names, format=fitted), fitted)


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure: how it is made, what it is drawn of, and the options that it uses."""

    prepare: Callable[[Any, FigureOptions, FigureFormat, Runtime], Figure]
    sources: tuple[type, ...]
    options: tuple[str, ...] = ()


NOUNS: dict[type, str] = {Run: "a run", AuthorModel: "a model of authors"}
KINDS = {
    "rolling": FigureKind(_rolling, (AuthorModel,), ("text", "window", "step", "metadata")),
    "heatmap": FigureKind(_heatmap, (Run, AuthorModel), ("metadata", "language")),
    "roc": FigureKind(_roc, (Run,), ("truth", "seed")),
    "tippett": FigureKind(_tippett, (Run,), ("truth",)),
    "calibration": FigureKind(_calibration, (Run,), ("truth",)),
    "pca": FigureKind(
        partial(_points, principal_components, "component"), (Run, AuthorModel), ("metadata", "language")
    ),
    "mds": FigureKind(partial(_points, _scale, "dimension"), (Run, AuthorModel), ("metadata", "language")),
    "dendrogram": FigureKind(_dendrogram, (Run, AuthorModel), ("metadata", "language", "replicates", "seed")),
    "learning": FigureKind(_learning, (Run, AuthorModel)),
}
