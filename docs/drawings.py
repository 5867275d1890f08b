"""Draw the pictures of the method, from the program's own definitions and the built-in texts.

    python docs/drawings.py [FOLDER]          writes docs/images/method-*.svg; wants the extra figures

A test draws them all again. Look at them before they are kept.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from byline.corpora.problems import builtin_problems, read_problems
from byline.engines.matrix import Matrix, relative_entropies
from byline.engines.questions import Questions, prepare_questions
from byline.engines.rnn import kernels, network
from byline.engines.rnn.engine import fill_matrix
from byline.engines.rnn.schedule import plan_visits
from byline.engines.rnn.training import Model
from byline.figures.canvas import FigureFormat, render
from byline.figures.score_tables import FRAME, HEAT
from byline.figures.styles import GRAY, LINES, PALETTE
from byline.judgment.interpretation import center, stretch
from byline.judgment.score_normalization import rank_among_texts
from byline.settings.settings import Settings
from byline.text.normalize import CAPITAL

ABOVE: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2}
"""Where a legend covers nothing."""
IMAGES = Path(__file__).parent / "images"
SETTINGS = Settings(train_on="known", swap_short=False)
"""The paper's plain way: heads learn the known texts and judge the unknown ones."""
SEED = 1
EXAMPLE = "EN005"
"""A problem whose unknown text is by its author."""
STRETCH = slice(60, 104)
"""The characters of it that are shown."""


@dataclass(frozen=True)
class Trained:
    """One network that learned the built-in problems, with heads and documents in the order of the problems."""

    ids: tuple[str, ...]
    questions: Questions
    matrix: Matrix
    model: Model
    heads: tuple[int, ...]
    documents: tuple[int, ...]

    def table(self, values: Any) -> Any:
        """(documents, heads), both in the order of the problems."""
        return values[np.ix_(self.documents, self.heads)]


@cache
def trained() -> Trained:
    """Train it."""
    with builtin_problems("english") as folder:
        problems = read_problems(folder).problems
    prepared = prepare_questions(problems, SETTINGS)
    (questions,) = prepared.sides
    filled = fill_matrix(questions, SETTINGS, np.random.default_rng(SEED))
    assert filled.model is not None
    asked = sorted(questions.questions, key=lambda question: question.problem)
    return Trained(
        tuple(problem.id for problem in prepared.problems),
        questions,
        filled.matrix,
        filled.model,
        tuple(question.head for question in asked),
        tuple(question.document for question in asked),
    )


def draw_activations(figure: Any) -> None:
    """ReSQRT beside ReLU and tanh, and their slopes."""
    a = np.linspace(-3, 6, 361, dtype=np.float32)
    for place, title in enumerate(("f(a)", "its slope, f'(a)")):
        axes = figure.add_subplot(1, 2, place + 1)
        for (name, number), color, line in zip(network.ACTIVATIONS.items(), PALETTE, LINES, strict=False):
            h = network.activate(a, number)
            label = {"resqrt": "ReSQRT", "relu": "ReLU"}.get(name, name)
            axes.plot(a, network.slope(h, number) if place else h, color=color, linestyle=line, label=label)
        axes.axhline(0, color=GRAY, linewidth=0.4)
        axes.axvline(0, color=GRAY, linewidth=0.4)
        axes.set(xlabel="a, the unit's input", title=title)
        if not place:
            axes.legend(loc="upper left")


def letters(symbols: str) -> list[str]:
    """Symbols as they are shown."""
    return [{" ": "␣", CAPITAL: "¹"}.get(symbol, symbol) for symbol in symbols]


def draw_network(figure: Any) -> None:
    """One recurrent layer, three of its heads, and what each expects next, as it was trained."""
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    found = trained()
    alphabet = found.questions.alphabet
    text = found.questions.texts[found.questions.documents[found.documents[found.ids.index(EXAMPLE)]][0]]
    symbols = text[: STRETCH.start]
    weights = found.model.weights
    nothing = np.zeros((0, 0), np.float32)
    hidden = network.run(weights, symbols, np.zeros_like(weights.bias), nothing, 0)[-1:]
    shown = (4, 2, 5)  # problems whose heads are shown; the first is the author's own
    chances = [np.exp(network.predict(weights, hidden, found.heads[number]))[0] for number in shown]
    most = np.sort(np.argsort(-np.mean(chances, axis=0))[:8])

    grid = figure.add_gridspec(3, 2, width_ratios=(1.35, 1))
    left = figure.add_subplot(grid[:, 0])
    left.set(xlim=(0, 10), ylim=(0, 10))
    left.axis("off")

    def box(x: float, y: float, width: float, height: float, words: str, color: str = "white") -> None:
        left.add_patch(FancyBboxPatch((x, y), width, height, "round,pad=0.12", facecolor=color, linewidth=0.7))
        left.text(x + width / 2, y + height / 2, words, ha="center", va="center")

    def arrow(start: tuple[float, float], end: tuple[float, float], bend: float = 0.0) -> None:
        style = f"arc3,rad={bend}"
        left.add_patch(
            FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=7, linewidth=0.7, connectionstyle=style)
        )

    tail = "".join(letters(alphabet.decode(symbols[-12:])))
    box(0.3, 4.3, 2.3, 1.4, "symbol x\none of " + str(len(alphabet)))
    left.text(1.45, 3.7, f"… {tail}", ha="center", va="top", fontsize=7)
    box(4.0, 3.6, 2.0, 2.8, f"hidden\nstate h\n{len(weights.bias)} units", "#eef3f8")
    left.text(3.3, 5.25, "X", ha="center")
    arrow((2.75, 5.0), (3.85, 5.0))
    arrow((5.7, 6.55), (4.3, 6.55), 1.1)
    left.text(5.0, 7.95, "W, from step to step", ha="center")
    for place, number in enumerate(shown):
        y = 8.0 - 3.4 * place
        box(7.6, y - 0.55, 2.1, 1.1, f"head of\n{found.ids[number]}")
        arrow((6.15, 5.0), (7.45, y))
    left.text(8.65, 6.3, f"… {len(found.heads)} heads in all", ha="center", va="center", fontsize=7)
    left.text(6.55, 6.9, "U", ha="center")
    for place, chance in enumerate(chances):
        axes = figure.add_subplot(grid[place, 1])
        axes.bar(range(len(most)), chance[most], color=PALETTE[place])
        axes.set(ylim=(0, 0.15), yticks=(0, 0.05, 0.1, 0.15))
        axes.set_xticks(range(len(most)), letters("".join(alphabet.symbols[symbol] for symbol in most)))
        if not place:
            axes.set_title("how probable the next symbol is")


def draw_surprise(figure: Any) -> None:
    """What each character of a stretch costs the author's own head, and the other heads on average."""
    found = trained()
    number = found.ids.index(EXAMPLE)
    text = found.questions.texts[found.questions.documents[found.documents[number]][0]]
    each = np.zeros((len(text), len(found.model.weights.heads)), np.float32)
    kernels.score_text(found.model.weights, text, SETTINGS.skip, 0, np.array([len(text)], np.int32), each)
    own = each[:, found.heads[number]]
    others = each[:, [head for head in found.heads if head != found.heads[number]]].mean(axis=1)
    places = np.arange(STRETCH.stop - STRETCH.start)
    axes = figure.add_subplot()
    axes.step(places, others[STRETCH], where="mid", color=PALETTE[1], linestyle=LINES[1], label="other heads, mean")
    axes.step(places, own[STRETCH], where="mid", color=PALETTE[0], label=f"head of {EXAMPLE}, whose author wrote it")
    axes.set_xticks(places, letters(found.questions.alphabet.decode(text[STRETCH])))
    axes.tick_params(axis="x", length=0)
    axes.set(ylabel="bits", ylim=(0, None), xlim=(-0.5, len(places) - 0.5))
    counted = slice(SETTINGS.skip, None)
    means = f"over the whole text: own {own[counted].mean():.2f}, others {others[counted].mean():.2f} bits a character"
    axes.legend(title=means, alignment="left", ncols=2, **ABOVE)


def draw_training(figure: Any) -> None:
    """Leakage by sub-epoch, and whose texts are learned when."""
    found = trained()
    axes = figure.add_subplot(1, 2, 1)
    epochs = np.arange(SETTINGS.sub_epochs)
    heads = len(found.heads)
    ways = (
        (
            f"Byline's default: {SETTINGS.leakage:g}/N, x {SETTINGS.leakage_decay:g}",
            SETTINGS.leakage,
            SETTINGS.leakage_decay,
        ),
        ("the paper's least: 0.25/N, x 0.67", 0.25, 0.67),
        ("the paper's most: 5/N, x 0.9", 5.0, 0.9),
    )
    for (label, first, decay), color, line in zip(ways, PALETTE, LINES, strict=False):
        axes.plot(epochs + 1, np.minimum(1, first * decay**epochs / heads), color=color, linestyle=line, label=label)
    axes.set(xlabel="sub-epoch", ylabel=f"chance of a leak to a head (N = {heads})", yscale="log", ylim=(1e-6, 1))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    axes.legend(**ABOVE)
    axes = figure.add_subplot(1, 2, 2)
    order = {head: row for row, head in enumerate(found.heads)}
    begin = 0
    visits = plan_visits(found.questions, SETTINGS.handling, np.random.default_rng(SEED))
    for sub_epoch, lessons in enumerate(islice(visits, 2)):
        axes.axvline(begin / 1000, color=GRAY, linewidth=0.6)
        axes.text(begin / 1000 + 0.5, -1.0, f"sub-epoch {sub_epoch + 1}", fontsize=7, va="center")
        for lesson in lessons:
            length = len(found.questions.texts[lesson.text])
            for head in lesson.heads:
                axes.barh(order[head], length / 1000, left=begin / 1000, height=0.8, color=PALETTE[order[head] % 2])
            begin += length
    axes.set_yticks(range(heads), found.ids)
    axes.set(xlabel="characters learned, thousands", ylim=(heads - 0.4, -1.7))


def draw_matrix(figure: Any) -> None:
    """Bits a character of each document under each head; the same made relative."""
    found = trained()
    tables = (
        ("bits a character", found.table(found.matrix.values)),
        ("relative entropy (lower: more alike)", found.table(relative_entropies(found.matrix))),
    )
    for place, (title, table) in enumerate(tables):
        axes = figure.add_subplot(1, 2, place + 1)
        picture = axes.imshow(table, cmap=HEAT.removesuffix("_r"), interpolation="nearest")
        for number in range(len(table)):
            axes.add_patch(_frame(number))
        axes.set_xticks(range(len(table)), found.ids, rotation=90)
        axes.set_yticks(range(len(table)), [] if place else found.ids)
        axes.set(xlabel="head", ylabel="" if place else "document", title=title)
        figure.colorbar(picture, ax=axes, location="bottom", shrink=0.8)


def _frame(number: int) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle((number - 0.5, number - 0.5), 1, 1, fill=False, edgecolor=FRAME, linewidth=1.1, clip_on=False)


def draw_ranks(figure: Any) -> None:
    """From relative entropies under each head to the rank of the unknown text, to the answer."""
    found = trained()
    relative = found.table(relative_entropies(found.matrix))
    asked = sorted(found.questions.questions, key=lambda question: question.problem)
    scores = rank_among_texts(found.matrix, asked)
    answers = stretch(scores, center(scores), 0.0)
    order = np.argsort(-scores, kind="stable")
    rows = np.arange(len(order))
    left, right = figure.subplots(1, 2, sharey=True, width_ratios=(1.5, 1))
    for row, number in enumerate(order):
        others = np.delete(relative[:, number], number)
        left.plot(others, np.full(len(others), row), "|", color=GRAY, label="other texts" if not row else None)
        left.plot(
            relative[number, number], row, "o", color=PALETTE[1], label="the text in question" if not row else None
        )
    left.set_yticks(rows, [found.ids[number] for number in order])
    left.invert_yaxis()
    left.set(xlabel="relative entropy under the known author's head", ylabel="problem")
    left.legend(**ABOVE)
    right.plot(scores[order], rows, "s", color=PALETTE[2], label="share of the others it beats")
    right.plot(answers[order], rows, "o", color=PALETTE[0], label="answer: the median becomes 0.5")
    right.axvline(0.5, color=GRAY, linewidth=0.6)
    right.set(xlim=(-0.03, 1.03), xticks=(0, 0.5, 1))
    right.legend(**ABOVE)


DRAWINGS: dict[str, tuple[Callable[[Any], None], FigureFormat]] = {
    "method-activations": (draw_activations, FigureFormat(16, 6.5)),
    "method-network": (draw_network, FigureFormat(16, 9)),
    "method-surprise": (draw_surprise, FigureFormat(16, 6.5)),
    "method-training": (draw_training, FigureFormat(16, 8.5)),
    "method-matrix": (draw_matrix, FigureFormat(16, 11)),
    "method-ranks": (draw_ranks, FigureFormat(16, 9)),
}


def main(folder: Path = IMAGES) -> None:
    """Draw them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (draw, page) in DRAWINGS.items():
        (folder / f"{name}.svg").write_bytes(render(draw, page, "svg"))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
