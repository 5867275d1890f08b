"""A run or a model, and a kind of figure -> the figure in a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from byline.attribution.model import AuthorModel
from byline.attribution.rolling import STEP, WINDOW, roll
from byline.documents import look_at, read_document
from byline.engines import Watch
from byline.errors import CorpusError, RunError, SettingsError, TooLittleText
from byline.figures import graphs, plates
from byline.figures.along import probability_lines
from byline.figures.canvas import Page, is_colour, render, require_format, require_matplotlib
from byline.figures.curves import (
    learning_curves,
    mean_curve,
    probabilities_of,
    ratios_of,
    reliability_bins,
    roc_curve,
    tippett_curves,
    truth_of,
)
from byline.figures.metadata import Looks, read_looks
from byline.figures.placement import classical_scaling, cosine_distances, principal_components
from byline.figures.profiles import run_profiles, text_profiles
from byline.figures.sources import REMEDY, Run, read_source
from byline.figures.styles import PALETTE, show
from byline.figures.tables import arrange, held_out_table, score_table
from byline.figures.trees import REPLICATES, grow_tree
from byline.keepsakes import read_kept_problems
from byline.problems import Problem, read_problems
from byline.resampling import Draws, weigh_problems, weigh_texts
from byline.runs import TEXTS
from byline.storage import write_files
from byline.truth import read_truth

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Draw = Callable[["Figure"], None]

RUN, MODEL = "a run", "a model"
MADE_BY = {RUN: "byline verify -o writes", MODEL: "byline train writes"}


@dataclass(frozen=True)
class Kind:
    """A kind of figure: what it is of, its usual size in centimetres, and which options it looks at."""

    of: tuple[str, ...]
    size: tuple[float, float]
    options: tuple[str, ...] = ()


_NAMED = ("metadata", "language")
KINDS = {
    "rolling": Kind((MODEL,), (16, 8.5), ("text", "window", "step", "metadata")),
    "heatmap": Kind((RUN, MODEL), (16, 15), _NAMED),
    "roc": Kind((RUN,), (9, 10.5), ("truth", "seed")),
    "tippett": Kind((RUN,), (11, 9.5), ("truth",)),
    "calibration": Kind((RUN,), (9, 10.5), ("truth",)),
    "pca": Kind((RUN, MODEL), (16, 13), _NAMED),
    "mds": Kind((RUN, MODEL), (16, 13), _NAMED),
    "dendrogram": Kind((RUN, MODEL), (16, 10), (*_NAMED, "replicates", "seed")),
    "learning": Kind((RUN, MODEL), (12, 8)),
}
LEAF = 0.38
"""Centimetres of height that a leaf of a tree has, unless the height is given."""
TALLEST = 60.0
LOWEST = 0.7
"""Of the usual height, for a narrow figure whose height is not given."""


@dataclass(frozen=True)
class _Asked:
    """What is asked for, beside source and kind; what is None was not said."""

    text: Path | None
    window: int | None
    step: int | None
    truth: Path | None
    metadata: Path | None
    language: str | None
    replicates: int | None
    seed: int | None
    width: float | None
    height: float | None
    title: str
    font_size: float
    dpi: int


def plot(
    source: Path | str,
    kind: str,
    path: Path | str,
    *,
    text: Path | str | None = None,
    window: int | None = None,
    step: int | None = None,
    truth: Path | str | None = None,
    metadata: Path | str | None = None,
    language: str | None = None,
    replicates: int | None = None,
    seed: int | None = None,
    width: float | None = None,
    height: float | None = None,
    title: str = "",
    font_size: float = 9,
    dpi: int = 300,
    overwrite: bool = False,
    watch: Watch = Watch(),  # noqa: B008 - frozen
) -> None:
    """Draw a figure of a run's folder or a model's file, and write it, whole or not at all, as its suffix says.

    `text`, `window` and `step` are for rolling, `truth` for roc, tippett and calibration, `replicates` and `seed` for
    what is resampled; an option that says nothing to the kind is refused. Sizes are in centimetres and points.
    """
    source, path = Path(source), Path(path)
    text, truth, metadata = (None if each is None else Path(each) for each in (text, truth, metadata))
    form = require_format(path.suffix, path)
    asked = _Asked(
        text, window, step, truth, metadata, language, replicates, seed, width, height, title, font_size, dpi
    )
    _require_kind(kind, asked)
    _require_source(kind, source)
    _require_options(kind, asked)
    require_matplotlib()
    _page(kind, asked)  # what is wrong with it is said before any work is done
    try:
        if path.is_dir() or (path.exists() and not overwrite):
            raise RunError(f"{path}: exists already; choose another name, or replace it by --overwrite")
    except OSError as error:
        raise RunError(f"{path}: can't be written to ({error.strerror}); choose another name") from None
    found = read_source(source)
    draw, page = _prepare(found, kind, asked, watch)
    watch.proceed()
    write_files(path.parent, {path.name: render(draw, page, form)})


def _require_kind(kind: str, asked: _Asked) -> None:
    """Refuse kinds that there are not, and options that would change nothing."""
    if kind not in KINDS:
        raise SettingsError(f"there is no figure {kind!r}; there are {', '.join(KINDS)}")
    for name in ("text", "window", "step", "truth", "metadata", "language", "replicates", "seed"):
        if getattr(asked, name) is not None and name not in KINDS[kind].options:
            able = ", ".join(other for other, each in KINDS.items() if name in each.options)
            raise SettingsError(f"--{name} says nothing to {kind}, only to {able}; leave it out")


def _require_source(kind: str, source: Path) -> None:
    """Refuse what the kind is not drawn of."""
    given = RUN if look_at(source, REMEDY) == "folder" else MODEL
    if given not in KINDS[kind].of:
        wanted = KINDS[kind].of[0]
        raise SettingsError(f"{source}: {given}; {kind} is drawn of {wanted}, which {MADE_BY[wanted]}")


def _require_options(kind: str, asked: _Asked) -> None:
    """Refuse options that are missing, or out of range."""
    for name in ("text", "truth"):
        if name in KINDS[kind].options and getattr(asked, name) is None:
            raise SettingsError(f"{kind} needs --{name}; give it")
    if asked.replicates is not None and not 0 <= asked.replicates <= 10_000:
        raise SettingsError(f"replicates must be from 0 to 10,000, got {asked.replicates}")


def _prepare(found: Run | AuthorModel, kind: str, asked: _Asked, watch: Watch) -> tuple[Draw, Page]:
    """What draws the figure, and the page that it is drawn on."""
    page = _page(kind, asked)
    if kind == "rolling":
        assert isinstance(found, AuthorModel)
        return _rolling(found, asked, page, watch), page
    if kind in ("roc", "tippett", "calibration"):
        assert isinstance(found, Run)
        return _judged(found, kind, asked), page
    if kind == "learning":
        return _learning(found), page
    if isinstance(found, AuthorModel) and asked.language is not None:
        raise SettingsError("--language chooses among the problems of a run, this is a model; leave it out")
    if kind == "heatmap":
        return _heatmap(found, asked, page, watch), page
    return _texts(found, kind, asked, watch)


def _page(kind: str, asked: _Asked, usual: tuple[float, float] | None = None) -> Page:
    """The page; where only the width is given, the height keeps its proportion, but does not become too low."""
    width, height = usual or KINDS[kind].size
    if asked.width is not None:
        height = height * max(LOWEST, asked.width / width) if usual is None else height
        width = asked.width
    return Page(width, height if asked.height is None else asked.height, asked.title, asked.font_size, asked.dpi)


def _looks(asked: _Asked, *known: Sequence[str]) -> Looks:
    if asked.metadata is None:
        return {}
    return read_looks(asked.metadata, {name for names in known for name in names}, is_colour)


def _rolling(model: AuthorModel, asked: _Asked, page: Page, watch: Watch) -> Draw:
    looks = _looks(asked, model.authors)
    assert asked.text is not None
    window = WINDOW if asked.window is None else asked.window
    step = STEP if asked.step is None else asked.step
    rolling = roll(model, read_document(asked.text), window, step, watch=watch)
    lines = probability_lines(rolling)
    few = len(model.authors) <= len(PALETTE)  # else two lines might have one colour
    shown = show(lines.authors, looks, lines.authors, order=model.authors if few else ())
    return lambda figure: graphs.draw_rolling(figure, rolling, lines, shown, page)


def _judged(run: Run, kind: str, asked: _Asked) -> Draw:
    assert asked.truth is not None
    answers, where = run.answers, str(run.folder)
    truth = truth_of(answers, read_truth(asked.truth), str(asked.truth))
    if kind == "roc":
        roc = roc_curve(truth, [answer.rounded for answer in answers], _draws(run, asked.truth, asked.seed or 0))
        return lambda figure: graphs.draw_roc(figure, roc)
    if kind == "tippett":
        tippett = tippett_curves(truth, ratios_of(answers, where))
        return lambda figure: graphs.draw_tippett(figure, tippett)
    bins = reliability_bins(truth, probabilities_of(answers, where))
    return lambda figure: graphs.draw_reliability(figure, bins)


def _draws(run: Run, truth: Path, seed: int) -> Draws:
    """Weights that resample the texts of a run, as byline evaluate does; where they are not at hand, its problems."""
    rng = np.random.default_rng(seed)
    problems = _problems(run, truth)
    ids = [answer.id for answer in run.answers]
    if all(name in problems for name in ids):
        return weigh_texts([problems[name] for name in ids], rng)
    return weigh_problems(len(ids), rng)


def _problems(run: Run, truth: Path) -> Mapping[str, Problem]:
    """The problems that the run kept, or those beside the truth, as far as they can be read."""
    if (run.folder / TEXTS).exists():
        return read_kept_problems(run.folder, run.plan)
    try:
        found = read_problems(truth if truth.is_dir() else truth.parent)
    except CorpusError:
        return {}
    return {problem.id: problem for problem in found.problems}


def _learning(found: Run | AuthorModel) -> Draw:
    if isinstance(found, Run):
        curves = learning_curves(found.records(), [group.language for group in found.plan.groups])
    else:
        own = [network.curve for network in found.networks.values() if network.curve]
        curves = (mean_curve(found.language, own),) if own else ()
    if not curves:
        raise RunError("no member learns step by step, there is no learning to show; it is networks (rnn) that do")
    return lambda figure: graphs.draw_learning(figure, curves)


def _heatmap(found: Run | AuthorModel, asked: _Asked, page: Page, watch: Watch) -> Draw:
    if isinstance(found, Run):
        table = score_table(found, asked.language)
        if table.values.size < 2:
            raise TooLittleText(
                f"{found.folder}: one text and one head make no heat map; byline report shows how they compare"
            )
        table = arrange(table)
        looks = _looks(asked, found.plan.groups[found.group_of(asked.language)].ids)
        suffixes = [f" +{count - 1}" if count > 1 else "" for count in table.shared]
        rows = show(table.rows, looks, suffixes=suffixes, longest=24)
        columns = show(table.columns, looks, longest=24)
    else:
        looks = _looks(asked, found.titles, found.authors)
        table = arrange(held_out_table(found, watch))
        owner = dict(zip(found.titles, (found.authors[number] for number in found.owners), strict=True))
        owners, columns_owners = ([owner[title] for title in table.rows], table.columns) if looks else ((), ())
        rows = show(table.rows, looks, owners, longest=24, order=found.authors if looks else ())
        columns = show(table.columns, looks, columns_owners, longest=24, order=found.authors if looks else ())
    return lambda figure: plates.draw_heatmap(figure, table, rows, columns, page)


def _texts(found: Run | AuthorModel, kind: str, asked: _Asked, watch: Watch) -> tuple[Draw, Page]:
    """Texts on a plane, or in a tree."""
    if isinstance(found, Run):
        looks = _looks(asked, found.plan.groups[found.group_of(asked.language)].ids)
        profiles = run_profiles(found, asked.language)
    else:
        looks = _looks(asked, found.titles, found.authors)
        profiles = text_profiles(found)
    shown = show(profiles.names, looks, profiles.authors, order=() if isinstance(found, Run) else found.authors)
    if kind == "dendrogram":
        replicates = REPLICATES if asked.replicates is None else asked.replicates
        tree = grow_tree(profiles.values, replicates, asked.seed or 0, watch.proceed)
        width, height = KINDS[kind].size
        leaf = LEAF * asked.font_size / 9
        page = _page(kind, asked, (width, min(max(height / 2, 3 + leaf * len(shown)), TALLEST)))
        return lambda figure: plates.draw_tree(figure, tree, shown, page), page
    page = _page(kind, asked)
    if kind == "pca":
        placement, axis = principal_components(profiles.values), "component"
    else:
        placement, axis = classical_scaling(cosine_distances(profiles.values)), "dimension"
    return lambda figure: plates.draw_points(figure, placement, shown, axis, page), page
