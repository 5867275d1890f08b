"""What limits.py has stored, as tables and as curves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from byline.figures.canvas import FigureFormat, render
from byline.figures.styles import GRAY, LINES, MARKERS, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Row = Mapping[str, Any]

PRESETS = {"best": "best", "quick": "best, without networks", "cohort": "cohort"}
WAYS = {
    "as it is": "none",
    "copy-edited": "copy-edited",
    "words": "{:.0%} of the words exchanged",
    "borrowed": "{:.0%} borrowed from the known texts",
}
CUT = {"unknown": "unknown characters", "known": "known characters"}
SPREAD = {"first": "4,000 characters, of the first texts", "all": "4,000 characters, of all texts", "whole": "whole"}
PRIORS = ((1, 2), (1, 10), (1, 100), (1, 1_000))
"""So many of so many that are asked about are by the author."""


def tables(figures: Mapping[str, Any], parts: Sequence[str]) -> list[str]:
    """Each as the documentation has it."""
    makers: dict[str, Callable[[Any], list[str]]] = {
        "length": length_tables,
        "spread": lambda rows: [spread_table(rows)],
        "masks": lambda rows: [masks_table(rows)],
        "networks": lambda rows: [networks_table(rows)],
        "reference": lambda rows: [reference_table(rows)],
        "kinds": lambda rows: [kinds_table(rows)],
        "editing": lambda rows: [editing_table(rows)],
        "errors": lambda rows: [errors_table(rows), priors_table(rows)],
        "support": lambda rows: [support_table(rows)],
    }
    wanted = [part for part in makers if part in parts or (part in ("spread", "masks") and "length" in parts)]
    return [table for part in wanted if figures.get(part) for table in makers[part](figures[part])]


def lay_out(heads: str, rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown, its figures to the right."""
    lines = [f"| {heads} |", "|---" + "|---:" * heads.count(" | ") + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def span(row: Row, key: str) -> str:
    """A figure with its interval."""
    low, high = row[f"{key}_interval"]
    return f"{row[key]:.3f} ({low:.2f} to {high:.2f})"


def digits(row: Row | None, *keys: str) -> list[str]:
    """Figures, or as many empty places."""
    return [f"{row[key]:.3f}" if row else "" for key in keys]


def shares(*values: float) -> list[str]:
    """Rates in per cent."""
    return [f"{value:.0%}" for value in values]


def length_tables(curves: Mapping[str, Any]) -> list[str]:
    """Each curve, and the corpora that take part."""
    found = []
    for name, curve in curves.items():
        heads = (
            f"{CUT[name]} | corpora | problems | AUC | C@1 | product | Cllr | whole: AUC | whole: Cllr"
            " | false, LLR > 0 | false, 0.7"
        )
        rows = [
            [
                f"{point['length']:,}",
                str(point["corpora"]),
                str(point["problems"]),
                span(point, "auc"),
                *digits(point, "c_at_1", "product"),
                span(point, "cllr"),
                *digits(point["whole"], "auc", "cllr"),
                *shares(point["false"][0]),
                f"{point['false'][2]:.1%}",
            ]
            for point in curve["points"]
        ]
        panel, corpora = panel_table(CUT[name], curve["panel"]), corpora_table(CUT[name], curve["corpora"])
        found += [lay_out(heads, rows), panel, corpora]
    return found


def panel_table(cut: str, points: Sequence[Row]) -> str:
    """The same problems at every length, and whole."""
    heads = f"the same problems, {cut} | corpora | problems | AUC | C@1 | product | Cllr | false, LLR > 0 | false, 0.7"
    whole = {"length": "whole", **points[-1]["whole"]} if points else {}
    lines = []
    for row in (*points, whole) if points else ():
        length = row["length"] if isinstance(row["length"], str) else f"{row['length']:,}"
        counts = [str(row["corpora"]), str(row["problems"])]
        figures = [span(row, "auc"), *digits(row, "c_at_1", "product"), span(row, "cllr")]
        lines.append([length, *counts, *figures, f"{row['false'][0]:.0%}", f"{row['false'][2]:.1%}"])
    return lay_out(heads, lines)


def spread_table(rows: Sequence[Row]) -> str:
    """Few texts and many, with as many characters."""
    lines = [
        [SPREAD[row["known"]], str(row["corpora"]), str(row["problems"]), span(row, "auc"), span(row, "cllr")]
        for row in rows
    ]
    return lay_out("known texts | corpora | problems | AUC | Cllr", lines)


def corpora_table(cut: str, rows: Sequence[Row]) -> str:
    """AUC of each corpus at each length, and of how many problems."""
    lengths = sorted({row["length"] for row in rows})
    cells = {(row["corpus"], row["length"]): f"{row['auc']:.2f} ({row['problems']})" for row in rows}
    heads = " | ".join([f"AUC (problems), {cut}", *(f"{length:,}" for length in lengths)])
    names = sorted({row["corpus"] for row in rows})
    return lay_out(heads, [[name, *(cells.get((name, length), "") for length in lengths)] for name in names])


def masks_table(rows: Sequence[Row]) -> str:
    """By corpus, with the topic masked in half of the members, in all and in none."""
    heads = "corpus | all: AUC | all: Cllr | masked: AUC | masked: Cllr | unmasked: AUC | unmasked: Cllr"
    ways, keys = ("all", "masked", "plain"), ("auc", "cllr")
    lines = [
        [row["corpus"], *(f"{row[way][key]:.3f}" for way in ways for key in keys)]
        for row in sorted(rows, key=lambda row: str(row["corpus"]))
    ]
    means = [sum(row[way][key] for row in rows) / len(rows) for way in ways for key in keys]
    return lay_out(heads, [*lines, ["plain mean", *(f"{mean:.3f}" for mean in means)]])


def networks_table(rows: Sequence[Row]) -> str:
    """The quick members and all, at the same points."""
    lines = []
    for row in rows:
        one, other = row["quick"], row["networks"]
        length = f"{row['length']:,}" if row["length"] else "whole"
        figures = [f"{each[key]:.3f}" for key in ("auc", "cllr") for each in (one, other)]
        lines.append([length, str(one["corpora"]), str(one["problems"]), *figures])
    heads = "unknown characters | corpora | problems | quick: AUC | all: AUC | quick: Cllr | all: Cllr"
    return lay_out(heads, lines)


def reference_table(rows: Sequence[Row]) -> str:
    """By number of people."""
    panels = panels_of(rows)
    lines = []
    for row in rows:
        every = row["all"]
        between = "{:.3f} to {:.3f}".format(*every["cllr_span"])
        own = [span(every, "auc"), *digits(every, "c_at_1"), span(every, "cllr"), between]
        same = [cell for panel in panels for cell in digits(row.get(panel), "auc", "cllr")]
        lines.append([str(row["people"]), str(every["corpora"]), *own, *same])
    more = [
        f"{count} that have {panel.split()[1]}: {key}" for panel, count in panels.items() for key in ("AUC", "Cllr")
    ]
    return lay_out(" | ".join(["people | corpora | AUC | C@1 | Cllr | Cllr of the draws", *more]), lines)


def panels_of(rows: Sequence[Row]) -> dict[str, int]:
    """The sets of corpora that are the same at several numbers of people, and how many they are."""
    return {key: value["corpora"] for row in rows for key, value in row.items() if key.startswith("wide")}


def kinds_table(rows: Sequence[Row]) -> str:
    """By questions and reference: errors and warnings."""
    lines = []
    for row in rows:
        beside = "its other problems" if row["beside"] == row["corpus"] else row["beside"]
        false = [rate for key, rate in row.items() if key.startswith("false")]
        figures = [f"{row['auc']:.2f}", f"{row['cllr']:.2f}", *shares(*false, row["missed"], row["warned"])]
        lines.append([row["corpus"], beside, str(row["people"]), *figures])
    for label, own in (("of their own kind", True), ("of another kind", False)):
        mine = [row for row in rows if (row["beside"] == row["corpus"]) == own]
        keys = ("auc", "cllr", *(key for key in mine[0] if key.startswith("false")), "missed", "warned")
        means = [sum(row[key] for row in mine) / len(mine) for key in keys]
        lines.append(["plain mean", label, "", *(f"{mean:.2f}" for mean in means[:2]), *shares(*means[2:])])
    heads = (
        "questions of | beside texts of | people | AUC | Cllr | false, LLR > 0 | false, 0.3 | false, 0.7 | missed"
        " | warned of"
    )
    return lay_out(heads, lines)


def editing_table(rows: Sequence[Row]) -> str:
    """By way of editing."""
    lines = []
    for row in rows:
        line = [WAYS[row["way"]].format(row["share"]), *digits(row, "auc", "cllr")]
        for key in ("same", "different"):
            line += [f"{row[key]:+.2f}", *shares(row[f"{key}_called_same"])]
        lines.append([*line, *shares(row["different_warned"]), "{} of {}".format(*row["different_unseen"])])
    heads = (
        "editing | AUC | Cllr | same author: mean LLR | same: LLR > 0 | different: mean LLR | different: LLR > 0"
        " | different: warned of | of the others: LLR > 0"
    )
    return lay_out(heads, lines)


def errors_table(rows: Sequence[Row]) -> str:
    """How often different authors are called the same, and the same different."""
    lines = []
    for row in rows:
        worst = [
            f"{high:.0%} ({where})" if high else "none"
            for high, where in zip(row["highest"], row["where"], strict=True)
        ]
        rates = [f"{rate:.1%}" for rate in (*row["different"], row["same"][2], row["missed"])]
        lines.append([PRESETS[row["preset"]], *rates[:3], worst[0], worst[2], *rates[3:]])
    heads = (
        "preset | different, LLR > 0 | different, 0.3 | different, 0.7 | worst corpus, LLR > 0 | worst corpus, 0.7"
        " | same, LLR 0.7 | same, LLR < 0"
    )
    return lay_out(heads, lines)


def support_table(rows: Sequence[Row]) -> str:
    """By side and level: how often a line without a cap reaches it rightly and wrongly, and what that bears out."""
    lines = []
    for row in rows:
        cells = []
        for right, wrong in zip(row["right"], row["wrong"], strict=True):
            shares = right / row["of"][0], (wrong + 1) / (row["of"][1] + 1)
            cells.append(f"{right}, {wrong}: {math.log10(shares[0] / shares[1]):.2f}" if right else "none")
        lines.append([PRESETS[row["preset"]], row["side"], *cells, f"{row['cap']:.2f}"])
    levels = " | ".join(f"{level:.1f} or more" for level in rows[0]["levels"])
    return lay_out(f"preset | for | {levels} | cap", lines)


def priors_table(rows: Sequence[Row]) -> str:
    """Of those that are named at each level, the share that did not write it, by how many of those asked did."""
    lines = []
    for one, of in PRIORS:
        wrong = []
        for row in rows:
            for level in (0, 2):
                false, true = row["different"][level] * (of - one), row["same"][level] * one
                wrong.append(f"{false / (false + true):.0%}" if false else "none seen")
        lines.append([f"{one} of {of:,}", *wrong])
    heads = " | ".join(f"{PRESETS[row['preset']]}: LLR {mark}" for row in rows for mark in ("> 0", "0.7"))
    return lay_out(f"by the author | {heads}", lines)


def draw(figures: Mapping[str, Any], folder: Path) -> None:
    """Each figure as a PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    page = {
        "length": FigureFormat(18, 13, dpi=130),
        "reference": FigureFormat(18, 7, dpi=130),
        "editing": FigureFormat(18, 7, dpi=130),
    }
    makers: dict[str, Callable[[Figure, Any], None]] = {
        "length": draw_lengths, "reference": draw_reference, "editing": draw_editing
    }  # fmt: skip
    for name, make in makers.items():
        if figures.get(name):
            image = render(lambda figure, make=make, name=name: make(figure, figures[name]), page[name], "png")  # type: ignore[misc]
            (folder / f"limits-{name}.png").write_bytes(image)


def draw_lengths(figure: Figure, sides: Mapping[str, Any]) -> None:
    """AUC and Cllr by characters of each side."""
    grid = figure.subplots(2, 2, sharey="row")
    for column, side in enumerate(("unknown", "known")):
        curve = sides[side]
        points, panel = curve["points"], curve["panel"]
        lengths = [point["length"] for point in points]
        for axes, key in zip(grid[:, column], ("auc", "cllr"), strict=True):
            draw_curve(axes, lengths, points, key, "cut to so many characters", 0)
            draw_line(axes, lengths, [point["whole"][key] for point in points], "the same, that side whole", 2)
            label = f"only problems that have {panel[-1]['length']:,}"
            draw_line(axes, [point["length"] for point in panel], [point[key] for point in panel], label, 1)
            finish(axes, key, lengths)
        grid[1, column].set_xlabel(f"{side} characters")
        grid[0, column].legend(loc="lower right")


def draw_reference(figure: Figure, rows: Sequence[Row]) -> None:
    """AUC and Cllr by number of people."""
    grid = figure.subplots(1, 2)
    people = [row["people"] for row in rows]
    for axes, key in zip(grid, ("auc", "cllr"), strict=True):
        draw_curve(axes, people, [row["all"] for row in rows], key, "all corpora that have so many", 0)
        for number, (panel, count) in enumerate(panels_of(rows).items(), start=1):
            own = [row for row in rows if panel in row]
            label = f"the {count} that have {panel.split()[1]}"
            draw_line(axes, [row["people"] for row in own], [row[panel][key] for row in own], label, number)
        finish(axes, key, people)
        axes.set_xlabel("people in the reference, one text of each")
    grid[0].legend(loc="lower right")


def draw_editing(figure: Figure, rows: Sequence[Row]) -> None:
    """Mean ratios by the share of words exchanged, and of sentences borrowed."""
    grid = figure.subplots(1, 2, sharey=True)
    for axes, way, title in zip(
        grid, ("words", "borrowed"), ("share of words exchanged", "share taken from the known texts"), strict=True
    ):
        own = [row for row in rows if row["way"] in ("as it is", way)]
        for number, (key, label) in enumerate((("same", "same author"), ("different", "different authors"))):
            draw_curve(axes, [row["share"] for row in own], own, key, label, number)
        axes.axhline(0, color=GRAY, linewidth=0.6)
        axes.set_xlabel(title)
    grid[0].set_ylabel("mean LLR (bans)")
    grid[0].legend(loc="upper right")


def draw_curve(axes: Axes, steps: Sequence[float], rows: Sequence[Row], key: str, label: str, number: int) -> None:
    """A line with the band of its interval."""
    low, high = zip(*(row[f"{key}_interval"] for row in rows), strict=True)
    axes.fill_between(steps, low, high, color=PALETTE[number], alpha=0.15, linewidth=0)
    draw_line(axes, steps, [row[key] for row in rows], label, number)


def draw_line(axes: Axes, steps: Sequence[float], values: Sequence[float], label: str, number: int) -> None:
    """A line with marks, told apart by color, dashes and marks."""
    look: dict[str, Any] = {"color": PALETTE[number], "linestyle": LINES[number], "marker": MARKERS[number]}
    axes.plot(steps, values, markersize=3.5, label=label, **look)


def finish(axes: Axes, key: str, steps: Sequence[int]) -> None:
    """Scales and what they are of; chance is a line."""
    axes.set_xscale("log")
    axes.set_xticks(steps, [f"{step:,}" for step in steps])
    axes.minorticks_off()
    axes.set_ylabel({"auc": "AUC", "cllr": "Cllr"}[key])
    axes.axhline({"auc": 0.5, "cllr": 1.0}[key], color=GRAY, linewidth=0.6)
    if key == "auc":
        axes.set_ylim(0.35, 1)  # with room for the legend
