"""Draws docs/images/architecture.svg and the tables of docs/architecture.md from the imports of the source.

python docs/architecture.py            write both
python docs/architecture.py --check    say whether they are what would be written now
"""

from __future__ import annotations

import ast
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "byline"
PICTURE, PAGE = HERE / "images" / "architecture.svg", HERE / "architecture.md"

WAY = ("read", "normalise", "encode", "train", "score", "combine", "interpret", "answer", "report")
"""The way of a text through the house; other stages stand between or beside these."""


class Stage(NamedTuple):
    """A step of the way."""

    name: str
    does: str
    modules: tuple[str, ...]
    """Modules, and packages with a slash at the end, which stand for all of their modules that are not named."""


def _stage(name: str, does: str, modules: str) -> Stage:
    return Stage(name, does, tuple(modules.split()))


STAGES = (
    _stage(
        "ground",
        "errors, stopping, files written whole or not at all",
        "errors stopping memory frames storage exchange",
    ),
    _stage("read", "files become texts, texts become problems", "formats/ documents languages problems records truth"),
    _stage(
        "settle",
        "settings, pools of members, plans, calibrations",
        "settings pools likelihood calibration plans",
    ),
    _stage("normalise", "one spelling of everything, topic masked", "normalise masking"),
    _stage(
        "encode",
        "numbers; who is asked about whom, without names",
        "alphabet passages views places trials preparation questions reference/ cohorts groups",
    ),
    _stage("caution", "what speaks against believing an answer", "quotations cautions/"),
    _stage("train", "the network, its fast twin, learning", "network compiling kernels schedule training enrolment"),
    _stage(
        "score",
        "engines fill the matrix documents x heads",
        "scoring gains ngrams ngram_kernels profile_kernels engines/",
    ),
    _stage(
        "combine",
        "members side by side, each kept when it is done",
        "modelfile matrixfile memberfiles runs cautions.file keepsakes testimony workers ensemble",
    ),
    _stage(
        "interpret",
        "matrices become scores, scores become answers",
        "answers ranks relative fusion alone interpret",
    ),
    _stage(
        "answer",
        "the whole way in one function; how good answers are",
        "metrics resampling folds fitting evaluation combination requests execution tally verification outputs cases"
        " calibrating agreement builtin",
    ),
    _stage(
        "attribute",
        "candidate authors, clusters, changes of hand",
        "attribution/ clustering affinities clusterfiles estimators",
    ),
    _stage(
        "report",
        "evidence, figures, all that a page shows, the page",
        "evidence figures/ dossiers/ reports/ reporting",
    ),
    _stage("show", "the command line, the local web page, a check-up", "checkup/ web/ commands/ __main__"),
)
ROOT = "__init__"
"""Not part of the way: its names are loaded from everywhere, on first use."""


class AgainstTheOrder(Exception):  # noqa: N818 - it names what is wrong with the source
    """A module that imports from a later stage, or has none; a stage with a module that is not there."""


def name_of(path: Path, source: Path) -> str:
    """A module as the source calls it: formats.rtf, or formats for the package's own file."""
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


def read_imports(source: Path = SOURCE) -> dict[str, set[str]]:
    """For each module the modules of the package that it imports, wherever in it that stands."""
    paths = {name_of(path, source): path for path in sorted(source.rglob("*.py"))}
    paths.pop(ROOT, None)
    found: dict[str, set[str]] = {}
    for name, path in paths.items():
        found[name] = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "byline":
                base = node.module.removeprefix("byline").lstrip(".")
                for alias in node.names:
                    longer = f"{base}.{alias.name}".lstrip(".")
                    found[name] |= {longer if longer in paths else base} - {""}
    return found


def stage_of(module: str, stages: Sequence[Stage] = STAGES) -> int | None:
    """The number of a module's stage: that which names it, or else its package."""
    package = f"{module.partition('.')[0]}/"
    for wanted in (module, package):
        for number, stage in enumerate(stages):
            if wanted in stage.modules:
                return number
    return None


class Graph(NamedTuple):
    """How many modules each stage has, and which imports from which earlier one."""

    sizes: tuple[int, ...]
    imports: frozenset[tuple[int, int]]
    """The stage that imports, and the one that is imported from."""


def draw_graph(imports: Mapping[str, set[str]], stages: Sequence[Stage] = STAGES) -> Graph:
    """The graph of stages; raises where a module has none, or imports from a later one."""
    numbers = {module: stage_of(module, stages) for module in imports}
    faults = [f"{module}: has no stage" for module, number in numbers.items() if number is None]
    homes = {*imports, *(f"{module.partition('.')[0]}/" for module in imports)}
    faults += [
        f"{name} ({stage.name}): no such module" for stage in stages for name in stage.modules if name not in homes
    ]
    found_imports: set[tuple[int, int]] = set()
    sizes = Counter(numbers.values())
    for module, found in imports.items():
        for other in sorted(found):
            here, there = numbers[module], numbers.get(other)
            if here is None or there is None:
                continue
            if there > here:
                faults.append(f"{module} ({stages[here].name}) imports {other} ({stages[there].name})")
            elif there < here:
                found_imports.add((here, there))
    if faults:
        raise AgainstTheOrder("\n".join(faults))
    return Graph(tuple(sizes[number] for number in range(len(stages))), frozenset(found_imports))


def reduce_graph(graph: Graph) -> list[tuple[int, int]]:
    """The arrows (from, to) along the way of the data that no longer way makes needless."""
    builds_on: dict[int, set[int]] = {number: set() for number in range(len(graph.sizes))}
    for later, earlier in graph.imports:
        builds_on[later].add(earlier)
    reached: dict[int, set[int]] = {}
    for number, below in builds_on.items():  # in order: what is earlier is known already
        reached[number] = below.union(*(reached[other] for other in below))
    return [
        (earlier, later)
        for later, found in builds_on.items()
        for earlier in sorted(found)
        if not any(earlier in reached[other] for other in found)
    ]


WIDTH, MARGIN, GAP = 860, 20, 28
LANES = (424, 368)
"""How wide the boxes of each lane are."""
BOX, ROW = 82, 118
INK, QUIET, LINE = "#1b1f24", "#57606a", "#57606a"
FILL = {True: ("#e3eefb", "#2563a8"), False: ("#f3f4f6", "#8c959f")}
"""Of the way's own stages, and of the others: the area, and the edge."""
FONT = "font-family='-apple-system, Segoe UI, Helvetica, Arial, sans-serif'"


class Place(NamedTuple):
    """Where a box stands."""

    row: int
    lane: int

    @property
    def left(self) -> int:
        """Its left edge."""
        return MARGIN + self.lane * (LANES[0] + GAP)

    @property
    def width(self) -> int:
        """How wide it is."""
        return LANES[self.lane]

    @property
    def top(self) -> int:
        """Its upper edge."""
        return MARGIN + self.row * ROW


def place_boxes(graph: Graph, stages: Sequence[Stage] = STAGES) -> list[Place]:
    """A row for each step of the longest way; where two stages share one, the earlier of them stands on the right."""
    arrows = reduce_graph(graph)
    rows: list[int] = []
    for number in range(len(stages)):
        rows.append(1 + max((rows[one] for one, other in arrows if other == number), default=-1))
    places = []
    for number, row in enumerate(rows):
        beside = [other for other in range(len(stages)) if rows[other] == row]
        if len(beside) > 2:
            raise AgainstTheOrder(f"{', '.join(stages[each].name for each in beside)}: no room for three in a row")
        places.append(Place(row, int(len(beside) == 2 and number == beside[0])))
    return places


def contents(stage: Stage, size: int) -> str:
    """What a stage is made of, in a few words."""
    packages = [name for name in stage.modules if name.endswith("/")]
    single = len(stage.modules) - len(packages)
    parts = [*packages, *([f"{single} module{'s' * (single != 1)}"] if single else [])]
    words = " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
    return f"{words}, {size} files" if packages else f"{size} modules"


def draw_picture(graph: Graph, stages: Sequence[Stage] = STAGES) -> str:
    """The picture as SVG: boxes and arrows."""
    places = place_boxes(graph, stages)
    height = MARGIN * 2 + max(place.row for place in places) * ROW + BOX
    title = "The stages of Byline, each building on those above it"
    lines = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' height='{height}'"
        f" role='img' aria-label='{title}' {FONT}>",
        f"<title>{title}</title>",
        "<defs><marker id='tip' viewBox='0 0 10 10' refX='9' refY='5' markerWidth='8' markerHeight='8'"
        f" orient='auto-start-reverse'><path d='M0 0L10 5L0 10z' fill='{LINE}'/></marker></defs>",
        f"<rect width='{WIDTH}' height='{height}' fill='#ffffff'/>",
    ]
    for one, other in reduce_graph(graph):
        lines.append(_arrow(places[one], places[other]))
    for stage, place, size in zip(stages, places, graph.sizes, strict=True):
        fill, edge = FILL[stage.name in WAY]
        left, top = place.left, place.top
        lines += [
            f"<rect x='{left}' y='{top}' width='{place.width}' height='{BOX}' rx='7' fill='{fill}' stroke='{edge}'/>",
            _text(left + 14, top + 25, 16, INK, stage.name, " font-weight='600'"),
            _text(left + 14, top + 48, 14, INK, stage.does),
            _text(left + 14, top + 69, 12, QUIET, contents(stage, size)),
        ]
    return "\n".join([*lines, "</svg>", ""])


def _text(left: int, base: int, size: int, colour: str, words: str, more: str = "") -> str:
    return f"<text x='{left}' y='{base}' font-size='{size}' fill='{colour}'{more}>{escape(words)}</text>"


def _arrow(begin: Place, end: Place) -> str:
    """From the lower edge of a box to the upper edge of a later one."""
    turn = (end.lane - begin.lane) * 110
    from_x, to_x = begin.left + begin.width // 2 + turn, end.left + end.width // 2 - turn
    from_y, to_y = begin.top + BOX, end.top
    path = f"M{from_x} {from_y}C{from_x} {from_y + 30} {to_x} {to_y - 30} {to_x} {to_y - 1}"
    return f"<path d='{path}' fill='none' stroke='{LINE}' stroke-width='1.5' marker-end='url(#tip)'/>"


HEAD = """# Architecture

<!-- Written by docs/architecture.py; `python docs/architecture.py` brings it up to date. -->

Data goes one way, from the top to the bottom. A stage imports from itself and from stages above it, never from one
below. The picture and the tables are made of the imports of the source by `docs/architecture.py`, which refuses to draw
an import against the order; `tests/test_layers.py` holds the same for single modules.

![The stages of Byline and what each builds on](images/architecture.svg)

Blue are the stages on the way of a text. An arrow leads to a stage that builds on the one above it; what a stage also
reaches by way of others is not drawn, but is in the second table. `combine` and `interpret` don't know each other:
`answer` hands what members have filled to those who read it.

## Stages

| stage | what it does | made of |
|---|---|---|
"""
AFTER = """
Between `score` and `interpret` stands the matrix documents x heads, and nothing else couples the two:
[engines](how-to/write-an-engine.md) fill it, [interpretations](how-to/write-an-interpretation.md) read it.
[CONTRIBUTING](../CONTRIBUTING.md) says what each module hands on, [design](design.md) why it is so.

## Imports

Which stage (row) imports from which of those above it (columns).

"""


def write_page(graph: Graph, stages: Sequence[Stage] = STAGES) -> str:
    """The page, with a table of stages and one of their imports."""
    rows = [
        f"| {stage.name} | {stage.does} | {', '.join(f'`{name}`' for name in stage.modules)} |\n" for stage in stages
    ]
    names = [stage.name for stage in stages]
    table = [f"| | {' | '.join(names[:-1])} |\n", f"|---|{':---:|' * (len(names) - 1)}\n"]
    for number, name in enumerate(names[1:], start=1):
        cells = ["x" if (number, other) in graph.imports else "" for other in range(len(names) - 1)]
        table.append(f"| {name} | {' | '.join(cells)} |\n")
    return HEAD + "".join(rows) + AFTER + "".join(table)


def main(words: Sequence[str]) -> int:
    """Write both files, or say which of them is not what it should be."""
    graph = draw_graph(read_imports())
    wanted = {PICTURE: draw_picture(graph), PAGE: write_page(graph)}
    if "--check" in words:
        stale = [path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
        for path in stale:
            print(f"{path.name} is out of date; run python docs/architecture.py")
        return int(bool(stale))
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
