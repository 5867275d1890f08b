"""Draw curves: ROC, Tippett, reliability, learning, and the authors along a text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from byline.figures.canvas import FigureFormat
from byline.figures.curves import AuthorLines, LearningCurves, ReliabilityBin, Roc, TippettCurves
from byline.figures.styles import GRAY, HATCHES, LINES, PALETTE, StyledName
from byline.judgment.resampling import Interval
from byline.tasks.rolling import Rolling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, VERMILLION = PALETTE[:2]


def draw_roc(figure: Figure, roc: Roc) -> None:
    """Draw hits against false alarms, with AUC and C@1 in the legend."""
    axes = _square(figure, "false positive rate", "true positive rate")
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=0.6, linestyle=LINES[2], zorder=1)
    axes.plot(
        roc.false_alarms, roc.hits, color=BLUE, clip_on=False, label=f"AUC {roc.auc:.3f} {_span(roc.auc_interval)}"
    )
    axes.plot(
        *([value] for value in roc.decided), marker="o", color=VERMILLION, linestyle="none", markersize=5,
        clip_on=False, label=f"answers above 0.5: C@1 {roc.c_at_1:.3f} {_span(roc.c_at_1_interval)}", zorder=3,
    )  # fmt: skip
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", title=_count(roc.problems))


def draw_tippett(figure: Figure, curves: TippettCurves) -> None:
    """Draw the shares of both kinds of problems with at least so much evidence."""
    axes = figure.add_subplot()
    pad = 0.06 * max(curves.bans[-1] - curves.bans[0], 0.5)
    low, high = min(curves.bans[0], 0) - pad, max(curves.bans[-1], 0) + pad
    steps = [low, *curves.bans, high]
    both = (
        (curves.same, BLUE, LINES[0], f"same author (misleading: {curves.misleading_same:.1%})"),
        (curves.different, VERMILLION, LINES[1], f"different authors (misleading: {curves.misleading_different:.1%})"),
    )
    for shares, color, line, label in both:
        axes.plot(steps, [1, *shares, 0], drawstyle="steps-pre", color=color, linestyle=line, label=label)
    axes.axvline(0, color=GRAY, linewidth=0.6, zorder=1)
    axes.set(xlim=(low, high), ylim=(0, 1.01), ylabel="cumulative share of problems")
    axes.set_xlabel("log\N{SUBSCRIPT ONE}\N{SUBSCRIPT ZERO} likelihood ratio (bans)")
    title = f"{_count(curves.problems)}, Cllr {curves.cllr:.3f}"
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", title=title)


def draw_reliability(figure: Figure, bins: Sequence[ReliabilityBin]) -> None:
    """Draw how often answers of each probability are right, with the number of problems at each point."""
    axes = _square(figure, "probability of the same author", "share that was by the same author")
    axes.plot([0, 1], [0, 1], color=GRAY, linewidth=0.6, linestyle=LINES[2], label="perfectly calibrated", zorder=1)
    places = [each.probability for each in bins]
    shares = [each.same for each in bins]
    margins = [
        [max(0.0, each.same - each.interval.low) for each in bins],
        [max(0.0, each.interval.high - each.same) for each in bins],
    ]
    axes.errorbar(
        places, shares, yerr=margins, fmt="o-", color=BLUE, ecolor=BLUE, elinewidth=0.7, capsize=2, markersize=4,
        linewidth=0.8, clip_on=False, label="answers, with 95 % intervals",
    )  # fmt: skip
    for each in bins:
        right = each.probability < 0.93
        axes.annotate(
            f"{each.problems}", (each.probability, each.same), (4 if right else -4, 3), textcoords="offset points",
            fontsize="x-small", color="#404040", ha="left" if right else "right",
        )  # fmt: skip
    title = f"{_count(sum(each.problems for each in bins))}, their number at each point"
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", title=title)


def draw_learning(figure: Figure, curves: Sequence[LearningCurves]) -> None:
    """Draw each network's curve thin, and the mean of each language thick."""
    from matplotlib.ticker import MaxNLocator

    axes = figure.add_subplot()
    for number, each in enumerate(curves):
        color, line = PALETTE[number % len(PALETTE)], LINES[number % len(LINES)]
        for curve in each.members:
            axes.plot(range(1, len(curve) + 1), curve, color=color, alpha=0.5, linewidth=0.6, zorder=1)
        count = f"{len(each.members)} network{'s' if len(each.members) > 1 else ''}"
        label = f"{each.language}: mean of {count}" if len(curves) > 1 else f"mean of {count}"
        axes.plot(range(1, len(each.mean) + 1), each.mean, color=color, linestyle=line, linewidth=2, label=label)
    longest = max(len(curve) for each in curves for curve in each.members)
    axes.set(xlabel="sub-epoch", ylabel="bits a character, in training", xlim=(0.5, longest + 0.5))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.plot([], [], color=GRAY, linewidth=0.6, label="each network")
    axes.legend(loc="upper right")


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


def write_legend(
    figure: Figure, handles: Sequence[Any], labels: Sequence[str], format: FigureFormat, most: int = 24
) -> Any:
    """Write a legend below the figure, in as many columns as fit. Entries beyond `most` are only counted."""
    from matplotlib.lines import Line2D

    rows, names = list(handles[:most]), list(labels[:most])
    if len(handles) > most:
        rows.append(Line2D([], [], linestyle="none"))
        names.append(f"and {len(handles) - most} more")
    longest = max(map(len, names))
    columns = max(1, min(len(names), int(format.points[0] / (format.small * (longest * 0.62 + 5)))))
    legend = figure.legend(rows, ["-"] * len(rows), loc="outside lower center", ncols=columns)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set_text(name)  # given as a label, a name that begins with _ would be left out
    return legend


def _square(figure: Figure, across: str, up: str) -> Axes:
    axes = figure.add_subplot()
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=across, ylabel=up, aspect="equal")
    return axes


def _span(interval: Interval) -> str:
    return f"({interval.low:.3f}\N{EN DASH}{interval.high:.3f})"


def _count(problems: int) -> str:
    return f"{problems:,} problem{'s' if problems != 1 else ''}"
