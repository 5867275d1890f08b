"""Curves: ROC, Tippett, reliability, learning, and the probability of each author along a text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import roc_curve

from byline.corpora.answers import Answer
from byline.engines.matrix import Table
from byline.errors import AnswersError
from byline.figures.canvas import FigureFormat, write_legend
from byline.figures.styles import GRAY, HATCHES, LINES, PALETTE, StyledName
from byline.judgment.metrics import auc, c_at_1, cllr, reliability, tippett
from byline.judgment.resampling import Interval
from byline.tasks.rolling import Rolling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, VERMILLION = PALETTE[:2]
MOST_LINES = 6
"""Authors with a line of their own; more are hard to tell apart."""
LEAST = 0.1
"""The probability that an author without a stretch must reach to have a line."""


def truth_of(answers: Sequence[Answer], truth: Mapping[str, bool], where: object) -> list[bool]:
    """Return the truth of each answer. Raise AnswersError if one is missing."""
    if unknown := [answer.id for answer in answers if answer.id not in truth]:
        more = f" and {len(unknown) - 1} more" if len(unknown) > 1 else ""
        raise AnswersError(f"lacks {unknown[0]}{more}", where=where, remedy="Name the truth of this run's problems")
    return [truth[answer.id] for answer in answers]


def ratios_of(answers: Sequence[Answer], where: object) -> list[float]:
    """Return the log-likelihood ratios in bans, 0 for skipped problems. Raise AnswersError if not calibrated."""
    if all(answer.llr is None for answer in answers):
        raise AnswersError(
            "its answers are not calibrated and have no likelihood ratios",
            where=where,
            remedy="Answer the problems with a {calibration}, or with a preset that has one",
        )
    return [0.0 if answer.llr is None else answer.llr for answer in answers]


def draw_roc(
    figure: Figure, truth: Sequence[bool], answers: Sequence[float], intervals: Mapping[str, Interval]
) -> None:
    """Draw hits against false alarms, with AUC and C@1 in the legend. `intervals` are theirs: "auc" and "c_at_1"."""
    axes = _square(figure, "false positive rate", "true positive rate")
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=0.6, linestyle=LINES[2], zorder=1)
    false_alarms, hits, _ = roc_curve(truth, answers, drop_intermediate=False)
    label = f"AUC {auc(truth, answers):.3f} {_span(intervals['auc'])}"
    axes.plot(false_alarms, hits, color=BLUE, clip_on=False, label=label)
    yes, above = np.asarray(truth), np.asarray(answers) > 0.5
    label = f"answers above 0.5: C@1 {c_at_1(truth, answers):.3f} {_span(intervals['c_at_1'])}"
    axes.plot(
        above[~yes].mean(), above[yes].mean(), marker="o", color=VERMILLION, linestyle="none", markersize=5,
        clip_on=False, label=label, zorder=3,
    )  # fmt: skip
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", title=_count(len(answers)))


def draw_tippett(figure: Figure, truth: Sequence[bool], bans: Sequence[float]) -> None:
    """Draw the shares of both kinds of problems with at least so much evidence, which is not rounded as answers are."""
    axes = figure.add_subplot()
    curves, yes, values = tippett(truth, bans), np.asarray(truth), np.asarray(bans)
    pad = 0.06 * max(curves.bans[-1] - curves.bans[0], 0.5)
    low, high = min(curves.bans[0], 0) - pad, max(curves.bans[-1], 0) + pad
    steps = [low, *curves.bans, high]
    misleading = (values[yes] < 0).mean(), (values[~yes] > 0).mean()
    both = (
        (curves.same, BLUE, LINES[0], f"same author (misleading: {misleading[0]:.1%})"),
        (curves.different, VERMILLION, LINES[1], f"different authors (misleading: {misleading[1]:.1%})"),
    )
    for shares, color, line, label in both:
        axes.plot(steps, [1, *shares, 0], drawstyle="steps-pre", color=color, linestyle=line, label=label)
    axes.axvline(0, color=GRAY, linewidth=0.6, zorder=1)
    axes.set(xlim=(low, high), ylim=(0, 1.01), ylabel="cumulative share of problems")
    axes.set_xlabel("log\N{SUBSCRIPT ONE}\N{SUBSCRIPT ZERO} likelihood ratio (bans)")
    title = f"{_count(len(values))}, Cllr {cllr(truth, values * np.log(10)):.3f}"
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", title=title)


def draw_reliability(figure: Figure, truth: Sequence[bool], probabilities: Sequence[float]) -> None:
    """Draw how often answers of each probability are right, with the number of problems at each point."""
    axes = _square(figure, "probability of the same author", "share that was by the same author")
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=0.6, linestyle=LINES[2], label="perfectly calibrated", zorder=1)
    bins = reliability(truth, probabilities)
    places, shares = [each.answer for each in bins], np.array([each.same for each in bins])
    low, high = np.array([each.interval for each in bins]).T
    axes.errorbar(
        places, shares, yerr=np.maximum([shares - low, high - shares], 0), fmt="o-", color=BLUE, ecolor=BLUE,
        elinewidth=0.7, capsize=2, markersize=4, linewidth=0.8, clip_on=False, label="answers, with 95 % intervals",
    )  # fmt: skip
    for each in bins:
        right = each.answer < 0.93
        axes.annotate(
            f"{each.problems}", (each.answer, each.same), (4 if right else -4, 3), textcoords="offset points",
            fontsize="x-small", color="#404040", ha="left" if right else "right",
        )  # fmt: skip
    title = f"{_count(len(truth))}, their number at each point"
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", title=title)


def learning_curves(networks: Iterable[tuple[str, Sequence[Sequence[float]]]]) -> dict[str, list[Table]]:
    """Group the curves of networks by language: for each network the mean of its ways of asking."""
    found: dict[str, list[Table]] = {}
    for language, curves in networks:
        if curves and all(curves):
            found.setdefault(language, []).append(mean_curve(curves))
    return found


def mean_curve(curves: Sequence[Sequence[float] | Table]) -> Table:
    """Return the mean of curves, as far as all of them reach."""
    shortest = min(map(len, curves))
    mean: Table = np.mean([np.asarray(curve[:shortest]) for curve in curves], axis=0)
    return mean


def draw_learning(figure: Figure, languages: Mapping[str, Sequence[Table]]) -> None:
    """Draw each network's bits a character by sub-epoch thin, and the mean of each language thick."""
    from matplotlib.ticker import MaxNLocator

    axes = figure.add_subplot()
    for number, (language, curves) in enumerate(languages.items()):
        color, line = PALETTE[number % len(PALETTE)], LINES[number % len(LINES)]
        for curve in curves:
            axes.plot(range(1, len(curve) + 1), curve, color=color, alpha=0.5, linewidth=0.6, zorder=1)
        label = f"mean of {len(curves)} network{'s' if len(curves) > 1 else ''}"
        mean, label = mean_curve(curves), f"{language}: {label}" if len(languages) > 1 else label
        axes.plot(range(1, len(mean) + 1), mean, color=color, linestyle=line, linewidth=2, label=label)
    longest = max(len(curve) for curves in languages.values() for curve in curves)
    axes.set(xlabel="sub-epoch", ylabel="bits a character, in training", xlim=(0.5, longest + 0.5))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.plot([], [], color=GRAY, linewidth=0.6, label="each network")
    axes.legend(loc="upper right")


@dataclass(frozen=True)
class AuthorLines:
    """The probability of each author along a text."""

    middles: Table  # (windows,): the middle of each, in characters
    authors: tuple[str, ...]
    """Those with a line of their own: the authors of stretches first, then the most probable ones."""
    chances: Table  # (authors, windows)
    others: Table  # (windows,): of all other authors together
    further: int
    """How many these are."""


def probability_lines(rolling: Rolling, most: int = MOST_LINES) -> AuthorLines:
    """Return the lines of a rolled text."""
    names = sorted(each.author for each in rolling.passages[0].attribution.ranking)
    found = [{each.author: each.probability for each in passage.attribution.ranking} for passage in rolling.passages]
    chances = np.array([[passage[name] for passage in found] for name in names])  # (all authors, windows)
    spans: dict[str, int] = {}
    for stretch in rolling.stretches:
        spans[stretch.author] = spans.get(stretch.author, 0) + stretch.end - stretch.begin
    means = chances.mean(axis=1)
    order = sorted(range(len(names)), key=lambda number: (-spans.get(names[number], 0), -means[number], names[number]))
    able = [number for number in order if names[number] in spans or chances[number].max() >= LEAST]
    own = able[:most]
    rest = [number for number in order if number not in own]
    middles = np.array([(passage.begin + passage.end) / 2 for passage in rolling.passages])
    others = chances[rest].sum(axis=0) if rest else np.zeros(len(middles))
    return AuthorLines(middles, tuple(names[number] for number in own), chances[own], others, len(rest))


def draw_rolling(
    figure: Figure, rolling: Rolling, lines: AuthorLines, styled: Sequence[StyledName], format: FigureFormat
) -> None:
    """Draw probabilities along the text, and below the stretches and where they change."""
    from matplotlib.lines import Line2D
    from matplotlib.ticker import FuncFormatter

    writing = 1.9 * format.small / (0.6 * format.points[1])  # the strip has room for a line of small writing
    upper, strip = figure.subplots(2, 1, sharex=True, height_ratios=[1, max(0.1, writing)])
    dots = "o" if len(lines.middles) < 30 else None
    handles: list[Any] = []
    for number, (each, chances) in enumerate(zip(styled, lines.chances, strict=True)):
        line: Any = LINES[number % len(LINES)]
        upper.plot(lines.middles, chances, color=each.color, linestyle=line, marker=dots, markersize=2.5)
        handles.append(Line2D([], [], color=each.color, linestyle=line))
    labels = [each.label for each in styled]
    if lines.further:
        upper.plot(lines.middles, lines.others, color=GRAY, linewidth=0.7)
        handles.append(Line2D([], [], color=GRAY, linewidth=0.7))
        labels.append(f"{lines.further} others together" if lines.further > 1 else "another")
    places = {author: number for number, author in enumerate(lines.authors)}
    end = rolling.stretches[-1].end
    for stretch in rolling.stretches:
        place = places.get(stretch.author)
        color = GRAY if place is None else styled[place].color
        hatch = HATCHES[(place or 0) % len(HATCHES)]
        strip.barh(
            0, stretch.end - stretch.begin, left=stretch.begin, height=1, color=color, alpha=0.55, hatch=hatch,
            edgecolor="white", linewidth=0,
        )  # fmt: skip
        name = stretch.author if place is None else styled[place].label
        if len(name) * format.small * 0.7 < (stretch.end - stretch.begin) / end * format.points[0] * 0.85:
            middle = (stretch.begin + stretch.end) / 2
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2, "alpha": 0.85}
            strip.text(middle, 0, name, ha="center", va="center", fontsize=format.small, clip_on=True, bbox=box)
    for change in rolling.changes:
        for axes in (upper, strip):
            axes.axvline(change, color="black", linewidth=0.8, linestyle=LINES[1])
    if rolling.changes:
        handles.append(Line2D([], [], color="black", linewidth=0.8, linestyle=LINES[1]))
        labels.append("change of hand")
    upper.set(ylim=(0, 1.02), ylabel="probability", xlim=(0, end))
    strip.set(yticks=[], xlabel="character of the text", ylim=(-0.5, 0.5))
    strip.set_ylabel("stretches", rotation=0, ha="right", va="center", fontsize=format.small)
    strip.spines[["left", "bottom"]].set_visible(False)
    strip.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    write_legend(figure, handles, labels, format)


def _square(figure: Figure, across: str, up: str) -> Axes:
    axes = figure.add_subplot()
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=across, ylabel=up, aspect="equal")
    return axes


def _span(interval: Interval) -> str:
    return f"({interval.low:.3f}\N{EN DASH}{interval.high:.3f})"


def _count(problems: int) -> str:
    return f"{problems:,} problem{'s' if problems != 1 else ''}"
