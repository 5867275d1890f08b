"""Texts as rows of numbers: their relative scores under every head, which a heat map shows, or their n-grams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from byline.author_models.model import MOST_HELD_OUT, AuthorModel, score_texts
from byline.engines.matrix import Side, Table
from byline.engines.ngram.kernels import index_texts
from byline.engines.profiles.engine import count_grams, profile_texts
from byline.engines.protocol import Runtime
from byline.engines.questions import Question
from byline.errors import RunError, SettingsError
from byline.figures.canvas import FigureFormat, group_handles, is_varied, write_legend, write_names
from byline.figures.distances import order_rows
from byline.figures.styles import PALETTE, StyledName
from byline.judgment.candidates import CandidateCalibration, fuse_scores
from byline.judgment.fusion import mix_norms
from byline.judgment.score_normalization import relative_tables
from byline.runs.member_files import Record
from byline.runs.run import Run
from byline.settings.settings import Settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

MAX_ROWS = 2_000
"""Texts that a figure shows."""
JUDGED, LEARNED = "judged text of problem", "head of problem"
GRAMS = 3_000
"""N-grams that count in a figure: those that the most texts have."""
UNKNOWN, KNOWN = "unknown text of problem", "known texts of problem"
HEAT = "cividis_r"
"""Goes from pale to dark also for the color-blind and in gray."""
MISSING = "#dddddd"
FRAME = PALETTE[1]
OUTLIERS = 4
"""Interquartile ranges beyond the quartiles that the colors reach."""


@dataclass(frozen=True)
class ScoreTable:
    """How much more alike than expected each text and each head are, in standard deviations."""

    values: Table  # (rows, columns): NaN where a head learned the text, or was not asked about it
    rows: tuple[str, ...]
    """The texts: by problem, or by title."""
    columns: tuple[str, ...]
    """The heads: by problem, or by author."""
    row_title: str
    column_title: str
    asked: tuple[tuple[int, int], ...]
    """The pairs in question; of a model, each text and its own author."""
    shared: tuple[int, ...]
    """The number of problems that have each row's text."""
    places: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Row and column of every problem, which problems may share; empty for a model."""

    @property
    def profiles(self) -> Table:
        """(rows, columns): the values, with 0, which is as expected, for missing ones and for asked pairs.

        Otherwise a text by the author in question would differ from all others by that alone.
        """
        values = np.nan_to_num(self.values)
        values[tuple(np.array(self.asked, np.int64).reshape(-1, 2).T)] = 0
        return values


def score_table(run: Run, language: str | None = None) -> ScoreTable:
    """Return the table of a run: each problem's judged text under each problem's head, identical texts once.

    Members of one engine are averaged, then the engines, as for answers; so are the two ways of asking.
    """
    group = run.find_group(language)
    if run.plan.judgment.interpretation == "cohort" and _is_divided(run, group):
        raise RunError(
            "its problems were answered one by one and never compared with each other",
            where=run.folder,
            remedy="Answer the problems with relative as {interpret}",
        )
    ids = run.plan.groups[group].ids
    if len(ids) > MAX_ROWS:
        raise SettingsError(f"{len(ids):,} problems are more than a figure can show ({MAX_ROWS:,})", where=run.folder)
    by_engine: dict[str, list[Table]] = {}
    texts: list[list[tuple[int, int]]] = []  # by member, of each problem: the numbers of what its row and column are
    plain = run.plan.layout == "folders"
    for record in run.group_records(group):
        table = _problem_table(record, len(ids), run.verdicts[group].weights)
        by_engine.setdefault(record.member.settings.engine_name, []).append(table)
        texts.append(_texts_of(record))
        plain = plain and _is_plain(record)
    whole = mean_there([mean_there(tables) for tables in by_engine.values()])
    rows, columns = (
        _number_texts([[both[side] for both in each] for each in zip(*texts, strict=True)]) for side in (0, 1)
    )
    problem_rows, problem_columns = (np.unique(numbers, return_index=True)[1] for numbers in (rows, columns))
    places = dict(zip(ids, zip(rows, columns, strict=True), strict=True))
    return ScoreTable(
        whole[np.ix_(problem_rows, problem_columns)],
        tuple(ids[problem] for problem in problem_rows),
        tuple(ids[problem] for problem in problem_columns),
        UNKNOWN if plain else JUDGED,
        KNOWN if plain else LEARNED,
        tuple(sorted(set(places.values()))),
        tuple(np.bincount(rows).tolist()),
        places,
    )


def _is_divided(run: Run, group: int) -> bool:
    """Return whether problems beside a reference were compared with different cuts of it, and never with each other."""
    asked = {frozenset(each.problem for each in side.questions) for side in run.group_records(group)[0].sides}
    return len(asked) > 1


def relative_table(side: Side, weights: Sequence[float] = (1.0,), documents: Sequence[int] | None = None) -> Table:
    """(documents, heads): every pair made relative as asked pairs are; NaN if it can't be compared.

    Asked pairs count in no mean, and have the score that answers are made from.

    Parameters
    ----------
    weights
        Those of the norms.
    documents
        The documents that are needed; others may be NaN. All by default.
    """
    matrix = side.matrix
    chosen = None if documents is None else np.array(documents, np.int64)
    found = np.where(matrix.excluded, np.nan, mix_norms(relative_tables(side, chosen), weights))
    table = np.full((len(found), int(matrix.heads.max()) + 1), np.nan)
    table[np.arange(len(found))[:, None], matrix.heads] = found
    return table


def mean_there(tables: Sequence[Table]) -> Table:
    """Return the mean of tables, ignoring NaN; NaN if all are."""
    stack = np.array(tables)
    there = ~np.isnan(stack)
    counts = there.sum(axis=0)
    means: Table = np.where(counts > 0, np.where(there, stack, 0).sum(axis=0) / np.maximum(counts, 1), np.nan)
    return means


def _problem_table(record: Record, problems: int, weights: Sequence[float]) -> Table:
    """(problems, problems): of each one's judged text under each one's head, averaged over the ways of asking."""
    tables = []
    for side, questions, turned in _ways(record):
        found = relative_table(side, weights, [question.document for question in questions])
        table = np.full((problems, problems), np.nan)
        owners = [question.problem for question in questions]
        chosen = found[np.ix_([question.document for question in questions], [question.head for question in questions])]
        table[np.ix_(owners, owners)] = chosen
        tables.append(table.T if turned else table)
    return mean_there(tables)


def _ways(record: Record) -> list[tuple[Side, list[Question], bool]]:
    """Return each way of asking: the side, a question per problem, and whether unknown texts were learned."""
    ways: list[tuple[Side, list[Question], bool]] = []
    times: Counter[int] = Counter()
    begins = record.member.settings.train_on == "unknown"
    for side in record.sides:
        turns: dict[int, list[Question]] = {}
        for question in side.questions:
            turns.setdefault(times[question.problem], []).append(question)
            times[question.problem] += 1
        ways += [(side, questions, (turn % 2 == 1) != begins) for turn, questions in turns.items()]
    return ways


def _texts_of(record: Record) -> list[tuple[int, int]]:
    """Return for each problem the numbers of the texts of its row and column, as the member numbers them."""
    _, questions, turned = _ways(record)[0]
    ordered = sorted(questions, key=lambda each: each.problem)
    return [(each.head, each.document) if turned else (each.document, each.head) for each in ordered]


def _number_texts(texts: Sequence[Sequence[int]]) -> list[int]:
    """Number the texts of problems. Two are the same only if they are for every member; members ignore other parts."""
    found: dict[tuple[int, ...], int] = {}
    return [found.setdefault(tuple(each), len(found)) for each in texts]


def _is_plain(record: Record) -> bool:
    """Return whether rows are certainly the unknown texts; short texts may have been swapped."""
    settings = record.member.settings
    return len(record.sides) > 1 or settings.train_on == "unknown" or (
        settings.train_on == "known" and not settings.swap_short
    )  # fmt: skip


def held_out_table(model: AuthorModel, runtime: Runtime = Runtime()) -> ScoreTable:  # noqa: B008 - frozen
    """Return the table of a model: each text under each author, held out, which networks can't do."""
    able = [number for number, member in enumerate(model.members) if member.engine != "rnn"]
    if not able:
        raise SettingsError(
            "the model has networks only, which can't judge the texts they learned",
            remedy="Train a model with other {engines}",
        )
    judge = CandidateCalibration(
        tuple(model.calibration.weights[number] for number in able), model.calibration.middle, model.calibration.slope
    )
    counting = replace(model, members=tuple(model.members[number] for number in able), calibration=judge, networks={})
    chosen = _some_texts(model, MOST_HELD_OUT)
    tables = score_texts(counting, (), chosen, runtime)
    values = np.where(tables.seen.any(axis=0), np.nan, fuse_scores(tables, judge.weights))
    return ScoreTable(
        values,
        tuple(model.titles[text] for text in chosen),
        model.authors,
        "text",
        "author",
        tuple((row, model.owners[text]) for row, text in enumerate(chosen)),
        (1,) * len(chosen),
    )


def _some_texts(model: AuthorModel, most: int) -> list[int]:
    """Return all texts, or evenly some of each author."""
    turn = {text: place for author in range(len(model.authors)) for place, text in enumerate(model.texts_of(author))}
    return sorted(sorted(turn, key=lambda text: (turn[text], text))[:most])


def arrange(table: ScoreTable) -> ScoreTable:
    """Order a table so that similar rows are adjacent, and asked pairs near the diagonal."""
    if table.column_title == "author":
        order = order_rows(np.nan_to_num(table.values).T)
        place = {author: number for number, author in enumerate(order)}
        owner = dict(table.asked)
        return _reorder(table, sorted(range(len(table.rows)), key=lambda row: (place[owner[row]], row)), order)
    rows = order_rows(table.profiles)
    where = {row: number for number, row in enumerate(rows)}
    mean = {column: np.mean([where[row] for row, asked in table.asked if asked == column])
            for column in range(len(table.columns))}  # fmt: skip
    return _reorder(table, rows, sorted(mean, key=lambda column: (mean[column], column)))


def _reorder(table: ScoreTable, rows: Sequence[int], columns: Sequence[int]) -> ScoreTable:
    row_of = {row: place for place, row in enumerate(rows)}
    column_of = {column: place for place, column in enumerate(columns)}
    return replace(
        table,
        values=table.values[np.ix_(rows, columns)],
        rows=tuple(table.rows[row] for row in rows),
        columns=tuple(table.columns[column] for column in columns),
        asked=tuple(sorted((row_of[row], column_of[column]) for row, column in table.asked)),
        shared=tuple(table.shared[row] for row in rows),
        places={name: (row_of[row], column_of[column]) for name, (row, column) in table.places.items()},
    )


def text_profiles(model: AuthorModel) -> Table:
    """(texts, n-grams): the most common n-grams of a model's texts, weighted as the vectors engine does."""
    if len(model.owners) > MAX_ROWS:
        raise SettingsError(f"the model's {len(model.owners):,} texts are more than a figure can show ({MAX_ROWS:,})")
    member = next((each for each in model.members if each.engine == "vectors" and each.mask == "none"), Settings())
    plainest = next((number for number, encoder in enumerate(model.encoders) if encoder.mask == "none"), 0)
    index = index_texts(model.texts[plainest], member.order)
    counts = count_grams(index)
    spread, often = (counts > 0).sum(axis=0), counts.sum(axis=0)
    common = np.sort(np.lexsort((-often, -spread))[:GRAMS])
    table: Table = profile_texts(index)[:, common].toarray()
    return table


def draw_heatmap(
    figure: Figure, table: ScoreTable, rows: Sequence[StyledName], columns: Sequence[StyledName], format: FigureFormat
) -> None:
    """Draw texts by heads, the darker the more alike, with frames around asked pairs."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Patch, Rectangle

    axes = figure.add_subplot()
    there = table.values[~np.isnan(table.values)]
    low, high = _span(there)
    axes.set_facecolor(MISSING)
    picture = axes.imshow(
        np.ma.masked_invalid(table.values), cmap=HEAT, vmin=low, vmax=high, aspect="auto", interpolation="nearest"
    )
    cell = min(format.points[0] / len(columns), format.points[1] / len(rows)) * 0.75
    width = float(np.clip(cell * 0.12, 0.12, 1.3))
    frames = [Rectangle((column - 0.5, row - 0.5), 1, 1) for row, column in table.asked]
    axes.add_collection(PatchCollection(frames, facecolor="none", edgecolor=FRAME, linewidth=width, clip_on=False))
    axes.set(ylabel=table.row_title, xlabel=table.column_title)
    axes.spines[["top", "right"]].set_visible(True)
    write_names(axes.yaxis, rows, format.room(0.72))
    write_names(axes.xaxis, columns, format.room(0.68, upright=False), rotation=90)
    for axis, styled, room in ((axes.yaxis, rows, format.points[1]), (axes.xaxis, columns, format.points[0])):
        if is_varied(styled):
            _mark_names(axes, axis, styled, float(np.clip(0.7 * room / len(styled) * 0.8, 0.8, format.small * 0.6)))
    below, above = bool((there < low).any()), bool((there > high).any())
    ends = {(True, True): "both", (True, False): "min", (False, True): "max"}.get((below, above), "neither")
    bar: Any = figure.colorbar(picture, ax=axes, extend=ends, fraction=0.05, pad=0.02, aspect=35)
    beyond = [*([f"\u2264 {low:.1f}"] if below else []), *([f"\u2265 {high:.1f}"] if above else [])]
    bar.set_label("relative score (higher: more alike)" + (f"; {', '.join(beyond)} alike in color" if beyond else ""))
    bar.outline.set_linewidth(0.4)
    handles: list[Any] = [Patch(facecolor="none", edgecolor=FRAME)]
    labels = ["own author" if table.column_title == "author" else "asked pair"]
    if np.isnan(table.values).any():
        handles.append(Patch(facecolor=MISSING))
        labels.append("not compared")
    groups, names = group_handles([*rows, *columns])
    write_legend(figure, [*handles, *groups], [*labels, *names], format)


def _span(values: Table) -> tuple[float, float]:
    """Return the lowest and the highest value that the colors tell apart."""
    if not len(values):
        return 0.0, 1.0
    first, third = np.quantile(values, [0.25, 0.75]).tolist()
    reach = OUTLIERS * (third - first)
    low, high = max(float(values.min()), first - reach), min(float(values.max()), third + reach)
    return (low, high) if low < high else (low - 1, high + 1)


def _mark_names(axes: Axes, axis: Axis, styled: Sequence[StyledName], size: float) -> None:
    """Draw a mark in each one's color between an axis and its names."""
    upright = axis is axes.yaxis
    transform = axes.get_yaxis_transform() if upright else axes.get_xaxis_transform()
    beside = -0.012
    for place, each in enumerate(styled):
        across, up = (beside, place) if upright else (place, beside)
        axes.plot(
            across, up, marker=each.marker, color=each.color, markersize=size, markeredgewidth=0, clip_on=False,
            transform=transform, scalex=False, scaley=False,
        )  # fmt: skip
    axis.set_tick_params(length=0, pad=size + 5)
