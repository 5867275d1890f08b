"""Draw docs/images/architecture.svg and write docs/architecture.md from the layers contract in pyproject.toml.

python docs/architecture.py            write both files
python docs/architecture.py --check    say whether they are up to date
"""

from __future__ import annotations

import ast
import sys
import tomllib
from html import escape
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
SOURCE = HERE.parent / "src" / "byline"
PICTURE, PAGE = HERE / "images" / "architecture.svg", HERE / "architecture.md"


class Layer(NamedTuple):
    """A package or module directly under src/byline."""

    name: str
    does: str
    """The first line of its docstring."""
    modules: tuple[str, ...]
    imports: frozenset[str]
    """The layers it imports from."""


def read_layers() -> list[Layer]:
    """Return the layers of the contract, the lowest first."""
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    return [read_layer(name) for name in reversed(contract["layers"]) if not name.startswith("__")]


def read_layer(name: str) -> Layer:
    """Read a layer's docstring, modules and imports from the source."""
    folder = SOURCE / name
    paths = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    modules = [path.relative_to(folder) for path in paths if folder.is_dir() and path.name != "__init__.py"]
    imported = {
        node.module.split(".")[1]
        for tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("byline.")
    }
    does = (ast.get_docstring(trees[0]) or "").partition("\n")[0]
    return Layer(name, does, tuple(str(path.with_suffix("")) for path in modules), frozenset(imported - {name}))


WIDTH, MARGIN, HEIGHT, GAP = 860, 20, 44, 10
FONT = "font-family='-apple-system, Segoe UI, Helvetica, Arial, sans-serif'"
SEAM = "engines"
"""Below this layer the matrix is drawn: engines fill it, judgment reads it."""


def draw_picture(layers: list[Layer]) -> str:
    """Return the picture as SVG: one box per layer in the order of imports, the lowest layer first."""
    title = "The packages of Byline; each imports only from those above it"
    boxes, top = [], MARGIN
    for layer in layers:
        words, size = layer.does.rstrip("."), 13
        boxes += [
            f"<rect x='{MARGIN}' y='{top}' width='{WIDTH - 2 * MARGIN}' height='{HEIGHT}' rx='6' fill='#e3eefb'"
            " stroke='#2563a8'/>",
            f"<text x='{MARGIN + 14}' y='{top + 27}' font-size='15' font-weight='600' fill='#1b1f24'>"
            f"{layer.name}</text>",
            f"<text x='{MARGIN + 140}' y='{top + 27}' font-size='{size}' fill='#1b1f24'>{escape(words)}</text>",
        ]
        top += HEIGHT + GAP
        if layer.name == SEAM:
            boxes.append(
                f"<text x='{WIDTH // 2}' y='{top + 12}' font-size='13' font-style='italic' text-anchor='middle'"
                " fill='#57606a'>the matrix, documents x heads</text>"
            )
            top += 24
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {top + GAP}' width='{WIDTH}'"
        f" height='{top + GAP}' role='img' aria-label='{title}' {FONT}>"
    )
    back = "<rect width='100%' height='100%' fill='#ffffff'/>"
    return "\n".join([head, f"<title>{title}</title>", back, *boxes, "</svg>", ""])


HEAD = """# Architecture

<!-- Written by docs/architecture.py; run `python docs/architecture.py` to update it. -->

The folders of `src/byline` are the architecture. Data flows from the top of the picture to the bottom, and a package
imports only from packages above it. The list is the `layers` contract in `pyproject.toml`; `make check` enforces it.

![The packages of Byline](images/architecture.svg)

Between `engines` and `judgment` is the matrix of documents x heads, and nothing else couples the two:
[engines](how-to/write-an-engine.md) fill it, [interpretations](how-to/write-an-interpretation.md) read it.
[CONTRIBUTING](../CONTRIBUTING.md) follows a command through the packages; [design](design.md) explains the decisions.

| package | what it does | modules |
|---|---|---|
"""
AFTER = """
## Imports

The packages that each package imports from.

| package | imports from |
|---|---|
"""


def write_page(layers: list[Layer]) -> str:
    """Return the page with a table of packages and a table of imports."""
    names = [layer.name for layer in layers]
    rows = [
        f"| `{layer.name}` | {layer.does} | {', '.join(f'`{name}`' for name in layer.modules)} |\n" for layer in layers
    ]
    imports = [
        f"| `{layer.name}` | {', '.join(f'`{name}`' for name in names if name in layer.imports)} |\n"
        for layer in layers
        if layer.imports
    ]
    return HEAD + "".join(rows) + AFTER + "".join(imports)


def main(words: list[str]) -> int:
    """Write both files, or say which of them is out of date."""
    layers = read_layers()
    wanted = {PICTURE: draw_picture(layers), PAGE: write_page(layers)}
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
